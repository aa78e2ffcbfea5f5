"""The record that checks read: the events of a trace and the final world."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.change.expected import Expected
from judge.change.rows import Timeline, timeline
from judge.finding import FaultFacts, Finding
from judge.pattern import CallPattern
from judge.tables import tables_of_people
from servers.kit.events import Attempt, Event, Message, end_of
from servers.kit.store import Change, World
from servers.kit.types import Row

if TYPE_CHECKING:
    from judge.reading import Reader


def _names(world: World, tables: Iterable[str]) -> tuple[str, ...]:
    names: set[str] = set()
    for table in tables:
        names |= {name for (name,) in world.sql(f"SELECT name FROM {table}") if name}
    return tuple(sorted(names))


class Record:
    """A trace to judge.

    `world` is the final world, or None where it is not available; `faults` says what became of each
    fault. `expected` is what right runs change, `reader` reads the texts. `order_inferred` becomes
    true when a decision rests on the order of arrival alone, because the agent's steps are not
    known.
    """

    def __init__(
        self,
        events: Sequence[Event],
        world: World | None = None,
        faults: Mapping[str, FaultFacts] | None = None,
        *,
        expected: Expected | None = None,
        reader: Reader | None = None,
    ) -> None:
        self.events = list(events)
        self.world = world
        self.faults = dict(faults or {})
        self.attempts = [e for e in events if isinstance(e, Attempt)]
        self.messages = [e for e in events if isinstance(e, Message)]
        self.expected = expected
        self._reader = reader
        self.order_inferred = False
        self.found: dict[int, Finding] = {}
        """Findings so far, by the identity of the check: a check that counts in two settings is
        judged only once.
        """

        self._kept: dict[Hashable, Any] = {}

    @property
    def reader(self) -> Reader:
        """What reads the texts: phrases, if no other reader was given."""
        if self._reader is None:
            # Its patterns take long to compile, and a server that only serves needs none of them.
            from judge.reading import Phrases

            self._reader = Phrases()
        return self._reader

    def kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returned the first time that a key was asked for."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def people(self) -> tuple[str, ...]:
        """The names of everyone in the world's tables of people."""
        people: tuple[str, ...] = self.kept("people", self._find_people)
        return people

    def _find_people(self) -> tuple[str, ...]:
        world = self.world
        if world is None:
            return ()
        known = [table for table in tables_of_people() if table in world.tables]
        return world.kept("people", known, lambda: _names(world, known))

    def rows(self, table: str) -> Sequence[Row]:
        """The rows of a table of the final world; none where that is not available."""
        world = self.world
        if world is None or table not in world.tables:
            return ()
        rows: Sequence[Row] = self.kept(("rows", table), lambda: world.rows(table))
        return rows

    # -- texts -----------------------------------------------------------------------------------
    @property
    def last_turn(self) -> int:
        """The number of the last turn that has a text (without texts, of the last event)."""
        return max((e.turn for e in self.messages or self.events), default=0)

    def said(self) -> list[Message]:
        """Return the assistant's messages."""
        return [m for m in self.messages if m.role == "assistant"]

    @property
    def asked_about(self) -> set[str]:
        """The keys of the answers that the user gave."""
        keys: set[str] = set()
        for message in self.messages:
            keys |= set(message.answered)
        return keys

    def answers(self, key: str) -> list[Message]:
        """Return the user's messages that gave the answer with this key."""
        return [m for m in self.messages if key in m.answered]

    # -- calls and faults ------------------------------------------------------------------------
    def matching(self, pattern: CallPattern) -> list[Attempt]:
        """Return the attempts that match a pattern."""
        return [a for a in self.attempts if pattern.matches(a)]

    def fired(self, fault: str) -> bool:
        """Return whether a fault fired; one that this setting leaves out did not."""
        if fault in self.faults:
            return self.faults[fault].fired > 0
        return any(attempt.fired(fault) for attempt in self.attempts)

    @property
    def bugs(self) -> list[str]:
        """Exceptions in our own code that the trace recorded."""
        return [f"event {a.seq}, {a.name}: {a.bug}" for a in self.attempts if a.bug is not None]

    @property
    def changes(self) -> list[Change] | None:
        """All changes since the episode began, or None if the trace has no end."""
        end = end_of(self.events)
        return None if end is None else end.changes

    @property
    def timeline(self) -> Timeline | None:
        """What the agent changed, turn by turn, or None if the trace has no end."""
        turns = self.expected.turns if self.expected is not None else None
        made: Timeline | None = self.kept("timeline", lambda: timeline(self.events, turns))
        return made

    @property
    def makers(self) -> Mapping[int, Attempt]:
        """The sequence numbers of changes → the attempts that made them."""
        makers: dict[int, Attempt] = self.kept("makers", self._find_makers)
        return makers

    def _find_makers(self) -> dict[int, Attempt]:
        makers: dict[int, Attempt] = {}
        for attempt in self.attempts:
            makers |= dict.fromkeys((change["seq"] for change in attempt.effects), attempt)
        return makers

    # -- evidence --------------------------------------------------------------------------------
    def opened(self, name: str) -> dict[str, Attempt]:
        """Return an obligation's subjects (`name#1`, …), each with the attempt that opened it."""
        opened = {}
        for attempt in self.attempts:
            for subject in attempt.opened:
                if subject.rpartition("#")[0] == name:
                    opened[subject] = attempt
        return opened

    def settled(self, subject: str) -> Attempt | None:
        """Return the first attempt whose reply settled a subject, or None."""
        return next((a for a in self.attempts if subject in a.evidence), None)

    def knew(self, earlier: Attempt, attempt: Attempt) -> bool:
        """Return whether the agent had the reply to an earlier attempt when it made a later one."""
        if earlier.seq > attempt.arrived:
            return False
        if earlier.turn != attempt.turn:
            return True
        if earlier.step is None or attempt.step is None:
            self.order_inferred = True
            return True
        return attempt.step > earlier.step

    def known_before(self, subject: str, attempt: Attempt) -> bool:
        """Return whether the agent had a reply that settled a subject when it made an attempt."""
        return any(self.knew(a, attempt) for a in self.attempts if subject in a.evidence)
