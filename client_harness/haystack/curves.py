"""Curves: how an agent's accuracy on instances falls with distance or with distractors.

Each point of a curve is played with the same instances and nested weaves
(`client_harness run haystack/recall_single --history distance=0..5`), so points differ in nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from client_harness.drawing import Point, points_of
from client_harness.haystack.figures import of_instances
from client_harness.results import JUDGED, Trial
from servers.kit.errors import InputError

Axis = Literal["distance", "distractors"]
AXES: tuple[Axis, ...] = ("distance", "distractors")
UNITS = "instances"


def curves(groups: Mapping[str, Sequence[Trial]], axis: Axis) -> dict[str, list[Point]]:
    """Return agent → points. Raises `InputError` if the trials cannot make a curve.

    Every point needs the same instances; those that are not at every point are left out.
    """
    found = {}
    for agent, trials in groups.items():
        scores = _scores(of_instances(trials), axis)
        if len(scores) > 1:
            found[agent] = points_of(scores)
    if not found:
        raise InputError(
            f"there are no trials of instances at two or more points of {axis}; run, for example, "
            f"`client_harness run haystack/recall_single --history {axis}=0..5`"
        )
    return found


def _scores(trials: Sequence[Trial], axis: Axis) -> dict[int, dict[str, float]]:
    """Return value of the axis → instance → its share of passed trials, for shared instances."""
    passed: dict[int, dict[str, list[bool]]] = {}
    for trial in trials:
        name = trial.story["kind"] + "/" + trial.story["target"]
        value = trial.verdicts[JUDGED[trial.arm][0]]["value"] == "pass"
        passed.setdefault(trial.story[axis], {}).setdefault(name, []).append(value)
    # By default each instance has a distance of its own; only a sweep has all at all points.
    shared = set.intersection(*(set(point) for point in passed.values())) if passed else set()
    scores = {}
    for at in sorted(passed):
        own = {name: passed[at][name] for name in sorted(shared)}
        scores[at] = {name: sum(values) / len(values) for name, values in own.items()}
    return scores if shared else {}
