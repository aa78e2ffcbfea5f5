"""The trusting agent: plays the scenario's naive script."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment

ABOUT = "believes every reply; passes clean and fails base"


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the naive script."""
    return playing(ScriptAgent(given, given.scenario.scripts.naive))
