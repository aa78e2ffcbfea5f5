"""The replies that right runs and edits of a scenario meet, played once for all of its mutants."""

from __future__ import annotations

import contextlib
import functools

import anyio

from client_harness.agents._script import ScriptAgent, playing
from client_harness.authoring.touching import Met, honest, untouched
from client_harness.proof.play import play
from client_harness.proof.taken import Replies
from scenarios.load import load
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.errors import InputError
from tests.mutants.fate import Paths


@functools.cache
def paths_of(name: str) -> Paths:
    """Return what says whether a scenario takes paths that no reply of a shipped one has."""
    replies, met = anyio.run(_met, load(name))

    def paths(made: Scenario) -> list[str]:
        problems = replies.problems(made)
        for fault in made.faults:
            problems += untouched(fault, met)
        return problems

    return paths


async def _met(scenario: Scenario) -> tuple[Replies, list[Met]]:
    replies = Replies()
    met: list[Met] = []
    oracle = scenario.scripts.oracle
    scripts = [oracle, scenario.scripts.naive]
    scripts += [edit.edit(oracle) for edit in (*scenario.routes, *scenario.violations)]
    known = {}
    for steps in scripts:
        for faulted in (True, False):
            with contextlib.suppress(InputError):
                done = await play(
                    scenario, _life(steps), faulted=faulted, known=known, straight=True
                )
                replies.add(done.events)
                met += honest(done.attempts)
    return replies, met


def _life(steps: list[Step]):
    return lambda given: playing(ScriptAgent(given, steps))
