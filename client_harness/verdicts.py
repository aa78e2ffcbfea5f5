"""The verdicts of a trial, in each setting that its arm can show."""

from __future__ import annotations

from typing import Any

from client_harness.haystack import labels, published
from client_harness.results import JUDGED, Arm, Trial
from client_harness.wild import tasks
from judge.trace import Record
from judge.verdict import Verdict, judge
from scenarios.haystack.instances import Instance
from scenarios.model import Scenario
from scenarios.wild.dialogues import Dialogue


def unjudged(arm: Arm, why: str) -> dict[str, Any]:
    """Return the fields of a trial whose verdicts are unknown."""
    unknown = {"value": "unknown", "score": None, "why": why, "findings": []}
    return {
        "verdicts": {name: dict(unknown) for name in JUDGED[arm]},
        "exposed": True,
        "order_inferred": False,
    }


PASSES_NEVER = {"error": "error", "late": "error", "hung": "fail"}
"""What the verdict of a trial is that ended with a status with which none is passed."""


def _not_passed(trial: Trial, verdict: Verdict) -> dict[str, Any]:
    """Return what takes the place of a verdict."""
    why = trial.reason or "the agent failed"
    if verdict.value == "fail":
        why = f"{why}; {verdict.why}"
    return {"value": PASSES_NEVER[trial.status], "score": 0.0, "why": why}


def judge_into(trial: Trial, scenario: Scenario, recorded: Record) -> Record:
    """Judge a record, put the verdicts into a trial, and return the record."""
    trial.__dict__ |= unjudged(trial.arm, "")
    for name in JUDGED[trial.arm]:
        verdict = judge(scenario.gates, recorded, name)
        data = verdict.as_json()
        trial.verdicts[name] = {part: data[part] for part in ("value", "score", "why", "findings")}
        if verdict.value != "unknown" and trial.status in PASSES_NEVER:
            trial.verdicts[name] |= _not_passed(trial, verdict)
        trial.exposed = trial.exposed and verdict.exposed
        trial.order_inferred = trial.order_inferred or verdict.order_inferred
    if isinstance(scenario, Instance) and _is_published(trial):
        _judge_published(trial, scenario, recorded)
    elif isinstance(scenario, Instance):
        passed = trial.verdicts[JUDGED[trial.arm][0]]["value"] == "pass"
        trial.story = dict(labels.story(scenario, recorded, passed=passed))
        if trial.is_agent_error:
            trial.story["label"] = None  # the labels say why answers are wrong
    elif isinstance(scenario, Dialogue):
        first = judge(scenario.gates, recorded, JUDGED[trial.arm][0])
        trial.story = dict(tasks.story(scenario, recorded, first))
        if trial.is_agent_error:
            _none_right_after(trial.story["tasks"], recorded)
    return recorded


def _none_right_after(made: list[Any], recorded: Record) -> None:
    """Count the task in which an agent failed, and those that never came, as not right."""
    last = recorded.last_turn
    for task in made:
        if task["position"] >= last:
            task["right"] = False


def _is_published(trial: Trial) -> bool:
    return trial.fingerprints.get("protocol", "").startswith("published")


def _judge_published(trial: Trial, scenario: Instance, recorded: Record) -> None:
    """Put the verdicts of the published protocol in the place of those that are known."""
    story, verdict = published.judged(scenario, recorded, ended=not trial.is_agent_error)
    trial.story = dict(story)
    for name, own in trial.verdicts.items():
        if own["value"] != "unknown" and trial.status not in PASSES_NEVER:
            trial.verdicts[name] = dict(verdict)
