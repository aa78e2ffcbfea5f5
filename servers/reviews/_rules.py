"""What Yelp and Google Maps share: listings of places, when they are open, how they are found, and what their users write.

Each keeps listings of its own, so that the two may disagree. Ratings and counts follow from the reviews that stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.errors import did_you_mean
from servers.kit.geo import miles
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time
from servers.kit.zones import local

SHARED = {
    "reviews_cities": Table(
        "id:str name:str state:str state_name:str lat:float lng:float timezone:str"
    )
}
# `hours` holds seven texts, Monday first: "11:00-22:00", "24h" or "" (closed); an empty list says nothing. One that closes before it
# opens closes on the next day.
PLACES = Table(
    "id:str name:str category:str tags:str price:int? street:str city_id:str zip:str lat:float lng:float phone:str? website:str? "
    "hours:list closed_at:str? reopens_at:str? moved_to:str?",
    search=("name", "category", "tags"),
    index=("city_id",),
)
REVIEWS = "id:str business_id:str author:str mine:bool rating:int body:str photos:list? votes:int written_at:str edited_at:str? reply:str?"
VOTES = Table("id:str review_id:str at:str", index=("review_id",))
SAVED = Table("id:str business_id:str saved_at:str")
QUESTIONS = Table(
    "id:str business_id:str author:str mine:bool body:str asked_at:str", index=("business_id",)
)
ANSWERS = Table(
    "id:str question_id:str author:str mine:bool body:str answered_at:str", index=("question_id",)
)
LISTS = Table("id:str name:str description:str? created_at:str")
LIST_ITEMS = Table("id:str list_id:str business_id:str note:str? added_at:str", index=("list_id",))
ACCOUNT = Table("id:str name:str email:str city_id:str shown:str", identity=True)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

BusinessId = Annotated[str, Field(description="business_id of a place, from the search.")]
ReviewId = Annotated[str, Field(description="review_id of a review.")]
QuestionId = Annotated[str, Field(description="question_id, from the questions of a place.")]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Words of name or kind, e.g. 'ramen'; all must occur.",
    ),
]
Location = Annotated[
    str, Field(min_length=2, max_length=80, description="City, 'City, ST' or a ZIP code.")
]
Category = Annotated[
    str, Field(min_length=2, max_length=60, description="Kind of place, e.g. 'coffee shop'.")
]
Radius = Annotated[
    float,
    Field(gt=0, le=50, description="How far from the point or place, in miles; 5 if left out."),
]
Near = Annotated[str, Field(description="business_id of a place around which to search.")]
Body = Annotated[str, Field(min_length=1, max_length=5000, description="Text of the review.")]
Url = Annotated[str, Field(pattern=r"^https://[^ ]{4,300}$", description="https URL of a photo.")]
Photos = Annotated[
    list[Url],
    Field(
        min_length=1, max_length=10, description="Photos of the review; they replace earlier ones."
    ),
]
Keywords = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Only reviews with all of these words, best match first.",
    ),
]
QuestionText = Annotated[str, Field(min_length=5, max_length=500, description="The question.")]
AnswerText = Annotated[str, Field(min_length=1, max_length=1000, description="The answer.")]
ListName = Annotated[
    str, Field(min_length=1, max_length=80, description="Name; unique among your own.")
]
ListText = Annotated[str, Field(min_length=1, max_length=300, description="What it is for.")]
Remark = Annotated[
    str, Field(min_length=1, max_length=300, description="A note of your own on the place.")
]


@dataclass(frozen=True)
class Words:
    """A provider's tables, id prefixes, the reviews that count (SQL), codes, and the tools that hints point to."""

    tables: str
    review: str
    counts: str
    no_place: str
    not_owner: str
    search: str
    reviews: str
    mine: str
    update: str
    questions: str
    no_list: str
    lists: str

    def table(self, name: str) -> str:
        """Return the provider's table of a kind."""
        return f"{self.tables}_{name}"


@dataclass(frozen=True)
class Wish:
    """What a search asks for: words, town or ZIP, kind, price, lowest rating, a point with a radius, and a moment at which it is open."""

    query: str | None = None
    location: str | None = None
    category: str | None = None
    price: int | None = None
    min_rating: float | None = None
    point: tuple[float, float] | None = None
    radius: float = 5.0
    open_at: int | None = None
    closed: bool = False


