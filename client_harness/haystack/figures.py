"""Figures over the trials of instances: by kind and by whatever else was varied.

Call accuracy is that of ToolHaystack: right calls over needed calls within a kind, then the mean of
the six kinds. Simple kinds are single recall, explicit shift and easy missing context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from client_harness.haystack.labels import PUBLISHED
from client_harness.results import JUDGED, Trial
from client_harness.table import Table, share, shown_rate
from judge.metrics import wilson
from scenarios.haystack.targets import KINDS

By = Literal[
    "kind",
    "distance",
    "distractors",
    "sessions",
    "near",
    "wording",
    "category",
    "person",
    "by",
    "shift",
    "value",
    "exposure",
    "delivery",
    "reasoning",
    "label",
]
BY: tuple[By, ...] = get_args(By)
OF_RUNS = ("exposure", "delivery", "reasoning")
"""What all trials of a run have in common, by the part of the fingerprints that says it."""
SIMPLE = ("recall_single", "shift_explicit", "missing_easy")


def of_instances(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials of instances that have a verdict."""
    known = [trial for trial in trials if not trial.unknown]
    return [trial for trial in known if "kind" in trial.story]


def grouped(groups: Mapping[str, Sequence[Trial]], by: By) -> list[dict[str, Any]]:
    """Return rows `{agent, by, value, …}` with the figures of an agent's trials of each value."""
    rows = []
    for agent, trials in groups.items():
        parts: dict[Any, list[Trial]] = {}
        for trial in of_instances(trials):
            parts.setdefault(_value(trial, by), []).append(trial)
        for value in sorted(parts, key=_order):
            rows.append({"agent": agent, "by": by, "value": value, **figures(parts[value])})
    return rows


def _value(trial: Trial, by: By) -> Any:
    if by in OF_RUNS:
        return trial.fingerprints.get(by, "unknown").partition(" ")[0]
    value = trial.story.get(by)
    if by == "by":
        return " and ".join(dict.fromkeys(value or ["nobody"]))
    return "none" if value is None else value


def _order(value: Any) -> tuple[int, Any]:
    if isinstance(value, int):
        return 0, value
    return 1, f"{KINDS.index(value):02}" if value in KINDS else str(value)


def figures(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return `{trials, passed, rate, interval, right, needed, accuracy}` of some trials."""
    passed = sum(_passed(trial) for trial in trials)
    right = sum(trial.story["right"] for trial in trials)
    needed = sum(trial.story["needed"] for trial in trials)
    return {
        "of": len(trials),
        "passed": passed,
        "rate": passed / len(trials) if trials else None,
        "interval": [round(edge, 4) for edge in wilson(passed, len(trials))],
        "right": right,
        "needed": needed,
        "accuracy": right / needed if needed else None,
    }


def _passed(trial: Trial) -> bool:
    return trial.verdicts[JUDGED[trial.arm][0]]["value"] == "pass"


def summary(groups: Mapping[str, Sequence[Trial]]) -> list[dict[str, Any]]:
    """Return what each agent did on instances, for agents that played some.

    Keys: `agent`, `kinds` (kind → figures), `accuracy` (the mean of the kinds), `simple`,
    `complex`, `difference` (of these two), `abstained` and `completed` (counts of `missing`
    trials), `labels`, `published`.
    """
    found = []
    for agent, trials in groups.items():
        own = of_instances(trials)
        if not own:
            continue
        kinds: dict[str, dict[str, Any]] = {}
        for kind in KINDS:
            part = [trial for trial in own if trial.story["kind"] == kind]
            if part:
                kinds[kind] = figures(part)
        missing = [trial for trial in own if trial.story["abstained"] is not None]
        labels = Counter(trial.story["label"] for trial in own if trial.story["label"])
        published: Counter[str] = Counter()
        for label, count in labels.items():
            published[PUBLISHED[label]] += count
        simple = _mean(kinds, SIMPLE)
        complex_ = _mean(kinds, [kind for kind in KINDS if kind not in SIMPLE])
        whole = simple is not None and complex_ is not None
        found.append(
            {
                "agent": agent,
                "kinds": kinds,
                "accuracy": _mean(kinds, KINDS),
                "simple": simple,
                "complex": complex_,
                "difference": simple - complex_ if whole else None,
                "missing": len(missing),
                "abstained": sum(bool(trial.story["abstained"]) for trial in missing),
                "completed": sum(bool(trial.story["completed"]) for trial in missing),
                "labels": dict(labels.most_common()),
                "published": dict(published.most_common()),
            }
        )
    return found


def _mean(kinds: Mapping[str, dict[str, Any]], wanted: Iterable[str]) -> float | None:
    """Return the mean call accuracy of kinds, or None unless all of them were played."""
    shares = [kinds[kind]["accuracy"] for kind in wanted if kind in kinds]
    whole = len(shares) == len(list(wanted)) and None not in shares
    return sum(shares) / len(shares) if shares and whole else None


# -- tables ----------------------------------------------------------------------------------------
def tables(data: Mapping[str, Any]) -> list[Table]:
    """Return the tables of a report's `haystack` and `by` parts."""
    shown: list[Table] = []
    if data["haystack"]:
        shown += [_by_kind(data["haystack"]), _by_label(data["haystack"])]
    rows = []
    for row in data["by"]:
        if "accuracy" in row:
            rows.append([str(row["value"]), row["agent"], shown_rate(row), share(row["accuracy"])])
    if rows:
        by = data["by"][0]["by"]
        columns = [by, "agent", "passed", "right calls"]
        shown.append({"title": f"Instances by {by}", "columns": columns, "rows": rows})
    return [table for table in shown if table["rows"]]


def _by_kind(agents: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for kind in KINDS:
        row = [kind.replace("_", " ")]
        for agent in agents:
            part = agent["kinds"].get(kind)
            row.append(f"{shown_rate(part)}, {share(part['accuracy'])}" if part else "–")
        rows.append(row)
    means = (("accuracy", "mean of right calls"), ("simple", "simple"), ("complex", "complex"))
    for key, title in means:
        rows.append([title, *(share(agent[key]) for agent in agents)])
    rows.append(["simple − complex", *(_points(agent["difference"]) for agent in agents)])
    for key in ("abstained", "completed"):
        cells = [
            f"{agent[key]}/{agent['missing']}" if agent["missing"] else "–" for agent in agents
        ]
        rows.append([f"missing: {key}", *cells])
    columns = ["kind", *(agent["agent"] for agent in agents)]
    return {"title": "Instances passed, and right calls, by kind", "columns": columns, "rows": rows}


def _by_label(agents: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for label, published in PUBLISHED.items():
        counts = [str(agent["labels"].get(label, 0)) for agent in agents]
        if any(count != "0" for count in counts):
            rows.append([label, published, *counts])
    columns = ["label", "in ToolHaystack", *(agent["agent"] for agent in agents)]
    return {"title": "Why instances failed", "columns": columns, "rows": rows}


def _points(difference: float | None) -> str:
    return "–" if difference is None else f"{100 * difference:+.0f} points"
