"""The life of an order: its price and status, what the shopper found, and refunds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart._model import find_store, size

HOUR = 3600
DAY = 86_400
MISSED = {"high": 0.02, "low": 0.2, "out": 1.0}
"""How often a shopper cannot find an item, by its stock level."""
HANDLED = 2 * HOUR
"""Seconds until a reported issue is decided."""
SERVICE_PERCENT = 5
SERVICE_LEAST = 199
"""The minimum service fee, in cents."""
LATE = 4500
"""How late a late order is, in seconds."""


def service_fee(subtotal: int) -> int:
    """Return the service fee in cents: 5 percent, but at least $1.99."""
    return max(SERVICE_LEAST, subtotal * SERVICE_PERCENT // 100)


def timetable(key: str, ordered: int, begin: int) -> dict[str, str]:
    """Return when the shopper starts, leaves the store and arrives.

    The order was placed at `ordered`, and its slot starts at `begin`.
    """
    start = max(ordered + 600, begin - HOUR)
    leaves = start + 1500 + int(1200 * share("shopping", key))
    arrives = max(leaves + 900, begin + int(6900 * share("arrival", key)))
    if share("is late", key) > 0.96:
        arrives += LATE
    return {"shop_at": iso(start), "leaves_at": iso(leaves), "arrives_at": iso(arrives)}


def status(row: Row, now: str) -> str:
    """Return received, shopping, delivering, delivered or canceled."""
    if row["cancelled_at"] is not None:
        return "canceled"
    if now < row["shop_at"]:
        return "received"
    if now < row["leaves_at"]:
        return "shopping"
    if now < row["arrives_at"]:
        return "delivering"
    return "delivered"


def find(svc: Service, order_id: str) -> Row:
    """Return an order; fail if it does not exist."""
    row = svc.db.get("instacart_orders", order_id)
    if row is None:
        message = f"There is no order with the ID {order_id!r}."
        hint = "Use an order_id from list_orders."
        svc.fail("ORDER_NOT_FOUND", message, hint, order_id=order_id)
    return row


def delivered(svc: Service, order_id: str, within: int, what: str) -> dict[str, Any]:
    """Return an order that was delivered at most `within` seconds ago; fail otherwise."""
    row = find(svc, order_id)
    state = status(row, svc.time)
    if state != "delivered":
        message = f"Order {order_id} has not been delivered; its status is {state}."
        hint = f"You can {what} after the delivery."
        svc.fail("ORDER_NOT_DELIVERED", message, hint, order_status=state)
    if svc.now - parse_time(row["arrives_at"]) > within:
        message = (
            f"Order {order_id} was delivered at {row['arrives_at']}; it is too late to {what}."
        )
        hint = "list_orders shows more recent orders."
        svc.fail("WINDOW_CLOSED", message, hint, delivered_at=row["arrives_at"])
    return row


def items(svc: Service, order_id: str) -> list[Row]:
    """Return the rows of an order's items, in the order of the cart."""
    return svc.db.rows("instacart_order_items", "order_id=?", order_id, order="rowid")


def missed(order_id: str, product_id: str, level: str) -> bool:
    """Return whether the shopper fails to find a product with this stock level."""
    return share("found", order_id, product_id) < MISSED[level]


def shop(svc: Service, row: Row) -> None:
    """Let the shopper go through the list: each item is found, replaced or refunded."""
    store = find_store(svc, row["store_id"])
    exceptions = stock.exceptions_of(svc, row["store_id"])
    at = parse_time(row["shop_at"])
    for item in items(svc, row["id"]):
        product = svc.db.get("instacart_products", item["product_id"]) or {}
        outcome: dict[str, Any]
        if not missed(row["id"], item["product_id"], stock.level(store, product, at, exceptions)):
            outcome = {"outcome": "found", "got_id": product["id"], "got_price": item["price"]}
        elif other := _instead(svc, store, item, product, at, exceptions):
            paid = stock.price(store, other, at, exceptions)
            outcome = {"outcome": "replaced", "got_id": other["id"], "got_price": paid}
        else:
            outcome = {"outcome": "refunded", "got_price": 0}
        svc.db.update("instacart_order_items", item["id"], **outcome)
    svc.db.update("instacart_orders", row["id"], shopped=True)


def _instead(
    svc: Service,
    store: Row,
    item: Row,
    product: Row,
    at: int,
    exceptions: stock.Exceptions,
) -> Row | None:
    """Return the replacement for a product that was not found, or None for a refund."""
    if item["preference"] == "best_match":
        return stock.nearest(svc, store, product, at, exceptions)
    if item["preference"] != "specific":
        return None
    named = svc.db.get("instacart_products", item["replacement_id"])
    if named is None or not stock.in_stock(store, named, at, exceptions):
        return None
    return named


# -- issues ---------------------------------------------------------------------------------------
def issues(svc: Service, order_id: str) -> list[Row]:
    """Return the issues reported for an order, oldest first."""
    return svc.db.rows("instacart_issues", "order_id=?", order_id, order="created_at, rowid")


