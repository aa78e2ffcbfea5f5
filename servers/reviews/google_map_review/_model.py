"""Google Maps' tables, words, Local Guide points, and how it shows places and reviews.

Every review counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules

TABLES = {
    "google_map_review_account": rules.ACCOUNT,
    "google_map_review_places": rules.PLACES,
    "google_map_review_reviews": Table(
        rules.REVIEWS,
        search=("body",),
        index=("business_id, written_at", "mine, written_at"),
        outward={},
        noun=rules.REVIEW,
    ),
    "google_map_review_votes": rules.VOTES,
    "google_map_review_saved": rules.SAVED,
    "google_map_review_questions": rules.QUESTIONS,
    "google_map_review_answers": rules.ANSWERS,
    "google_map_review_lists": rules.LISTS,
    "google_map_review_list_items": rules.LIST_ITEMS,
    "google_map_review_photos": Table(
        "id:str business_id:str/ref author:str/derived mine:bool/derived url:str/matter "
        "caption:str?/prose added_at:str/stamp",
        index=("business_id", "mine, added_at"),
        outward={},
        noun="a photo of {business_id}",
    ),
}
WORDS = rules.Words(
    tables="google_map_review",
    a_place="place",
    a_list="list",
    review="grv",
    counts="1",
    no_place="PLACE_NOT_FOUND",
    not_owner="PERMISSION_DENIED",
    search="search_places",
    reviews="get_place_reviews",
    mine="get_my_reviews",
    update="edit_review",
    questions="get_place_questions",
    categories="list_place_categories",
    no_list="LIST_NOT_FOUND",
    lists="get_all_lists",
)

PER_REVIEW = 10
PER_LONG_REVIEW = 10
"""Extra points for a review of more than `LONG` characters."""
LONG = 200
PER_PHOTO = 5
PER_ANSWER = 3

LEVELS = (0, 15, 75, 250, 500, 1_500, 5_000, 15_000, 50_000, 100_000)
"""The points at which levels 1 to 10 begin."""

_STATUS = {"open": "OPERATIONAL", "closed": "CLOSED_PERMANENTLY", "paused": "CLOSED_TEMPORARILY"}


# -- Local Guide points -----------------------------------------------------------------------
class Contributions(NamedTuple):
    """The user's own contributions by kind, newest first."""

    reviews: list[dict[str, Any]]
    photos: list[dict[str, Any]]
    answers: list[dict[str, Any]]

    @property
    def points(self) -> int:
        """The Local Guide points that they have earned."""
        earned = sum(review_points(review) for review in self.reviews)
        return earned + PER_PHOTO * len(self.photos) + PER_ANSWER * len(self.answers)


def review_points(row: Row) -> int:
    """Return the points of a review."""
    points = PER_REVIEW + PER_PHOTO * len(row["photos"] or [])
    if len(row["body"]) > LONG:
        points += PER_LONG_REVIEW
    return points


def contributions(svc: Service) -> Contributions:
    """Return what the user has contributed."""
    return Contributions(
        reviews=reviews.own_reviews(svc, WORDS).all(),
        photos=svc.db.rows("google_map_review_photos", "mine=1", order="added_at DESC, id"),
        answers=svc.db.rows("google_map_review_answers", "mine=1", order="answered_at DESC, id"),
    )


def level(points: int) -> int:
    """Return the Local Guide level, 1 to 10, for a number of points."""
    return len([needed for needed in LEVELS if points >= needed])


# -- replies ----------------------------------------------------------------------------------
def place_json(svc: Service, row: Row) -> Json:
    """Return a place as a search shows it; `row` has `rating` and `review_count`."""
    town = rules.town(svc, row)
    return {
        "business_id": row["id"],
        "name": row["name"],
        "types": [row["category"], *(t for t in row["tags"].split(", ") if t)],
        "formatted_address": f"{row['street']}, {town['name']}, {town['state']} {row['zip']}, USA",
        "location": {"lat": row["lat"], "lng": row["lng"]},
        "rating": row["rating"],
        "user_ratings_total": row["review_count"],
        "price_level": row["price"],
        "business_status": _STATUS[rules.state(row, svc.time)],
        "open_now": rules.is_open(svc, row, svc.now),
    }


def review_json(svc: Service, row: Row) -> Json:
    """Return a review, with the response of the owner."""
    return {
        "review_id": row["id"],
        "business_id": row["business_id"],
        "author_name": row["author"],
        "own": row["mine"],
        "rating": row["rating"],
        "text": row["body"],
        "photos": row["photos"] or [],
        "published_at": row["written_at"],
        "edited_at": row["edited_at"],
        "helpful_count": reviews.votes(svc, WORDS, row),
        "owner_response": row["reply"],
    }


def clock(text: str) -> str:
    """Return "17:30" as "5:30 PM"."""
    hour = int(text[:2])
    minute = text[3:]
    return f"{hour % 12 or 12}:{minute} {'AM' if hour < 12 else 'PM'}"


def day_text(day: str, text: str) -> str:
    """Return a day's hours as Google writes them."""
    if text == "24h":
        return f"{day}: Open 24 hours"
    if not text:
        return f"{day}: Closed"
    return f"{day}: {' – '.join(clock(moment) for moment in text.split('-'))}"
