"""The market: securities as rows, and their prices as a pure function of a row and a moment.

Everything takes a row of `finance_securities` and a moment in epoch seconds, so a repeated look
agrees and two services see the same price:

- `price(row, at)`: dollars; `quote(row, at)`: price, day change, bid, ask, volume, state;
  `bars(...)`: daily, weekly or monthly bars; `intraday(row, day, at)`: half-hourly prices of one
  day; `year_range(row, at)`: lowest and highest close of 52 weeks.
- `security(svc, symbol)`, `securities(svc, ...)` and `search(svc, ...)` read the rows.

Dividends, earnings and ratings are in `_figures.py`, options in `_options.py`, sessions and
holidays in `_calendar.py`.

Stocks and ETFs trade in New York's sessions and keep their last close outside of them; funds are
priced once a day, at the close; crypto trades day and night. A price is a base that grows by a
drift and is moved by noise of the whole market, of its sector and of its own. The noise lies on a
grid of half hours with an eased line between: within a half hour a price only rises or only falls,
so the highs and lows of the grid are exact.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from servers.finance import _calendar as calendar
from servers.kit import search as search_in
from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import parse_time
from servers.kit.zones import local_day

# base_price is in 1/10000 dollars on 2 January 2026, eps and minimum_investment are in cents,
# dividend is in 1/10000 dollars a payment, shares_outstanding, revenue (dollars) and volume (shares
# a day) are in units. Share classes of one fund have the same `pattern`.
SECURITIES = Table(
    "symbol:str name:str kind:str exchange:str sector:str? industry:str? category:str? "
    "family:str? share_class:str? about:str pattern:str "
    "base_price:int beta:float volatility:float drift:float volume:int "
    "shares_outstanding:int? eps:int? revenue:int? growth:float? "
    "dividend:int? dividend_months:list? dividend_day:int? "
    "expense_ratio:float? minimum_investment:int? stocks_percent:int? "
    "bonds_percent:int? target_year:int? headquarters:str? founded:int? employees:int? "
    "listed_at:str halted_at:str? delisted_at:str?",
    search=("name", "symbol", "about", "industry", "category", "kind", "sector"),
    weights=(4, 4, 2, 2, 2, 2, 1),
    index=("kind",),
    catalogue=True,
)
SHARED = {"finance_securities": SECURITIES}

Kind = Literal["stock", "etf", "mutual_fund", "crypto"]
Interval = Literal["daily", "weekly", "monthly"]
Sector = Literal[
    "Technology",
    "Health Care",
    "Financials",
    "Energy",
    "Consumer Discretionary",
    "Consumer Staples",
    "Industrials",
    "Utilities",
    "Real Estate",
    "Communication Services",
]
SECTORS: tuple[str, ...] = get_args(Sector)
PIP = 10_000
"""Stored prices are whole numbers of 1/10000 dollars."""

ANCHOR = date(2026, 1, 2)
"""The day to which the base price and earnings in the rows refer."""
UTC = ZoneInfo("UTC")
_HALF_HOUR = 1800
_DAY_UNITS = 17
"""Grid units in a trading day: thirteen half hours, and four for the night."""
_CRYPTO_UNITS = 48
"""Grid units in a day of crypto: every half hour."""
_SCALES = (1, 4, 16, 64, 256)
"""Days between the knots of each wave of the noise."""
_EPOCH = date(1970, 1, 1)


# -- price -----------------------------------------------------------------------------------------
def price(row: Row, at: int) -> float:
    """Return the last price in dollars: the latest trade, close or net asset value by this moment.

    It has two decimals, or four below one dollar.
    """
    at = _traded(row, at)
    if row["kind"] == "crypto":
        place, rest = divmod(at // 60 * 60, _HALF_HOUR)
        return _rounded(_between(row, place, rest))
    if row["kind"] == "mutual_fund":
        return _rounded(_level(row, _close_place(calendar.last_closed(at))))
    day = calendar.last_session(at)
    opened, closed = calendar.session(day)
    place, rest = divmod((min(at, closed) - opened) // 60 * 60, _HALF_HOUR)
    return _rounded(_between(row, calendar.day_number(day) * _DAY_UNITS + place, rest))


def price_pips(row: Row, at: int) -> int:
    """Return the price in the unit of the rows, 1/10000 dollars."""
    return pips(price(row, at))


def pips(amount: float) -> int:
    """Convert dollars to 1/10000 dollars."""
    return int((Decimal(str(amount)) * PIP).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


def _traded(row: Row, at: int) -> int:
    for end in (row["halted_at"], row["delisted_at"]):
        if end is not None:
            at = min(at, parse_time(end))
    return at


def _close_place(day: date) -> int:
    opened, closed = calendar.session(day)
    return calendar.day_number(day) * _DAY_UNITS + (closed - opened) // _HALF_HOUR


def _between(row: Row, place: int, rest: int) -> float:
    start = _level(row, place)
    if not rest:
        return start
    part = rest / _HALF_HOUR
    return start + (_level(row, place + 1) - start) * part * part * (3 - 2 * part)


def _level(row: Row, place: int) -> float:
    return _grid(
        row["pattern"],
        row["sector"] or row["kind"],
        row["base_price"],
        row["beta"],
        row["volatility"],
        row["drift"],
        row["kind"],
        place,
    )


@functools.lru_cache(65_536)
def _grid(
    pattern: str,
    group: str,
    base: int,
    beta: float,
    volatility: float,
    drift: float,
    kind: str,
    place: int,
) -> float:
    """Return the price in dollars at a point of the grid."""
    crypto = kind == "crypto"
    units = _CRYPTO_UNITS if crypto else _DAY_UNITS
    years = (place - _anchor(crypto)) / (units * (365 if crypto else 252))
    growth = drift / 100 * years
    level = 1 + growth if growth >= 0 else 1 / (1 - growth)
    wide = _wander("crypto" if crypto else "market", units, 2.2 if crypto else 0.7, place)
    level *= 1 + beta * (wide - 1) if wide >= 1 else 1 / (1 + beta * (1 / wide - 1))
    if beta and not crypto and group in SECTORS:
        level *= _wander(f"sector {group}", units, 0.5, place)
    return max(base / PIP * level * _wander(pattern, units, volatility, place), 0.0001)


@functools.cache
def _anchor(crypto: bool) -> int:
    opened = calendar.session(ANCHOR)[0]
    return opened // _HALF_HOUR if crypto else calendar.day_number(ANCHOR) * _DAY_UNITS


@functools.lru_cache(65_536)
def _wander(key: str, units: int, volatility: float, place: int) -> float:
    """Return a factor near 1 that moves by about `volatility` percent a day.

    It moves further over longer times and returns over years.
    """
    level = 1.0
    for days in _SCALES:
        knot, rest = divmod(place, units * days)
        part = rest / (units * days)
        name = f"{key} {days}"
        before = draws(name, knot)[0]
        moved = before + (draws(name, knot + 1)[0] - before) * part * part * (3 - 2 * part)
        swing = volatility / 100 * _ROOT[days] * moved
        level *= 1 + swing if swing >= 0 else 1 / (1 - swing)
    swing = volatility / 100 * 0.35 * draws(key, place)[0]
    return level * (1 + swing)


_ROOT = {days: 0.9 * root for days, root in zip(_SCALES, (1, 2, 4, 8, 16), strict=True)}


def _rounded(value: float) -> float:
    return round(value, 2 if value >= 1 else 4)


# -- quotes ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Quote:
    """What a quote page shows.

    Money is in dollars; `as_of` is the moment of the last trade; bid and ask are None while the
    security does not trade.
    """

    symbol: str
    price: float
    previous_close: float
    change: float
    change_percent: float
    open: float
    high: float
    low: float
    volume: int
    bid: float | None
    ask: float | None
    state: Literal["open", "closed", "halted", "delisted"]
    as_of: int


@dataclass(frozen=True)
class Bar:
    """Prices in dollars and the volume of a day, week or month.

    A week or month is named by its last trading day.
    """

    date: str
    open: float
    high: float
    low: float
    close: float
    volume: int


def state(row: Row, at: int) -> Literal["open", "closed", "halted", "delisted"]:
    """Return whether a security trades at a moment.

    A fund counts as open while the exchanges are in session.
    """
    if row["delisted_at"] is not None and parse_time(row["delisted_at"]) <= at:
        return "delisted"
    if row["halted_at"] is not None and parse_time(row["halted_at"]) <= at:
        return "halted"
    return "open" if row["kind"] == "crypto" or calendar.is_open(at) else "closed"


def spread(row: Row, last: float) -> tuple[float, float]:
    """Return bid and ask around a price."""
    if row["kind"] == "mutual_fund":
        return last, last
    if row["kind"] == "crypto":
        part = 0.0025
    else:
        part = 0.0001 if row["volume"] >= 2_000_000 else 0.0004
    half = max(last * part, 0.01 if last >= 1 else 0.0001)
    return max(_rounded(last - half), 0.0001), _rounded(last + half)


def quote(row: Row, at: int) -> Quote:
    """Return a security's quote at a moment."""
    trading = state(row, at)
    last = price(row, at)
    day = trading_date(row, at)
    bar = daily_bar(row, day, at)
    before = previous_close(row, at)
    bid = None
    ask = None
    if trading == "open" and row["kind"] != "mutual_fund":
        bid, ask = spread(row, last)
    return Quote(
        symbol=row["symbol"],
        price=last,
        previous_close=before,
        change=round(last - before, 4),
        change_percent=round((last - before) / before * 100, 2),
        open=bar.open,
        high=bar.high,
        low=bar.low,
        volume=bar.volume,
        bid=bid,
        ask=ask,
        state=trading,
        as_of=as_of(row, at),
    )


