"""The life of an order: what it costs, where it stands, what the shopper found, and what is given back."""

from __future__ import annotations

import re
from typing import Any

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.values import iso, parse_time
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart._model import find_store, size

HOUR = 3600
DAY = 86_400
MISSED = {"high": 0.02, "low": 0.2, "out": 1.0}
"""How often a shopper does not find what the store thinks it has."""
HANDLED = 2 * HOUR
"""Seconds until a reported issue is decided."""
SERVICE_PERCENT = 5
SERVICE_LEAST = 199


def service_fee(subtotal: int) -> int:
    """Return the service fee in cents: 5 per cent, 1.99 dollars at least."""
    return max(SERVICE_LEAST, subtotal * SERVICE_PERCENT // 100)


def timetable(key: str, made: int, begin: int) -> dict[str, str]:
    """Return when the shopper starts, leaves the store and arrives, for a slot that begins at `begin`."""
    start = max(made + 600, begin - HOUR)
    leaves = start + 1500 + int(1200 * share("shopping", key))
    arrives = max(leaves + 900, begin + int(6900 * share("arrival", key)))
    late = share("is late", key) > 0.96
    return {
        "shop_at": iso(start),
        "leaves_at": iso(leaves),
        "arrives_at": iso(arrives + late * 4500),
    }


def status(row: dict[str, Any], now: str) -> str:
    """Return received, shopping, delivering, delivered or canceled."""
    if row["cancelled_at"] is not None:
        return "canceled"
    for moment, name in (
        ("shop_at", "received"),
        ("leaves_at", "shopping"),
        ("arrives_at", "delivering"),
    ):
        if now < row[moment]:
            return name
    return "delivered"


def find(svc: Service, order_id: str) -> dict[str, Any]:
    """Return an order, or refuse."""
    row = svc.db.get("instacart_orders", order_id)
    if row is None:
        svc.fail(
            "ORDER_NOT_FOUND",
            f"There is no order {order_id!r}.",
            "Take an order_id from list_orders.",
            order_id=order_id,
        )
    return row


def delivered(svc: Service, order_id: str, within: int, what: str) -> dict[str, Any]:
    """Return an order that was delivered within so many seconds, or refuse."""
    row = find(svc, order_id)
    state = status(row, svc.time)
    if state != "delivered":
        svc.fail(
            "ORDER_NOT_DELIVERED",
            f"Order {order_id} is {state}.",
            f"Wait for the delivery to {what}.",
            order_status=state,
        )
    if svc.now - parse_time(row["arrives_at"]) > within:
        message = f"Order {order_id} was delivered {row['arrives_at']}, too long ago to {what}."
        svc.fail(
            "WINDOW_CLOSED",
            message,
            "list_orders shows later orders.",
            delivered_at=row["arrives_at"],
        )
    return row


def items(svc: Service, order_id: str) -> list[dict[str, Any]]:
    """Return the rows of an order's items, in the order of the cart."""
    return svc.db.rows("instacart_order_items", "order_id=?", order_id, order="rowid")


def shop(svc: Service, row: dict[str, Any]) -> None:
    """Let the shopper go through the list: each item is found, replaced as wished, or refunded."""
    store = find_store(svc, row["store_id"])
    kept = stock.exceptions(svc, row["store_id"])
    at = parse_time(row["shop_at"])
    for item in items(svc, row["id"]):
        product = svc.db.get("instacart_products", item["product_id"]) or {}
        gone = (
            share("found", row["id"], item["product_id"])
            < MISSED[stock.level(store, product, at, kept)]
        )
        other = _instead(svc, store, item, product, at, kept) if gone else product
        if other is None:
            svc.db.update("instacart_order_items", item["id"], outcome="refunded", got_price=0)
        elif gone:
            paid = stock.price(store, other, at, kept)
            svc.db.update(
                "instacart_order_items",
                item["id"],
                outcome="replaced",
                got_id=other["id"],
                got_price=paid,
            )
        else:
            svc.db.update(
                "instacart_order_items",
                item["id"],
                outcome="found",
                got_id=product["id"],
                got_price=item["price"],
            )
    svc.db.update("instacart_orders", row["id"], shopped=True)


def _instead(
    svc: Service,
    store: dict[str, Any],
    item: dict[str, Any],
    product: dict[str, Any],
    at: int,
    kept: stock.Kept,
) -> dict[str, Any] | None:
    if item["preference"] == "best_match":
        return stock.nearest(svc, store, product, at, kept)
    named = (
        svc.db.get("instacart_products", item["replacement_id"])
        if item["preference"] == "specific"
        else None
    )
    return (
        named
        if named and stock.carries(store, named) and stock.level(store, named, at, kept) != "out"
        else None
    )


# -- issues -------------------------------------------------------------------------------------------------------
def issues(svc: Service, order_id: str) -> list[dict[str, Any]]:
    """Return the issues reported for an order, oldest first."""
    return svc.db.rows("instacart_issues", "order_id=?", order_id, order="created_at, rowid")


def worth(svc: Service, issue: dict[str, Any]) -> int:
    """Return the cents that an issue is worth: what was paid for the items it names, or the delivery fee of a late order."""
    if issue["issue_type"] == "late_delivery":
        row = find(svc, issue["order_id"])
        return row["delivery_fee"] if row["arrives_at"] > row["window_end"] else 0
    lines = items(svc, issue["order_id"])
    row = find(svc, issue["order_id"])
    paid = {i["product_id"]: i["quantity"] * (i["got_price"] or 0) for i in lines}
    whole = sum(paid.values())
    named = sum(paid[p] for p in issue["product_ids"])
    return named * (whole - min(row["discount"], whole)) // whole if whole else 0


def told(svc: Service, lines: list[dict[str, Any]], text: str) -> list[str]:
    """Return the product_ids of an order's lines that a text names, by the name or kind of what was asked for or put in the bag.

    The longest words count first, so that oat milk does not name the milk too.
    """
    known = []
    for item in lines:
        for product_id in (item["product_id"], item["got_id"]):
            product = svc.db.get("instacart_products", product_id) if product_id else None
            known += (
                [(_singular(product[k]), item["product_id"]) for k in ("name", "family")]
                if product
                else []
            )
    left = f" {_singular(text)} "
    found = set()
    for words in sorted({words for words, _ in known}, key=lambda w: (-len(w), w)):
        if f" {words} " in left:
            left = left.replace(f" {words} ", " | ")
            found |= {p for w, p in known if w == words}
    return [i["product_id"] for i in lines if i["product_id"] in found]


def _singular(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.casefold())
    return " ".join(
        re.sub(r"(?<=.)(?:(ie)s|(o)es|(?<!s)s)$", lambda m: "y" if m[1] else m[2] or "", w)
        for w in words
    )


def issue_json(svc: Service, issue: dict[str, Any]) -> dict[str, Any]:
    """Return an issue for the agent: it is decided two hours after the report."""
    decided = svc.now - parse_time(issue["created_at"]) >= HANDLED
    amount = worth(svc, issue)
    state = ("refunded" if amount else "declined") if decided else "received"
    return {
        "issue_id": issue["id"],
        "order_id": issue["order_id"],
        "issue_type": issue["issue_type"],
        "description": issue["description"],
        "product_ids": issue["product_ids"],
        "status": state,
        "refund": amount if state == "refunded" else 0,
        "created_at": issue["created_at"],
    }


# -- what it costs ------------------------------------------------------------------------------------------------
def pricing(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return the bill in cents; `final` once it was shopped for. Refunds are what was given back after the delivery."""
    lines = items(svc, row["id"])
    if row["cancelled_at"] is not None:
        bill = {
            "subtotal": 0,
            "discount": 0,
            "delivery_fee": 0,
            "service_fee": 0,
            "tip": 0,
            "cancel_fee": row["cancel_fee"],
        }
    else:
        subtotal = sum(
            i["quantity"] * (i["price"] if i["outcome"] is None else i["got_price"]) for i in lines
        )
        fees = {
            "delivery_fee": row["delivery_fee"],
            "service_fee": row["service_fee"],
            "tip": row["tip"],
            "cancel_fee": 0,
        }
        bill = {"subtotal": subtotal, "discount": min(row["discount"], subtotal)} | fees
    total = sum(bill.values()) - 2 * bill["discount"]
    back = sum(i["refund"] for i in (issue_json(svc, issue) for issue in issues(svc, row["id"])))
    return bill | {
        "total": total,
        "refunded": back,
        "net_total": total - back,
        "final": row["shopped"] or row["cancelled_at"] is not None,
    }


def item_json(svc: Service, item: dict[str, Any]) -> dict[str, Any]:
    """Return one line of an order: what was asked for and what came of it."""
    product = svc.db.get("instacart_products", item["product_id"]) or {}
    other = (
        svc.db.get("instacart_products", item["got_id"]) if item["outcome"] == "replaced" else None
    )
    return {
        "product_id": item["product_id"],
        "name": product["name"],
        "brand": product["brand"],
        "unit": size(product),
        "quantity": item["quantity"],
        "price": item["price"],
        "notes": item["notes"],
        "replacement_preference": item["preference"],
        "replacement_product_id": item["replacement_id"],
        "outcome": item["outcome"],
        "replaced_by": {
            "product_id": other["id"],
            "name": other["name"],
            "price": item["got_price"],
        }
        if other
        else None,
        "charged": item["quantity"]
        * (item["price"] if item["outcome"] is None else item["got_price"]),
    }


def summary(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order as lists show it."""
    return {
        "order_id": row["id"],
        "status": status(row, svc.time),
        "store_id": row["store_id"],
        "store_name": find_store(svc, row["store_id"])["name"],
        "item_count": sum(i["quantity"] for i in items(svc, row["id"])),
        "total": pricing(svc, row)["total"],
        "created_at": row["created_at"],
        "delivery_window": {
            "window_id": row["window_id"],
            "start": row["window_start"],
            "end": row["window_end"],
        },
    }


def order_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order whole."""
    state = status(row, svc.time)
    bill = pricing(svc, row)
    shopper = (
        svc.db.get("instacart_shoppers", row["shopper_id"])
        if state not in ("received", "canceled")
        else None
    )
    address = svc.db.get("instacart_addresses", row["address_id"]) or {}
    card = svc.db.get("instacart_cards", row["card_id"]) or {}
    rated = {"rating": row["rating"], "comment": row["comment"], "created_at": row["rated_at"]}
    return {
        **summary(svc, row),
        "shopper": {"name": shopper["name"], "rating": shopper["rating"]} if shopper else None,
        "items": [item_json(svc, i) for i in items(svc, row["id"])],
        "tip": bill["tip"],
        "coupon_code": row["coupon"],
        "pricing": bill,
        "address": {
            "address_id": row["address_id"],
            "label": address["label"],
            "street": address["street"],
            "city": address["city"],
        },
        "payment": {
            "payment_method_id": row["card_id"],
            "type": card["kind"],
            "last_four": card["last_four"],
        },
        "estimated_arrival": row["arrives_at"]
        if state in ("received", "shopping", "delivering")
        else None,
        "delivered_at": row["arrives_at"] if state == "delivered" else None,
        "canceled_at": row["cancelled_at"],
        "cancel_reason": row["cancel_reason"],
        "rating": rated if row["rating"] is not None else None,
        "issues": [issue_json(svc, issue) for issue in issues(svc, row["id"])],
    }
