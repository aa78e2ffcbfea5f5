"""The life of an order, from placing to cancelation, and the money that moves for it.

The moments of an order's life are fixed when it is placed; its status is a function of them and of
the present moment. Refunds that lie ahead are entered with their own moment, so that the amounts
charged and refunded are sums over the entries until now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from servers.kit import search
from servers.kit.control import make_id
from servers.kit.listing import Listing
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, HOUR, Shop

# A parcel has ships_at and out_at, a courier's run out_at, a pickup ready_at and hold_until.
# done_at is when the order was handed over.
ORDER = (
    "id:str placed_at:str/stamp fulfillment:str/matter shipping_option:str?/matter "
    "store_id:str?/ref slot_at:str?/appointed address_id:str?/ref method_id:str/ref "
    "shipping:int/derived fees:int/derived code:str?/matter promised_by:str/derived "
    "ships_at:str?/derived out_at:str?/derived ready_at:str?/derived hold_until:str?/derived "
    "done_at:str?/stamp lost_at:str?/derived canceled_at:str?/stamp cancel_reason:str?/prose "
    "plan_id:str?/ref"
)
ORDER_INDEX = ("placed_at", "plan_id", "code")
ITEM = (
    "id:str order_id:str/ref product_id:str/ref title:str/derived quantity:int/matter "
    "unit_price:int/derived discount:int/derived tax:int/derived"
)
# A positive amount was charged, a negative one refunded; `ref` is the id of the return or item that
# the refund is for.
CHARGES = Table(
    "id:str order_id:str/ref method_id:str/ref amount:int/derived at:str/stamp "
    "what:str/derived ref:str?/ref",
    index=("order_id", "method_id", "ref"),
    noun="an entry ({what}) of {amount:cents} for the order {order_id}",
)
UNCLAIMED = "not picked up"
"""The `what` of the refund of an order that nobody collects."""
HOLD = 3 * DAY
"""Seconds for which a store keeps an order that is ready."""
HUBS = (
    "Reno, NV", "Louisville, KY", "Memphis, TN", "Fort Worth, TX",
    "Kent, WA", "Joliet, IL", "Charlotte, NC", "Harrisburg, PA",
)  # fmt: skip
"""Warehouses that parcels leave from."""
PICKUP = ("pickup", "order_pickup", "drive_up")
COURIER = ("delivery", "same_day_delivery")


# -- status ----------------------------------------------------------------------------------------
def status(row: Row, now: str) -> str:
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


def done(row: Row, now: str) -> str | None:
    """Return when an order was delivered or picked up; None before, and if it was canceled."""
    handed = row["done_at"] is not None and row["done_at"] <= now and row["canceled_at"] is None
    return row["done_at"] if handed else None


class Event(NamedTuple):
    """Something that a carrier or a store records about an order."""

    at: str
    status: str
    location: str | None
    detail: str


def events(svc: Service, shop: Shop, row: Row) -> list[dict[str, Any]]:
    """Return what the carrier or the store has recorded until now, oldest first."""
    end = min(svc.time, row["canceled_at"] or svc.time)
    past = [event for event in _planned(svc, shop, row) if event.at <= end]
    if row["canceled_at"] is not None:
        past.append(Event(row["canceled_at"], "canceled", None, "Order canceled"))
    return [event._asdict() for event in past]


def _planned(svc: Service, shop: Shop, row: Row) -> list[Event]:
    """Return every event of an order's life as fixed when it was placed."""
    home = svc.db.get(f"{shop.tables}_addresses", row["address_id"]) if row["address_id"] else None
    where = f"{home['city']}, {home['state']}" if home else None
    hub = HUBS[int(share("hub", row["id"]) * len(HUBS))]
    planned = [Event(row["placed_at"], "ordered", None, "Order received")]
    if row["ships_at"] is not None:
        planned.append(Event(row["ships_at"], "shipped", hub, "Package left the warehouse"))
        if row["out_at"] is not None:
            middle = iso((parse_time(row["ships_at"]) + parse_time(row["out_at"])) // 2)
            text = "Package arrived at the local facility"
            planned.append(Event(middle, "in_transit", where, text))
    if row["ready_at"]:
        planned.append(Event(row["ready_at"], "ready", None, "Order is ready at the store"))
    if row["out_at"]:
        planned.append(Event(row["out_at"], "out_for_delivery", where, "Out for delivery"))
    if row["hold_until"] is not None and row["done_at"] is None:
        text = "Nobody collected the order; it is refunded"
        planned.append(Event(row["hold_until"], "expired", None, text))
    if row["lost_at"] is not None:
        text = "The carrier reports the package as lost"
        planned.append(Event(row["lost_at"], "lost", None, text))
    if row["done_at"] is not None:
        if row["fulfillment"] in PICKUP:
            planned.append(Event(row["done_at"], "picked_up", where, "Handed over"))
        else:
            planned.append(Event(row["done_at"], "delivered", where, "Left at the front door"))
    return planned


def tracking_number(row: Row, now: str) -> str | None:
    """Return the carrier's number of a parcel that has shipped."""
    shipped = row["ships_at"] is not None and row["ships_at"] <= now and row["canceled_at"] is None
    if not shipped:
        return None
    return "1Z" + make_id("trk", row["id"])[4:].upper()


# -- moments ---------------------------------------------------------------------------------------
def parcel(now: int, zone: ZoneInfo, days: tuple[int, int], key: str) -> dict[str, str]:
    """Return the moments of a parcel that is promised within (fewest, most) days.

    New orders always arrive in time; late and lost parcels exist only in the seeds.
    """
    spread = int(share("days", key) * (days[1] - days[0] + 1))
    arrives = local(now, zone).date() + timedelta(days=days[0] + spread)
    done = local_moment(arrives, time(11 + int(share("hour", key) * 8), 10), zone)
    out = local_moment(arrives, time(7, 40), zone)
    if days[0] + spread == 0:
        out = now + 4 * HOUR
        done = now + 7 * HOUR
    ships = now + min((out - now) // 2, 20 * HOUR)
    latest_day = local(now, zone).date() + timedelta(days=days[1])
    latest = max(local_moment(latest_day, time(21), zone), done)
    return {
        "ships_at": iso(ships),
        "out_at": iso(out),
        "done_at": iso(done),
        "promised_by": iso(latest),
    }


def courier(now: int, start: int, end: int) -> dict[str, str]:
    """Return the moments of a courier's run from a store within a window.

    The courier leaves in time to arrive in the middle of the window.
    """
    middle = (start + end) // 2
    return {
        "out_at": iso(max(middle - HOUR // 2, now + 60)),
        "done_at": iso(max(middle, now + 120)),
        "promised_by": iso(end),
    }


def pickup(ready: int) -> dict[str, str]:
    """Return the moments of an order that is ready in a store at a given moment."""
    return {"ready_at": iso(ready), "promised_by": iso(ready), "hold_until": iso(ready + HOLD)}


# -- placing ---------------------------------------------------------------------------------------
def place(svc: Service, shop: Shop, order: Row, lines: Sequence[Row], state: str) -> dict[str, Any]:
    """Charge the payment method for an order, insert it with its items, and return its row.

    A line holds the columns of an item (without id, order_id, tax) and `food`; its `discount` is
    for the whole line. The order is refused if the method cannot pay it.
    """
    nets = [line["unit_price"] * line["quantity"] - line["discount"] for line in lines]
    foods = [line["food"] for line in lines]
    taxes = rules.tax_shares(state, list(zip(nets, foods, strict=True)))
    total = sum(nets) + sum(taxes) + order["shipping"] + order["fees"]
    method = rules.find_method(svc, shop, order["method_id"])
    rules.authorize(svc, shop, method, total, order["placed_at"])
    svc.db.insert(f"{shop.tables}_orders", order)
    for line, tax in zip(lines, taxes, strict=True):
        item = {k: v for k, v in line.items() if k != "food"}
        item |= {"id": svc.new_id(shop.ids + "i"), "order_id": order["id"], "tax": tax}
        svc.db.insert(f"{shop.tables}_order_items", item)
    charge(svc, shop, order, total, "order", at=order["placed_at"])
    if order.get("hold_until") is not None:
        charge(svc, shop, order, -total, UNCLAIMED, at=order["hold_until"])
    return find_order(svc, shop, order["id"])


def charge(
    svc: Service,
    shop: Shop,
    order: Row,
    amount: int,
    what: str,
    *,
    at: str | None = None,
    ref: str | None = None,
) -> None:
    """Enter money that moves for an order, now or at a later moment."""
    row = {
        "order_id": order["id"],
        "method_id": order["method_id"],
        "amount": amount,
        "at": at or svc.time,
        "what": what,
        "ref": ref,
    }
    svc.db.insert(f"{shop.tables}_charges", {"id": svc.new_id(shop.ids + "c")} | row)


def entries(svc: Service, shop: Shop, order_id: str) -> list[Row]:
    """Return the money that has moved for an order until now, oldest first."""
    return svc.db.rows(
        f"{shop.tables}_charges", "order_id=? AND at<=?", order_id, svc.time, order="at, rowid"
    )


def entered(svc: Service, shop: Shop, column: str, value: str) -> int:
    """Return the sum of all entries, past and future, with a value in a column."""
    query = f"SELECT coalesce(sum(amount),0) FROM {shop.tables}_charges WHERE {column}=?"
    return svc.db.sql(query, value)[0][0]


def drop_entries_ahead(svc: Service, shop: Shop, order_id: str) -> None:
    """Remove the entries of an order that lie in the future."""
    for row in svc.db.rows(f"{shop.tables}_charges", "order_id=? AND at>?", order_id, svc.time):
        svc.db.delete(f"{shop.tables}_charges", row["id"])


def lower_unclaimed_refund(svc: Service, shop: Shop, order_id: str, amount: int) -> None:
    """Lower the refund due if nobody collects an order by an amount refunded already."""
    table = f"{shop.tables}_charges"
    where = "order_id=? AND what=? AND at>?"
    for entry in svc.db.rows(table, where, order_id, UNCLAIMED, svc.time):
        svc.db.update(table, entry["id"], amount=entry["amount"] + amount)


def unclaimed_refund(svc: Service, shop: Shop, order_id: str) -> int:
    """Return the cents that come back if nobody collects an order."""
    where = "order_id=? AND what=?"
    rows = svc.db.rows(f"{shop.tables}_charges", where, order_id, UNCLAIMED)
    return -sum(row["amount"] for row in rows)


# -- reading ---------------------------------------------------------------------------------------
def find_order(svc: Service, shop: Shop, order_id: str) -> Row:
    """Return an order, or refuse."""
    row = svc.db.get(f"{shop.tables}_orders", order_id)
    if row is None:
        message = f"There is no order with the ID {order_id!r}."
        svc.fail(
            "ORDER_NOT_FOUND", message, f"Use an order_id from {shop.orders}.", order_id=order_id
        )
    return row


def items(svc: Service, shop: Shop, order_id: str) -> list[Row]:
    """Return the items of an order."""
    return svc.db.rows(f"{shop.tables}_order_items", "order_id=?", order_id, order="rowid")


def orders(
    svc: Service,
    shop: Shop,
    state: str | None,
    query: str | None,
    since: str | None,
    until: str | None,
) -> Listing:
    """Return orders, newest first.

    `state` is the status they have now; `since` and `until` are the first and the last local day on
    which they were placed. A `query` looks for orders by the products in them.
    """
    rows = Listing(svc.db, f"{shop.tables}_orders", by="placed_at")
    rows = rows.days(since, until, rules.profile(svc, shop)["timezone"])
    if query is not None:
        holding = _holding(svc, shop, query)
        marks = ",".join("?" * len(holding))
        rows = rows.only(f"id IN ({marks})", *sorted(holding))
    if state is not None:
        rows = rows.keep(lambda row: status(row, svc.time) == state)
    return rows


def _holding(svc: Service, shop: Shop, query: str) -> set[str]:
    """Return the orders with a product that matches a query, as a search in the shop would."""
    products = search.scores(svc.db, query, search.Source(f"{shop.tables}_products"))
    bought = svc.db.sql(f"SELECT order_id, product_id FROM {shop.tables}_order_items")
    return {order_id for order_id, product_id in bought if product_id in products}


def sums(svc: Service, shop: Shop, row: Row) -> dict[str, int]:
    """Return an order's sums in cents.

    subtotal, discount, shipping, fees, tax and total are as ordered; charged and refunded are the
    amounts moved until now.
    """
    bought = items(svc, shop, row["id"])
    amounts = [e["amount"] for e in entries(svc, shop, row["id"])]
    subtotal = sum(i["unit_price"] * i["quantity"] for i in bought)
    discount = sum(i["discount"] for i in bought)
    tax = sum(i["tax"] for i in bought)
    total = subtotal - discount + row["shipping"] + row["fees"] + tax
    return {
        "subtotal": subtotal,
        "discount": discount,
        "shipping": row["shipping"],
        "fees": row["fees"],
        "tax": tax,
        "total": total,
        "charged": sum(a for a in amounts if a > 0),
        "refunded": -sum(a for a in amounts if a < 0),
    }


def entry_json(row: Row) -> Json:
    """Return an entry as JSON."""
    kind = "charge" if row["amount"] > 0 else "refund"
    return {
        "kind": kind,
        "amount": abs(row["amount"]),
        "for": row["what"],
        "at": row["at"],
        "payment_method_id": row["method_id"],
    }


# -- canceling -------------------------------------------------------------------------------------
def cancel(
    svc: Service, shop: Shop, order_id: str, reason: str, code: str
) -> tuple[dict[str, Any], int]:
    """Cancel an order that has not left yet and refund it in full.

    Returns its row and the cents refunded.
    """
    row = find_order(svc, shop, order_id)
    state = status(row, svc.time)
    if state not in ("processing", "preparing"):
        on_its_way = state in ("shipped", "out_for_delivery", "delivered", "delayed")
        hint = f"See {shop.orders}."
        if on_its_way:
            hint = f"You can return it once it arrives; {shop.returns} lists your returns."
        svc.fail(
            code,
            f"Order {order_id} is {state} and can no longer be canceled.",
            hint,
            order_id=order_id,
            status=state,
        )
    drop_entries_ahead(svc, shop, order_id)
    paid = sum(e["amount"] for e in entries(svc, shop, order_id))
    if paid > 0:
        charge(svc, shop, row, -paid, "order canceled")
    svc.db.update(f"{shop.tables}_orders", order_id, canceled_at=svc.time, cancel_reason=reason)
    return find_order(svc, shop, order_id), max(paid, 0)


def hand_over(svc: Service, shop: Shop, order_id: str) -> dict[str, Any]:
    """Hand an order that is ready over to the user at the store; return its row."""
    row = find_order(svc, shop, order_id)
    state = status(row, svc.time)
    if state != "ready":
        message = f"Order {order_id} is not ready for pickup; its status is {state}."
        hint = f"See {shop.orders}."
        if state == "preparing" and row["ready_at"]:
            hint = f"It will be ready at {row['ready_at']}."
        svc.fail("ORDER_NOT_READY", message, hint, order_id=order_id, status=state)
    table = f"{shop.tables}_charges"
    where = "order_id=? AND at=? AND what=?"
    for entry in svc.db.rows(table, where, order_id, row["hold_until"], UNCLAIMED):
        svc.db.delete(table, entry["id"])
    svc.db.update(f"{shop.tables}_orders", order_id, done_at=svc.time)
    return find_order(svc, shop, order_id)
