"""Reviews, and the profile of the user who writes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Rating
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules
from servers.reviews._rules import Body, BusinessId, Keywords, Photos, ReviewId
from servers.reviews.yelp._model import WORDS, review_json

Order = Annotated[
    Literal["newest", "oldest", "highest", "lowest", "most_helpful"],
    Field(description="Order of the reviews; ignored if text_contains is given."),
]
Doubted = Annotated[bool, Field(description="Show the reviews that are not recommended instead.")]

PHO = seeded("ybz", "pho_hoa_mai")
WRITTEN = Setup(
    "compose_review",
    {"business_id": PHO, "rating": 4, "text": "Quick, hot, and the broth is clear."},
    "review",
)


class Opinions(Service):
    """Tools for reviews and the profile."""

    @reads(example={"business_id": PHO, "sort_by": "lowest"})
    def get_reviews_for_business(
        self,
        business_id: BusinessId,
        max_results: Limit = 20,
        sort_by: Order = "newest",
        text_contains: Keywords | None = None,
        not_recommended: Doubted = False,
        since: Since | None = None,
        until: Until | None = None,
        cursor: Cursor | None = None,
    ) -> Json:
        """List the recommended reviews of a business with stars, text, dates and useful votes."""
        where = "recommended=0" if not_recommended else "recommended=1"
        listed = reviews.reviews_of(self, WORDS, business_id, where, since, until)
        rows = reviews.in_order(self, WORDS, listed, sort_by, text_contains)
        return page(rows, "reviews", max_results, cursor, lambda row: review_json(self, row))

    @reads(example={"review_id": seeded("yrv", "mine-afuri")})
    def get_review_details(self, review_id: ReviewId) -> Json:
        """Get one review in full, with the business's reply and whether it is recommended."""
        return review_json(self, reviews.find_review(self, WORDS, review_id))

    @reads()
    def get_my_yelp_reviews(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """List your own reviews with the names of their businesses, newest first."""
        rows = reviews.own_reviews(self, WORDS, since, until)
        return page(rows, "reviews", limit, cursor, self._own_review_json)

    def _own_review_json(self, row: Row) -> Json:
        place = rules.find_place(self, WORDS, row["business_id"])
        return review_json(self, row) | {"business_name": place["name"]}

    @writes(example=WRITTEN.args)
    def compose_review(
        self, business_id: BusinessId, rating: Rating, text: Body, photos: Photos | None = None
    ) -> Json:
        """Publish your review of a business. You can write one review for each business."""
        row = reviews.write_review(self, WORDS, business_id, rating, text, photos, recommended=True)
        return {
            "review_id": row["id"],
            "business_id": business_id,
            "rating": rating,
            "status": "published",
            "created_at": self.time,
        }

    @writes(
        example={"review_id": "${review.review_id}", "rating": 5}, setup=(WRITTEN,), idempotent=True
    )
    def update_review(
        self,
        review_id: ReviewId,
        rating: Rating | None = None,
        text: Body | None = None,
        photos: Photos | None = None,
    ) -> Json:
        """Change the rating, text or photos of your own review and return it."""
        return review_json(self, reviews.rewrite(self, WORDS, review_id, rating, text, photos))

    @writes(example={"review_id": "${review.review_id}"}, setup=(WRITTEN,), destructive=True)
    def remove_review(self, review_id: ReviewId) -> Json:
        """Delete your own review. You can then review the business again."""
        row = reviews.erase(self, WORDS, review_id)
        return {"review_id": review_id, "business_id": row["business_id"], "status": "removed"}

    @writes(example={"review_id": seeded("yrv", "afuri-0")}, idempotent=True)
    def mark_review_useful(self, review_id: ReviewId) -> Json:
        """Mark someone else's review as useful. Marking it again changes nothing."""
        return {"review_id": review_id, "helpful_count": reviews.vote(self, WORDS, review_id)}

    @reads()
    def get_yelp_profile(self) -> Json:
        """Get your name, email, display name, home city and contribution counts."""
        me = rules.me(self, WORDS)
        home = rules.town(self, me)
        return {
            "name": me["name"],
            "email": me["email"],
            "display_name": me["shown"],
            "home_city": f"{home['name']}, {home['state']}",
            "review_count": self._count("yelp_reviews WHERE mine=1"),
            "question_count": self._count("yelp_questions WHERE mine=1"),
            "answer_count": self._count("yelp_answers WHERE mine=1"),
            "check_in_count": self._count("yelp_check_ins"),
        }

    def _count(self, rows: str) -> int:
        """Return the number of rows; `rows` is a table with an optional condition."""
        return self.db.sql(f"SELECT count(*) FROM {rows}")[0][0]

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter about the customer's review says; see `Service.when_due`."""
        return reviews.when_due(self, WORDS, post)
