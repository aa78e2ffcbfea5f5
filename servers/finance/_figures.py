"""The figures of a security besides its price: dividends, earnings, valuation and ratings.

All of them are functions of the row and the moment.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Literal

from servers.finance import _calendar as calendar
from servers.finance._market import ANCHOR, PIP, price
from servers.kit.noise import draws
from servers.kit.types import Row
from servers.kit.zones import local_day, local_moment


@dataclass(frozen=True)
class Dividend:
    """One payment per share; `amount` is in 1/10000 dollars.

    Whoever holds the security before the market opens on the ex-date is paid.
    """

    declared: date
    ex_date: date
    pay_date: date
    amount: int


def dividends(row: Row, first: date, last: date) -> list[Dividend]:
    """Return the dividends whose ex-date lies between two dates (included), oldest first."""
    if not row["dividend"] or not row["dividend_months"]:
        return []
    start = max(first, date.fromisoformat(row["listed_at"][:10]))
    end = min(last, date.fromisoformat(row["delisted_at"][:10])) if row["delisted_at"] else last
    months = tuple(row["dividend_months"])
    payments = []
    for year in range(first.year, last.year + 2):
        of_year = _paid_in(year, months, row["dividend_day"], row["dividend"])
        payments += [d for d in of_year if start <= d.ex_date <= end]
    return payments


@functools.lru_cache(4096)
def _paid_in(year: int, months: tuple[int, ...], day: int, amount: int) -> tuple[Dividend, ...]:
    grown = max(amount * max(100 + 4 * (year - ANCHOR.year), 10) // 100, 1)
    payments = []
    for month in months:
        paid = calendar.on_or_after(date(year, month, min(day, 28)))
        ex_date = calendar.add_days(paid, -10)
        payments.append(Dividend(calendar.add_days(ex_date, -15), ex_date, paid, grown))
    return tuple(payments)


def yearly_dividend(row: Row, at: int) -> float:
    """Return the dividends per share of the past year, in dollars."""
    today = local_day(at, calendar.NEW_YORK)
    return round(sum(d.amount for d in dividends(row, today - timedelta(days=364), today)) / PIP, 4)


def dividend_yield(row: Row, at: int) -> float:
    """Return the past year's dividends as a percentage of the price."""
    return round(yearly_dividend(row, at) / price(row, at) * 100, 2)


def market_cap(row: Row, at: int) -> int | None:
    """Return shares outstanding times price, in dollars."""
    return int(row["shares_outstanding"] * price(row, at)) if row["shares_outstanding"] else None


def eps(row: Row, at: int) -> float | None:
    """Return the earnings per share of the past four quarters, in dollars.

    They grow each quarter at the rate of the revenue.
    """
    if row["eps"] is None:
        return None
    today = local_day(at, calendar.NEW_YORK)
    quarters = (today.year - ANCHOR.year) * 4 + (today.month - 1) // 3
    grown = 1 + (row["growth"] or 0) / 100 * quarters / 4 if row["eps"] > 0 else 1
    return round(row["eps"] / 100 * max(grown, 0.1), 2)


def pe_ratio(row: Row, at: int) -> float | None:
    """Return the price-to-earnings ratio, or None without positive earnings."""
    earned = eps(row, at)
    return round(price(row, at) / earned, 2) if earned is not None and earned > 0 else None


# -- earnings --------------------------------------------------------------------------------------
PUBLISHED = time(7)
"""When results are published in New York: before the market opens."""


@dataclass(frozen=True)
class Earnings:
    """A quarterly report, in dollars per share.

    `reported` is None until `PUBLISHED` in New York on its `date`.
    """

    quarter: str
    date: date
    estimate: float
    reported: float | None


def earnings(row: Row, at: int, past: int = 4) -> list[Earnings]:
    """Return a stock's next report and its latest `past` ones, newest first.

    A security without earnings per share has no reports.
    """
    if row["eps"] is None:
        return []
    today = local_day(at, calendar.NEW_YORK)
    reports: list[Earnings] = []
    first = today.year * 4 + (today.month - 1) // 3
    for quarter in range(first + 1, first - past - 4, -1):
        year, place = divmod(quarter, 4)
        begin = date(year, place * 3 + 1, 1)
        lag = 18 + int((draws("earnings", row["symbol"])[0] + 1) * 12)
        day = calendar.on_or_after(begin + timedelta(days=lag))
        ended = quarter - 1
        name = f"Q{ended % 4 + 1} {ended // 4}"
        noise = draws("eps", row["symbol"], quarter)
        base = (eps(row, local_moment(day, calendar.OPEN, calendar.NEW_YORK)) or 0) / 4
        actual = base + abs(base) * 0.12 * noise[0]
        expected = round(actual - abs(base) * 0.06 * (noise[1] + 0.3), 2)
        if local_moment(day, PUBLISHED, calendar.NEW_YORK) > at:
            # The loop goes back in time, so the last report that lies ahead is the next one.
            reports = [Earnings(name, day, expected, None)]
        elif len(reports) <= past:
            reports.append(Earnings(name, day, expected, round(actual, 2)))
    return reports


# -- analysts --------------------------------------------------------------------------------------
Rating = Literal["strong_buy", "buy", "hold", "sell", "strong_sell"]
RATINGS: tuple[Rating, ...] = ("strong_buy", "buy", "hold", "sell", "strong_sell")


@dataclass(frozen=True)
class Analysts:
    """How analysts rate a stock this month.

    Prices are in dollars; `score` runs from 1 (strong buy) to 5 (strong sell).
    """

    counts: dict[Rating, int]
    consensus: Rating
    score: float
    target: float
    target_low: float
    target_high: float


def analysts(row: Row, at: int) -> Analysts | None:
    """Return a stock's ratings as of the first of the month, or None for other kinds."""
    if row["kind"] != "stock":
        return None
    month = local_day(at, calendar.NEW_YORK).replace(day=1)
    lean, size = draws("analysts", row["symbol"])[:2]
    lean = (lean + 0.5 * draws("analysts", row["symbol"], str(month))[0]) / 1.5
    total = 8 + int((size + 1) * 9)
    shares = [max(0.02, 1 - abs(n - 1.4 + 1.5 * lean) / 1.7) for n in range(5)]
    numbers = [int(total * part / sum(shares)) for part in shares]
    numbers[shares.index(max(shares))] += total - sum(numbers)
    score = sum((n + 1) * count for n, count in enumerate(numbers)) / total
    base = price(row, local_moment(month, calendar.OPEN, calendar.NEW_YORK))
    target = base * (1.3 - 0.1 * score + 0.04 * draws("target", row["symbol"], str(month))[1])
    return Analysts(
        counts=dict(zip(RATINGS, numbers, strict=True)),
        consensus=RATINGS[min(int(score + 0.5), 5) - 1],
        score=round(score, 2),
        target=round(target, 2),
        target_low=round(target * 0.81, 2),
        target_high=round(target * 1.22, 2),
    )
