"""The world: one SQLite database with the rows of every service and a log of every change to them.

The log holds the row before and after each write. Hence no service needs code for the effects of a
call, for `as_of`, or for undoing and redoing a change. `World` writes the log, not triggers: SQLite
parses the schema again for each copy, and hundreds of triggers cost megabytes. Episodes that have
not written anything share one read-only database; the first write makes a private copy.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from servers.kit import database
from servers.kit.errors import InputError
from servers.kit.tables import Table, create_schema
from servers.kit.types import Row
from servers.kit.values import iso, parse_time

WORLD = "world"
"""Cause of a write that was made before the episode."""
AGENT = "agent"
"""Cause of a write that a call made."""
CLOCK = "clock"
"""Cause of a write that was due at a moment. The only other causes are `fault:<name>`."""

_T = TypeVar("_T")


class Change(TypedDict):
    """One entry of a world's log: a row added (`old` is None), changed, or deleted (`new` is None).

    `at` is the simulated moment (ISO). `cause` says who made the change: `world`, `agent`, `clock`
    or `fault:<name>`. An entry from before `World.slim` holds less: an addition lacks its row, and
    a change has only the changed columns.
    """

    seq: int
    at: str
    cause: str
    table: str
    key: Any
    old: Row | None
    new: Row | None


class World:
    """A database of rows with the log of its changes; it is shared until the first write.

    `tables` maps names to their `Table`. Get a world from `World.empty`, `World.open`,
    `World.part`, `World.file`, `share` or `scratch`.
    """

    def __init__(
        self, connection: sqlite3.Connection, tables: dict[str, Table], *, shared: bool
    ) -> None:
        self._db = connection
        self.tables = tables
        self.shared = shared
        self._stamp: tuple[int, str | None] = (0, None)
        self._numbers: dict[str, int] = {}
        self._written: set[str] = set()
        self._kept: dict[Hashable, Any] = {}
        self._in_call = False
        self._begun: int | None = None
        self.read_only = False

    # -- making worlds ---------------------------------------------------------------------------
    @classmethod
    def empty(cls, tables: dict[str, Table], path: Path | None = None) -> World:
        """Return a private world without rows, in memory or in a new file."""
        connection = database.connect(path)
        # There are hundreds of small tables: with larger pages, copies would be mostly empty.
        connection.execute("PRAGMA page_size=1024")
        create_schema(connection, tables)
        return cls(connection, tables, shared=False)

    @classmethod
    def open(cls, image: bytes, tables: dict[str, Table]) -> World:
        """Return a shared, read-only world from the bytes that `image` returned."""
        connection = database.from_image(image)
        connection.execute("PRAGMA query_only=ON")
        return cls(connection, tables, shared=True)

    @classmethod
    def part(cls, image: bytes, tables: dict[str, Table]) -> World:
        """Return a shared, read-only world with only some tables of an image, and their log.

        A small world is quick to copy.
        """
        connection = database.from_image(image)
        known = {name for (name,) in connection.execute("SELECT name FROM _tables")}
        connection.execute("BEGIN")
        for table in sorted(known - tables.keys()):
            connection.execute(f"DROP TABLE IF EXISTS {table}_fts")
            connection.execute(f"DROP TABLE {table}")
        numbers = f"SELECT id FROM _tables WHERE name IN ({','.join('?' * len(tables))})"
        connection.execute(f"DELETE FROM _log WHERE tbl NOT IN ({numbers})", sorted(tables))
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        connection.execute("PRAGMA query_only=ON")
        return cls(connection, tables, shared=True)

    @classmethod
    def file(cls, path: Path, tables: dict[str, Table]) -> World:
        """Return the world that a file holds.

        Raises `InputError` if the file is not a world.
        """
        connection = database.connect(path)
        try:
            connection.execute("SELECT at FROM _log LIMIT 1")
        except sqlite3.DatabaseError as broken:
            raise InputError(
                f"{path} is not a world database ({broken}); name a new file or remove it"
            ) from None
        return cls(connection, tables, shared=False)

    def share(self) -> World:
        """Return another handle on the same shared database, for another episode."""
        return self._handle(self._db, shared=True)

    def image(self) -> bytes:
        """Return the database as bytes."""
        return self._db.serialize()

    def slim(self) -> None:
        """Make the log of everything written so far small, and with it every copy.

        `log` then returns an addition without its row, which `undo` fills in, and a change with
        only its changed columns.
        """
        self._db.execute("UPDATE _log SET new=NULL WHERE old IS NULL")
        changes = self._db.execute(
            "SELECT seq, old, new FROM _log WHERE old IS NOT NULL AND new IS NOT NULL"
        )
        for seq, old_text, new_text in changes.fetchall():
            old = json.loads(old_text)
            new = json.loads(new_text)
            changed = [column for column in old if old[column] != new[column]]
            was = _text({column: old[column] for column in changed})
            became = _text({column: new[column] for column in changed})
            self._db.execute("UPDATE _log SET old=?, new=? WHERE seq=?", (was, became, seq))
        self._db.execute("VACUUM")

    def scratch(self) -> World:
        """Return a copy that may be changed and dropped.

        A shared world is copied only when the copy is first written to.
        """
        if self.shared:
            return self.share()
        return self._handle(database.copy(self._db), shared=False)

    def _handle(self, connection: sqlite3.Connection, *, shared: bool) -> World:
        """Return a world like this one on another connection."""
        world = World(connection, self.tables, shared=shared)
        world._stamp = self._stamp
        world._numbers = self.numbers
        world._written = set(self._written)
        world._kept = self._kept
        return world

    def close(self) -> None:
        """Release a private database."""
        if not self.shared:
            self._db.close()

    # -- reading ---------------------------------------------------------------------------------
    def get(self, table: str, key: Any) -> Row | None:
        """Return the row with this primary key, or None."""
        spec = self.tables[table]
        values = self._db.execute(f"SELECT * FROM {table} WHERE {spec.key}=?", (key,)).fetchone()
        if values is None:
            return None
        row = dict(zip(spec.columns, values, strict=True))
        return self._decode(table, [row])[0]

    def rows(
        self, table: str, where: str = "", *params: Any, order: str = "", limit: int | None = None
    ) -> list[Row]:
        """Return rows as dicts, with JSON and booleans decoded.

        `where` and `order` are SQL of ours, never an agent's.
        """
        sql = f"SELECT * FROM {table}"
        if where:
            sql += f" WHERE {where}"
        if order:
            sql += f" ORDER BY {order}"
        if limit is not None:
            sql += f" LIMIT {int(limit)}"
        names = self.tables[table].columns
        cursor = self._db.execute(sql, params)
        return self._decode(table, [dict(zip(names, values, strict=True)) for values in cursor])

    def _decode(self, table: str, rows: list[Row]) -> list[Row]:
        for column, kind in self.tables[table].decoded:
            for row in rows:
                value = row.get(column)
                if value is not None:
                    row[column] = value != 0 if kind == "bool" else _PARSE(value)[0]
        return rows

    def sql(self, query: str, *params: Any) -> list[tuple[Any, ...]]:
        """Run a SELECT of ours (sums, joins) and return its tuples."""
        return self._db.execute(query, params).fetchall()

    def kept(self, key: Hashable, tables: Iterable[str], make: Callable[[], _T]) -> _T:
        """Return what `make` returned first, here or in another episode on the same database.

        It may depend on the rows of `tables` alone, and is made anew where one was written to.
        """
        if not self._written.isdisjoint(tables):
            return make()
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def search(
        self, table: str, words: str, *, prefix: bool = True, order: str = "rank"
    ) -> list[Row]:
        """Return the rows whose indexed text contains every word, best match first.

        Quotes keep words together; empty text matches nothing. Punctuation separates words, so that
        no operator of the index can be injected.
        """
        terms = []
        for phrase, word in re.findall(r'"([^"]+)"|(\S+)', words):
            tokens = re.findall(r"\w+", phrase or word)
            if tokens:
                star = "*" if prefix and not phrase else ""
                terms.append(f'"{" ".join(tokens)}"{star}')
        if not terms:
            return []
        names = self.tables[table].columns
        cursor = self._db.execute(
            f"SELECT {table}.* FROM {table}_fts JOIN {table} ON {table}.rowid={table}_fts.rowid "
            f"WHERE {table}_fts MATCH ? ORDER BY {order}, {table}.{self.tables[table].key}",
            (" ".join(terms),),
        )
        return self._decode(table, [dict(zip(names, values, strict=True)) for values in cursor])

    # -- writing ---------------------------------------------------------------------------------
    def stamp(self, now: int, cause: str) -> None:
        """Set the moment and the cause of the next writes; this itself writes nothing."""
        self._stamp = (now, None if cause == WORLD else cause)

    def insert(self, table: str, row: Row) -> Row:
        """Insert a row that fits its table and return it."""
        spec = self.tables[table]
        spec.check(table, row)
        full = {c: row.get(c) for c in spec.columns}
        stored = spec.encoded(full)
        marks = ",".join("?" * len(stored))
        sql = f"INSERT INTO {table}({','.join(stored)}) VALUES({marks})"
        self._write(table, row[spec.key], None, stored, sql, list(stored.values()))
        return full

    def update(self, table: str, key: Any, **changes: Any) -> None:
        """Change columns of one row.

        An update that changes no value, or whose row does not exist, does nothing.
        """
        spec = self.tables[table]
        spec.check(table, changes, partial=True)
        old = self._stored(table, key)
        stored = spec.encoded(changes)
        if old is None or all(old[c] == v for c, v in stored.items()):
            return
        sets = ",".join(f"{c}=?" for c in stored)
        sql = f"UPDATE {table} SET {sets} WHERE {spec.key}=?"
        self._write(table, key, old, old | stored, sql, [*stored.values(), key])

    def delete(self, table: str, key: Any) -> None:
        """Delete one row."""
        old = self._stored(table, key)
        if old is not None:
            sql = f"DELETE FROM {table} WHERE {self.tables[table].key}=?"
            self._write(table, key, old, None, sql, [key])

    def _stored(self, table: str, key: Any) -> Row | None:
        """Return a row as it is stored: booleans as numbers, lists as text."""
        spec = self.tables[table]
        query = f"SELECT {spec.listed} FROM {table} WHERE {spec.key}=?"
        values = self._db.execute(query, (key,)).fetchone()
        return None if values is None else dict(zip(spec.columns, values, strict=True))

    def _write(
        self,
        table: str,
        key: Any,
        old: Row | None,
        new: Row | None,
        sql: str,
        params: list[Any],
    ) -> None:
        if self.read_only:
            raise RuntimeError(f"a read-only tool tried to write: {sql}")
        self._written.add(table)
        if self.shared:
            self._db = database.copy(self._db)
            self.shared = False
        if not self._in_call:
            self._db.execute("BEGIN")
            self._in_call = True
        self._db.execute(sql, params)
        entry = (*self._stamp, self.numbers[table], key, _text(old), _text(new))
        self._db.execute(
            "INSERT INTO _log(at, cause, tbl, pk, old, new) VALUES(?,?,?,?,?,?)", entry
        )

    def commit(self) -> None:
        """Keep everything written since the last commit."""
        if self._in_call:
            self._db.execute("COMMIT")
            self._in_call = False

    def rollback(self) -> None:
        """Drop everything written since the last commit."""
        if self._in_call:
            self._db.execute("ROLLBACK")
            self._in_call = False

    # -- history ---------------------------------------------------------------------------------
    @property
    def numbers(self) -> dict[str, int]:
        """Table name → its number in the log."""
        if not self._numbers:
            self._numbers = dict(self._db.execute("SELECT name, id FROM _tables").fetchall())
        return self._numbers

    @property
    def changes(self) -> int:
        """A number that grows with each write of this connection (cheap)."""
        return self._db.total_changes

    def last_change(self) -> int:
        """Return the log's last sequence number."""
        if not self.shared:
            return self._newest()
        # A shared world never changes, so the number can be kept.
        if self._begun is None:
            self._begun = self._newest()
        return self._begun

    def _newest(self) -> int:
        return self._db.execute("SELECT coalesce(max(seq),0) FROM _log").fetchone()[0]

    def log(self, after: int = 0) -> list[Change]:
        """Return the log's entries after a sequence number, with rows decoded."""
        if self.shared and after >= self.last_change():
            return []
        entries = self._db.execute(
            "SELECT seq, at, cause, name, pk, old, new FROM _log JOIN _tables ON id=tbl "
            "WHERE seq>? ORDER BY seq",
            (after,),
        )
        return [
            {
                "seq": seq,
                "at": iso(at),
                "cause": cause or WORLD,
                "table": table,
                "key": key,
                "old": self._row(table, old),
                "new": self._row(table, new),
            }
            for seq, at, cause, table, key, old, new in entries
        ]

    def _row(self, table: str, text: str | None) -> Row | None:
        return None if text is None else self._decode(table, [_PARSE(text)[0]])[0]

    def undo(self, where: Callable[[Change], bool], *, after: str | None = None) -> list[Change]:
        """Undo the logged changes that meet `where`, newest first, and return them oldest first.

        The world must be a private copy. For speed, `after` (ISO) limits this to changes at or
        after a moment.
        """
        entries = self.log() if after is None else self.log_since(after)
        undone = [entry for entry in entries if where(entry)]
        for entry in reversed(undone):
            # The log is slim. Later changes are undone by now, so the row is as it was added.
            if entry["old"] is None and entry["new"] is None:
                entry["new"] = self.get(entry["table"], entry["key"])
            self._apply(entry["table"], entry["key"], entry["old"])
        self.commit()
        return undone

    def settle(self, after: int) -> None:
        """Make the changes since a sequence number part of what the world always was.

        The world must be a private copy. The log forgets these changes, and everything about rows
        that they deleted, so no earlier moment is without them.
        """
        gone = [c for c in self.log(after) if c["new"] is None]
        self._db.execute("DELETE FROM _log WHERE seq>?", (after,))
        for change in gone:
            number = self.numbers[change["table"]]
            self._db.execute("DELETE FROM _log WHERE tbl=? AND pk=?", (number, change["key"]))

    def redo(self, entries: Iterable[Change]) -> None:
        """Apply entries that `undo` returned, with their own moments and causes."""
        for entry in entries:
            self.stamp(parse_time(entry["at"]), entry["cause"])
            self._apply(entry["table"], entry["key"], entry["new"])
        self.commit()

    def log_since(self, moment: str) -> list[Change]:
        """Return the log's entries at or after a moment (ISO)."""
        query = "SELECT min(seq) FROM _log WHERE at>=?"
        first = self._db.execute(query, (parse_time(moment),)).fetchone()[0]
        if first is None:
            return []
        return [entry for entry in self.log(first - 1) if entry["at"] >= moment]

    def _apply(self, table: str, key: Any, row: Row | None) -> None:
        if row is None:
            self.delete(table, key)
        elif self.get(table, key) is None:
            self.insert(table, row)
        else:
            self.update(table, key, **row)

    def as_of(self, moment: int, tables: Iterable[str], *, keep_own: bool = False) -> World:
        """Return a private copy whose `tables` are as they were at a moment (epoch seconds).

        `keep_own` keeps the agent's own later writes. Tables that hold an identity never go back.
        """
        cut = iso(moment)
        back = {t for t in tables if not self.tables[t].identity}

        def is_later(entry: Change) -> bool:
            own = keep_own and entry["cause"] == AGENT
            return entry["at"] > cut and entry["table"] in back and not own

        world = self.scratch()
        world.undo(is_later, after=cut)
        return world

    def digest(self) -> dict[str, dict[Any, str]]:
        """Return `{table: {key: row as JSON}}` of the whole world, to compare worlds in tests."""
        texts: dict[str, dict[Any, str]] = {}
        for name, table in self.tables.items():
            texts[name] = {r[table.key]: json.dumps(r, sort_keys=True) for r in self.rows(name)}
        return texts


_PARSE = json.JSONDecoder().raw_decode
"""Parses what `_text` wrote.

It takes a quarter to half of the time of `loads`, which first looks for whitespace at both ends.
"""


def _text(row: Row | None) -> str | None:
    return None if row is None else json.dumps(row, ensure_ascii=False)
