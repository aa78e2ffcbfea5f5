"""What judging costs: an oracle's trial judged in base and relaxed, against playing that trial.

The texts of each record are new, so that nothing that readers keep of earlier texts helps.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import statistics
import string
import time
from collections.abc import Sequence

from benchmarks.timing import Row, ms
from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode, record
from client_harness.expected import expected
from client_harness.tools import in_memory
from judge.change import Expected
from judge.verdict import judge
from scenarios import load
from scenarios.model import Scenario
from servers.kit.events import Event, Message
from servers.kit.files import hash_of

SCENARIOS = 25
ROUNDS = 9
_SENTENCE_END = re.compile(r"(?<=\w)(?=[.!?](?:\s|$))")


async def measure() -> list[Row]:
    """Return the row for judging."""
    played: dict[str, list[float]] = {}
    judged: dict[str, list[float]] = {}
    subjects = []
    for name in _spread(SCENARIOS):
        scenario = load.load(name)
        subjects.append((scenario, await expected(scenario)))
    for number in range(ROUNDS + 2):
        for scenario, right in subjects if number % 2 else subjects[::-1]:
            play, verdict = await _trial(scenario, right, number)
            if number >= 2:  # the first rounds warm up
                played.setdefault(scenario.id, []).append(play)
                judged.setdefault(scenario.id, []).append(verdict)
    play = sum(statistics.median(times) for times in played.values()) / SCENARIOS
    verdict = sum(statistics.median(times) for times in judged.values()) / SCENARIOS
    return [
        Row(
            f"judge an oracle's trial twice, new texts, {SCENARIOS} scenarios",
            ms(verdict),
            f"play it {ms(play)}",
            f"{verdict / play:.3f}",
            "≤ 0.1",
        )
    ]


def _spread(count: int) -> list[str]:
    """Return some scenarios' ids; which ones depends on their hashes alone."""
    return sorted(load.index(), key=lambda name: hash_of([name.encode()]))[:count]


async def _trial(scenario: Scenario, right: Expected, number: int) -> tuple[float, float]:
    """Return the seconds that one trial takes to play and to judge."""
    begun = time.perf_counter()
    episode = Episode(scenario)
    async with in_memory(episode.session) as tools:
        oracle = ScriptAgent(Assignment(tools, [], scenario), scenario.scripts.oracle)
        await episode.converse(oracle)
    play = time.perf_counter() - begun
    events = _reworded(episode.session.trace(), number)
    begun = time.perf_counter()
    read = record(events, episode.world, right)
    verdicts = [judge(scenario.gates, read, setting) for setting in ("base", "relaxed")]
    taken = time.perf_counter() - begun
    episode.close()
    assert all(verdict.value != "unknown" for verdict in verdicts), verdicts[0].why
    return play, taken


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
