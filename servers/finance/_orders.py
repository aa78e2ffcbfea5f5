"""When and at what price an order fills, worked out from the market as it will be; nothing here reads or writes an account.

An order's fills are known once it is placed, as prices are functions of the moment. They count from their own moments on,
and cancelling an order strikes out those that have not come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal

from servers.finance import _calendar as calendar
from servers.finance._market import PIP, pips, price, spread
from servers.kit.service import Service
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day

Side = Literal["buy", "sell"]
OrderType = Literal["market", "limit", "stop"]
Duration = Literal["gfd", "gtc"]

UNIT = 100_000_000
"""Stored quantities are whole numbers of 1/100,000,000 shares."""
COLLAR = Decimal("1.05")
"""A buy that waits holds this much of the last price, and pays no more."""
GTC_DAYS = 90
_HALF_HOUR = 1800


@dataclass(frozen=True)
class Wish:
    """What an order asks for: a side, and either units or (at market) cents; limit and stop in 1/10000 dollars."""

    side: Side
    units: int | None = None
    amount: int | None = None
    order_type: OrderType = "market"
    limit: int | None = None
    stop: int | None = None
    duration: Duration = "gfd"


@dataclass(frozen=True)
class Plan:
    """What becomes of an order: fills as (moment ISO, units, price in 1/10000 dollars), when it lapses, and the cents it holds."""

    fills: list[tuple[str, int, int]] = field(default_factory=list)
    expires_at: str | None = None
    hold: int = 0


def value(units: int, at_pips: int) -> int:
    """Return the cents that units cost at a price, rounded half to even."""
    whole, rest = divmod(units * at_pips, UNIT * PIP // 100)
    half = UNIT * PIP // 200
    return whole + (rest > half or (rest == half and whole % 2 == 1))


def units_for(amount: int, at_pips: int, decimals: int) -> int:
    """Return the units that cents buy, in steps of so many decimals of a share, never for more than the amount."""
    step = UNIT // 10**decimals
    return amount * (UNIT * PIP // 100) // at_pips // step * step


def decimals(row: dict[str, Any]) -> int:
    """Return to how many decimals a security's quantities go."""
    return {"crypto": 8, "mutual_fund": 3}.get(row["kind"], 6)


def plan(row: dict[str, Any], wish: Wish, at: int) -> Plan:
    """Return what becomes of an order placed at a moment on a security that is neither halted nor delisted."""
    if row["kind"] == "mutual_fund":
        return _at_value(row, wish, at)
    if row["kind"] == "crypto":
        return Plan([_fill(row, wish, at)])
    if wish.order_type == "market":
        return Plan([_fill(row, wish, at)]) if calendar.is_open(at) else _queued(row, wish, at)
    return _resting(row, wish, at)


def _at_value(row: dict[str, Any], wish: Wish, at: int) -> Plan:
    close = calendar.next_close(at)
    nav = pips(price(row, close))
    units = (
        wish.units if wish.units is not None else units_for(wish.amount or 0, nav, decimals(row))
    )
    hold = (
        wish.amount
        if wish.amount is not None
        else value(units, max(int(pips(price(row, at)) * COLLAR), nav))
    )
    return Plan([(iso(close), units, nav)], hold=hold if wish.side == "buy" else 0)


def _fill(
    row: dict[str, Any], wish: Wish, at: int, limit: int | None = None, units: int | None = None
) -> tuple[str, int, int]:
    bid, ask = spread(row, price(row, at))
    paid = pips(ask if wish.side == "buy" else bid)
    if limit is not None:
        paid = min(paid, limit) if wish.side == "buy" else max(paid, limit)
    wanted = units if units is not None else wish.units
    if wanted is None:
        wanted = units_for(wish.amount or 0, paid, decimals(row))
    return iso(at), wanted, paid


def _queued(row: dict[str, Any], wish: Wish, at: int) -> Plan:
    """A market order outside of the session waits for the next one; a buy then pays at most the collar."""
    opens = calendar.next_open(at)
    closes = calendar.session(local_day(opens, calendar.NEW_YORK))[1]
    if wish.side == "sell":
        return Plan([_fill(row, wish, opens)], iso(closes))
    last = pips(price(row, at))
    collar = int(last * COLLAR)
    hold = wish.amount if wish.amount is not None else value(wish.units or 0, collar)
    moment = crossing(row, opens, closes, lambda p: pips(spread(row, p)[1]) <= collar)
    return Plan([_fill(row, wish, moment)] if moment is not None else [], iso(closes), hold)


