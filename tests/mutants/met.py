"""The replies that right runs and edits of a scenario meet, played once for all of its mutants."""

from __future__ import annotations

import contextlib
import functools

import anyio

from client_harness.agents._script import ScriptAgent, playing
from client_harness.expected import Known
from client_harness.proof.hints import lost_paths
from client_harness.proof.play import Played, play
from client_harness.proof.taken import Replies
from scenarios.load import load
from scenarios.model import Scenario
from scenarios.script import Step
from servers.kit.errors import InputError
from tests.mutants.fate import Paths


@functools.cache
def paths_of(name: str) -> Paths:
    """Return what says whether a scenario takes paths that no reply of a shipped one has."""
    replies, plays = anyio.run(_met, load(name))
    return lambda made: replies.problems(made) + anyio.run(lost_paths, made, plays)


async def _met(scenario: Scenario) -> tuple[Replies, list[Played]]:
    replies = Replies()
    plays: list[Played] = []
    oracle = scenario.scripts.oracle
    scripts = [oracle, scenario.scripts.naive]
    scripts += [edit.edit(oracle) for edit in (*scenario.routes, *scenario.violations)]
    known = Known()
    for steps in scripts:
        for faulted in (True, False):
            with contextlib.suppress(InputError):
                done = await play(
                    scenario, _life(steps), faulted=faulted, known=known, straight=True
                )
                replies.add(done.events)
                plays.append(done)
    return replies, plays


def _life(steps: list[Step]):
    return lambda given: playing(ScriptAgent(given, steps))
