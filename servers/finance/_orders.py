"""When and at what price an order fills, computed from the market as it will be.

Nothing here reads or writes an account. Prices are functions of the moment, so an order's fills are
known as soon as it is placed. Each fill counts from its own moment on, and cancelling an order
removes the fills that are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from servers.finance import _calendar as calendar
from servers.finance._market import PIP, pips, price, spread
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day

Side = Literal["buy", "sell"]
OrderType = Literal["market", "limit", "stop"]
Duration = Literal["gfd", "gtc"]

UNIT = 100_000_000
"""Stored quantities are whole numbers of 1/100,000,000 shares."""
COLLAR = Decimal("1.05")
"""A waiting purchase holds the last price times this factor, and pays no more than that."""
GTC_DAYS = 90
_HALF_HOUR = 1800
_PER_CENT = UNIT * PIP // 100
"""The product of units and price (in 1/10000 dollars) that equals one cent."""


@dataclass(frozen=True)
class Wish:
    """What an order asks for: a side, and either units or (at market) cents.

    Limit and stop are in 1/10000 dollars.
    """

    side: Side
    units: int | None = None
    amount: int | None = None
    order_type: OrderType = "market"
    limit: int | None = None
    stop: int | None = None
    duration: Duration = "gfd"


class Fill(NamedTuple):
    """A moment (ISO), units, and a price in 1/10000 dollars."""

    at: str
    units: int
    at_pips: int


@dataclass(frozen=True)
class Plan:
    """How an order will turn out: its fills, when it expires, and the cents that it holds."""

    fills: list[Fill] = field(default_factory=list)
    expires_at: str | None = None
    hold: int = 0


def value(units: int, at_pips: int) -> int:
    """Return the cents that units cost at a price, rounded half to even."""
    cents, rest = divmod(units * at_pips, _PER_CENT)
    half = _PER_CENT // 2
    rounds_up = rest > half or (rest == half and cents % 2 == 1)
    return cents + 1 if rounds_up else cents


def units_for(amount: int, at_pips: int, decimals: int) -> int:
    """Return the units that cents buy, rounded down to the given decimals of a share."""
    step = UNIT // 10**decimals
    units = amount * _PER_CENT // at_pips
    return units // step * step


def decimals(row: Row) -> int:
    """Return the number of decimal places that quantities of a security may have."""
    return {"crypto": 8, "mutual_fund": 3}.get(row["kind"], 6)


def plan(row: Row, wish: Wish, at: int) -> Plan:
    """Return how an order placed at a moment will turn out.

    Its security must be neither halted nor delisted.
    """
    if row["kind"] == "mutual_fund":
        return _at_value(row, wish, at)
    if row["kind"] == "crypto":
        return Plan([_fill(row, wish, at)])
    if wish.order_type != "market":
        return _resting(row, wish, at)
    if calendar.is_open(at):
        return Plan([_fill(row, wish, at)])
    return _queued(row, wish, at)


def _at_value(row: Row, wish: Wish, at: int) -> Plan:
    """Plan a fund's order, which fills at the next net asset value."""
    close = calendar.next_close(at)
    nav = pips(price(row, close))
    units = wish.units
    if units is None:
        units = units_for(wish.amount or 0, nav, decimals(row))
    hold = 0
    if wish.side == "buy":
        hold = wish.amount
        if hold is None:
            collar = int(pips(price(row, at)) * COLLAR)
            hold = value(units, max(collar, nav))
    return Plan([Fill(iso(close), units, nav)], hold=hold)


def _fill(
    row: Row, wish: Wish, at: int, limit: int | None = None, units: int | None = None
) -> Fill:
    """Return a fill at the bid or ask of a moment, but no worse than the limit."""
    bid, ask = spread(row, price(row, at))
    paid = pips(ask if wish.side == "buy" else bid)
    if limit is not None:
        paid = min(paid, limit) if wish.side == "buy" else max(paid, limit)
    wanted = units if units is not None else wish.units
    if wanted is None:
        wanted = units_for(wish.amount or 0, paid, decimals(row))
    return Fill(iso(at), wanted, paid)


