"""What judging costs: an oracle's trial judged in base and relaxed, against that trial.

The texts of a record are new, so that nothing that readers keep of earlier texts helps, or known:
judged once more, from a new record. An oracle says the same in each trial, so its first one in a
run, in which right runs are played, too, has new texts, and its later ones have known ones; those
are what the aim is about. New texts against a later trial bound what other agents cost, whose own
trials take longer. Playing is the world and the conversation alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import statistics
import string
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio

from benchmarks.timing import Row, ms
from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode, record
from client_harness.expected import expected
from client_harness.plan import RunRequest
from client_harness.run import start
from client_harness.tools import in_memory
from judge.change import Expected
from judge.model import Setting
from judge.verdict import judge
from scenarios import load
from scenarios.model import Scenario
from servers.kit.events import Event, Message
from servers.kit.files import hash_of

SCENARIOS = 25
ROUNDS = 9
WARMING = 2
"""How many rounds are not counted."""
SETTINGS: tuple[Setting, ...] = ("base", "relaxed")
_SENTENCE_END = re.compile(r"(?<=\w)(?=[.!?](?:\s|$))")


class _Times(NamedTuple):
    """Seconds that a trial takes: the first and the second one in a run, to play it, and to judge
    it with new and with known texts.
    """

    first: float
    second: float
    play: float
    new: float
    known: float


def measure() -> list[Row]:
    """Return the rows for judging."""
    subjects = []
    for name in _spread(SCENARIOS):
        scenario = load.load(name)
        subjects.append((scenario, anyio.run(expected, scenario)))
    times: dict[str, list[_Times]] = {scenario.id: [] for scenario, _ in subjects}
    for number in range(WARMING + ROUNDS):
        walls = _walls(list(times))
        for scenario, right in subjects if number % 2 else subjects[::-1]:
            taken = anyio.run(_trial, scenario, right, number)
            if number >= WARMING:
                times[scenario.id].append(_Times(*walls[scenario.id], *taken))
    mean = _mean(times)
    what = f"judge an oracle's trial twice, {SCENARIOS} scenarios"
    new = f"{what}, new texts"
    known = f"{what}, texts read before"
    return [
        _row(new, mean.new, "the first trial of a run", mean.first, "≤ 0.1"),
        _row(known, mean.known, "a later trial of a run", mean.second, "≤ 0.1"),
        _row(new, mean.new, "a later trial of a run", mean.second, ""),
        _row(new, mean.new, "play it", mean.play, ""),
        _row(known, mean.known, "play it", mean.play, ""),
    ]


def _walls(scenarios: list[str]) -> dict[str, tuple[float, float]]:
    """Return the seconds that the first and the second trial of each scenario take in a run of the
    oracle.
    """
    with tempfile.TemporaryDirectory() as folder:
        request = RunRequest(scenarios=scenarios, agents=["oracle"], trials=2)
        run = start(request, Path(folder) / "run")
        run.finish()
        taken = {(t.scenario, t.trial): t.wall_seconds or 0.0 for t in run.results.trials()}
    return {name: (taken[name, 1], taken[name, 2]) for name in scenarios}


def _mean(times: Mapping[str, Sequence[_Times]]) -> _Times:
    """Return the mean over scenarios of each scenario's medians."""
    medians = []
    for rounds in times.values():
        columns = zip(*rounds, strict=True)
        medians.append([statistics.median(column) for column in columns])
    return _Times(*(statistics.fmean(column) for column in zip(*medians, strict=True)))


def _row(what: str, taken: float, against: str, whole: float, aim: str) -> Row:
    return Row(what, ms(taken), f"{against} {ms(whole)}", f"{taken / whole:.3f}", aim)


def _spread(count: int) -> list[str]:
    """Return some scenarios' ids; which ones depends on their hashes alone."""
    return sorted(load.index(), key=lambda name: hash_of([name.encode()]))[:count]


async def _trial(scenario: Scenario, right: Expected, number: int) -> tuple[float, float, float]:
    """Return the seconds to play a trial, and to judge it with new and with known texts."""
    begun = time.perf_counter()
    episode = Episode(scenario)
    async with in_memory(episode.session) as tools:
        oracle = ScriptAgent(Assignment(tools, [], scenario), scenario.scripts.oracle)
        await episode.converse(oracle)
    play = time.perf_counter() - begun
    events = _reworded(episode.session.trace(), number)
    new = _judged(episode, events, right)
    known = _judged(episode, events, right)
    episode.close()
    return play, new, known


def _judged(episode: Episode, events: list[Event], right: Expected) -> float:
    """Return the seconds that judging a trace in two settings takes."""
    begun = time.perf_counter()
    read = record(events, episode.world, right)
    verdicts = [judge(episode.scenario.gates, read, setting) for setting in SETTINGS]
    taken = time.perf_counter() - begun
    assert all(verdict.value != "unknown" for verdict in verdicts), verdicts[0].why
    return taken


def _reworded(events: Sequence[Event], number: int) -> list[Event]:
    """Return a trace in which each sentence of the agent ends in a word that it never had."""
    letters = itertools.product(string.ascii_lowercase, repeat=2)
    word = "z" + "".join(next(itertools.islice(letters, number, None)))
    changed: list[Event] = []
    for event in events:
        if isinstance(event, Message) and event.role == "assistant":
            event = dataclasses.replace(event, text=_SENTENCE_END.sub(f" ({word})", event.text))
        changed.append(event)
    return changed
