"""Listed options as a function of the underlying security and the moment.

Expirations, strikes, premiums and greeks are all computed. Premiums follow the Black-Scholes
formula. The exponential, the logarithm and the normal distribution are computed from sums and
products alone, so that results are the same on every machine.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from servers.finance import _calendar as calendar
from servers.finance._market import price, state
from servers.kit.noise import draws
from servers.kit.types import Row
from servers.kit.zones import local_day, months_later

Right = Literal["call", "put"]
RIGHTS: tuple[Right, ...] = ("call", "put")
RATE = 0.04
"""The risk-free interest rate per year."""
_STEPS = (0.5, 1, 2.5, 5, 10, 25, 50)
_LN2 = 0.6931471805599453
_DENSITY = 0.3989422804014327
"""One over the square root of two pi."""
_NORMAL = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153)
"""The coefficients of `_normal`, highest power first."""


@dataclass(frozen=True)
class Contract:
    """One listed option. Prices are dollars a share; a contract is for 100 shares.

    `theta` is dollars a day.
    """

    strike: float
    expiry: str
    right: Right
    premium: float
    bid: float
    ask: float
    volume: int
    open_interest: int
    implied_volatility: float
    delta: float
    gamma: float
    theta: float


class _Value(NamedTuple):
    """A contract's value in dollars a share, and its greeks (theta in dollars a day)."""

    value: float
    delta: float
    gamma: float
    theta: float


def has_options(row: Row) -> bool:
    """Whether options are listed on a security.

    They are listed on heavily traded stocks and ETFs that cost at least five dollars.
    """
    return (
        row["kind"] in ("stock", "etf")
        and row["volume"] >= 1_500_000
        and row["base_price"] >= 50_000
        and row["delisted_at"] is None
    )


def expirations(at: int) -> list[date]:
    """Return the dates on which listed options expire.

    These are the next six Fridays and the third Fridays of nine months.
    """
    today = local_day(at, calendar.NEW_YORK)
    friday = _friday(today)
    if calendar.session(calendar.on_or_before(friday))[1] <= at:
        friday += timedelta(days=7)
    fridays = [friday + timedelta(days=7 * week) for week in range(6)]
    for month in range(1, 10):
        first_of_month = months_later(today.replace(day=1), month)
        fridays.append(_friday(first_of_month) + timedelta(days=14))
    return sorted({calendar.on_or_before(day) for day in fridays})


def _friday(day: date) -> date:
    """Return the first Friday on or after a day."""
    return day + timedelta(days=(4 - day.weekday()) % 7)


def strikes(row: Row, at: int) -> list[float]:
    """Return the strikes that are listed now, evenly spaced.

    There are eight on each side of the price at which the last session opened.
    """
    opened = calendar.session(calendar.last_session(at))[0]
    base = price(row, opened)
    step = next((size for size in _STEPS if size >= base * 0.022), _STEPS[-1])
    middle = int(base / step + 0.5)
    listed = [number * step for number in range(middle - 8, middle + 9)]
    return [round(strike, 2) for strike in listed if strike > 0]


def chain(row: Row, at: int, expiry: date) -> list[Contract]:
    """Return the calls, then the puts, of one expiration, each by strike."""
    listed = strikes(row, at)
    contracts = []
    for right in RIGHTS:
        contracts += [contract(row, at, expiry, right, strike) for strike in listed]
    return contracts


def contract(row: Row, at: int, expiry: date, right: Right, strike: float) -> Contract:
    """Return one contract as quoted at a moment.

    From the close on the expiration date, its value is its exercise value.
    """
    end = calendar.session(calendar.on_or_before(expiry))[1]
    spot = price(row, min(at, end))
    years = max(end - _priced(row, at), 0) / (365 * 86_400)
    volatility = _volatility(row, spot, strike)
    worth = _value(spot, strike, years, volatility, right)
    half_spread = max(worth.value * 0.02, 0.01)
    premium = round(worth.value, 2)
    key = (row["symbol"], str(expiry), right, strike)
    near = 1 / (1 + 12 * abs(strike / spot - 1))
    interest = int(row["volume"] / 2500 * near * (1.2 + draws("interest", *key)[0]))
    day = str(calendar.last_session(at))
    return Contract(
        strike=strike,
        expiry=expiry.isoformat(),
        right=right,
        premium=max(premium, 0.01) if years else premium,
        bid=max(round(worth.value - half_spread, 2), 0.0),
        ask=max(round(worth.value + half_spread, 2), 0.01),
        volume=int(interest * 0.2 * (1 + draws("volume", day, *key)[0])),
        open_interest=interest,
        implied_volatility=round(volatility, 4),
        delta=round(worth.delta, 4),
        gamma=round(worth.gamma, 4),
        theta=round(worth.theta, 4),
    )


