"""Orders: quotes, placing and scheduling, tracking, cancelling, rating."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import Items, RestaurantId
from servers.food_delivery._orders import OrderId
from servers.food_delivery._pricing import Draft, Token
from servers.food_delivery._rules import AddressId, Comment, MethodId, OfferId, Reason, Tip
from servers.food_delivery.uber_eats._model import (
    FEE_CONFIRMED,
    FEE_PREPARING,
    STAGE_TEXTS,
    TARIFF,
    WINDOW_DAYS,
    WINDOW_MINUTES,
    WORDS,
    any_place,
    confirm,
    order_json,
    summary_json,
)
from servers.kit.control import seeded
from servers.kit.fields import Rating
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="A key of your choice; a repeat with the same key places no new order.",
    ),
]
WindowId = Annotated[
    str, Field(description="window_id, from get_delivery_windows of the same place.")
]
State = Annotated[
    Literal[
        "scheduled",
        "placed",
        "confirmed",
        "preparing",
        "courier_assigned",
        "picked_up",
        "delivered",
        "canceled",
    ],
    Field(description="Only orders with this status."),
]
BREAKFAST = {
    "restaurant_id": seeded("uer", "hazel_hawthorne"),
    "items": [
        {
            "item_id": seeded("uei", "hazel_hawthorne/latte"),
            "quantity": 2,
            "selected_options": [seeded("uex", "size/large")],
        },
        {"item_id": seeded("uei", "hazel_hawthorne/oat-cookie"), "quantity": 1},
    ],
    "delivery_address_id": seeded("uea", "home"),
}
PAID = BREAKFAST | {"payment_method_id": seeded("uep", "visa"), "tip": 3}


class Ordering(Service):
    """Orders, from the quote to the rating."""

    def _draft(
        self,
        place: Row,
        items: list[Any],
        address_id: str,
        tip: int,
        offer_id: str | None,
        window_id: str | None = None,
        token: str | None = None,
    ) -> Draft:
        window = None
        if window_id is not None:
            window = pricing.find_window(
                self, WORDS, place, window_id, WINDOW_MINUTES, WINDOW_DAYS, self.now
            )
        address = rules.find_address(self, WORDS, address_id)
        return pricing.draft(
            self,
            WORDS,
            TARIFF,
            place,
            items,
            address,
            tip=tip,
            offer_id=offer_id,
            window=window,
            token=token,
        )

    def _order(
        self, place: Row, items: list[Any], card: str, key: str | None, **terms: Any
    ) -> Json:
        """Place an order, or return the one that was placed with the same key.

        `terms` are the other arguments of `_draft`.
        """
        row = self._repeated(key, place["id"], items)
        if row is None:
            draft = self._draft(place, items, **terms)
            row = orders.submit(self, WORDS, draft, card, idempotency_key=key)
            confirm(self, row)
        return order_json(self, row)

    def _repeated(self, key: str | None, place_id: str, items: list[Any]) -> Row | None:
        """Return the order that was placed with a key, if there is one.

        A key that was used for a different order is refused.
        """
        rows = [] if key is None else self.db.rows("uber_eats_orders", "idempotency_key=?", key)
        if not rows:
            return None
        row = rows[0]
        lines = orders.lines(self, WORDS, row["id"])
        ordered = [(r["item_id"], r["quantity"], sorted(r["options"])) for r in lines]
        wanted = [
            (item["item_id"], item["quantity"], sorted(item.get("selected_options", [])))
            for item in items
        ]
        if row["restaurant_id"] != place_id or sorted(ordered) != sorted(wanted):
            message = "This key was already used for another order."
            hint = "Use a new key for a new order."
            self.fail("IDEMPOTENCY_KEY_REUSED", message, hint, order_id=row["id"])
        return row

    @reads(example=BREAKFAST | {"tip": 3})
    def get_order_quote(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        tip: Tip = 0,
        offer_id: OfferId | None = None,
        window_id: WindowId | None = None,
    ) -> Json:
        """Return what an order would cost in dollars, fee by fee, without placing it.

        It is refused if the order would be. The store_id of a grocery store works as well. Passing
        quote_token with the same order within ten minutes locks this price.
        """
        place = any_place(self, restaurant_id)
        draft = self._draft(place, items, delivery_address_id, tip, offer_id, window_id)
        away = catalogue.distance(place, draft.address) or 0.0
        return pricing.quote_json(draft, orders.pace(place, away, draft.moment).deliver)

    @writes(example=PAID)
    def submit_food_order(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        tip: Tip = 0,
        offer_id: OfferId | None = None,
        quote_token: Token | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Order from an open restaurant for immediate delivery, and charge the card.

        Returns the order with its order_id and total.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        return self._order(
            place,
            items,
            payment_method_id,
            idempotency_key,
            address_id=delivery_address_id,
            tip=tip,
            offer_id=offer_id,
            token=quote_token,
        )

    @writes(
        example=PAID | {"window_id": "${windows.windows.4.window_id}"},
        setup=(Setup("get_delivery_windows", {"restaurant_id": PAID["restaurant_id"]}, "windows"),),
    )
    def schedule_order(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        window_id: WindowId,
        tip: Tip = 0,
        offer_id: OfferId | None = None,
        quote_token: Token | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Order for a later delivery window, also from a restaurant that is closed now.

        The order stays scheduled until shortly before the window.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        return self._order(
            place,
            items,
            payment_method_id,
            idempotency_key,
            address_id=delivery_address_id,
            tip=tip,
            offer_id=offer_id,
            window_id=window_id,
            token=quote_token,
        )

    @reads(example={"order_id": seeded("ueo", "latest-lunch")})
    def get_order(self, order_id: OrderId) -> Json:
        """Return an order of meals or groceries: items, fees, total, status, ETA and refund.

        cancellation_fee is what canceling would cost right now, or null if it is too late to
        cancel. For groceries, each item shows its fulfillment.
        """
        return order_json(self, orders.find_order(self, WORDS, order_id))

    @reads(example={"limit": 10})
    def get_order_history(
        self,
        status: State | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders, newest first.

        Each has order_id, restaurant_name, total in dollars, status and created_at.
        """
        rows = orders.orders(self, WORDS, from_date, to_date)
        if status is not None:
            rows = rows.keep(lambda r: WORDS.statuses[orders.status(r, self.time)] == status)
        return page(rows, "orders", limit, cursor, lambda row: summary_json(self, row))

    @reads(
        example={"order_id": "${order.order_id}"},
        setup=(Setup("submit_food_order", PAID, "order"),),
    )
    def track_order(self, order_id: OrderId) -> Json:
        """Return how far along an order is.

        Returns courier_name (once assigned), status, eta_min, current_stage in words, and the
        stages so far.
        """
        row = orders.find_order(self, WORDS, order_id)
        state = orders.status(row, self.time)
        return {
            "order_id": order_id,
            "courier_name": orders.courier_of(row, self.time),
            "status": WORDS.statuses[state],
            "eta_min": orders.eta_min(row, self.now),
            "current_stage": STAGE_TEXTS[state],
            "stages": orders.timeline(row, WORDS, self.time),
        }

    @writes(
        example={"order_id": "${order.order_id}", "reason": "Ordered to the wrong address"},
        setup=(Setup("submit_food_order", PAID, "order"),),
        destructive=True,
    )
    def cancel_food_order(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order: free until the restaurant confirms it, then for 40 % of the items.

        An order that has been picked up cannot be canceled. Returns the fee and the refund to the
        card, in dollars.
        """
        row = orders.find_order(self, WORDS, order_id)
        fee = orders.cancel_fee(self, WORDS, row, FEE_CONFIRMED, FEE_PREPARING)
        paid = orders.charged(self, WORDS, row).total
        orders.cancel(self, WORDS, row, fee, reason)
        row = orders.find_order(self, WORDS, order_id)
        canceled = mail.of_cancellation(row, paid)
        mail.tell(self, WORDS, "canceled", mail.letter(self, WORDS, row) | canceled)
        return orders.cancelled_json(row, fee or 0, paid)

    @writes(
        example={
            "order_id": seeded("ueo", "latest-lunch"),
            "rating": 5,
            "comment": "Still hot, and the courier found the door.",
        }
    )
    def rate_order(self, order_id: OrderId, rating: Rating, comment: Comment | None = None) -> Json:
        """Rate a delivered order, once and within 30 days of its delivery, and return it."""
        row = orders.find_order(self, WORDS, order_id)
        orders.rate(self, WORDS, row, rating=rating, comment=comment)
        return order_json(self, orders.find_order(self, WORDS, order_id))
