"""Listed options as a function of the underlying and the moment: expirations, strikes, premiums and greeks.

Premiums follow the closed formula of Black and Scholes, with exponential, logarithm and normal distribution computed from
sums and products alone, so that they are the same on every machine.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from servers.finance import _calendar as calendar
from servers.finance._market import price, state
from servers.kit.noise import draws
from servers.kit.zones import local_day, months_later

Right = Literal["call", "put"]
RIGHTS: tuple[Right, ...] = ("call", "put")
RATE = 0.04
"""Yearly interest without risk."""
_STEPS = (0.5, 1, 2.5, 5, 10, 25, 50)
_LN2 = 0.6931471805599453


@dataclass(frozen=True)
class Contract:
    """One listed option; dollars a share (a contract is for 100 shares). `theta` is dollars a day."""

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


def has_options(row: dict[str, Any]) -> bool:
    """Whether options are listed on a security: stocks and ETFs that are traded a lot and cost at least five dollars."""
    return (
        row["kind"] in ("stock", "etf")
        and row["volume"] >= 1_500_000
        and row["base_price"] >= 50_000
        and row["delisted_at"] is None
    )


def expirations(at: int) -> list[date]:
    """Return the dates on which listed options end: the next six Fridays, then the third Fridays of nine months."""
    today = local_day(at, calendar.NEW_YORK)
    friday = today + timedelta(days=(4 - today.weekday()) % 7)
    if calendar.session(calendar.on_or_before(friday))[1] <= at:
        friday += timedelta(days=7)
    weeks = [friday + timedelta(days=7 * n) for n in range(6)]
    months = [months_later(today.replace(day=1), n) for n in range(1, 10)]
    thirds = [first + timedelta(days=(4 - first.weekday()) % 7 + 14) for first in months]
    return sorted({calendar.on_or_before(d) for d in weeks + thirds})


def strikes(row: dict[str, Any], at: int) -> list[float]:
    """Return the strikes that are listed now: eight on each side of the last close, evenly spaced."""
    opened = calendar.session(calendar.last_session(at))[0]
    base = price(row, opened)
    step = next((s for s in _STEPS if s >= base * 0.022), _STEPS[-1])
    middle = int(base / step + 0.5)
    return [round((middle + n) * step, 2) for n in range(-8, 9) if (middle + n) * step > 0]


def chain(row: dict[str, Any], at: int, expiry: date) -> list[Contract]:
    """Return calls, then puts, of one expiration by strike."""
    return [
        contract(row, at, expiry, right, strike) for right in RIGHTS for strike in strikes(row, at)
    ]


def contract(row: dict[str, Any], at: int, expiry: date, right: Right, strike: float) -> Contract:
    """Return what one contract costs at a moment, worth its exercise value from the expiry's close on."""
    end = calendar.session(calendar.on_or_before(expiry))[1]
    spot = price(row, min(at, end))
    years = max(end - _priced(row, at), 0) / (365 * 86_400)
    volatility = _volatility(row, spot, strike)
    value, delta, gamma, theta = _value(spot, strike, years, volatility, right)
    half = max(value * 0.02, 0.01)
    key = (row["symbol"], str(expiry), right, strike)
    near = 1 / (1 + 12 * abs(strike / spot - 1))
    interest = int(row["volume"] / 2500 * near * (1.2 + draws("interest", *key)[0]))
    return Contract(
        strike=strike,
        expiry=expiry.isoformat(),
        right=right,
        premium=max(round(value, 2), 0.01) if years else round(value, 2),
        bid=max(round(value - half, 2), 0.0),
        ask=max(round(value + half, 2), 0.01),
        volume=int(interest * 0.2 * (1 + draws("volume", str(calendar.last_session(at)), *key)[0])),
        open_interest=interest,
        implied_volatility=round(volatility, 4),
        delta=round(delta, 4),
        gamma=round(gamma, 4),
        theta=round(theta, 4),
    )


def exercise_value(row: dict[str, Any], expiry: date, right: Right, strike: float) -> float:
    """Return dollars a share that a contract pays at its end."""
    spot = price(row, calendar.session(calendar.on_or_before(expiry))[1])
    return round(max(spot - strike if right == "call" else strike - spot, 0), 2)


def _priced(row: dict[str, Any], at: int) -> int:
    return at if state(row, at) == "open" else calendar.session(calendar.last_session(at))[1]


def _volatility(row: dict[str, Any], spot: float, strike: float) -> float:
    daily = row["volatility"] * row["volatility"] + 0.45 * row["beta"] * row["beta"] + 0.05
    yearly = _root(daily * 252) / 100
    away = strike / spot - 1
    return yearly * (1.05 - 0.35 * away + 0.8 * away * away if abs(away) < 0.5 else 1.3)


def _value(
    spot: float, strike: float, years: float, volatility: float, right: Right
) -> tuple[float, float, float, float]:
    """Return value, delta, gamma and theta."""
    if years <= 0:
        worth = max(spot - strike if right == "call" else strike - spot, 0)
        return worth, (1.0 if right == "call" else -1.0) if worth else 0.0, 0.0, 0.0
    spread = volatility * _root(years)
    d1 = (_log(spot / strike) + (RATE + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discount = _exp(-RATE * years)
    density = 0.3989422804014327 * _exp(-d1 * d1 / 2)
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
    return (
        max(worth, strike - spot if right == "put" else 0.0, 0.0),
        delta,
        gamma,
        theta / 365,
    )  # a put can be exercised at once


def _normal(x: float) -> float:
    """Return the share of a normal distribution below x (a rational approximation, exact to seven places)."""
    if x < 0:
        return 1 - _normal(-x)
    t = 1 / (1 + 0.2316419 * x)
    curve = t * (
        0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    return 1 - 0.3989422804014327 * _exp(-x * x / 2) * curve


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
        x = x / 2
        twos = twos + 1
    while x < 0.75:
        x = x * 2
        twos = twos - 1
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
