"""Placing and cancelling orders, and moving money in and out, at any broker."""

from __future__ import annotations

from typing import Any

from servers.finance import _market as market
from servers.finance._brokerage import MAIN, Account, Words, account
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
from servers.kit.service import Service
from servers.kit.values import dollars, iso


def find_order(svc: Service, words: Words, order_id: str) -> dict[str, Any]:
    """Return an order's row, or refuse."""
    row = svc.db.get(f"{words.tables}_orders", order_id)
    if row is None or row["created_at"] > svc.time:
        hint = f"Take an order_id from {words.list_orders}."
        svc.fail("ORDER_NOT_FOUND", f"There is no order {order_id!r}.", hint, order_id=order_id)
    return row


def place(
    svc: Service,
    words: Words,
    row: dict[str, Any],
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
) -> dict[str, Any]:
    """Place an order if money or shares cover it, and return its row.

    `funded`: its money comes from sales of the same set. `planned`: how it fills, where the market does not say so.
    """
    moment = svc.now if at is None else at
    planned = planned or plan(row, wish, moment)
    mine = account(svc, words, account_id, moment)
    if wish.side == "buy" and not funded:
        need = max([planned.hold, sum(value(f[1], f[2]) for f in planned.fills)]) + fee
        if need > mine.buying_power:
            message = f"The order needs up to ${dollars(need):,.2f}; buying power is ${dollars(mine.buying_power):,.2f}."
            hint = f"Order less, or add money with {words.deposit}."
            svc.fail(
                words.no_funds,
                message,
                hint,
                required=dollars(need),
                buying_power=dollars(mine.buying_power),
            )
    selling = wish.units if wish.units is not None else sum(f[1] for f in planned.fills)
    if wish.side == "sell" and selling > mine.free_units(row["symbol"]):
        held = shares(mine.units(row["symbol"]))
        free = shares(mine.free_units(row["symbol"]))
        message = f"{shares(selling)} {row['symbol']} are to be sold; {held} are held and {free} are free to sell."
        hint = f"See {words.positions}, and {words.list_orders} for open sales that hold shares."
        svc.fail(words.no_shares, message, hint, symbol=row["symbol"], available=free)
    if not any(f[1] for f in planned.fills) and wish.amount is not None and planned.fills:
        svc.fail(
            "INVALID_AMOUNT",
            f"The amount is too small for any fraction of a share of {row['symbol']}.",
            "Raise the amount.",
        )
    if wish.side == "buy" and planned.fills and not any(value(f[1], f[2]) for f in planned.fills):
        svc.fail(
            "INVALID_QUANTITY",
            f"So little of {row['symbol']} costs less than a cent.",
            "Raise the quantity.",
            symbol=row["symbol"],
        )
    made = order_row(
        svc.new_id(words.order_id),
        row,
        wish,
        planned,
        account_id,
        origin,
        ref,
        lots,
        fee,
        iso(moment),
    )
    return svc.db.insert(f"{words.tables}_orders", made | {"client_key": client_key})


