"""What a simulated day costs: 45 days of every world, waited day by day and jumped.

A day is waited in a copy of the whole world, with all that happens in it: mail that comes, requests
that are paid, orders that recur. Times are of the CPU. The baseline is a day without the rows that
are dated in the world's seeds.
"""

from __future__ import annotations

import statistics
import time

from benchmarks.timing import Row, ms
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.session import Session
from servers.kit.values import parse_time

DAYS = 45
DAY = 86_400


async def measure() -> list[Row]:
    """Return a row for each world."""
    return [_of(name) for name in build.names()]


def _of(name: str) -> Row:
    _lived(name, 1, DAYS)
    costs = []
    quiet = []
    jumped = []
    for _ in range(3):
        costs += _lived(name, DAYS, 1)
        quiet += _lived(name, DAYS, 1, dated=False)
        jumped += _lived(name, 1, DAYS)
    cost = sum(costs) / len(costs)
    baseline = sum(quiet) / len(quiet)
    most = max(statistics.median(costs[day::DAYS]) for day in range(DAYS))
    jump = statistics.median(jumped)
    return Row(
        f"a simulated day of {name}, all services (dearest {ms(most)}; {DAYS} at once {ms(jump)})",
        ms(cost),
        f"without dated rows {ms(baseline)}",
        f"{cost / baseline:.2f}",
        "≤ 5 ms",
    )


def _lived(name: str, steps: int, days: int, *, dated: bool = True) -> list[float]:
    world = build.shared(name).share()
    if not dated:
        for row in world.rows("future"):
            world.delete("future", row["id"])
        world.commit()
    session = Session(["clock"], world, Control(parse_time(build.person(name)["start"])))
    session.pass_time(1)  # finds out what is due first
    times = []
    for _ in range(steps):
        begun = time.process_time()
        session.pass_time(days * DAY)
        times.append(time.process_time() - begun)
    world.close()
    return times
