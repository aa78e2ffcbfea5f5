"""Reviews on Yelp and Google Maps: ratings, reading and writing them, and votes."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from servers.kit import search
from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.reviews._rules import Words, find_place, home_zone, me, written


# -- ratings ----------------------------------------------------------------------------------
class Stars(NamedTuple):
    """The sum of the stars of a place's reviews that count, and how many those are."""

    total: int
    count: int

    @property
    def average(self) -> float | None:
        """The average to one decimal, halves rounded up; None without reviews."""
        return round(self.total / self.count + 1e-9, 1) if self.count else None


NO_STARS = Stars(0, 0)


class Spread(NamedTuple):
    """A place's stars, and the number of reviews for each rating from "5" to "1"."""

    stars: Stars
    by_rating: dict[str, int]


def stars_by_place(svc: Service, words: Words) -> dict[str, Stars]:
    """Return the stars of each place that has reviews."""
    sql = (
        f"SELECT business_id, sum(rating), count(*) FROM {words.table('reviews')} "
        f"WHERE {words.counts} GROUP BY business_id"
    )
    return {business_id: Stars(total, count) for business_id, total, count in svc.db.sql(sql)}


def spread(svc: Service, words: Words, business_id: str) -> Spread:
    """Return the stars of one place and their distribution."""
    sql = (
        f"SELECT rating, count(*) FROM {words.table('reviews')} "
        f"WHERE business_id=? AND {words.counts} GROUP BY rating"
    )
    counts = dict(svc.db.sql(sql, business_id))
    total = sum(rating * count for rating, count in counts.items())
    by_rating = {str(rating): counts.get(rating, 0) for rating in range(5, 0, -1)}
    return Spread(Stars(total, sum(counts.values())), by_rating)


# -- reading ----------------------------------------------------------------------------------
def reviews_of(
    svc: Service,
    words: Words,
    business_id: str,
    where: str,
    since: str | None = None,
    until: str | None = None,
) -> Listing:
    """Return a place's reviews for which `where` (SQL) holds: all, or those of some local days."""
    find_place(svc, words, business_id)
    rows = Listing(svc.db, words.table("reviews"), by="written_at", tied="id")
    rows = rows.only(f"business_id=? AND {where}", business_id)
    return rows.days(since, until, home_zone(svc, words))


def in_order(
    svc: Service, words: Words, rows: Listing, sort_by: str, text: str | None
) -> Listing | list[Row]:
    """Return reviews by newest, oldest, highest, lowest or most_helpful; the newer first in a tie.

    With `text`, only reviews with all of its words are returned, best matches first.
    """
    if text is not None:
        rows_by_id = {row["id"]: row for row in rows.all()}
        ids = list(search.scores(svc.db, text, search.Source(rows.table)))
        return [rows_by_id[review_id] for review_id in ids if review_id in rows_by_id]
    if sort_by == "oldest":
        return dataclasses.replace(rows, newest=False)
    own_votes = f"SELECT count(*) FROM {words.table('votes')} WHERE review_id={rows.table}.id"
    first = {
        "highest": "rating",
        "lowest": "9-rating",
        "most_helpful": f"printf('%09d', votes+({own_votes}))",
    }
    if sort_by not in first:
        return rows
    return dataclasses.replace(rows, by=f"(({first[sort_by]})||written_at)")


def own_reviews(
    svc: Service, words: Words, since: str | None = None, until: str | None = None
) -> Listing:
    """Return the user's own reviews, newest first: all, or those of some local days."""
    rows = Listing(svc.db, words.table("reviews"), by="written_at").only("mine=1")
    return rows.days(since, until, home_zone(svc, words))


def find_review(svc: Service, words: Words, review_id: str) -> Row:
    """Return a review. Fails if there is none."""
    row = svc.db.get(words.table("reviews"), review_id)
    if row is None:
        svc.fail(
            "REVIEW_NOT_FOUND",
            f"There is no review with the ID {review_id!r}.",
            f"Call {words.reviews} or {words.mine} to find reviews.",
            review_id=review_id,
        )
    return row


