"""Scores as the scorer that was published with WildToolBench (Yu et al. 2026) gives them.

They are for comparison with its tables only, and differ from ours on purpose. A task ends with its
first step that is not one of the graph's; steps up to and including that one count as progress over
the number of needed calls, so a whole task with two calls in one step has less than 1, and a wrong
first call more than 0. Calls of one step have to come in the order in which the graph names them, a
number has to be written as the graph writes it (1 is not 1.0), any call in a chat is wrong, and so
is a read-back after a write.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.graph.task import TaskNode, steps_of
from judge.pattern import CallPattern
from servers.kit.events import Attempt


@dataclass(frozen=True)
class Published:
    """What the published scorer says: whether the calls are right and optimal, and the progress."""

    right: bool
    optimal: bool
    progress: float


def published(nodes: Mapping[str, TaskNode], own: Sequence[Attempt]) -> Published:
    """Return the published scores of the calls that an agent made in a task.

    Lookups are no calls, so they are left out of the graph.
    """
    required = {name: node for name, node in nodes.items() if not node.optional}
    left = {name: node for name, node in required.items() if node.calls}
    count = len(left)
    if not count:
        return Published(not own, not own, 1.0 if not own else 0.0)
    done: set[str] = set()
    taken = 0
    steps, _ = steps_of(own)
    in_steps = itertools.groupby(zip(steps, own, strict=True), key=lambda pair: pair[0])
    shortest = True
    for _, pairs in in_steps:
        calls = [attempt for _, attempt in pairs]
        ready = [name for name in left if _is_ready(left[name], left, done)]
        met = _in_order(calls, [(name, left[name]) for name in ready])
        taken += 1
        if met is None:
            return Published(False, False, taken / count)
        shortest = shortest and len(met) == len(ready)
        done |= set(met)
        for name in met:
            del left[name]
    return Published(not left, not left and shortest, taken / count)


def _is_ready(node: TaskNode, left: Mapping[str, TaskNode], done: set[str]) -> bool:
    needs = [*node.needs, *([node.each.of] if node.each is not None else [])]
    return all(need in done or need not in left for need in needs)


def _in_order(calls: Sequence[Attempt], ready: Sequence[tuple[str, TaskNode]]) -> list[str] | None:
    """Return the nodes that a step's calls stand for, one by one and in order, or None."""
    met = []
    place = 0
    for call in calls:
        while place < len(ready) and not _equal(call, ready[place][1]):
            place += 1
        if place == len(ready):
            return None
        met.append(ready[place][0])
        place += 1
    return met


def _equal(call: Attempt, node: TaskNode) -> bool:
    if call.is_error:
        return False
    return any(p.matches(call) and _as_written(p, call.args) for p in node.calls)


def _as_written(pattern: CallPattern, args: Mapping[str, Any]) -> bool:
    """Return whether plain numbers are written as the graph writes them."""
    for path, wanted in (pattern.where or {}).items():
        number = isinstance(wanted, int | float)
        if number and path in args and json.dumps(args[path]) != json.dumps(wanted):
            return False
    return True
