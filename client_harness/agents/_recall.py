"""Solvers of instances without any model: each finds the hidden pieces in its own way.

They know which values a piece may have, and where to look for them is all that they differ in. So
they show what the instances measure: who forgets fails at a distance, who does not notice a new
value fails shifts, who never asks fails what is missing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment, TurnResult
from scenarios.haystack import pieces
from scenarios.haystack.history import LivedSession
from scenarios.haystack.instances import Instance, script
from scenarios.haystack.targets import target
from servers.kit.errors import InputError

Choose = Callable[[list[Any]], Any]
"""Chooses among the values that were found, in the order in which they were said."""


class Recaller:
    """Looks for each hidden piece, asks for what it does not find, and then does the deed.

    It remembers the latest `window` sessions, by default all of them. `choose` takes one of the
    values found; without `asks`, it takes the first value of all where none was found.
    """

    def __init__(
        self,
        given: Assignment,
        choose: Choose,
        *,
        window: int | None = None,
        asks: bool = True,
    ) -> None:
        if not isinstance(given.scenario, Instance):
            raise InputError(
                f"{given.scenario.id} is no instance; this agent plays only what "
                "`client_harness list instances` shows"
            )
        self.given = given
        self.instance = given.scenario
        self._window = window
        self.texts: list[str] = []
        for session in given.history:
            self._keep(session)
        self._choose = choose
        self._asks = asks
        self._asked: list[str] = []
        self._script: ScriptAgent | None = None
        self._values: dict[str, Any] = {}

    def _keep(self, session: LivedSession) -> None:
        self.texts.append(json.dumps(session["messages"], ensure_ascii=False))
        if self._window is not None:
            self.texts = self.texts[max(len(self.texts) - self._window, 0) :]

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Keep a past session, as one of the latest."""
        self._keep(session)
        return TurnResult("")

    async def turn(self, text: str) -> TurnResult:
        """Answer with a question, or do the deed with what was found."""
        if self._script is None:
            if self._asked:
                self.texts.append(json.dumps(text, ensure_ascii=False))
            else:
                await self.look()
            unknown = [name for name in self.instance.facts.hidden if not self._find(name)]
            if unknown and self._asks:
                if self._asked:
                    return TurnResult("I do not know enough to do this.")
                self._asked = unknown
                return TurnResult(" ".join(self._question(name) for name in unknown))
            self._script = ScriptAgent(self.given, script(self.instance, self._values))
        return await self._script.turn(text)

    async def look(self) -> None:
        """Look around before the first answer; `texts` takes what is found."""

    def _find(self, name: str) -> bool:
        """Choose a value for a piece, and return whether there was one."""
        options = target(self.instance.facts.target).pieces[name]
        found = []
        for text in self.texts:
            said = [option for option in options if _mentions(text, option, options)]
            found += sorted(said, key=lambda option: _place(text, option, options))
        if not found and self._asks:
            return False
        default = min(options, key=lambda option: json.dumps(option, ensure_ascii=False))
        self._values[name] = self._choose(found) if found else default
        return True

    def _question(self, name: str) -> str:
        told = target(self.instance.facts.target).kinds[self.instance.facts.kind]
        if told.question is not None:
            given = {**self.instance.facts.values, pieces.OTHER: self.instance.facts.others}
            return str(pieces.filled(told.question, given))
        return f"What is the {name.replace('_', ' ')}?"


def _signs(option: Any, options: Sequence[Any]) -> list[str]:
    """Return how a value may be said: its parts, without those that another value has, too."""
    others: list[Any] = []
    for other in options:
        others += pieces.leaves(other) if other != option else []
    own = [leaf for leaf in pieces.leaves(option) if leaf not in others]
    written = [json.dumps(str(leaf), ensure_ascii=False)[1:-1] for leaf in own]
    telling = [sign for sign in written if len(sign) > 2]  # 53 may be anything
    return telling or written


def _mentions(text: str, option: Any, options: Sequence[Any]) -> bool:
    return any(sign in text for sign in _signs(option, options))


def _place(text: str, option: Any, options: Sequence[Any]) -> int:
    return max(text.rfind(sign) for sign in _signs(option, options))


@asynccontextmanager
async def recalling(agent: Recaller) -> AsyncGenerator[Recaller]:
    """Yield the agent; it needs no setup and no cleanup."""
    yield agent
