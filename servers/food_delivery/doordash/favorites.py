"""Favourite restaurants, and how DoorDash shows a store."""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery._catalogue import RestaurantId
from servers.food_delivery.doordash._model import TARIFF, WORDS
from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page


class Favorites(Service):
    """The customer's favourite restaurants."""

    def _store(self, place: Row, address: dict[str, Any] | None) -> Json:
        """Return a store as lists show it; fee and time are null outside its delivery range."""
        away = catalogue.distance(place, address)
        fee = None
        minutes = None
        if away is not None and away <= place["radius"]:
            fee = dollars(pricing.delivery_fee(TARIFF, place, away, self.now))
            minutes = -(-orders.pace(place, away, self.now).deliver // 60)
        return catalogue.place_json(self, place, "restaurant_id") | {
            "distance_miles": away,
            "in_range": fee is not None,
            "estimated_delivery_fee": fee,
            "estimated_minutes": minutes,
            "is_favorite": self.db.get("doordash_favorites", place["id"]) is not None,
        }

    def _favorites(self) -> list[Json]:
        """Return `{restaurant_id, name}` of every favourite, the most recently added first."""
        rows = self.db.rows("doordash_favorites", order="added_at DESC, rowid DESC")
        places = [self._place(row) for row in rows]
        return [{"restaurant_id": place["id"], "name": place["name"]} for place in places]

    @reads()
    def get_favorite_restaurants(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return favorite restaurants, the most recently added first.

        Each is shown as in search_stores; permanently_closed marks those that have closed.
        """
        address = catalogue.default_address(self, WORDS)

        def shown(favorite: Row) -> dict[str, Any]:
            return self._store(self._place(favorite), address)

        return page(self._favorites(), "favorites", limit, cursor, shown)

    def _place(self, favorite: Row) -> dict[str, Any]:
        return catalogue.find_place(self, WORDS, favorite["restaurant_id"])

    @writes(example={"restaurant_id": seeded("ddr", "olive_ash")}, idempotent=True)
    def add_favorite_restaurant(self, restaurant_id: RestaurantId) -> Json:
        """Add a restaurant to the favorites, if it is not there yet, and return all favorites."""
        place = catalogue.find_place(self, WORDS, restaurant_id)
        if self.db.get("doordash_favorites", place["id"]) is None:
            favorite = {"restaurant_id": place["id"], "added_at": self.time}
            self.db.insert("doordash_favorites", favorite)
        return {"favorites": self._favorites()}

    @writes(example={"restaurant_id": seeded("ddr", "kumo_sushi")}, destructive=True)
    def remove_favorite_restaurant(self, restaurant_id: RestaurantId) -> Json:
        """Remove a restaurant from the favorites and return the rest.

        It is refused if the restaurant is not a favorite.
        """
        if self.db.get("doordash_favorites", restaurant_id) is None:
            message = f"{restaurant_id!r} is not one of the favorites."
            hint = "get_favorite_restaurants lists them."
            self.fail("NOT_A_FAVORITE", message, hint, restaurant_id=restaurant_id)
        self.db.delete("doordash_favorites", restaurant_id)
        return {"favorites": self._favorites()}
