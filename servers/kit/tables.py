"""Tables: compact declarations of columns, how values are stored, and the resulting schema."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from servers.kit.errors import InputError, did_you_mean
from servers.kit.types import Row

_TYPES: dict[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}
_STORED: dict[str, type] = {"str": str, "int": int, "float": float, "bool": int}
"""The stored type of each column type that is not stored as text."""

Role = Literal[
    "id",
    "ref",
    "matter",
    "stamp",
    "appointed",
    "derived",
    "session",
    "prose",
    "manner",
    "recipients",
]
"""What a column is to someone who asks whether two runs did the same.

- `id`: the row's own name, which a repeat would make anew.
- `ref`: points at another row.
- `matter`: what was done; it must be equal.
- `stamp`: when it happened; the value is free, but null, set and set again differ.
- `appointed`: a moment that somebody chose (a start, a day of delivery); it must be equal.
- `derived`: follows from the other columns, the world and the moment (fees, couriers, balances).
- `session`: who is signed in, keys against repetition, when something was last looked at.
- `prose`: words of the agent's own, free unless the user dictated them.
- `manner`: how something was done (as a reply or as a new mail), free unless the user asked for it.
- `recipients`: who gets it; each of them counts by himself.
"""
ROLES: tuple[Role, ...] = get_args(Role)
NAME = 4
"""What a match in the first column of a full-text index counts."""
TEXT = 1
"""What a match in each of its other columns counts."""

LOG = (
    "CREATE TABLE _log(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, cause TEXT, "
    "tbl INTEGER NOT NULL, pk NOT NULL, old TEXT, new TEXT)"
)
"""Creates the log of changes. `tbl` is a table's number, `pk` the row's key."""
_META = f"CREATE TABLE _tables(id INTEGER PRIMARY KEY, name TEXT NOT NULL); {LOG};"


@dataclass(frozen=True)
class Table:
    """A table's columns in compact form: `Table("id:str amount:int/matter note:str?/prose")`.

    The first column is the primary key. `?` allows null. Types are str, int, float, bool, list and
    dict (JSON). After the slash stands the column's role; the key's is `id` where nothing else is
    said. `catalogue` marks a table that no call changes; all its columns but the key are matter.
    `search` names the text columns of a full-text index, `weights` what a match in each of them
    counts (by default the first 4, the others 1), `index` the columns with an ordinary index; one
    entry may name several columns or an expression (`place_id, at`). `identity` marks the table
    that says who is signed in, which a stale read does not take back.

    `outward` is a condition on rows (`servers.kit.expr`): an added row that meets it has reached
    someone else and cannot be taken back by deleting it. Rows that meet `tentative` (carts, drafts)
    bind nobody yet. `noun` says in words what an added row is, with columns in braces and how to
    write them: `a payment of {amount:cents} to {contact_id}`.
    """

    spec: str
    search: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    index: tuple[str, ...] = ()
    identity: bool = False
    catalogue: bool = False
    outward: Mapping[str, Any] | None = None
    tentative: Mapping[str, Any] | None = None
    noun: str = ""

    @functools.cached_property
    def columns(self) -> dict[str, tuple[str, bool]]:
        """Column name → (type name, nullable)."""
        columns = {}
        for part in self.spec.split():
            name, _, declared = part.partition("/")[0].partition(":")
            kind = declared.rstrip("?")
            if kind not in _TYPES:
                raise InputError(f"column {part!r}: unknown type{did_you_mean(kind, _TYPES)}")
            columns[name] = (kind, declared.endswith("?"))
        return columns

    @functools.cached_property
    def roles(self) -> dict[str, Role]:
        """Column name → role.

        Raises `InputError` for an unknown role and for a column without one.
        """
        roles: dict[str, Role] = {}
        for part in self.spec.split():
            declared, _, given = part.partition("/")
            name = declared.partition(":")[0]
            role = given or ("id" if not roles else "matter" if self.catalogue else "")
            if not role:
                raise InputError(f"column {name!r}: no role; say one of {', '.join(ROLES)}")
            if role not in ROLES:
                raise InputError(f"column {part!r}: unknown role{did_you_mean(role, ROLES)}")
            roles[name] = role
        return roles

    @functools.cached_property
    def key(self) -> str:
        """The name of the primary key."""
        return next(iter(self.columns))

    @functools.cached_property
    def weighted(self) -> dict[str, int]:
        """Column of the full-text index → what a match in it counts."""
        weights = self.weights or (NAME, *[TEXT] * (len(self.search) - 1))
        return dict(zip(self.search, weights, strict=False))

    @functools.cached_property
    def decoded(self) -> tuple[tuple[str, str], ...]:
        """Columns whose stored form differs from their Python form."""
        return tuple((n, t) for n, (t, _) in self.columns.items() if t in ("bool", "list", "dict"))

    @functools.cached_property
    def listed(self) -> str:
        """The columns as an SQL list."""
        return ",".join(self.columns)

    def encoded(self, row: Row) -> Row:
        """Return values of columns as SQLite stores them."""
        return {c: _encode(self.columns[c][0], v) for c, v in row.items()}

    @functools.cached_property
    def _required(self) -> tuple[str, ...]:
        return tuple(name for name, (_, nullable) in self.columns.items() if not nullable)

    def check(self, name: str, row: Row, *, partial: bool = False) -> None:
        """Raise `InputError` if a row does not fit.

        The message names the table and the column and says what would fit.
        """
        for column, value in row.items():
            if column not in self.columns:
                near = did_you_mean(column, self.columns)
                raise InputError(f"table {name}: unknown column {column!r}{near}")
            kind, nullable = self.columns[column]
            wanted = (int, float) if kind == "float" else _TYPES[kind]
            if value is None:
                if not nullable:
                    raise InputError(f"table {name}: column {column!r} must not be null")
            elif not isinstance(value, wanted) or (isinstance(value, bool) and kind != "bool"):
                raise InputError(f"table {name}: column {column!r} takes {kind}, got {value!r}")
        if not partial:
            missing = [column for column in self._required if column not in row]
            if missing:
                raise InputError(f"table {name}: missing {', '.join(missing)}")


def create_schema(connection: sqlite3.Connection, tables: dict[str, Table]) -> None:
    """Create tables and full-text indexes in an empty database."""
    from sqlite_utils import Database

    connection.executescript(_META)
    names = [(name,) for name in sorted(tables)]
    connection.executemany("INSERT INTO _tables(name) VALUES(?)", names)
    db = Database(connection)
    for name, table in tables.items():
        types = {c: _STORED.get(kind, str) for c, (kind, _) in table.columns.items()}
        db.table(name).create(types, pk=table.key, not_null=set(table._required))
        for column in table.index:
            connection.execute(f"CREATE INDEX idx_{name}_{_plain_name(column)} ON {name}({column})")
        if table.search:
            db.table(name).enable_fts(
                list(table.search),
                fts_version="FTS5",
                create_triggers=True,
                tokenize="porter unicode61",
            )


def _plain_name(columns: str) -> str:
    return re.sub(r"\W+", "_", columns).strip("_")


def _encode(kind: str, value: Any) -> Any:
    if value is None or kind in ("str", "int"):
        return value
    if kind in ("list", "dict"):
        return json.dumps(value, ensure_ascii=False)
    return int(value) if kind == "bool" else float(value)
