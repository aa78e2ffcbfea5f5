"""Every id in a reply can be looked up in its service.

Either a reading tool accepts it, or a list shows what it refers to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import pytest

from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from tests.support import new_session, prepared, spread

pytestmark = pytest.mark.anyio
OF_EACH = 2
"""How many ids of one field are tried per reply, as items of a list are alike."""
OTHERS = 4
"""How many other ids of one field in the reply are tried to find what an id refers to."""
OFFERS = {"fare_id", "snapshot_id"}
"""Ids that the real providers have too and that cannot be looked up.

They capture a fare or the state of a playlist at a moment.
"""


class Shown(NamedTuple):
    """An id in a reply; `first` says whether it is the first field of its object."""

    field: str
    value: str
    first: bool


def shown(data: Any) -> Iterator[Shown]:
    """Yield all ids in a reply."""
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
    """Yield reading tools with each of their arguments that takes an id or a list of ids."""
    for spec in cls.tools.values():
        for name in spec.schema["properties"] if spec.effect == "read" else ():
            if name.endswith(("_id", "_ids")):
                yield spec, name


async def can_be_looked_up(
    session: Session, cls: type[Service], field: str, value: str, others: dict[str, list[str]]
) -> bool:
    """Return whether a reading tool accepts an id, or shows an object that begins with it.

    `others` holds other ids of the same reply: a variant is found through its product.
    """
    for spec, name in sorted(takes(cls), key=lambda t: not field.endswith(t[1].removesuffix("s"))):
        args = {n: v for n, v in spec.example.items() if "${" not in str(v)}
        given: Any = [value] if name.endswith("_ids") else value
        for tried in (args | {name: given}, {name: given}):
            if not (await session.call(cls.name, spec.name, tried)).is_error:
                return True
    async for known in everything(session, cls, others):
        if known == value:
            return True
    return False


async def everything(
    session: Session, cls: type[Service], others: dict[str, list[str]]
) -> AsyncIterator[str]:
    """Yield the ids with which objects in the replies of reading tools begin.

    The tools are called with arguments from their examples, and with ids from `others`.
    """
    for spec in cls.tools.values():
        if spec.effect == "read" and "${" not in str(spec.example):
            for args in argument_sets(spec, others):
                reply = await session.call(cls.name, spec.name, args)
                for entry in shown(reply.data):
                    if entry.first:
                        yield entry.value


def argument_sets(spec: ToolSpec, others: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the sets of arguments with which a reading tool is tried."""
    properties = spec.schema["properties"]
    required = spec.schema.get("required", [])
    args = {n: v for n, v in spec.example.items() if n in required}
    args |= {n: 100 for n in ("limit", "max_results") if n in properties}
    yield args
    for name, values in others.items():
        if name in properties:
            for value in values[:OTHERS]:
                yield args | {name: value}


@pytest.mark.parametrize(("cls", "spec"), spread(3))
async def test_what_a_reply_names_can_be_looked_up(cls: type[Service], spec: ToolSpec) -> None:
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    reply = await session.call(cls.name, spec.name, args)
    gone: set[str] = set()
    if spec.effect == "write":  # what was passed may have been removed
        gone = {v for v in args.values() if isinstance(v, str)}
    tried: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for entry in (*shown(args), *shown(reply.data)):
        others.setdefault(entry.field, []).append(entry.value)
    for field, value, _ in shown(reply.data):
        known = tried.setdefault(field, [])
        if value in known or value in gone or field in OFFERS or len(known) >= OF_EACH:
            continue
        known.append(value)
        there = await can_be_looked_up(session, cls, field, value, others)
        assert there, f"{field} {value} cannot be looked up"
    assert not session.bugs, session.bugs[0]
