"""Finding places and keeping them: saved ones, and lists."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import geo
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, Timestamp, page, parse_time
from servers.reviews import _kept as kept
from servers.reviews import _rules as rules
from servers.reviews.google_map_review._model import WORDS, day_text, place_json

PriceLevel = Annotated[int, Field(ge=1, le=4, description="Price level, from 1 (cheap) to 4.")]
MinStars = Annotated[float, Field(ge=1, le=5, description="Lowest average rating.")]
Sort = Annotated[
    Literal["rating", "review_count", "name", "distance", "relevance"],
    Field(
        description="What comes first: the best, most reviewed, nearest (needs a point) or best matching place, or by name."
    ),
]
Operational = Annotated[bool, Field(description="Leave out places that have closed for good.")]
ListId = Annotated[str, Field(description="list_id, from get_all_lists.")]
PHO = seeded("gpl", "pho_hoa_mai")
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
        open_now: Annotated[
            bool, Field(description="Only places whose hours say that they are open now.")
        ] = False,
        open_at: Annotated[Timestamp, Field(description="Only places open at this time, ISO-8601.")]
        | None = None,
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
        wish = rules.Wish(
            query=query, location=location, category=category, price=price_level, min_rating=min_rating, radius=radius_miles,
            open_at=self.now if open_now else (parse_time(open_at) if open_at is not None else None), closed=not operational_only,
        )  # fmt: skip
        wish = rules.point(self, WORDS, wish, latitude, longitude, near_place)
        return page(
            rules.search(self, WORDS, wish, sort_by), "places", max_results, cursor, self._found
        )

    def _found(self, row: dict[str, Any]) -> dict[str, Any]:
        return place_json(self, row) | (
            {} if row["miles"] is None else {"distance_miles": row["miles"]}
        )

    @reads(example={"business_id": PHO})
    def get_place_details(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Return a place: address, location, phone, website, types, hours as weekday_text in local time, business_status, rating.

        Where it moved, new_place_id is the business_id of the new address.
        """
        row = rules.find_place(self, WORDS, business_id)
        counted, stars = rules.spread(self, WORDS, business_id)
        count = self.db.sql(
            "SELECT count(*) FROM google_map_review_photos WHERE business_id=?", business_id
        )[0][0]
        shown = place_json(
            self,
            row | {"rating": rules.rating(counted), "review_count": counted[1] if counted else 0},
        )
        return shown | {
            "phone": row["phone"],
            "website": row["website"],
            "time_zone": rules.town(self, row)["timezone"],
            "weekday_text": [
                day_text(day, text) for day, text in zip(rules.DAYS, row["hours"], strict=False)
            ],
            "reopens_at": row["reopens_at"]
            if shown["business_status"] == "CLOSED_TEMPORARILY"
            else None,
            "new_place_id": row["moved_to"],
            "ratings": stars,
            "photo_count": count,
            "saved": kept.is_saved(self, WORDS, business_id),
        }

    # -- saved ----------------------------------------------------------------------------------------------------
    @writes(example=SAVED.args, idempotent=True)
    def save_place(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Pin a place to your saved ones. It stays pinned once, however often you save it."""
        return {
            "business_id": business_id,
            "name": kept.save(self, WORDS, business_id, "gsv")["name"],
            "status": "saved",
        }

    @writes(example=SAVED.args, setup=(SAVED,), idempotent=True)
    def unpin_place(self, business_id: rules.BusinessId) -> dict[str, Any]:
        """Remove the pin of a saved place."""
        return {
            "business_id": business_id,
            "name": kept.unsave(self, WORDS, business_id, "list_saved_places")["name"],
            "status": "unpinned",
        }

    @reads()
    def list_saved_places(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your pinned places with business_status, newest pin first."""
        return page(
            kept.saved(self, WORDS),
            "places",
            limit,
            cursor,
            lambda i: self._brief(i["place"]) | {"saved_at": i["saved_at"]},
        )

    def _brief(self, row: dict[str, Any]) -> dict[str, Any]:
        known = place_json(self, row | {"rating": None, "review_count": 0})
        return {
            k: known[k]
            for k in ("business_id", "name", "types", "formatted_address", "business_status")
        }

    # -- lists ----------------------------------------------------------------------------------------------------
    @writes(example=NEW.args)
    def create_list(
        self, name: rules.ListName, description: rules.ListText | None = None
    ) -> dict[str, Any]:
        """Create a list of places; two lists cannot have one name."""
        made = kept.new_list(self, WORDS, name, description, "gli", "LIST_NAME_TAKEN")
        return {
            "list_id": made["id"],
            "name": made["name"],
            "description": made["description"],
            "status": "created",
        }

    @reads()
    def get_all_lists(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your lists with name, description and place_count, the newest first."""
        return page(kept.lists(self, WORDS), "lists", limit, cursor, self._list)

    def _list(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = {"list_id": row["id"], "place_count": row["count"]}
        return shown | {k: row[k] for k in ("name", "description", "created_at")}

    @reads(example={"list_id": seeded("gli", "first")})
    def get_list(self, list_id: ListId) -> dict[str, Any]:
        """Return a list and its places with notes, in the order in which they were added."""
        row = kept.find_list(self, WORDS, list_id)
        members = kept.items(self, WORDS, list_id)
        places = [
            self._brief(m["place"]) | {"note": m["note"], "added_at": m["added_at"]}
            for m in members
        ]
        return self._list(row | {"count": len(members)}) | {"places": places}

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
