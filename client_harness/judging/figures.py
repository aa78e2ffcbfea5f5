"""Figures about readers: agreement, with intervals. All of them are deterministic."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from judge.metrics import wilson

SEED = 1
RESAMPLES = 1000

Pair = tuple[str, str]
"""What is right, and what a reader (or a second labelling) says."""


def rate(hits: int, of: int) -> dict[str, Any]:
    """Return `{hits, of, rate, interval}`; without cases, the last two are None."""
    if not of:
        return {"hits": hits, "of": of, "rate": None, "interval": None}
    edges = [round(edge, 4) for edge in wilson(hits, of)]
    return {"hits": hits, "of": of, "rate": round(hits / of, 4), "interval": edges}


def correlation(pairs: Counter[Pair]) -> float | None:
    """Return Matthews' correlation coefficient for any number of classes, from -1 to 1.

    It is Gorodkin's R_K (Computational Biology and Chemistry 28, 2004). None if it is not defined,
    because all cases are of one class or all answers are the same.
    """
    total = pairs.total()
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    agreeing = 0
    for (truth, answer), count in pairs.items():
        right[truth] += count
        said[answer] += count
        if truth == answer:
            agreeing += count
    crossed = sum(right[name] * said[name] for name in right)
    spread_right = total * total - sum(count * count for count in right.values())
    spread_said = total * total - sum(count * count for count in said.values())
    if not spread_right or not spread_said:
        return None
    return (agreeing * total - crossed) / math.sqrt(spread_right * spread_said)


def correlation_interval(groups: Sequence[Counter[Pair]]) -> list[float] | None:
    """Return a 95% interval of the correlation over all groups, by drawing whole groups.

    Pairs of one group (a scenario) are alike, so they are drawn together. None if the correlation
    is not defined or there are fewer than two groups.
    """
    if len(groups) < 2:
        return None
    chance = random.Random(SEED)
    values = []
    for _ in range(RESAMPLES):
        drawn: Counter[Pair] = Counter()
        for group in chance.choices(groups, k=len(groups)):
            drawn.update(group)
        value = correlation(drawn)
        if value is not None:
            values.append(value)
    if not values:
        return None
    values.sort()
    low = values[int(0.025 * (len(values) - 1))]
    high = values[math.ceil(0.975 * (len(values) - 1))]
    return [round(low, 4), round(high, 4)]


def agreement(pairs: Counter[Pair]) -> dict[str, Any]:
    """Return how well two labellings agree: `{pairs, raw, kappa}`.

    `kappa` is Cohen's (Educational and Psychological Measurement 20, 1960); it is None where chance
    alone makes them agree always.
    """
    total = pairs.total()
    if not total:
        return {"pairs": 0, "raw": None, "kappa": None}
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    same = 0
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
        if one == other:
            same += count
    raw = same / total
    by_chance = sum(first[name] * second[name] for name in first) / (total * total)
    kappa = None if by_chance == 1 else round((raw - by_chance) / (1 - by_chance), 4)
    return {"pairs": total, "raw": round(raw, 4), "kappa": kappa}
