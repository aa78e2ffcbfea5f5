"""Does nothing and says nothing of substance."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment
from scenarios.script import Step

ABOUT = "calls nothing; no scenario may let it pass"


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Answer every turn with "OK." and do nothing."""
    return playing(ScriptAgent(given, [Step(say="OK.")] * 50))
