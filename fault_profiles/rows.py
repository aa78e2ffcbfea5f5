"""Stored rows: conditions on them, and edits of them in the language of operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from fault_profiles.arguments import conditions, misfit, of_column, problem
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, quoted
from servers.kit.expr import apply, check_operations, check_predicate, matches, names, render
from servers.kit.expr import targets as targets_of
from servers.kit.expr.operands import is_computed
from servers.kit.expr.operation import ByPath
from servers.kit.expr.operations import OPERATIONS
from servers.kit.expr.paths import parse as parse_path
from servers.kit.store import World
from servers.kit.tables import Table
from servers.kit.types import Row
from servers.kit.values import fresh

Tables = Mapping[str, Table]
NewKey = Callable[[str], str]
"""Returns a new id of a kind, which is given by its prefix."""
_ID = re.compile(r"([a-z]+)_[0-9a-f]{6,}")


class Stored(Declared):
    """A condition on stored rows: some row of `table` must meet `where`.

    A list of such conditions holds if all of them do; `any_of` takes a list of which one must hold,
    and `not` a condition that must not hold.
    """

    table: str | None = None
    where: dict[str, Any] = {}
    all_of: list[Conditions] | None = Field(None, min_length=1)
    any_of: list[Conditions] | None = Field(None, min_length=1)
    negated: Conditions | None = Field(None, alias="not")

    @model_validator(mode="after")
    def _one(self) -> Stored:
        ways = (self.table, self.all_of, self.any_of, self.negated)
        if len([way for way in ways if way is not None]) != 1:
            raise InputError("a condition on rows has one of table, any_of, not, or is a list")
        if self.where and self.table is None:
            raise InputError("`where` belongs to a `table`")
        return self

    def check(self, tables: Tables, place: str) -> set[str]:
        """Check tables, columns and values; return the names that expressions use.

        Raises `InputError`.
        """
        if self.table is not None:
            return check_rows(table_of(self.table, tables, place), self.where, place)
        used: set[str] = set()
        for inner in self._inner():
            used |= inner.check(tables, place)
        return used

    def _inner(self) -> list[Stored]:
        return [
            *(self.all_of or ()),
            *(self.any_of or ()),
            *([self.negated] if self.negated else ()),
        ]

    def find(self, world: World, scope: Mapping[str, Any]) -> list[Row] | None:
        """Return the rows that meet the condition, the first of each table, or None if it fails."""
        if self.table is not None:
            rows = world.rows(self.table)
            row = next((row for row in rows if matches(self.where, row, scope)), None)
            return None if row is None else [row]
        if self.negated is not None:
            return [] if self.negated.find(world, scope) is None else None
        held: list[Row] = []
        for inner in self._inner():
            rows = inner.find(world, scope)
            if rows is not None and self.any_of is not None:
                return rows
            if rows is None and self.all_of is not None:
                return None
            held += rows or []
        return held if self.all_of is not None else None

    @property
    def tables(self) -> set[str]:
        """Every table that it is about."""
        own = set() if self.table is None else {self.table}
        return own.union(*(inner.tables for inner in self._inner()))


def _listed(value: Any) -> Any:
    return {"all_of": value} if isinstance(value, list) else value


Conditions = Annotated[
    Stored, BeforeValidator(_listed, json_schema_input_type=Stored | list[Stored])
]
"""A condition on stored rows, or a list of conditions that must all hold."""


def _operation_schema(name: str) -> dict[str, Any]:
    about = " ".join((type(OPERATIONS[name]).__doc__ or "").split())
    fields = {name: {"description": f"{about} Takes {OPERATIONS[name].takes}."}}
    return {"properties": fields, "required": [name], "additionalProperties": False}


Operations = Annotated[
    list[dict[str, Any]],
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "object", "oneOf": [_operation_schema(name) for name in OPERATIONS]},
        }
    ),
]
"""A list of operations, each of them one key (`servers.kit.expr.operations`)."""


class RowChange(Declared):
    """A change of stored rows: `edit`, `insert` or `delete`.

    `edit` operations change every row that meets `where`, and `delete: true` deletes these.
    `insert` adds a row with these columns; with `where`, everything else in it is as in the first
    row that meets the condition (`item`). A key that is not given is a new id. Types and keys are
    checked, and so are references: a column that refers to rows of a table must name one.
    """

    table: str
    where: dict[str, Any] = {}
    edit: Operations = []
    insert: dict[str, Any] | None = None
    delete: bool = False

    @model_validator(mode="after")
    def _what(self) -> RowChange:
        given = self._ways()
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise InputError(f"a row needs one of {', '.join(self._known_ways())}; got {got}")
        if self.insert is None and "where" not in self.model_fields_set:
            raise InputError("a row needs `where`, which says which rows; `where: {}` means all")
        return self

    def _known_ways(self) -> list[str]:
        return ["edit", "insert", "delete"]

    def _ways(self) -> list[str]:
        return [way for way in self._known_ways() if getattr(self, way)]

    def check(self, tables: Tables, place: str) -> set[str]:
        """Check the table, columns and values; return the names that expressions use.

        Raises `InputError`.
        """
        table = table_of(self.table, tables, place)
        used = check_rows(table, self.where, place)
        used |= check_operations(self.edit, f"{place}: edit")
        check_edit(table, self.edit, place)
        if self.insert is not None:
            used |= names(self.insert) - ({"item"} if self.where else set())
            check_values(table, self.insert, f"{place}: insert")
            if not self.where:
                wanted = [c for c, (_, nullable) in table.columns.items() if not nullable]
                given = {table.key, *self.insert}
                missing = [column for column in wanted if column not in given]
                if missing:
                    raise InputError(
                        f"{place}: insert: missing {', '.join(missing)}; "
                        "give them, or a row to be like in `where`"
                    )
        return used

    def run(self, world: World, scope: Mapping[str, Any], new_key: NewKey) -> list[Row]:
        """Change rows of a world, uncommitted; return `{table, key, was, is}` of each.

        Raises `InputError` if something does not fit.
        """
        fitting = [row for row in world.rows(self.table) if matches(self.where, row, scope)]
        if self.insert is not None:
            return self._insert(world, fitting, scope, new_key)
        key = world.tables[self.table].key
        if self.delete:
            for row in fitting:
                world.delete(self.table, row[key])
            return [self._done(row[key], row, None) for row in fitting]
        done = []
        for row in fitting:
            edited = fresh(row)
            apply(self.edit, edited, scope)
            changes = {c: v for c, v in edited.items() if v != row.get(c)}
            if changes:
                world.update(self.table, row[key], **changes)
            was = {column: row[column] for column in changes}
            done.append(self._done(row[key], was, changes))
        return done

    def _insert(
        self, world: World, fitting: list[Row], scope: Mapping[str, Any], new_key: NewKey
    ) -> list[Row]:
        table = world.tables[self.table]
        if self.where and not fitting:
            return []
        like = fitting[0] if self.where else {}
        given = fresh(render(self.insert, {**scope, "item": like}))
        if table.key not in given:
            given[table.key] = _key(world, self.table, new_key)
        row = {**dict.fromkeys(table.columns), **like, **given}
        if world.get(self.table, row[table.key]) is not None:
            raise InputError(f"{self.table} has a row {row[table.key]!r} already")
        world.insert(self.table, row)
        return [self._done(row[table.key], None, row)]

    def _done(self, key: Any, was: Row | None, now: Row | None) -> Row:
        return {"table": self.table, "key": key, "was": was, "is": now}


def _key(world: World, table: str, new_key: NewKey) -> Any:
    """Return a key for a new row, of the kind that the table's other rows have."""
    key = world.tables[table].key
    others = [row[key] for row in world.rows(table, limit=1)]
    if others and isinstance(others[0], int):
        return world.sql(f"SELECT max({key}) + 1 FROM {table}")[0][0]
    made = _ID.fullmatch(str(others[0])) if others else None
    if made is None:
        raise InputError(f"the key {key!r} of a row of {table} cannot be made up; give it")
    return new_key(made[1])


