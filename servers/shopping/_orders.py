"""The life of an order: placed, on its way or waiting in a store, in one's hands, sent back; and the money that moved for it.

The moments of an order's life are fixed when it is placed; its status is a function of them and of now. Refunds that lie ahead are
entered with their own moment, so that what was charged and refunded is a sum over entries until now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, HOUR, Shop

# A parcel has ships_at and out_at, a courier's run out_at, a pickup ready_at and hold_until; done_at is when it was handed over.
ORDER = (
    "id:str placed_at:str fulfillment:str shipping_option:str? store_id:str? slot_at:str? address_id:str? method_id:str "
    "shipping:int fees:int code:str? promised_by:str ships_at:str? out_at:str? ready_at:str? hold_until:str? done_at:str? "
    "lost_at:str? canceled_at:str? cancel_reason:str? plan_id:str?"
)
ORDER_INDEX = ("placed_at", "plan_id")
ITEM = (
    "id:str order_id:str product_id:str title:str quantity:int unit_price:int discount:int tax:int"
)
# A positive amount was charged, a negative one given back; `ref` is what it was given back for.
CHARGES = Table(
    "id:str order_id:str method_id:str amount:int at:str what:str ref:str?",
    index=("order_id", "method_id"),
)
RETURNS = Table(
    "id:str order_id:str item_id:str reason:str method:str requested_at:str received_at:str refunded_at:str",
    index=("order_id",),
)
UNCLAIMED = "not picked up"
HOLD = 3 * DAY
"""Seconds for which a store keeps an order that is ready."""
TRAVEL = {"mail": (6 * DAY, 2 * DAY), "store": (DAY, 0), "drive_up": (DAY, 0)}
"""Seconds until a return is received, and from then until the money is back."""
HUBS = (
    "Reno, NV", "Louisville, KY", "Memphis, TN", "Fort Worth, TX", "Kent, WA", "Joliet, IL", "Charlotte, NC", "Harrisburg, PA",
)  # fmt: skip
PICKUP = ("pickup", "order_pickup", "drive_up")
COURIER = ("delivery", "same_day_delivery")


# -- status -------------------------------------------------------------------------------------------------------
def status(row: dict[str, Any], now: str) -> str:
    """Return the status of an order at a moment (ISO)."""
    if row["canceled_at"] is not None:
        return "canceled"
    if row["done_at"] is not None and row["done_at"] <= now:
        return "picked_up" if row["fulfillment"] in PICKUP else "delivered"
    if row["fulfillment"] in PICKUP:
        if now < row["ready_at"]:
            return "preparing"
        return "ready" if now < row["hold_until"] else "expired"
    if row["lost_at"] is not None and row["lost_at"] <= now:
        return "lost"
    if row["out_at"] is not None and row["out_at"] <= now:
        return "out_for_delivery"
    if row["fulfillment"] in COURIER:
        return "preparing"
    if now < row["ships_at"]:
        return "processing"
    return "shipped" if now <= row["promised_by"] else "delayed"


def done(row: dict[str, Any], now: str) -> str | None:
    """Return when an order was delivered or picked up; None before, and for one that was canceled."""
    handed = row["done_at"] is not None and row["done_at"] <= now and row["canceled_at"] is None
    return row["done_at"] if handed else None


def events(svc: Service, shop: Shop, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the carrier or the store has recorded until now, oldest first."""
    home = svc.db.get(f"{shop.tables}_addresses", row["address_id"]) if row["address_id"] else None
    where = f"{home['city']}, {home['state']}" if home else None
    far = HUBS[int(share("hub", row["id"]) * len(HUBS))]
    found = [(row["placed_at"], "ordered", None, "Order received")]
    if row["ships_at"] is not None:
        found += [(row["ships_at"], "shipped", far, "Package left the warehouse")]
        if row["out_at"] is not None:
            middle = (parse_time(row["ships_at"]) + parse_time(row["out_at"])) // 2
            found += [(iso(middle), "in_transit", where, "Package arrived at the local facility")]
    found += (
        [(row["ready_at"], "ready", None, "Order is ready at the store")] if row["ready_at"] else []
    )
    found += (
        [(row["out_at"], "out_for_delivery", where, "Out for delivery")] if row["out_at"] else []
    )
    if row["hold_until"] is not None and row["done_at"] is None:
        found += [
            (row["hold_until"], "expired", None, "Nobody collected the order; it is refunded")
        ]
    if row["lost_at"] is not None:
        found += [(row["lost_at"], "lost", None, "The carrier reports the package as lost")]
    if row["done_at"] is not None:
        handed = "picked_up" if row["fulfillment"] in PICKUP else "delivered"
        found += [
            (
                row["done_at"],
                handed,
                where,
                "Handed over" if handed == "picked_up" else "Left at the front door",
            )
        ]
    end = row["canceled_at"] or "9999"
    past = [e for e in found if e[0] <= svc.time and e[0] <= end]
    if row["canceled_at"] is not None:
        past += [(row["canceled_at"], "canceled", None, "Order canceled")]
    return [
        {"at": at, "status": what, "location": place, "detail": text}
        for at, what, place, text in past
    ]


