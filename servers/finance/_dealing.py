"""Placing and cancelling orders, and moving money in and out, at any broker."""

from __future__ import annotations

from typing import Any

from servers.finance import _calendar as calendar
from servers.finance import _mail as mail
from servers.finance import _market as market
from servers.finance._brokerage import MAIN, OPEN_UNTIL, Account, Words, account
from servers.finance._orders import (
    Duration,
    OrderType,
    Plan,
    Side,
    Wish,
    decimals,
    plan,
    shares,
    status,
    units_of,
    value,
)
from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import dollars, iso


def find_order(svc: Service, words: Words, order_id: str) -> Row:
    """Return an order's row, or fail."""
    row = svc.db.get(f"{words.tables}_orders", order_id)
    if row is None or row["created_at"] > svc.time:
        hint = f"Get the order_id from {words.list_orders}."
        svc.fail(
            "ORDER_NOT_FOUND",
            f"There is no order with the ID {order_id!r}.",
            hint,
            order_id=order_id,
        )
    return row


def place(
    svc: Service,
    words: Words,
    row: Row,
    wish: Wish,
    *,
    account_id: str = MAIN,
    origin: str = "customer",
    ref: str | None = None,
    lots: list[str] | None = None,
    fee: int = 0,
    at: int | None = None,
    funded: bool = False,
    client_key: str | None = None,
    planned: Plan | None = None,
) -> Row:
    """Place an order if money or shares cover it, and return its row.

    With `funded`, the money comes from sales in the same set of orders. `planned` says how the
    order fills where the market does not determine it.
    """
    moment = svc.now if at is None else at
    planned = planned or plan(row, wish, moment)
    mine = account(svc, words, account_id, moment)
    if wish.side == "buy" and not funded:
        _check_money(svc, words, mine, planned, fee)
    if wish.side == "sell":
        _check_shares(svc, words, mine, row["symbol"], wish, planned)
    _check_size(svc, row["symbol"], wish, planned)
    order = order_row(
        svc.new_id(words.order_id),
        row,
        wish,
        planned,
        account_id=account_id,
        origin=origin,
        created_at=iso(moment),
        ref=ref,
        lots=lots,
        fee=fee,
    )
    placed = svc.db.insert(f"{words.tables}_orders", order | {"client_key": client_key})
    mail.order(svc, words, placed)
    return placed


def _check_money(svc: Service, words: Words, mine: Account, planned: Plan, fee: int) -> None:
    """Refuse a purchase that may cost more than the buying power."""
    cost = sum(value(units, at_pips) for _, units, at_pips in planned.fills)
    need = max(planned.hold, cost) + fee
    if need <= mine.buying_power:
        return
    required = dollars(need)
    available = dollars(mine.buying_power)
    message = f"The order needs up to ${required:,.2f}; buying power is ${available:,.2f}."
    hint = f"Order less, or add money with {words.deposit}."
    svc.fail(words.no_funds, message, hint, required=required, buying_power=available)


def _check_shares(
    svc: Service, words: Words, mine: Account, symbol: str, wish: Wish, planned: Plan
) -> None:
    """Refuse to sell more than is held and not reserved by other sales."""
    selling = wish.units if wish.units is not None else _planned_units(planned)
    if selling <= mine.free_units(symbol):
        return
    held = shares(mine.units(symbol))
    free = shares(mine.free_units(symbol))
    message = (
        f"You cannot sell {shares(selling)} {symbol}: the account holds {held}, "
        f"of which {free} can be sold."
    )
    hint = f"Check {words.positions}, and {words.list_orders} for open sales that reserve shares."
    svc.fail(words.no_shares, message, hint, symbol=symbol, available=free)


def _check_size(svc: Service, symbol: str, wish: Wish, planned: Plan) -> None:
    """Refuse an order that rounds to no shares, or a purchase that rounds to no cents."""
    if not planned.fills:
        return
    if wish.amount is not None and not _planned_units(planned):
        message = f"The amount is too small to trade any fraction of a share of {symbol}."
        svc.fail("INVALID_AMOUNT", message, "Increase the amount.")
    costs_something = any(value(units, at_pips) for _, units, at_pips in planned.fills)
    if wish.side == "buy" and not costs_something:
        message = f"This quantity of {symbol} costs less than a cent."
        svc.fail("INVALID_QUANTITY", message, "Increase the quantity.", symbol=symbol)


def _planned_units(planned: Plan) -> int:
    return sum(units for _, units, _ in planned.fills)