def table_of(name: str, tables: Tables, place: str) -> Table:
    """Return a table by name. Raises `UnknownName`."""
    if name not in tables:
        raise UnknownName("table", name, tables, place)
    return tables[name]


def check_rows(table: Table, where: Mapping[str, Any], place: str) -> set[str]:
    """Check a condition on rows of a table; return the names that expressions use.

    Raises `InputError` for an unknown column, and for a value that the column never has.
    """
    check_columns(table, where, place)
    used = check_predicate(where, f"{place}: where")
    for path, wanted in conditions(where):
        parts = parse_path(path)
        if len(parts) == 1:
            wrong = problem(of_column(table.columns[str(parts[0])][0]), wanted)
            if wrong is not None:
                raise InputError(f"{place}: where: {path}: {wrong}")
    return used


def check_columns(table: Table, where: Mapping[str, Any], place: str) -> None:
    """Refuse a condition on a column that the table does not have. Raises `InputError`."""
    for path, _ in conditions(where):
        parts = parse_path(path)
        if not parts:
            raise InputError(f"{place}: where: name a column of the table")
        _column(table, str(parts[0]), place)


def _column(table: Table, name: str, place: str) -> tuple[str, bool]:
    if name not in table.columns:
        raise UnknownName("column", name, table.columns, place)
    return table.columns[name]


