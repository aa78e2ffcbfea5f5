"""What faults cost while none fires: a call with ten attached to its tool against one with none, in
memory; and that no world is copied.
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
from servers.kit import database
from servers.kit.control import Control
from servers.kit.service import tool
from servers.kit.session import SEPARATOR, Session
from servers.kit.values import parse_time

TOOLS = ("venmo.get_contact", "venmo.send_money")
"""A read and a write: a cheap call, on which what stands around it weighs most, and one that may
change rows.
"""

_NEVER = {"after": {"seconds": 10**9}}
QUIET: list[dict[str, Any]] = [
    {"outage": {"name": "a", "calls": [10**9, 10**9]}},
    {"timeout": {"name": "b", "probability": 1e-12}},
    {"latency": {"name": "c", "every": 10**9}},
    {"outage": {"name": "d", "where": {"contact_id": "nobody"}}},
    {"wrong_value": {"name": "e", "reply": [{"set": {"note": "x"}}], **_NEVER}},
    {"rate_limit": {"name": "f", "after": {"fired": "a"}}},
    {
        "schema_drift": {
            "name": "g",
            "rename": {"contact_id": "friend"},
            "after": {"called": "venmo.list_friends"},
        }
    },
    {"outage": {"name": "h", "window": [10**9, 2 * 10**9]}},
    {"connection_drop": {"name": "i", "where": {"contact_id": {"contains": "nobody"}}}},
    {"outage": {"name": "j", "until": {"called": "venmo.list_friends"}, **_NEVER}},
]
"""Ten faults that stand in the chain and do not act, each held back by another part of the
envelope.
"""


def session(name: str, faults: list[Fault]) -> Session:
    """Return a session whose faults all act on one tool."""
    made = Session(
        ["venmo"],
        build.shared("maya").share(),
        Control(parse_time(build.person("maya")["start"])),
        faults=faults,
    )
    cls, spec = tool(name)
    assert all(f.handles(cls, spec) for f in faults)
    return made


def quiet(name: str) -> list[Fault]:
    """Return the ten faults on a tool."""
    return [
        parse({kind: {"on": name, **fields}}) for item in QUIET for kind, fields in item.items()
    ]


async def measure() -> list[Row]:
    """Return the rows for calls with and without faults: as an agent makes them, over MCP in
    memory, and on the bare chain.
    """
    from mcp import Client

    from servers.kit.mcp import session_server

    rows = []
    for name in TOOLS:
        assert await copies(name, quiet(name)) == await copies(name, []), (
            "a world is copied where no fault fires"
        )
        args = tool(name)[1].example
        sessions = {"held": session(name, quiet(name)), "free": session(name, [])}
        async with AsyncExitStack() as stack:
            subjects = {}
            for key, made in sessions.items():
                client = await stack.enter_async_context(Client(session_server(made)))
                subjects[key] = functools.partial(
                    client.call_tool, name.replace(".", SEPARATOR), args
                )
            rows.append(
                _row(f"{name} over MCP in memory", await interleaved(subjects, 15, 100), "≤ 1.2")
            )
        chains = {key: _calls(made, name, args) for key, made in sessions.items()}
        rows.append(_row(f"{name} on the bare chain", await interleaved(chains, 15, 200), ""))
        assert not any(f for a in sessions["held"].trace() for f in getattr(a, "firings", ()))
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


def _calls(made: Session, name: str, args: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    owner, _, short = name.partition(".")
    return lambda: made.call(owner, short, args)


async def copies(name: str, faults: list[Fault], calls: int = 3) -> int:
    """Return how many databases are copied while a tool's example is called some times."""
    run = _calls(session(name, faults), name, tool(name)[1].example)
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is database.copy.__code__

    sys.setprofile(watch)
    try:
        for _ in range(calls):
            await run()
    finally:
        sys.setprofile(None)
    return count
