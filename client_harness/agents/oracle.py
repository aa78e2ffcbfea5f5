"""The reference: plays the scenario's oracle script."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._script import ScriptAgent, playing
from client_harness.contract import Agent, Assignment

ABOUT = "plays the scenario's oracle, which passes in every setting"


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Play the oracle."""
    return playing(ScriptAgent(given, given.scenario.scripts.oracle))