def orders(svc: Service, words: Words, account_id: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of orders, newest first; of one account where it is given."""
    where, args = (
        ("created_at<=?", [svc.time])
        if account_id is None
        else ("created_at<=? AND account_id=?", [svc.time, account_id])
    )
    return svc.db.rows(f"{words.tables}_orders", where, *args, order="created_at DESC, rowid DESC")


def order_row(
    order_id: str,
    row: dict[str, Any],
    wish: Wish,
    planned: Plan,
    account_id: str,
    origin: str,
    ref: str | None,
    lots: list[str] | None,
    fee: int,
    created_at: str,
    failure: str | None = None,
) -> dict[str, Any]:
    """Return the row of an order on a security."""
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
        "fills": [list(f) for f in planned.fills],
        "lots": lots,
        "fee": fee,
        "ref": ref,
        "client_key": None,
    }


def cancel(svc: Service, words: Words, order_id: str) -> dict[str, Any]:
    """Cancel what of an order has not filled, and return its new row. Refuses an order that is no longer open."""
    row = find_order(svc, words, order_id)
    state = status(row, svc.time)
    if state not in ("pending", "partially_filled"):
        hint = f"Only open orders can be cancelled; see {words.list_orders}."
        svc.fail(
            "ORDER_NOT_CANCELABLE",
            f"Order {order_id} is {state}.",
            hint,
            order_id=order_id,
            status=state,
        )
    done = [f for f in row["fills"] if f[0] <= svc.time]
    changes = {"fills": done, "cancelled_at": svc.time}
    svc.db.update(f"{words.tables}_orders", order_id, **changes)
    return row | changes


def wish_of(
    svc: Service,
    row: dict[str, Any],
    side: Side,
    quantity: float,
    order_type: OrderType,
    limit: int | None,
    stop: int | None,
    duration: Duration = "gfd",
) -> Wish:
    """Return what an order asks for, or refuse what does not go together: prices and type, a stop on the wrong side, broken shares."""
    for kind, given in (("limit", limit), ("stop", stop)):
        if order_type == kind and given is None:
            svc.fail(
                f"{kind.upper()}_PRICE_REQUIRED",
                f"A {kind} order needs a {kind}_price.",
                f"Give {kind}_price.",
                field=f"{kind}_price",
            )
        if order_type != kind and given is not None:
            message = f"A {order_type} order takes no {kind}_price."
            svc.fail(
                "INVALID_ORDER_TYPE",
                message,
                f"Leave it out, or set order_type to {kind}.",
                field=f"{kind}_price",
            )
    if order_type != "market" and row["kind"] in ("crypto", "mutual_fund"):
        message = f"{row['symbol']} is traded by market orders only."
        svc.fail("INVALID_ORDER_TYPE", message, "Set order_type to market.", symbol=row["symbol"])
    if order_type != "market" and quantity != int(quantity):
        hint = "Order whole shares, or set order_type to market."
        svc.fail(
            "INVALID_QUANTITY",
            "A limit or stop order is for whole shares.",
            hint,
            quantity=quantity,
        )
    last = market.price(row, svc.now)
    if stop is not None and (stop <= market.pips(last)) == (side == "buy"):
        way = "above" if side == "buy" else "below"
        message = f"The stop price of a {side} order lies {way} the last price, ${last:,.2f}."
        svc.fail("INVALID_STOP_PRICE", message, f"Choose a stop_price {way} it.", last_price=last)
    units = units_of(svc, quantity, decimals(row))
    return Wish(side, units, None, order_type, limit, stop, duration)


def check_minimum(
    svc: Service, words: Words, row: dict[str, Any], mine: Account, amount: int
) -> None:
    """Refuse a first purchase of a fund for less than its minimum; more can be added to what is held."""
    least = row["minimum_investment"] or 0
    if amount < least and not mine.units(row["symbol"]):
        message = f"A first purchase of {row['symbol']} is for at least ${dollars(least):,.2f}."
        hint = f"Raise the amount, or find another share class with {words.search}."
        svc.fail(
            "MINIMUM_INVESTMENT_NOT_MET",
            message,
            hint,
            symbol=row["symbol"],
            minimum_investment=dollars(least),
        )


# -- transfers --------------------------------------------------------------------------------------------------------
def transfer_status(row: dict[str, Any], moment: str) -> str:
    """Return pending, completed or failed."""
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
) -> dict[str, Any]:
    """Move money in or out, to arrive at a moment, and return its row; what leaves must be settled and free. A `failure` moves nothing."""
    moment = svc.now if at is None else at
    if direction == "withdrawal" and failure is None:
        mine = account(svc, words, account_id, moment)
        if amount > mine.withdrawable:
            message = f"${dollars(amount):,.2f} are asked for; ${dollars(mine.withdrawable):,.2f} are settled and free to withdraw."
            hint = f"Withdraw less, sell something of {words.positions}, or wait until sales and deposits have settled."
            svc.fail(
                "INSUFFICIENT_SETTLED_CASH",
                message,
                hint,
                available=dollars(mine.withdrawable),
                unsettled=dollars(mine.unsettled),
            )
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
    return svc.db.insert(f"{words.tables}_transfers", row)
