"""The world: one SQLite database that holds every service's rows and a log of every change to them.

Every write is logged with the row before and after, so effects of a call, `as_of`, and an undone or
redone change need no code in any service. The log is written here and not by triggers: SQLite
parses a schema anew for each copy, and hundreds of triggers cost megabytes. Episodes that have
written nothing share one read-only database; the first write takes a private copy.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypedDict

from servers.kit import database
from servers.kit.errors import InputError
from servers.kit.tables import Table, create_schema
from servers.kit.values import iso, parse_time

WORLD = "world"
AGENT = "agent"
CLOCK = "clock"
"""Causes of a write besides `fault:<name>`."""


class Change(TypedDict):
    """One entry of a world's log: a row added (`old` is None), changed, or deleted (`new` is None).

    `at` is the simulated moment (ISO) and `cause` who made it: `world`, `agent`, `clock` or
    `fault:<name>`. What was written before `World.slim` is told more briefly: an addition without
    its row, a change by its changed columns alone.
    """

    seq: int
    at: str
    cause: str
    table: str
    key: Any
    old: dict[str, Any] | None
    new: dict[str, Any] | None


class World:
    """A database of rows, shared until the first write, with the log of its changes.

    `tables` maps names to their `Table`. Use `World.build`, `World.open` or `scratch` to get one.
    """

    def __init__(
        self, connection: sqlite3.Connection, tables: dict[str, Table], *, shared: bool
    ) -> None:
        self._db = connection
        self.tables = tables
        self.shared = shared
        self._stamp: tuple[int, str | None] = (0, None)
        self._numbers: dict[str, int] = {}
        self._in_call = False
        self._begun: int | None = None
        self.read_only = False

    # -- making one ------------------------------------------------------------------------------
    @classmethod
    def empty(cls, tables: dict[str, Table], path: Path | None = None) -> World:
        """Return a private world without rows, in memory or in a new file."""
        connection = database.connect(path)
        connection.execute(
            "PRAGMA page_size=1024"
        )  # hundreds of small tables: with larger pages copies would be mostly empty
        create_schema(connection, tables)
        return cls(connection, tables, shared=False)

    @classmethod
    def open(cls, image: bytes, tables: dict[str, Table]) -> World:
        """Return a world to be shared read-only, from the bytes that `image` gave."""
        connection = database.from_image(image)
        connection.execute("PRAGMA query_only=ON")
        return cls(connection, tables, shared=True)

    @classmethod
    def part(cls, image: bytes, tables: dict[str, Table]) -> World:
        """Return a world to be shared read-only that holds only some tables of an image, and their
        log; small worlds are quick to copy.
        """
        connection = database.from_image(image)
        known = {name for (name,) in connection.execute("SELECT name FROM _tables")}
        connection.execute("BEGIN")
        for table in sorted(known - tables.keys()):
            connection.execute(f"DROP TABLE IF EXISTS {table}_fts")
            connection.execute(f"DROP TABLE {table}")
        kept = f"SELECT id FROM _tables WHERE name IN ({','.join('?' * len(tables))})"
        connection.execute(f"DELETE FROM _log WHERE tbl NOT IN ({kept})", sorted(tables))
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        connection.execute("PRAGMA query_only=ON")
        return cls(connection, tables, shared=True)

    @classmethod
    def file(cls, path: Path, tables: dict[str, Table]) -> World:
        """Return the world that a file holds. Raises `InputError` where the file is no world."""
        connection = database.connect(path)
        try:
            connection.execute("SELECT at FROM _log LIMIT 1")
        except sqlite3.DatabaseError as broken:
            raise InputError(
                f"{path} is not a world database ({broken}); name a new file or remove it"
            ) from None
        return cls(connection, tables, shared=False)

    def share(self) -> World:
        """Return another handle on the same shared database (for another episode)."""
        return self._beside(self._db, shared=True)

    def image(self) -> bytes:
        """Return the database as bytes."""
        return self._db.serialize()

    def slim(self) -> None:
        """Make the log of all that was written so far small, and with it every copy.

        `log` then tells an addition without its row, which `undo` fills in, and a change by its
        changed columns alone.
        """
        self._db.execute("UPDATE _log SET new=NULL WHERE old IS NULL")
        for seq, *sides in self._db.execute(
            "SELECT seq, old, new FROM _log WHERE old IS NOT NULL AND new IS NOT NULL"
        ).fetchall():
            old, new = map(json.loads, sides)
            changed = [c for c in old if old[c] != new[c]]
            texts = [_text({c: side[c] for c in changed}) for side in (old, new)]
            self._db.execute("UPDATE _log SET old=?, new=? WHERE seq=?", (*texts, seq))
        self._db.execute("VACUUM")

    def scratch(self) -> World:
        """Return a copy, which may be changed and dropped.

        One of a shared world is copied only when it is written.
        """
        return self.share() if self.shared else self._beside(database.copy(self._db), shared=False)

    def _beside(self, connection: sqlite3.Connection, *, shared: bool) -> World:
        made = World(connection, self.tables, shared=shared)
        made._stamp = self._stamp
        made._numbers = self.numbers
        return made

    def close(self) -> None:
        """Release a private database."""
        if not self.shared:
            self._db.close()

    # -- reading ---------------------------------------------------------------------------------
    def get(self, table: str, key: Any) -> dict[str, Any] | None:
        """Return the row with this primary key, or None."""
        spec = self.tables[table]
        row = self._db.execute(f"SELECT * FROM {table} WHERE {spec.key}=?", (key,)).fetchone()
        return (
            None
            if row is None
            else self._decode(table, [dict(zip(spec.columns, row, strict=True))])[0]
        )

    def rows(
        self, table: str, where: str = "", *params: Any, order: str = "", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Return rows as dicts, JSON and booleans decoded.

        `where` and `order` are SQL of ours, never an agent's.
        """
        sql = f"SELECT * FROM {table}" + (f" WHERE {where}" if where else "")
        sql += f" ORDER BY {order}" if order else ""
        sql += f" LIMIT {int(limit)}" if limit is not None else ""
        names = self.tables[table].columns
        return self._decode(
            table, [dict(zip(names, row, strict=True)) for row in self._db.execute(sql, params)]
        )

    def _decode(self, table: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for column, kind in self.tables[table].decoded:
            for row in found:
                value = row.get(column)
                if value is not None:
                    row[column] = value != 0 if kind == "bool" else _PARSE(value)[0]
        return found

    def sql(self, query: str, *params: Any) -> list[tuple[Any, ...]]:
        """Run a SELECT of ours (sums, joins) and return its tuples."""
        return self._db.execute(query, params).fetchall()

    def search(
        self, table: str, words: str, *, prefix: bool = True, order: str = "rank"
    ) -> list[dict[str, Any]]:
        """Return rows whose indexed text holds every word, best first. Quotes keep words together;
        empty text finds nothing.

        Punctuation separates words; no operator of the index can be injected.
        """
        terms = []
        for phrase, word in re.findall(r'"([^"]+)"|(\S+)', words):
            tokens = re.findall(r"\w+", phrase or word)
            if tokens:
                terms.append('"' + " ".join(tokens) + '"' + ("*" if prefix and not phrase else ""))
        if not terms:
            return []
        names = self.tables[table].columns
        cursor = self._db.execute(
            f"SELECT {table}.* FROM {table}_fts JOIN {table} ON {table}.rowid={table}_fts.rowid "
            f"WHERE {table}_fts MATCH ? ORDER BY {order}, {table}.{self.tables[table].key}",
            (" ".join(terms),),
        )
        return self._decode(table, [dict(zip(names, row, strict=True)) for row in cursor])

    # -- writing ---------------------------------------------------------------------------------
    def stamp(self, now: int, cause: str) -> None:
        """Say when and by whom the next writes are made; nothing is written yet."""
        self._stamp = (now, None if cause == WORLD else cause)

    def insert(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """Insert a row that fits its table and return it."""
        spec = self.tables[table]
        spec.check(table, row)
        full = {c: row.get(c) for c in spec.columns}
        made = spec.encoded(full)
        marks = ",".join("?" * len(made))
        self._write(
            table,
            row[spec.key],
            None,
            made,
            f"INSERT INTO {table}({','.join(made)}) VALUES({marks})",
            list(made.values()),
        )
        return full

    def update(self, table: str, key: Any, **changes: Any) -> None:
        """Change columns of one row. A change to what stands already, or of no row, is none."""
        spec = self.tables[table]
        spec.check(table, changes, partial=True)
        old = self._stored(table, key)
        made = spec.encoded(changes)
        if old is None or all(old[c] == v for c, v in made.items()):
            return
        sets = ",".join(f"{c}=?" for c in made)
        self._write(
            table,
            key,
            old,
            old | made,
            f"UPDATE {table} SET {sets} WHERE {spec.key}=?",
            [*made.values(), key],
        )

    def delete(self, table: str, key: Any) -> None:
        """Delete one row."""
        old = self._stored(table, key)
        if old is not None:
            self._write(
                table,
                key,
                old,
                None,
                f"DELETE FROM {table} WHERE {self.tables[table].key}=?",
                [key],
            )

    def _stored(self, table: str, key: Any) -> dict[str, Any] | None:
        """Return a row as it is stored: booleans as numbers, lists as text."""
        spec = self.tables[table]
        row = self._db.execute(
            f"SELECT {spec.listed} FROM {table} WHERE {spec.key}=?", (key,)
        ).fetchone()
        return None if row is None else dict(zip(spec.columns, row, strict=True))

    def _write(
        self,
        table: str,
        key: Any,
        old: dict[str, Any] | None,
        new: dict[str, Any] | None,
        sql: str,
        params: list[Any],
    ) -> None:
        if self.read_only:
            raise RuntimeError(f"a read-only tool writes: {sql}")
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
        """Keep what was written since the last commit."""
        if self._in_call:
            self._db.execute("COMMIT")
            self._in_call = False

    def rollback(self) -> None:
        """Drop what was written since the last commit."""
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
        if self.shared:  # what is shared never changes
            if self._begun is None:
                self._begun = self._newest()
            return self._begun
        return self._newest()

    def _newest(self) -> int:
        return self._db.execute("SELECT coalesce(max(seq),0) FROM _log").fetchone()[0]

    def log(self, after: int = 0) -> list[Change]:
        """Return the log's entries after a sequence number, rows decoded."""
        if self.shared and after >= self.last_change():
            return []
        entries = self._db.execute(
            "SELECT seq, at, cause, name, pk, old, new FROM _log JOIN _tables ON id=tbl WHERE seq>? ORDER BY seq",
            (after,),
        )
        return [
            {
                "seq": s,
                "at": iso(at),
                "cause": cause or WORLD,
                "table": t,
                "key": pk,
                "old": self._row(t, old),
                "new": self._row(t, new),
            }
            for s, at, cause, t, pk, old, new in entries
        ]

    def _row(self, table: str, text: str | None) -> dict[str, Any] | None:
        return None if text is None else self._decode(table, [_PARSE(text)[0]])[0]

    def undo(self, where: Callable[[Change], bool], *, after: str | None = None) -> list[Change]:
        """Take back logged changes for which `where` holds, newest first, and return them oldest
        first.

        Only for a private copy. `after` (ISO) narrows to changes at or after a moment, for speed.
        """
        picked = [
            e for e in reversed(self.log() if after is None else self.log_since(after)) if where(e)
        ]
        for entry in picked:
            if (
                entry["old"] is None and entry["new"] is None
            ):  # slim: what was added is what stands, now that later changes are undone
                entry["new"] = self.get(entry["table"], entry["key"])
            self._apply(entry["table"], entry["key"], entry["old"])
        self.commit()
        return picked[::-1]

    def redo(self, entries: Iterable[Change]) -> None:
        """Apply entries that `undo` returned, at their own moments and with their own causes."""
        for entry in entries:
            self.stamp(parse_time(entry["at"]), entry["cause"])
            self._apply(entry["table"], entry["key"], entry["new"])
        self.commit()

    def log_since(self, moment: str) -> list[Change]:
        """Return log entries at or after a moment (ISO)."""
        first = self._db.execute(
            "SELECT min(seq) FROM _log WHERE at>=?", (parse_time(moment),)
        ).fetchone()[0]
        return [] if first is None else [e for e in self.log(first - 1) if e["at"] >= moment]

    def _apply(self, table: str, key: Any, row: dict[str, Any] | None) -> None:
        if row is None:
            self.delete(table, key)
        elif self.get(table, key) is None:
            self.insert(table, row)
        else:
            self.update(table, key, **row)

    def as_of(self, moment: int, tables: Iterable[str], *, keep_own: bool = False) -> World:
        """Return a private copy whose `tables` are as they were at a moment (epoch seconds).

        `keep_own` leaves the agent's own later writes in place. Tables that hold an identity never
        go back.
        """
        cut = iso(moment)
        back = {t for t in tables if not self.tables[t].identity}
        world = self.scratch()
        world.undo(
            lambda e: (
                e["at"] > cut and e["table"] in back and not (keep_own and e["cause"] == AGENT)
            ),
            after=cut,
        )
        return world

    def digest(self) -> dict[str, dict[Any, str]]:
        """Return `{table: {key: row as JSON}}` of the whole world, for comparisons in tests."""
        found: dict[str, dict[Any, str]] = {}
        for name, table in self.tables.items():
            found[name] = {r[table.key]: json.dumps(r, sort_keys=True) for r in self.rows(name)}
        return found


_PARSE = json.JSONDecoder().raw_decode
"""Reads what `_text` wrote, in a quarter to half the time of `loads`, which first looks for blanks
at both ends of text that has none.
"""


def _text(row: dict[str, Any] | None) -> str | None:
    return None if row is None else json.dumps(row, ensure_ascii=False)
