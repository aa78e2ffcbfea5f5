"""A language model that writes notes after each past session and keeps only these."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from client_harness.agents import _history, model
from client_harness.agents.model import ModelAgent, Options, prompt_named
from client_harness.contract import Assignment, TurnResult
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError

ABOUT = "the agent `model` with its own notes about past sessions (--deliver sessions)"
OPTIONS = model.OPTIONS
TERMS = True
check = model.check
NOTHING = "nothing"
"""What the model answers about a session of which nothing is worth keeping."""


class Notes(ModelAgent):
    """A conversation that begins with notes."""

    def __init__(self, given: Assignment, options: Options) -> None:
        super().__init__(given, options)
        self.identity["name"] = "model_notes"
        self._notes: list[str] = []

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Ask the model what to keep of a past session."""
        result = await self._note(
            [
                {"role": "system", "content": prompt_named("notes")},
                {"role": "user", "content": _history.text([session])},
            ]
        )
        if result.text and result.text.rstrip(".").lower() != NOTHING:
            self._notes.append(f"{_history.header(session['at'])}\n{result.text}")
            self._begin_with([], "\n\n".join([prompt_named("noted"), *self._notes]))
        return result


@asynccontextmanager
async def agent(given: Assignment) -> AsyncGenerator[Notes]:
    """Converse with a model that has its notes. Raises `InputError` for a history in one piece."""
    if given.history:
        raise InputError(
            "agent model_notes: it takes notes of one past session after another; "
            "use --deliver sessions"
        )
    yield Notes(given, Options.read(given.options))