def tracking_number(row: dict[str, Any], now: str) -> str | None:
    """Return the carrier's number of a parcel that has shipped."""
    gone = row["ships_at"] is not None and row["ships_at"] <= now and row["canceled_at"] is None
    return "1Z" + make_id("trk", row["id"])[4:].upper() if gone else None


# -- moments ------------------------------------------------------------------------------------------------------
def parcel(now: int, zone: ZoneInfo, days: tuple[int, int], key: str) -> dict[str, str]:
    """Return the moments of a parcel that is promised within (fewest, most) days; it always comes in time."""
    spread = int(share("days", key) * (days[1] - days[0] + 1))
    arrives = local(now, zone).date() + timedelta(days=days[0] + spread)
    done = local_moment(arrives, time(11 + int(share("hour", key) * 8), 10), zone)
    out = local_moment(arrives, time(7, 40), zone)
    if days[0] + spread == 0:
        out = now + 4 * HOUR
        done = now + 7 * HOUR
    ships = now + min((out - now) // 2, 20 * HOUR)
    latest = max(
        local_moment(local(now, zone).date() + timedelta(days=days[1]), time(21), zone), done
    )
    return {
        "ships_at": iso(ships),
        "out_at": iso(out),
        "done_at": iso(done),
        "promised_by": iso(latest),
    }


def courier(now: int, start: int, end: int) -> dict[str, str]:
    """Return the moments of a run from a store within a window; it leaves in time for the middle of it."""
    middle = (start + end) // 2
    return {
        "out_at": iso(max(middle - HOUR // 2, now + 60)),
        "done_at": iso(max(middle, now + 120)),
        "promised_by": iso(end),
    }


def pickup(ready: int) -> dict[str, str]:
    """Return the moments of an order that waits in a store from a moment on."""
    return {"ready_at": iso(ready), "promised_by": iso(ready), "hold_until": iso(ready + HOLD)}


# -- placing ------------------------------------------------------------------------------------------------------
def place(
    svc: Service, shop: Shop, order: dict[str, Any], lines: Sequence[dict[str, Any]], state: str
) -> dict[str, Any]:
    """Insert an order, its items with their tax, and its charge, after the payment method was found good; return the order's row.

    A line holds the columns of an item (without id, order_id, tax) and `food`; `discount` is of the whole line.
    """
    taxes = rules.tax_shares(
        state, [(x["unit_price"] * x["quantity"] - x["discount"], x["food"]) for x in lines]
    )
    total = (
        sum(x["unit_price"] * x["quantity"] - x["discount"] for x in lines)
        + sum(taxes)
        + order["shipping"]
        + order["fees"]
    )
    method = rules.find_method(svc, shop, order["method_id"])
    rules.authorize(svc, shop, method, total, order["placed_at"])
    svc.db.insert(f"{shop.tables}_orders", order)
    for line, tax in zip(lines, taxes, strict=True):
        kept = {k: v for k, v in line.items() if k != "food"}
        svc.db.insert(
            f"{shop.tables}_order_items",
            kept | {"id": svc.new_id(shop.ids + "i"), "order_id": order["id"], "tax": tax},
        )
    charge(svc, shop, order, total, "order", at=order["placed_at"])
    if order.get("hold_until") is not None:
        charge(svc, shop, order, -total, UNCLAIMED, at=order["hold_until"])
    return find_order(svc, shop, order["id"])


def charge(
    svc: Service,
    shop: Shop,
    order: dict[str, Any],
    amount: int,
    what: str,
    *,
    at: str | None = None,
    ref: str | None = None,
) -> None:
    """Enter money that moves for an order, now or at a moment ahead."""
    row = {
        "order_id": order["id"],
        "method_id": order["method_id"],
        "amount": amount,
        "at": at or svc.time,
        "what": what,
        "ref": ref,
    }
    svc.db.insert(f"{shop.tables}_charges", {"id": svc.new_id(shop.ids + "c")} | row)


def entries(svc: Service, shop: Shop, order_id: str) -> list[dict[str, Any]]:
    """Return the money that has moved for an order until now, oldest first."""
    return svc.db.rows(
        f"{shop.tables}_charges", "order_id=? AND at<=?", order_id, svc.time, order="at, rowid"
    )


def drop_entries_ahead(svc: Service, shop: Shop, order_id: str) -> None:
    """Remove what was to move later."""
    for row in svc.db.rows(f"{shop.tables}_charges", "order_id=? AND at>?", order_id, svc.time):
        svc.db.delete(f"{shop.tables}_charges", row["id"])


def lower_hold(svc: Service, shop: Shop, order_id: str, amount: int) -> None:
    """Give less back for an order that nobody collects, after so many cents were given back otherwise."""
    for entry in svc.db.rows(
        f"{shop.tables}_charges", "order_id=? AND what=? AND at>?", order_id, UNCLAIMED, svc.time
    ):
        svc.db.update(f"{shop.tables}_charges", entry["id"], amount=entry["amount"] + amount)


# -- reading ------------------------------------------------------------------------------------------------------
def find_order(svc: Service, shop: Shop, order_id: str) -> dict[str, Any]:
    """Return an order, or refuse."""
    row = svc.db.get(f"{shop.tables}_orders", order_id)
    if row is None:
        message = f"There is no order {order_id!r}."
        svc.fail(
            "ORDER_NOT_FOUND", message, f"Take an order_id from {shop.orders}.", order_id=order_id
        )
    return row


def items(svc: Service, shop: Shop, order_id: str) -> list[dict[str, Any]]:
    """Return the items of an order."""
    return svc.db.rows(f"{shop.tables}_order_items", "order_id=?", order_id, order="rowid")


def orders(
    svc: Service, shop: Shop, state: str | None, query: str | None, since: str | None
) -> list[dict[str, Any]]:
    """Return orders, newest first: in a status, with each word found in one of its products, placed since a date."""
    found = svc.db.rows(
        f"{shop.tables}_orders", "placed_at>=?", since or "", order="placed_at DESC, rowid DESC"
    )
    for term in re.findall(r'"[^"]+"|[^\s"]+', query or ""):
        known = {p["id"] for p in svc.db.search(f"{shop.tables}_products", term)}
        holding = svc.db.sql(f"SELECT order_id, product_id FROM {shop.tables}_order_items")
        named = {order for order, product in holding if product in known}
        found = [r for r in found if r["id"] in named]
    return [r for r in found if state is None or status(r, svc.time) == state]


def sums(svc: Service, shop: Shop, row: dict[str, Any]) -> dict[str, int]:
    """Return subtotal, discount, shipping, fees, tax and total as ordered, and what was charged and refunded until now."""
    found = items(svc, shop, row["id"])
    moved = [e["amount"] for e in entries(svc, shop, row["id"])]
    subtotal = sum(i["unit_price"] * i["quantity"] for i in found)
    discount = sum(i["discount"] for i in found)
    tax = sum(i["tax"] for i in found)
    total = subtotal - discount + row["shipping"] + row["fees"] + tax
    shown = {
        "subtotal": subtotal,
        "discount": discount,
        "shipping": row["shipping"],
        "fees": row["fees"],
        "tax": tax,
        "total": total,
    }
    return shown | {
        "charged": sum(a for a in moved if a > 0),
        "refunded": -sum(a for a in moved if a < 0),
    }


def entry_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return money that moved, for the agent."""
    kind = "charge" if row["amount"] > 0 else "refund"
    return {
        "kind": kind,
        "amount": abs(row["amount"]),
        "for": row["what"],
        "at": row["at"],
        "payment_method_id": row["method_id"],
    }


# -- canceling ----------------------------------------------------------------------------------------------------
def cancel(
    svc: Service, shop: Shop, order_id: str, reason: str, code: str
) -> tuple[dict[str, Any], int]:
    """Cancel an order that has not left yet and give all its money back; return its row and the cents refunded."""
    row = find_order(svc, shop, order_id)
    state = status(row, svc.time)
    if state not in ("processing", "preparing"):
        gone = state in ("shipped", "out_for_delivery", "delivered", "delayed")
        hint = (
            f"It can be returned once it has arrived; see {shop.returns}."
            if gone
            else f"See {shop.orders}."
        )
        svc.fail(
            code,
            f"Order {order_id} is {state} and cannot be canceled any more.",
            hint,
            order_id=order_id,
            status=state,
        )
    drop_entries_ahead(svc, shop, order_id)
    held = sum(e["amount"] for e in entries(svc, shop, order_id))
    if held > 0:
        charge(svc, shop, row, -held, "order canceled")
    svc.db.update(f"{shop.tables}_orders", order_id, canceled_at=svc.time, cancel_reason=reason)
    return find_order(svc, shop, order_id), max(held, 0)


def hand_over(svc: Service, shop: Shop, order_id: str) -> dict[str, Any]:
    """Hand an order that is ready to the user, who is at the store; return its row."""
    row = find_order(svc, shop, order_id)
    state = status(row, svc.time)
    if state != "ready":
        message = f"Order {order_id} is {state}, not ready at a store."
        hint = (
            f"It is ready at {row['ready_at']}."
            if state == "preparing" and row["ready_at"]
            else f"See {shop.orders}."
        )
        svc.fail("ORDER_NOT_READY", message, hint, order_id=order_id, status=state)
    for entry in svc.db.rows(
        f"{shop.tables}_charges",
        "order_id=? AND at=? AND what=?",
        order_id,
        row["hold_until"],
        UNCLAIMED,
    ):
        svc.db.delete(f"{shop.tables}_charges", entry["id"])
    svc.db.update(f"{shop.tables}_orders", order_id, done_at=svc.time)
    return find_order(svc, shop, order_id)


# -- returns ------------------------------------------------------------------------------------------------------
def return_days(svc: Service, shop: Shop, product: dict[str, Any]) -> int | None:
    """Return for how many days a product can be sent back, None for never."""
    what = svc.db.get("shopping_items", product["item_id"]) or {}
    if what["final_sale"] or what["food"]:
        return None
    return shop.electronics_days if what["department"] == "Electronics" else shop.return_days


def return_by(row: dict[str, Any], days: int | None) -> str | None:
    """Return the last moment at which a return can be asked for."""
    return (
        None
        if days is None or row["done_at"] is None
        else iso(parse_time(row["done_at"]) + days * DAY)
    )


def open_return(
    svc: Service,
    shop: Shop,
    row: dict[str, Any],
    item: dict[str, Any],
    reason: str,
    method: str,
    days: int | None,
) -> dict[str, Any]:
    """Open the return of an order's item and enter its refund for the day on which it is due; return the return's row."""
    state = status(row, svc.time)
    if state not in ("delivered", "picked_up"):
        message = f"Order {row['id']} is {state}; only what has arrived can be returned."
        svc.fail(
            "RETURN_NOT_ALLOWED",
            message,
            "Wait until it has arrived, or cancel it while it is being prepared.",
            status=state,
        )
    if days is None:
        svc.fail(
            "ITEM_NOT_RETURNABLE",
            f"{item['title']} cannot be returned.",
            "Food and final-sale products are not taken back.",
        )
    if item.get("outcome") is not None:
        message = f"{item['title']} was {item['outcome']} when the order was put together."
        svc.fail(
            "ITEM_NOT_RETURNABLE",
            message,
            "Take what you were given instead back to the store.",
            outcome=item["outcome"],
        )
    last = return_by(row, days) or ""
    if svc.time > last:
        message = f"{item['title']} could be returned until {last[:10]}."
        svc.fail(
            "RETURN_WINDOW_CLOSED",
            message,
            f"Returns are taken for {days} days after delivery.",
            return_by=last,
        )
    earlier = svc.db.rows(f"{shop.tables}_returns", "item_id=?", item["id"])
    if earlier:
        message = f"A return of {item['title']} was opened on {earlier[0]['requested_at'][:10]}."
        svc.fail(
            "ALREADY_RETURNED",
            message,
            f"See its progress with {shop.returns}.",
            return_id=earlier[0]["id"],
        )
    travel, handling = TRAVEL[method]
    received = svc.now + travel
    made = {
        "id": svc.new_id(shop.ids + "x"),
        "order_id": row["id"],
        "item_id": item["id"],
        "reason": reason,
        "method": method,
    }
    made |= {
        "requested_at": svc.time,
        "received_at": iso(received),
        "refunded_at": iso(received + handling),
    }
    svc.db.insert(f"{shop.tables}_returns", made)
    worth = min(item_paid(item) + given_back(svc, shop, item["id"]), left_to_refund(svc, shop, row))
    charge(svc, shop, row, -max(worth, 0), "return", at=made["refunded_at"], ref=made["id"])
    return made


def item_paid(item: dict[str, Any]) -> int:
    """Return what an item cost with its discount and tax."""
    return item["unit_price"] * item["quantity"] - item["discount"] + item["tax"]


def left_to_refund(svc: Service, shop: Shop, row: dict[str, Any]) -> int:
    """Return what was paid for the products of an order and has not been given back, nor is about to be."""
    moved = svc.db.sql(
        f"SELECT coalesce(sum(amount),0) FROM {shop.tables}_charges WHERE order_id=?", row["id"]
    )[0][0]
    return moved - row["shipping"] - row["fees"]


def given_back(svc: Service, shop: Shop, item_id: str) -> int:
    """Return what was given back for an item already (a negative number of cents), a price match for instance."""
    return svc.db.sql(
        f"SELECT coalesce(sum(amount),0) FROM {shop.tables}_charges WHERE ref=?", item_id
    )[0][0]


def find_return(svc: Service, shop: Shop, return_id: str) -> dict[str, Any]:
    """Return a return, or refuse."""
    row = svc.db.get(f"{shop.tables}_returns", return_id)
    if row is None:
        svc.fail(
            "RETURN_NOT_FOUND",
            f"There is no return {return_id!r}.",
            f"Take a return_id from {shop.returns}.",
            return_id=return_id,
        )
    return row


def return_status(row: dict[str, Any], now: str) -> str:
    """Return requested (on its way back), received or refunded."""
    return (
        "requested"
        if now < row["received_at"]
        else "received"
        if now < row["refunded_at"]
        else "refunded"
    )


def return_sum(svc: Service, shop: Shop, return_id: str) -> int:
    """Return the cents that a return gives back."""
    return -svc.db.sql(
        f"SELECT coalesce(sum(amount),0) FROM {shop.tables}_charges WHERE ref=?", return_id
    )[0][0]