def orders(svc: Service, words: Words, account_id: str | None = None) -> list[Row]:
    """Return the rows of orders, newest first, optionally of one account only."""
    where = "created_at<=?"
    args = [svc.time]
    if account_id is not None:
        where += " AND account_id=?"
        args.append(account_id)
    return svc.db.rows(f"{words.tables}_orders", where, *args, order="created_at DESC, rowid DESC")


def listed_orders(
    svc: Service,
    words: Words,
    since: str | None,
    until: str | None,
    account_id: str | None = None,
) -> Listing:
    """Return the list of orders, newest first: of some days in New York, of one account."""
    rows = Listing(svc.db, f"{words.tables}_orders", by="created_at")
    rows = rows.only("created_at<=?", svc.time).days(since, until, calendar.NEW_YORK)
    return rows if account_id is None else rows.only("account_id=?", account_id)


def unsettled(rows: Listing, now: str) -> Listing:
    """Return the orders of a list that may still be open, and few others."""
    return rows.only(f"id IN (SELECT id FROM {rows.table} WHERE {OPEN_UNTIL}>?)", now)


def listed_transfers(
    svc: Service, words: Words, since: str | None, until: str | None, direction: str | None = None
) -> Listing:
    """Return the list of transfers, newest first: of some days in New York, of one direction."""
    rows = Listing(svc.db, f"{words.tables}_transfers", by="created_at")
    rows = rows.only("created_at<=?", svc.time).days(since, until, calendar.NEW_YORK)
    return rows if direction is None else rows.only("direction=?", direction)


def listed_dividends(svc: Service, words: Words, since: str | None, until: str | None) -> Listing:
    """Return the list of dividends, latest ex-date first."""
    return Listing(svc.db, f"{words.tables}_dividends", by="ex_date").days(since, until, None)


def order_row(
    order_id: str,
    row: Row,
    wish: Wish,
    planned: Plan,
    *,
    account_id: str,
    origin: str,
    created_at: str,
    ref: str | None = None,
    lots: list[str] | None = None,
    fee: int = 0,
    failure: str | None = None,
) -> Row:
    """Return the row of an order for a security."""
    return {
        "id": order_id,
        "account_id": account_id,
        "symbol": row["symbol"],
        "kind": row["kind"],
        "side": wish.side,
        "units": wish.units,
        "amount": wish.amount,
        "order_type": wish.order_type,
        "limit_price": wish.limit,
        "stop_price": wish.stop,
        "duration": wish.duration,
        "origin": origin,
        "created_at": created_at,
        "expires_at": planned.expires_at,
        "cancelled_at": None,
        "failure": failure,
        "hold": planned.hold + (fee if planned.hold else 0),
        "fills": [list(fill) for fill in planned.fills],
        "lots": lots,
        "fee": fee,
        "ref": ref,
        "client_key": None,
    }


def cancel(svc: Service, words: Words, order_id: str) -> dict[str, Any]:
    """Cancel the unfilled part of an order, and return its new row.

    Fails if the order is no longer open.
    """
    row = find_order(svc, words, order_id)
    state = status(row, svc.time)
    if state not in ("pending", "partially_filled"):
        message = f"Order {order_id} is {state}."
        hint = f"Only open orders can be canceled; see {words.list_orders}."
        svc.fail("ORDER_NOT_CANCELABLE", message, hint, order_id=order_id, status=state)
    past_fills = [fill for fill in row["fills"] if fill[0] <= svc.time]
    changes = {"fills": past_fills, "cancelled_at": svc.time}
    svc.db.update(f"{words.tables}_orders", order_id, **changes)
    mail.cancelled(svc, words, row | changes)
    return row | changes


# -- what an order asks for -----------------------------------------------------------------------
def wish_of(
    svc: Service,
    row: Row,
    side: Side,
    quantity: float,
    order_type: OrderType,
    limit: int | None,
    stop: int | None,
    duration: Duration = "gfd",
) -> Wish:
    """Return what an order asks for, or fail if its terms contradict each other.

    Such terms are a price that does not fit the order type, a stop price on the wrong side of the
    market, or a fraction of a share at a limit.
    """
    _check_price_given(svc, "limit", limit, order_type)
    _check_price_given(svc, "stop", stop, order_type)
    if order_type != "market" and row["kind"] in ("crypto", "mutual_fund"):
        message = f"{row['symbol']} can be traded only with market orders."
        svc.fail("INVALID_ORDER_TYPE", message, "Set order_type to market.", symbol=row["symbol"])
    if order_type != "market" and quantity != int(quantity):
        message = "Limit and stop orders must be for whole shares."
        hint = "Order whole shares, or set order_type to market."
        svc.fail("INVALID_QUANTITY", message, hint, quantity=quantity)
    if stop is not None:
        _check_stop(svc, row, side, stop)
    units = units_of(svc, quantity, decimals(row))
    return Wish(side, units, None, order_type, limit, stop, duration)


