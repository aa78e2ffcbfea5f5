"""What several test files share: sessions on the default world, calls and their checks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from scenarios.haystack.history import LivedSession, PastCall
from scenarios.worlds.build import person, shared
from servers.kit.call import Reply
from servers.kit.control import Control, make_id
from servers.kit.examples import prepared
from servers.kit.service import Service, ToolSpec, services
from servers.kit.session import Session, as_text
from servers.kit.store import AGENT, CLOCK, POST, Change
from servers.kit.values import parse_time


def _tools() -> Iterator[tuple[type[Service], ToolSpec]]:
    for cls in services().values():
        for spec in cls.tools.values():
            yield cls, spec


WORLD = "maya"
START = parse_time(person(WORLD)["start"])
TOOLS = list(_tools())
IDS = [f"{cls.name}.{spec.name}" for cls, spec in TOOLS]


def spread(of: int) -> list[Any]:
    """Return all tools as parameters, of which only every `of`th is tried by `make test`."""
    return sampled(of, dict(zip(IDS, TOOLS, strict=True)))


def sampled(of: int, cases: Mapping[str, Sequence[Any]]) -> list[Any]:
    """Return cases (id → values) as parameters, of which `make test` tries only every `of`th."""
    params = []
    for number, (name, values) in enumerate(cases.items()):
        marks = [pytest.mark.long] if number % of else []
        params.append(pytest.param(*values, id=name, marks=marks))
    return params


_PAST_CALL: PastCall = {
    "server": "venmo",
    "tool": "get_balance",
    "args": {},
    "reply": {"balance": 5},
    "is_error": False,
}
HISTORY: list[LivedSession] = [
    {
        "at": "2026-02-03T09:00:00Z",
        "messages": [
            {"role": "user", "text": "How much is in my Venmo?"},
            {"role": "assistant", "calls": [_PAST_CALL]},
            {"role": "assistant", "text": "Five dollars."},
        ],
    }
]
"""One past session with a call, in the form in which agents get history."""


def new_session(*names: str, seed: int = 0, **options: Any) -> Session:
    """Return a session of some services (by default all) on the default world.

    It makes no copy of the world until it writes.
    """
    world = shared(WORLD, names or None).share()
    return Session(names or tuple(services()), world, Control(START, seed), **options)


def session_of(name: str, *names: str) -> Session:
    """Return a session of some services in a person's world, at the person's starting moment."""
    control = Control(parse_time(person(name)["start"]))
    return Session(names, shared(name, names).share(), control)


async def example(session: Session, cls: type[Service], spec: ToolSpec) -> Reply:
    """Run a tool's example after its set-up calls."""
    return await session.call(cls.name, spec.name, await prepared(session, cls, spec))


def effects(session: Session, mark: int) -> list[Change]:
    """Return the changes that the agent itself made after a sequence number of the log."""
    return [e for e in session.world.log(mark) if e["cause"] == AGENT]


def assert_error(reply: Reply) -> dict[str, Any]:
    """Check that an error has the shape that every agent may rely on, and return it."""
    error = reply.error
    assert error is not None, reply.data
    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", error["code"]), error
    assert isinstance(error["message"], str) and error["message"].strip(), error
    assert isinstance(error["hint"], str) and isinstance(error["retryable"], bool), error
    return error


def at(prefix: str, key: str) -> str:
    """Return the id of a row of the default world."""
    return make_id(prefix, WORLD, key)


async def call_ok(session: Session, service: str, tool: str, /, **args: Any) -> dict[str, Any]:
    """Make a call that must succeed and return its reply."""
    reply = await session.call(service, tool, args)
    assert not session.bugs and not reply.is_error, session.bugs or reply.data
    return reply.data


async def call_refused(session: Session, service: str, tool: str, /, **args: Any) -> dict[str, Any]:
    """Make a call that must be refused and change nothing, and return its error.

    What comes due at the moment of the call may happen.
    """
    before = session.world.last_change()
    error = assert_error(await session.call(service, tool, args))
    changed = [e for e in session.world.log(before) if e["cause"] not in (CLOCK, POST)]
    assert not changed and not session.bugs
    return error


async def pages(
    session: Session, service: str, tool: str, items: str, /, **args: Any
) -> list[dict[str, Any]]:
    """Return the items of all pages of a list."""
    reply = await call_ok(session, service, tool, **args)
    everything = reply[items]
    while reply["next_cursor"] is not None:
        reply = await call_ok(session, service, tool, **args, cursor=reply["next_cursor"])
        everything = everything + reply[items]
    return everything


async def digest() -> str:
    """Return a hash of everything that every example answers and records, each in a new episode."""
    hashed = hashlib.blake2b(digest_size=16)
    for cls, spec in TOOLS:
        session = new_session(cls.name, seed=7)
        reply = await example(session, cls, spec)
        hashed.update(as_text(reply).encode())
        hashed.update("\n".join(session.control.trace()).encode())
    return hashed.hexdigest()
