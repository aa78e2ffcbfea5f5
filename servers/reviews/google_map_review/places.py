"""Finding places, saving them, and lists of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import geo
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, Timestamp, page
from servers.reviews import _kept as kept
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules
from servers.reviews import _search as search
from servers.reviews.google_map_review._model import WORDS, day_text, place_json

PriceLevel = Annotated[
    int, Field(ge=1, le=4, description="Price level, from 1 (cheap) to 4 (expensive).")
]
MinStars = Annotated[float, Field(ge=1, le=5, description="Lowest average rating.")]
Sort = Annotated[
    Literal["rating", "review_count", "name", "distance", "relevance"],
    Field(
        description="Order of the places: highest rating, most reviews, name, nearest (distance, "
        "which requires a point) or best match (relevance)."
    ),
]
Operational = Annotated[bool, Field(description="Whether to leave out permanently closed places.")]
OpenNow = Annotated[bool, Field(description="Only places that are open now by their listed hours.")]
OpenAt = Annotated[
    Timestamp,
    Field(
        description="Only places that are open at this time (ISO 8601); without "
        "an offset, in your home city's time zone."
    ),
]
ListId = Annotated[str, Field(description="list_id, from get_all_lists.")]
PHO = seeded("gpl", "pho_hoa_mai")
_BRIEF = ("business_id", "name", "types", "formatted_address", "business_status")
SAVED = Setup("save_place", {"business_id": PHO})
NEW = Setup("create_list", {"name": "With Tom", "description": "When he visits"}, "made")
ON = Setup("add_to_list", {"list_id": "${made.list_id}", "business_id": PHO})


class Places(Service):
    """Tools for places, saved places and lists."""

    @reads(example={"query": "ramen", "location": "Portland, Oregon"})
    def search_places(
        self,
        query: rules.Query | None = None,
        location: rules.Location | None = None,
        category: rules.Category | None = None,
        price_level: PriceLevel | None = None,
        min_rating: MinStars | None = None,
        open_now: OpenNow = False,
        open_at: OpenAt | None = None,
        latitude: geo.Latitude | None = None,
        longitude: geo.Longitude | None = None,
        near_place: rules.Near | None = None,
        radius_miles: rules.Radius = 5.0,
        operational_only: Operational = False,
        sort_by: Sort = "relevance",
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find places by words or category, in all cities unless a location or a point is given.

        Closed places are included; see their business_status.
        """
        moment = None if open_at is None else rules.here(self, WORDS, open_at)
        wish = search.Wish(
            query=query,
            location=location,
            category=category,
            price=price_level,
            min_rating=min_rating,
            radius=radius_miles,
            open_at=self.now if open_now else moment,
            closed=not operational_only,
        )
        wish = search.with_point(self, WORDS, wish, latitude, longitude, near_place)
        rows = search.search(self, WORDS, wish, sort_by)
        return page(rows, "places", max_results, cursor, self._match_json)

    def _match_json(self, row: Row) -> Json:
        if row["miles"] is None:
            return place_json(self, row)
        return place_json(self, row) | {"distance_miles": row["miles"]}

    @reads()
    def list_place_categories(self, limit: Limit = 100, cursor: Cursor | None = None) -> Json:
        """List the categories of places, by name, with how many places each has."""
        return page(search.categories(self, WORDS), "categories", limit, cursor)

    @reads(example={"business_id": PHO})
    def get_place_details(self, business_id: rules.BusinessId) -> Json:
        """Get a place: address, location, phone, website, types, business_status, rating and hours.

        The hours in weekday_text are in local time. If the place has moved, new_place_id is the
        business_id at the new address.
        """
        row = rules.find_place(self, WORDS, business_id)
        stars, by_rating = reviews.spread(self, WORDS, business_id)
        figures = {"rating": stars.average, "review_count": stars.count}
        photo_count = self.db.sql(
            "SELECT count(*) FROM google_map_review_photos WHERE business_id=?", business_id
        )[0][0]
        # The list is empty if the hours are unknown.
        hours = zip(rules.DAYS, row["hours"], strict=False)
        is_paused = rules.state(row, self.time) == "paused"
        return place_json(self, row | figures) | {
            "phone": row["phone"],
            "website": row["website"],
            "time_zone": rules.town(self, row)["timezone"],
            "weekday_text": [day_text(day, text) for day, text in hours],
            "reopens_at": row["reopens_at"] if is_paused else None,
            "new_place_id": row["moved_to"],
            "ratings": by_rating,
            "photo_count": photo_count,
            "saved": kept.is_saved(self, WORDS, business_id),
        }

    # -- saved --------------------------------------------------------------------------------
    @writes(example=SAVED.args, idempotent=True)
    def save_place(self, business_id: rules.BusinessId) -> Json:
        """Pin a place to your saved places. Saving it again changes nothing."""
        place = kept.save(self, WORDS, business_id, "gsv")
        return {"business_id": business_id, "name": place["name"], "status": "saved"}

    @writes(example=SAVED.args, setup=(SAVED,), idempotent=True)
    def unpin_place(self, business_id: rules.BusinessId) -> Json:
        """Remove a place from your saved places."""
        place = kept.unsave(self, WORDS, business_id, "list_saved_places")
        return {"business_id": business_id, "name": place["name"], "status": "unpinned"}

    @reads()
    def list_saved_places(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List your saved places with their business_status, most recently saved first."""
        return page(kept.saved(self, WORDS), "places", limit, cursor, self._saved_json)

    def _saved_json(self, item: Row) -> Json:
        return self._brief_json(item["place"]) | {"saved_at": item["saved_at"]}

    def _brief_json(self, row: Row) -> dict[str, Any]:
        """Return a place for a list of saved places."""
        place = place_json(self, row | {"rating": None, "review_count": 0})
        return {name: place[name] for name in _BRIEF}

    # -- lists --------------------------------------------------------------------------------
    @writes(example=NEW.args)
    def create_list(self, name: rules.ListName, description: rules.ListText | None = None) -> Json:
        """Create a list of places under a new name."""
        row = kept.new_list(self, WORDS, name, description, "gli", "LIST_NAME_TAKEN")
        return {
            "list_id": row["id"],
            "name": row["name"],
            "description": row["description"],
            "status": "created",
        }

    @reads()
    def get_all_lists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List your lists with name, description and place_count, newest first."""
        return page(kept.lists(self, WORDS), "lists", limit, cursor, self._list_json)

    def _list_json(self, row: Row) -> Json:
        return {
            "list_id": row["id"],
            "place_count": row["count"],
            "name": row["name"],
            "description": row["description"],
            "created_at": row["created_at"],
        }

    @reads(example={"list_id": seeded("gli", "first")})
    def get_list(self, list_id: ListId) -> Json:
        """Get a list and its places with your notes, in the order in which they were added."""
        row = kept.find_list(self, WORDS, list_id)
        items = kept.items(self, WORDS, list_id)
        places = [
            self._brief_json(item["place"]) | {"note": item["note"], "added_at": item["added_at"]}
            for item in items
        ]
        return self._list_json(row | {"count": len(items)}) | {"places": places}

    @writes(example=ON.args | {"note": "He likes broth"}, setup=(NEW,))
    def add_to_list(
        self, list_id: ListId, business_id: rules.BusinessId, note: rules.Remark | None = None
    ) -> Json:
        """Add a place to a list with an optional note. A place already in the list is refused."""
        if kept.item(self, WORDS, list_id, business_id) is not None:
            self.fail(
                "ALREADY_IN_LIST",
                f"{business_id} is already in this list.",
                "To change its note, remove it with remove_from_list and add it again.",
            )
        kept.put(self, WORDS, list_id, business_id, note, "glm")
        return {"list_id": list_id, "business_id": business_id, "note": note, "status": "added"}

    @writes(example=ON.args, setup=(NEW, ON), idempotent=True)
    def remove_from_list(self, list_id: ListId, business_id: rules.BusinessId) -> Json:
        """Remove a place from a list. If it is also a saved place, it stays saved."""
        kept.take(self, WORDS, list_id, business_id, "NOT_IN_LIST")
        return {"list_id": list_id, "business_id": business_id, "status": "removed"}
