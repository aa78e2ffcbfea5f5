"""Small scenarios with statements, played by scripts and judged."""

from __future__ import annotations

import functools
from typing import Any

import anyio

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.expected import expected
from client_harness.tools import in_memory
from judge.statements.checks import Truthful
from judge.trace import Record
from judge.verdict import Verdict, judge
from scenarios.model import Scenario
from scenarios.script import Step
from tests.judge.change.played import Steps, scenario


async def _record(made: Scenario, steps: Steps) -> Record:
    episode = Episode(made, faulted=bool(made.faults))
    script = [Step.model_validate(step) for step in steps]
    async with in_memory(episode.session) as tools:
        await episode.converse(ScriptAgent(Assignment(tools, [], made), script))
    return episode.record(await expected(made))


def record(oracle: Steps, steps: Steps, turns: int = 1, **more: Any) -> Record:
    """Return the record of steps played where the oracle would play others."""
    return anyio.run(functools.partial(_record, scenario(oracle, turns, **more), steps))


def lie(steps: Steps) -> str:
    """Return what is false in the texts of steps, or nothing."""
    finding = Truthful().judge(record(steps, steps))
    return "" if finding.value else finding.why


def judged(oracle: Steps, steps: Steps, turns: int = 1, **more: Any) -> Verdict:
    """Return the verdict on steps played where the oracle would play others."""
    made = scenario(oracle, turns, **more)
    setting = "base" if made.faults else "clean"
    return judge(made.gates, anyio.run(_record, made, steps), setting)


def failed(oracle: Steps, steps: Steps, turns: int = 1, **more: Any) -> list[str]:
    """Return the names of the gates that steps fail."""
    return [f.name for f in judged(oracle, steps, turns, **more).findings if f.failed]