def find_own_review(svc: Service, words: Words, review_id: str) -> dict[str, Any]:
    """Return one of the user's own reviews. Fails if there is none or somebody else wrote it."""
    row = find_review(svc, words, review_id)
    if not row["mine"]:
        svc.fail(
            words.not_owner,
            f"Review {review_id} was written by {row['author']}.",
            f"Call {words.mine} to see your own reviews.",
            review_id=review_id,
        )
    return row


# -- writing ----------------------------------------------------------------------------------
def write_review(
    svc: Service,
    words: Words,
    business_id: str,
    rating: int,
    body: str,
    photos: list[str] | None,
    **more: Any,
) -> Row:
    """Write the user's one review of a place and return its row; `more` are further columns."""
    place = find_place(svc, words, business_id)
    text = written(svc, body, "text")
    earlier = svc.db.rows(words.table("reviews"), "business_id=? AND mine=1", business_id)
    if earlier:
        svc.fail(
            "ALREADY_REVIEWED",
            f"You have already reviewed {place['name']}.",
            f"Call {words.update} to change your review.",
            review_id=earlier[0]["id"],
        )
    row = {
        "id": svc.new_id(words.review),
        "business_id": business_id,
        "author": me(svc, words)["shown"],
        "mine": True,
        "rating": rating,
        "body": text,
        "photos": _distinct(photos),
        "votes": 0,
        "written_at": svc.time,
    }
    review = svc.db.insert(words.table("reviews"), row | more)
    said = {"place": place["name"], "stars": rating, "text": text, "reference": row["id"]}
    svc.post("review_published", me(svc, words)["email"], said, about=row["id"])
    return review


def _distinct(photos: list[str] | None) -> list[str] | None:
    """Return photos without repeats."""
    return None if photos is None else list(dict.fromkeys(photos))


def rewrite(
    svc: Service,
    words: Words,
    review_id: str,
    rating: int | None,
    body: str | None,
    photos: list[str] | None,
) -> dict[str, Any]:
    """Change the stars, text or photos of the user's own review and return its row.

    Nothing is written if nothing changes.
    """
    row = find_own_review(svc, words, review_id)
    if rating is None and body is None and photos is None:
        svc.fail(svc.codes.invalid, "No changes were given.", "Give a rating, a text or photos.")
    given = {
        "rating": rating,
        "body": None if body is None else written(svc, body, "text"),
        "photos": _distinct(photos),
    }
    changes = {}
    for column, value in given.items():
        if value is not None and value != row[column]:
            changes[column] = value
    if changes:
        svc.db.update(words.table("reviews"), review_id, **changes, edited_at=svc.time)
        after = row | changes
        said = {
            "place": find_place(svc, words, row["business_id"])["name"],
            "stars": after["rating"],
            "text": after["body"],
            "reference": review_id,
        }
        svc.post("review_updated", me(svc, words)["email"], said, about=review_id)
    return find_review(svc, words, review_id)


def erase(svc: Service, words: Words, review_id: str) -> dict[str, Any]:
    """Delete the user's own review and return the row that it was."""
    row = find_own_review(svc, words, review_id)
    svc.db.delete(words.table("reviews"), review_id)
    return row


def when_due(svc: Service, words: Words, post: Row) -> Json | None:
    """Return what the letter about an owner's reply says by now, or None if the review is gone."""
    row = svc.db.get(words.table("reviews"), post["about"])
    if row is None:
        return None
    return post["data"] | {"stars": row["rating"], "text": row["body"]}


# -- votes ------------------------------------------------------------------------------------
def votes(svc: Service, words: Words, row: Row) -> int:
    """Return how many people found a review useful, the user included."""
    sql = f"SELECT count(*) FROM {words.table('votes')} WHERE review_id=?"
    return row["votes"] + svc.db.sql(sql, row["id"])[0][0]


def vote(svc: Service, words: Words, review_id: str) -> int:
    """Vote for a review by somebody else, at most once, and return its number of votes."""
    row = find_review(svc, words, review_id)
    if row["mine"]:
        svc.fail(
            "CANNOT_VOTE_OWN_REVIEW",
            "You cannot vote for your own review.",
            "Choose a review by someone else.",
            review_id=review_id,
        )
    table = words.table("votes")
    if not svc.db.rows(table, "review_id=?", review_id):
        row_id = svc.new_id(f"{words.review}v")
        svc.db.insert(table, {"id": row_id, "review_id": review_id, "at": svc.time})
    return votes(svc, words, row)
