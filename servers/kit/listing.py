"""Lists that read their page, not their table.

A `Listing` says which rows of a table a list shows and in which order; `page` (in `values`) reads
the rows of one page from it. Rows are sorted by one column or expression, and ties by the order in
which they were written, so an index on that column finds the next page without reading the rest.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.errors import ServiceError
from servers.kit.store import World
from servers.kit.types import Row
from servers.kit.values import Date, invalid_cursor
from servers.kit.zones import day_start

Since = Annotated[
    Date, Field(description="First day, as YYYY-MM-DD in the account's time zone; included.")
]
Until = Annotated[
    Date, Field(description="Last day, as YYYY-MM-DD in the account's time zone; included.")
]
_SCANNED = 64
"""Rows that are read at once where a condition in Python decides which of them are shown."""


@dataclass(frozen=True)
class Listing:
    """The rows of a table in the order of `by`, newest (largest) first unless `newest` is False.

    `where` is SQL of ours with `?` for each of `params`. `kept` decides about each row what SQL
    cannot; rows are read until a page is full. `tied` is a column by which ties are sorted,
    upwards, instead of by the order in which they were written.
    """

    world: World
    table: str
    by: str
    where: str = ""
    params: tuple[Any, ...] = ()
    newest: bool = True
    kept: Callable[[Row], bool] | None = None
    tied: str = ""

    def only(self, where: str, *params: Any) -> Listing:
        """Return the list of those rows that also meet a condition in SQL."""
        both = f"({self.where}) AND ({where})" if self.where else where
        return dataclasses.replace(self, where=both, params=(*self.params, *params))

    def keep(self, kept: Callable[[Row], bool]) -> Listing:
        """Return the list of those rows for which `kept` holds."""
        return dataclasses.replace(self, kept=kept)

    def days(self, since: str | None, until: str | None, where: ZoneInfo | str | None) -> Listing:
        """Return the list of the rows from one local day to another, both included.

        `where` is the time zone in which `by` holds moments, or None if it holds dates. Refuses
        days in the wrong order.
        """
        if since is None and until is None:
            return self
        check_days(since, until)
        narrowed = self
        if since is not None:
            narrowed = narrowed.only(f"{self.by}>=?", _begin(date.fromisoformat(since), where))
        if until is not None:
            after = date.fromisoformat(until) + timedelta(days=1)
            narrowed = narrowed.only(f"{self.by}<?", _begin(after, where))
        return narrowed

    def all(self) -> list[Row]:
        """Return every row, for sums; a list for the agent is read page by page."""
        rows = self.world.rows(self.table, self.where, *self.params, order=self._order)
        return [row for row in rows if self._fits(row)]

    def _fits(self, row: Row) -> bool:
        return self.kept is None or self.kept(row)

    def read(self, limit: int, cursor: str | None) -> tuple[list[Row], str | None]:
        """Return a page of rows and the cursor of the next page, or None at the end.

        Raises `ServiceError` INVALID_CURSOR if the cursor is of no row of this list.
        """
        after = None if cursor is None else self._place(cursor)
        found: list[Row] = []
        size = limit + 1 if self.kept is None else max(limit + 1, _SCANNED)
        while True:
            rows = self._next(after, size)
            found += [row for row in rows if self._fits(row)]
            if len(found) > limit or len(rows) < size:
                break
            after = self._at(rows[-1][self._key])
            size *= 2
        shown = found[:limit]
        more = len(found) > limit
        return shown, _packed(shown[-1][self._key]) if more else None

    @property
    def _key(self) -> str:
        return self.world.tables[self.table].key

    @property
    def _order(self) -> str:
        way = " DESC" if self.newest else ""
        return f"{self.by}{way}, {self.tied or f'rowid{way}'}"

    @property
    def _second(self) -> str:
        return self.tied or "rowid"

    def _next(self, after: tuple[Any, Any] | None, size: int) -> list[Row]:
        listing = self
        sign = "<" if self.newest else ">"
        if after is not None:
            moment, second = after
            # The first condition lets an index find the place.
            tie = f"{self._second}{'>' if self.tied else sign}?"
            beyond = f"{self.by}{sign}=? AND ({self.by}{sign}? OR {tie})"
            listing = self.only(beyond, moment, moment, second)
        return self.world.rows(
            self.table, listing.where, *listing.params, order=self._order, limit=size
        )

    def _parts(self, kind: str, after: tuple[str, str] | None, size: int) -> list[Part]:
        """Return the first rows of the list that come after a moment and a key."""
        listing = self
        if after is not None:
            listing = self.only(f"({self.by},{self._key})<(?,?)", *after)
        order = f"{self.by} DESC, {self._key} DESC"
        rows = self.world.rows(self.table, listing.where, *listing.params, order=order, limit=size)
        return [Part(kind, row[self.by], row[self._key], row) for row in rows]

    def _at(self, key: Any) -> tuple[Any, Any] | None:
        """Return where a row of the list stands: the value it is sorted by, and that of ties."""
        row = self.only(f"{self._key}=?", key)
        query = f"SELECT {self.by}, {self._second} FROM {self.table} WHERE {row.where}"
        found = self.world.sql(query, *row.params)
        return (found[0][0], found[0][1]) if found else None

    def _place(self, cursor: str) -> tuple[Any, Any]:
        key = _unpacked(cursor)
        place = None if key is None else self._at(key)
        if place is None:
            raise invalid_cursor()
        return place


@dataclass(frozen=True)
class Preceded:
    """Rows that are in no table yet, followed by the rows of a listing.

    The first ones have keys like the others, and no row of the table has one of theirs.
    """

    first: list[Row]
    rest: Listing

    def read(self, limit: int, cursor: str | None) -> tuple[list[Row], str | None]:
        """Return a page of rows and the cursor of the next page, as `Listing.read` does."""
        key = self.rest._key
        cursors = [_packed(row[key]) for row in self.first]
        if cursor is not None and cursor not in cursors:
            return self.rest.read(limit, cursor)
        start = 0 if cursor is None else cursors.index(cursor) + 1
        rows = self.first[start:] + self.rest.read(limit + 1, None)[0]
        more = len(rows) > limit
        return rows[:limit], _packed(rows[limit - 1][key]) if more else None


class Part(NamedTuple):
    """A row of one of the lists that `Merged` reads as one: which list, its place, and the row."""

    kind: str
    at: str
    key: str
    row: Row


@dataclass(frozen=True)
class Merged:
    """Lists of several tables by kind, read as one list: newest first, then by their keys."""

    lists: Mapping[str, Listing]

    def read(self, limit: int, cursor: str | None) -> tuple[list[Part], str | None]:
        """Return a page of parts, and the cursor of the next page or None; see `Listing.read`."""
        after = None if cursor is None else self._place(cursor)
        found: list[Part] = []
        for kind, listing in self.lists.items():
            found += listing._parts(kind, after, limit + 1)
        found.sort(key=lambda part: (part.at, part.key), reverse=True)
        shown = found[:limit]
        return shown, _packed(shown[-1].key) if len(found) > limit else None

    def _place(self, cursor: str) -> tuple[str, str]:
        key = _unpacked(cursor)
        if key is not None:
            for listing in self.lists.values():
                place = listing._at(key)
                if place is not None:
                    return place[0], key
        raise invalid_cursor()


def _begin(day: date, where: ZoneInfo | str | None) -> str:
    if where is None:
        return day.isoformat()
    return day_start(day, ZoneInfo(where) if isinstance(where, str) else where)


def check_days(since: str | None, until: str | None) -> None:
    """Refuse a first day that is after the last one."""
    if since is not None and until is not None and since > until:
        raise ServiceError(
            "INVALID_DATE_RANGE",
            f"The first day, {since}, is after the last one, {until}.",
            "Swap the dates.",
        )


def _packed(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def _unpacked(cursor: str) -> str | None:
    """Return the key that a cursor holds, or None if it holds none."""
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
