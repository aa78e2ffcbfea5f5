"""Restaurants: search, details, menus and delivery windows."""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import Category, ItemId, RestaurantId
from servers.food_delivery._rules import AddressId, OpenOnly, Query
from servers.food_delivery.uber_eats._model import TARIFF, WINDOW_MINUTES, WORDS, any_place
from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page

CAFE = seeded("uer", "hazel_hawthorne")


class Restaurants(Service):
    """Where to order, and what."""

    def _near(self, address_id: str | None) -> dict[str, Any] | None:
        """Return the named address, or the default one."""
        if address_id is None:
            return catalogue.default_address(self, WORDS)
        return rules.find_address(self, WORDS, address_id)

    def _shown(self, place: Row, key: str, address: dict[str, Any] | None) -> Json:
        """Return a place with its distance, fee and time for an address.

        The fee and the time are null if it does not deliver there.
        """
        away = catalogue.distance(place, address)
        delivers = (
            away is not None
            and away <= place["radius"]
            and not catalogue.closed_for_good(place, self.now)
        )
        fee = None
        eta = None
        if delivers:
            fee = dollars(pricing.delivery_fee(TARIFF, place, away or 0, self.now))
            eta = -(-orders.pace(place, away or 0, self.now).deliver // 60)
        return catalogue.place_json(self, place, key) | {
            "distance_miles": away,
            "delivers_to_address": delivers,
            "delivery_fee": fee,
            "eta_min": eta,
        }

    @reads(example={"query": "coffee"})
    def search_restaurants(
        self,
        query: Query | None = None,
        category: Category | None = None,
        open_only: OpenOnly = False,
        delivery_address_id: AddressId | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return restaurants within 25 miles of an address, by default your default one.

        The best match comes first or, without a query, the nearest one. Each has restaurant_id,
        name, category, rating, address, is_open, permanently_closed, distance_miles,
        delivers_to_address, delivery_fee (dollars, before Uber One) and eta_min.
        """
        address = self._near(delivery_address_id)
        places = catalogue.nearby(self, WORDS, "restaurant", query, category, open_only, address)

        def shown(place: Row) -> dict[str, Any]:
            return self._shown(place, "restaurant_id", address)

        return page(places, "restaurants", limit, cursor, shown)

    @reads()
    def list_cuisines(self) -> Json:
        """List the categories of restaurants near your default address, with how many there are."""
        return catalogue.cuisines(self, WORDS)

    @reads(example={"restaurant_id": CAFE})
    def get_restaurant(self, restaurant_id: RestaurantId) -> Json:
        """Return a restaurant's details and a short menu.

        They include phone, local opening hours, closes_at or opens_at, and the minimum order.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        menu = [
            {"item_id": item["id"], "name": item["name"], "price": dollars(item["price"])}
            for item in catalogue.items_of(self, WORDS, place["id"])
        ]
        shown = self._shown(place, "restaurant_id", self._near(None))
        return shown | catalogue.detail_json(self, place) | {"menu": menu}

    @reads(example={"restaurant_id": CAFE, "limit": 10})
    def get_menu(
        self,
        restaurant_id: RestaurantId,
        category: Category | None = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a restaurant's menu.

        Each item has item_id, name, category, price in dollars, diet, options and available (false
        if it is sold out). A required option needs a choice: order with its option_id. The
        price_delta of a choice is added to the price.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        items = self._section(catalogue.items_of(self, WORDS, place["id"]), category)
        menu = page(items, "items", limit, cursor, lambda i: catalogue.item_json(self, WORDS, i))
        return {"restaurant_id": place["id"]} | menu

    def _section(self, items: list[Row], category: str | None) -> list[dict[str, Any]]:
        """Return the items of a category, or all items; refuse a category that does not exist."""
        if category is None:
            return items
        known = sorted({item["section"] for item in items})
        if category.lower() not in {section.lower() for section in known}:
            message = f"There is no category {category!r} here{did_you_mean(category, known)}"
            hint = f"Categories: {', '.join(known)}."
            self.fail("CATEGORY_NOT_FOUND", message, hint, category=category)
        return [item for item in items if item["section"].lower() == category.lower()]

    @reads(example={"item_id": seeded("uei", "hazel_hawthorne/latte")})
    def get_menu_item(self, item_id: ItemId) -> Json:
        """Return one item of a menu or grocery catalog, and the place that sells it.

        `discontinued` items appear only in past orders.
        """
        item = catalogue.find_item(self, WORDS, item_id)
        place = any_place(self, item["restaurant_id"])
        if place["kind"] == "grocery":
            shown = catalogue.goods_json(self, item) | {"store_id": place["id"]}
        else:
            shown = catalogue.item_json(self, WORDS, item) | {"restaurant_id": place["id"]}
        return shown | {"place_name": place["name"], "discontinued": item["removed_at"] is not None}

    @reads(example={"restaurant_id": CAFE})
    def get_delivery_windows(
        self, restaurant_id: RestaurantId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return the delivery windows of 30 minutes in the next 24 hours.

        The restaurant_id may also be the store_id of a grocery store. Each window has window_id,
        start_time, end_time (UTC) and available (false if it is full or too soon).
        """
        place = any_place(self, restaurant_id)
        last = self.now + 86_400
        windows = pricing.windows(WORDS, place, self.now, last, WINDOW_MINUTES, self.now)
        shown = [pricing.window_json(window, "window_id") for window in windows]
        return page(shown, "windows", limit, cursor)
