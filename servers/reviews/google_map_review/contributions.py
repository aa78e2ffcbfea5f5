"""What one contributes to the map: reviews, answers, photos, and the Local Guide level that they earn."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import fields
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, page
from servers.reviews import _kept as kept
from servers.reviews import _rules as rules
from servers.reviews.google_map_review import _model as model
from servers.reviews.google_map_review._model import WORDS, review_json

First = Annotated[
    Literal["newest", "oldest", "highest", "lowest", "most_helpful"],
    Field(description="Order of the reviews; ignored with keywords."),
]
Caption = Annotated[str, Field(min_length=1, max_length=200, description="What the photo shows.")]
Kind = Annotated[
    Literal["reviews", "photos", "answers"], Field(description="Only contributions of this kind.")
]
PHO = seeded("gpl", "pho_hoa_mai")
MINE = Setup(
    "add_review",
    {"business_id": PHO, "rating": 4, "text": "Clear broth, quick kitchen, cash or card."},
    "mine",
)
QUESTION = Setup(
    "ask_place_question",
    {"business_id": PHO, "question_text": "Do they take a table for ten?"},
    "question",
)


class Contributions(Service):
    """Reviews, questions, photos and points."""

    @reads(example={"business_id": PHO})
    def get_place_reviews(
        self,
        business_id: rules.BusinessId,
        max_results: Limit = 20,
        sort_by: First = "newest",
        keywords: rules.Keywords | None = None,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return all reviews of a place: author, rating, text, dates, helpful votes, and the owner's response."""
        found = rules.reviews_of(self, WORDS, business_id, sort_by, keywords, WORDS.counts)
        return page(found, "reviews", max_results, cursor, lambda r: review_json(self, r))

    @reads(example={"review_id": seeded("grv", "mine-slabtown_burger")})
    def get_review(self, review_id: rules.ReviewId) -> dict[str, Any]:
        """Return a single review of a place."""
        return review_json(self, rules.find_review(self, WORDS, review_id))

    @reads()
    def get_my_reviews(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return your own reviews with the place's name and the points each earned, newest first."""
        return page(rules.own_reviews(self, WORDS), "reviews", limit, cursor, self._own)

    def _own(self, row: dict[str, Any]) -> dict[str, Any]:
        place = rules.find_place(self, WORDS, row["business_id"])
        return review_json(self, row) | {
            "place_name": place["name"],
            "points": model.review_points(row),
        }

    @writes(example=MINE.args)
    def add_review(
        self,
        business_id: rules.BusinessId,
        rating: fields.Rating,
        text: rules.Body,
        photos: rules.Photos | None = None,
    ) -> dict[str, Any]:
        """Review a place, once. It earns 10 Local Guide points, 10 more beyond 200 characters, and 5 for each photo."""
        place = rules.find_place(self, WORDS, business_id)
        if rules.state(place, self.time) == "closed":
            hint = "See get_place_details for a new address."
            self.fail(
                "PLACE_CLOSED",
                f"{place['name']} is permanently closed and takes no reviews.",
                hint,
                business_id=business_id,
            )
        made = rules.write_review(self, WORDS, business_id, rating, text, photos)
        shown = {"review_id": made["id"], "business_id": business_id, "status": "published"}
        return shown | {
            "points_awarded": model.review_points(made),
            "published_at": made["written_at"],
        }

    @writes(
        example={"review_id": "${mine.review_id}", "text": "Clear broth, quick kitchen."},
        setup=(MINE,),
        idempotent=True,
    )
    def edit_review(
        self,
        review_id: rules.ReviewId,
        rating: fields.Rating | None = None,
        text: rules.Body | None = None,
        photos: rules.Photos | None = None,
    ) -> dict[str, Any]:
        """Edit your review: what is given replaces what was there. Returns the review."""
        return review_json(self, rules.rewrite(self, WORDS, review_id, rating, text, photos))

    @writes(example={"review_id": "${mine.review_id}"}, setup=(MINE,), destructive=True)
    def delete_review(self, review_id: rules.ReviewId) -> dict[str, Any]:
        """Delete your review; its points are lost."""
        gone = rules.erase(self, WORDS, review_id)
        return {
            "review_id": review_id,
            "status": "deleted",
            "points_lost": model.review_points(gone),
        }

    @writes(example={"review_id": seeded("grv", "pho_hoa_mai-0")}, idempotent=True)
    def mark_review_helpful(self, review_id: rules.ReviewId) -> dict[str, Any]:
        """Mark another person's review as helpful. You have one vote for each review."""
        return {
            "review_id": review_id,
            "helpful_count": rules.vote(self, WORDS, review_id),
            "status": "marked",
        }

    # -- questions ------------------------------------------------------------------------------------------------
    @reads(example={"business_id": seeded("gpl", "afuri")})
    def get_place_questions(
        self, business_id: rules.BusinessId, limit: Limit = 10, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return questions that people asked about a place, newest first, with their answers."""
        return page(
            kept.questions(self, WORDS, business_id), "questions", limit, cursor, self._asked
        )

    def _asked(self, row: dict[str, Any]) -> dict[str, Any]:
        answers = [
            {
                "answer_id": a["id"],
                "author_name": a["author"],
                "own": a["mine"],
                "text": a["body"],
                "answered_at": a["answered_at"],
            }
            for a in row["answers"]
        ]
        shown = {
            "question_id": row["id"],
            "business_id": row["business_id"],
            "author_name": row["author"],
            "own": row["mine"],
        }
        return shown | {"text": row["body"], "asked_at": row["asked_at"], "answers": answers}

    @writes(example=QUESTION.args)
    def ask_place_question(
        self, business_id: rules.BusinessId, question_text: rules.QuestionText
    ) -> dict[str, Any]:
        """Ask a question about a place, for its owner and visitors to answer."""
        made = kept.ask(self, WORDS, business_id, question_text, "gqu")
        return {
            "question_id": made["id"],
            "business_id": business_id,
            "question_text": made["body"],
            "status": "asked",
        }

    @writes(
        example={"question_id": "${question.question_id}", "answer_text": "Only before six."},
        setup=(QUESTION,),
    )
    def answer_place_question(
        self, question_id: rules.QuestionId, answer_text: rules.AnswerText
    ) -> dict[str, Any]:
        """Answer a question about a place, once, for 3 Local Guide points."""
        made = kept.reply(self, WORDS, question_id, answer_text, "gan")
        shown = {
            "question_id": question_id,
            "business_id": made["business_id"],
            "answer_id": made["id"],
            "answer_text": made["body"],
        }
        return shown | {"points_awarded": model.PER_ANSWER, "status": "answered"}

    # -- photos and points ----------------------------------------------------------------------------------------
    @writes(
        example={
            "business_id": PHO,
            "photo_url": "https://photos.example.com/maya/pho.jpg",
            "caption": "Number 14, large",
        }
    )
    def add_photo(
        self, business_id: rules.BusinessId, photo_url: rules.Url, caption: Caption | None = None
    ) -> dict[str, Any]:
        """Add a photo to a place for 5 Local Guide points. The same photo cannot be added to it twice."""
        rules.find_place(self, WORDS, business_id)
        known = self.db.rows(
            "google_map_review_photos", "business_id=? AND url=?", business_id, photo_url
        )
        if known:
            self.fail(
                "DUPLICATE_PHOTO",
                "The place has this photo already.",
                "See list_place_photos.",
                photo_id=known[0]["id"],
            )
        row = {
            "id": self.new_id("gph"),
            "business_id": business_id,
            "author": rules.me(self, WORDS)["shown"],
            "mine": True,
        }
        made = self.db.insert(
            "google_map_review_photos",
            row | {"url": photo_url, "caption": caption, "added_at": self.time},
        )
        return self._photo(made) | {"points_awarded": model.PER_PHOTO, "status": "added"}

    def _photo(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = {
            "photo_id": row["id"],
            "business_id": row["business_id"],
            "photo_url": row["url"],
            "caption": row["caption"],
        }
        return shown | {
            "author_name": row["author"],
            "own": row["mine"],
            "added_at": row["added_at"],
        }

    @reads(example={"business_id": seeded("gpl", "afuri")})
    def list_place_photos(
        self, business_id: rules.BusinessId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the photos of a place with captions, newest first; those of reviews are shown with the reviews."""
        rules.find_place(self, WORDS, business_id)
        found = self.db.rows(
            "google_map_review_photos", "business_id=?", business_id, order="added_at DESC, id"
        )
        return page(found, "photos", limit, cursor, self._photo)

    @reads()
    def get_reviewer_profile(self) -> dict[str, Any]:
        """Return your account: name, email, public name, home town, Local Guide level and number of reviews."""
        account = rules.me(self, WORDS)
        found = model.mine(self)
        home = rules.town(self, account)
        shown = {
            "name": account["name"],
            "email": account["email"],
            "public_name": account["shown"],
        }
        level = sum(model.points(found) >= need for need in model.LEVELS)
        return shown | {
            "home": f"{home['name']}, {home['state']}",
            "local_guide_level": level,
            "review_count": len(found["reviews"]),
        }

    @reads()
    def get_local_guide_status(self) -> dict[str, Any]:
        """Return your Local Guide level, points, the contributions that earned them, and what the next level lacks."""
        found = model.mine(self)
        earned = model.points(found)
        level = sum(earned >= need for need in model.LEVELS)
        counts = {kind: len(rows) for kind, rows in found.items()}
        above = model.LEVELS[level] - earned if level < len(model.LEVELS) else None
        return {
            "level": level,
            "points": earned,
            "contributions": counts,
            "points_to_next_level": above,
        }

    @reads(example={"type": "reviews"})
    def get_contribution_history(
        self, type: Kind | None = None, limit: Limit = 10, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return your reviews, photos and answers with their points, newest first."""
        when = {"reviews": "written_at", "photos": "added_at", "answers": "answered_at"}
        found = [
            {"contribution_id": row["id"], "type": kind, "at": row[when[kind]], "row": row}
            for kind, rows in model.mine(self).items()
            for row in rows
            if type in (None, kind)
        ]
        found.sort(key=lambda f: (f["at"], f["contribution_id"]), reverse=True)
        return page(found, "contributions", limit, cursor, self._contribution)

    def _contribution(self, found: dict[str, Any]) -> dict[str, Any]:
        row = found["row"]
        kind = found["type"]
        if kind == "reviews":
            more = {
                "review_id": row["id"],
                "business_id": row["business_id"],
                "rating": row["rating"],
                "text": row["body"],
            }
            return {"type": kind, "points": model.review_points(row), "at": found["at"]} | more
        if kind == "photos":
            return {"type": kind, "points": model.PER_PHOTO, "at": found["at"]} | self._photo(row)
        asked = self.db.get("google_map_review_questions", row["question_id"]) or {}
        more = {
            "answer_id": row["id"],
            "question_id": row["question_id"],
            "business_id": asked["business_id"],
            "text": row["body"],
        }
        return {"type": kind, "points": model.PER_ANSWER, "at": found["at"]} | more
