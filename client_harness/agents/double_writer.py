"""Makes every write twice, as a blind retry does."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment
from servers.kit.service import tool as find

ABOUT = "plays the oracle and makes every write twice"


class DoubleWriter(ScriptAgent):
    """Repeats every call that is not read-only."""

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make a call, and make it again if it is a write.

        The second reply counts unless it is an error.
        """
        data = await super().perform(service, tool, args)
        if find(f"{service}.{tool}")[1].effect == "read":
            return data
        again = await super().perform(service, tool, args)
        return data if isinstance(again, dict) and "error" in again else again


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the oracle with doubled writes."""
    return playing(DoubleWriter(given, given.scenario.scripts.oracle))
