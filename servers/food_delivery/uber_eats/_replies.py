"""How Uber Eats shows orders: what was charged, what became of groceries, what is still to come."""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _rules as rules
from servers.food_delivery._pricing import price_json
from servers.food_delivery.uber_eats import _shopping as shopping
from servers.food_delivery.uber_eats._model import FEE_CONFIRMED, FEE_PREPARING, WORDS
from servers.kit.service import Service
from servers.kit.values import dollars

TOLD = {
    "scheduled": "Your order waits for its delivery window.",
    "placed": "The restaurant is about to confirm your order.",
    "confirmed": "The restaurant has confirmed your order.",
    "preparing": "Your order is being prepared.",
    "assigned": "Your courier is heading to the restaurant.",
    "on_the_way": "Your courier has picked up your order and is on the way.",
    "delivered": "Your order was delivered.",
    "cancelled": "Your order was canceled.",
}


def any_place(svc: Service, place_id: str) -> dict[str, Any]:
    """Return a restaurant or grocery store by its id, or refuse."""
    row = svc.db.get("uber_eats_restaurants", place_id)
    return row if row is not None else catalogue.find_place(svc, WORDS, place_id)


def place_ref(place: dict[str, Any]) -> dict[str, Any]:
    """Return restaurant_id or store_id (the other is null) and the name of a place."""
    grocery = place["kind"] == "grocery"
    ids = {
        "restaurant_id": None if grocery else place["id"],
        "store_id": place["id"] if grocery else None,
    }
    return ids | {"restaurant_name": place["name"]}


def total(svc: Service, row: dict[str, Any]) -> int:
    """Return what an order costs in the end, in cents: what was charged, and what replaced or missing groceries change."""
    return orders.charged(svc, WORDS, row).total + shopping.change(svc, row)


def order_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order for the agent."""
    place = orders.place_of(svc, WORDS, row)
    paid = orders.charged(svc, WORDS, row)
    change = shopping.change(svc, row)
    fee = orders.cancel_fee(svc, WORDS, row, FEE_CONFIRMED, FEE_PREPARING)
    return {
        "order_id": row["id"],
        **place_ref(place),
        "items": shopping.lines_json(svc, row),
        **price_json(paid),
        "adjustment": dollars(change),
        "total": dollars(paid.total + change),
        "status": WORDS.statuses[orders.status(row, svc.time)],
        "created_at": row["placed_at"],
        "scheduled_for": orders.window_of(row),
        "applied_promo": orders.promo_json(svc, WORDS, row),
        "delivery_address": orders.drop_off(svc, WORDS, row),
        "payment_method": rules.card_ref(svc, WORDS, row["method_id"]),
        "group_order_id": row["group_id"],
        "eta_min": orders.eta_min(row, svc.now),
        "delivered_at": row["delivered_at"]
        if orders.status(row, svc.time) == "delivered"
        else None,
        "cancellation_fee": None if fee is None else dollars(fee),
        "canceled_by": row["cancelled_by"],
        "refund": orders.refund_json(row, paid.total),
        "rating": row["rating"],
        "comment": row["comment"],
    }


def summary_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return an order of the history for the agent."""
    shown = {
        "order_id": row["id"],
        **place_ref(orders.place_of(svc, WORDS, row)),
        "total": dollars(total(svc, row)),
    }
    return shown | {
        "status": WORDS.statuses[orders.status(row, svc.time)],
        "created_at": row["placed_at"],
    }
