"""What a page of a list costs, in tokens and in time, also where ten times as much happened."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.grown import grown
from benchmarks.timing import Row, interleaved, ms
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.examples import owners, prepared
from servers.kit.service import services, tool
from servers.kit.session import Session, as_text
from servers.kit.store import World
from servers.kit.values import parse_time

TIMED = (
    "uber.list_rides",
    "lyft.list_trip_history",
    "venmo.list_transactions",
    "amazon.list_orders",
    "gmail.list_emails",
    "robinhood.list_transfers",
)
BYTES = 4
"""Bytes of compact JSON that count as one token."""


def _session(names: tuple[str, ...], world: World) -> Session:
    return Session(names, world, Control(parse_time(build.person("maya")["start"])))


async def measure() -> list[Row]:
    """Return the rows for lists."""
    return [await _tokens(), *[await _timed(name) for name in TIMED]]


async def _tokens() -> Row:
    lengths = []
    for cls in services().values():
        for spec in cls.tools.values():
            if "cursor" not in spec.schema["properties"]:
                continue
            names = owners(cls, spec)
            session = _session(names, build.shared("maya", names).share())
            args = await prepared(session, cls, spec)
            for limit in ("limit", "max_results"):
                args.pop(limit, None)
            reply = await session.call(cls.name, spec.name, args)
            lengths.append(len(as_text(reply).encode()) // BYTES)
    lengths.sort()
    nine_tenths = lengths[len(lengths) * 9 // 10]
    what = f"tokens of a page by default, {len(lengths)} lists"
    measured = f"median {statistics.median(lengths):.0f}, nine in ten ≤ {nine_tenths}"
    return Row(what, measured, f"longest {lengths[-1]}", "", "≤ 1,500, longest ≤ 4,000")


async def _timed(name: str) -> Row:
    cls, spec = tool(name)
    usual = build.shared("maya", (cls.name,))
    long = grown(usual, 10)
    sessions = {"usual": _session((cls.name,), usual.share()), "long": _session((cls.name,), long)}
    # A search ranks everything that matches, so it is no page.
    args = {name: value for name, value in spec.example.items() if name != "query"}

    def call(session: Session) -> Any:
        return lambda: session.call(cls.name, spec.name, args)

    times = await interleaved({k: call(s) for k, s in sessions.items()}, 5, 20)
    ratio = f"{times['long'] / times['usual']:.2f}"
    return Row(f"{name}, 10 × rows", ms(times["long"]), ms(times["usual"]), ratio, "≤ 1.3")