def as_of(row: Row, at: int) -> int:
    """Return the moment from which the price at a moment dates."""
    at = _traded(row, at) // 60 * 60
    if row["kind"] == "crypto":
        return at
    if row["kind"] == "mutual_fund":
        return calendar.session(calendar.last_closed(at))[1]
    return min(at, calendar.session(calendar.last_session(at))[1])


def trading_date(row: Row, at: int) -> date:
    """Return the day to which the price at a moment belongs, in New York or (for crypto) in UTC."""
    at = _traded(row, at)
    if row["kind"] == "crypto":
        return local_day(at, UTC)
    return calendar.last_closed(at) if row["kind"] == "mutual_fund" else calendar.last_session(at)


def previous_close(row: Row, at: int) -> float:
    """Return the close of the day before the current price's day, in dollars."""
    return closing(row, _day_before(row, trading_date(row, at)))


def closing(row: Row, day: date) -> float:
    """Return the closing price or net asset value of a trading day in dollars.

    A crypto day closes when the UTC day ends. A halted or delisted security keeps the price at
    which its trading ended.
    """
    if row["halted_at"] is not None or row["delisted_at"] is not None:
        return price(row, closed(row, day))
    return _rounded(_level(row, _places(row, day)[-1]))


def closed(row: Row, day: date) -> int:
    """Return the moment at which a trading day of a security ends."""
    return _start(row, day) + 86_400 if row["kind"] == "crypto" else calendar.session(day)[1]


