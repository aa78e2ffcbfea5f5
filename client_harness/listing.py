"""The trials that a report lists one by one: those that are unknown, that failed, or that pass
because the agent is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from client_harness.results import JUDGED, Trial
from client_harness.table import Table

LISTS = {
    "unknown": "Unknown trials (Haywire or a provider failed; not counted in any rate)",
    "agent_errors": "Agent errors (counted as not passed)",
    "failed": "Failed trials",
    "unclear": "Passed, but it is unclear what was said (the agent is believed)",
}
"""The lists of trials at the end of a report, by their keys in its data."""


def listed(
    groups: dict[str, list[Trial]], value: Literal["fail", "error", "unknown"]
) -> list[dict[str, Any]]:
    """Return the trials with a verdict of this value in any setting, each with its reason."""
    found = []
    for name, trials in groups.items():
        for trial in trials:
            settings = [s for s in JUDGED[trial.arm] if trial.verdicts[s]["value"] == value]
            if settings:
                found.append(_entry(name, trial, settings, _why(trial, settings[0])))
    return found


def _entry(agent: str, trial: Trial, settings: Sequence[str], why: str) -> dict[str, Any]:
    return {
        "agent": agent,
        "scenario": trial.scenario,
        "trial": trial.trial,
        "in": list(settings),
        "why": why,
        "trace": trial.trace,
    }


def unclear(groups: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    """Return the trials that pass with an unclear finding, each with its first one."""
    found = []
    for name, trials in groups.items():
        for trial in trials:
            settings = [s for s in JUDGED[trial.arm] if _unclear_in(trial, s)]
            if settings:
                first = _unclear_in(trial, settings[0])[0]
                found.append(_entry(name, trial, settings, f"{first['name']}: {first['why']}"))
    return found


def _unclear_in(trial: Trial, setting: str) -> list[dict[str, Any]]:
    """Return the unclear findings with which a trial passes; runs of earlier versions have none."""
    verdict = trial.verdicts[setting]
    found = []
    for finding in verdict["findings"]:
        if finding["gate"] and finding["applies"] and finding.get("unclear"):
            found.append(finding)
    return found if verdict["value"] == "pass" else []


def _why(trial: Trial, setting: str) -> str:
    """Return the verdict's explanation, preceded by the way the trial ended if that adds something.

    Why an agent stopped explains more than the tasks that it left undone.
    """
    why = trial.verdicts[setting]["why"]
    reason = trial.reason or ""
    if reason in why:
        return why
    return f"{reason}; {why}" if why else reason


def table(listed: list[dict[str, Any]], title: str) -> Table:
    """Return one row per failure, with all the trials in which it occurred."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for trial in listed:
        same = (trial["agent"], trial["scenario"], ", ".join(trial["in"]), trial["why"])
        alike.setdefault(same, []).append(str(trial["trial"]))
    rows = []
    for (agent, scenario, settings, why), numbers in alike.items():
        rows.append([agent, scenario, ", ".join(numbers), settings, why])
    columns = ["agent", "scenario", "trial", "in", "why"]
    return {"title": title, "columns": columns, "rows": rows}
