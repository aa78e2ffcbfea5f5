"""Figures over the tasks of dialogues, as WildToolBench (Yu et al. 2026) gives them, and more.

Task accuracy is over tasks, session accuracy over dialogues: all of its tasks right in one trial.
The optimal path rate is over parallel and mixed tasks whose steps are known, the accomplish
progress rate over sequential and mixed ones. Earlier turns are the agent's own, or the oracle's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from client_harness.haystack import figures as instances
from client_harness.results import Trial
from client_harness.table import Table, share, shown_rate
from client_harness.wild.labels import LABELS
from judge.metrics import mean_pass_hat_k, wilson
from scenarios.wild.stories import TYPES
from servers.kit.errors import UnknownName

By = Literal[
    "type",
    "task_class",
    "hidden",
    "distance",
    "switches",
    "position",
    "switch",
    "service",
    "person",
    "label",
]
BY: tuple[By, ...] = get_args(By)
OPTIMAL = ("parallel", "mixed")
PROGRESS = ("sequential", "mixed")
NOTHING = "nothing"


def checked(by: str | None) -> instances.By | By | None:
    """Return the property of instances or tasks that a text names. Raises `UnknownName`."""
    for known in (*instances.BY, *BY):
        if by == known:
            return known
    if by is not None:
        raise UnknownName("property", by, dict.fromkeys([*instances.BY, *BY]), "--by")
    return None


class Played(NamedTuple):
    """A task as it was played in a trial."""

    trial: Trial
    task: Mapping[str, Any]


def of_dialogues(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials of dialogues that have a verdict."""
    known = [trial for trial in trials if not trial.unknown]
    return [trial for trial in known if "tasks" in trial.story]


def tasks_of(trials: Iterable[Trial]) -> list[Played]:
    """Return the tasks of all trials of dialogues."""
    played = []
    for trial in of_dialogues(trials):
        played += [Played(trial, task) for task in trial.story["tasks"]]
    return played


def summary(groups: Mapping[str, Sequence[Trial]]) -> list[dict[str, Any]]:
    """Return what each agent did in dialogues, for agents that played some.

    Keys: `agent`, `prefix` (own or gold), `tasks`, `sessions` (rates `{passed, of, rate,
    interval}`), `types` (type → rate), `optimal`, `progress`, `optimal_unknown` (their number),
    `published` (`{optimal, progress}`), `labels`, `pass_hat_k` of tasks.
    """
    found = []
    for agent, trials in groups.items():
        played = tasks_of(trials)
        if not played:
            continue
        types = {}
        for kind in TYPES:
            part = [one for one in played if one.task["type"] == kind]
            if part:
                types[kind] = rate(part)
        several = [one.task for one in played if one.task["type"] in OPTIMAL]
        chained = [one.task for one in played if one.task["type"] in PROGRESS]
        known = [task for task in several if task["optimal"] is not None]
        labels = Counter(one.task["label"] for one in played if one.task["label"])
        found.append(
            {
                "agent": agent,
                "prefix": "own" if played[0].trial.story["gold"] is None else "gold",
                "tasks": rate(played),
                "sessions": _sessions(trials),
                "types": types,
                "optimal": _rate([bool(task["optimal"]) for task in known]),
                "optimal_unknown": len(several) - len(known),
                "progress": _mean([task["progress"] for task in chained]),
                "published": {
                    "optimal": _mean([task["published"]["optimal"] for task in several]),
                    "progress": _mean([task["published"]["progress"] for task in chained]),
                },
                "labels": {label: labels[label] for label in LABELS if labels[label]},
                "pass_hat_k": _pass_hat(played),
            }
        )
    return found


def rate(played: Sequence[Played]) -> dict[str, Any]:
    """Return how many tasks are right: `{passed, of, rate, interval}`."""
    return _rate([bool(one.task["right"]) for one in played])


def _rate(right: Sequence[bool]) -> dict[str, Any]:
    passed = len([one for one in right if one])
    return {
        "of": len(right),
        "passed": passed,
        "rate": passed / len(right) if right else None,
        "interval": [round(edge, 4) for edge in wilson(passed, len(right))],
    }