def _resting(row: dict[str, Any], wish: Wish, at: int) -> Plan:
    """A limit or stop order waits until the market reaches it, in the session (gfd) or for ninety days (gtc)."""
    start = at if calendar.is_open(at) else calendar.next_open(at)
    last_day = local_day(start, calendar.NEW_YORK)
    if wish.duration == "gtc":
        last_day = calendar.on_or_before(last_day + timedelta(days=GTC_DAYS))
    closes = calendar.session(last_day)[1]
    buy = wish.side == "buy"
    units = wish.units or 0
    limit = wish.limit
    if wish.order_type == "stop":
        stop = wish.stop or 0
        trigger = crossing(
            row, start, closes, (lambda p: pips(p) >= stop) if buy else (lambda p: pips(p) <= stop)
        )
        limit = int(stop * COLLAR) if buy else None
        start = closes if trigger is None else trigger
        if trigger is None:
            return Plan([], iso(closes), value(units, limit or 0))
    bound = limit

    def reached(last: float) -> bool:
        bid, ask = spread(row, last)
        return bound is None or (pips(ask) <= bound if buy else pips(bid) >= bound)

    first = crossing(row, start, closes, reached)
    fills = []
    if first is not None:
        parts = _parts(row, wish, units)
        own = None if wish.order_type == "stop" else limit
        fills = [_fill(row, wish, first, own, parts[0])]
        second = crossing(row, first + _HALF_HOUR, closes, reached) if len(parts) == 2 else None
        if second is not None:
            fills.append(_fill(row, wish, second, own, parts[1]))
    return Plan(fills, iso(closes), value(units, limit or 0) if buy else 0)


def _parts(row: dict[str, Any], wish: Wish, units: int) -> list[int]:
    """A limit order for more than 1/2000 of a day's volume fills in two parts."""
    if wish.order_type != "limit" or units * 2000 <= row["volume"] * UNIT:
        return [units]
    half = units // UNIT // 2 * UNIT
    return [half, units - half]


def crossing(row: dict[str, Any], start: int, end: int, hit: Callable[[float], bool]) -> int | None:
    """Return the first moment from `start` to `end` at which a security trades at a price that hits, or None.

    `hit` must hold from some price on, upwards or downwards: prices only rise or only fall within a half hour.
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


def _steps(row: dict[str, Any], start: int, end: int) -> Iterator[int | None]:
    """Yield the half hours of trading between two moments, both ends included, and None where a session ends."""
    if row["kind"] == "crypto":
        yield from (
            m
            for m in (
                start,
                *range(start // _HALF_HOUR * _HALF_HOUR + _HALF_HOUR, end + 1, _HALF_HOUR),
            )
            if m <= end
        )
        return
    day = calendar.last_session(start)
    while (hours := calendar.session(day))[0] <= end:
        opened = max(hours[0], start)
        closed = min(hours[1], end)
        if opened <= closed:
            yield opened
            yield from range(
                opened - (opened - hours[0]) % _HALF_HOUR + _HALF_HOUR, closed + 1, _HALF_HOUR
            )
            if (closed - hours[0]) % _HALF_HOUR:
                yield closed
            yield None
        day = calendar.add_days(day, 1)


def _first(row: dict[str, Any], low: int, high: int, hit: Callable[[float], bool]) -> int:
    while high - low > 60:
        middle = (low + high) // 120 * 60
        low, high = (low, middle) if hit(price(row, middle)) else (middle, high)
    return high


# -- what has become of an order ---------------------------------------------------------------------------------------
Status = Literal["pending", "partially_filled", "filled", "cancelled", "expired", "failed"]


def status(row: dict[str, Any], moment: str) -> Status:
    """Return where an order stands at a moment (ISO)."""
    if row["failure"] is not None:
        return "failed"
    done = [f for f in row["fills"] if f[0] <= moment]
    if done and sum(f[1] for f in done) >= whole(row):
        return "filled"
    if row["cancelled_at"] is not None and row["cancelled_at"] <= moment:
        return "cancelled"
    if row["expires_at"] is not None and row["expires_at"] <= moment:
        return "expired"
    return "partially_filled" if done else "pending"


def whole(row: dict[str, Any]) -> int:
    """Return the units that an order is for."""
    return row["units"] or sum(f[1] for f in row["fills"])


def left(row: dict[str, Any], moment: str) -> int:
    """Return the units that have not filled by a moment."""
    return whole(row) - sum(f[1] for f in row["fills"] if f[0] <= moment)


def filled(row: dict[str, Any], moment: str) -> tuple[int, int, str | None]:
    """Return (units, cents, latest fill) of what has filled by a moment."""
    done = [f for f in row["fills"] if f[0] <= moment]
    return (
        sum(f[1] for f in done),
        sum(value(f[1], f[2]) for f in done),
        done[-1][0] if done else None,
    )


def average_price(row: dict[str, Any], moment: str) -> float | None:
    """Return the average price in dollars at which an order has filled, None before it has."""
    units = sum(f[1] for f in row["fills"] if f[0] <= moment)
    spent = sum(f[1] * f[2] for f in row["fills"] if f[0] <= moment)
    return round(spent / units / PIP, 4) if units else None


def shares(units: int | None) -> float | None:
    """Return stored units as shares."""
    return None if units is None else units / UNIT


def units_of(svc: Service, quantity: float, decimals: int) -> int:
    """Return a quantity as stored units, or refuse one that is too fine."""
    exact = Decimal(str(quantity))
    if exact != exact.quantize(Decimal(1).scaleb(-decimals)):
        svc.fail(
            "INVALID_QUANTITY",
            f"{quantity} has more than {decimals} decimals.",
            "Round the quantity.",
            quantity=quantity,
        )
    return int(exact * UNIT)
