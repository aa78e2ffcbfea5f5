"""What the columns of all tables declare (roles, nouns, conditions) fits what the tools write."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from servers.kit.examples import prepared
from servers.kit.expr import check_predicate
from servers.kit.expr.paths import parse
from servers.kit.service import all_tables
from servers.kit.store import Change
from servers.kit.tables import ROLES, Role, Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from tests.support import IDS, TOOLS, new_session

TABLES = all_tables()
WRITES = {name: tool for name, tool in zip(IDS, TOOLS, strict=True) if tool[1].effect == "write"}
every_table = pytest.mark.parametrize("name", TABLES)
every_write = pytest.mark.parametrize("name", WRITES)

SAME: tuple[Role, ...] = ("matter", "appointed", "recipients", "derived", "prose")
"""Roles whose values do not depend on ids and draws."""
UNCOMPARED: tuple[Role, ...] = ("id", "stamp", "derived", "session")
"""Roles whose values nobody compares, so that no argument may be in their columns alone."""
DRIVE = ("driver_id", "matched_at", "arrives_at", "starts_at", "ends_at")
DRAWN = {
    "doordash_gifts": ("claims_at",),
    "doordash_orders": (
        "courier", "starts_at", "confirmed_at", "preparing_at", "assigned_at", "picked_up_at",
        "delivered_at",
    ),
    "instacart_orders": ("shopper_id", "leaves_at", "arrives_at"),
    "lyft_rides": DRIVE,
    "target_orders": ("out_at",),
    "uber_deliveries": DRIVE,
    "uber_eats_orders": ("courier",),
    "uber_rides": DRIVE,
}  # fmt: skip
"""Derived columns that are drawn from an order's id: who comes, and when it is planned to happen.

A gift is claimed when its recipient gets to it, and the order goes out after that.
"""
SLOTS = ("outlook_calendar_polls", "slots")
"""A column that is matter and holds ids that are the key of no row."""
FOLLOWS = {
    "apple_music.seek_track": ("position_ms",),
    "confluence.revise_content": ("version_number",),
    "instacart.checkout": ("delivery_window_id",),
    "robinhood.place_options_order": ("option_type",),
    "spotify.seek_position": ("position_ms",),
}
"""Arguments that need not be compared, by tool.

A position in a track moves on with the clock. The version of a page that a revision is based on is
the current one, or the call is refused. A delivery window is named by its start, an option by the
key of its contract.
"""
TELLING = ("outbox", "reactions")
"""Tables of letters and answers, which tell what other rows hold and come when people get to it."""
SCALES = (1, 100, 10_000)
"""How many of a row's units are in one of a tool's: rows hold cents, or 1/10000 dollars."""
FORMATS = ("", "cents", "moment", "day")
"""How a noun can write a column: as it is, or one of these after a colon."""


# -- declarations ----------------------------------------------------------------------------------


@every_table
def test_every_column_has_a_role(name: str) -> None:
    table = TABLES[name]
    key, *others = table.spec.split()
    for part in [key, *others]:
        column = part.partition(":")[0]
        role = part.partition("/")[2]
        assert role or part == key or table.catalogue, f"{name}.{column} has no role"
        assert role in ("", *ROLES), f"{name}.{column} has an unknown role, {role!r}"
    assert list(table.roles) == list(table.columns)


@every_table
def test_a_noun_and_conditions_name_columns(name: str) -> None:
    table = TABLES[name]
    check_noun(name, table)
    for condition in (table.outward, table.tentative):
        if condition is not None:
            assert not check_predicate(condition, name)
            unknown = set(heads(condition)) - table.columns.keys()
            assert not unknown, f"{name}: a condition names {unknown}"


def check_noun(name: str, table: Table) -> None:
    """Check that the noun of a table, if it has one, is a phrase and names its columns."""
    assert not table.noun or re.match(r"(an?|the) \S", table.noun), f"{name}: {table.noun!r}"
    braces = re.findall(r"\{(\w+):?(\w*)\}", table.noun)
    assert len(braces) == table.noun.count("{") == table.noun.count("}"), f"{name}: {table.noun!r}"
    for column, written in braces:
        assert column in table.columns, f"{name}: the noun names {column!r}"
        assert written in FORMATS, f"{name}: the noun writes {column} as {written!r}"


def heads(condition: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns that a condition looks at."""
    for path, wanted in condition.items():
        if path in ("any_of", "all_of", "none_of"):
            for inner in wanted:
                yield from heads(inner)
        else:
            yield str(parse(path)[0])


# -- what the examples write -----------------------------------------------------------------------


