"""What Yelp and Google Maps share: tables, argument types, listings of places, and the account.

Each has its own listings, so the two may disagree. Ratings and counts are computed from the
reviews (`_reviews.py`). `_search.py` finds listings; `_kept.py` is about what users save and ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch, local

# -- tables -----------------------------------------------------------------------------------
SHARED = {
    "reviews_cities": Table(
        "id:str name:str state:str state_name:str lat:float lng:float timezone:str",
        catalogue=True,
    )
}
PLACES = Table(
    "id:str name:str category:str tags:str price:int? street:str city_id:str zip:str "
    "lat:float lng:float phone:str? website:str? hours:list "
    "closed_at:str? reopens_at:str? moved_to:str?",
    search=("name", "category", "tags", "street"),
    weights=(4, 4, 2, 1),
    index=("city_id",),
    catalogue=True,
)
"""Listings. `hours` holds seven texts, Monday first: "11:00-22:00", "24h" or "" (closed).

An empty list means that the hours are unknown. A place that closes before it opens closes on the
next day.
"""

REVIEWS = (
    "id:str business_id:str/ref author:str/derived mine:bool/derived rating:int/matter "
    "body:str/prose photos:list?/matter votes:int/derived written_at:str/stamp "
    "edited_at:str?/stamp reply:str?/derived"
)
REVIEW = "a {rating}-star review of {business_id}"
"""What a review is in words."""
VOTES = Table(
    "id:str review_id:str/ref at:str/stamp",
    index=("review_id",),
    noun="a vote for the review {review_id}",
)
SAVED = Table("id:str business_id:str/ref saved_at:str/stamp", noun="the saved place {business_id}")
QUESTIONS = Table(
    "id:str business_id:str/ref author:str/derived mine:bool/derived body:str/prose "
    "asked_at:str/stamp",
    index=("business_id",),
    outward={},
    noun="a question about {business_id}",
)
ANSWERS = Table(
    "id:str question_id:str/ref author:str/derived mine:bool/derived body:str/prose "
    "answered_at:str/stamp",
    index=("question_id", "mine, answered_at"),
    outward={},
    noun="an answer to the question {question_id}",
)
LISTS = Table(
    "id:str name:str/matter description:str?/prose created_at:str/stamp",
    noun="the list {name} of places",
)
LIST_ITEMS = Table(
    "id:str list_id:str/ref business_id:str/ref note:str?/prose added_at:str/stamp",
    index=("list_id",),
    noun="the place {business_id} on the list {list_id}",
)
ACCOUNT = Table("id:str name:str email:str city_id:str shown:str", identity=True, catalogue=True)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# -- arguments --------------------------------------------------------------------------------
BusinessId = Annotated[str, Field(description="business_id of a place, from a search.")]
ReviewId = Annotated[str, Field(description="review_id of a review.")]
QuestionId = Annotated[str, Field(description="question_id, from the list of a place's questions.")]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="What to look for: words of a name, a category or a street, e.g. 'ramen'.",
    ),
]
Location = Annotated[
    str, Field(min_length=2, max_length=80, description="City, 'City, ST' or ZIP code.")
]
Category = Annotated[
    str,
    Field(
        min_length=2, max_length=60, description="Category of place or words of one, e.g. 'coffee'."
    ),
]
Radius = Annotated[
    float,
    Field(gt=0, le=50, description="Distance from the point or place, in miles (default 5)."),
]
Near = Annotated[str, Field(description="business_id of a place to search around.")]
Body = Annotated[str, Field(min_length=1, max_length=5000, description="Text of the review.")]
Url = Annotated[str, Field(pattern=r"^https://[^ ]{4,300}$", description="https URL of a photo.")]
Photos = Annotated[
    list[Url],
    Field(
        min_length=1,
        max_length=10,
        description="Photos of the review; they replace any earlier ones.",
    ),
]
Keywords = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Only reviews with all of these words, best matches first.",
    ),
]
QuestionText = Annotated[str, Field(min_length=5, max_length=500, description="The question.")]
AnswerText = Annotated[str, Field(min_length=1, max_length=1000, description="The answer.")]
ListName = Annotated[
    str,
    Field(
        min_length=1, max_length=80, description="Name, different from those of your other lists."
    ),
]
ListText = Annotated[str, Field(min_length=1, max_length=300, description="Description.")]
Remark = Annotated[
    str, Field(min_length=1, max_length=300, description="Your note about the place.")
]


# -- a provider -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Words:
    """A provider's words: its tables, id prefixes, codes, and the tools that hints name.

    `counts` is the SQL condition for the reviews that count; `a_place` and `a_list` are what the
    provider calls them.
    """

    tables: str
    a_place: str
    a_list: str
    review: str
    counts: str
    no_place: str
    not_owner: str
    search: str
    reviews: str
    mine: str
    update: str
    questions: str
    categories: str
    no_list: str
    lists: str

    def table(self, name: str) -> str:
        """Return the provider's table of a kind."""
        return f"{self.tables}_{name}"


