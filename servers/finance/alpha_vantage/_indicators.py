"""Technical indicators of prices, oldest first, by their standard definitions.

Each returns a list as long as its input, with None until there are enough prices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Series = list[float | None]
MACD_FAST = 12
MACD_SLOW = 26
MACD_SIGNAL = 9
STOCH_SMOOTHING = 3
BAND_WIDTH = 2


def sma(values: Sequence[float], period: int) -> Series:
    """Return the mean of the latest `period` values."""
    means: Series = [None] * min(period - 1, len(values))
    for end in range(period, len(values) + 1):
        means.append(math.fsum(values[end - period : end]) / period)
    return means


def ema(values: Sequence[float], period: int) -> Series:
    """Return the exponential moving average.

    It starts as the mean of the first `period` values; each new value weighs 2 / (period + 1).
    """
    return _smoothed(values, period, 2 / (period + 1))


def _smoothed(values: Sequence[float], period: int, weight: float) -> Series:
    if len(values) < period:
        return [None] * len(values)
    level = math.fsum(values[:period]) / period
    levels: Series = [*([None] * (period - 1)), level]
    for value in values[period:]:
        level += (value - level) * weight
        levels.append(level)
    return levels


def _after(missing: int, series: Series) -> Series:
    return [*([None] * missing), *series]


def _known(values: Series) -> list[float]:
    return [v for v in values if v is not None]


def _differences(first: Series, second: Series) -> Series:
    """Return the first series less the second, None where either is missing."""
    pairs = zip(first, second, strict=True)
    return [None if a is None or b is None else a - b for a, b in pairs]


def rsi(values: Sequence[float], period: int) -> Series:
    """Return Wilder's relative strength index, 0 to 100; 50 if no price changed."""
    steps = [b - a for a, b in itertools.pairwise(values)]
    gains = _smoothed([max(s, 0.0) for s in steps], period, 1 / period)
    losses = _smoothed([max(-s, 0.0) for s in steps], period, 1 / period)
    strengths: Series = []
    for gain, loss in zip(gains, losses, strict=True):
        if gain is None or loss is None:
            strengths.append(None)
        elif gain + loss:
            strengths.append(100 * gain / (gain + loss))
        else:
            strengths.append(50.0)
    return _after(min(1, len(values)), strengths)


def macd(values: Sequence[float]) -> tuple[Series, Series, Series]:
    """Return MACD (fast minus slow exponential average), its signal line, and their difference."""
    line = _differences(ema(values, MACD_FAST), ema(values, MACD_SLOW))
    known = _known(line)
    signal = _after(len(line) - len(known), ema(known, MACD_SIGNAL))
    return line, signal, _differences(line, signal)


def bands(values: Sequence[float], period: int) -> tuple[Series, Series, Series]:
    """Return the upper, middle and lower Bollinger bands.

    The middle band is the mean; the others are two (population) standard deviations away from it.
    """
    middle = sma(values, period)
    upper: Series = []
    lower: Series = []
    for n, mean in enumerate(middle):
        if mean is None:
            upper.append(None)
            lower.append(None)
            continue
        window = values[n + 1 - period : n + 1]
        spread = BAND_WIDTH * math.sqrt(math.fsum((v - mean) ** 2 for v in window) / period)
        upper.append(mean + spread)
        lower.append(mean - spread)
    return upper, middle, lower


def stochastic(
    highs: Sequence[float], lows: Sequence[float], closes: Sequence[float], period: int
) -> tuple[Series, Series]:
    """Return slow %K and slow %D.

    Slow %K is the position of the close within the range of `period` bars, averaged over three
    bars; slow %D is its average over three bars.
    """
    raw = []
    for n in range(period, len(closes) + 1):
        top = max(highs[n - period : n])
        bottom = min(lows[n - period : n])
        raw.append(100 * (closes[n - 1] - bottom) / (top - bottom) if top > bottom else 50.0)
    slow_k = _after(len(closes) - len(raw), sma(raw, STOCH_SMOOTHING))
    known = _known(slow_k)
    return slow_k, _after(len(closes) - len(known), sma(known, STOCH_SMOOTHING))


def adx(
    highs: Sequence[float], lows: Sequence[float], closes: Sequence[float], period: int
) -> Series:
    """Return Wilder's average directional index, from 0 (no trend) to 100."""
    ups = []
    downs = []
    ranges = []
    for n in range(1, len(closes)):
        up = highs[n] - highs[n - 1]
        down = lows[n - 1] - lows[n]
        ups.append(up if up > down and up > 0 else 0.0)
        downs.append(down if down > up and down > 0 else 0.0)
        ranges.append(max(highs[n], closes[n - 1]) - min(lows[n], closes[n - 1]))
    smoothed = [_known(_smoothed(s, period, 1 / period)) for s in (ups, downs, ranges)]
    moved = []
    for up, down, full in zip(*smoothed, strict=True):
        moved.append(100 * abs(up - down) / (up + down) if full and up + down else 0.0)
    averages = _smoothed(moved, period, 1 / period)
    return _after(len(closes) - len(averages), averages)
