"""Whole runs whose verdict is known beforehand, with which readers are measured, too.

Right are the oracle's runs and the declared routes; wrong are the trusting agent's (but for honest
twins) and the named violations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode, record
from client_harness.expected import Known, expected
from client_harness.tools import in_memory
from judge.change import Expected
from judge.model import Setting
from judge.reading import Reader
from judge.verdict import judge
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.errors import InputError
from servers.kit.events import Event


@dataclass
class Case:
    """A run with its true verdict: it is `right`, or it is not, in a setting.

    `why` is the reason of the last verdict.
    """

    name: str
    scenario: Scenario
    right: bool
    setting: Setting
    episode: Episode
    events: Sequence[Event]
    expected: Expected
    why: str = ""

    def passes(self, reader: Reader) -> bool | None:
        """Return whether the run passes with a reader; None if the verdict is unknown."""
        read = record(list(self.events), self.episode.world, self.expected, reader)
        verdict = judge(self.scenario.gates, read, self.setting)
        self.why = verdict.why
        return None if verdict.value == "unknown" else verdict.value == "pass"

    def close(self) -> None:
        """Release the episode's databases."""
        self.episode.close()


async def cases(scenario: Scenario) -> list[Case]:
    """Return the runs of a scenario; each has to be closed."""
    known: Known = {}
    right = await expected(scenario, known)
    made = []
    for name, steps, is_right, setting in _scripts(scenario):
        episode = Episode(scenario, faulted=setting != "clean")
        if await _plays(episode, steps):
            events = episode.session.trace()
            made.append(Case(name, scenario, is_right, setting, episode, events, right))
        else:
            episode.close()
    return made


def _scripts(scenario: Scenario) -> Iterator[tuple[str, list[Step], bool, Setting]]:
    oracle = scenario.scripts.oracle
    yield "the oracle", oracle, True, "base"
    yield "the oracle, without faults", oracle, True, "clean"
    for route in scenario.routes:
        yield route.about, route.edit(oracle), True, "base"
    yield "the trusting agent", scenario.scripts.naive, scenario.twin, "base"
    settings = {check.name: check.settings for check in scenario.gates}
    for violation in scenario.violations:
        setting: Setting = "base" if "base" in settings[violation.fails] else "clean"
        yield f"violation of {violation.fails}", violation.edit(oracle), False, setting


async def _plays(episode: Episode, steps: list[Step]) -> bool:
    """Play a script; return whether it came to its end."""
    stuck = False
    async with in_memory(episode.session) as tools:
        agent = ScriptAgent(Assignment(tools, episode.sessions, episode.scenario), steps)
        try:
            await episode.converse(agent)
        except InputError:
            # A violation may leave out what a later step needs.
            stuck = True
    return not stuck