def me(svc: Service, words: Words) -> Row:
    """Return the signed-in account; `shown` is the name under its reviews."""
    return svc.db.rows(words.table("account"))[0]


def age(svc: Service, moment: str) -> int:
    """Return how many seconds have passed since a moment."""
    return svc.now - parse_time(moment)


def written(svc: Service, text: str, name: str) -> str:
    """Return a text without surrounding white space; refuse one that is blank."""
    if not text.strip():
        svc.fail(svc.codes.invalid, f"Argument '{name}' is blank.", "Give a text.", field=name)
    return text.strip()


# -- places -----------------------------------------------------------------------------------
def home_zone(svc: Service, words: Words) -> str:
    """Return the time zone of the user's home town."""
    return town(svc, me(svc, words))["timezone"]


def find_place(svc: Service, words: Words, business_id: str) -> Row:
    """Return a listing. Fails if there is none."""
    row = svc.db.get(words.table("places"), business_id)
    if row is None:
        svc.fail(
            words.no_place,
            f"There is no {words.a_place} with the ID {business_id!r}.",
            f"Call {words.search} to find its business_id.",
            business_id=business_id,
        )
    return row


def here(svc: Service, words: Words, moment: str) -> int:
    """Return the epoch seconds of a moment; without an offset, it is in the home town's zone."""
    return epoch(moment, ZoneInfo(town(svc, me(svc, words))["timezone"]))


def town(svc: Service, row: Row) -> dict[str, Any]:
    """Return the town of a listing or account."""
    return svc.db.get("reviews_cities", row["city_id"]) or {}


# -- opening ----------------------------------------------------------------------------------
def state(row: Row, now: str) -> str:
    """Return open, closed (for good), or paused (until `reopens_at`)."""
    if row["closed_at"] is None or now < row["closed_at"]:
        return "open"
    if row["reopens_at"] is None:
        return "closed"
    return "paused" if now < row["reopens_at"] else "open"


class _Span(NamedTuple):
    """When a place opens and closes, in its local time."""

    opens: datetime
    closes: datetime


def _span(row: Row, day: datetime) -> _Span | None:
    """Return the opening hours that begin on a local day, if there are any."""
    text = row["hours"][day.weekday()]
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "24h":
        return _Span(start, start + timedelta(days=1))
    if not text:
        return None
    opens, closes = (start.replace(hour=int(t[:2]), minute=int(t[3:])) for t in text.split("-"))
    if closes <= opens:
        closes += timedelta(days=1)
    return _Span(opens, closes)


def is_open(svc: Service, row: Row, moment: int) -> bool | None:
    """Return whether a place is open at a moment by its listing, or None if it lists no hours."""
    if state(row, iso(moment)) != "open":
        return False
    if not row["hours"]:
        return None
    here = local(moment, ZoneInfo(town(svc, row)["timezone"])).replace(tzinfo=None)
    # Yesterday's opening hours may last past midnight.
    for day in (here, here - timedelta(days=1)):
        span = _span(row, day)
        if span is not None and span.opens <= here < span.closes:
            return True
    return False
