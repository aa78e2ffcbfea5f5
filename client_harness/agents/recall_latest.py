"""A solver that takes the value of the right kind that was said last."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._recall import Recaller, recalling
from client_harness.contract import Agent, Assignment

ABOUT = "of instances: takes the value that was said last, and asks if there is none"


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Take the latest value."""
    return recalling(Recaller(given, lambda found: found[-1]))
