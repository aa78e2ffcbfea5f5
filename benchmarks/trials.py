"""Trials per second with the oracle, and the cost of resetting an episode."""

from __future__ import annotations

import statistics
import time

from benchmarks.timing import Row, ms
from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.tools import in_memory
from judge.trace import Record
from judge.verdict import judge
from scenarios.load import load
from scenarios.model import Scenario
from scenarios.script import Step

SCENARIO = "recovery/silent_no_op/venmo_pay_dropped"


async def measure() -> list[Row]:
    """Return the rows for trials and resets."""
    scenario = load(SCENARIO)
    ten = [Step.model_validate({"call": "venmo.get_balance"})] * 10
    resets = []
    for _ in range(200):
        begun = time.perf_counter()
        Episode(scenario).close()
        resets.append(time.perf_counter() - begun)
    reset = statistics.median(resets)
    oracle = scenario.scripts.oracle
    clean = await _rate(scenario, [*ten[:7], *oracle], faulted=False)
    dropped = await _rate(scenario, [*ten[:5], *oracle], faulted=True)
    return [
        _row("clean", *clean),
        _row("a dropped payment, 2 obligations", *dropped),
        Row("episode reset", ms(reset), "2 ms", f"{reset / 0.002:.2f}", "< 1"),
    ]


def _row(what: str, rate: float, calls: int) -> Row:
    return Row(
        f"trials a second: oracle, {calls} calls, judged; {what}",
        f"{rate:.0f}/s",
        "150/s",
        f"{rate / 150:.2f}",
        "≥ 1",
    )


async def _rate(scenario: Scenario, steps: list[Step], *, faulted: bool) -> tuple[float, int]:
    for _ in range(20):
        record = await trial(scenario, steps, faulted=faulted)
    rates = []
    for _ in range(7):
        begun = time.perf_counter()
        for _ in range(50):
            await trial(scenario, steps, faulted=faulted)
        rates.append(50 / (time.perf_counter() - begun))
    return statistics.median(rates), len(record.attempts)


async def trial(scenario: Scenario, steps: list[Step], *, faulted: bool) -> Record:
    """Play steps and judge them; return what was recorded."""
    episode = Episode(scenario, faulted=faulted)
    async with in_memory(episode.session) as tools:
        await episode.converse(ScriptAgent(Assignment(tools, [], scenario), steps))
    record = episode.record()
    judge(scenario.gates, record, "base" if faulted else "clean")
    episode.close()
    return record