def _check_price_given(svc: Service, kind: str, given: int | None, order_type: str) -> None:
    """Refuse a limit or stop order without its price, and that price on any other order."""
    name = f"{kind}_price"
    if order_type == kind and given is None:
        message = f"A {kind} order needs a {name}."
        svc.fail(f"{kind.upper()}_PRICE_REQUIRED", message, f"Pass {name}.", field=name)
    if order_type != kind and given is not None:
        message = f"A {order_type} order does not take a {name}."
        hint = f"Omit {name}, or set order_type to {kind}."
        svc.fail("INVALID_ORDER_TYPE", message, hint, field=name)


def _check_stop(svc: Service, row: Row, side: Side, stop: int) -> None:
    """Refuse a stop price that the market has already passed."""
    last = market.price(row, svc.now)
    buying = side == "buy"
    reached = stop <= market.pips(last) if buying else stop > market.pips(last)
    if reached:
        way = "above" if buying else "below"
        message = f"The stop price of a {side} order must be {way} the last price, ${last:,.2f}."
        svc.fail(
            "INVALID_STOP_PRICE",
            message,
            f"Choose a stop_price {way} the last price.",
            last_price=last,
        )


def check_minimum(svc: Service, words: Words, row: Row, mine: Account, amount: int) -> None:
    """Refuse a first purchase of a fund below its minimum.

    A fund that is already held can be bought for any amount.
    """
    least = row["minimum_investment"] or 0
    if amount < least and not mine.units(row["symbol"]):
        minimum = dollars(least)
        message = f"The first purchase of {row['symbol']} must be at least ${minimum:,.2f}."
        hint = f"Increase the amount, or find another share class with {words.search}."
        svc.fail(
            "MINIMUM_INVESTMENT_NOT_MET",
            message,
            hint,
            symbol=row["symbol"],
            minimum_investment=minimum,
        )


# -- transfers ------------------------------------------------------------------------------------
def transfer_status(row: Row, moment: str) -> str:
    """Return "pending", "completed" or "failed"."""
    if row["failed_at"] is not None and row["failed_at"] <= moment:
        return "failed"
    return "completed" if row["clears_at"] <= moment else "pending"


def transfer(
    svc: Service,
    words: Words,
    direction: str,
    amount: int,
    clears_at: int,
    *,
    method: str = "ach",
    bank: str = "",
    account_id: str = MAIN,
    instant: int = 0,
    tax_year: int | None = None,
    ref: str | None = None,
    at: int | None = None,
    failure: str | None = None,
) -> Row:
    """Move money in or out, arriving at `clears_at`, and return the transfer's row.

    A withdrawal must be covered by settled, free cash. A transfer with a `failure` is only
    recorded.
    """
    moment = svc.now if at is None else at
    if direction == "withdrawal" and failure is None:
        _check_withdrawal(svc, words, account(svc, words, account_id, moment), amount)
    row = {
        "id": svc.new_id(words.transfer_id),
        "account_id": account_id,
        "direction": direction,
        "amount": amount,
        "instant": instant,
        "method": method,
        "bank": bank,
        "created_at": iso(moment),
        "clears_at": iso(clears_at),
        "failed_at": iso(moment) if failure else None,
        "failure": failure,
        "tax_year": tax_year,
        "ref": ref,
    }
    moved = svc.db.insert(f"{words.tables}_transfers", row)
    mail.transfer(svc, words, moved)
    return moved


def _check_withdrawal(svc: Service, words: Words, mine: Account, amount: int) -> None:
    """Refuse to withdraw more than is settled and free."""
    if amount <= mine.withdrawable:
        return
    available = dollars(mine.withdrawable)
    message = (
        f"You asked to withdraw ${dollars(amount):,.2f}, "
        f"but only ${available:,.2f} is settled and available."
    )
    hint = (
        f"Withdraw less, sell holdings listed by {words.positions}, "
        "or wait until sales and deposits settle."
    )
    svc.fail(
        "INSUFFICIENT_SETTLED_CASH",
        message,
        hint,
        available=available,
        unsettled=dollars(mine.unsettled),
    )
