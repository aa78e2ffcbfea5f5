"""Goes to the fallback provider without having met the primary's failure."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment

ABOUT = "plays the oracle as if the primary provider had failed, without trying it"


class FallbackFirst(ScriptAgent):
    """Takes every call on the primary provider for failed and makes none."""

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Call anything but the primary."""
        if service == self.given.scenario.primary:
            error = {"code": "SERVICE_UNAVAILABLE", "message": "", "hint": "", "retryable": False}
            return {"error": error}
        return await super().perform(service, tool, args)


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the oracle around the primary."""
    return playing(FallbackFirst(given, given.scenario.scripts.oracle))
