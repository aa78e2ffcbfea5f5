"""What an agent changed in the world, turn by turn, in a form in which two runs can be compared.

The agent's calls select the rows; their values are those that stand at a turn's end, whoever
changed them last. A row that came and went leaves nothing behind, unless it had reached someone
else.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judge.tables import tables, tables_of_mails
from servers.kit.events import Attempt, Event, Message, end_of
from servers.kit.expr import matches
from servers.kit.service import services
from servers.kit.store import AGENT, CLOCK, POST, Change
from servers.kit.tables import Role, Table
from servers.kit.types import Row

Op = Literal["added", "changed", "deleted"]
_COMPARED: frozenset[Role] = frozenset({"ref", "matter", "appointed", "recipients"})
"""Roles whose values must be equal."""
SOMEONE = "recipient"
"""The name under which one of several recipients stands in an item."""


@dataclass(frozen=True)
class Item:
    """One thing that a run did to the world: a row added, changed or deleted.

    `values` are the columns that must be equal, `words` the prose and manner that may have to be.
    An added row with several recipients is one item for each. `taken_back` marks an added row that
    the agent deleted after it had reached someone. `row` is the row as it stands (a deleted one as
    it was), `was` what it was before the run.
    """

    table: str
    op: Op
    key: Any
    values: dict[str, Any]
    words: dict[str, Any]
    row: Row
    was: Row | None = None
    taken_back: bool = False

    @functools.cached_property
    def spec(self) -> Table:
        """The table's declaration."""
        return tables()[self.table]


@dataclass(frozen=True)
class Timeline:
    """What a run did, cumulatively: `turns[t]` holds the items that stand at the end of turn t + 1.

    `made` are the keys of all rows that were added during the run, by whomever.
    """

    turns: list[list[Item]]
    made: frozenset[Any] = field(default_factory=frozenset)

    def at(self, turn: int) -> list[Item]:
        """Return the items at the end of a turn; after the last turn, those of the last."""
        if not self.turns or turn < 1:
            return []
        return self.turns[min(turn, len(self.turns)) - 1]


@functools.cache
def _owners() -> dict[str, tuple[str, str]]:
    """Return table → (service, category)."""
    owners = {}
    for name, cls in services().items():
        for table in cls.tables:
            owners[table] = (name, cls.category)
    return owners


def timeline(events: Sequence[Event], turns: int | None = None) -> Timeline | None:
    """Return what a trace's agent did, or None if the trace has no end.

    `turns` is how many turns the scenario has, where the trace may have fewer.
    """
    end = end_of(events)
    if end is None or end.changes is None:
        return None
    dated = _dated(events, end.changes)
    last = max([turns or 1, *(e.turn for e in events)])
    grown = [_standing(dated, turn, events) for turn in range(1, last + 1)]
    made = {c["key"] for c in end.changes if c["old"] is None}
    return Timeline(grown, frozenset(made))


def _dated(events: Sequence[Event], changes: Sequence[Change]) -> list[tuple[int, Change]]:
    """Return each change with the turn in which it was made."""
    by_seq: dict[int, int] = {}
    for event in events:
        if isinstance(event, Attempt):
            by_seq |= dict.fromkeys((change["seq"] for change in event.effects), event.turn)
    starts = []
    for event in events:
        if isinstance(event, Message) and event.role == "user" and event.about is None:
            starts.append((event.at, event.turn))
    dated = []
    for change in changes:
        turn = by_seq.get(change["seq"])
        if turn is None:
            turn = max((t for at, t in starts if at <= change["at"]), default=1)
        dated.append((turn, change))
    return dated


def _standing(
    dated: Sequence[tuple[int, Change]], turn: int, events: Sequence[Event]
) -> list[Item]:
    rows: dict[tuple[str, Any], list[Change]] = {}
    for made, change in dated:
        if made <= turn:
            rows.setdefault((change["table"], change["key"]), []).append(change)
    items: list[Item] = []
    for (table, key), every in rows.items():
        entries = _until_time_acts(every)
        if table in tables() and any(entry["cause"] == AGENT for entry in entries):
            items += [] if _arrived(table, entries) else _items(table, key, entries)
    return [item for item in items if not _abandoned(item, items, events, turn)]


def _until_time_acts(entries: list[Change]) -> list[Change]:
    """Return a row's changes without what time, or somebody else in it, did after the agent.

    A request that a friend has paid by then is still the request that the agent made; how long a
    run waits is nobody's mistake.
    """
    last = len(entries)
    while last > 0 and entries[last - 1]["cause"] in (CLOCK, POST):
        last -= 1
    return entries[:last]


def _arrived(table: str, entries: Sequence[Change]) -> bool:
    """Return whether a new row is the copy of a mail in the account that it went to.

    It follows from the mail that was sent, and says nothing about who got a blind copy.
    """
    outward = tables()[table].outward
    if outward is None or entries[0]["old"] is not None or table not in tables_of_mails():
        return False
    versions = [entry["new"] for entry in entries if entry["new"] is not None]
    return not any(matches(outward, version) for version in versions)


