"""How the benchmarks measure: interleaved rounds, and the median of the rounds' medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table, ready to print."""

    what: str
    measured: str
    baseline: str
    ratio: str
    aim: str


async def interleaved(
    subjects: Mapping[str, Callable[[], Awaitable[object]]], rounds: int, calls: int
) -> dict[str, float]:
    """Return seconds per call of each subject: the median over rounds of each round's median.

    The subjects alternate within a round, forwards and backwards, and warm up before each turn, so
    that their order does not matter.
    """
    medians: dict[str, list[float]] = {name: [] for name in subjects}
    order = list(subjects.items())
    for number in range(rounds):
        for name, run in order if number % 2 else order[::-1]:
            times = []
            for _ in range(10):
                await run()
            for _ in range(calls):
                begun = time.perf_counter()
                await run()
                times.append(time.perf_counter() - begun)
            medians[name].append(statistics.median(times))
    return {name: statistics.median(times) for name, times in medians.items()}


def ms(seconds: float) -> str:
    """Return a duration as text."""
    return f"{seconds * 1000:.3f} ms"
