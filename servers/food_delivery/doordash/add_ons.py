"""DoubleDash: items from a second store near the restaurant, added soon after ordering."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import PlainItems
from servers.food_delivery._orders import OrderId
from servers.food_delivery.doordash._model import (
    TARIFF,
    WORDS,
    extra_time,
    gift_of,
    order_json,
    status,
)
from servers.food_delivery.doordash.dashes import DASH
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time

StoreId = Annotated[
    str, Field(description="store_id of an add-on store, from get_doubledash_stores.")
]
ADD_WITHIN = 600
"""Seconds after ordering in which items can be added."""
NEAR = 1.5
"""Miles from the restaurant within which a second store must be."""
CORNER = seeded("dds", "belmont_mini_mart")
DASHED = Setup("place_dash", DASH, "dash")


class AddOns(Service):
    """A second stop for the same Dasher."""

    def _stores(self, row: Row) -> list[dict[str, Any]]:
        """Return add-on stores near an order's restaurant that are open now, each with `miles`.

        The nearest one comes first.
        """
        place = orders.place_of(self, WORDS, row)
        stores = self.db.rows("doordash_restaurants", "kind='add_on'", order="id")
        stores = [s for s in stores if catalogue.span_at(s, self.now)]
        stores = [s | {"miles": catalogue.distance(s, place) or 0.0} for s in stores]
        near = [s for s in stores if s["miles"] <= NEAR]
        return sorted(near, key=lambda s: (s["miles"], s["id"]))

    def _takes_more(self, row: Row) -> None:
        """Refuse unless items can still be added to an order."""
        state = status(self, row)
        if gift_of(self, row) is not None or row["window_start"] is not None:
            message = "Add-ons are not available for gifts and scheduled orders."
            hint = "DoubleDash works with orders from place_dash and reorder."
            self.fail("DOUBLEDASH_NOT_AVAILABLE", message, hint, order_id=row["id"])
        until = parse_time(row["placed_at"]) + ADD_WITHIN
        if state in ("cancelled", "on_the_way", "delivered") or self.now >= until:
            message = (
                f"Items could be added until {iso(until)}, before the Dasher picks up the order."
            )
            hint = "Place another order with place_dash."
            self.fail(
                "DOUBLEDASH_CLOSED",
                message,
                hint,
                order_id=row["id"],
                status=WORDS.statuses[state],
                until=iso(until),
            )

    @reads(example={"order_id": "${dash.order_id}"}, setup=(DASHED,))
    def get_doubledash_stores(
        self, order_id: OrderId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return open stores whose items can be added to an order without another delivery fee.

        The order must have been placed less than ten minutes ago. Each store has store_id, name,
        category and estimated_extra_time in minutes; `until` is when the offer ends.
        """
        row = orders.find_order(self, WORDS, order_id)
        self._takes_more(row)
        place = orders.place_of(self, WORDS, row)
        until = iso(parse_time(row["placed_at"]) + ADD_WITHIN)
        stores = self._stores(row)
        shown = page(stores, "stores", limit, cursor, lambda s: self._add_on(s, place))
        return shown | {"order_id": order_id, "until": until}

    def _add_on(self, store: Row, place: Row) -> Json:
        return {
            "store_id": store["id"],
            "name": store["name"],
            "category": store["category"],
            "address": catalogue.address_text(store),
            "distance_miles": store["miles"],
            "estimated_extra_time": extra_time(store, place),
        }

    @reads(example={"store_id": CORNER})
    def get_doubledash_catalog(
        self, store_id: StoreId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return the items of an add-on store.

        Each has item_id, name, category, price in dollars, unit and available.
        """
        store = catalogue.find_place(self, WORDS, store_id, "add_on", "get_doubledash_stores")
        items = catalogue.items_of(self, WORDS, store["id"])
        return {
            "store_id": store["id"],
            "store_name": store["name"],
            "is_open": catalogue.span_at(store, self.now) is not None,
            **page(items, "items", limit, cursor, lambda i: catalogue.goods_json(self, i)),
        }

    @writes(
        example={
            "order_id": "${dash.order_id}",
            "store_id": CORNER,
            "items": [
                {"item_id": seeded("ddi", "belmont_mini_mart/sparkling-water"), "quantity": 2}
            ],
        },
        setup=(DASHED,),
    )
    def add_doubledash_items(self, order_id: OrderId, store_id: StoreId, items: PlainItems) -> Json:
        """Add items from one second store to an order, and return the order.

        The service fee and the tax increase; the delivery fee does not.
        """
        row = orders.find_order(self, WORDS, order_id)
        self._takes_more(row)
        store = catalogue.find_place(self, WORDS, store_id, "add_on", "get_doubledash_stores")
        if store_id not in {s["id"] for s in self._stores(row)}:
            message = f"{store['name']} is closed or too far from the restaurant."
            hint = "Choose one from get_doubledash_stores."
            self.fail("STORE_NOT_ELIGIBLE", message, hint, store_id=store_id)
        stores = {line["store_id"] for line in orders.lines(self, WORDS, order_id)} - {None}
        if stores - {store_id}:
            message = "An order can have items from only one second store."
            hint = "Add more items from the same store instead."
            self.fail("STORE_LIMIT_REACHED", message, hint, order_id=order_id, store_id=min(stores))
        paid = orders.charged(self, WORDS, row).total
        new = pricing.priced(self, WORDS, store, items, self.now)
        lines = [line | {"store_id": store_id} for line in new]
        orders.add_lines(self, WORDS, order_id, lines)
        place = orders.place_of(self, WORDS, row)
        member = rules.membership(self, WORDS) is not None
        goods = pricing.subtotal(orders.lines(self, WORDS, order_id))
        changes: dict[str, Any] = {
            "service_fee": pricing.service_fee(TARIFF, goods, member),
            "tax": pricing.tax(place, goods - row["discount"]),
        }
        if not stores:
            # The Dasher makes the detour only once, whatever is added later.
            detour = extra_time(store, place) * 60
            changes["delivered_at"] = iso(parse_time(row["delivered_at"]) + detour)
        self.db.update("doordash_orders", order_id, **changes)
        row = orders.find_order(self, WORDS, order_id)
        more = orders.charged(self, WORDS, row).total - paid
        added = mail.letter(self, WORDS, row) | {"store": store["name"], "more": more}
        mail.tell(self, WORDS, "items_added", added)
        return order_json(self, orders.find_order(self, WORDS, order_id))
