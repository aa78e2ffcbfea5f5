"""Reviews, and the profile of who writes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Rating
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, page
from servers.reviews import _rules as rules
from servers.reviews._rules import Body, BusinessId, Keywords, Photos, ReviewId
from servers.reviews.yelp._model import WORDS, review_json

Order = Annotated[
    Literal["newest", "oldest", "highest", "lowest", "most_helpful"],
    Field(description="Which come first; text words rank by match."),
]
Doubted = Annotated[bool, Field(description="Show the reviews that are not recommended instead.")]

PHO = seeded("ybz", "pho_hoa_mai")
WRITTEN = Setup(
    "compose_review",
    {"business_id": PHO, "rating": 4, "text": "Quick, hot, and the broth is clear."},
    "review",
)


class Opinions(Service):
    """What users think of businesses."""

    @reads(example={"business_id": PHO, "sort_by": "lowest"})
    def get_reviews_for_business(
        self,
        business_id: BusinessId,
        max_results: Limit = 20,
        sort_by: Order = "newest",
        text_contains: Keywords | None = None,
        not_recommended: Doubted = False,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return the recommended reviews of a business with stars, text, dates and useful votes."""
        where = f"recommended={int(not not_recommended)}"
        found = rules.reviews_of(self, WORDS, business_id, sort_by, text_contains, where)
        return page(found, "reviews", max_results, cursor, lambda r: review_json(self, r))

    @reads(example={"review_id": seeded("yrv", "mine-afuri")})
    def get_review_details(self, review_id: ReviewId) -> dict[str, Any]:
        """Return one review in full, with the reply of the business and whether it is recommended."""
        return review_json(self, rules.find_review(self, WORDS, review_id))

    @reads()
    def get_my_yelp_reviews(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the reviews that you wrote, newest first, each with the name of its business."""
        return page(rules.own_reviews(self, WORDS), "reviews", limit, cursor, self._named)

    def _named(self, row: dict[str, Any]) -> dict[str, Any]:
        return review_json(self, row) | {
            "business_name": rules.find_place(self, WORDS, row["business_id"])["name"]
        }

    @writes(example=WRITTEN.args)
    def compose_review(
        self, business_id: BusinessId, rating: Rating, text: Body, photos: Photos | None = None
    ) -> dict[str, Any]:
        """Publish your review of a business, one per business; it counts at once."""
        row = rules.write_review(self, WORDS, business_id, rating, text, photos, recommended=True)
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
    ) -> dict[str, Any]:
        """Change stars, text or photos of a review of your own and return it."""
        return review_json(self, rules.rewrite(self, WORDS, review_id, rating, text, photos))

    @writes(example={"review_id": "${review.review_id}"}, setup=(WRITTEN,), destructive=True)
    def remove_review(self, review_id: ReviewId) -> dict[str, Any]:
        """Delete a review of your own. The business may then be reviewed anew."""
        row = rules.erase(self, WORDS, review_id)
        return {"review_id": review_id, "business_id": row["business_id"], "status": "removed"}

    @writes(example={"review_id": seeded("yrv", "afuri-0")}, idempotent=True)
    def mark_review_useful(self, review_id: ReviewId) -> dict[str, Any]:
        """Say that a review by somebody else is useful; a second time adds nothing."""
        return {"review_id": review_id, "helpful_count": rules.vote(self, WORDS, review_id)}

    @reads()
    def get_yelp_profile(self) -> dict[str, Any]:
        """Return your account: name, email, the name shown under reviews, home city, and what you have contributed."""
        me = rules.me(self, WORDS)
        home = rules.town(self, me)
        mine = {
            t: self.db.sql(f"SELECT count(*) FROM yelp_{t} WHERE mine=1")[0][0]
            for t in ("reviews", "questions", "answers")
        }
        checks = self.db.sql("SELECT count(*) FROM yelp_check_ins")[0][0]
        shown = {
            "name": me["name"],
            "email": me["email"],
            "display_name": me["shown"],
            "home_city": f"{home['name']}, {home['state']}",
        }
        return (
            shown
            | {
                "review_count": mine["reviews"],
                "question_count": mine["questions"],
                "answer_count": mine["answers"],
            }
            | {"check_in_count": checks}
        )
