"""Finding places and keeping them: saved ones, and lists."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import geo
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, Timestamp, page, parse_time
from servers.reviews import _kept as kept
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules
from servers.reviews import _search as search
from servers.reviews.google_map_review._model import WORDS, day_text, place_json

PriceLevel = Annotated[int, Field(ge=1, le=4, description="Price level, from 1 (cheap) to 4.")]
MinStars = Annotated[float, Field(ge=1, le=5, description="Lowest average rating.")]
Sort = Annotated[
    Literal["rating", "review_count", "name", "distance", "relevance"],
    Field(
        description="What comes first: the best, most reviewed, nearest (needs a point) "
        "or best matching place, or by name."
    ),
]
Operational = Annotated[bool, Field(description="Leave out places that have closed for good.")]
OpenNow = Annotated[bool, Field(description="Only places whose hours say that they are open now.")]
OpenAt = Annotated[Timestamp, Field(description="Only places open at this time, ISO-8601.")]
ListId = Annotated[str, Field(description="list_id, from get_all_lists.")]
PHO = seeded("gpl", "pho_hoa_mai")
_BRIEF = ("business_id", "name", "types", "formatted_address", "business_status")
SAVED = Setup("save_place", {"business_id": PHO})
NEW = Setup("create_list", {"name": "With Tom", "description": "When he visits"}, "made")
ON = Setup("add_to_list", {"list_id": "${made.list_id}", "business_id": PHO})


class Places(Service):
    """The map's places."""

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
        sort_by: Sort = "rating",
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Find places by name or type, in all cities unless a location or a point is given; closed ones carry their business_status."""
        moment = None if open_at is None else parse_time(open_at)
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

    def _match_json(self, row: dict[str, Any]) -> dict[str, Any]:
        if row["miles"] is None:
            return place_json(self, row)
        return place_json(self, row) | {"distance_miles": row["miles"]}

    @reads(example={"business_id": PHO})
    def get_place_details(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Return a place: address, location, phone, website, types, hours as weekday_text in local time, business_status, rating.

        Where it moved, new_place_id is the business_id of the new address.
        """
        row = rules.find_place(self, WORDS, business_id)
        stars, by_rating = reviews.spread(self, WORDS, business_id)
        figures = {"rating": stars.average, "review_count": stars.count}
        photo_count = self.db.sql(
            "SELECT count(*) FROM google_map_review_photos WHERE business_id=?", business_id
        )[0][0]
        # A place that lists no hours has an empty list of them.
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
    def save_place(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Pin a place to your saved ones. It stays pinned once, however often you save it."""
        place = kept.save(self, WORDS, business_id, "gsv")
        return {"business_id": business_id, "name": place["name"], "status": "saved"}

    @writes(example=SAVED.args, setup=(SAVED,), idempotent=True)
    def unpin_place(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Remove the pin of a saved place."""
        place = kept.unsave(self, WORDS, business_id, "list_saved_places")
        return {"business_id": business_id, "name": place["name"], "status": "unpinned"}

    @reads()
    def list_saved_places(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your pinned places with business_status, newest pin first."""
        return page(kept.saved(self, WORDS), "places", limit, cursor, self._saved_json)

    def _saved_json(self, item: dict[str, Any]) -> dict[str, Any]:
        return self._brief_json(item["place"]) | {"saved_at": item["saved_at"]}

    def _brief_json(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a place as lists show it."""
        place = place_json(self, row | {"rating": None, "review_count": 0})
        return {name: place[name] for name in _BRIEF}

    # -- lists --------------------------------------------------------------------------------
    @writes(example=NEW.args)
    def create_list(
        self, name: rules.ListName, description: rules.ListText | None = None
    ) -> dict[str, Any]:
        """Create a list of places; two lists cannot have one name."""
        row = kept.new_list(self, WORDS, name, description, "gli", "LIST_NAME_TAKEN")
        return {
            "list_id": row["id"],
            "name": row["name"],
            "description": row["description"],
            "status": "created",
        }

    @reads()
    def get_all_lists(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your lists with name, description and place_count, the newest first."""
        return page(kept.lists(self, WORDS), "lists", limit, cursor, self._list_json)

    def _list_json(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            "list_id": row["id"],
            "place_count": row["count"],
            "name": row["name"],
            "description": row["description"],
            "created_at": row["created_at"],
        }

    @reads(example={"list_id": seeded("gli", "first")})
    def get_list(self, list_id: ListId) -> dict[str, Any]:
        """Return a list and its places with notes, in the order in which they were added."""
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
    ) -> dict[str, Any]:
        """Add a place to a list with a note; a place that it holds already is refused."""
        if kept.item(self, WORDS, list_id, business_id) is not None:
            self.fail(
                "ALREADY_IN_LIST",
                f"The list holds {business_id} already.",
                "See get_list; remove it first to change its note.",
            )
        kept.put(self, WORDS, list_id, business_id, note, "glm")
        return {"list_id": list_id, "business_id": business_id, "note": note, "status": "added"}

    @writes(example=ON.args, setup=(NEW, ON), idempotent=True)
    def remove_from_list(self, list_id: ListId, business_id: rules.BusinessId) -> dict[str, Any]:
        """Remove a place from a list. It stays pinned where it was saved."""
        kept.take(self, WORDS, list_id, business_id, "NOT_IN_LIST")
        return {"list_id": list_id, "business_id": business_id, "status": "removed"}
