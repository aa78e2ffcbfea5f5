"""Every id that a reply shows can be looked up in its service.

A reading tool takes it, or a list shows what it names.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import pytest

from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from tests.support import IDS, TOOLS, new_session, prepared

pytestmark = pytest.mark.anyio
OF_EACH = 2
"""How many ids of one field are tried in a reply; items of a list are alike."""
BESIDE = 4
"""How many other ids of one field in the reply are tried to find what an id names."""
OFFERS = {"fare_id", "snapshot_id"}
"""Ids of the providers' own that name no thing.

They say what a fare was, and what a playlist was, at a moment.
"""


class Shown(NamedTuple):
    """An id in a reply; `first` says whether it is the first field of what shows it."""

    field: str
    value: str
    first: bool


def shown(data: Any) -> Iterator[Shown]:
    """Yield all ids that a reply shows."""
    if isinstance(data, list):
        for item in data:
            yield from shown(item)
    if isinstance(data, dict):
        for place, (name, value) in enumerate(data.items()):
            if name.endswith("_id") and isinstance(value, str):
                yield Shown(name, value, place == 0)
            elif name.endswith("_ids") and isinstance(value, list):
                yield from (Shown(name[:-1], v, False) for v in value if isinstance(v, str))
            else:
                yield from shown(value)


def takes(cls: type[Service]) -> Iterator[tuple[ToolSpec, str]]:
    """Yield reading tools with each argument of theirs that is an id or a list of ids."""
    for spec in cls.tools.values():
        for name in spec.schema["properties"] if spec.effect == "read" else ():
            if name.endswith(("_id", "_ids")):
                yield spec, name


async def can_be_looked_up(
    session: Session, cls: type[Service], field: str, value: str, beside: dict[str, list[str]]
) -> bool:
    """Whether some reading tool takes an id and finds what it names, or shows it first.

    `beside` are other ids of the same reply: a variant is found through its product.
    """
    for spec, name in sorted(takes(cls), key=lambda t: not field.endswith(t[1].removesuffix("s"))):
        args = {n: v for n, v in spec.example.items() if "${" not in str(v)}
        given: Any = [value] if name.endswith("_ids") else value
        for tried in (args | {name: given}, {name: given}):
            if not (await session.call(cls.name, spec.name, tried)).is_error:
                return True
    async for known in everything(session, cls, beside):
        if known == value:
            return True
    return False


async def everything(
    session: Session, cls: type[Service], beside: dict[str, list[str]]
) -> AsyncIterator[str]:
    """Yield the ids that come first in what reading tools show.

    They are called with the arguments of their examples, and with ids from `beside`.
    """
    for spec in cls.tools.values():
        if spec.effect == "read" and "${" not in str(spec.example):
            for args in attempts(spec, beside):
                reply = await session.call(cls.name, spec.name, args)
                for entry in shown(reply.data):
                    if entry.first:
                        yield entry.value


def attempts(spec: ToolSpec, beside: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the arguments with which a reading tool is tried."""
    properties = spec.schema["properties"]
    required = spec.schema.get("required", [])
    args = {n: v for n, v in spec.example.items() if n in required}
    args |= {n: 100 for n in ("limit", "max_results") if n in properties}
    yield args
    for name, values in beside.items():
        if name in properties:
            for value in values[:BESIDE]:
                yield args | {name: value}


@pytest.mark.parametrize(("cls", "spec"), TOOLS, ids=IDS)
async def test_what_a_reply_names_can_be_looked_up(cls: type[Service], spec: ToolSpec) -> None:
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    reply = await session.call(cls.name, spec.name, args)
    gone: set[str] = set()
    if spec.effect == "write":  # what was given may be removed by now
        gone = {v for v in args.values() if isinstance(v, str)}
    tried: dict[str, list[str]] = {}
    beside: dict[str, list[str]] = {}
    for entry in (*shown(args), *shown(reply.data)):
        beside.setdefault(entry.field, []).append(entry.value)
    for field, value, _ in shown(reply.data):
        known = tried.setdefault(field, [])
        if value in known or value in gone or field in OFFERS or len(known) >= OF_EACH:
            continue
        known.append(value)
        there = await can_be_looked_up(session, cls, field, value, beside)
        assert there, f"{field} {value} cannot be looked up"
    assert not session.bugs, session.bugs[0]