def exercise_value(row: Row, expiry: date, right: Right, strike: float) -> float:
    """Return the dollars a share that a contract pays at expiration."""
    spot = price(row, calendar.session(calendar.on_or_before(expiry))[1])
    return round(_exercised(spot, strike, right), 2)


def _exercised(spot: float, strike: float, right: Right) -> float:
    return max(spot - strike if right == "call" else strike - spot, 0)


def _priced(row: Row, at: int) -> int:
    """Return the latest moment at which the underlying security was trading."""
    return at if state(row, at) == "open" else calendar.session(calendar.last_session(at))[1]


def _volatility(row: Row, spot: float, strike: float) -> float:
    """Return the yearly volatility that a strike implies: a smile around the current price."""
    daily = row["volatility"] * row["volatility"] + 0.45 * row["beta"] * row["beta"] + 0.05
    yearly = _root(daily * 252) / 100
    away = strike / spot - 1
    if abs(away) >= 0.5:
        return yearly * 1.3
    return yearly * (1.05 - 0.35 * away + 0.8 * away * away)


def _value(spot: float, strike: float, years: float, volatility: float, right: Right) -> _Value:
    """Return a contract's value and greeks by Black-Scholes."""
    if years <= 0:
        worth = _exercised(spot, strike, right)
        if not worth:
            return _Value(worth, 0.0, 0.0, 0.0)
        return _Value(worth, 1.0 if right == "call" else -1.0, 0.0, 0.0)
    spread = volatility * _root(years)
    d1 = (_log(spot / strike) + (RATE + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discount = _exp(-RATE * years)
    density = _DENSITY * _exp(-d1 * d1 / 2)
    decay = -spot * density * volatility / (2 * _root(years))
    gamma = density / (spot * spread)
    if right == "call":
        worth = spot * _normal(d1) - strike * discount * _normal(d2)
        delta = _normal(d1)
        theta = decay - RATE * strike * discount * _normal(d2)
    else:
        worth = strike * discount * _normal(-d2) - spot * _normal(-d1)
        delta = _normal(d1) - 1
        theta = decay + RATE * strike * discount * _normal(-d2)
        worth = max(worth, strike - spot)  # a put can be exercised at once
    return _Value(max(worth, 0.0), delta, gamma, theta / 365)


def _normal(x: float) -> float:
    """Return the cumulative normal distribution at x.

    This is a rational approximation that is accurate to seven decimal places.
    """
    if x < 0:
        return 1 - _normal(-x)
    t = 1 / (1 + 0.2316419 * x)
    curve = 0.0
    for coefficient in _NORMAL:
        curve = t * (coefficient + curve)
    return 1 - _DENSITY * _exp(-x * x / 2) * curve


@functools.lru_cache(4096)
def _exp(x: float) -> float:
    if x < -700:
        return 0.0
    halves = 0
    part = x
    while abs(part) > 0.25:
        part /= 2
        halves += 1
    total = term = 1.0
    for n in range(1, 14):
        term *= part / n
        total += term
    for _ in range(halves):
        total *= total
    return total


@functools.lru_cache(4096)
def _log(x: float) -> float:
    twos = 0
    while x > 1.5:
        x /= 2
        twos += 1
    while x < 0.75:
        x *= 2
        twos -= 1
    y = (x - 1) / (x + 1)
    square = y * y
    term = y
    total = 0.0
    for n in range(1, 40, 2):
        total += term / n
        term *= square
    return 2 * total + twos * _LN2


def _root(x: float) -> float:
    return 0.0 if x <= 0 else _newton(x)


@functools.lru_cache(4096)
def _newton(x: float) -> float:
    guess = x if x > 1 else 1.0
    for _ in range(60):
        guess = (guess + x / guess) / 2
    return guess
