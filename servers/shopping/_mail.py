"""What Amazon, Walmart and Target mail about orders, returns, plans and reviews.

The functions that take rows and return fields are for generators, too, which write the past from
the same templates.
"""

from __future__ import annotations

from collections.abc import Sequence

from servers.kit import posts
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.shopping import _orders as life
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping._rules import DAY, Shop

REMINDS = 3 * DAY
"""Seconds before the next order of a plan at which a shop reminds of it."""


# -- fields ----------------------------------------------------------------------------------------
def of_order(
    row: Row, items: Sequence[Row], *, method: Row, address: Row | None, store: Row | None
) -> Json:
    """Return the fields of an order; sums of zero are null, so that their lines are left out."""
    subtotal = sum(item["unit_price"] * item["quantity"] for item in items)
    discount = sum(item["discount"] for item in items)
    tax = sum(item["tax"] for item in items)
    return {
        "order": row["id"],
        "at": row["placed_at"],
        "items": [f"{item['quantity']} x {item['title']}" for item in items],
        "prices": [item["unit_price"] * item["quantity"] for item in items],
        "count": sum(item["quantity"] for item in items),
        "first": _shortened(items[0]["title"]),
        "subtotal": subtotal,
        "discount": discount or None,
        "shipping": row["shipping"] or None,
        "fees": row["fees"] or None,
        "tax": tax or None,
        "total": subtotal - discount + tax + row["shipping"] + row["fees"],
        "code": row["code"],
        "paid_with": paid_with(method),
        "address": in_one_line(address) if address else None,
        "store": store["name"] if store else None,
        "street": f"{store['street']}, {store['city']}" if store else None,
        "promised_by": row["promised_by"],
        # A parcel that leaves too late is not announced for a day that has passed.
        "arriving": None if (row["ships_at"] or "") > row["promised_by"] else row["promised_by"],
        "delivery_by": row["promised_by"] if address else None,
        "slot_at": row["slot_at"],
        "ready_at": row["ready_at"],
        "hold_until": row["hold_until"],
        "done_at": row["done_at"],
        "tracking": life.tracking_number(row | {"canceled_at": None}, row["ships_at"] or ""),
        "refund": None,
    }


def of_return(row: Row, item: Row, refund: int, method: Row) -> Json:
    """Return the fields of a return that refunds some cents."""
    return {
        "order": row["order_id"],
        "item": f"{item['quantity']} x {item['title']}",
        "return_id": row["id"],
        "reason": row["reason"],
        "refund": refund,
        "paid_with": paid_with(method),
        "at": row["requested_at"],
        "received_at": row["received_at"],
        "refunded_at": row["refunded_at"],
        "by_mail": "parcel" if row["method"] == "mail" else None,
        "in_person": None if row["method"] == "mail" else "store",
    }


def of_review(review: Row, product: Row) -> Json:
    """Return the fields of the person's review of a product."""
    return {
        "item": product["title"],
        "stars": f"{review['rating']} of 5 stars",
        "title": review["title"],
        "text": review["body"],
    }


def of_plan(plan: Row, product: Row, *, method: Row, address: Row) -> Json:
    """Return the fields of a subscription or an auto reorder, except how often it orders."""
    return {
        "plan": plan["id"],
        "item": f"{plan['quantity']} x {product['title']}",
        "next_at": plan["next_at"],
        "address": in_one_line(address),
        "paid_with": paid_with(method),
    }


def paid_with(method: Row) -> str:
    """Return a payment method as mails name it: its brand and the last four digits."""
    brand = method["brand"]
    return f"{brand[0].upper()}{brand[1:]} ending in {method['last4']}"


def in_one_line(address: Row) -> str:
    """Return an address in one line, with the name that is on the parcel."""
    place = f"{address['city']}, {address['state']} {address['zip']}"
    return f"{address['name']}, {address['street']}, {place}"


def _shortened(title: str) -> str:
    return title if len(title) <= 48 else f"{title[:45].rstrip()}..."


# -- when ------------------------------------------------------------------------------------------
def ahead(row: Row) -> list[tuple[str, str]]:
    """Return what is mailed about an order after it was placed, if nothing changes, and when."""
    done = row["done_at"]
    if row["ready_at"] is not None:
        reminder = iso(parse_time(row["hold_until"]) - DAY)
        coming = [("ready", row["ready_at"])]
        if done is None or done > reminder:
            coming.append(("pickup_reminder", reminder))
        coming.append(("picked_up", done) if done else ("unclaimed", row["hold_until"]))
        return coming
    coming = []
    if row["ships_at"] is not None:
        coming.append(("shipped", row["ships_at"]))
    elif row["out_at"] is not None:
        coming.append(("out_for_delivery", row["out_at"]))
    if done is None or done > row["promised_by"]:
        late = max(row["promised_by"], row["ships_at"] or "")
        coming.append(("delayed", iso(parse_time(late) + 60)))
    if row["lost_at"] is not None:
        coming.append(("lost", row["lost_at"]))
    elif done is not None:
        coming.append(("delivered", done))
    return coming


