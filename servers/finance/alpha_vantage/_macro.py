"""Economic data: monthly, quarterly and yearly series.

A figure is known from the moment of its release; later releases may revise it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Literal

from servers.finance import _calendar as calendar
from servers.kit.noise import draws
from servers.kit.zones import local_moment, months_later

FIRST_YEAR = 2015
Frequency = Literal["monthly", "quarterly", "annual"]
_STEP = {"monthly": 1, "quarterly": 3, "annual": 12}
_BEFORE = 0.13
"""The overnight rate in percent before the first day of `_RATES`."""
_RATES = (
    (date(2016, 12, 15), 0.63), (date(2018, 1, 1), 1.38), (date(2019, 1, 1), 2.38),
    (date(2020, 3, 16), 0.08), (date(2022, 3, 17), 0.33), (date(2022, 7, 28), 2.33),
    (date(2023, 2, 2), 4.58), (date(2023, 7, 27), 5.33), (date(2024, 9, 19), 4.83),
    (date(2024, 11, 8), 4.58), (date(2025, 6, 19), 4.33), (date(2025, 10, 30), 4.08),
    (date(2026, 1, 29), 3.83), (date(2026, 4, 30), 3.58), (date(2026, 9, 17), 3.33),
)  # fmt: skip
"""The overnight rate in percent from a day on."""


@dataclass(frozen=True)
class Vintage:
    """A figure as published in one release: the release's name and moment (epoch seconds)."""

    name: str
    at: int
    value: float


@dataclass(frozen=True)
class Indicator:
    """A series; `releases` returns those of a period, oldest first, by the period's first day."""

    title: str
    description: str
    unit: str
    frequency: Frequency
    releases: Callable[[date], tuple[Vintage, ...]]


def periods(indicator: Indicator, today: date) -> list[date]:
    """Return the first days of the periods that have begun by a day, newest first."""
    step = _STEP[indicator.frequency]
    starts = []
    first = date(FIRST_YEAR, 1, 1)
    while first <= today:
        starts.append(first)
        first = months_later(first.replace(day=1), step)
    return starts[::-1]


def known(indicator: Indicator, period: date, at: int) -> list[Vintage]:
    """Return the releases of a period that are out at a moment, oldest first."""
    return [v for v in indicator.releases(period) if v.at <= at]


def _released(first: date, months: int, day: int) -> int:
    """Return 8:30 in New York on the first trading day from a given day of a later month on."""
    month = months_later(first.replace(day=1), months)
    day_out = calendar.on_or_after(month + timedelta(days=day - 1))
    return local_moment(day_out, time(8, 30), calendar.NEW_YORK)


def _months_since(first: date) -> int:
    return (first.year - FIRST_YEAR) * 12 + first.month - 1


def _wave(key: str, months: int, length: int) -> float:
    """Return a number in [-1, 1), interpolated between draws that are `length` months apart."""
    knot, rest = divmod(months, length)
    before = draws(key, knot)[0]
    after = draws(key, knot + 1)[0]
    return before + (after - before) * rest / length


# -- prices ----------------------------------------------------------------------------------------
@functools.cache
def _price_level(first: date) -> float:
    months = _months_since(first)
    trend = 1 + 0.0018 * months + 0.0000065 * months * months
    level = 233.7 * trend * (1 + 0.012 * _wave("prices", months, 18))
    return round(level * (1 + 0.0008 * draws("CPI", str(first))[0]), 3)


def _cpi(first: date) -> tuple[Vintage, ...]:
    return (Vintage("final", _released(first, 1, 12), _price_level(first)),)


def _inflation(first: date) -> tuple[Vintage, ...]:
    """Compare a year's mean price index with the previous year's.

    Both use the figures known at the release of the last month.
    """
    if first.year == FIRST_YEAR:
        return ()
    change = _yearly_prices(first.year) / _yearly_prices(first.year - 1) - 1
    return (Vintage("final", _released(first, 12, 12), round(change * 100, 2)),)


def _yearly_prices(year: int) -> float:
    return sum(_price_level(date(year, month, 1)) for month in range(1, 13))


