"""What Uber Eats and DoorDash mail about an order, to the person who placed it.

The functions that return fields are for generators, too, which write the past from the same
templates.
"""

from __future__ import annotations

from collections.abc import Iterable

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery._pricing import Price
from servers.food_delivery._rules import Words
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import parse_time

DECISIONS = ("refunded", "refund_declined")
"""What is mailed when a refund that was asked for is decided."""


def tell(
    svc: Service,
    words: Words,
    occasion: str,
    said: Json,
    *,
    about: str | None = None,
    due: int | None = None,
) -> None:
    """Mail the account's owner about an order, or something `about` it; `said` has its fields."""
    to = svc.db.rows(f"{words.tables}_profile")[0]["email"]
    svc.post(occasion, to, said, about=about or said["reference"], due=due)


def decision(svc: Service, words: Words, post: Row) -> Json | None:
    """Return what a letter about a refund says, or None if nobody asks for it any more."""
    asked = svc.db.get(f"{words.tables}_refund_requests", post["about"])
    return None if asked is None else post["data"]


def may_come(svc: Service, words: Words, row: Row | None, post: Row) -> bool:
    """Return whether a letter about an order, posted for later, is still right now that it is due.

    A cancelled order brings nothing. If the delivery has moved, the letter comes then.
    """
    if row is None or row["cancelled_at"] is not None:
        return False
    if post["template"] == "delivered" and row["delivered_at"] > svc.time:
        moment = parse_time(row["delivered_at"])
        tell(svc, words, "delivered", post["data"], due=moment)
        return False
    return True


def letter(svc: Service, words: Words, row: Row) -> Json:
    """Return the fields of what is mailed about an order."""
    lines = orders.lines(svc, words, row["id"])
    names = []
    for line in lines:
        picked = catalogue.option_names(svc, words, line["item_id"], line["options"])
        names.append(named(line, (choice["name"] for choice in picked)))
    card = svc.db.get(f"{words.tables}_cards", row["method_id"])
    address = None
    if row["address_id"]:
        address = svc.db.get(f"{words.tables}_addresses", row["address_id"])
    place = orders.place_of(svc, words, row)
    return of_order(row, lines, names, orders.charged(svc, words, row), place, card, address)


def named(line: Row, options: Iterable[str]) -> str:
    """Return what a line of an order is called: its name, with the names of its options."""
    chosen = ", ".join(options)
    return f"{line['name']} ({chosen})" if chosen else line["name"]


def of_order(
    row: Row,
    lines: Iterable[Row],
    names: list[str],
    paid: Price,
    place: Row,
    card: Row | None,
    address: Row | None,
) -> Json:
    """Return the fields of an order; `names` say what its lines are called."""
    window = row["window_start"]
    return {
        "reference": row["id"],
        "place": place["name"],
        "placed_at": row["placed_at"],
        "window_start": window,
        "window_minutes": window and _minutes(window, row["window_end"]),
        "delivered_at": row["delivered_at"],
        "expected_at": None if window else row["delivered_at"],
        "courier": row["courier"],
        "counts": [line["quantity"] for line in lines],
        "items": names,
        "prices": [line["quantity"] * line["unit_price"] for line in lines],
        "subtotal": paid.subtotal,
        "delivery": paid.delivery,
        "service": paid.service,
        "tax": paid.tax,
        "tip": paid.tip or None,
        "discount": paid.discount or None,
        "total": paid.total,
        "card": card and f"{card['brand'].capitalize()} ending in {card['last4']}",
        "address": address and _address(address),
    }


def of_cancellation(row: Row, paid: int) -> Json:
    """Return the fields of a cancellation, besides those of its order; `paid` is in cents."""
    fee = row["cancel_fee"] or 0
    return {
        "canceled_at": row["cancelled_at"],
        "canceled_by": "you" if row["cancelled_by"] == "customer" else f"the {row['cancelled_by']}",
        "reason": row["cancel_reason"],
        "fee": fee,
        "refund": paid - fee,
    }


def of_gift(gift: Row) -> Json:
    """Return the fields of a gift, besides those of its order."""
    return {
        "recipient": gift["recipient_name"],
        "phone": gift["recipient_phone"],
        "message": gift["message"],
        "claims_at": gift["claims_at"],
        "claim_by": gift["claim_by"],
    }


def _minutes(begin: str, end: str) -> int:
    return (parse_time(end) - parse_time(begin)) // 60


def _address(row: Row) -> str:
    return f"{row['street']}, {row['city']}, {row['state']} {row['zip']}"
