"""What a run costs as a user has it: with results and traces, over HTTP, with a model.

The time is the processor's, per trial, beside that of the core loop on the same scenario with the
same calls (`benchmarks.trials`); both are measured in turns. Models are asked at an endpoint in a
process of its own. As a module, it plays one run and prints what it cost, as JSON:
`python -m benchmarks.running JOBS TRIALS URL`.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from benchmarks import endpoint
from benchmarks.timing import Row
from benchmarks.trials import SCENARIO, trial
from client_harness.run import RunRequest, start
from scenarios.load import load

ROUNDS = 5
TRIALS = 30
CALLS = 4
"""Calls that the scripted model makes; each trial is one request more."""
SLOW = 2.0
"""Seconds that the slow endpoint takes for an answer."""
JOBS = ((1, 3), (20, 80), (100, 400))
"""How many trials run at the same time, of how many."""


def measure() -> list[Row]:
    """Return the rows for runs."""
    return [*_each(), *_many(SLOW), *_many(0.5, JOBS[2:])]


def played(trials: int, jobs: int = 1, url: str | None = None, **given: Any) -> None:
    """Run trials of the scenario with the oracle, or with a model at a URL."""
    agent = "oracle"
    if url is not None:
        agent = "model"
        given["options"] = {"model": "openai/scripted", "api_base": url}
    request = RunRequest([SCENARIO], [agent], trials=trials, jobs=jobs, **given)
    with tempfile.TemporaryDirectory() as home:
        begun = start(request, Path(home) / "run")
        begun.finish()
        assert len(begun.results.trials()) == trials
        begun.results.close()


def core(trials: int) -> None:
    """Play and judge trials in the core loop."""
    scenario = load(SCENARIO)

    async def loop() -> None:
        for _ in range(trials):
            await trial(scenario, scenario.scripts.oracle, faulted=True)

    anyio.run(loop)


def _each() -> list[Row]:
    with endpoint.running(0, CALLS) as url:
        subjects = {
            "core": lambda: core(TRIALS),
            "run": lambda: played(TRIALS),
            "four": lambda: played(TRIALS, 4),
            "http": lambda: played(TRIALS, transport="http"),
            "model": lambda: played(TRIALS, url=url),
        }
        spent: dict[str, list[float]] = {name: [] for name in subjects}
        for round_ in range(ROUNDS + 1):
            for name, subject in subjects.items():
                begun = time.process_time()
                subject()
                if round_:  # the first one imports and compiles
                    spent[name].append((time.process_time() - begun) / TRIALS)
    each = {name: statistics.median(times) for name, times in spent.items()}
    return [
        _row("run, one trial", each["run"], each["core"], "≤ 15 ms"),
        _row("run --jobs 4, one trial", each["four"], each["core"], "≤ 15 ms"),
        _row("run --http, one trial", each["http"], each["core"], "≤ 35 ms"),
        _row(
            f"run with a model, one request of {CALLS + 1} a trial",
            each["model"] / (CALLS + 1),
            each["core"],
            "≤ 12 ms",
        ),
    ]


def _row(what: str, seconds: float, core_seconds: float, aim: str) -> Row:
    return Row(
        f"processor: {what}",
        f"{seconds * 1000:.1f} ms",
        f"core loop {core_seconds * 1000:.1f} ms",
        f"{seconds / core_seconds:.2f}",
        aim,
    )


def _many(seconds: float, counts: tuple[tuple[int, int], ...] = JOBS) -> list[Row]:
    rows = []
    for jobs, trials in counts:
        # At the beginning the client is imported, and at the end there is nothing left to ask.
        last = (trials - jobs) * (CALLS + 1)
        with endpoint.running(seconds, CALLS, 2 * jobs, last) as url:
            command = [sys.executable, "-m", "benchmarks.running", str(jobs), str(trials), url]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            told = endpoint.told(url)
        cost = json.loads(done.stdout.splitlines()[-1])
        ideal = told["requests"] * seconds / jobs
        in_flight = f"{told['mean']:.1f} in flight, {told['most']:.0f} at most"
        memory = f"{cost['megabytes']:.0f} MB"
        busy = f"processor {cost['processor'] / trials / (CALLS + 1) * 1000:.1f} ms a request"
        rows.append(
            Row(
                f"{jobs} jobs, {trials} trials, answers take {seconds:g} s; {memory}, {busy}",
                f"{told['requests'] / told['seconds']:.1f} requests/s, {in_flight}",
                f"ideal {jobs / seconds:g} requests/s",
                f"{ideal / told['seconds']:.3f}",
                "≥ 0.95" if seconds == SLOW else "",
            )
        )
    return rows


def _alone(jobs: int, trials: int, url: str) -> dict[str, float]:
    begun = time.process_time()
    played(trials, jobs, url)
    # macOS reports bytes, other systems report kibibytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return {"processor": time.process_time() - begun, "megabytes": peak}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_alone(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
    else:
        for row in measure():
            print(*filter(None, row), sep=" · ")
