"""What Instacart mails about an order, from the receipt to a decided complaint.

The functions that take rows and return fields are for generators, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from servers.kit import posts
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.shopping.instacart import _model as model
from servers.shopping.instacart import _orders as orders


# -- fields ----------------------------------------------------------------------------------------
def of_order(
    row: Row,
    items: Sequence[Row],
    names: Mapping[str, str],
    *,
    store: Row,
    address: Row,
    card: Row,
) -> Json:
    """Return the fields of an order; `names` are those of its products, by id."""
    bought = [item for item in items if item["outcome"] != "refunded"]
    subtotal = sum(orders.charged(item) for item in items)
    discount = min(row["discount"], subtotal)
    swaps = []
    for item in items:
        if item["outcome"] == "replaced":
            swaps.append(f"{names[item['product_id']]} - you got {names[item['got_id']]}")
    missed = [names[i["product_id"]] for i in items if i["outcome"] == "refunded"]
    fees = row["delivery_fee"] + row["service_fee"]
    return {
        "order": row["id"],
        "store": store["name"],
        "at": row["created_at"],
        "items": [f"{i['quantity']} x {names[i['got_id'] or i['product_id']]}" for i in bought],
        "prices": [orders.charged(item) for item in bought],
        "swapped": swaps,
        "missed": missed,
        "subtotal": subtotal,
        "discount": discount or None,
        "coupon": row["coupon"],
        "delivery_fee": row["delivery_fee"] or None,
        "service_fee": row["service_fee"],
        "tip": row["tip"] or None,
        "total": subtotal - discount + fees + row["tip"],
        "begins": row["window_start"],
        "ends": row["window_end"],
        "arrives_at": row["arrives_at"],
        "address": f"{address['street']}, {address['city']}",
        "paid_with": card_of(card),
    }


def card_of(card: Row) -> str:
    """Return a card as mails name it: its brand and the last four digits."""
    return f"{card['kind'].capitalize()} ending in {card['last_four']}"


def of_issue(issue: Row, names: Mapping[str, str], refund: int, order: Json) -> Json:
    """Return the fields of a complaint about an order whose fields are given."""
    return {
        "issue": issue["id"],
        "order": order["order"],
        "store": order["store"],
        "what": issue["issue_type"].replace("_", " "),
        "description": issue["description"],
        "items": [names[product_id] for product_id in issue["product_ids"]],
        "refund": refund or None,
        "paid_with": order["paid_with"],
    }


def decided(issue: Row, refund: int) -> tuple[str, str]:
    """Return what is mailed when a complaint is decided, and when."""
    at = iso(parse_time(issue["created_at"]) + orders.HANDLED)
    return ("issue_refunded" if refund else "issue_declined", at)


# -- posting ---------------------------------------------------------------------------------------
def tell(svc: Service, occasion: str, said: Json, *, about: str, at: str | None = None) -> None:
    """Mail the account's owner, now or at a moment (ISO), with the fields that are needed."""
    needed = posts.templates(svc.name).fields(occasion)
    data = {name: value for name, value in said.items() if name in needed}
    later = None if at is None else parse_time(at)
    svc.post(occasion, model.profile(svc)["email"], data, about=about, due=later)


def placed(svc: Service, row: Row) -> None:
    """Mail that an order was placed, and later that its shopper has begun."""
    said = fields(svc, row)
    tell(svc, "order_placed", said, about=row["id"])
    tell(svc, "shopping_started", said, about=row["id"], at=row["shop_at"])


def left_store(svc: Service, row: Row) -> None:
    """Mail what the shopper found, and the receipt when the order arrives."""
    said = fields(svc, row)
    tell(svc, "on_its_way", said, about=row["id"])
    tell(svc, "delivered", said, about=row["id"], at=row["arrives_at"])


def complained(svc: Service, issue: Row) -> None:
    """Mail that a complaint has come in, and later what was decided."""
    refund = orders.worth(svc, issue)
    said = of_issue(issue, _names(svc), refund, fields(svc, orders.find(svc, issue["order_id"])))
    tell(svc, "issue_received", said, about=issue["id"])
    occasion, at = decided(issue, refund)
    tell(svc, occasion, said, about=issue["id"], at=at)


def due(svc: Service, post: Row) -> Json | None:
    """Return what a post of a later moment says by now, or None if the order was canceled."""
    row = svc.db.get("instacart_orders", post["about"])
    if row is None:
        return post["data"]
    return None if row["cancelled_at"] is not None else fields(svc, row)


def fields(svc: Service, row: Row) -> Json:
    """Return the fields of an order of this world."""
    return of_order(
        row,
        orders.items(svc, row["id"]),
        _names(svc),
        store=model.find_store(svc, row["store_id"]),
        address=svc.db.get("instacart_addresses", row["address_id"]) or {},
        card=svc.db.get("instacart_cards", row["card_id"]) or {},
    )


class _Names(dict[str, str]):
    """The names of products by id, looked up where they are asked for."""

    def __init__(self, svc: Service) -> None:
        super().__init__()
        self._svc = svc

    def __missing__(self, product_id: str) -> str:
        row = self._svc.db.get("instacart_products", product_id) or {}
        self[product_id] = row["name"]
        return row["name"]


def _names(svc: Service) -> Mapping[str, str]:
    return _Names(svc)
