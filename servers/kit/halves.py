"""The two halves of a world in memory: what all worlds share, and what one of them has written.

The shared half is a whole world as it was built. A private half is a small database with the shared
one attached to it, and SQLite looks for a table in the small one first. So it holds only copies of
the tables that were written to, and every query finds the right rows by their plain names.

Private halves are used again. The next world that needs one gets the rows that were changed put
back from the shared half, so what is paid per copy depends on what was written, never on the size
of the world: schema and pages are paid once for each world that is open at the same time.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from servers.kit import database
from servers.kit.tables import LOG

IDLE = 16
"""How many private halves wait for their next world."""
PATTERNS = 12
"""For how many sets of tables the pages of a new private half are kept."""
WORN = 300
"""A private half with more changed rows than this is dropped: a new one costs less."""
REPEATED = 60
"""With up to this many writes, a private world is copied by making them again; with more, the
pages of its private half are copied."""
_SHADOWS = ("data", "idx", "docsize", "config")
"""The tables in which a full-text index keeps its content."""


LOGGED = "INSERT INTO main._log(seq, at, cause, tbl, pk, old, new) VALUES(?,?,?,?,?,?,?)"
"""Adds an entry to the log, whose number is given or, if None, the next one."""


def count(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...]
) -> Counter[tuple[Any, ...]]:
    """Return how many rows of a table have which values, as they are stored, in some columns."""
    return Counter(connection.execute(f"SELECT {','.join(columns)} FROM {table}"))


class Write(NamedTuple):
    """One statement that changed a row, and its entry in the log, unless the log forgot it."""

    table: str
    key: Any
    sql: str
    params: list[Any]
    entry: tuple[Any, ...] | None

    def unlogged(self, after: int, gone: set[tuple[int, Any]]) -> Write:
        """Return this write for a log that has forgotten what came after an entry, and rows."""
        if self.entry is None:
            return self
        seq, _, _, number, key, *_ = self.entry
        return self._replace(entry=None) if seq > after or (number, key) in gone else self


class _Recipe(NamedTuple):
    """How to copy one table into a private half, and how to put back one row by its key."""

    key: str
    copy: list[str]
    drop: str
    restore: str
    read: str
    insert: str
    numbers: list[str]


@dataclass
class Private:
    """A private half: `held` are the tables that it has copies of, `touched` their changed rows."""

    connection: sqlite3.Connection
    held: set[str] = field(default_factory=set)
    touched: dict[str, set[Any]] = field(default_factory=dict)

    def worn(self) -> bool:
        """Return whether so much was changed that a new private half costs less than a reset."""
        return sum(map(len, self.touched.values())) > WORN


class Base:
    """The shared half: a world as it was built, which never changes.

    `connection` reads it. `last` is the last sequence number of its log.
    """

    def __init__(self, image: bytes) -> None:
        # A shared cache also shares the parsed schema of hundreds of tables. Where SQLite is built
        # without it, each private half parses the schema once.
        self._uri = f"file:/world-{id(self)}?vfs=memdb&cache=shared"
        self.connection = database.connect(self._uri)
        built = database.from_image(image)
        (size,) = built.execute("PRAGMA page_size").fetchone()
        self.connection.execute(f"PRAGMA page_size={size}")
        built.backup(self.connection)
        built.close()
        # What a copy takes back is looked for by moment, in the log of every service.
        self.connection.execute("CREATE INDEX IF NOT EXISTS _log_at ON _log(at)")
        self.connection.execute("PRAGMA query_only=ON")
        (self.last,) = self.connection.execute("SELECT coalesce(max(seq),0) FROM _log").fetchone()
        self.numbers: dict[str, int] = dict(
            self.connection.execute("SELECT name, id FROM _tables").fetchall()
        )
        self._recipes: dict[str, _Recipe] = {}
        self._idle: list[Private] = []
        self._pages: dict[frozenset[str], bytes] = {}
        self._counted: dict[tuple[str, tuple[str, ...]], Counter[tuple[Any, ...]]] = {}

    def merged(
        self,
        private: Private | None,
        forgotten: Collection[tuple[int, Any]],
        tables: Collection[str],
    ) -> bytes:
        """Return one database with the rows and the log of both halves, as bytes.

        `forgotten` are rows (table's number and key) whose shared log is left out. Tables that are
        not named are left out, too.
        """
        whole = database.copy(self.connection)
        whole.executemany("DELETE FROM _log WHERE tbl=? AND pk=?", forgotten)
        if private is not None:
            self._merge(private, whole)
        left_out = sorted(self.numbers.keys() - set(tables))
        for table in left_out:
            whole.execute(f"DROP TABLE IF EXISTS {table}_fts")
            whole.execute(f"DROP TABLE {table}")
            whole.execute("DELETE FROM _log WHERE tbl=?", (self.numbers[table],))
        if left_out:
            whole.execute("VACUUM")
        return whole.serialize()

    def _merge(self, private: Private, whole: sqlite3.Connection) -> None:
        """Bring what a private half has written into a copy of the shared one."""
        whole.execute("BEGIN")
        for table, keys in sorted(private.touched.items()):
            recipe = self._recipe(table)
            for key in keys:
                whole.execute(recipe.drop, (key,))
            found = []
            for key in keys:
                found += private.connection.execute(recipe.read, (key,))
            # In the order of their numbers, so that equal worlds have equal bytes.
            whole.executemany(recipe.insert, sorted(found, key=lambda row: row[0]))
        log = private.connection.execute("SELECT * FROM main._log ORDER BY seq")
        whole.executemany("INSERT INTO _log VALUES(?,?,?,?,?,?,?)", log)
        whole.execute("COMMIT")

    def count(
        self, private: Private | None, table: str, columns: tuple[str, ...]
    ) -> Counter[tuple[Any, ...]]:
        """Return how many rows of both halves have which values in some columns.

        The shared half is counted once; of the private one, only the changed rows are looked at.
        """
        if (table, columns) not in self._counted:
            self._counted[table, columns] = count(self.connection, table, columns)
        counted = Counter(self._counted[table, columns])
        if private is not None and table in private.touched:
            read = private.connection.execute
            listed = ",".join(columns)
            row = f"{table} WHERE {self._recipe(table).key}=?"
            for key in private.touched[table]:
                counted.subtract(read(f"SELECT {listed} FROM base.{row}", (key,)))
                counted.update(read(f"SELECT {listed} FROM main.{row}", (key,)))
        return counted

    def take(self, tables: Collection[str]) -> Private:
        """Return a private half without changes that holds at least these tables."""
        wanted = frozenset(tables)
        private = self._find(wanted)
        if private is None:
            return self._new(wanted)
        self._reset(private)
        for table in sorted(wanted - private.held):
            self.hold(private, table)
        return private

    def _find(self, wanted: frozenset[str]) -> Private | None:
        """Return an idle private half that holds these tables, or else any, or None.

        None means that a new one is cheaper: its pages are there to be copied.
        """
        for place in reversed(range(len(self._idle))):
            if self._idle[place].held >= wanted:
                return self._idle.pop(place)
        return self._idle.pop() if self._idle and wanted not in self._pages else None

    def _new(self, wanted: frozenset[str]) -> Private:
        if wanted in self._pages:
            return Private(self._attached(self._pages[wanted]), set(wanted))
        private = Private(self._attached())
        for table in sorted(wanted):
            self.hold(private, table)
        if len(self._pages) < PATTERNS:
            self._pages[wanted] = private.connection.serialize()
        return private

    def give_back(self, private: Private) -> None:
        """Keep a private half for the next world, or close it."""
        if len(self._idle) < IDLE and not private.worn():
            self._idle.append(private)
        else:
            private.connection.close()

    def hold(self, private: Private, table: str) -> None:
        """Copy a table into a private half, where it hides the shared one.

        No transaction may be open.
        """
        recipe = self._recipe(table)
        execute = private.connection.execute
        execute("BEGIN")
        for statement in recipe.copy:
            execute(statement)
        numbers = [execute(query).fetchone() for query in recipe.numbers]
        assert numbers[0] == numbers[1], f"the rows of {table} got other numbers"
        # SQLite does not notice that a statement it has prepared now means another table. A change
        # of the temporary schema makes it prepare all of them again.
        execute("CREATE TEMP TABLE _expire(x)")
        execute("DROP TABLE temp._expire")
        execute("COMMIT")
        private.held.add(table)

    def twin(self, private: Private) -> Private:
        """Return another private half with the same rows."""
        touched = {table: set(keys) for table, keys in private.touched.items()}
        connection = self._attached(private.connection.serialize())
        return Private(connection, set(private.held), touched)

    def _reset(self, private: Private) -> None:
        """Put every changed row back and empty the log."""
        execute = private.connection.execute
        if private.connection.in_transaction:
            execute("ROLLBACK")
        execute("BEGIN")
        for table, keys in private.touched.items():
            recipe = self._recipe(table)
            for key in keys:
                execute(recipe.drop, (key,))
            for key in keys:
                execute(recipe.restore, (key,))
        execute("DELETE FROM main._log")
        execute("COMMIT")
        private.touched = {}

    def _attached(self, image: bytes | None = None) -> sqlite3.Connection:
        """Return a new private database, or one with these bytes, to which this is attached."""
        connection = database.connect("file::memory:")
        if image is None:
            connection.execute("PRAGMA page_size=1024")
            connection.execute(LOG)
        else:
            connection.deserialize(image)
        connection.execute(f"ATTACH '{self._uri}' AS base")
        return connection

    def _recipe(self, table: str) -> _Recipe:
        """Return how a table is copied into a private half."""
        if table not in self._recipes:
            self._recipes[table] = self._read_recipe(table)
        return self._recipes[table]

    def _read_recipe(self, table: str) -> _Recipe:
        read = self.connection.execute
        query = "SELECT type, sql FROM sqlite_master WHERE tbl_name=? AND sql>'' ORDER BY rowid"
        found = read(query, (table,))
        made: dict[str, list[str]] = {"table": [], "index": [], "trigger": []}
        for kind, sql in found.fetchall():
            made[kind].append(sql)
        columns = read(f"PRAGMA table_info({table})").fetchall()
        (key,) = [(name, kind) for _, name, kind, _, _, place in columns if place]
        # An integer key is the row's number itself.
        numbered = [] if key[1] == "INTEGER" else ["rowid"]
        listed = ",".join([*numbered, *(f'"{column[1]}"' for column in columns)])
        fill = f"INSERT INTO main.{table}({listed}) SELECT {listed} FROM base.{table}"
        # Table and indexes have the same shape as the shared ones, so SQLite copies both as they
        # are, with the numbers of the rows; `hold` makes sure of that.
        content = [f"INSERT INTO main.{table} SELECT * FROM base.{table}"]
        text = read("SELECT sql FROM sqlite_master WHERE name=?", (f"{table}_fts",)).fetchone()
        if text is not None:
            content.append(text[0])
            for shadow in _SHADOWS:
                name = f"{table}_fts_{shadow}"
                content.append(f"DELETE FROM main.{name}")
                content.append(f"INSERT INTO main.{name} SELECT * FROM base.{name}")
        marks = ",".join("?" * (len(columns) + len(numbered)))
        by_key = f'WHERE "{key[0]}"=?'
        return _Recipe(
            key=f'"{key[0]}"',
            # With triggers, filling the table would index its words a second time.
            copy=[*made["table"], *made["index"], *content, *made["trigger"]],
            drop=f"DELETE FROM main.{table} {by_key}",
            restore=f"{fill} {by_key}",
            read=f"SELECT {listed} FROM main.{table} {by_key}",
            insert=f"INSERT INTO main.{table}({listed}) VALUES({marks})",
            numbers=[f"SELECT max(rowid) FROM {half}.{table}" for half in ("main", "base")],
        )
