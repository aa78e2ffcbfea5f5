"""The contract of every list: it is short, has days to narrow it, and reads its page alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from benchmarks.grown import grown, work
from scenarios.worlds.build import shared
from servers.kit.control import Control
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec, of_category
from servers.kit.session import Session, as_text
from servers.kit.store import World
from tests.support import START, TOOLS, WORLD, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
LONGEST = 4_000
"""Tokens of the longest reply that a list may give by default."""
TYPICAL = 1_500
"""Tokens that seven lists in eight stay below."""
TIMES = 10
BALANCES = ("vanguard.list_accounts",)
"""Lists of a few accounts with their balances, which add up all that was ever bought and sold."""
LISTS = [(cls, spec) for cls, spec in TOOLS if "cursor" in spec.schema["properties"]]


def days_of(spec: ToolSpec) -> list[str]:
    """Return the arguments of a list for its first and its last day."""
    end = "in the account's time zone; included."
    nodes = spec.schema["properties"].items()
    return [name for name, node in nodes if node.get("description", "").endswith(end)]


def tokens(text: str) -> int:
    """Return the tokens of a reply: four bytes of its compact JSON each."""
    return len(text.encode()) // 4


def is_read_by_page(cls: type[Service], spec: ToolSpec) -> bool:
    """Return whether a list shows rows by page; searches rank all that match."""
    return not is_search(spec) and f"{cls.name}.{spec.name}" not in BALANCES


def is_search(spec: ToolSpec) -> bool:
    return spec.name.startswith(("search", "find", "query", "screen", "browse"))


def names(tools: list[tuple[type[Service], ToolSpec]]) -> list[str]:
    return [f"{cls.name}.{spec.name}" for cls, spec in tools]


DATED = [tool for tool in LISTS if days_of(tool[1])]
READ = [tool for tool in LISTS if is_read_by_page(*tool)]
every_list = pytest.mark.parametrize(("cls", "spec"), LISTS, ids=names(LISTS))
every_dated_list = pytest.mark.parametrize(("cls", "spec"), DATED, ids=names(DATED))


async def by_default(cls: type[Service], spec: ToolSpec) -> int:
    """Return the tokens of the example's reply with the default number of items."""
    session = new_session(*owners(cls, spec))
    args = await prepared(session, cls, spec)
    for limit in ("limit", "max_results"):
        args.pop(limit, None)
    reply = await session.call(cls.name, spec.name, args)
    assert not reply.is_error, reply.data
    return tokens(as_text(reply))


async def test_pages_are_short_by_default() -> None:
    lengths = {
        name: await by_default(*tool) for name, tool in zip(names(LISTS), LISTS, strict=True)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
    long = [name for name, length in lengths.items() if length > TYPICAL]
    assert len(long) < len(LISTS) / 8, long


@every_dated_list
async def test_days_narrow_a_list(cls: type[Service], spec: ToolSpec) -> None:
    first, last = days_of(spec)
    session = new_session(*owners(cls, spec))
    args = await prepared(session, cls, spec)
    args.pop(first, None)
    args.pop(last, None)
    plain = await call_ok(session, cls.name, spec.name, **args)
    (items,) = [key for key, value in plain.items() if isinstance(value, list)][-1:]
    all_days = {first: "1950-01-01", last: "2150-01-01"}
    assert await call_ok(session, cls.name, spec.name, **args, **all_days) == plain
    late = await call_ok(session, cls.name, spec.name, **args, **{first: "2150-01-01"})
    early = await call_ok(session, cls.name, spec.name, **args, **{last: "1950-01-01"})
    assert late[items] == early[items] == []
    swapped = {first: "2026-03-02", last: "2026-03-01"}
    error = await call_refused(session, cls.name, spec.name, **args, **swapped)
    assert error["code"] == "INVALID_DATE_RANGE"


@cache
def long_world(category: str) -> World:
    """Return a shared world of one category in which ten times as much happened."""
    usual = shared(WORLD, of_category(category))
    return World.open(grown(usual, TIMES).image(), usual.tables)


def rows_of(reply: dict[str, Any]) -> int:
    return max((len(value) for value in reply.values() if isinstance(value, list)), default=0)


@pytest.mark.long
@pytest.mark.parametrize(("cls", "spec"), READ, ids=names(READ))
async def test_a_page_costs_the_same_where_ten_times_as_much_happened(
    cls: type[Service], spec: ToolSpec
) -> None:
    name = f"{cls.name}.{spec.name}"
    small = new_session(*owners(cls, spec))
    large = Session(owners(cls, spec), long_world(cls.category).share(), Control(START, 0))
    if {tool.partition(".")[0] for tool in owners(cls, spec)} != {cls.name}:
        pytest.skip("the example needs another service")
    usual, reply = await work(small, name, await prepared(small, cls, spec))
    more, longer = await work(large, name, await prepared(large, cls, spec))
    shown = max(1, rows_of(longer) / max(1, rows_of(reply)))
    assert more <= 2 * usual * shown + 3_000, (usual, more, shown)
