"""How Yelp and Google Maps find listings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from servers.kit import search as words_search
from servers.kit import towns as kit_towns
from servers.kit.errors import did_you_mean
from servers.kit.geo import miles
from servers.kit.service import Service
from servers.kit.types import Row
from servers.reviews._reviews import NO_STARS, Stars, stars_by_place
from servers.reviews._rules import Words, find_place, is_open, me, state


@dataclass(frozen=True)
class Wish:
    """What a search asks for; None means any.

    `location` is a town or ZIP code, `point` a latitude and longitude with a `radius` in miles,
    `open_at` a moment when the place must be open. `closed` includes permanently closed places.
    """

    query: str | None = None
    location: str | None = None
    category: str | None = None
    price: int | None = None
    min_rating: float | None = None
    point: tuple[float, float] | None = None
    radius: float = 5.0
    open_at: int | None = None
    closed: bool = False


@dataclass(frozen=True)
class _Area:
    """The area of a location: some towns or a ZIP code; None means any."""

    town_ids: list[str] | None = None
    zip: str | None = None

    def holds(self, row: Row) -> bool:
        if self.town_ids is not None and row["city_id"] not in self.town_ids:
            return False
        return self.zip is None or row["zip"] == self.zip


def towns(svc: Service, words: Words, text: str) -> list[str]:
    """Return the ids of the towns that a text means. Fails if there is none.

    Of towns that share a name, the one where the person lives is meant.
    """
    cities = svc.db.rows("reviews_cities", order="name, state")
    meant = kit_towns.matching(
        text, cities, lambda c: kit_towns.Named(c["name"], c["state"], c["state_name"])
    )
    ids = [city["id"] for city in meant]
    if not ids:
        near = did_you_mean(text, [f"{city['name']}, {city['state']}" for city in cities])
        svc.fail(
            "LOCATION_NOT_FOUND",
            f"There is no location called {text!r}{near}",
            "Give a city and its state, or a ZIP code.",
            location=text,
        )
    home = me(svc, words)["city_id"]
    alike = len({city["name"] for city in meant}) == 1
    return [home] if alike and home in ids else ids


def with_point(
    svc: Service,
    words: Words,
    wish: Wish,
    latitude: float | None,
    longitude: float | None,
    near: str | None,
) -> Wish:
    """Add the point to search around to a wish; refuse half a point, or two of them."""
    is_half = (latitude is None) != (longitude is None)
    are_two = latitude is not None and near is not None
    if is_half or are_two:
        svc.fail(
            svc.codes.invalid,
            "The point to search around is not clear.",
            f"Give both latitude and longitude, or a {words.a_place} to search near.",
        )
    if near is not None:
        row = find_place(svc, words, near)
        return replace(wish, point=(row["lat"], row["lng"]))
    if latitude is None or longitude is None:
        return wish
    return replace(wish, point=(latitude, longitude))


def search(svc: Service, words: Words, wish: Wish, sort_by: str) -> list[dict[str, Any]]:
    """Return listings with `rating`, `review_count` and `miles`.

    They are sorted by rating, review_count, name or distance, or else best matches first; of places
    that match equally well, the one with more reviews comes first. Without words, all match equally
    and come by rating.
    """
    area = _area(svc, words, wish.location)
    if sort_by == "distance" and wish.point is None:
        svc.fail(
            svc.codes.invalid,
            "Sorting by distance requires a point to search around.",
            f"Give latitude and longitude, or a {words.a_place} to search near.",
        )
    stars_of = stars_by_place(svc, words)
    matches = []
    totals = _totals(svc, words, wish)
    for row in svc.db.rows(words.table("places"), order="id"):
        if totals is not None and row["id"] not in totals:
            continue
        stars = stars_of.get(row["id"], NO_STARS)
        away = None if wish.point is None else miles(*wish.point, row["lat"], row["lng"])
        if area.holds(row) and _fits(svc, wish, row, stars, away):
            figures = {"rating": stars.average, "review_count": stars.count, "miles": away}
            matches.append(row | figures)
    if sort_by in _ORDERS:
        return sorted(matches, key=_ORDERS[sort_by])
    if totals is None or not wish.query:
        return sorted(matches, key=_ORDERS["rating"])
    matches.sort(key=_ORDERS["review_count"])
    return words_search.in_order(matches, totals, grain=ALIKE)


def _area(svc: Service, words: Words, location: str | None) -> _Area:
    if location is None:
        return _Area()
    zip_code = location.strip()[:5]
    if zip_code.isdigit():
        return _Area(zip=zip_code)
    return _Area(town_ids=towns(svc, words, location))


def _totals(svc: Service, words: Words, wish: Wish) -> words_search.Scores | None:
    """Return how well listings match the words of a wish and its category; None if it has none."""
    source = words_search.Source(words.table("places"))
    found = None
    if wish.query:
        query = words_search.without(wish.query, EMPTY)
        found = words_search.scores(svc.db, query, source)
    if wish.category is not None:
        of_kind = _of_category(svc, words, wish.category)
        if found is None:
            return of_kind
        found = {key: score for key, score in found.items() if key in of_kind}
    return found


def _of_category(svc: Service, words: Words, category: str) -> words_search.Scores:
    """Return the listings whose category or tags have all words, or refuse if there are none.

    Whole words only: a search for bars must not find barbers.
    """
    found = words_search.having_all(svc.db, words.table("places"), ("category", "tags"), category)
    if not found:
        known = [known["category"] for known in categories(svc, words)]
        svc.fail(
            "CATEGORY_NOT_FOUND",
            f"There is no category {category!r}{did_you_mean(category, known)}",
            f"See {words.categories} for the categories.",
            category=category,
        )
    return found


def categories(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the categories in which places are listed, by name, with the number of places."""
    table = words.table("places")
    counted = svc.db.sql(f"SELECT category, count(*) FROM {table} GROUP BY category ORDER BY 1")
    return [{"category": name, "places": count} for name, count in counted]


def _fits(svc: Service, wish: Wish, row: Row, stars: Stars, away: float | None) -> bool:
    """Return whether a listing meets a wish, apart from its words and area."""
    if wish.price is not None and row["price"] != wish.price:
        return False
    if wish.min_rating is not None and (stars.average or 0) < wish.min_rating:
        return False
    if away is not None and away > wish.radius:
        return False
    if wish.open_at is not None and not is_open(svc, row, wish.open_at):
        return False
    return wish.closed or state(row, svc.time) != "closed"


EMPTY = frozenset(
    ("food", "restaurant", "restaurants", "open", "now", "today", "tonight", "tomorrow", "weekend")
)
"""Words of a query that tell no place from others."""
ALIKE = 0.08
"""Listings whose scores differ by less than this share of the best one come by their reviews."""
_ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "rating": lambda row: (-(row["rating"] or 0), -row["review_count"], row["id"]),
    "review_count": lambda row: (-row["review_count"], row["id"]),
    "name": lambda row: (row["name"].lower(), row["id"]),
    "distance": lambda row: (row["miles"], row["id"]),
}
