"""How a run ended, for people and for the scripts that started it.

The exit status is the first of these that holds: 2 if the person who started the run made a
mistake, 3 if some trials are unknown or were not run, 1 if an agent is below `--fail-under`, 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_harness.results import SETTINGS

PASSED = 0
BELOW = 1
MISTAKE = 2
INCOMPLETE = 3


@dataclass(frozen=True)
class Ending:
    """The exit status of a run, and what explains it, a line each."""

    status: int
    lines: list[str]


def ending(data: Mapping[str, Any], home: Path, stopped: str, least: float | None) -> Ending:
    """Return how a run ended whose report is `data`.

    `stopped` says why the run stopped before its time, and is empty if it did not. `least` is the
    rate that each agent must reach in each setting that was run.
    """
    lines = [f"stopped: {stopped}"] if stopped else []
    unknown = sum(agent["unknown"] for agent in data["agents"])
    not_run = sum(agent["not_run"] for agent in data["agents"])
    counts = []
    if unknown:
        counts.append(f"{_trials(unknown)} unknown")
    if not_run:
        counts.append(f"{_trials(not_run)} not run")
    if counts:
        again = f"`client_harness resume {home}`"
        lines.append(f"{' and '.join(counts)}; {again} goes on with them")
    below = _below(data, least)
    if lines:
        return Ending(INCOMPLETE, lines + below)
    return Ending(BELOW, below) if below else Ending(PASSED, [])


def _below(data: Mapping[str, Any], least: float | None) -> list[str]:
    if least is None:
        return []
    lines = []
    for agent in data["agents"]:
        for setting in SETTINGS:
            rate = agent[setting]
            if rate["of"] and rate["passed"] < least * rate["of"]:
                share = f"{rate['passed']} of {rate['of']}"
                lines.append(
                    f"below --fail-under {least:g}: {agent['agent']} passed {share} in {setting}"
                )
    return lines


def _trials(count: int) -> str:
    return f"{count} trial is" if count == 1 else f"{count} trials are"
