"""A recorded run as a list of moves, and an agent that makes them again with literal arguments.

Where an earlier call was left out or added, later replies hold other ids than the recording. An
argument that came from a reply is then translated, path by path, from the old reply to the new.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from client_harness.contract import Agent, Assignment, TurnResult
from scenarios.haystack import history
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.events import Attempt, Event, Message
from servers.kit.store import AGENT

SHORTEST = 6
"""How long a text must be to be taken for an id."""


class Unfit(Exception):
    """A changed call was refused, or changed nothing that the recorded one did not change."""


@dataclass(frozen=True)
class Call:
    """A call to make. `was` is the recorded attempt; `number` counts the calls of its tool.

    `step` is the recorded step; None stands for a step of its own. A call that is a `probe` must
    succeed, or the run is of no use.
    """

    service: str
    tool: str
    args: dict[str, Any]
    turn: int = 1
    number: int = 1
    was: Attempt | None = None
    step: int | None = None
    seen: Any = None
    probe: bool = False

    @property
    def name(self) -> str:
        """`service.tool`."""
        return f"{self.service}.{self.tool}"

    @property
    def label(self) -> str:
        """How mutants name the call: `venmo.send_money #2`."""
        return f"{self.name} #{self.number}"

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return self.was is not None and self.was.effect == "write"

    @property
    def acted(self) -> bool:
        """Whether the recorded call changed rows."""
        return self.was is not None and any(c["cause"] == AGENT for c in self.was.effects)


@dataclass(frozen=True)
class Say:
    """A text that ends the agent's turn."""

    text: str
    turn: int = 1


Move = Call | Say
Moves = list[Move]


def recorded(events: Sequence[Event]) -> Moves:
    """Return the moves of a trace."""
    moves: Moves = []
    counts: dict[str, int] = {}
    for event in events:
        if isinstance(event, Attempt):
            counts[event.name] = counts.get(event.name, 0) + 1
            moves.append(
                Call(
                    event.service,
                    event.tool,
                    event.args,
                    event.turn,
                    counts[event.name],
                    event,
                    event.step,
                    event.seen,
                )
            )
        elif isinstance(event, Message) and event.role == "assistant":
            moves.append(Say(event.text, event.turn))
    return moves


def without(moves: Moves, dropped: Callable[[int, Move], bool]) -> Moves:
    """Return the moves but for some, which are chosen by their place and themselves."""
    return [move for place, move in enumerate(moves) if not dropped(place, move)]


def changed(moves: Moves, place: int, args: dict[str, Any], **others: Any) -> Moves:
    """Return the moves with other arguments of the call at a place, which must succeed."""
    call = moves[place]
    assert isinstance(call, Call)
    return [*moves[:place], replace(call, args=args, probe=True, **others), *moves[place + 1 :]]


class Replay:
    """Plays moves."""

    def __init__(self, given: Assignment, moves: Moves) -> None:
        self._tools = given.tools
        self._moves = iter(list(enumerate(moves)))
        self._later = _Later(moves)
        self._step: tuple[int, int | None] | None = None
        self._new: dict[str, str] = {}
        self._standing = _image(given.scenario)

    async def turn(self, text: str) -> TurnResult:
        """Make the moves up to and including the next text."""
        for place, move in self._moves:
            if isinstance(move, Say):
                return TurnResult(_translated(move.text, self._new))
            await self._call(place, move)
        return TurnResult("")

    async def _call(self, place: int, call: Call) -> None:
        here = (call.turn, call.step)
        if call.step is None or here != self._step:
            self._tools.step()
        self._step = here
        args = _translated(call.args, self._new) if self._new else call.args
        data, is_error = await self._tools.call(call.service, call.tool, args)
        refused = call.was is None or not call.was.is_error
        if call.probe and is_error and refused:
            raise Unfit(call.label)
        if call.seen is not None and data != call.seen:
            self._learn(place, call.seen, data)

    def _learn(self, place: int, old: Any, new: Any) -> None:
        old_texts = set(_texts(old))
        new_texts = set(_texts(new))
        for was, now in _pairs(old, new):
            fresh = was not in new_texts and now not in old_texts
            if not fresh or was in self._new or not self._later.uses(place, was):
                continue
            # What stood in the world before the run still means what it meant.
            if was.encode() not in self._standing:
                self._new[was] = now


def _image(scenario: Scenario) -> bytes:
    if scenario.history is not None:
        return history.live(scenario.history).image
    return build.image(scenario.world)


class _Later:
    """Which texts of replies the later arguments hold."""

    def __init__(self, moves: Moves) -> None:
        self._args: list[list[str]] = []
        for move in moves:
            held = list(_texts(move.args)) if isinstance(move, Call) else []
            self._args.append(held)

    def uses(self, place: int, text: str) -> bool:
        """Return whether an argument of a call after a place holds a text that looks like an id."""
        if len(text) < SHORTEST or not any(sign.isdigit() for sign in text):
            return False
        later: list[str] = []
        for held in self._args[place + 1 :]:
            later += held
        return any(text in held for held in later)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _pairs(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts that stand at the same path of two replies and differ."""
    if isinstance(old, str) and isinstance(new, str):
        if old != new:
            yield old, new
    elif isinstance(old, dict) and isinstance(new, dict):
        for key, inner in old.items():
            if key in new:
                yield from _pairs(inner, new[key])
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new, strict=False):
            yield from _pairs(one, other)


def _translated(value: Any, new: dict[str, str]) -> Any:
    if isinstance(value, str):
        for was, now in new.items():
            value = value.replace(was, now)
        return value
    if isinstance(value, dict):
        return {key: _translated(inner, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_translated(inner, new) for inner in value]
    return value


def replaying(moves: Moves) -> Callable[[Assignment], AbstractAsyncContextManager[Agent]]:
    """Return a life that makes moves."""

    @asynccontextmanager
    async def life(given: Assignment) -> AsyncGenerator[Agent]:
        yield Replay(given, moves)

    return life
