"""What is true at a moment of a trace: the names that the truth of a statement may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judge.trace import Record
from servers.kit.errors import UnknownName
from servers.kit.events import Attempt, Message
from servers.kit.expr.evaluate import evaluate, fields, names
from servers.kit.expr.shapes import ANYTHING, PLAIN, Shape, walk
from servers.kit.store import AGENT, Change
from servers.kit.tables import Table
from servers.kit.types import Row

TABLES = ("added", "changed", "gone", "rows")
NAMES = frozenset({*TABLES, "calls", "answers", "fired", "settled", "turn", "today"})
_CONSTANTS = {"null", "true", "false"}
ALWAYS = "always"
"""The truth of a statement that holds whatever the agent does."""


class _Named(Mapping[str, Any]):
    """A mapping that computes each value when it is asked for."""

    def __init__(self, compute: Any, known: Any = ()) -> None:
        self._compute = compute
        self._known = known
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._compute(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(list(self._known))


class Moment:
    """The true world and the trace as they were when a text was said or a mail was written.

    `before` is the number of the first event that does not count any more.
    """

    def __init__(self, record: Record, before: int, turn: int, at: str) -> None:
        self._record = record
        self._before = before
        self._at = at
        self._entries: dict[str, dict[Any, list[Change]]] = {}
        self._later: dict[str, list[Change]] = {}
        self._truths: dict[str, bool] = {}
        self._sort_changes()
        tables = self._entries.keys()
        self.scope: dict[str, Any] = {
            "added": _Named(self._added, tables),
            "changed": _Named(self._changed, tables),
            "gone": _Named(self._gone, tables),
            "rows": _Named(self._rows, tables),
            "calls": [_call(a) for a in record.attempts if a.seq < before],
            "answers": self._answers(),
            "fired": _Named(self._fired, record.faults),
            "settled": _Named(self._settled),
            "turn": turn,
            "today": at[:10],
        }

    @classmethod
    def of(cls, record: Record, text: Message) -> Moment:
        """Return the moment of a text."""
        return cls(record, text.seq, text.turn, text.at)

    def holds(self, truth: str) -> bool:
        """Return whether an expression is true at the moment."""
        if truth == ALWAYS:
            return True
        if truth not in self._truths:
            self._truths[truth] = bool(evaluate(truth, self.scope))
        return self._truths[truth]

    # -- rows ------------------------------------------------------------------------------------
    def _sort_changes(self) -> None:
        makers = self._record.makers
        for change in self._record.changes or []:
            maker = makers.get(change["seq"])
            earlier = maker.seq < self._before if maker is not None else change["at"] <= self._at
            if earlier:
                rows = self._entries.setdefault(change["table"], {})
                rows.setdefault(change["key"], []).append(change)
            else:
                self._later.setdefault(change["table"], []).append(change)

    def _own(self, table: str) -> Iterator[list[Change]]:
        for entries in self._entries.get(table, {}).values():
            if any(entry["cause"] == AGENT for entry in entries):
                yield entries

    def _added(self, table: str) -> list[Row]:
        rows = [e[-1]["new"] for e in self._own(table) if e[0]["old"] is None]
        return [row for row in rows if row is not None]

    def _changed(self, table: str) -> list[Row]:
        rows = []
        for entries in self._own(table):
            old = entries[0]["old"]
            new = entries[-1]["new"]
            if old is not None and new is not None and old != new:
                rows.append(new)
        return rows

    def _gone(self, table: str) -> list[Row]:
        rows = []
        for entries in self._own(table):
            before = entries[-1]["old"]
            if entries[-1]["new"] is None and before is not None:
                rows.append(before)
        return rows

    def _rows(self, table: str) -> list[Row]:
        world = self._record.world
        if world is None or table not in world.tables:
            return []
        later = self._later.get(table)
        if not later:
            return list(self._record.rows(table))
        key = world.tables[table].key
        rows = {row[key]: row for row in self._record.rows(table)}
        for change in reversed(later):
            if change["old"] is None:
                rows.pop(change["key"], None)
            else:
                rows[change["key"]] = change["old"]
        return list(rows.values())

    # -- the trace -------------------------------------------------------------------------------
    def _answers(self) -> list[str]:
        answers: list[str] = []
        for message in self._record.messages:
            if message.seq < self._before:
                answers += message.answered
        return answers

    def _fired(self, fault: str) -> int:
        earlier = [a for a in self._record.attempts if a.seq < self._before]
        return sum(len(attempt.fired(fault)) for attempt in earlier)

    def _settled(self, name: str) -> bool:
        """Return whether every obligation of an evidence check that was open is settled."""
        opened = self._record.opened(name)
        subjects = [s for s, start in opened.items() if start.seq < self._before]
        if not subjects:
            return False
        for subject in subjects:
            settling = self._record.settled(subject)
            if settling is None or settling.seq >= self._before:
                return False
        return True


def _call(attempt: Attempt) -> dict[str, Any]:
    return {
        "tool": attempt.name,
        "service": attempt.service,
        "args": attempt.args,
        "seen": attempt.seen,
        "truth": attempt.truth,
        "error": attempt.is_error,
        "turn": attempt.turn,
        "fired": [firing.fault for firing in attempt.firings if firing.failed is None],
    }


def check_truth(
    value: Any,
    where: str,
    *,
    tables: Mapping[str, Any],
    faults: list[str],
    evidence: list[str],
) -> None:
    """Raise `UnknownName` where an expression uses a name that no moment has.

    Tables, their columns, faults and evidence checks are such names, too.
    """
    for name in sorted(names(value)):
        if name not in NAMES | _CONSTANTS:
            raise UnknownName("name", name, NAMES, where)
    for name, part in sorted(fields(value)):
        if name in TABLES and part not in tables:
            raise UnknownName("table", part, tables, where)
        if name == "fired" and part not in faults:
            raise UnknownName("fault", part, faults, where)
        if name == "settled" and part not in evidence:
            raise UnknownName("evidence check", part, evidence, where)
    mentioned = {part for name, part in fields(value) if name in TABLES}
    stored = Shape({table: _rows_of(tables[table]) for table in mentioned})
    shapes = dict.fromkeys(TABLES, stored)
    lines = dict.fromkeys(("tool", "service", "error", "turn"), PLAIN)
    replies = dict.fromkeys(("args", "seen", "truth"), ANYTHING)
    shapes["calls"] = Shape(items=Shape({**lines, **replies, "fired": Shape(items=PLAIN)}))

    def lost(taken: str, field: str, known: Iterable[str]) -> None:
        raise UnknownName("column", field, known, f"{where}: {taken}" if where else taken)

    walk(value, shapes, lost)


def _rows_of(table: Table) -> Shape:
    columns = {}
    for column, (kind, _) in table.columns.items():
        columns[column] = ANYTHING if kind in ("list", "dict") else PLAIN
    return Shape(items=Shape(columns))
