"""A solver that takes any value of the right kind: the first that was said."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._recall import Recaller, recalling
from client_harness.contract import Agent, Assignment

ABOUT = "of instances: takes the first value that was said, whatever came later"


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Take any value."""
    return recalling(Recaller(given, lambda found: found[0]))
