"""Statistics over many trials: intervals, pass^k, paired differences and needless calls.

All of them are deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from servers.kit.errors import InputError

Z95 = 1.959963984540054
"""The normal quantile of a 95% interval."""


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a rate; `(0, 1)` without trials.

    The method is that of E. B. Wilson (JASA 22, 1927).
    """
    if not 0 <= successes <= trials:
        raise InputError(f"{successes} successes in {trials} trials is not a rate")
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return low, high


def pass_hat_k(passed: int, trials: int, k: int) -> float:
    """Return the chance that k trials of one scenario all pass.

    It is the unbiased estimate C(c,k)/C(n,k) of Yao et al. (tau-bench, 2024).
    """
    if not 1 <= k <= trials or not 0 <= passed <= trials:
        raise InputError(
            f"pass^{k} needs at least {k} trials; there are {trials} ({passed} passed)"
        )
    return math.comb(passed, k) / math.comb(trials, k)


def mean_pass_hat_k(scenarios: Mapping[str, tuple[int, int]], k: int) -> float:
    """Return pass^k averaged over scenarios, given `(passed, trials)` for each."""
    if not scenarios:
        raise InputError("pass^k needs at least one scenario")
    chances = [pass_hat_k(passed, trials, k) for passed, trials in scenarios.values()]
    return sum(chances) / len(chances)


@dataclass(frozen=True, slots=True)
class Paired:
    """A difference (first minus second) over the same scenarios, with its interval.

    `better` and `worse` count the scenarios in which the first did better and worse; `p` is the
    two-sided p-value of the exact McNemar (sign) test.
    """

    scenarios: int
    difference: float
    low: float
    high: float
    better: int
    worse: int
    p: float


def paired(first: Mapping[str, float], second: Mapping[str, float], z: float = Z95) -> Paired:
    """Compare two agents on the scenarios that both ran, given a rate or score (0 to 1) for each.

    The interval is the adjusted Wald interval of Bonett and Price (J. Educ. Behav. Stat. 37, 2012),
    which adds one pair each way and so keeps a width where no pair differs. The test is McNemar's
    exact test (Psychometrika 12, 1947). Raises `InputError` without a common scenario.
    """
    common = sorted(first.keys() & second.keys())
    if not common:
        raise InputError("there is no scenario that both ran")
    gaps = [first[s] - second[s] for s in common]
    better = sum(g > 0 for g in gaps)
    worse = sum(g < 0 for g in gaps)
    count = len(gaps) + 2
    mean = sum(gaps) / count
    squares = sum(gap * gap for gap in gaps) + 2
    variance = max(0.0, squares / count - mean * mean)
    half = z * math.sqrt(variance / count)
    return Paired(
        scenarios=len(gaps),
        difference=sum(gaps) / len(gaps),
        low=max(-1.0, mean - half),
        high=min(1.0, mean + half),
        better=better,
        worse=worse,
        p=_sign_test(better, worse),
    )


def _sign_test(better: int, worse: int) -> float:
    total = better + worse
    tail = sum(math.comb(total, i) for i in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / 2**total)


def needless_calls(made: Mapping[str, int], needed: Mapping[str, int]) -> int:
    """Return how many calls exceed the oracle's, tool by tool, given the counts by tool."""
    return sum(max(0, count - needed.get(tool, 0)) for tool, count in made.items())
