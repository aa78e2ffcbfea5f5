"""Yelp's tables, words, and how it shows businesses and reviews.

Reviews that its filter does not recommend do not count.
"""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules

TABLES = {
    "yelp_account": rules.ACCOUNT,
    "yelp_places": rules.PLACES,
    "yelp_reviews": Table(
        rules.REVIEWS + " recommended:bool/derived",
        search=("body",),
        index=("business_id, written_at", "mine, written_at"),
        outward={},
        noun=rules.REVIEW,
    ),
    "yelp_votes": rules.VOTES,
    "yelp_saved": rules.SAVED,
    "yelp_questions": rules.QUESTIONS,
    "yelp_answers": rules.ANSWERS,
    "yelp_lists": rules.LISTS,
    "yelp_list_items": rules.LIST_ITEMS,
    "yelp_check_ins": Table(
        "id:str business_id:str/ref at:str/stamp",
        index=("business_id", "at"),
        noun="a check-in at {business_id}",
    ),
}
WORDS = rules.Words(
    tables="yelp",
    a_place="business",
    a_list="collection",
    review="yrv",
    counts="recommended=1",
    no_place="BUSINESS_NOT_FOUND",
    not_owner="NOT_REVIEW_OWNER",
    search="search_businesses",
    reviews="get_reviews_for_business",
    mine="get_my_yelp_reviews",
    update="update_review",
    questions="get_questions",
    categories="list_categories",
    no_list="COLLECTION_NOT_FOUND",
    lists="list_collections",
)


def address(svc: Service, row: Row) -> str:
    """Return the address of a business in one line."""
    town = rules.town(svc, row)
    return f"{row['street']}, {town['name']}, {town['state']} {row['zip']}"


def dollar_signs(price: int | None) -> str | None:
    """Return a price level as Yelp writes it."""
    return None if price is None else "$" * price


def business_json(svc: Service, row: Row) -> Json:
    """Return a business as a search shows it; `row` has `rating` and `review_count`."""
    return {
        "business_id": row["id"],
        "name": row["name"],
        "category": row["category"],
        "address": address(svc, row),
        "rating": row["rating"],
        "review_count": row["review_count"],
        "price_level": dollar_signs(row["price"]),
        "phone": row["phone"],
        "is_closed": rules.state(row, svc.time) == "closed",
        "is_open_now": rules.is_open(svc, row, svc.now),
    }


def review_json(svc: Service, row: Row) -> Json:
    """Return a review as Yelp shows it."""
    return {
        "review_id": row["id"],
        "business_id": row["business_id"],
        "user": row["author"],
        "is_mine": row["mine"],
        "rating": row["rating"],
        "text": row["body"],
        "photos": row["photos"] or [],
        "created_at": row["written_at"],
        "updated_at": row["edited_at"],
        "useful_count": reviews.votes(svc, WORDS, row),
        "recommended": row["recommended"],
        "business_reply": row["reply"],
    }
