"""Orders ("dashes"): previewing, placing, scheduling, reordering, tracking, cancelling, rating."""

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
from servers.food_delivery.doordash._model import (
    SLOT_DAYS,
    SLOT_MINUTES,
    STAGE_TEXTS,
    TARIFF,
    WORDS,
    cancel_fee,
    confirm,
    eta,
    order_json,
    status,
)
from servers.kit.control import seeded
from servers.kit.fields import Rating
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, iso, page

SlotId = Annotated[
    str, Field(description="slot_id, from get_scheduled_slots of the same restaurant.")
]
Twice = Annotated[
    bool,
    Field(description="Place the order even if the same one was placed in the last five minutes."),
]
State = Annotated[
    Literal[
        "scheduled",
        "received",
        "confirmed",
        "being_prepared",
        "dasher_assigned",
        "on_the_way",
        "delivered",
        "cancelled",
        "awaiting_claim",
        "expired",
    ],
    Field(description="Only orders with this status."),
]
TWICE_WITHIN = 300
"""Seconds within which the same order again is taken for a mistake."""
COFFEE = {
    "restaurant_id": seeded("ddr", "hazel_hawthorne"),
    "items": [
        {
            "item_id": seeded("ddi", "hazel_hawthorne/latte"),
            "quantity": 2,
            "selected_options": [seeded("ddx", "size/small")],
        },
        {"item_id": seeded("ddi", "hazel_hawthorne/oat-cookie"), "quantity": 2},
    ],
    "delivery_address_id": seeded("dda", "home"),
}
DASH = COFFEE | {"payment_method_id": seeded("ddp", "visa"), "tip": 2.5}


def _contents(lines: list[Row]) -> list[tuple[str, int, list[str]]]:
    """Return the contents of an order's lines, independent of the order of the lines."""
    return sorted((line["item_id"], line["quantity"], sorted(line["options"])) for line in lines)


def _price_changes(old_lines: list[Row], new_lines: list[Row]) -> list[dict[str, Any]]:
    changes = []
    for old, new in zip(old_lines, new_lines, strict=True):
        if old["unit_price"] != new["unit_price"]:
            change = {
                "item_id": new["item_id"],
                "name": new["name"],
                "then": dollars(old["unit_price"]),
                "now": dollars(new["unit_price"]),
            }
            changes.append(change)
    return changes