# -- work, rates -----------------------------------------------------------------------------------
def _unemployment(first: date) -> tuple[Vintage, ...]:
    """Return the first print, on the first Friday after the month, and the revision a month later.

    The revision changes a third of the first prints, by a tenth of a percent.
    """
    months = _months_since(first)
    value = round(4.2 + 0.5 * _wave("work", months, 6), 1)
    luck = draws("work revised", str(first))[0]
    error = 0.0
    if luck > 0.66:
        error = 0.1
    elif luck < -0.66:
        error = -0.1
    early = Vintage("first", _first_friday(first, 1), round(value + error, 1))
    return early, Vintage("revised", _first_friday(first, 2), value)


def _first_friday(first: date, months: int) -> int:
    month = months_later(first.replace(day=1), months)
    friday = month + timedelta(days=(4 - month.weekday()) % 7)
    return local_moment(friday, time(8, 30), calendar.NEW_YORK)


def _overnight(first: date) -> tuple[Vintage, ...]:
    """Return the mean of the month's daily rates, released on the first trading day after it."""
    count = (months_later(first.replace(day=1), 1) - first).days
    mean = sum(_rate(first + timedelta(days=n)) for n in range(count)) / count
    return (Vintage("final", _released(first, 1, 1), round(mean, 2)),)


def _rate(day: date) -> float:
    return next((rate for since, rate in reversed(_RATES) if since <= day), _BEFORE)


# -- output ----------------------------------------------------------------------------------------
def _gdp(first: date) -> tuple[Vintage, ...]:
    """Return three estimates, released in the three months after the quarter."""
    quarters = _months_since(first) // 3
    trend = 1 + 0.0115 * quarters + 0.00009 * quarters * quarters
    value = 18_050 * trend * (1 + 0.004 * draws("GDP", str(first))[0])
    luck = draws("GDP revised", str(first))
    estimates = (
        ("advance", value * (1 + 0.0035 * luck[0])),
        ("second", value * (1 + 0.0012 * luck[1])),
        ("third", value),
    )
    return tuple(
        Vintage(name, _released(first, 3 + n, 26), round(estimate, 1))
        for n, (name, estimate) in enumerate(estimates)
    )


def _retail(first: date) -> tuple[Vintage, ...]:
    months = _months_since(first)
    season = 1.0
    if first.month == 12:
        season = 1.17
    elif first.month in (1, 2):
        season = 0.93
    value = 372_000 * (1 + 0.0042 * months) * season * (1 + 0.008 * draws("retail", str(first))[0])
    early = value * (1 + 0.006 * draws("retail revised", str(first))[0])
    return (
        Vintage("advance", _released(first, 1, 15), float(round(early))),
        Vintage("revised", _released(first, 2, 15), float(round(value))),
    )


INDICATORS: dict[str, Indicator] = {
    "GDP": Indicator(
        "Gross domestic product",
        "Output at current prices and yearly rate, in three estimates.",
        "billions of dollars",
        "quarterly",
        _gdp,
    ),
    "CPI": Indicator(
        "Consumer price index",
        "Prices of all items, not adjusted for the season; never revised.",
        "index",
        "monthly",
        _cpi,
    ),
    "UNEMPLOYMENT": Indicator(
        "Unemployment rate",
        "Share of the labour force without work, out on the first Friday after the month; "
        "revised once.",
        "percent",
        "monthly",
        _unemployment,
    ),
    "FEDERAL_FUNDS_RATE": Indicator(
        "Federal funds rate",
        "Mean of the month's overnight rates.",
        "percent",
        "monthly",
        _overnight,
    ),
    "INFLATION": Indicator(
        "Inflation",
        "Change of the year's mean consumer prices; out with December's index.",
        "percent",
        "annual",
        _inflation,
    ),
    "RETAIL_SALES": Indicator(
        "Retail sales",
        "Sales of shops and restaurants, not adjusted for the season; an advance figure, "
        "revised once.",
        "millions of dollars",
        "monthly",
        _retail,
    ),
}
