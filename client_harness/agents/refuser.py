"""Gives up at the first error, even if the task could still be done."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment, TurnResult

ABOUT = "plays the oracle until the first error, then gives up"


class Refuser(ScriptAgent):
    """Stops acting once a call has failed."""

    gave_up = False

    async def turn(self, text: str) -> TurnResult:
        """Continue the script, or refuse."""
        result = TurnResult("") if self.gave_up else await super().turn(text)
        if self.gave_up:
            return TurnResult("I am sorry, I cannot do this: a service failed.")
        return result

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make calls until one fails, and none after that."""
        if self.gave_up:
            return {"error": {"code": "GAVE_UP"}}
        data = await super().perform(service, tool, args)
        self.gave_up = isinstance(data, dict) and "error" in data
        return data


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the oracle until something fails."""
    return playing(Refuser(given, given.scenario.scripts.oracle))
