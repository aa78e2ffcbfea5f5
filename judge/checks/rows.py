"""`rows`: the final world holds so many rows that meet a condition."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, ClassVar, Self

from pydantic import model_validator

from judge.finding import Finding, at_events, wanted, within
from judge.model import Check, Mentions
from judge.pattern import Predicate, heads
from judge.tables import tables
from judge.trace import Record
from servers.kit.declared import NonNegative
from servers.kit.errors import InputError, UnknownName
from servers.kit.expr import matches
from servers.kit.store import Change


class Rows(Check):
    """The final world holds `count` rows of `table` that meet `where`.

    Or `at_least` to `at_most` rows; at least 1 where no bound is given. Rows hold money in cents
    and moments as UTC text. `new: true` counts only rows inserted since the episode began, `false`
    only the others.
    """

    kind: ClassVar[str] = "rows"

    table: str
    where: Predicate = {}
    count: NonNegative | None = None
    at_least: NonNegative | None = None
    at_most: NonNegative | None = None
    new: bool | None = None

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.count is not None and (self.at_least is not None or self.at_most is not None):
            raise InputError("takes count, or at_least and at_most, but not both")
        return self

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The least and most rows expected; None is no bound."""
        if self.count is not None:
            return self.count, self.count
        if self.at_least is None and self.at_most is None:
            return 1, None
        return self.at_least, self.at_most

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        if record.world is None:
            return Finding(None, "the final world is not available")
        if self.table not in record.world.tables:
            raise UnknownName("table", self.table, record.world.tables)
        key = record.world.tables[self.table].key
        if self.new is not None and record.changes is None:
            return Finding(None, "the trace has no end, so new rows cannot be told from old ones")
        fresh = inserted(record.changes or [], self.table)
        if self.new:
            stored = [record.world.get(self.table, added) for added in fresh]
            rows = [row for row in stored if row is not None]
        else:
            rows = record.world.rows(self.table)
            if self.new is False:
                rows = [row for row in rows if row[key] not in fresh]
        fitting = [row for row in rows if matches(self.where, row)]
        events = touching(record, {(self.table, row[key]) for row in fitting})
        low, high = self.bounds
        kind = {True: "new ", False: "old ", None: ""}[self.new]
        noun = "row" if len(fitting) == 1 else "rows"
        condition = f" with {self.where}" if self.where else ""
        what = f"{self.table} holds {len(fitting)} {kind}{noun}{condition}{at_events(events)}"
        if within(len(fitting), low, high):
            return Finding(True, what, events)
        return Finding(False, f"{what}; expected {wanted(low, high)}", events)

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        return super().mentions().add(Mentions(tables={self.table: set(heads(self.where))}))

    def problems(self) -> list[str]:
        """See `Check.problems`."""
        low, high = self.bounds
        problems = table_problems(self.table, self.where)
        if low is not None and high is not None and high < low:
            problems.append(f"at_most {high} is less than at_least {low}")
        if not low and high is None:
            problems.append("at_least 0 without at_most is always true")
        return problems


def touching(
    record: Record, rows: Container[tuple[str, Any]], cause: str | None = None
) -> list[int]:
    """Return the events of the calls that changed any of these rows (`(table, key)`)."""
    events = []
    for attempt in record.attempts:
        changes = attempt.effects
        if cause is not None:
            changes = [change for change in changes if change["cause"] == cause]
        if any((change["table"], change["key"]) in rows for change in changes):
            events.append(attempt.seq)
    return sorted(events)


def inserted(changes: Iterable[Change], table: str) -> set[Any]:
    """Return the keys of the rows of a table that the changes inserted."""
    first: dict[Any, Any] = {}
    for entry in changes:
        if entry["table"] == table:
            first.setdefault(entry["key"], entry["old"])
    return {key for key, old in first.items() if old is None}


def table_problems(table: str, where: dict[str, Any]) -> list[str]:
    """Return an error text for each table or column in a condition that does not exist."""
    known = tables()
    if table not in known:
        return [str(UnknownName("table", table, known))]
    columns = known[table].columns
    unknown = set(heads(where)) - set(columns)
    return [str(UnknownName("column", name, columns, f"table {table}")) for name in sorted(unknown)]
