"""Restaurants: search, pages, menus, delivery windows."""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import Category, ItemId, RestaurantId
from servers.food_delivery._rules import AddressId, OpenOnly, Query
from servers.food_delivery.uber_eats._model import TARIFF, WINDOW_MINUTES, WORDS
from servers.food_delivery.uber_eats._replies import any_place
from servers.kit.control import seeded
from servers.kit.service import Service, reads
from servers.kit.values import Cursor, Limit, dollars, page

CAFE = seeded("uer", "hazel_hawthorne")


class Restaurants(Service):
    """What can be ordered, and from where."""

    def _near(self, address_id: str | None) -> dict[str, Any] | None:
        return (
            catalogue.default_address(self, WORDS)
            if address_id is None
            else rules.find_address(self, WORDS, address_id)
        )

    def _shown(
        self, place: dict[str, Any], key: str, address: dict[str, Any] | None
    ) -> dict[str, Any]:
        """A place with its distance, fee and time to an address; these are null where it does not deliver there."""
        away = catalogue.distance(place, address)
        reached = (
            away is not None
            and away <= place["radius"]
            and not catalogue.closed_for_good(place, self.now)
        )
        return catalogue.place_json(self, place, key) | {
            "distance_miles": away,
            "delivers_to_address": reached,
            "delivery_fee": dollars(pricing.delivery_fee(TARIFF, place, away or 0, self.now))
            if reached
            else None,
            "eta_min": -(-orders.pace(place, away or 0, self.now).deliver // 60)
            if reached
            else None,
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
    ) -> dict[str, Any]:
        """Return restaurants within 25 miles of an address (the default one unless given), best match first, without a query the nearest.

        Each has restaurant_id, name, category, rating, address, is_open, permanently_closed, distance_miles, delivers_to_address,
        delivery_fee (dollars, before Uber One) and eta_min.
        """
        address = self._near(delivery_address_id)
        found = catalogue.nearby(self, WORDS, "restaurant", query, category, open_only, address)
        return page(
            found, "restaurants", limit, cursor, lambda p: self._shown(p, "restaurant_id", address)
        )

    @reads(example={"restaurant_id": CAFE})
    def get_restaurant(self, restaurant_id: RestaurantId) -> dict[str, Any]:
        """Return a restaurant's page: summary, phone, local opening hours, closes_at or opens_at, minimum order, and its menu in short."""
        place = catalogue.find_place(self, WORDS, restaurant_id)
        menu = [
            {"item_id": i["id"], "name": i["name"], "price": dollars(i["price"])}
            for i in catalogue.items_of(self, WORDS, place["id"])
        ]
        return (
            self._shown(place, "restaurant_id", self._near(None))
            | catalogue.detail_json(self, place)
            | {"menu": menu}
        )

    @reads(example={"restaurant_id": CAFE, "limit": 10})
    def get_menu(
        self,
        restaurant_id: RestaurantId,
        category: Category | None = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return a restaurant's menu: item_id, name, category, price in dollars, diet, options, available (false: sold out now).

        A required option needs a choice; order with the option_ids, whose price_delta adds to the price.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        items = self._section(catalogue.items_of(self, WORDS, place["id"]), category)
        return {"restaurant_id": place["id"]} | page(
            items, "items", limit, cursor, lambda i: catalogue.item_json(self, WORDS, i)
        )

    def _section(self, items: list[dict[str, Any]], category: str | None) -> list[dict[str, Any]]:
        known = sorted({i["section"] for i in items})
        if category is not None and category.lower() not in {k.lower() for k in known}:
            message = f"There is no category {category!r} here."
            hint = f"Categories: {', '.join(known)}."
            self.fail("CATEGORY_NOT_FOUND", message, hint, category=category)
        return (
            items
            if category is None
            else [i for i in items if i["section"].lower() == category.lower()]
        )

    @reads(example={"item_id": seeded("uei", "hazel_hawthorne/latte")})
    def get_menu_item(self, item_id: ItemId) -> dict[str, Any]:
        """Return one item of a menu or grocery catalogue and the place that sells it; `discontinued` ones are seen in past orders only."""
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
    ) -> dict[str, Any]:
        """Return delivery windows of 30 minutes in the next 24 hours of a restaurant (or grocery store, by its store_id).

        Each has window_id, start_time, end_time (UTC) and available; full ones and those too soon are not.
        """
        place = any_place(self, restaurant_id)
        found = list(
            pricing.windows(WORDS, place, self.now, self.now + 86_400, WINDOW_MINUTES, self.now)
        )
        return page([pricing.window_json(w, "window_id") for w in found], "windows", limit, cursor)
