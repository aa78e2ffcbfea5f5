"""Stores: search, details, menus and delivery slots."""

from __future__ import annotations

from datetime import date, timedelta

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _pricing as pricing
from servers.food_delivery._catalogue import Category, ItemId, RestaurantId
from servers.food_delivery._rules import OpenOnly, Query
from servers.food_delivery.doordash._model import SLOT_DAYS, SLOT_MINUTES, WORDS
from servers.food_delivery.doordash.favorites import Favorites
from servers.kit.control import seeded
from servers.kit.service import reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, dollars, page
from servers.kit.zones import local_day

CAFE = seeded("ddr", "hazel_hawthorne")


class Stores(Favorites):
    """Where to order, and what."""

    @reads(example={"query": "coffee", "open_only": True})
    def search_stores(
        self,
        query: Query | None = None,
        open_only: OpenOnly = False,
        category: Category | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return restaurants within 25 miles of the primary location.

        The best match comes first or, without a query, the nearest one. Each has restaurant_id,
        name, category, rating, address, is_open, permanently_closed, distance_miles, in_range and
        an estimated fee and time. Each branch of a chain is a separate restaurant.
        """
        near = catalogue.default_address(self, WORDS)
        rows = catalogue.nearby(self, WORDS, "restaurant", query, category, open_only, near)
        return page(rows, "stores", limit, cursor, lambda r: self._store(r, near))

    @reads()
    def list_cuisines(self) -> Json:
        """List the categories of restaurants near your primary location, with their numbers."""
        return catalogue.cuisines(self, WORDS)

    @reads(example={"restaurant_id": CAFE})
    def get_store_details(self, restaurant_id: RestaurantId) -> Json:
        """Return a restaurant's details.

        They include phone, opening hours in its own time zone, minimum order, delivery radius, and
        the names and prices on its menu.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        menu = catalogue.items_of(self, WORDS, restaurant_id)
        return {
            **self._store(place, catalogue.default_address(self, WORDS)),
            **catalogue.detail_json(self, place),
            "menu": [_in_short(item) for item in menu],
        }

    @reads(example={"restaurant_id": CAFE})
    def get_store_menu(
        self, restaurant_id: RestaurantId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return a restaurant's menu, in menu order.

        Each item has item_id, name, category, price in dollars, diet, options with their
        option_ids, and available. If an option is required, an order must include one of its
        choices.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        items = catalogue.items_of(self, WORDS, place["id"])
        menu = page(items, "menu", limit, cursor, lambda i: catalogue.item_json(self, WORDS, i))
        return menu | {"restaurant_id": restaurant_id}

    @reads(example={"item_id": seeded("ddi", "hazel_hawthorne/latte")})
    def get_store_item(self, item_id: ItemId) -> Json:
        """Return one item by its id, from any current or past menu or add-on catalog.

        `off_menu` is true for an item that is no longer sold.
        """
        item = catalogue.find_item(self, WORDS, item_id)
        place = self.db.get("doordash_restaurants", item["restaurant_id"]) or {}
        key = "restaurant_id" if place["kind"] == "restaurant" else "store_id"
        return catalogue.item_json(self, WORDS, item) | {
            key: place["id"],
            "store_name": place["name"],
            "off_menu": item["removed_at"] is not None,
        }

    @reads(example={"restaurant_id": CAFE, "date": "2026-03-15"})
    def get_scheduled_slots(
        self,
        restaurant_id: RestaurantId,
        date: Date,
        limit: Limit = 100,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a restaurant's delivery slots of 20 minutes on one day.

        The day is today or up to six days ahead, by the restaurant's local calendar. Each slot has
        slot_id, start_time, end_time (UTC) and available (false if it is full or too soon).
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        today = local_day(self.now, catalogue.zone(place))
        day = _day(date)
        if not today <= day < today + timedelta(days=SLOT_DAYS):
            last = today + timedelta(days=SLOT_DAYS - 1)
            message = f"There are no delivery slots for {date}."
            hint = f"Choose a day from {today} to {last}."
            code = "DATE_OUT_OF_RANGE"
            self.fail(code, message, hint, date=date, first=str(today), last=str(last))
        windows = pricing.day_windows(WORDS, place, day, SLOT_MINUTES, self.now)
        slots = [pricing.window_json(window, "slot_id") for window in windows]
        return page(slots, "slots", limit, cursor) | {"date": date}


def _in_short(item: Row) -> Json:
    return {"item_id": item["id"], "name": item["name"], "price": dollars(item["price"])}


def _day(text: str) -> date:
    return date.fromisoformat(text)
