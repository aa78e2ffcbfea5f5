"""What several test files share: sessions on the default world, and how an example call is made ready."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from scenarios.worlds.build import person, shared
from servers.kit.call import Reply
from servers.kit.control import Control
from servers.kit.service import Service, ToolSpec, services
from servers.kit.session import Session, as_text
from servers.kit.store import AGENT
from servers.kit.values import parse_time

WORLD = "maya"
START = parse_time(person(WORLD)["start"])
TOOLS = [(cls, spec) for cls in services().values() for spec in cls.tools.values()]
IDS = [f"{cls.name}.{spec.name}" for cls, spec in TOOLS]
HISTORY = [
    {
        "at": "2026-02-03T09:00:00Z",
        "messages": [
            {"role": "user", "text": "How much is in my Venmo?"},
            {
                "role": "assistant",
                "calls": [{"server": "venmo", "tool": "get_balance", "args": {}, "reply": {"balance": 5}, "is_error": False}],
            },
            {"role": "assistant", "text": "Five dollars."},
        ],
    }
]
"""One past session with a call, as agents are given history."""


def new_session(*names: str, seed: int = 0, **options: Any) -> Session:
    """Return a session of some services (all, where none is named) on the default world, which costs no copy until it writes."""
    return Session(names or tuple(services()), shared(WORLD).share(), Control(START, seed), **options)


def resolve(value: Any, saved: dict[str, Any]) -> Any:
    """Fill `${name.path}` strings in arguments from saved replies; a path goes through keys and list places."""
    if isinstance(value, dict):
        return {k: resolve(v, saved) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, saved) for v in value]
    if not isinstance(value, str):
        return value
    whole = re.fullmatch(r"\$\{([^}]+)\}", value)
    if whole:
        return _look_up(whole[1], saved)
    return re.sub(r"\$\{([^}]+)\}", lambda m: str(_look_up(m[1], saved)), value)


def _look_up(path: str, saved: dict[str, Any]) -> Any:
    found: Any = saved
    for part in re.findall(r"[^.\[\]]+", path):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found


async def prepared(session: Session, cls: type[Service], spec: ToolSpec) -> dict[str, Any]:
    """Make the calls of an example's set-up, which must succeed, and return the example's arguments."""
    saved: dict[str, Any] = {}
    for step in spec.setup:
        owner, _, name = step.tool.rpartition(".")
        reply = await session.call(owner or cls.name, name, resolve(step.args, saved))
        assert not reply.is_error, (step.tool, reply.data)
        if step.save:
            saved[step.save] = reply.data
    return resolve(spec.example, saved)


async def example(session: Session, cls: type[Service], spec: ToolSpec) -> Reply:
    """Run a tool's example after its set-up."""
    return await session.call(cls.name, spec.name, await prepared(session, cls, spec))


def effects(session: Session, mark: int) -> list[dict[str, Any]]:
    """Return what the agent itself changed after a mark of the log."""
    return [e for e in session.world.log(mark) if e["cause"] == AGENT]


def assert_error(reply: Reply) -> dict[str, Any]:
    """Check that an error has the shape every agent may rely on, and return it."""
    error = reply.error
    assert error is not None, reply.data
    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", error["code"]), error
    assert isinstance(error["message"], str) and error["message"].strip(), error
    assert isinstance(error["hint"], str) and isinstance(error["retryable"], bool), error
    return error


async def digest() -> str:
    """Return a hash of what every example answers and records, each in an episode of its own."""
    found = hashlib.blake2b(digest_size=16)
    for cls, spec in TOOLS:
        session = new_session(cls.name, seed=7)
        reply = await example(session, cls, spec)
        found.update(as_text(reply).encode())
        found.update("\n".join(session.control.trace()).encode())
    return found.hexdigest()
