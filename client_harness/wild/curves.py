"""Curves: how an agent's accuracy on tasks falls with distance, switches or position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from client_harness.drawing import Point, points_of
from client_harness.results import Trial
from client_harness.wild.figures import tasks_of
from servers.kit.errors import InputError

Axis = Literal["distance", "switches", "position"]
UNITS = "tasks"


def curves(groups: Mapping[str, Sequence[Trial]], axis: Axis) -> dict[str, list[Point]]:
    """Return agent → points. Raises `InputError` if the trials cannot make a curve.

    The tasks at a point are others than those at the next, because a task has one place in its
    dialogue.
    """
    found = {}
    for agent, trials in groups.items():
        right: dict[int, dict[str, list[bool]]] = {}
        for trial, task in tasks_of(trials):
            name = f"{trial.story['dialogue']}/{task['name']}"
            right.setdefault(task[axis], {}).setdefault(name, []).append(task["right"])
        scores = {}
        for at in sorted(right):
            scores[at] = {name: sum(all_) / len(all_) for name, all_ in right[at].items()}
        if len(scores) > 1:
            found[agent] = points_of(scores)
    if not found:
        raise InputError(
            f"there are no tasks of dialogues at two or more points of {axis}; run, for example, "
            "`client_harness run wild`"
        )
    return found