def worth(svc: Service, issue: Row) -> int:
    """Return the refund for an issue, in cents.

    It is what was paid for the items it names, or the delivery fee of a late order.
    """
    return refund(issue, find(svc, issue["order_id"]), items(svc, issue["order_id"]))


def refund(issue: Row, row: Row, lines: Sequence[Row]) -> int:
    """Return the refund for an issue of an order with these lines, in cents."""
    if issue["issue_type"] == "late_delivery":
        return row["delivery_fee"] if row["arrives_at"] > row["window_end"] else 0
    paid = {i["product_id"]: i["quantity"] * (i["got_price"] or 0) for i in lines}
    whole = sum(paid.values())
    if not whole:
        return 0
    named = sum(paid[product_id] for product_id in issue["product_ids"])
    return named * (whole - min(row["discount"], whole)) // whole


def named_in(svc: Service, lines: list[Row], text: str) -> list[str]:
    """Return the product_ids of the order lines that a text mentions.

    It may mention the product that was ordered or the one that was delivered, by its name or kind.
    The longest phrases are matched first, so that "oat milk" does not also mention the milk.
    """
    meant: dict[str, set[str]] = {}  # product_ids by the words that mention them
    for item in lines:
        for product_id in (item["product_id"], item["got_id"]):
            product = svc.db.get("instacart_products", product_id) if product_id else None
            if product is not None:
                for words in (_singular(product["name"]), _singular(product["family"])):
                    meant.setdefault(words, set()).add(item["product_id"])
    left = f" {_singular(text)} "
    named: set[str] = set()
    for words in sorted(meant, key=lambda w: (-len(w), w)):
        if f" {words} " in left:
            left = left.replace(f" {words} ", " | ")
            named |= meant[words]
    return [i["product_id"] for i in lines if i["product_id"] in named]


_PLURAL = re.compile(r"(?<=.)(?:(ie)s|(o)es|(?<!s)s)$")


def _singular(text: str) -> str:
    """Return a text's words in lower case and in the singular."""

    def ending(plural: re.Match[str]) -> str:
        return "y" if plural[1] else plural[2] or ""

    words = re.findall(r"[^\W_]+", text.casefold())
    return " ".join(_PLURAL.sub(ending, word) for word in words)


def issue_json(svc: Service, issue: Row) -> Json:
    """Return an issue as replies show it; it is decided two hours after the report."""
    amount = worth(svc, issue)
    state = "received"
    if svc.now - parse_time(issue["created_at"]) >= HANDLED:
        state = "refunded" if amount else "declined"
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


# -- bills and JSON -------------------------------------------------------------------------------
def pricing(svc: Service, row: Row) -> Json:
    """Return the bill in cents; `final` is true once the shopper is done.

    `refunded` is what was refunded after the delivery.
    """
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
        subtotal = sum(charged(item) for item in items(svc, row["id"]))
        bill = {
            "subtotal": subtotal,
            "discount": min(row["discount"], subtotal),
            "delivery_fee": row["delivery_fee"],
            "service_fee": row["service_fee"],
            "tip": row["tip"],
            "cancel_fee": 0,
        }
    total = sum(bill.values()) - 2 * bill["discount"]
    refunded = sum(issue_json(svc, issue)["refund"] for issue in issues(svc, row["id"]))
    return bill | {
        "total": total,
        "refunded": refunded,
        "net_total": total - refunded,
        "final": row["shopped"] or row["cancelled_at"] is not None,
    }


def charged(item: Row) -> int:
    """Return the cost of a line in cents: as ordered or, once the shopper is done, as delivered."""
    return item["quantity"] * (item["price"] if item["outcome"] is None else item["got_price"])


def item_json(svc: Service, item: Row) -> Json:
    """Return one line of an order: what was ordered and what became of it."""
    product = svc.db.get("instacart_products", item["product_id"]) or {}
    replacement = None
    if item["outcome"] == "replaced":
        other = svc.db.get("instacart_products", item["got_id"])
        if other is not None:
            paid = item["got_price"]
            replacement = {"product_id": other["id"], "name": other["name"], "price": paid}
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
        "replaced_by": replacement,
        "charged": charged(item),
    }


def summary(svc: Service, row: Row) -> Json:
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


def order_json(svc: Service, row: Row) -> Json:
    """Return an order in full."""
    state = status(row, svc.time)
    bill = pricing(svc, row)
    shopper = None
    if state not in ("received", "canceled"):
        shopper = svc.db.get("instacart_shoppers", row["shopper_id"])
    under_way = state in ("received", "shopping", "delivering")
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
        "estimated_arrival": row["arrives_at"] if under_way else None,
        "delivered_at": row["arrives_at"] if state == "delivered" else None,
        "canceled_at": row["cancelled_at"],
        "cancel_reason": row["cancel_reason"],
        "rating": rated if row["rating"] is not None else None,
        "issues": [issue_json(svc, issue) for issue in issues(svc, row["id"])],
    }