def _places(row: Row, day: date) -> range:
    """Return the grid points of a day."""
    if row["kind"] == "crypto":
        start = (day - _EPOCH).days * _CRYPTO_UNITS
        return range(start, start + _CRYPTO_UNITS + 1)
    end = _close_place(day)
    start = end if row["kind"] == "mutual_fund" else calendar.day_number(day) * _DAY_UNITS
    return range(start, end + 1)


# -- history ---------------------------------------------------------------------------------------
def daily_bar(row: Row, day: date, at: int) -> Bar:
    """Return the bar of a trading day as it stands at a moment."""
    places = _places(row, day)
    elapsed = _traded(row, at) - _start(row, day)
    done = places
    if row["kind"] != "mutual_fund":
        done = places[: max(elapsed // _HALF_HOUR + 1, 1)]
    prices = [_rounded(_level(row, place)) for place in done]
    part = 1.0
    if len(done) < len(places):
        prices.append(price(row, at))
        part = max(elapsed, 0) / ((len(places) - 1) * _HALF_HOUR)
    total = int(row["volume"] * (1 + 0.45 * draws("volume", row["symbol"], str(day))[0]))
    return Bar(
        date=day.isoformat(),
        open=prices[0],
        high=max(prices),
        low=min(prices),
        close=prices[-1],
        volume=int(total * min(part, 1)),
    )


def _start(row: Row, day: date) -> int:
    if row["kind"] == "crypto":
        return (day - _EPOCH).days * 86_400
    return calendar.session(day)[0]


def intraday(row: Row, day: date, at: int) -> list[tuple[int, float]]:
    """Return (epoch, dollars) at each half hour of a day so far; a fund has only the close."""
    if row["kind"] == "mutual_fund":
        moment = calendar.session(day)[1]
        return [(moment, closing(row, day))] if moment <= at else []
    start = _start(row, day)
    last = _traded(row, at)
    times = ((start + n * _HALF_HOUR, place) for n, place in enumerate(_places(row, day)))
    return [(moment, _rounded(_level(row, place))) for moment, place in times if moment <= last]


def days(row: Row, first: date, last: date, at: int) -> list[date]:
    """Return a security's trading days between two dates, from its listing on, up to a moment."""
    first = max(first, date.fromisoformat(row["listed_at"][:10]))
    last = min(last, trading_date(row, at))
    if first > last:
        return []
    if row["kind"] == "crypto":
        return [first + timedelta(days=n) for n in range((last - first).days + 1)]
    start = calendar.day_number(calendar.on_or_after(first))
    end = calendar.day_number(calendar.on_or_before(last))
    return [calendar.trading_day(n) for n in range(start, end + 1)]


def bars(row: Row, interval: Interval, first: date, last: date, at: int) -> list[Bar]:
    """Return bars of the trading days between two dates (included), oldest first.

    The latest one may still be growing.
    """
    daily = [daily_bar(row, day, at) for day in days(row, first, last, at)]
    if interval == "daily":
        return daily
    groups: dict[tuple[int, int], list[Bar]] = {}
    for bar in daily:
        day = date.fromisoformat(bar.date)
        span = day.isocalendar()[:2] if interval == "weekly" else (day.year, day.month)
        groups.setdefault(span, []).append(bar)
    return [_merged(group) for group in groups.values()]


def _merged(daily: list[Bar]) -> Bar:
    """Merge consecutive daily bars into one."""
    return Bar(
        date=daily[-1].date,
        open=daily[0].open,
        high=max(bar.high for bar in daily),
        low=min(bar.low for bar in daily),
        close=daily[-1].close,
        volume=sum(bar.volume for bar in daily),
    )


def year_range(row: Row, at: int) -> tuple[float, float]:
    """Return the lowest and highest close of the past 52 weeks, today's price included."""
    today = trading_date(row, at)
    past = days(row, today - timedelta(days=364), _day_before(row, today), at)
    prices = [closing(row, day) for day in past]
    prices.append(price(row, at))
    return min(prices), max(prices)


def _day_before(row: Row, day: date) -> date:
    return day - timedelta(days=1) if row["kind"] == "crypto" else calendar.add_days(day, -1)


# -- finding ---------------------------------------------------------------------------------------
def security(svc: Service, symbol: str) -> Row | None:
    """Return a security's row by symbol in any case, or None."""
    return svc.db.get("finance_securities", symbol.strip().upper())


def securities(
    svc: Service, kinds: Iterable[str] = (), *, delisted: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of securities listed by now, ordered by symbol.

    `kinds` narrows them (none named: all); with `delisted`, those no longer traded are included.
    """
    wanted = set(kinds)
    rows = svc.db.rows("finance_securities", "listed_at<=?", svc.time, order="symbol")
    if wanted:
        rows = [r for r in rows if r["kind"] in wanted]
    return rows if delisted else [r for r in rows if state(r, svc.now) != "delisted"]


def search(svc: Service, words: str, kinds: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return listed securities that match words by symbol, name or line of business, best first.

    An exact match of the symbol comes before all others.
    """
    listed = {r["symbol"]: r for r in securities(svc, kinds)}
    exact = words.strip().upper()
    matches = search_in.find(svc.db, "finance_securities", words, order="volume DESC, symbol")
    symbols = [r["symbol"] for r in matches if r["symbol"] in listed]
    return [listed[symbol] for symbol in sorted(symbols, key=lambda s: s != exact)]