def _items(table: str, key: Any, entries: list[Change]) -> list[Item]:
    spec = tables()[table]
    was = entries[0]["old"]
    row = entries[-1]["new"]
    if was is None and row is None:
        sent = _sent(spec, entries)
        return [] if sent is None else _added(table, spec, key, sent, entries, taken_back=True)
    if row is None:
        assert was is not None
        return [Item(table, "deleted", key, {}, {}, was, was)]
    if was is None:
        return _added(table, spec, key, row, entries)
    values: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for column, role in spec.roles.items():
        times = _times_set(column, entries)
        if role == "stamp" and times:
            stood = 1 if was[column] is not None else 0
            values[column] = _stamp(row[column], times + stood)
        elif was[column] == row[column]:
            continue
        elif role == "recipients" and _listed_with_details(row[column]):
            values[column] = _invited(row[column])
        elif role in _COMPARED:
            values[column] = row[column]
        elif role in ("prose", "manner"):
            words[column] = row[column]
    if not values and not words:
        return []
    return [Item(table, "changed", key, values, words, row, was)]


def _added(
    table: str,
    spec: Table,
    key: Any,
    row: Row,
    entries: Sequence[Change],
    *,
    taken_back: bool = False,
) -> list[Item]:
    values: dict[str, Any] = {}
    words: dict[str, Any] = {}
    people: list[str] = []
    for column, role in spec.roles.items():
        if role == "recipients" and _listed_with_details(row[column]):
            values[column] = _invited(row[column])
        elif role == "recipients":
            people += _people(row[column])
        elif role == "stamp":
            values[column] = _stamp(row[column], _times_set(column, entries))
        elif role in _COMPARED:
            values[column] = row[column]
        elif role in ("prose", "manner"):
            words[column] = row[column]
    if not values and not words and not people:
        return []  # all of it is derived, so it follows from rows of other tables
    if not people:
        return [Item(table, "added", key, values, words, row, taken_back=taken_back)]
    items = []
    for person in sorted(set(people)):
        one = values | {SOMEONE: person}
        items.append(Item(table, "added", key, one, words, row, taken_back=taken_back))
    return items


def _people(value: Any) -> list[str]:
    if value is None:
        return []
    listed = value if isinstance(value, list) else str(value).replace(";", ",").split(",")
    return [str(person).strip().casefold() for person in listed if str(person).strip()]


def _listed_with_details(value: Any) -> bool:
    """Return whether recipients are records (`{email, response, invited_at}`), not addresses."""
    return isinstance(value, list) and any(isinstance(person, dict) for person in value)


def _invited(people: list[Row]) -> list[Row]:
    """Return recipients with their moments as null or set, in a fixed order."""
    plain = []
    for person in people:
        one = {}
        for part, value in person.items():
            one[part] = _stamp(value, 1) if part.endswith("_at") else value
        plain.append(one)
    return sorted(plain, key=lambda one: str(one.get("email")))


def _sent(spec: Table, entries: Sequence[Change]) -> Row | None:
    """Return the last version that had reached someone of a row that the agent has deleted."""
    if spec.outward is None or entries[-1]["cause"] != AGENT:
        return None
    versions = [entry["new"] for entry in entries if entry["new"] is not None]
    reached = [version for version in versions if matches(spec.outward, version)]
    return reached[-1] if reached else None


def _times_set(column: str, entries: Sequence[Change]) -> int:
    """Return how often a column was given another value that is not null."""
    times = 0
    for entry in entries:
        before = (entry["old"] or {}).get(column)
        after = (entry["new"] or {}).get(column)
        if after is not None and after != before:
            times += 1
    return times


def _stamp(value: Any, times: int) -> str:
    if value is None:
        return "null"
    return "set" if times <= 1 else "set again"


def _abandoned(item: Item, items: Sequence[Item], events: Sequence[Event], turn: int) -> bool:
    """Return whether a row is a cart or a draft left at a provider that failed.

    That is, calls to the provider had met errors or faults, and something was done with another
    provider of the category instead. What a call leaves behind that ends another row is left, too:
    the draft into which a scheduled mail turns when it is called off.
    """
    if item.spec.tentative is None or not matches(item.spec.tentative, item.row):
        return False
    owner, category = _owners().get(item.table, ("", ""))
    calls = [e for e in events if isinstance(e, Attempt)]
    own = [call for call in calls if (call.service, call.turn <= turn) == (owner, True)]
    if any(_leaves_behind(call, item) for call in own):
        return True
    if not any(call.is_error or call.firings for call in own):
        return False
    return any(_elsewhere(other, owner, category) for other in items)


def _leaves_behind(call: Attempt, item: Item) -> bool:
    """Return whether a call added a row when it deleted another one."""
    added = [change for change in call.effects if change["old"] is None]
    deleted = any(change["new"] is None for change in call.effects)
    return deleted and any((c["table"], c["key"]) == (item.table, item.key) for c in added)


def _elsewhere(item: Item, owner: str, category: str) -> bool:
    service, its_category = _owners().get(item.table, ("", ""))
    return its_category == category and service != owner