def _mean(values: Iterable[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sessions(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return how many dialogues had all of their tasks right in one trial.

    Tasks that were played alone belong together if they are of one dialogue, trial and arm.
    """
    whole: dict[tuple[str, int, str], list[bool]] = {}
    for trial, task in tasks_of(trials):
        key = (trial.story["dialogue"], trial.trial, trial.arm)
        whole.setdefault(key, []).append(bool(task["right"]))
    return _rate([all(right) for right in whole.values()])


def _pass_hat(played: Sequence[Played]) -> dict[str, float]:
    """Return k → pass^k of tasks, for as many trials as each task has at least."""
    counts: dict[str, tuple[int, int]] = {}
    for trial, task in played:
        key = f"{trial.story['dialogue']}/{task['name']}"
        right, of = counts.get(key, (0, 0))
        counts[key] = (right + int(task["right"]), of + 1)
    most = min(of for _, of in counts.values())
    return {str(k): mean_pass_hat_k(counts, k) for k in range(2, most + 1)}


def grouped(groups: Mapping[str, Sequence[Trial]], by: By) -> list[dict[str, Any]]:
    """Return rows `{agent, by, value, …}` with the rate of an agent's tasks of each value."""
    rows = []
    for agent, trials in groups.items():
        parts: dict[Any, list[Played]] = {}
        for one in tasks_of(trials):
            for value in _values(one, by):
                parts.setdefault(value, []).append(one)
        for value in sorted(parts, key=lambda value: (isinstance(value, str), value)):
            rows.append({"agent": agent, "by": by, "value": value, **rate(parts[value])})
    return rows


def _values(one: Played, by: By) -> list[Any]:
    task = one.task
    if by == "hidden":
        return task["hidden"] or [NOTHING]
    if by == "service":
        return task["services"] or [NOTHING]
    if by == "switch":
        return [f"{task['previous'] or NOTHING} → {task['task_class']}"]
    if by == "person":
        return [one.trial.story["person"]]
    if by == "label":
        return [task["label"] or "right"]
    return [task[by]]


# -- tables ----------------------------------------------------------------------------------------
def tables(data: Mapping[str, Any]) -> list[Table]:
    """Return the tables of a report's `wild` and `by` parts."""
    agents = data["wild"]
    if not agents:
        return []
    columns = ["", *(f"{agent['agent']} ({agent['prefix']})" for agent in agents)]
    rows = [
        ["tasks", *(shown_rate(agent["tasks"]) for agent in agents)],
        ["sessions", *(shown_rate(agent["sessions"]) for agent in agents)],
    ]
    for kind in TYPES:
        cells = [shown_rate(agent["types"].get(kind)) for agent in agents]
        if any(cell != "–" for cell in cells):
            rows.append([kind, *cells])
    rows.append(["optimal path", *(_optimal(agent) for agent in agents)])
    rows.append(["progress", *(share(agent["progress"]) for agent in agents)])
    for key in ("optimal", "progress"):
        cells = [share(agent["published"][key]) for agent in agents]
        rows.append([f"{key}, as published", *cells])
    title = "Tasks of dialogues that are right"
    shown: list[Table] = [{"title": title, "columns": columns, "rows": rows}]
    labels = []
    for label in LABELS:
        counts = [str(agent["labels"].get(label, 0)) for agent in agents]
        if any(count != "0" for count in counts):
            labels.append([label, *counts])
    if labels:
        title = "Why tasks are wrong"
        shown.append({"title": title, "columns": ["label", *columns[1:]], "rows": labels})
    parts = [row for row in data["by"] if "accuracy" not in row]
    if parts:
        by = parts[0]["by"].replace("_", " ")
        cells = [[str(row["value"]), row["agent"], shown_rate(row)] for row in parts]
        shown.append({"title": f"Tasks by {by}", "columns": [by, "agent", "right"], "rows": cells})
    return shown


def _optimal(agent: Mapping[str, Any]) -> str:
    text = shown_rate(agent["optimal"])
    unknown = agent["optimal_unknown"]
    return f"{text}, {unknown} n/a" if unknown else text
