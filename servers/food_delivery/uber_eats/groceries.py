"""Grocery stores: search, catalogue, orders filled by a shopper, and substitutions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery._catalogue import Category, ItemId, PlainItems
from servers.food_delivery._orders import OrderId
from servers.food_delivery._pricing import Token
from servers.food_delivery._rules import AddressId, MethodId, OfferId, OpenOnly, Query, Tip
from servers.food_delivery.uber_eats._model import WORDS, is_grocery, outcomes, preference_for
from servers.food_delivery.uber_eats.ordering import Key, Ordering, WindowId
from servers.food_delivery.uber_eats.restaurants import Restaurants
from servers.kit import search
from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page

StoreId = Annotated[str, Field(description="store_id, from search_grocery_stores.")]
Preference = Annotated[
    Literal["refund", "substitute", "contact_me"],
    Field(
        description="refund: remove it; substitute: replace it; "
        "contact_me: the shopper waits up to 8 minutes for an answer."
    ),
]
STORE = seeded("ues", "alder_coop")
MILK = seeded("uei", "alder_coop/whole-milk-gallon")
BASKET = {
    "store_id": STORE,
    "items": [
        {"item_id": MILK, "quantity": 1},
        {"item_id": seeded("uei", "alder_coop/bananas"), "quantity": 2},
        {"item_id": seeded("uei", "alder_coop/large-eggs-12"), "quantity": 2},
    ],
    "delivery_address_id": seeded("uea", "home"),
    "payment_method_id": seeded("uep", "visa"),
}
ORDER = Setup("submit_grocery_order", BASKET, "order")


class Groceries(Restaurants, Ordering):
    """Groceries delivered by courier."""

    @reads(example={"query": "market"})
    def search_grocery_stores(
        self,
        query: Query | None = None,
        category: Category | None = None,
        open_only: OpenOnly = False,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return grocery stores within 25 miles of the default address.

        The best match comes first or, without a query, the nearest one. Each has store_id, name,
        category, rating, address, is_open, distance_miles, delivery_fee and eta_min.
        """
        address = self._near(None)
        stores = catalogue.nearby(self, WORDS, "grocery", query, category, open_only, address)
        return page(stores, "stores", limit, cursor, lambda s: self._shown(s, "store_id", address))

    @reads(example={"store_id": STORE, "limit": 20})
    def get_grocery_catalog(
        self,
        store_id: StoreId,
        category: Category | None = None,
        query: Query | None = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a store's details and its items.

        Each item has item_id, name, category, price in dollars, unit and available (false if it is
        out of stock).
        """
        place = catalogue.find_place(self, WORDS, store_id, "grocery")
        items = self._section(catalogue.items_of(self, WORDS, place["id"]), category)
        if query is not None:
            source = search.Source("uber_eats_items", "restaurant_id=?", (place["id"],))
            items = search.in_order(items, search.scores(self.db, query, source))
        store = self._shown(place, "store_id", self._near(None))
        store |= catalogue.detail_json(self, place)
        shown = page(items, "items", limit, cursor, lambda i: catalogue.goods_json(self, i))
        return {"store": store} | shown

    @writes(example=BASKET)
    def submit_grocery_order(
        self,
        store_id: StoreId,
        items: PlainItems,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        tip: Tip = 0,
        offer_id: OfferId | None = None,
        window_id: WindowId | None = None,
        quote_token: Token | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Order groceries, for now or for a delivery window, and return the order.

        Items that are out of stock when the shopper gets to them are refunded, unless you choose
        otherwise with set_substitution_preference before then. The total follows what was actually
        bought.
        """
        place = catalogue.find_place(self, WORDS, store_id, "grocery")
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

    @writes(
        example={"order_id": "${order.order_id}", "item_id": MILK, "preference": "substitute"},
        setup=(ORDER,),
        idempotent=True,
    )
    def set_substitution_preference(
        self,
        order_id: OrderId,
        item_id: ItemId,
        preference: Preference,
        substitute_item_id: Annotated[
            str,
            Field(
                description="Replacement item; omit it for the closest price in the same category."
            ),
        ]
        | None = None,
    ) -> Json:
        """Set what happens if an item of a grocery order is out of stock.

        Do so before the shopper gets to the item, or in answer while the shopper is asking.
        """
        row = orders.find_order(self, WORDS, order_id)
        if not is_grocery(self, row):
            message = f"Order {order_id} is not a grocery order."
            hint = "Substitutions are for orders placed with submit_grocery_order."
            self.fail("NOT_A_GROCERY_ORDER", message, hint, order_id=order_id)
        results = [result for line, result in outcomes(self, row) if line["item_id"] == item_id]
        if not results:
            message = f"Order {order_id} has no item with the ID {item_id!r}."
            hint = "Use an item_id from get_order."
            self.fail("ITEM_NOT_IN_ORDER", message, hint, order_id=order_id, item_id=item_id)
        if preference != "substitute" and substitute_item_id is not None:
            message = f"A substitute cannot be combined with the preference {preference}."
            hint = "Omit substitute_item_id, or set preference to substitute."
            self.fail("SUBSTITUTE_NOT_APPLICABLE", message, hint, item_id=item_id)
        if substitute_item_id is not None:
            catalogue.find_item(self, WORDS, substitute_item_id, row["restaurant_id"])
            if substitute_item_id == item_id:
                message = "An item cannot be its own substitute."
                hint = "Choose another item."
                self.fail("SUBSTITUTE_NOT_APPLICABLE", message, hint, item_id=item_id)
        states = {result.state for result in results if result is not None}
        if row["cancelled_at"] is not None or not states & {"pending", "asking"}:
            message = "The shopper has already dealt with this item."
            hint = "get_order shows the outcome."
            self.fail("SHOPPING_DONE", message, hint, order_id=order_id, item_id=item_id)
        wish = {"preference": preference, "substitute_id": substitute_item_id}
        last = preference_for(self, order_id, item_id, self.time)
        if last is None or any(last[k] != v for k, v in wish.items()):
            row = {
                "id": self.new_id("ueb"),
                "order_id": order_id,
                "item_id": item_id,
                "set_at": self.time,
                **wish,
            }
            self.db.insert("uber_eats_substitutions", row)
        return {
            "order_id": order_id,
            "item_id": item_id,
            "preference": preference,
            "substitute_item_id": substitute_item_id,
        }
