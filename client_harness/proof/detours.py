"""Honest detours: right runs that the scenario does not write down, made from the oracle."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Agent, Assignment, TurnResult
from client_harness.proof.moves import Call, Moves, Say
from client_harness.proof.sorts import leaves
from scenarios import load
from scenarios.model import Scenario
from servers.kit.service import ENVIRONMENT, service

QUESTION = "Shall I start right away?"


def read_back(moves: Moves) -> Moves | None:
    """Return the moves with the last read of each turn made once more before the turn's text."""
    made: Moves = []
    last: Call | None = None
    added = False
    for place, move in enumerate(moves):
        if isinstance(move, Call):
            if not move.writes:
                last = move
            made.append(move)
            continue
        turn_ends = place + 1 == len(moves) or moves[place + 1].turn != move.turn
        if turn_ends and last is not None and last.turn == move.turn:
            made.append(replace(last, step=None, seen=None))
            added = True
        made.append(move)
        if turn_ends:
            last = None
    return made if added else None


def swaps(moves: Moves) -> list[tuple[str, Moves]]:
    """Return the moves with two neighbouring independent calls in the other order, by name."""
    swapped = []
    for place in range(len(moves) - 1):
        one = moves[place]
        other = moves[place + 1]
        if isinstance(one, Call) and isinstance(other, Call) and _independent(one, other):
            first = replace(other, step=None)
            second = replace(one, step=None)
            made = [*moves[:place], first, second, *moves[place + 2 :]]
            swapped.append((f"{other.label} before {one.label}", made))
    return swapped


def _independent(one: Call, other: Call) -> bool:
    if one.was is None or other.was is None or one.turn != other.turn:
        return False
    if any(service(call.service).domain == ENVIRONMENT for call in (one, other)):
        return False  # a call that waits or signs in is there for what follows
    if one.was.firings or other.was.firings or one.was.is_error or other.was.is_error:
        return False
    if one.writes != other.writes or one.was.evidence or other.was.evidence:
        return False
    if one.writes and _touched(one) & _touched(other):
        return False
    held = {value for _, value in leaves(other.args) if isinstance(value, str | float)}
    given = {value for _, value in leaves(one.seen) if isinstance(value, str | float)}
    asked = {value for _, value in leaves(one.args) if isinstance(value, str | float)}
    return not held & (given - asked)


def _touched(call: Call) -> set[str]:
    return {change["table"] for change in call.was.effects} if call.was is not None else set()


def all_swapped(moves: Moves) -> Moves | None:
    """Return the moves with every pair of independent neighbours swapped, no call twice."""
    made: Moves = []
    place = 0
    while place < len(moves):
        one = moves[place]
        other = moves[place + 1] if place + 1 < len(moves) else None
        if isinstance(one, Call) and isinstance(other, Call) and _independent(one, other):
            made += [replace(other, step=None), replace(one, step=None)]
            place += 2
        else:
            made.append(one)
            place += 1
    return made if made != moves else None


class Asker(ScriptAgent):
    """Begins turns with a harmless question and then plays the oracle."""

    left = 0
    _asked_in: str | None = None

    async def turn(self, text: str) -> TurnResult:
        """Ask, or go on with the words that began the turn."""
        begins = text in [turn.user for turn in self.given.scenario.turns]
        if self._asked_in is not None:
            text = self._asked_in
            self._asked_in = None
        elif self.left > 0 and begins:
            self.left -= 1
            self._asked_in = text
            return TurnResult(QUESTION)
        return await super().turn(text)


def asking(questions: int) -> Callable[[Assignment], AbstractAsyncContextManager[Agent]]:
    """Return a life that plays the oracle and asks one question in each of the first turns."""

    @asynccontextmanager
    async def life(given: Assignment) -> AsyncGenerator[Agent]:
        asker = Asker(given, given.scenario.scripts.oracle)
        asker.left = questions
        yield asker

    return life


_BY_DRAFT = {
    "gmail.send_email": ("create_draft", "update_draft", "send_draft"),
    "outlook.send_mail_item": (
        "compose_draft",
        "update_composed_draft",
        "send_composed_draft",
    ),
}
"""Tools that send a mail at once, with those that save, change and send a draft of it."""


class Drafter(ScriptAgent):
    """Plays the oracle, but saves each new mail as a draft before it sends it.

    What could not be sent is still there as a draft, and is sent when the oracle tries again.
    """

    def __init__(self, given: Assignment) -> None:
        super().__init__(given, given.scenario.scripts.oracle)
        self._saved: dict[str, str] = {}

    async def perform(self, service: str, tool: str, args: dict[str, Any]) -> Any:
        """Make one call, or the calls that send a draft, and return the data of the last."""
        if f"{service}.{tool}" not in _BY_DRAFT:
            return await super().perform(service, tool, args)
        save, change, send = _BY_DRAFT[f"{service}.{tool}"]
        name = f"{service} {sorted(args.items())}"
        if name in self._saved:
            sent, refused = await self.tools.call(service, send, {"draft_id": self._saved[name]})
            if not refused or sent["error"].get("retryable"):
                return sent
        draft = {key: value for key, value in args.items() if key != "attachments"}
        saved, refused = await self.tools.call(service, save, draft)
        if refused:
            return await super().perform(service, tool, args)
        draft_id = saved["draft_id"]
        if "attachments" in args:
            files = {"draft_id": draft_id, "attachments": args["attachments"]}
            told, refused = await self.tools.call(service, change, files)
            if refused:
                return told
        self._saved[name] = draft_id
        return await super().perform(service, send, {"draft_id": draft_id})


def drafts(scenario: Scenario, moves: Moves) -> bool:
    """Return whether the moves send a mail that the tools at hand could send as a draft."""
    offered = load.offer(scenario)
    for move in moves:
        if isinstance(move, Call) and move.name in _BY_DRAFT:
            return all(tool in offered[move.service].tools for tool in _BY_DRAFT[move.name])
    return False


@asynccontextmanager
async def drafting(given: Assignment) -> AsyncGenerator[Agent]:
    """Play the oracle with drafts."""
    yield Drafter(given)


def questions_asked(moves: Moves) -> int:
    """Return how many texts of the moves were answered: all but the last of each turn."""
    count = 0
    for place, move in enumerate(moves[:-1]):
        count += isinstance(move, Say) and moves[place + 1].turn == move.turn
    return count
