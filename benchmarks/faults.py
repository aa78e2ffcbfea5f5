"""What faults cost while none of them fires, and that no world is copied then.

A call with ten faults on its tool is compared with a call without faults, in memory.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import FrameType
from typing import Any

from benchmarks.timing import Row, interleaved, ms
from fault_profiles.model import Fault, parse
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.halves import Base
from servers.kit.service import tool
from servers.kit.session import SEPARATOR, Session
from servers.kit.values import parse_time

TOOLS = ("venmo.get_contact", "venmo.send_money")
"""A cheap read, on which the overhead weighs most, and a write."""

_NEVER = {"after": {"seconds": 10**9}}
_LATER = {"after": {"called": "venmo.list_friends"}}
QUIET: list[dict[str, Any]] = [
    {"outage": {"name": "a", "calls": [10**9, 10**9]}},
    {"timeout": {"name": "b", "probability": 1e-12}},
    {"latency": {"name": "c", "every": 10**9}},
    {"outage": {"name": "d", "where": {"contact_id": "nobody"}}},
    {"wrong_value": {"name": "e", "reply": [{"set": {"note": "x"}}], **_NEVER}},
    {"rate_limit": {"name": "f", "after": {"fired": "a"}}},
    {"schema_drift": {"name": "g", "rename": {"contact_id": "friend"}, **_LATER}},
    {"outage": {"name": "h", "window": [10**9, 2 * 10**9]}},
    {"connection_drop": {"name": "i", "where": {"contact_id": {"contains": "nobody"}}}},
    {"outage": {"name": "j", "until": {"called": "venmo.list_friends"}, **_NEVER}},
]
"""Ten faults that are in the chain and do not act, each for a different reason."""


def session(name: str, faults: list[Fault]) -> Session:
    """Return a session with these faults, all of which must act on one tool."""
    world = build.shared("maya").share()
    control = Control(parse_time(build.person("maya")["start"]))
    cls, spec = tool(name)
    assert all(fault.handles(cls, spec) for fault in faults)
    return Session(["venmo"], world, control, faults=faults)


def quiet(name: str) -> list[Fault]:
    """Return the ten faults on a tool."""
    faults = []
    for item in QUIET:
        ((kind, fields),) = item.items()
        faults.append(parse({kind: {"on": name, **fields}}))
    return faults


async def measure() -> list[Row]:
    """Return the rows for calls with and without faults.

    The calls are made over MCP in memory, as an agent makes them, and on the bare chain.
    """
    from mcp import Client

    from servers.kit.mcp import session_server

    rows = []
    for name in TOOLS:
        more = await copies(name, quiet(name)) - await copies(name, [])
        assert more == 0, "a world is copied where no fault fires"
        args = tool(name)[1].example
        held = session(name, quiet(name))
        free = session(name, [])
        async with AsyncExitStack() as stack:
            subjects = {}
            for key, subject in (("held", held), ("free", free)):
                client = await stack.enter_async_context(Client(session_server(subject)))
                prefixed = name.replace(".", SEPARATOR)
                subjects[key] = functools.partial(client.call_tool, prefixed, args)
            times = await interleaved(subjects, 15, 100)
            rows.append(_row(f"{name} over MCP in memory", times, "≤ 1.2"))
        chains = {"held": _calls(held, name, args), "free": _calls(free, name, args)}
        times = await interleaved(chains, 15, 200)
        rows.append(_row(f"{name} on the bare chain", times, ""))
        assert not any(getattr(event, "firings", ()) for event in held.trace())
    return rows


def _row(what: str, times: dict[str, float], aim: str) -> Row:
    ratio = f"{times['held'] / times['free']:.2f}"
    return Row(
        f"ten faults, none of which fires: {what}",
        ms(times["held"]),
        f"no faults {ms(times['free'])}",
        ratio,
        aim,
    )


def _calls(subject: Session, name: str, args: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    owner, _, short = name.partition(".")
    return lambda: subject.call(owner, short, args)


async def copies(name: str, faults: list[Fault], calls: int = 3) -> int:
    """Return how many private copies are taken while a tool's example is called a few times."""
    run_once = _calls(session(name, faults), name, tool(name)[1].example)
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if event == "call" and frame.f_code is Base.take.__code__:
            count += 1

    sys.setprofile(watch)
    try:
        for _ in range(calls):
            await run_once()
    finally:
        sys.setprofile(None)
    return count
