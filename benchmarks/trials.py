"""Trials per second with the oracle, and what resetting an episode costs."""

from __future__ import annotations

import statistics
import time

from benchmarks.timing import Row, ms
from client_harness.agents import Assignment
from client_harness.agents._script import ScriptAgent
from client_harness.episode import Episode
from client_harness.tools import in_memory
from judge.verdict import judge
from scenarios.load import load
from scenarios.script import Step

SCENARIO = "recovery/silent_no_op/venmo_pay_dropped"
CALLS = 10


async def measure() -> list[Row]:
    """Return the rows for trials and resets."""
    scenario = load(SCENARIO)
    oracle = list(scenario.scripts.oracle)
    plain = scenario.model_copy(update={"disclose": []})
    filler = [Step.model_validate({"call": "venmo.get_balance"})]

    async def trial() -> int:
        episode = Episode(plain)
        async with in_memory(episode.session) as tools:
            agent = ScriptAgent(Assignment(tools, [], plain), [*filler * 5, *oracle])
            await episode.converse(agent)
        record = episode.record()
        judge(plain.checks, record, "base")
        calls = len(record.attempts)
        episode.close()
        return calls

    made = [await trial() for _ in range(20)]
    rates = []
    for _ in range(7):
        begun = time.perf_counter()
        for _ in range(50):
            await trial()
        rates.append(50 / (time.perf_counter() - begun))
    resets = []
    for _ in range(200):
        begun = time.perf_counter()
        Episode(plain).close()
        resets.append(time.perf_counter() - begun)
    rate = statistics.median(rates)
    return [
        Row(
            f"trials a second, oracle, {made[0]} calls, faults and judge on",
            f"{rate:.0f}/s",
            f"aim 150/s on {CALLS} calls",
            f"{rate / 150:.2f}",
            "≥ 1",
        ),
        Row("episode reset", ms(statistics.median(resets)), "2 ms", f"{statistics.median(resets) / 0.002:.2f}", "< 1"),
    ]