# -- places -------------------------------------------------------------------------------------------------------
def find_place(svc: Service, words: Words, business_id: str) -> dict[str, Any]:
    """Return a listing, or refuse."""
    row = svc.db.get(words.table("places"), business_id)
    if row is None:
        svc.fail(
            words.no_place,
            f"There is no place {business_id!r}.",
            f"Find one with {words.search}.",
            business_id=business_id,
        )
    return row


def town(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return the town of a listing."""
    return svc.db.get("reviews_cities", row["city_id"]) or {}


def state(row: dict[str, Any], now: str) -> str:
    """Return open, closed (for good), or paused (until `reopens_at`)."""
    if row["closed_at"] is None or now < row["closed_at"]:
        return "open"
    if row["reopens_at"] is None:
        return "closed"
    return "paused" if now < row["reopens_at"] else "open"


def _spans(row: dict[str, Any], day: datetime) -> list[tuple[datetime, datetime]]:
    """Return the opening of a listing that begins on a local day: none or one span."""
    text = row["hours"][day.weekday()] if row["hours"] else ""
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "24h":
        return [(start, start + timedelta(days=1))]
    if not text:
        return []
    opens, closes = (start.replace(hour=int(t[:2]), minute=int(t[3:])) for t in text.split("-"))
    return [(opens, closes if closes > opens else closes + timedelta(days=1))]


def is_open(svc: Service, row: dict[str, Any], moment: int) -> bool | None:
    """Return whether a listing says that it is open at a moment; None where it tells no hours."""
    if state(row, iso(moment)) != "open":
        return False
    if not row["hours"]:
        return None
    here = local(moment, ZoneInfo(town(svc, row)["timezone"])).replace(tzinfo=None)
    return any(
        first <= here < last
        for day in (here, here - timedelta(days=1))
        for first, last in _spans(row, day)
    )


def stats(svc: Service, words: Words) -> dict[str, tuple[int, int]]:
    """Return for each place the sum of its stars and how many reviews count."""
    sql = f"SELECT business_id, sum(rating), count(*) FROM {words.table('reviews')} WHERE {words.counts} GROUP BY business_id"
    return {key: (total, count) for key, total, count in svc.db.sql(sql)}


def rating(found: tuple[int, int] | None) -> float | None:
    """Return the average of stars to one decimal; None without reviews."""
    return round(found[0] / found[1] + 1e-9, 1) if found else None


def spread(
    svc: Service, words: Words, business_id: str
) -> tuple[tuple[int, int] | None, dict[str, int]]:
    """Return a place's sum and count of stars, and how many reviews gave each number of stars."""
    sql = f"SELECT rating, count(*) FROM {words.table('reviews')} WHERE business_id=? AND {words.counts} GROUP BY rating"
    by_star = dict(svc.db.sql(sql, business_id))
    found = (sum(s * n for s, n in by_star.items()), sum(by_star.values())) if by_star else None
    return found, {str(s): by_star.get(s, 0) for s in range(5, 0, -1)}


def towns(svc: Service, text: str) -> list[str]:
    """Return the ids of towns that a name means, narrowed by a state after a comma; refuse when there is none."""
    name, _, region = (part.strip().lower() for part in text.partition(","))
    known = svc.db.rows("reviews_cities", order="name, state")
    found = [
        c["id"]
        for c in known
        if c["name"].lower() == name and region in ("", c["state"].lower(), c["state_name"].lower())
    ]
    if not found:
        near = did_you_mean(text, [f"{c['name']}, {c['state']}" for c in known])
        svc.fail(
            "LOCATION_NOT_FOUND",
            f"No place is known as {text!r}{near}",
            "Give a city with its state, or a ZIP code.",
            location=text,
        )
    return found


def point(
    svc: Service,
    words: Words,
    wish: Wish,
    latitude: float | None,
    longitude: float | None,
    near: str | None,
) -> Wish:
    """Return the wish with the point around which to search; refuse half a point, or two."""
    if (latitude is None) != (longitude is None) or (latitude is not None and near is not None):
        svc.fail(
            svc.codes.invalid,
            "The point is not clear.",
            "Give latitude and longitude together, or a business to search near.",
        )
    if near is not None:
        row = find_place(svc, words, near)
        return replace(wish, point=(row["lat"], row["lng"]))
    return (
        wish
        if latitude is None or longitude is None
        else replace(wish, point=(latitude, longitude))
    )


def search(svc: Service, words: Words, wish: Wish, sort_by: str) -> list[dict[str, Any]]:
    """Return listings with `rating`, `review_count` and `miles`, sorted by rating, review_count, name, distance or best_match."""
    table = words.table("places")
    found = svc.db.search(table, wish.query) if wish.query else svc.db.rows(table, order="id")
    if wish.category is not None:  # whole words: a bar is no barber
        of_kind = svc.db.search(table, wish.category, prefix=False)
        known = {r["id"] for r in of_kind}
        found = [r for r in found if r["id"] in known] if wish.query else of_kind
    zipped = wish.location is not None and wish.location.strip()[:5].isdigit()
    inside = None if wish.location is None or zipped else towns(svc, wish.location)
    numbers = stats(svc, words)
    kept = []
    for row in found:
        counted = numbers.get(row["id"])
        away = miles(*wish.point, row["lat"], row["lng"]) if wish.point is not None else None
        if (
            (inside is None or row["city_id"] in inside)
            and (not zipped or row["zip"] == (wish.location or "").strip()[:5])
            and wish.price in (None, row["price"])
            and (wish.min_rating is None or (rating(counted) or 0) >= wish.min_rating)
            and (away is None or away <= wish.radius)
            and (wish.open_at is None or is_open(svc, row, wish.open_at))
            and (wish.closed or state(row, svc.time) != "closed")
        ):
            kept.append(
                {
                    **row,
                    "rating": rating(counted),
                    "review_count": counted[1] if counted else 0,
                    "miles": away,
                }
            )
    orders: dict[str, Callable[[dict[str, Any]], Any]] = {
        "rating": lambda r: (-(r["rating"] or 0), -r["review_count"], r["id"]),
        "review_count": lambda r: (-r["review_count"], r["id"]),
        "name": lambda r: (r["name"].lower(), r["id"]),
        "distance": lambda r: (r["miles"] is None, r["miles"], r["id"]),
    }
    if sort_by == "distance" and wish.point is None:
        svc.fail(
            svc.codes.invalid,
            "Sorting by distance needs a point.",
            "Give latitude and longitude, or a business to search near.",
        )
    return sorted(kept, key=orders[sort_by]) if sort_by in orders else kept


# -- reviews ------------------------------------------------------------------------------------------------------
def votes(svc: Service, words: Words, row: dict[str, Any]) -> int:
    """Return how many found a review useful, oneself included."""
    return (
        row["votes"]
        + svc.db.sql(f"SELECT count(*) FROM {words.table('votes')} WHERE review_id=?", row["id"])[
            0
        ][0]
    )


def reviews_of(
    svc: Service, words: Words, business_id: str, sort_by: str, text: str | None, where: str
) -> list[dict[str, Any]]:
    """Return a place's reviews for which `where` (SQL) holds: newest, oldest, highest, lowest or most_helpful first, or by their words."""
    find_place(svc, words, business_id)
    rows = svc.db.rows(
        words.table("reviews"),
        f"business_id=? AND {where}",
        business_id,
        order="written_at DESC, id",
    )
    if text is not None:
        kept = {r["id"]: r for r in rows}
        rows = [
            kept[r["id"]] for r in svc.db.search(words.table("reviews"), text) if r["id"] in kept
        ]
        return rows
    keys: dict[str, Callable[[dict[str, Any]], Any]] = {
        "highest": lambda r: -r["rating"],
        "lowest": lambda r: r["rating"],
        "most_helpful": lambda r: -votes(svc, words, r),
    }
    return (
        rows[::-1]
        if sort_by == "oldest"
        else (sorted(rows, key=keys[sort_by]) if sort_by in keys else rows)
    )


def own_reviews(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return one's own reviews, newest first."""
    return svc.db.rows(words.table("reviews"), "mine=1", order="written_at DESC, id")


def find_review(svc: Service, words: Words, review_id: str) -> dict[str, Any]:
    """Return a review, or refuse."""
    row = svc.db.get(words.table("reviews"), review_id)
    if row is None:
        hint = f"See {words.reviews} or {words.mine}."
        svc.fail(
            "REVIEW_NOT_FOUND", f"There is no review {review_id!r}.", hint, review_id=review_id
        )
    return row


def own_review(svc: Service, words: Words, review_id: str) -> dict[str, Any]:
    """Return a review of one's own, or refuse."""
    row = find_review(svc, words, review_id)
    if not row["mine"]:
        hint = f"Your own reviews are in {words.mine}."
        svc.fail(
            words.not_owner,
            f"Review {review_id} was written by {row['author']}.",
            hint,
            review_id=review_id,
        )
    return row


def write_review(
    svc: Service,
    words: Words,
    business_id: str,
    stars: int,
    body: str,
    photos: list[str] | None,
    **more: Any,
) -> dict[str, Any]:
    """Write the one review that one may write of a place, and return its row."""
    place = find_place(svc, words, business_id)
    text = written(svc, body, "text")
    old = svc.db.rows(words.table("reviews"), "business_id=? AND mine=1", business_id)
    if old:
        hint = f"Change it with {words.update}."
        svc.fail(
            "ALREADY_REVIEWED",
            f"You have reviewed {place['name']} already.",
            hint,
            review_id=old[0]["id"],
        )
    row = {
        "id": svc.new_id(words.review),
        "business_id": business_id,
        "author": me(svc, words)["shown"],
        "mine": True,
        "rating": stars,
    }
    return svc.db.insert(
        words.table("reviews"),
        row | {"body": text, "photos": distinct(photos), "votes": 0, "written_at": svc.time} | more,
    )


def distinct(photos: list[str] | None) -> list[str] | None:
    """Return photos without repeats."""
    return None if photos is None else list(dict.fromkeys(photos))


def written(svc: Service, text: str, name: str) -> str:
    """Return a text without blanks around it; refuse one that is blank."""
    if not text.strip():
        svc.fail(svc.codes.invalid, f"Argument '{name}' is blank.", "Write something.", field=name)
    return text.strip()


def rewrite(
    svc: Service,
    words: Words,
    review_id: str,
    stars: int | None,
    body: str | None,
    photos: list[str] | None,
) -> dict[str, Any]:
    """Change stars, text or photos of one's own review and return its row; nothing is written where nothing changes."""
    row = own_review(svc, words, review_id)
    if stars is None and body is None and photos is None:
        svc.fail(svc.codes.invalid, "Nothing to change was given.", "Give rating, text or photos.")
    wanted = {
        "rating": stars,
        "body": None if body is None else written(svc, body, "text"),
        "photos": distinct(photos),
    }
    changes = {k: v for k, v in wanted.items() if v is not None and v != row[k]}
    if changes:
        svc.db.update(words.table("reviews"), review_id, **changes, edited_at=svc.time)
    return find_review(svc, words, review_id)


def erase(svc: Service, words: Words, review_id: str) -> dict[str, Any]:
    """Delete one's own review and return what it was."""
    row = own_review(svc, words, review_id)
    svc.db.delete(words.table("reviews"), review_id)
    return row


def vote(svc: Service, words: Words, review_id: str) -> int:
    """Find another's review useful, once, and return how many do."""
    row = find_review(svc, words, review_id)
    if row["mine"]:
        svc.fail(
            "CANNOT_VOTE_OWN_REVIEW",
            "This review is your own.",
            "Only reviews by others can be marked.",
            review_id=review_id,
        )
    if not svc.db.rows(words.table("votes"), "review_id=?", review_id):
        svc.db.insert(
            words.table("votes"),
            {"id": svc.new_id(f"{words.review}v"), "review_id": review_id, "at": svc.time},
        )
    return votes(svc, words, row)


def me(svc: Service, words: Words) -> dict[str, Any]:
    """Return the signed-in account; `shown` is the name under its reviews."""
    return svc.db.rows(words.table("account"))[0]


def age(svc: Service, moment: str) -> int:
    """Return how many seconds ago a moment was."""
    return svc.now - parse_time(moment)
