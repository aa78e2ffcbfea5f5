"""Goes to the fallback provider without trying the primary."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment

ABOUT = "plays the oracle as if the primary provider had failed, without trying it"


class FallbackFirst(ScriptAgent):
    """Treats every call to the primary provider as failed and makes none of them."""

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make the call unless it is to the primary provider."""
        if service == self.given.scenario.primary:
            error = {"code": "SERVICE_UNAVAILABLE", "message": "", "hint": "", "retryable": False}
            return {"error": error}
        return await super().perform(service, tool, args)


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the oracle around the primary."""
    return playing(FallbackFirst(given, given.scenario.scripts.oracle))