def check_values(table: Table, values: Mapping[str, Any], place: str) -> None:
    """Refuse values that columns do not take; expressions pass. Raises `InputError`."""
    for column, value in values.items():
        kind, nullable = _column(table, column, place)
        if value is None:
            if not nullable:
                raise InputError(f"{place}: {column}: must not be null")
        elif not (
            isinstance(value, str) and "${" in value and (kind == "str" or is_computed(value))
        ):
            wrong = misfit(of_column(kind), _plain(value))
            if wrong is not None:
                raise InputError(f"{place}: {column}: {wrong}")


def _plain(value: Any) -> Any:
    """Return a value in which a text that holds an expression is seen as the text that it is."""
    return value.replace("${", "$ {") if isinstance(value, str) else value


def check_edit(table: Table, edit: list[dict[str, Any]], place: str) -> None:
    """Refuse operations that a row of a table does not allow. Raises `InputError`."""
    for operation, path, operand in targets_of(edit):
        where = f"{place}: edit: {operation.name}"
        parts = parse_path(path)
        if not parts:
            raise InputError(f"{where}: name a column of the table")
        kind, _ = _column(table, str(parts[0]), place)
        if len(parts) > 1:
            if kind not in ("list", "dict"):
                raise InputError(f"{where}: {path}: {parts[0]} holds a {kind}, with nothing inside")
            continue
        if parts[0] == table.key:
            raise InputError(f"{where}: {path} is the key of the row and stays")
        if operation.removes:
            raise InputError(f"{where}: a row keeps its columns; set {path} to null instead")
        if operation.kinds and kind not in operation.kinds:
            raise InputError(
                f"{where}: {path} holds a {kind}, but {operation.name} acts on "
                f"{' or '.join(operation.kinds)}"
            )
        if isinstance(operation, ByPath) and not is_computed(operand):
            for value in operation.stores(operand):
                check_values(table, {str(parts[0]): value}, f"{where}")


def change_rows(
    world: World,
    changes: Iterable[RowChange],
    scope: Mapping[str, Any],
    new_key: NewKey,
) -> list[Row]:
    """Make changes as one, or none of them; the world must be stamped.

    Returns `{table, key, was, is}` of each row. Raises `InputError` if one of them meets no row or
    if something does not fit.
    """
    done: list[Row] = []
    try:
        for change in changes:
            made = change.run(world, scope, new_key)
            if not made:
                sought = quoted(render(change.where, scope))
                raise InputError(f"no row of {change.table} meets {sought}")
            done += made
        _check_references(world, done)
    except BaseException:
        world.rollback()
        raise
    world.commit()
    return done


def _check_references(world: World, done: list[Row]) -> None:
    """Refuse a reference to no row, and a deleted row to which others still refer."""
    for change in done:
        table = world.tables[change["table"]]
        for column, value in (change["is"] or {}).items():
            if table.roles[column] != "ref" or column == table.key:
                continue
            known = _referred(world, change["table"], column, change["key"])
            if isinstance(value, str) and known and not _is_key(world, value, known):
                raise InputError(
                    f"{change['table']}.{column}: there is no row {value!r} in "
                    f"{' or '.join(sorted(known))}"
                )
        if change["is"] is None:
            _check_gone(world, change)


def _referred(world: World, table: str, column: str, key: Any) -> set[str]:
    """Return the tables to whose rows a column refers, judged by its other rows."""
    own = world.tables[table].key
    values = world.sql(
        f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL AND {own}<>? LIMIT 5",
        key,
    )
    found: set[str] = set()
    for (value,) in values:
        found |= {name for name in world.tables if _is_key(world, value, {name})}
    return found


def _is_key(world: World, value: Any, tables: Iterable[str]) -> bool:
    return isinstance(value, str) and any(world.get(name, value) is not None for name in tables)


def _check_gone(world: World, change: Row) -> None:
    for name, table in world.tables.items():
        for column, (kind, _) in table.columns.items():
            if kind != "str" or table.roles[column] != "ref":
                continue
            if world.sql(f"SELECT 1 FROM {name} WHERE {column}=? LIMIT 1", change["key"]):
                raise InputError(
                    f"{change['table']}: rows of {name} refer to {change['key']!r} "
                    f"({column}); delete them, too"
                )
