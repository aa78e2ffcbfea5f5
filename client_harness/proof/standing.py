"""Where the value of a piece can be found besides the conversation."""

from __future__ import annotations

from typing import Any, Literal

from scenarios.haystack import pieces
from scenarios.haystack.instances import Instance
from scenarios.haystack.targets import target
from servers.kit import posts
from servers.kit.store import World
from servers.kit.tables import Table

Standing = Literal["in the conversation alone", "also in the world", "the world says otherwise"]


def standing(scenario: Instance, world: World, piece: str) -> Standing:
    """Return where the value of a hidden piece stands in a world."""
    facts = scenario.facts
    right = _decisive(scenario, piece, facts.values[piece])
    wrong = _decisive(scenario, piece, facts.others[piece])
    if right and all(found(world, leaf) for leaf in right):
        return "also in the world"
    if wrong and all(found(world, leaf) for leaf in wrong):
        return "the world says otherwise"
    return "in the conversation alone"


def nowhere(scenario: Instance, world: World, piece: str, said: str) -> str | None:
    """Return where a missing value stands all the same, or None; `said` is the past as text."""
    for leaf in _decisive(scenario, piece, scenario.facts.values[piece]):
        if str(leaf) in said:
            return f"in the past sessions: {leaf}"
        table = found(world, leaf)
        if table is not None:
            return f"in the world: {leaf} in {table}"
    return None


def _decisive(scenario: Instance, piece: str, value: Any) -> list[Any]:
    """Return the parts of a piece's value that the needed calls take."""
    return pieces.leaves(pieces.only(value, target(scenario.facts.target).taken(piece)))


def found(world: World, leaf: Any) -> str | None:
    """Return a table that holds a value in some row, or None.

    Catalogues are left out, and so is what no call reads: what is still on its way or to come.
    """
    for name, table in world.tables.items():
        if table.catalogue or name in posts.TABLES:
            continue
        condition, values = _condition(table, leaf)
        if condition and world.sql(f"SELECT 1 FROM {name} WHERE {condition} LIMIT 1", *values):
            return name
    return None


def _condition(table: Table, leaf: Any) -> tuple[str, list[Any]]:
    parts = []
    values: list[Any] = []
    number = isinstance(leaf, int | float) and not isinstance(leaf, bool)
    for column, (kind, _) in table.columns.items():
        if number and table.roles[column] in ("id", "ref"):
            continue
        if kind in ("int", "float"):
            if number:
                parts.append(f"{column} IN (?, ?)")
                values += [leaf, round(leaf * 100)]
        elif kind != "bool":
            parts.append(f"instr(lower({column}), ?)")
            values.append(str(leaf).casefold())
    return " OR ".join(parts), values
