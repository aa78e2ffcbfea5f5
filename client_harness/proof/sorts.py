"""Other values of the same sort, from the same world: another row, person, amount, day, time."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from servers.kit.store import World
from servers.kit.types import Row

ADDRESSES = ("email", "email_address", "address", "username", "phone", "token")
"""Columns by which people and accounts are addressed."""
_DATED = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?")
_CLOCK = re.compile(r"\d\d:\d\d(:\d\d)?")
_ID = re.compile(r"[a-z]+_[0-9a-z]{6,}")

Path = tuple[str | int, ...]
"""Where a value stands in arguments."""


class Found(NamedTuple):
    """A row that a value points to, and the column that holds the value."""

    table: str
    column: str
    row: Row


class Sorts:
    """Finds what values of arguments point to in a world, and others of their sort."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._found: dict[str, Found | None] = {}

    def find(self, value: str) -> Found | None:
        """Return the row that has a text as its key or its address, or None."""
        if value not in self._found:
            self._found[value] = self._find(value)
        return self._found[value]

    def _find(self, value: str) -> Found | None:
        for table, spec in self.world.tables.items():
            row = self.world.get(table, value)
            if row is not None:
                return Found(table, spec.key, row)
        if _ID.fullmatch(value):
            return None
        for table, column in self._addressed:
            rows = self.world.rows(table, f"lower({column})=lower(?)", value, limit=1)
            if rows:
                return Found(table, column, rows[0])
        return None

    @functools.cached_property
    def _addressed(self) -> list[tuple[str, str]]:
        places = []
        for table, spec in self.world.tables.items():
            if "name" in spec.columns:
                places += [(table, column) for column in ADDRESSES if column in spec.columns]
        return places

    def others(self, value: str, most: int = 3) -> list[str]:
        """Return other values of the same sort, those of the most similar rows first."""
        found = self.find(value)
        if found is None:
            return []
        table, column, row = found
        rows = self.world.rows(table, order=self.world.tables[table].key)
        rivals = [other for other in rows if _usable(other, column, value)]
        rivals.sort(key=lambda other: -_likeness(row, other))
        return [other[column] for other in rivals[:most]]

    def named(self, value: str) -> str:
        """Return the name of the row that a value points to, or the value."""
        found = self.find(value)
        if found is None:
            return value
        row = found.row
        names = (row.get(n) for n in ("name", "title", "subject", "address", "email"))
        return next((str(name) for name in names if name), value)

    def keys(self, table: str, most: int = 5) -> list[Any]:
        """Return the first keys of a table."""
        spec = self.world.tables[table]
        return [row[spec.key] for row in self.world.rows(table, order=spec.key, limit=most)]


def _usable(row: Row, column: str, value: str) -> bool:
    other = row[column]
    return isinstance(other, str) and other != "" and other.casefold() != value.casefold()


def _likeness(row: Row, other: Row) -> int:
    return sum(1 for column in row if row[column] == other[column])


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values inside arguments that are no objects or lists, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def lists(value: Any, path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the lists inside arguments, with their paths."""
    if isinstance(value, list):
        yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists(inner, (*path, key))


def put(value: Any, path: Path, new: Any) -> Any:
    """Return arguments with another value at a path."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


def other_numbers(name: str, number: float) -> list[float]:
    """Return other numbers for an argument: amounts differ by 4, counts by 1."""
    if isinstance(number, int) and not re.search("amount|price|limit|total|sum", name):
        return [number + 1, number - 1]
    return [number + 4, number - 4, number / 2]


def next_day(text: str) -> str | None:
    """Return the same moment or date a day later, or None if the text is neither."""
    if not _DATED.fullmatch(text):
        return None
    try:
        day = datetime.fromisoformat(text[:10]) + timedelta(days=1)
    except ValueError:
        return None
    return day.date().isoformat() + text[10:]


def next_hour(text: str) -> str | None:
    """Return the same moment or time an hour later, or None if the text is neither."""
    at = 11 if _DATED.fullmatch(text) and len(text) > 10 else 0
    if not at and not _CLOCK.fullmatch(text):
        return None
    hour = (int(text[at : at + 2]) + 1) % 24
    return f"{text[:at]}{hour:02}{text[at + 2 :]}"
