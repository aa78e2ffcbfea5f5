"""Every id that a reply shows can be looked up in its service: a reading tool takes it, or a list shows what it names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from tests.support import IDS, TOOLS, new_session, prepared

pytestmark = pytest.mark.anyio
OF_EACH = 2
"""How many ids of one field are tried in a reply; items of a list are alike."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def shown(data: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield `(field, id, whether it is the first field of what shows it)` for all that a reply shows."""
    if isinstance(data, list):
        for item in data:
            yield from shown(item)
    if isinstance(data, dict):
        for place, (name, value) in enumerate(data.items()):
            if name.endswith("_id") and isinstance(value, str):
                yield name, value, place == 0
            elif name.endswith("_ids") and isinstance(value, list):
                yield from ((name[:-1], v, False) for v in value if isinstance(v, str))
            else:
                yield from shown(value)


def readers(cls: type[Service], field: str) -> Iterator[tuple[ToolSpec, str]]:
    """Yield reading tools that take the id, alone or in a list, by its name or the end of it (`page_id` for a `parent_page_id`)."""
    for spec in cls.tools.values():
        for name in spec.schema["properties"] if spec.effect == "read" else ():
            if (name.endswith("_id") and field.endswith(name)) or (name.endswith("_ids") and field.endswith(name[:-1])):
                yield spec, name


async def found(session: Session, cls: type[Service], field: str, value: str) -> bool:
    """Whether some reading tool finds what an id names."""
    for spec, name in readers(cls, field):
        args = {n: v for n, v in spec.example.items() if "${" not in str(v)}
        given: Any = [value] if name.endswith("_ids") else value
        for tried in (args | {name: given}, {name: given}):
            if not (await session.call(cls.name, spec.name, tried)).is_error:
                return True
    return (field, value) in {(f, v) for f, v, first in [s async for s in everything(session, cls)] if first}


async def everything(session: Session, cls: type[Service]) -> Any:
    """Yield what all reading tools show that need no argument, or only those of their examples."""
    for spec in cls.tools.values():
        if spec.effect == "read" and "${" not in str(spec.example):
            args = {n: v for n, v in spec.example.items() if n in spec.schema.get("required", [])}
            args |= {n: 100 for n in ("limit", "max_results") if n in spec.schema["properties"]}
            for one in shown((await session.call(cls.name, spec.name, args)).data):
                yield one


@pytest.mark.parametrize(("cls", "spec"), TOOLS, ids=IDS)
async def test_what_a_reply_names_can_be_looked_up(cls: type[Service], spec: ToolSpec) -> None:
    session = new_session(cls.name)
    args = await prepared(session, cls, spec)
    reply = await session.call(cls.name, spec.name, args)
    gone = {v for v in args.values() if isinstance(v, str)} if spec.effect == "write" else set()  # what was given may be removed by now
    tried: dict[str, list[str]] = {}
    for field, value, _ in shown(reply.data):
        known = tried.setdefault(field, [])
        if value not in known and value not in gone and len(known) < OF_EACH:
            known.append(value)
            assert await found(session, cls, field, value), f"{field} {value} cannot be looked up"
    assert not session.bugs, session.bugs[0]
