"""How a shopper fills a grocery order: item after item, and what becomes of one that is sold out by then.

The outcome of each line is a function of the shelf at the moment when the shopper comes to it and of the preference that held then.
"""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery.uber_eats._model import WORDS
from servers.kit.service import Service
from servers.kit.values import dollars, iso, parse_time

ASKS_FOR = 480
"""Seconds for which the shopper waits for an answer, or until the bags leave the store."""


def is_grocery(svc: Service, row: dict[str, Any]) -> bool:
    """Return whether an order is one of groceries."""
    return (svc.db.get("uber_eats_restaurants", row["restaurant_id"]) or {}).get(
        "kind"
    ) == "grocery"


def picked_at(row: dict[str, Any], place: int, count: int) -> int:
    """Return when the shopper comes to a line: they are spread over the time of shopping."""
    first = parse_time(row["preparing_at"])
    last = parse_time(row["picked_up_at"])
    return first + (last - first) * (place + 1) // (count + 1)


def preference(svc: Service, order_id: str, item_id: str, until: str) -> dict[str, Any] | None:
    """Return the preference for an item that was set last until a moment (ISO)."""
    known = svc.db.rows(
        "uber_eats_substitutions",
        "order_id=? AND item_id=? AND set_at<=?",
        order_id,
        item_id,
        until,
        order="rowid",
    )
    return known[-1] if known else None


def outcome(svc: Service, row: dict[str, Any], line: dict[str, Any], moment: int) -> dict[str, Any]:
    """Return what became of a line by now: `state` pending, found, asking, refunded or substituted; `change` in cents; `item` put in.

    `moment` is when the shopper came to it. Without a preference an item that is out is refunded.
    """
    nothing = {"change": 0, "item": None}
    if svc.now < moment or (row["cancelled_at"] is not None and row["cancelled_at"] < iso(moment)):
        return {"state": "pending"} | nothing
    wanted = svc.db.get("uber_eats_items", line["item_id"]) or {}
    if catalogue.available(wanted, moment):
        return {"state": "found"} | nothing
    wish = preference(svc, row["id"], line["item_id"], iso(moment))
    deadline = min(moment + ASKS_FOR, parse_time(row["picked_up_at"]))
    if wish is not None and wish["preference"] == "contact_me":
        wish = preference(svc, row["id"], line["item_id"], iso(deadline))
        if wish is not None and wish["preference"] == "contact_me" and svc.now < deadline:
            return {"state": "asking"} | nothing
    refunded = {"state": "refunded", "change": -line["unit_price"] * line["quantity"], "item": None}
    if wish is None or wish["preference"] != "substitute":
        return refunded
    instead = (
        best(svc, wanted, moment)
        if wish["substitute_id"] is None
        else svc.db.get("uber_eats_items", wish["substitute_id"])
    )
    if instead is None or not catalogue.available(instead, moment):
        return refunded
    return {
        "state": "substituted",
        "change": (instead["price"] - line["unit_price"]) * line["quantity"],
        "item": instead,
    }


def best(svc: Service, wanted: dict[str, Any], moment: int) -> dict[str, Any] | None:
    """Return the available item of the same section whose price is nearest."""
    shelf = svc.db.rows(
        "uber_eats_items",
        "restaurant_id=? AND section=? AND id<>?",
        wanted["restaurant_id"],
        wanted["section"],
        wanted["id"],
    )
    found = [i for i in shelf if catalogue.available(i, moment)]
    return min(found, key=lambda i: (abs(i["price"] - wanted["price"]), i["id"]), default=None)


def outcomes(
    svc: Service, row: dict[str, Any]
) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Return the lines of an order, each with its outcome; None for meals."""
    found = svc.db.rows("uber_eats_lines", "order_id=?", row["id"], order="rowid")
    if not is_grocery(svc, row):
        return [(line, None) for line in found]
    undone = {"change": 0} if row["cancelled_at"] is not None else {}
    return [
        (line, outcome(svc, row, line, picked_at(row, n, len(found))) | undone)
        for n, line in enumerate(found)
    ]


def change(svc: Service, row: dict[str, Any]) -> int:
    """Return by how many cents replaced and missing items change what was charged; a promotion takes off no more than what is bought."""
    if row["cancelled_at"] is not None:
        return 0
    found = outcomes(svc, row)
    bought = sum(
        line["unit_price"] * line["quantity"] + (done["change"] if done else 0)
        for line, done in found
    )
    return sum(done["change"] for _, done in found if done is not None) + max(
        0, row["discount"] - bought
    )


def lines_json(svc: Service, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of an order for the agent; those of groceries tell the preference and what became of them."""
    shown = []
    for line, done in outcomes(svc, row):
        item = orders.line_json(svc, WORDS, line) | {"participant_name": line["participant"]}
        if done is not None:
            wish = preference(svc, row["id"], line["item_id"], svc.time)
            instead = done["item"]
            item |= {
                "substitution_preference": wish["preference"] if wish else "refund",
                "substitute_item_id": wish["substitute_id"] if wish else None,
                "fulfillment": done["state"],
                "replaced_by": instead
                and {
                    "item_id": instead["id"],
                    "name": instead["name"],
                    "price": dollars(instead["price"]),
                },
                "adjustment": dollars(done["change"]),
            }
        shown.append(item)
    return shown
