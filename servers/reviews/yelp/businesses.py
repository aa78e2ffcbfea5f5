"""Finding businesses, saving them, and checking in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.geo import Latitude, Longitude
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, Timestamp, iso, page, parse_time
from servers.reviews import _kept as kept
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules
from servers.reviews import _search as search
from servers.reviews._rules import BusinessId, Category, Location, Near, Query, Radius
from servers.reviews.yelp._model import WORDS, business_json

Price = Annotated[
    Literal["$", "$$", "$$$", "$$$$"],
    Field(description="Price level, from $ (cheap) to $$$$ (expensive)."),
]
MinRating = Annotated[float, Field(ge=1, le=5, description="Lowest average rating, in stars.")]
SortBy = Annotated[
    Literal["rating", "review_count", "name", "distance", "best_match"],
    Field(
        description="rating and review_count: highest first; distance: nearest first (requires a "
        "point); best_match: by the words of the query, without words by rating."
    ),
]
OpenNow = Annotated[
    bool, Field(description="Only businesses that are open now by their listed hours.")
]
OpenAt = Annotated[
    Timestamp,
    Field(
        description="Only businesses that are open at this time (ISO 8601); without "
        "an offset, in your home city's time zone."
    ),
]
ShowClosed = Annotated[bool, Field(description="Whether to include permanently closed businesses.")]
CHECK_IN_WAIT = 3600
"""Seconds between two check-ins at the same business."""

CAFE = seeded("ybz", "stumptown")
RAMEN = seeded("ybz", "afuri")
SAVED = Setup("save_business", {"business_id": seeded("ybz", "pho_hoa_mai")})


class Businesses(Service):
    """Tools for the directory, saved businesses and check-ins."""

    @reads(example={"query": "coffee", "location": "Portland, OR"})
    def search_businesses(
        self,
        query: Query | None = None,
        location: Location | None = None,
        category: Category | None = None,
        price_level: Price | None = None,
        min_rating: MinRating | None = None,
        open_now: OpenNow = False,
        open_at: OpenAt | None = None,
        latitude: Latitude | None = None,
        longitude: Longitude | None = None,
        near_business_id: Near | None = None,
        radius_miles: Radius = 5.0,
        include_closed: ShowClosed = False,
        sort_by: SortBy = "best_match",
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find businesses by words or category, best matches first.

        Without a location or a point, the search covers your home city. distance_miles is the
        distance from the point, or null without one.
        """
        has_point = latitude is not None or longitude is not None or near_business_id is not None
        if location is None and not has_point:
            home = rules.town(self, rules.me(self, WORDS))
            location = f"{home['name']}, {home['state']}"
        moment = None if open_at is None else rules.here(self, WORDS, open_at)
        wish = search.Wish(
            query=query,
            location=location,
            category=category,
            price=len(price_level) if price_level else None,
            min_rating=min_rating,
            radius=radius_miles,
            open_at=self.now if open_now else moment,
            closed=include_closed,
        )
        wish = search.with_point(self, WORDS, wish, latitude, longitude, near_business_id)
        rows = search.search(self, WORDS, wish, sort_by)
        return page(rows, "businesses", max_results, cursor, self._match_json)

    def _match_json(self, row: Row) -> Json:
        return business_json(self, row) | {"distance_miles": row["miles"]}

    @reads()
    def list_categories(self, limit: Limit = 100, cursor: Cursor | None = None) -> Json:
        """List the categories of businesses, by name, with how many businesses each has."""
        return page(search.categories(self, WORDS), "categories", limit, cursor)

    @reads(example={"business_id": RAMEN})
    def get_business(self, business_id: BusinessId) -> Json:
        """Get a business: address, coordinates, phone, website, price level, rating and hours.

        The opening_hours are in local time. The rating leaves out reviews that are not
        recommended. If the business has moved, moved_to is the business_id at the new address.
        """
        row = rules.find_place(self, WORDS, business_id)
        stars, by_rating = reviews.spread(self, WORDS, business_id)
        figures = {"rating": stars.average, "review_count": stars.count}
        hidden = self.db.sql(
            "SELECT count(*) FROM yelp_reviews WHERE business_id=? AND recommended=0", business_id
        )[0][0]
        # The list is empty if the hours are unknown.
        hours = [
            {"day": day, "hours": text or "closed"}
            for day, text in zip(rules.DAYS, row["hours"], strict=False)
        ]
        state = rules.state(row, self.time)
        return business_json(self, row | figures) | {
            "latitude": row["lat"],
            "longitude": row["lng"],
            "website": row["website"],
            "tags": row["tags"].split(", ") if row["tags"] else [],
            "opening_hours": hours,
            "timezone": rules.town(self, row)["timezone"],
            "closed_since": row["closed_at"] if state != "open" else None,
            "reopens_at": row["reopens_at"] if state == "paused" else None,
            "moved_to": row["moved_to"],
            "reviews_by_rating": by_rating,
            "not_recommended_count": hidden,
            "is_saved": kept.is_saved(self, WORDS, business_id),
        }

    # -- saved --------------------------------------------------------------------------------
    @writes(example=SAVED.args, idempotent=True)
    def save_business(self, business_id: BusinessId) -> Json:
        """Save a business for later. Saving it again changes nothing."""
        row = kept.save(self, WORDS, business_id, "ysv")
        return {"business_id": business_id, "name": row["name"], "status": "saved"}

    @writes(example=SAVED.args, setup=(SAVED,), idempotent=True)
    def unsave_business(self, business_id: BusinessId) -> Json:
        """Remove a business from your saved businesses. It stays in your collections."""
        kept.unsave(self, WORDS, business_id, "list_saved_businesses")
        return {"business_id": business_id, "status": "unsaved"}

    @reads()
    def list_saved_businesses(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List saved businesses, most recently saved first."""
        return page(kept.saved(self, WORDS), "businesses", limit, cursor, self._saved_json)

    def _saved_json(self, item: Row) -> Json:
        place = item["place"]
        return {
            "business_id": item["business_id"],
            "name": place["name"],
            "category": place["category"],
            "is_closed": rules.state(place, self.time) == "closed",
            "saved_at": item["saved_at"],
        }

    # -- check-ins ----------------------------------------------------------------------------
    @writes(example={"business_id": CAFE})
    def check_in(self, business_id: BusinessId) -> Json:
        """Check in at a business, at most once an hour. Your location is not verified."""
        row = rules.find_place(self, WORDS, business_id)
        if rules.state(row, self.time) == "closed":
            self.fail(
                "BUSINESS_CLOSED",
                f"{row['name']} is permanently closed.",
                "Call get_business to see whether it has moved.",
                business_id=business_id,
            )
        check_ins = self.db.rows(
            "yelp_check_ins", "business_id=?", business_id, order="at DESC", limit=1
        )
        last = check_ins[0]["at"] if check_ins else None
        if last is not None and rules.age(self, last) < CHECK_IN_WAIT:
            again = iso(parse_time(last) + CHECK_IN_WAIT)
            self.fail(
                "ALREADY_CHECKED_IN",
                f"You already checked in here at {last}.",
                f"You can check in again at {again}.",
                next_check_in_at=again,
            )
        check_in = {"id": self.new_id("yci"), "business_id": business_id, "at": self.time}
        self.db.insert("yelp_check_ins", check_in)
        return self._check_in_json(check_in) | {"status": "checked_in"}

    def _check_in_json(self, row: Row) -> Json:
        place = rules.find_place(self, WORDS, row["business_id"])
        return {
            "check_in_id": row["id"],
            "business_id": row["business_id"],
            "business_name": place["name"],
            "timestamp": row["at"],
        }

    @reads()
    def get_check_in_history(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """List your check-ins, newest first."""
        rows = Listing(self.db, "yelp_check_ins", by="at")
        home = rules.town(self, rules.me(self, WORDS))
        rows = rows.days(since, until, home["timezone"])
        return page(rows, "check_ins", limit, cursor, self._check_in_json)

    @reads(example={"business_id": CAFE})
    def get_check_in_count(self, business_id: BusinessId) -> Json:
        """Get how often you have checked in at a business, and when you last did."""
        rules.find_place(self, WORDS, business_id)
        count, last = self.db.sql(
            "SELECT count(*), max(at) FROM yelp_check_ins WHERE business_id=?", business_id
        )[0]
        return {"business_id": business_id, "total_check_ins": count, "last_check_in": last}