class Dashes(Service):
    """Orders, from the preview to the rating."""

    def _draft(
        self,
        restaurant_id: str,
        items: list[Any],
        address_id: str,
        slot_id: str | None = None,
        **terms: Any,
    ) -> Draft:
        """Return the order that would be placed; `terms` are arguments of `pricing.draft`."""
        place = catalogue.find_place(self, WORDS, restaurant_id)
        if slot_id is not None:
            terms["window"] = pricing.find_window(
                self, WORDS, place, slot_id, SLOT_MINUTES, SLOT_DAYS, self.now
            )
        address = rules.find_address(self, WORDS, address_id)
        return pricing.draft(self, WORDS, TARIFF, place, items, address, **terms)

    def _submit(self, draft: Draft, card: str, twice: bool, **extra: Any) -> dict[str, Any]:
        """Place an order and return its row; unless `twice`, refuse a repeat within minutes."""
        if not twice:
            self._refuse_repeat(draft)
        row = orders.submit(self, WORDS, draft, card, **extra)
        confirm(self, row)
        return row

    def _refuse_repeat(self, draft: Draft) -> None:
        """Refuse an order that equals one placed within the last minutes."""
        contents = _contents(draft.lines)
        address_id = draft.address["id"] if draft.address else None
        window_start = iso(draft.window[0]) if draft.window else None
        place_id = draft.place["id"]
        since = iso(self.now - TWICE_WITHIN)
        recent = self.db.rows("doordash_orders", "restaurant_id=? AND placed_at>?", place_id, since)
        for row in recent:
            if row["cancelled_at"] is not None:
                continue
            if (row["address_id"], row["window_start"]) != (address_id, window_start):
                continue
            if _contents(self._own_lines(row["id"])) == contents:
                message = "The same order was placed a few minutes ago."
                hint = "Check it with get_dash; pass allow_duplicate if you want it twice."
                earlier = {"order_id": row["id"], "placed_at": row["placed_at"]}
                self.fail("DUPLICATE_ORDER", message, hint, **earlier)

    def _own_lines(self, order_id: str) -> list[dict[str, Any]]:
        """Return the lines of an order without those from an add-on store."""
        lines = orders.lines(self, WORDS, order_id)
        return [line for line in lines if line["store_id"] is None]

    @reads(example=COFFEE | {"tip": 2.5})
    def preview_dash(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        offer_id: OfferId | None = None,
        slot_id: SlotId | None = None,
        tip: Tip = 0,
    ) -> Json:
        """Work out what an order would cost, without placing it.

        Returns subtotal, fees, tax, discount, total and estimated time. It is refused if the order
        would be. Passing quote_token to place_dash or place_scheduled_order locks this price for
        ten minutes.
        """
        draft = self._draft(
            restaurant_id, items, delivery_address_id, slot_id, tip=tip, offer_id=offer_id
        )
        away = catalogue.distance(draft.place, draft.address) or 0.0
        seconds = orders.pace(draft.place, away, draft.moment).deliver
        return {"restaurant_id": restaurant_id} | pricing.quote_json(draft, seconds)

    @writes(example=DASH)
    def place_dash(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        offer_id: OfferId | None = None,
        tip: Tip = 0,
        quote_token: Token | None = None,
        allow_duplicate: Twice = False,
    ) -> Json:
        """Place an order now, charge the card, and return the order with its order_id.

        The restaurant must be open and deliver to the address.
        """
        draft = self._draft(
            restaurant_id, items, delivery_address_id, tip=tip, offer_id=offer_id, token=quote_token
        )
        return order_json(self, self._submit(draft, payment_method_id, allow_duplicate))

    @writes(
        example=DASH | {"slot_id": "${slots.slots.5.slot_id}"},
        setup=(
            Setup(
                "get_scheduled_slots",
                {"restaurant_id": DASH["restaurant_id"], "date": "2026-03-15"},
                "slots",
            ),
        ),
    )
    def place_scheduled_order(
        self,
        restaurant_id: RestaurantId,
        items: Items,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        slot_id: SlotId,
        offer_id: OfferId | None = None,
        tip: Tip = 0,
        quote_token: Token | None = None,
        allow_duplicate: Twice = False,
    ) -> Json:
        """Place an order to be delivered within a slot, up to a week ahead.

        The card is charged now; the order is sent to the restaurant shortly before the slot.
        """
        draft = self._draft(
            restaurant_id,
            items,
            delivery_address_id,
            slot_id,
            tip=tip,
            offer_id=offer_id,
            token=quote_token,
        )
        return order_json(self, self._submit(draft, payment_method_id, allow_duplicate))

    @writes(
        example={
            "order_id": seeded("ddo", "cafe-again"),
            "delivery_address_id": DASH["delivery_address_id"],
            "payment_method_id": DASH["payment_method_id"],
        }
    )
    def reorder(
        self,
        order_id: OrderId,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        tip: Tip = 0,
        allow_duplicate: Twice = False,
    ) -> Json:
        """Order the contents of a past order again, including special instructions.

        Today's menu and prices apply; `price_changes` lists the differences. Add-on items are left
        out. It is refused if an item is sold out or off the menu, or if its options have changed.
        """
        old = orders.find_order(self, WORDS, order_id)
        place = catalogue.find_place(self, WORDS, old["restaurant_id"])
        old_lines = self._own_lines(order_id)
        gone = [line["name"] for line in old_lines if not self._available(line)]
        if gone:
            message = f"No longer available: {', '.join(gone)}."
            hint = "Order the rest from get_store_menu with place_dash."
            self.fail("ITEMS_UNAVAILABLE", message, hint, order_id=order_id, items=gone)
        items = [
            {
                "item_id": line["item_id"],
                "quantity": line["quantity"],
                "selected_options": line["options"],
                "special_instructions": line["instructions"],
            }
            for line in old_lines
        ]
        draft = self._draft(place["id"], items, delivery_address_id, tip=tip)
        row = self._submit(draft, payment_method_id, allow_duplicate, reordered_from=order_id)
        price_changes = _price_changes(old_lines, draft.lines)
        return order_json(self, row) | {"price_changes": price_changes}

    def _available(self, line: Row) -> bool:
        item = catalogue.find_item(self, WORDS, line["item_id"])
        return catalogue.available(item, self.now)

    @reads(example={"order_id": seeded("ddo", "cafe-again")})
    def get_dash(self, order_id: OrderId) -> Json:
        """Return an order: status, items, fees, total, promotion, address, refund and ratings.

        cancel_fee is what canceling would cost right now, or null if it is too late to cancel.
        """
        return order_json(self, orders.find_order(self, WORDS, order_id))

    @reads(example={"status": "delivered", "limit": 5})
    def get_dash_history(
        self,
        status: State | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a short summary of past and current orders, newest first.

        Totals are in dollars, before refunds.
        """
        rows = orders.orders(self, WORDS, since, until)
        if status is not None:
            rows = rows.keep(lambda row: self._state(row) == status)
        return page(rows, "orders", limit, cursor, self._summary)

    def _state(self, row: Row) -> str:
        return WORDS.statuses[status(self, row)]

    def _summary(self, row: Row) -> Json:
        place = orders.place_of(self, WORDS, row)
        return {
            "order_id": row["id"],
            "restaurant_id": place["id"],
            "restaurant_name": place["name"],
            "status": self._state(row),
            "total": dollars(orders.charged(self, WORDS, row).total),
            "created_at": row["placed_at"],
        }

    @reads(example={"order_id": "${dash.order_id}"}, setup=(Setup("place_dash", DASH, "dash"),))
    def track_dash(self, order_id: OrderId) -> Json:
        """Return how far along an order is.

        Returns status, current_stage in words, courier_name once a Dasher is assigned, eta_min and
        the history of stages.
        """
        row = orders.find_order(self, WORDS, order_id)
        state = status(self, row)
        waits = state in ("awaiting_claim", "expired")
        return {
            "order_id": order_id,
            "status": WORDS.statuses[state],
            "current_stage": STAGE_TEXTS[state],
            "courier_name": None if waits else orders.courier_of(row, self.time),
            "eta_min": eta(self, row),
            "history": [] if waits else orders.timeline(row, WORDS, self.time),
        }

    @writes(
        example={"order_id": "${dash.order_id}", "reason": "Plans have changed"},
        setup=(Setup("place_dash", DASH, "dash"),),
        destructive=True,
    )
    def cancel_dash(self, order_id: OrderId, reason: Reason) -> Json:
        """Cancel an order, or a gift that has not been claimed.

        It is free before the store accepts the order; then it costs 25 % of the items, or 60 % once
        the order is being prepared. An order that is on the way cannot be canceled. Returns fee and
        refund in dollars.
        """
        row = orders.find_order(self, WORDS, order_id)
        if status(self, row) == "expired":
            message = f"Gift {order_id} has expired."
            hint = "It has already been refunded in full."
            self.fail("ORDER_NOT_CANCELLABLE", message, hint, order_id=order_id, status="expired")
        fee = cancel_fee(self, row)
        paid = orders.charged(self, WORDS, row).total
        orders.cancel(self, WORDS, row, fee, reason)
        row = orders.find_order(self, WORDS, order_id)
        cancelled = mail.of_cancellation(row, paid)
        mail.tell(self, WORDS, "cancelled", mail.letter(self, WORDS, row) | cancelled)
        return orders.cancelled_json(row, fee or 0, paid)

    @writes(example={"order_id": seeded("ddo", "cafe-again"), "rating": 4, "dasher_rating": 5})
    def rate_dash(
        self,
        order_id: OrderId,
        rating: Rating,
        dasher_rating: Annotated[
            int, Field(ge=1, le=5, description="Stars for the Dasher, 1 to 5.")
        ]
        | None = None,
        comment: Comment | None = None,
    ) -> Json:
        """Rate the store and, separately, the Dasher of a delivered order, and return the order.

        An order can be rated once, within 30 days.
        """
        row = orders.find_order(self, WORDS, order_id)
        if status(self, row) in ("awaiting_claim", "expired"):
            message = f"Gift {order_id} was not delivered."
            hint = "A gift can be rated once it has been delivered."
            state = self._state(row)
            self.fail("ORDER_NOT_DELIVERED", message, hint, order_id=order_id, status=state)
        orders.rate(self, WORDS, row, rating=rating, dasher_rating=dasher_rating, comment=comment)
        return order_json(self, orders.find_order(self, WORDS, order_id))