def _queued(row: Row, wish: Wish, at: int) -> Plan:
    """Plan a market order placed outside the session, which waits for the next session.

    A purchase then pays at most the collar.
    """
    opens = calendar.next_open(at)
    closes = calendar.session(local_day(opens, calendar.NEW_YORK))[1]
    if wish.side == "sell":
        return Plan([_fill(row, wish, opens)], iso(closes))
    last = pips(price(row, at))
    collar = int(last * COLLAR)
    hold = wish.amount if wish.amount is not None else value(wish.units or 0, collar)
    moment = crossing(row, opens, closes, lambda last: pips(spread(row, last)[1]) <= collar)
    fills = [] if moment is None else [_fill(row, wish, moment)]
    return Plan(fills, iso(closes), hold)


def _resting(row: Row, wish: Wish, at: int) -> Plan:
    """Plan a limit or stop order, which waits until the market reaches its price.

    It waits until the end of the session (gfd) or for ninety days (gtc).
    """
    start = at if calendar.is_open(at) else calendar.next_open(at)
    last_day = local_day(start, calendar.NEW_YORK)
    if wish.duration == "gtc":
        last_day = calendar.on_or_before(last_day + timedelta(days=GTC_DAYS))
    closes = calendar.session(last_day)[1]
    if wish.order_type == "stop":
        return _stopped(row, wish, start, closes)
    limit = wish.limit
    buy = wish.side == "buy"

    def reached(last: float) -> bool:
        bid, ask = spread(row, last)
        return limit is None or (pips(ask) <= limit if buy else pips(bid) >= limit)

    units = wish.units or 0
    fills = []
    start_of_part = start
    for part in _parts(row, wish, units):
        moment = crossing(row, start_of_part, closes, reached)
        if moment is None:
            break
        fills.append(_fill(row, wish, moment, limit, part))
        start_of_part = moment + _HALF_HOUR
    return Plan(fills, iso(closes), value(units, limit or 0) if buy else 0)


def _stopped(row: Row, wish: Wish, start: int, closes: int) -> Plan:
    """Plan a stop order, which becomes a market order once the market reaches its stop price.

    A purchase then pays at most the collar.
    """
    units = wish.units or 0
    stop = wish.stop or 0
    if wish.side == "sell":
        trigger = crossing(row, start, closes, lambda last: pips(last) <= stop)
        fills = [] if trigger is None else [_fill(row, wish, trigger, None, units)]
        return Plan(fills, iso(closes))
    collar = int(stop * COLLAR)
    hold = value(units, collar)
    trigger = crossing(row, start, closes, lambda last: pips(last) >= stop)
    if trigger is None:
        return Plan([], iso(closes), hold)
    moment = crossing(row, trigger, closes, lambda last: pips(spread(row, last)[1]) <= collar)
    fills = [] if moment is None else [_fill(row, wish, moment, None, units)]
    return Plan(fills, iso(closes), hold)


def _parts(row: Row, wish: Wish, units: int) -> list[int]:
    """Split a limit order for more than 1/2000 of a day's volume into two parts."""
    if wish.order_type != "limit" or units * 2000 <= row["volume"] * UNIT:
        return [units]
    half = units // UNIT // 2 * UNIT
    return [half, units - half]


def crossing(row: Row, start: int, end: int, hit: Callable[[float], bool]) -> int | None:
    """Return the first moment from `start` to `end` at which `hit` holds for the price, or None.

    `hit` must hold either for all prices above some bound or for all prices below one, because the
    search assumes that prices move in one direction within each half hour.
    """
    for stop in (row["halted_at"], row["delisted_at"]):
        if stop is not None:
            end = min(end, parse_time(stop))
    earlier = None
    for moment in _steps(row, start, end):
        if moment is None:
            earlier = None
        elif hit(price(row, moment)):
            return moment if earlier is None else _first(row, earlier, moment, hit)
        else:
            earlier = moment
    return None


