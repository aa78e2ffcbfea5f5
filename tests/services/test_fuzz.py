"""Whatever an agent sends, a service answers in its own words, and a refusal changes nothing.

Arguments are drawn from each tool's published schema, mixed with real ids so that calls get far,
and also from outside the schema.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servers.kit.call import Reply
from servers.kit.control import Control
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session, as_text
from servers.kit.store import World
from servers.kit.values import page
from tests.support import TOOLS, assert_error, effects, new_session, prepared, spread

FUZZ = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
every_tool = pytest.mark.parametrize(("cls", "spec"), spread(3))

ODD_TEXT = [
    "",
    " ",
    "\n",
    "0",
    "null",
    "'; DROP TABLE x; --",
    '"',
    "%",
    "*",
    "a AND (",
    "é😀\u202e\u0000",
    "../..",
    "${a.b}",
    "-1",
]
ODD_TIMES = [
    "2026-03-14",
    "2026-02-30",
    "2026-03-14T16:00:00Z",
    "2026-03-20T09:00:00-07:00",
    "1970-01-01T00:00:00Z",
    "2026-03",
    "tomorrow",
]
ODD_TIMES += ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "9999-12-31", "0001-01-01"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KINDS = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
OTHER = st.recursive(
    SCALARS | st.sampled_from([2**63, -(2**64), "\ud800", "x" * 100_000]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    new_loop = asyncio.new_event_loop()
    yield new_loop
    new_loop.close()


@functools.cache
def known_values() -> dict[str, list[Any]]:
    """Return the values that examples use, mostly real ids, by the argument's name."""
    known: dict[str, list[Any]] = {"cursor": [page([1, 2], "items", 1, None)["next_cursor"]]}
    for _, spec in TOOLS:
        for args in (spec.example, *(step.args for step in spec.setup)):
            for name, value in args.items():
                values = known.setdefault(name, [])
                if "${" not in str(value) and value not in values:
                    values.append(value)
    return known


def fitting(node: dict[str, Any], name: str, real: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that fit a schema.

    Three in four are real values, so that most calls get past validation.
    """
    drawn = from_schema(node, name, real)
    values = [real[name]] * 8 if name in real else []
    values += known_values().get(name, [])
    used = [value for value in values if isinstance(value, KINDS[node["type"]])]
    if not used or "enum" in node:
        return drawn
    return st.integers(0, 3).flatmap(lambda n: st.sampled_from(used) if n else drawn)


def from_schema(node: dict[str, Any], name: str, real: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if node["type"] == "object":
        parts = {n: fitting(s, n, real) for n, s in node["properties"].items()}
        needed = set(node.get("required", []))
        return st.fixed_dictionaries(
            {n: s for n, s in parts.items() if n in needed},
            optional={n: s for n, s in parts.items() if n not in needed},
        )
    if node["type"] == "array":
        items = fitting(node["items"], name, real)
        least = node.get("minItems", 0)
        return st.lists(items, min_size=least, max_size=min(node.get("maxItems", 4), least + 4))
    if node["type"] == "boolean":
        return st.booleans()
    if node["type"] == "string":
        drawn = st.text(max_size=node.get("maxLength", 20))
        return st.sampled_from(ODD_TEXT) | st.sampled_from(ODD_TIMES) | drawn
    low = node.get("minimum", node.get("exclusiveMinimum", -(10**6)))
    high = node.get("maximum", node.get("exclusiveMaximum", 10**6))
    if node["type"] == "integer":
        return st.integers(int(low), int(high))
    in_cents = st.integers(int(low * 100), int(high * 100)).map(lambda n: n / 100)
    return in_cents | st.floats(low, high)


@functools.lru_cache(4)  # few, because each of the thousand tools has a world
def start(cls: type[Service], spec: ToolSpec) -> tuple[World, int, dict[str, Any]]:
    """Return the world after an example's set-up, its moment, and the example's arguments.

    The world is to be shared, not written.
    """
    session = new_session(cls.name)
    args = asyncio.run(prepared(session, cls, spec))
    return session.world, session.control.now, args


def call(loop: asyncio.AbstractEventLoop, cls: type[Service], spec: ToolSpec, args: Any) -> Reply:
    """Make one call in an episode of its own and check what must hold for every reply."""
    world, now, _ = start(cls, spec)
    session = Session([cls.name], world.share(), Control(now, seed=1))
    mark = world.last_change()
    reply = loop.run_until_complete(session.call(cls.name, spec.name, args))
    assert not session.bugs, session.bugs[0]
    assert json.loads(as_text(reply)) == reply.data
    if reply.is_error:
        assert_error(reply)
    if reply.is_error or spec.effect == "read":
        assert not effects(session, mark)
    assert len(session.control.trace()) == 1
    session.world.close()
    session.control.close()
    return reply


@every_tool
def test_whatever_is_sent_is_answered(
    cls: type[Service], spec: ToolSpec, loop: asyncio.AbstractEventLoop
) -> None:
    real = start(cls, spec)[2]
    names = sorted(spec.schema["properties"])
    fits = from_schema(spec.schema, "", real)
    required = set(spec.schema.get("required", []))

    def without(left_out: set[str]) -> dict[str, Any]:
        return {name: value for name, value in real.items() if name not in left_out}

    one_wrong = st.just(real)
    fewer = st.just(without(set(names)))
    if names:
        one_wrong = st.builds(lambda n, v: real | {n: v}, st.sampled_from(names), OTHER)
        fewer = st.sets(st.sampled_from(names)).map(without)
    extra = st.builds(lambda n, v: real | {n + "_": v}, st.text(max_size=10), OTHER)
    strange = one_wrong | extra | fewer | OTHER

    @settings(FUZZ, max_examples=8)
    @given(st.integers(0, 4).flatmap(lambda n: fits if n > 1 else strange))
    def check(args: Any) -> None:
        reply = call(loop, cls, spec, args)
        if not isinstance(args, dict) or set(args) - set(names) or required - set(args):
            assert assert_error(reply)["code"] == cls.codes.invalid

    check()
