"""The agenda of a world: what is due, earliest first, each thing at its own moment.

A service marks a method with `@happens("table.column")`: it runs for each row whose moment in that
column has come, with the row's moment as `self.now`, and moves the column on. The agenda covers all
services whose tables a world holds. The first moments are kept with the world and looked up again
only where a table was written to, so that a call on a quiet day costs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from servers.kit import future, posts
from servers.kit.control import make_id
from servers.kit.service import Event, Ids, Service, of_category, services
from servers.kit.store import CLOCK, POST, World
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time

ANY = ""
"""Where a world keeps the first moment of all lines."""


@dataclass(frozen=True)
class Line:
    """One kind of thing that comes due: rows of a table, by a column, and what is done for each."""

    key: str
    table: str
    column: str
    where: str
    cause: str
    run: Callable[[World, Row, int], None]

    def first(self, world: World) -> int | None:
        """Return when the first row is due, or None."""
        query = f"SELECT min({self.column}) FROM {self.table} WHERE {self._condition}"
        found = world.sql(query)[0][0]
        return None if found is None else parse_time(found)

    def row(self, world: World, moment: int) -> Row | None:
        """Return the oldest row that is due at a moment, or None."""
        where = f"{self.column}=? AND {self._condition}"
        rows = world.rows(self.table, where, iso(moment), order="rowid", limit=1)
        return rows[0] if rows else None

    @property
    def _condition(self) -> str:
        return self.where or f"{self.column} IS NOT NULL"


class Agenda:
    """Everything that comes due in worlds that hold the tables of some services.

    `ids` returns the ids for what happens to a row, given its table, its key and the moment.
    `tables` are those for which dated rows are applied. `told` hears of each letter of the outbox
    when it is due, with what it says by then (None if it is void).
    """

    def __init__(
        self,
        classes: Iterable[type[Service]],
        ids: Callable[..., Ids] | None = None,
        tables: Collection[str] = (),
        told: Callable[[Row, Json | None], None] | None = None,
    ) -> None:
        self.told = told
        self._ids = ids or derived_ids
        self.classes = sorted(classes, key=lambda cls: cls.name)
        self.lines: list[Line] = []
        self._providers = {cls.name: cls for cls in self.classes}
        if "future" in tables:
            condition = (
                f"place IN ({_listed(tables)})"
                f" AND (absent IS NULL OR absent NOT IN ({_listed(self._providers)}))"
            )
            line = Line("future", "future", "due_at", condition, CLOCK, _apply)
            self.lines.append(line)
        for cls in self.classes:
            for name, event in cls.events.items():
                key = f"{cls.name}.{name}"
                run = functools.partial(self._run, cls, event)
                line = Line(key, event.table, event.column, event.where, CLOCK, run)
                self.lines.append(line)
        answering = [cls.name for cls in self.classes if cls.reactions]
        if answering:
            condition = f"due_at IS NOT NULL AND provider IN ({_listed(answering)})"
            line = Line("reactions", "reactions", "due_at", condition, CLOCK, self._react)
            self.lines.append(line)
        self._mailboxes = [cls for cls in self.classes if cls.take_in is not Service.take_in]
        self._accounts = [cls for cls in self.classes if cls.settle is not Service.settle]
        if self._mailboxes or self._accounts:
            condition = "due_at IS NOT NULL"
            if not self._mailboxes:
                # Nobody takes in a letter here, but money moves all the same.
                condition += f" AND provider||'.'||template IN ({_listed(posts.receipts())})"
            line = Line("outbox", "outbox", "due_at", condition, POST, self._deliver)
            self.lines.append(line)

    def next(self, world: World, *, anew: bool = False) -> int | None:
        """Return the first moment at which something is due, or None.

        With `anew`, nothing that was kept counts: another process may have written to the file.
        """
        first = world.first_due
        if anew:
            first.clear()
        if world.moved or ANY not in first:
            for line in self.lines:
                if line.table in world.moved or line.key not in first:
                    look_up = functools.partial(line.first, world)
                    kept = ("due", line.key)
                    first[line.key] = look_up() if anew else world.kept(kept, [line.table], look_up)
            world.moved.clear()
            waiting = [first[line.key] for line in self.lines]
            first[ANY] = min((at for at in waiting if at is not None), default=None)
        return first[ANY]

    def step(self, world: World, moment: int) -> None:
        """Do one of the things that are due at a moment, which `next` returned."""
        for line in self.lines:
            if world.first_due[line.key] != moment:
                continue
            row = line.row(world, moment)
            if row is None:
                continue
            world.stamp(moment, line.cause)
            try:
                line.run(world, row, moment)
                world.commit()
            except BaseException:
                world.rollback()
                raise
            key = world.tables[line.table].key
            again = line.row(world, moment)
            if again is not None and again[key] == row[key]:
                raise RuntimeError(f"{line.key}: {row[key]} is still due after it was done")
            return

    def run(self, world: World, now: int) -> None:
        """Do everything that is due by now."""
        while (moment := self.next(world)) is not None and moment <= now:
            self.step(world, moment)

    def _run(self, cls: type[Service], event: Event, world: World, row: Row, moment: int) -> None:
        ids = self._ids(event.table, row[world.tables[event.table].key], iso(moment))
        event.run(cls(world, moment, ids), row)

    def _react(self, world: World, row: Row, moment: int) -> None:
        cls = self._providers[row["provider"]]
        world.update("reactions", row["id"], due_at=None)
        if row["asks"] in cls.reactions:
            service = cls(world, moment, self._ids("reactions", row["id"]))
            cls.reactions[row["asks"]](service, row)

    def _deliver(self, world: World, row: Row, moment: int) -> None:
        """Hand a letter to the mailbox that it is addressed to; others are not in this world.

        One that was posted for a later moment says what its provider says by then.
        """
        data: Json | None = row["data"]
        provider = self._providers.get(row["provider"])
        if provider is not None and row["due_at"] > row["posted_at"]:
            data = provider(world, moment, self._ids("outbox", row["id"])).when_due(row)
        if self.told is not None:
            self.told(row, data)
        if data is None:
            world.delete("outbox", row["id"])
            return
        letter = posts.letter(
            row["provider"],
            row["template"],
            data,
            to=row["recipient"],
            at=moment,
            about=row["about"],
            person=future.person(world),
            id=row["id"],
        )
        for cls in self._mailboxes:
            if cls(world, moment, self._ids("outbox", row["id"])).take_in(letter):
                break
        self._settle(world, row, data, moment)
        world.update("outbox", row["id"], due_at=None, delivered_at=iso(moment))

    def _settle(self, world: World, row: Row, data: Json, moment: int) -> None:
        """Hand the money of which a letter tells to whoever keeps its account."""
        if not self._accounts:
            return
        ids = self._ids("outbox", row["id"])
        for movement in posts.moved(row["provider"], row["template"], data, row["about"]):
            for cls in self._accounts:
                if cls(world, moment, ids).settle(movement):
                    break


def _listed(names: Iterable[str]) -> str:
    return ",".join(f"'{name}'" for name in sorted(names))


def _apply(world: World, row: Row, moment: int) -> None:
    future.apply(world, row)


def derived_ids(*key: Any) -> Ids:
    """Return ids that depend only on a key, so that they are the same in every world."""
    spent: dict[str, int] = {}

    def spend(prefix: str) -> str:
        spent[prefix] = spent.get(prefix, 0) + 1
        return make_id(prefix, "due", *key, spent[prefix])

    return Ids(spend, lambda prefix, ahead: spend(prefix), [])


@functools.cache
def agenda(tables: frozenset[str], hint: tuple[str, ...] = ()) -> Agenda:
    """Return the agenda of worlds that hold some tables.

    `hint` are categories that the tables are probably of, so that no others are imported.
    """
    classes: list[type[Service]] = []
    found: set[str] = set(posts.TABLES)
    for category in hint:
        for cls in of_category(category).values():
            classes.append(cls)
            found |= cls.known_tables().keys()
    if not tables <= found:
        classes = list(services().values())
    held = [cls for cls in classes if cls.known_tables().keys() <= tables]
    return Agenda(held, tables=tables)
