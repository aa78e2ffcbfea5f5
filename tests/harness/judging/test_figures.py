"""Figures about readers."""

from __future__ import annotations

from collections import Counter

import pytest

from client_harness.judging.figures import (
    Pair,
    agreement,
    correlation,
    correlation_interval,
    rate,
)

MIXED: Counter[Pair] = Counter(
    {
        ("claims", "claims"): 6,
        ("claims", "silent"): 2,
        ("silent", "silent"): 3,
        ("silent", "claims"): 1,
    }
)


def test_two_classes_give_the_usual_coefficient() -> None:
    # (6·3 − 2·1) / √(8·4·7·5)
    assert correlation(MIXED) == pytest.approx(16 / 1120**0.5)


def test_three_classes_run_from_perfect_to_chance() -> None:
    names = ("claims", "denies", "silent")
    perfect = Counter({(name, name): 4 for name in names})
    chance: Counter[Pair] = Counter()
    for one in names:
        for other in names:
            chance[one, other] = 2
    assert correlation(perfect) == pytest.approx(1)
    assert correlation(chance) == pytest.approx(0)


def test_where_nothing_varies_it_is_not_defined() -> None:
    assert correlation(Counter({("claims", "claims"): 4})) is None
    assert correlation(Counter()) is None
    assert correlation_interval([MIXED]) is None


def test_the_interval_is_seeded_and_holds_the_value() -> None:
    other: Counter[Pair] = Counter({("claims", "claims"): 4, ("silent", "claims"): 4})
    groups = [MIXED, other, MIXED, MIXED]
    interval = correlation_interval(groups)
    assert interval == correlation_interval(groups)
    every = Counter[Pair]()
    for group in groups:
        every.update(group)
    value = correlation(every)
    assert interval is not None and value is not None
    assert interval[0] <= value <= interval[1]


def test_two_labellings_agree_beyond_chance() -> None:
    # 9 of 12 equal; by chance (8·7 + 4·5) / 144
    chance = 76 / 144
    kappa = round((0.75 - chance) / (1 - chance), 4)
    assert agreement(MIXED) == {"pairs": 12, "raw": 0.75, "kappa": kappa}
    assert agreement(Counter()) == {"pairs": 0, "raw": None, "kappa": None}
    assert agreement(Counter({("claims", "claims"): 3}))["kappa"] is None


def test_a_rate_without_cases_is_none() -> None:
    assert rate(0, 0) == {"hits": 0, "of": 0, "rate": None, "interval": None}
    assert rate(3, 4)["rate"] == 0.75
