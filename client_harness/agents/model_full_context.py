"""A language model that keeps every past session word for word.

It has in its context what a history delivered as one context would have put there.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from client_harness.agents import _history, model
from client_harness.agents.model import ModelAgent, Options
from client_harness.contract import Assignment, TurnResult
from scenarios.haystack.history import LivedSession

ABOUT = "the agent `model` with all past sessions in its context (--deliver sessions)"
OPTIONS = model.OPTIONS
TERMS = True
check = model.check


class FullContext(ModelAgent):
    """A conversation that begins with all past sessions."""

    def __init__(self, given: Assignment, options: Options) -> None:
        super().__init__(given, options)
        self.identity["name"] = "model_full_context"
        self._past: list[LivedSession] = list(given.history)

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Keep a past session as it is."""
        self._past.append(session)
        if number == of:
            self._begin_with(_history.chat(self._past))
        return TurnResult("")


@asynccontextmanager
async def agent(given: Assignment) -> AsyncGenerator[FullContext]:
    """Converse with a model that has read everything."""
    yield FullContext(given, Options.read(given.options))
