"""Questions about businesses, and collections of businesses."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.reviews import _kept as kept
from servers.reviews import _rules as rules
from servers.reviews._rules import (
    AnswerText,
    BusinessId,
    ListName,
    ListText,
    QuestionId,
    QuestionText,
    Remark,
)
from servers.reviews.yelp._model import WORDS, address

CollectionId = Annotated[str, Field(description="collection_id, from list_collections.")]
RAMEN = seeded("ybz", "afuri")
PHO = seeded("ybz", "pho_hoa_mai")
COLLECTION = Setup(
    "create_collection", {"name": "Soup weather", "description": "For wet evenings"}, "made"
)
ADDED = Setup("add_to_collection", {"collection_id": "${made.collection_id}", "business_id": PHO})
ASKED = Setup(
    "ask_question",
    {"business_id": PHO, "question_text": "Is there parking behind the house?"},
    "asked",
)


class Community(Service):
    """Tools for questions, answers and collections."""

    @reads(example={"business_id": RAMEN})
    def get_questions(
        self, business_id: BusinessId, limit: Limit = 10, cursor: Cursor | None = None
    ) -> Json:
        """List the questions about a business with all their answers, newest first."""
        rows = kept.questions(self, WORDS, business_id)
        return page(rows, "questions", limit, cursor, self._question_json)

    def _question_json(self, row: Row) -> Json:
        return {
            "question_id": row["id"],
            "business_id": row["business_id"],
            "question_text": row["body"],
            "asked_by": row["author"],
            "is_mine": row["mine"],
            "asked_at": row["asked_at"],
            "answers": [self._answer_json(answer) for answer in row["answers"]],
        }

    def _answer_json(self, row: Row) -> Json:
        return {
            "answer_id": row["id"],
            "answer_text": row["body"],
            "answered_by": row["author"],
            "is_mine": row["mine"],
            "answered_at": row["answered_at"],
        }

    @writes(example=ASKED.args)
    def ask_question(self, business_id: BusinessId, question_text: QuestionText) -> Json:
        """Ask the community a question about a business. Answers appear in get_questions."""
        row = kept.ask(self, WORDS, business_id, question_text, "yqu")
        return {
            "question_id": row["id"],
            "business_id": business_id,
            "question_text": row["body"],
            "status": "posted",
        }

    @writes(
        example={
            "question_id": "${asked.question_id}",
            "answer_text": "Yes, six spaces in the yard.",
        },
        setup=(ASKED,),
    )
    def answer_question(self, question_id: QuestionId, answer_text: AnswerText) -> Json:
        """Answer a question about a business. You can give one answer to each question."""
        row = kept.reply(self, WORDS, question_id, answer_text, "yan")
        return {
            "question_id": question_id,
            "answer_id": row["id"],
            "answer_text": row["body"],
            "business_id": row["business_id"],
            "status": "posted",
        }

    # -- collections --------------------------------------------------------------------------
    @writes(example=COLLECTION.args)
    def create_collection(self, name: ListName, description: ListText | None = None) -> Json:
        """Create an empty collection of businesses."""
        row = kept.new_list(self, WORDS, name, description, "ycl", "COLLECTION_EXISTS")
        return {
            "collection_id": row["id"],
            "name": row["name"],
            "description": row["description"],
            "status": "created",
        }

    @reads()
    def list_collections(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List your collections and their business counts, newest first."""
        return page(kept.lists(self, WORDS), "collections", limit, cursor, self._collection_json)

    def _collection_json(self, row: Row) -> Json:
        return {
            "collection_id": row["id"],
            "name": row["name"],
            "description": row["description"],
            "business_count": row["count"],
            "created_at": row["created_at"],
        }

    @reads(example={"collection_id": seeded("ycl", "first")})
    def get_collection(self, collection_id: CollectionId) -> Json:
        """Get a collection with its businesses and your notes, in the order they were added."""
        row = kept.find_list(self, WORDS, collection_id)
        items = kept.items(self, WORDS, collection_id)
        businesses = [self._item_json(item) for item in items]
        return self._collection_json(row | {"count": len(items)}) | {"businesses": businesses}

    def _item_json(self, item: Row) -> Json:
        place = item["place"]
        return {
            "business_id": place["id"],
            "name": place["name"],
            "address": address(self, place),
            "note": item["note"],
            "is_closed": rules.state(place, self.time) == "closed",
            "added_at": item["added_at"],
        }

    @writes(
        example=ADDED.args | {"note": "Ask for extra herbs"}, setup=(COLLECTION,), idempotent=True
    )
    def add_to_collection(
        self, collection_id: CollectionId, business_id: BusinessId, note: Remark | None = None
    ) -> Json:
        """Add a business to a collection. If it is already there, only a new note is saved."""
        item = kept.item(self, WORDS, collection_id, business_id)
        if item is None:
            kept.put(self, WORDS, collection_id, business_id, note, "yit")
        elif note is not None and note != item["note"]:
            self.db.update("yelp_list_items", item["id"], note=note)
        return {
            "collection_id": collection_id,
            "business_id": business_id,
            "status": "added" if item is None else "already_in_collection",
        }

    @writes(
        example={"collection_id": "${made.collection_id}", "business_id": PHO},
        setup=(COLLECTION, ADDED),
        idempotent=True,
    )
    def remove_from_collection(self, collection_id: CollectionId, business_id: BusinessId) -> Json:
        """Remove a business and its note from a collection."""
        kept.take(self, WORDS, collection_id, business_id, "NOT_IN_COLLECTION")
        return {"collection_id": collection_id, "business_id": business_id, "status": "removed"}
