"""A solver that remembers only the last sessions: three, or the option `window`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from client_harness.agents._recall import Recaller, recalling
from client_harness.contract import Agent, Assignment
from servers.kit.errors import InputError

ABOUT = "of instances: remembers only the last three sessions (--option window=3)"
OPTIONS = ("window",)
WINDOW = 3


def agent(given: Assignment) -> AbstractAsyncContextManager[Agent]:
    """Take the latest value of the last sessions. Raises `InputError` for a wrong window."""
    written = str(given.options.get("window", WINDOW))
    if not written.isdigit() or int(written) == 0:
        raise InputError(f"agent recall_window: window is a number of sessions, not {written!r}")
    return recalling(Recaller(given, lambda found: found[-1], window=int(written)))