def _steps(row: Row, start: int, end: int) -> Iterator[int | None]:
    """Yield the half hours of trading between two moments, and None where a session ends.

    Both ends are included.
    """
    if row["kind"] == "crypto":
        if start <= end:
            yield start
        yield from range(_next_half_hour(start, 0), end + 1, _HALF_HOUR)
        return
    day = calendar.last_session(start)
    opens, closes = calendar.session(day)
    while opens <= end:
        first = max(opens, start)
        last = min(closes, end)
        if first <= last:
            yield first
            yield from range(_next_half_hour(first, opens), last + 1, _HALF_HOUR)
            if (last - opens) % _HALF_HOUR:
                yield last
            yield None
        day = calendar.add_days(day, 1)
        opens, closes = calendar.session(day)


def _next_half_hour(at: int, opens: int) -> int:
    """Return the next moment that is a whole number of half hours after the opening."""
    return at - (at - opens) % _HALF_HOUR + _HALF_HOUR


def _first(row: Row, low: int, high: int, hit: Callable[[float], bool]) -> int:
    """Return the first minute after `low` at which `hit` holds, given that it holds at `high`."""
    while high - low > 60:
        middle = (low + high) // 120 * 60
        if hit(price(row, middle)):
            high = middle
        else:
            low = middle
    return high


# -- what has become of an order ------------------------------------------------------------------
Status = Literal["pending", "partially_filled", "filled", "cancelled", "expired", "failed"]


class Filled(NamedTuple):
    """The filled part of an order: units, cost in cents, and the moment of the latest fill."""

    units: int
    cents: int
    latest_at: str | None


def status(row: Row, moment: str) -> Status:
    """Return an order's status at a moment (ISO)."""
    if row["failure"] is not None:
        return "failed"
    past = past_fills(row, moment)
    if past and sum(fill.units for fill in past) >= whole(row):
        return "filled"
    if row["cancelled_at"] is not None and row["cancelled_at"] <= moment:
        return "cancelled"
    if row["expires_at"] is not None and row["expires_at"] <= moment:
        return "expired"
    return "partially_filled" if past else "pending"


def past_fills(row: Row, moment: str) -> list[Fill]:
    """Return the fills of an order up to a moment."""
    return [Fill(*fill) for fill in row["fills"] if fill[0] <= moment]


def whole(row: Row) -> int:
    """Return the units that an order is for."""
    return row["units"] or sum(units for _, units, _ in row["fills"])


def left(row: Row, moment: str) -> int:
    """Return the units that have not been filled by a moment."""
    return whole(row) - sum(fill.units for fill in past_fills(row, moment))


def filled(row: Row, moment: str) -> Filled:
    """Return the part of an order that has been filled by a moment."""
    past = past_fills(row, moment)
    units = sum(fill.units for fill in past)
    cents = sum(value(fill.units, fill.at_pips) for fill in past)
    return Filled(units, cents, past[-1].at if past else None)


def average_price(row: Row, moment: str) -> float | None:
    """Return the average price in dollars of an order's fills, or None if there are none."""
    past = past_fills(row, moment)
    units = sum(fill.units for fill in past)
    spent = sum(fill.units * fill.at_pips for fill in past)
    return round(spent / units / PIP, 4) if units else None


def shares(units: int | None) -> float | None:
    """Convert stored units to shares."""
    return None if units is None else units / UNIT


def units_of(svc: Service, quantity: float, decimals: int) -> int:
    """Convert a quantity to stored units, or fail if it has too many decimal places."""
    exact = Decimal(str(quantity))
    if exact != exact.quantize(Decimal(1).scaleb(-decimals)):
        message = f"{quantity} has more than {decimals} decimal places."
        svc.fail("INVALID_QUANTITY", message, "Round the quantity.", quantity=quantity)
    return int(exact * UNIT)
