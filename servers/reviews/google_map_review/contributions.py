"""The user's contributions to the map: reviews, answers, photos, and the level they earn."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit import fields
from servers.kit.control import seeded
from servers.kit.listing import Listing, Merged, Part, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.reviews import _kept as kept
from servers.reviews import _reviews as reviews
from servers.reviews import _rules as rules
from servers.reviews.google_map_review import _model as model
from servers.reviews.google_map_review._model import WORDS, review_json

First = Annotated[
    Literal["newest", "oldest", "highest", "lowest", "most_helpful"],
    Field(description="Order of the reviews; ignored if keywords are given."),
]
Caption = Annotated[str, Field(min_length=1, max_length=200, description="Caption of the photo.")]
Kind = Annotated[
    Literal["reviews", "photos", "answers"], Field(description="Only contributions of this type.")
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
    """Tools for reviews, questions, photos and points."""

    @reads(example={"business_id": PHO})
    def get_place_reviews(
        self,
        business_id: rules.BusinessId,
        max_results: Limit = 20,
        sort_by: First = "newest",
        keywords: rules.Keywords | None = None,
        since: Since | None = None,
        until: Until | None = None,
        cursor: Cursor | None = None,
    ) -> Json:
        """List the reviews of a place.

        Each has its author, rating, text, photos, dates, helpful votes and the owner's response.
        """
        listed = reviews.reviews_of(self, WORDS, business_id, WORDS.counts, since, until)
        rows = reviews.in_order(self, WORDS, listed, sort_by, keywords)
        return page(rows, "reviews", max_results, cursor, lambda row: review_json(self, row))

    @reads(example={"review_id": seeded("grv", "mine-slabtown_burger")})
    def get_review(self, review_id: rules.ReviewId) -> Json:
        """Get a single review of a place."""
        return review_json(self, reviews.find_review(self, WORDS, review_id))

    @reads()
    def get_my_reviews(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """List your own reviews with their places' names and the points earned, newest first."""
        rows = reviews.own_reviews(self, WORDS, since, until)
        return page(rows, "reviews", limit, cursor, self._own_review_json)

    def _own_review_json(self, row: Row) -> Json:
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
    ) -> Json:
        """Publish your review of a place; you can write one for each place.

        It earns 10 Local Guide points, 10 more if it is over 200 characters long, and 5 for each
        photo.
        """
        place = rules.find_place(self, WORDS, business_id)
        if rules.state(place, self.time) == "closed":
            self.fail(
                "PLACE_CLOSED",
                f"{place['name']} is permanently closed and cannot be reviewed.",
                "Call get_place_details to see whether it has moved.",
                business_id=business_id,
            )
        review = reviews.write_review(self, WORDS, business_id, rating, text, photos)
        return {
            "review_id": review["id"],
            "business_id": business_id,
            "status": "published",
            "points_awarded": model.review_points(review),
            "published_at": review["written_at"],
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
    ) -> Json:
        """Edit your review and return it. Parts that are left out stay as they are."""
        return review_json(self, reviews.rewrite(self, WORDS, review_id, rating, text, photos))

    @writes(example={"review_id": "${mine.review_id}"}, setup=(MINE,), destructive=True)
    def delete_review(self, review_id: rules.ReviewId) -> Json:
        """Delete your review. You lose the points that it earned."""
        review = reviews.erase(self, WORDS, review_id)
        return {
            "review_id": review_id,
            "status": "deleted",
            "points_lost": model.review_points(review),
        }

    @writes(example={"review_id": seeded("grv", "pho_hoa_mai-0")}, idempotent=True)
    def mark_review_helpful(self, review_id: rules.ReviewId) -> Json:
        """Mark someone else's review as helpful. You have one vote for each review."""
        votes = reviews.vote(self, WORDS, review_id)
        return {"review_id": review_id, "helpful_count": votes, "status": "marked"}

    # -- questions ----------------------------------------------------------------------------
    @reads(example={"business_id": seeded("gpl", "afuri")})
    def get_place_questions(
        self, business_id: rules.BusinessId, limit: Limit = 10, cursor: Cursor | None = None
    ) -> Json:
        """List the questions about a place with their answers, newest first."""
        rows = kept.questions(self, WORDS, business_id)
        return page(rows, "questions", limit, cursor, self._question_json)

    def _question_json(self, row: Row) -> Json:
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
        return {
            "question_id": row["id"],
            "business_id": row["business_id"],
            "author_name": row["author"],
            "own": row["mine"],
            "text": row["body"],
            "asked_at": row["asked_at"],
            "answers": answers,
        }

    @writes(example=QUESTION.args)
    def ask_place_question(
        self, business_id: rules.BusinessId, question_text: rules.QuestionText
    ) -> Json:
        """Ask a question about a place, for its owner and visitors to answer."""
        question = kept.ask(self, WORDS, business_id, question_text, "gqu")
        return {
            "question_id": question["id"],
            "business_id": business_id,
            "question_text": question["body"],
            "status": "asked",
        }

    @writes(
        example={"question_id": "${question.question_id}", "answer_text": "Only before six."},
        setup=(QUESTION,),
    )
    def answer_place_question(
        self, question_id: rules.QuestionId, answer_text: rules.AnswerText
    ) -> Json:
        """Answer a question about a place, at most once, for 3 Local Guide points."""
        answer = kept.reply(self, WORDS, question_id, answer_text, "gan")
        return {
            "question_id": question_id,
            "business_id": answer["business_id"],
            "answer_id": answer["id"],
            "answer_text": answer["body"],
            "points_awarded": model.PER_ANSWER,
            "status": "answered",
        }

    # -- photos and points --------------------------------------------------------------------
    @writes(
        example={
            "business_id": PHO,
            "photo_url": "https://photos.example.com/maya/pho.jpg",
            "caption": "Number 14, large",
        }
    )
    def add_photo(
        self, business_id: rules.BusinessId, photo_url: rules.Url, caption: Caption | None = None
    ) -> Json:
        """Add a photo to a place for 5 Local Guide points. Each photo can be added only once."""
        rules.find_place(self, WORDS, business_id)
        same = self.db.rows(
            "google_map_review_photos", "business_id=? AND url=?", business_id, photo_url
        )
        if same:
            self.fail(
                "DUPLICATE_PHOTO",
                "This photo has already been added to the place.",
                "Call list_place_photos to see its photos.",
                photo_id=same[0]["id"],
            )
        row = {
            "id": self.new_id("gph"),
            "business_id": business_id,
            "author": rules.me(self, WORDS)["shown"],
            "mine": True,
            "url": photo_url,
            "caption": caption,
            "added_at": self.time,
        }
        photo = self.db.insert("google_map_review_photos", row)
        return self._photo_json(photo) | {"points_awarded": model.PER_PHOTO, "status": "added"}

    def _photo_json(self, row: Row) -> Json:
        return {
            "photo_id": row["id"],
            "business_id": row["business_id"],
            "photo_url": row["url"],
            "caption": row["caption"],
            "author_name": row["author"],
            "own": row["mine"],
            "added_at": row["added_at"],
        }

    @reads(example={"business_id": seeded("gpl", "afuri")})
    def list_place_photos(
        self, business_id: rules.BusinessId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """List the photos of a place with their captions, newest first.

        Photos in reviews are listed with the reviews.
        """
        rules.find_place(self, WORDS, business_id)
        rows = self.db.rows(
            "google_map_review_photos", "business_id=?", business_id, order="added_at DESC, id"
        )
        return page(rows, "photos", limit, cursor, self._photo_json)

    @reads()
    def get_reviewer_profile(self) -> Json:
        """Get your name, email, public name, home town, Local Guide level and number of reviews."""
        account = rules.me(self, WORDS)
        contributions = model.contributions(self)
        home = rules.town(self, account)
        return {
            "name": account["name"],
            "email": account["email"],
            "public_name": account["shown"],
            "home": f"{home['name']}, {home['state']}",
            "local_guide_level": model.level(contributions.points),
            "review_count": len(contributions.reviews),
        }

    @reads()
    def get_local_guide_status(self) -> Json:
        """Get your Local Guide level and points, and how many points the next level needs.

        The numbers of reviews, photos and answers that earned them are in contributions.
        """
        contributions = model.contributions(self)
        points = contributions.points
        level = model.level(points)
        missing = model.LEVELS[level] - points if level < len(model.LEVELS) else None
        return {
            "level": level,
            "points": points,
            "contributions": {
                "reviews": len(contributions.reviews),
                "photos": len(contributions.photos),
                "answers": len(contributions.answers),
            },
            "points_to_next_level": missing,
        }

    @reads(example={"type": "reviews"})
    def get_contribution_history(
        self,
        type: Kind | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """List your reviews, photos and answers with their points, newest first."""
        made_at = {"reviews": "written_at", "photos": "added_at", "answers": "answered_at"}
        lists = {}
        for kind, moment in made_at.items():
            if type in (None, kind):
                own = Listing(self.db, WORDS.table(kind), by=moment, where="mine=1")
                lists[kind] = own.days(since, until, rules.home_zone(self, WORDS))
        return page(Merged(lists), "contributions", limit, cursor, self._contribution_json)

    def _contribution_json(self, part: Part) -> Json:
        kind = part.kind
        row = part.row
        if kind == "reviews":
            points = model.review_points(row)
            details = {
                "review_id": row["id"],
                "business_id": row["business_id"],
                "rating": row["rating"],
                "text": row["body"],
            }
        elif kind == "photos":
            points = model.PER_PHOTO
            details = self._photo_json(row)
        else:
            points = model.PER_ANSWER
            question = self.db.get("google_map_review_questions", row["question_id"]) or {}
            details = {
                "answer_id": row["id"],
                "question_id": row["question_id"],
                "business_id": question["business_id"],
                "text": row["body"],
            }
        return {"type": kind, "points": points, "at": part.at, **details}

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter about the customer's review says; see `Service.when_due`."""
        return reviews.when_due(self, WORDS, post)