@dataclass(frozen=True)
class Play:
    """A tool's example, played in a new session.

    `changes` are those of the example, without letters and answers. `everything` has these too,
    and the changes of the set-up calls.
    """

    args: Json
    changes: list[Change]
    everything: list[Change]

    @functools.cached_property
    def made(self) -> dict[Any, str]:
        """The keys of new rows → which new row of which table."""
        added = [change for change in self.everything if change["old"] is None]
        return {change["key"]: f"{change['table']} {n}" for n, change in enumerate(added)}


@functools.cache
def played(name: str, seed: int) -> Play:
    """Play the example of a tool; `seed` keys the ids and draws."""
    return anyio.run(_play, name, seed)


async def _play(name: str, seed: int) -> Play:
    cls, spec = WRITES[name]
    session = new_session(cls.name, seed=seed)
    before = session.world.last_change()
    args = await prepared(session, cls, spec)
    mark = session.world.last_change()
    reply = await session.call(cls.name, spec.name, args)
    assert not session.bugs and not reply.is_error, session.bugs or reply.data
    changes = [change for change in session.world.log(mark) if change["table"] not in TELLING]
    return Play(args, changes, session.world.log(before))


@every_write
def test_a_changed_table_is_no_catalogue_and_has_a_noun(name: str) -> None:
    for change in played(name, 1).everything:
        table = TABLES[change["table"]]
        assert not table.catalogue, f"{name} changes {change['table']}, which is a catalogue"
        assert table.noun, f"{name} changes {change['table']}, which has no noun"


@every_write
def test_what_is_declared_does_not_depend_on_ids_and_draws(name: str) -> None:
    one = played(name, 1)
    two = played(name, 2)
    assert shape(one.changes) == shape(two.changes)
    for a, b in zip(one.changes, two.changes, strict=True):
        table = a["table"]
        for column, role in TABLES[table].roles.items():
            if role in SAME and not is_drawn(table, column) and a["new"] and b["new"]:
                mine = named(a["new"][column], one, role)
                other = named(b["new"][column], two, role)
                assert mine == other, f"{table}.{column} is {role}, but depends on ids or draws"


def is_drawn(table: str, column: str) -> bool:
    if TABLES[table].roles[column] == "derived":
        return column in DRAWN.get(table, ())
    return (table, column) == SLOTS


def shape(changes: list[Change]) -> list[tuple[str, bool, bool]]:
    """Return what kind of change was made to which table, in order."""
    return [(c["table"], c["old"] is None, c["new"] is None) for c in changes]


def named(value: Any, play: Play, role: Role) -> Any:
    """Return a value with the keys of new rows replaced by what they stand for.

    In a column of text that is not derived they are left as they are: it should be a reference.
    """
    if isinstance(value, list):
        return [named(item, play, "derived") for item in value]
    if isinstance(value, dict):
        return {key: named(item, play, "derived") for key, item in value.items()}
    return play.made.get(value, value) if role == "derived" else value


@every_write
def test_no_argument_is_only_where_nobody_compares(name: str) -> None:
    play = played(name, 1)
    for argument, value in play.args.items():
        if argument == "idempotency_key" or argument in FOLLOWS.get(name, ()):
            continue
        for leaf in leaves(value):
            hidden, compared = holding(play, leaf)
            assert compared or not hidden, f"{argument}={leaf!r} is only in {', '.join(hidden)}"


def leaves(value: Any) -> Iterator[str | float]:
    """Yield the numbers and the texts of four or more characters in an argument."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str):
        if len(value.strip()) >= 4:
            yield value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def holding(play: Play, leaf: str | float) -> tuple[list[str], list[str]]:
    """Return the columns (`table.column`) that took on a value: those that nobody compares first.

    The key of a row that stood before says which row was changed, and counts as compared.
    """
    hidden = []
    compared = []
    for change in play.changes:
        table = TABLES[change["table"]]
        if change["old"] is not None and holds(change["key"], leaf):
            compared.append(f"{change['table']}.{table.key}")
        for column, value in taken_on(change).items():
            if holds(value, leaf):
                places = hidden if table.roles[column] in UNCOMPARED else compared
                places.append(f"{change['table']}.{column}")
    return hidden, compared


def taken_on(change: Change) -> Row:
    """Return the columns of a new row, or those that were changed in another one."""
    new = change["new"] or {}
    old = change["old"]
    return new if old is None else {c: v for c, v in new.items() if v != old[c]}


def holds(value: Any, leaf: str | float) -> bool:
    """Return whether a column's value is or contains an argument, in the form in which rows do."""
    if isinstance(leaf, str):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return any(form.casefold() in text.casefold() for form in forms(leaf))
    numbers = [n for n in leaves([value]) if not isinstance(n, str)]
    return any(round(leaf * scale, 6) in numbers for scale in SCALES)


def forms(text: str) -> set[str]:
    """Return a text and, if it is a moment, the form in which rows hold it."""
    try:
        return {text, iso(parse_time(text))}
    except ValueError:
        return {text}
