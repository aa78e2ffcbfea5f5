"""Judge recorded traces again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio

from client_harness import fingerprints
from client_harness.episode import final_world, record
from client_harness.expected import Known, expected
from client_harness.judging import debrief
from client_harness.judging.model_reader import Asker, JudgeModel, asker, judged
from client_harness.plan import RunRequest, profile_of, reader_of, scenarios_of
from client_harness.results import JUDGED, Results, Trial
from client_harness.verdicts import judge_into
from fault_profiles.profiles import Profile
from judge.change import Expected
from judge.reading import Reader
from judge.trace import Record
from scenarios.model import Scenario
from servers.kit.errors import InputError
from servers.kit.events import Event, read_trace
from servers.kit.store import World


def rejudge(
    home: Path,
    tell: Callable[[int, int, Trial | None], None] = lambda done, total, trial: None,
    model: JudgeModel | None = None,
) -> Results:
    """Judge a run's recorded traces again with the current checks and store the verdicts.

    No agent is run: the final worlds are rebuilt from the traces. `model` reads the texts; without
    it, phrases do. Returns the results. Raises `InputError` if a trace is missing, the world has
    changed or the model is of no use.
    """
    results = Results.open(home)
    request = RunRequest(**results.request)
    scenarios = scenarios_of(request)
    if results.fingerprints["world"] != fingerprints.world(scenarios.values()):
        raise InputError(
            f"{home}: its world has changed since, so the final worlds of its traces "
            "cannot be rebuilt; begin a new run"
        )
    anyio.run(_rejudge, results, scenarios, profile_of(request), model, tell)
    return results


async def _rejudge(
    results: Results,
    scenarios: dict[str, Scenario],
    faults: Profile | None,
    model: JudgeModel | None,
    tell: Callable[[int, int, Trial | None], None],
) -> None:
    asking = asker(model, results.home)
    known = Known()
    prints = {"judge": fingerprints.judging(scenarios.values()), "reader": reader_of(model)}
    trials = results.trials()
    for number, trial in enumerate(trials, 1):
        if trial.status != "crash":
            scenario = scenarios[trial.scenario]
            events, world = _recorded(results.trace_of(trial), scenario)
            right = await expected(
                scenario, known, faults=faults.faults if faults else None, seed=trial.seed
            )
            try:
                await _judge_again(trial, scenario, asking, events, world, right)
            finally:
                world.close()
            trial.fingerprints |= prints
            results.store(trial)
        tell(number, len(trials), trial)
    results.refingerprint(**prints)


def _recorded(path: Path, scenario: Scenario) -> tuple[list[Event], World]:
    """Return a recorded trace and the world at its end. Raises `InputError`."""
    events = read_trace(path)
    try:
        return events, final_world(scenario, events)
    except (InputError, StopIteration) as wrong:
        raise InputError(f"{path}: not a complete trace ({wrong})") from None


async def _judge_again(
    trial: Trial,
    scenario: Scenario,
    asking: Asker | None,
    events: list[Event],
    world: World,
    right: Expected,
) -> None:
    def once(reader: Reader | None) -> Record:
        return judge_into(trial, scenario, record(events, world, right, reader))

    last, trial.reading = await judged(asking, once)
    if trial.debrief:
        findings = trial.verdicts[JUDGED[trial.arm][0]]["findings"]
        trial.debrief = debrief.scored(trial.debrief, scenario, last, findings)
