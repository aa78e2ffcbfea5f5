"""Whole runs whose verdict is known beforehand, with which readers are measured, too.

Right are the oracle's runs, also in the plain words of the statements, and the declared routes.
Wrong are the trusting agent's (but for honest twins), the named violations, and the oracle's with a
mutated text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
from servers.kit.events import Event, Message
from servers.kit.files import hash_of

MOST_MUTANTS = 8
"""How many mutated texts of one scenario are read; which ones depends on their names."""


class CaseVerdict(NamedTuple):
    """Whether a run passes, or None if that is unknown, why, and whether it passes only because it
    is unclear what was said.
    """

    passes: bool | None
    why: str
    unclear: bool = False


@dataclass(frozen=True)
class Case:
    """A run with its true verdict: it is `right`, or it is not, in a setting."""

    name: str
    scenario: Scenario
    right: bool
    setting: Setting
    episode: Episode
    events: Sequence[Event]
    expected: Expected

    def judged(self, reader: Reader) -> CaseVerdict:
        """Return the verdict on the run with a reader."""
        read = record(list(self.events), self.episode.world, self.expected, reader)
        verdict = judge(self.scenario.gates, read, self.setting)
        passes = None if verdict.value == "unknown" else verdict.value == "pass"
        return CaseVerdict(passes, verdict.why, bool(verdict.unclear))

    def close(self) -> None:
        """Release the episode's databases, once or again."""
        self.episode.close()


async def cases(scenario: Scenario) -> list[Case]:
    """Return the runs of a scenario; each has to be closed. Several share one episode.

    Raises `InputError` if the oracle's script cannot be played.
    """
    known = Known()
    right = await expected(scenario, known)
    made = []
    for name, steps, is_right, setting in _scripts(scenario):
        episode = Episode(scenario, faulted=setting != "clean")
        if await _plays(episode, steps):
            events = episode.session.trace()
            made.append(Case(name, scenario, is_right, setting, episode, events, right))
        else:
            episode.close()
            if not made:
                raise InputError(f"{scenario.id}: the oracle's script cannot be played")
    return [*made, *_mutated(made[0])]


def _mutated(oracle: Case) -> Iterator[Case]:
    """Yield the oracle's run with other texts, which share its episode."""
    # The proof imports much, and only this function needs it.
    from client_harness.proof.texts import Texts

    read = record(list(oracle.events), oracle.episode.world, oracle.expected)
    texts = Texts(oracle.scenario, read)
    mutants = sorted(texts.mutants(), key=lambda mutant: hash_of([mutant.name.encode()]))
    chosen = [(mutant, False) for mutant in mutants[:MOST_MUTANTS]]
    for mutant, is_right in [*chosen, *((plain, True) for plain in texts.plain())]:
        events = []
        for event in oracle.events:
            own = isinstance(event, Message) and event.seq == mutant.seq
            events.append(dataclasses.replace(event, text=mutant.text) if own else event)
        yield dataclasses.replace(oracle, name=mutant.name, right=is_right, events=events)


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