def due(svc: Service, shop: Shop, post: Row, order_id: str) -> Json | None:
    """Return what a post about an order says at its later moment, or None if it is void.

    What was canceled neither ships nor waits at a store, and what was collected waits no longer.
    """
    row = svc.db.get(f"{shop.tables}_orders", order_id)
    if row is not None:
        gone = row["canceled_at"] is not None
        waits = post["template"] in ("ready", "pickup_reminder", "unclaimed")
        if gone or (waits and row["done_at"] is not None):
            return None
        if post["template"] == "unclaimed":
            return post["data"] | {"refund": life.unclaimed_refund(svc, shop, order_id)}
    return post["data"]


# -- posting ---------------------------------------------------------------------------------------
def tell(
    svc: Service, shop: Shop, occasion: str, said: Json, *, about: str, at: str | None = None
) -> None:
    """Mail the account's owner, now or at a moment (ISO), with the fields that are needed."""
    needed = posts.templates(svc.name).fields(occasion)
    data = {name: value for name, value in said.items() if name in needed}
    later = None if at is None else parse_time(at)
    svc.post(occasion, rules.profile(svc, shop)["email"], data, about=about, due=later)


def placed(svc: Service, shop: Shop, order_id: str, plan: str | None = None) -> None:
    """Mail that an order was placed, and what its life will bring; `plan` is what ordered it."""
    row = life.find_order(svc, shop, order_id)
    said = order_fields(svc, shop, row) | {"plan": plan}
    tell(svc, shop, "order_placed", said, about=row["id"])
    for occasion, at in ahead(row):
        tell(svc, shop, occasion, said, about=row["id"], at=at)


def canceled(svc: Service, shop: Shop, row: Row, refunded: int) -> None:
    """Mail that an order was canceled and what is refunded."""
    said = order_fields(svc, shop, row)
    said |= {"refund": refunded or None, "reason": row["cancel_reason"]}
    tell(svc, shop, "order_canceled", said, about=row["id"])


def collected(svc: Service, shop: Shop, row: Row) -> None:
    """Mail that an order was handed over at a store."""
    tell(svc, shop, "picked_up", order_fields(svc, shop, row), about=row["id"])


def returned(svc: Service, shop: Shop, opened: Row) -> None:
    """Mail that a return was opened, and what follows when the item has come back."""
    item = svc.db.get(f"{shop.tables}_order_items", opened["item_id"]) or {}
    order = life.find_order(svc, shop, opened["order_id"])
    method = svc.db.get(f"{shop.tables}_methods", order["method_id"]) or {}
    refund = returns.return_sum(svc, shop, opened["id"])
    said = of_return(opened, item, refund, method)
    tell(svc, shop, "return_started", said, about=opened["id"])
    tell(svc, shop, "return_refunded", said, about=opened["id"], at=opened["refunded_at"])


def reviewed(svc: Service, shop: Shop, review: Row, product: Row) -> None:
    """Mail that a review is published."""
    tell(svc, shop, "review_published", of_review(review, product), about=review["id"])


def plan_fields(svc: Service, shop: Shop, plan: Row, product: Row) -> Json:
    """Return the fields of a subscription or an auto reorder, except how often it orders."""
    address = svc.db.get(f"{shop.tables}_addresses", plan["address_id"]) or {}
    method = svc.db.get(f"{shop.tables}_methods", plan["method_id"]) or {}
    return of_plan(plan, product, method=method, address=address)


def remind(svc: Service, shop: Shop, plan: Row, said: Json) -> None:
    """Let a reminder of the next order of a plan come some days before; it replaces an earlier."""
    svc.recall(plan["id"], "order_soon")
    if plan["next_at"] is None:
        return
    at = parse_time(plan["next_at"]) - REMINDS
    if at > svc.now:
        tell(svc, shop, "order_soon", said, about=plan["id"], at=iso(at))


def plan_due(svc: Service, table: str, post: Row) -> Json | None:
    """Return what a reminder of a plan's next order says by now, or None if none is to come."""
    plan = svc.db.get(table, post["about"])
    if plan is None or plan["next_at"] != post["data"]["next_at"]:
        return None
    return post["data"]


def order_fields(svc: Service, shop: Shop, row: Row) -> Json:
    """Return the fields of an order of this world."""
    tables = shop.tables
    items = life.items(svc, shop, row["id"])
    method = svc.db.get(f"{tables}_methods", row["method_id"]) or {}
    address = None
    if row["address_id"]:
        address = svc.db.get(f"{tables}_addresses", row["address_id"])
    store = None
    if row["store_id"]:
        store = svc.db.get(f"{tables}_stores", row["store_id"])
    return of_order(row, items, method=method, address=address, store=store)
