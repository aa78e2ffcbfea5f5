"""A world whose histories are several times as long, to see what grows with them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from servers.kit import posts
from servers.kit.service import services
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.tables import Table
from servers.kit.types import Json

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?")
_DATED = re.compile(r"(.*_)?(at|on|date|day|time|moment)")
_YEAR = timedelta(days=364)
"""A whole number of weeks, so that what is open on a weekday stays open."""


def grown(world: World, times: int) -> World:
    """Return a private copy of a world whose dated rows occur `times` times.

    Each copy of a row is a year older than the one before, has a key of its own, and refers to the
    copies of the rows that its original refers to. Series are not copied, for they go on, nor is
    what is still to come; nothing is due for a copy.
    """
    copy = world.scratch()
    known = {name: table for name, table in world.tables.items() if name not in posts.TABLES}
    tables = {name: table for name, table in known.items() if _is_history(table)}
    tables |= _parts(known, tables)
    due = _due(known)
    rows = {name: world.rows(name, order="rowid") for name in tables}
    keys: set[str] = set()
    for name, table in tables.items():
        keys |= {row[table.key] for row in rows[name]}
    copy.stamp(0, "world")
    for number in range(times - 1, 0, -1):
        for name in tables:
            for row in rows[name]:
                if row.get("recurrence") is None:
                    copy.insert(name, _older(row, number, keys) | due.get(name, {}))
    copy.commit()
    return copy


def _due(known: dict[str, Table]) -> dict[str, Json]:
    """Return, by table, the columns with moments at which something happens to a row, as null."""
    due: dict[str, Json] = {}
    for cls in services().values():
        for event in cls.events.values():
            if event.table in known and known[event.table].columns[event.column][1]:
                due.setdefault(event.table, {})[event.column] = None
    return due


def _is_history(table: Table) -> bool:
    """Return whether rows of a table happen at a moment."""
    return _has_own_keys(table) and any(_DATED.fullmatch(column) for column in table.columns)


def _parts(known: dict[str, Table], histories: dict[str, Table]) -> dict[str, Table]:
    """Return the tables whose rows are parts of a history's rows: lines, items, members."""
    parts = {}
    for name, table in known.items():
        if name in histories or not _has_own_keys(table):
            continue
        for column in table.columns:
            stem = column.removesuffix("_id")
            if stem != column and any(history.endswith(f"{stem}s") for history in histories):
                parts[name] = table
    return parts


def _has_own_keys(table: Table) -> bool:
    """Return whether a table holds what happens, under keys that can be made up."""
    if table.identity or table.catalogue:
        return False
    return table.columns[table.key][0] == "str" and table.roles[table.key] == "id"


def _older(value: Any, number: int, keys: set[str]) -> Any:
    """Return data as the copy with a number has it: ids of its own, and moments years earlier."""
    if isinstance(value, dict):
        return {name: _older(inner, number, keys) for name, inner in value.items()}
    if isinstance(value, list):
        return [_older(inner, number, keys) for inner in value]
    if not isinstance(value, str):
        return value
    if value in keys:
        return f"{value}x{number}"
    if _MOMENT.fullmatch(value):
        form = "%Y-%m-%dT%H:%M:%SZ" if "T" in value else "%Y-%m-%d"
        return (datetime.strptime(value, form) - number * _YEAR).strftime(form)
    return value


async def work(session: Session, name: str, args: Json) -> tuple[int, Json]:
    """Return how many steps the database makes for a call, and the call's reply.

    Steps are counted where time would be noisy; a call that reads a whole table makes many.
    """
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    service, tool = name.split(".")
    await session.call(service, tool, args)
    connection = session.world._db
    connection.set_progress_handler(count, 10)
    reply = await session.call(service, tool, args)
    connection.set_progress_handler(None, 0)
    assert not reply.is_error, reply.data
    return steps * 10, reply.data
