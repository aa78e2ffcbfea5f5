"""Differences between two runs in words: `$27.50 to Ben Archer, not to Jordan Park`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from judge.change.match import Difference
from judge.change.rows import SOMEONE, Item
from servers.kit.store import World

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_NAMES = ("name", "title", "subject", "address", "email", "id")
"""Columns that may say in words what a row is, the best first."""
_PREPOSITIONS = {"to", "from", "for", "on", "at", "with", "by", "of", "in", "as"}


def describe(differences: Sequence[Difference], world: World | None) -> str:
    """Return the differences as one sentence, at most three of them in full."""
    said = [_one(difference, world) for difference in differences[:3]]
    if len(differences) > 3:
        said.append(f"and {len(differences) - 3} more")
    return "; ".join(said)


def _one(difference: Difference, world: World | None) -> str:
    mine = difference.mine
    right = difference.right
    if mine is None and right is None:
        return "the new rows refer to one another in another way than they should"
    if mine is None:
        assert right is not None
        return _missing(right, world)
    if right is None:
        return f"{_done(mine, world)}, which nobody asked for"
    if mine.op == "added":
        return _other(mine, right, difference.columns, world)
    said = []
    for column in difference.columns:
        said.append(
            f"its {_plain(column)} is {_value(mine, column, world)}, "
            f"not {_value(right, column, world)}"
        )
    return f"{noun(mine, world)}: {', '.join(said)}"


def _done(item: Item, world: World | None) -> str:
    what = noun(item, world)
    if item.taken_back:
        return f"{what} was made and deleted again"
    if item.op == "deleted":
        return f"{what} was deleted"
    if item.op == "changed":
        columns = ", ".join(_plain(column) for column in [*item.values, *item.words])
        return f"{what} was changed ({columns})"
    return f"there is {what}"


def _missing(item: Item, world: World | None) -> str:
    what = noun(item, world)
    if item.op == "deleted":
        return f"{what} was not deleted"
    if item.op == "changed":
        changed = [f"{_plain(c)} to {_value(item, c, world)}" for c in [*item.values, *item.words]]
        return f"{what} was not changed ({', '.join(changed)})"
    return f"there should be {what}, but there is not"


def _other(mine: Item, right: Item, columns: Sequence[str], world: World | None) -> str:
    """Say what an added row is, with what it should be beside each part that is wrong."""
    shown: set[str] = set()
    wrong = set(columns)
    if SOMEONE in wrong:
        wrong |= {c for c, role in mine.spec.roles.items() if role == "recipients"}

    def slot(found: re.Match[str]) -> str:
        column = found[1]
        shown.add(column)
        value = _slot(mine, column, found[2], world)
        if column not in wrong:
            return value
        before = mine.spec.noun[: found.start()].split()
        word = f"{before[-1]} " if before and before[-1] in _PREPOSITIONS else ""
        return f"{value}, not {word}{_slot(right, column, found[2], world)},"

    text = _SLOT.sub(slot, mine.spec.noun or _fallback(mine.table)).rstrip(",")
    shown.add(SOMEONE)
    for column in [column for column in columns if column not in shown]:
        text += (
            f" (its {_plain(column)} is {_value(mine, column, world)}, "
            f"not {_value(right, column, world)})"
        )
    return f"there is {text}"


def noun(item: Item, world: World | None) -> str:
    """Return what an item is in words: `a payment of $27.50 to Jordan Park`."""
    text = item.spec.noun or _fallback(item.table)
    return _SLOT.sub(lambda found: _slot(item, found[1], found[2], world), text)


def _fallback(table: str) -> str:
    return f"a row of {table} ({{id}})"


def _slot(item: Item, column: str, how: str | None, world: World | None) -> str:
    if column not in item.row and column == "id":
        return str(item.key)
    if item.spec.roles.get(column) == "recipients" and SOMEONE in item.values:
        return str(item.values[SOMEONE])
    return _written(item.row.get(column), how, world)


def _value(item: Item, column: str, world: World | None) -> str:
    value = item.values.get(column, item.row.get(column))
    if value is None:
        return "nothing"
    cents = re.search(r"\{" + re.escape(column) + r":(\w+)\}", item.spec.noun)
    return _written(value, cents[1] if cents else None, world)


def _written(value: Any, how: str | None, world: World | None) -> str:
    if value is None:
        return "nobody" if how is None else "nothing"
    if how == "cents" and isinstance(value, int):
        return f"${value / 100:,.2f}"
    if how in ("moment", "day") and isinstance(value, str):
        return _moment(value, how)
    if isinstance(value, list):
        return ", ".join(_written(one, None, world) for one in value) or "none"
    if isinstance(value, str) and world is not None:
        return _named(value, world)
    return str(value)


def _moment(text: str, how: str) -> str:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    day = f"{moment:%a} {moment.day} {moment:%B %Y}"
    return day if how == "day" or len(text) <= 10 else f"{day}, {moment:%H:%M} UTC"


def _named(value: str, world: World) -> str:
    """Return the name of the row that a value points to, or the value."""
    if not re.fullmatch(r"[a-z]+_[0-9a-z]+", value):
        return value
    for table in world.tables:
        row = world.get(table, value)
        if row is not None:
            return next((str(row[n]) for n in _NAMES if row.get(n)), value)
    return value


def _plain(column: str) -> str:
    return column.replace("_id", "").replace("_", " ")
