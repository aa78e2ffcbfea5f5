"""What Google Calendar and Outlook share: calendars, roles, and finding events.

A series is one row. Its occurrences are computed and have IDs of their own; an occurrence that was
changed or cancelled alone also has a row. Changing events is in `_edit.py`; answers and busy time
are in `_busy.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, NotRequired
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from servers.calendar._recurrence import starts
from servers.calendar._series import end_of
from servers.kit import search
from servers.kit.fields import Email, PersonName
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch, local_moment

DAY = 86_400
LONGEST = 366 * DAY
"""Most seconds that a listing or an event can span."""
ROLES = ("reader", "writer", "owner")

# `owner` is an address; `role` is what the signed-in account may do with the calendar.
CALENDARS = Table(
    "id:str name:str/matter owner:str/derived role:str/matter is_primary:bool/matter "
    "created_at:str/stamp",
    noun="the calendar {name}",
)
EVENT = (
    "id:str calendar_id:str/ref title:str/prose description:str/prose location:str/prose "
    "start_at:str/appointed end_at:str/appointed all_day:bool/matter recurrence:dict?/matter "
    "series_id:str?/ref original_at:str?/appointed organizer:str/derived "
    "attendees:list/recipients people:str/derived reminders:list/matter show_as:str/matter "
    "online:bool/matter created_at:str/stamp updated_at:str/derived cancelled_at:str?/stamp"
)
"""Columns of an event.

An occurrence with a row of its own has `series_id`, and in `original_at` its start by the rule.
`attendees` are {email, name, invited_at, response}, where `response` is null until they answer.
"""
INVITES = {"attendees": {"ne": []}, "series_id": {"exists": False}}
"""Events that others were asked to; an occurrence that was changed alone belongs to its series."""
EVENT_NOUN = "the event {title} on {start_at:moment}"
SEARCH = ("title", "description", "location", "people")
INDEX = ("calendar_id", "start_at", "series_id", "end_at", "recurrence", "original_at")
SHARED = {
    # People whose calendars can be looked into (working hours are local), and their busy times;
    # a busy time with a `rule` repeats.
    "calendar_people": Table(
        "email:str name:str timezone:str works_from:int works_until:int", catalogue=True
    ),
    "calendar_busy": Table(
        "id:str email:str start_at:str end_at:str status:str rule:dict?",
        index=("email",),
        catalogue=True,
    ),
}

EventId = Annotated[
    str, Field(description="event_id of an event, of a series, or of one occurrence of a series.")
]
CalendarId = Annotated[str, Field(description="calendar_id of one calendar.")]
Title = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"\S", description="Title of the event.")
]
Text = Annotated[
    str, Field(max_length=4000, description="Notes on the event; an empty string clears them.")
]
Where = Annotated[
    str, Field(max_length=200, description="Place or address; an empty string clears it.")
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="Words to find in titles, notes, places and attendees.",
    ),
]


def _when(text: str) -> str:
    moment = date.fromisoformat(text).isoformat() if len(text) == 10 else iso(parse_time(text))
    if not "1900" <= moment[:4] < "2200":
        raise ValueError("must be between the years 1900 and 2199")
    return text


When = Annotated[
    str,
    Field(
        description=(
            "Date and time, e.g. 2026-03-20T12:30:00-07:00; "
            "without an offset, in the calendar's time zone. For a day: YYYY-MM-DD."
        )
    ),
    AfterValidator(_when),
]
"""A moment or a day as the agent wrote it; `epoch` resolves it in a time zone."""


@with_config(extra="forbid")
class Guest(TypedDict):
    """A person to invite."""

    email: Email
    name: NotRequired[PersonName]


@with_config(extra="forbid")
class Reminder(TypedDict):
    """When and how you are reminded."""

    method: Annotated[Literal["popup", "email"], Field(description="How you are reminded.")]
    minutes_before: Annotated[
        int, Field(ge=0, le=40_320, description="Minutes before the start, at most four weeks.")
    ]


Guests = Annotated[list[Guest], Field(max_length=100, description="People to invite.")]
Reminders = Annotated[
    list[Reminder],
    Field(max_length=5, description="Your own reminders, up to five; an empty list for none."),
]


@dataclass(frozen=True)
class Words:
    """What a provider calls the things that both have."""

    tables: str
    event_id: str
    joint: str
    list_calendars: str
    list_events: str
    respond: str
    calendar_missing: str
    event_missing: str
    denied: str
    bad_time: str
    bad_recurrence: str


# -- the account, its zone, moments ----------------------------------------------------------------
def me(svc: Service, words: Words) -> Row:
    """Return the signed-in account: name, email, timezone."""
    return svc.db.rows(f"{words.tables}_profile")[0]


def zone(svc: Service, words: Words) -> ZoneInfo:
    """Return the time zone of the account's calendars."""
    return ZoneInfo(me(svc, words)["timezone"])


def day_after(text: str, where: ZoneInfo) -> int:
    """Return the epoch seconds at which a day ends."""
    return local_moment(date.fromisoformat(text) + timedelta(days=1), time(0), where)


def overlap(start: int, end: int, first: int, last: int) -> bool:
    """Return whether two spans have time in common."""
    return start < last and end > first


def window(svc: Service, words: Words, first: int, last: int) -> tuple[int, int]:
    """Return a span to look at, or refuse one that is empty or longer than a year."""
    if not 0 < last - first <= LONGEST + DAY:
        why = "does not end after it begins" if last <= first else "is longer than a year"
        svc.fail(
            words.bad_time,
            f"The span from {iso(first)} to {iso(last)} {why}.",
            "Give an end after the start, at most a year later.",
        )
    return first, last


def bounds(
    svc: Service, words: Words, first: str | None, last: str | None, default: Callable[[int], int]
) -> tuple[int, int]:
    """Return the span of a listing.

    It begins at `first`, or now if that is None. It ends at `last`, or at `default` of its
    beginning.
    """
    where = zone(svc, words)
    begin = svc.now if first is None else epoch(first, where)
    return window(svc, words, begin, default(begin) if last is None else epoch(last, where))


# -- calendars -------------------------------------------------------------------------------------
def calendars(svc: Service, words: Words) -> list[Row]:
    """Return the rows of all calendars that the account sees.

    The primary calendar comes first, then the account's others, then those shared with it.
    """
    return svc.db.rows(
        f"{words.tables}_calendars", order="is_primary DESC, role<>'owner', name, id"
    )


def calendar(svc: Service, words: Words, calendar_id: str, role: str = "reader") -> dict[str, Any]:
    """Return a calendar in which the account has at least the given role, or refuse.

    The ID `primary` means the primary calendar.
    """
    known = {c["id"]: c for c in calendars(svc, words)}
    row = next(iter(known.values())) if calendar_id == "primary" else known.get(calendar_id)
    if row is None:
        hint = f"Use a calendar_id from {words.list_calendars}."
        name = calendar_id.strip().lower()
        with_name = [c["id"] for c in known.values() if c["name"].lower() == name]
        if with_name:
            hint = f"Use a calendar_id from {words.list_calendars}; {with_name[0]} has that name."
        svc.fail(
            words.calendar_missing,
            f"There is no calendar {calendar_id!r}.",
            hint,
            calendar_id=calendar_id,
        )
    if ROLES.index(row["role"]) < ROLES.index(role):
        svc.fail(
            words.denied,
            f"'{row['name']}' belongs to {row['owner']}; you are a {row['role']} there, "
            f"and this requires {role}.",
            f"Use a calendar of your own from {words.list_calendars}.",
            calendar_id=row["id"],
            role=row["role"],
        )
    return row


def is_me(svc: Service, words: Words, email: str) -> bool:
    """Return whether an address belongs to the signed-in account."""
    return email == me(svc, words)["email"]


def own_ids(svc: Service, words: Words) -> list[str]:
    """Return the IDs of the account's own calendars."""
    return [c["id"] for c in calendars(svc, words) if c["owner"] == me(svc, words)["email"]]


# -- finding events and occurrences ----------------------------------------------------------------
def table(words: Words) -> str:
    """Return the name of the provider's events table."""
    return f"{words.tables}_events"


def occurrence(words: Words, series: Row, start: int, where: ZoneInfo) -> dict[str, Any]:
    """Return the computed row of one occurrence of a series."""
    return series | {
        "id": f"{series['id']}{words.joint}{_compact(start)}",
        "series_id": series["id"],
        "original_at": iso(start),
        "start_at": iso(start),
        "end_at": iso(end_of(series, start, where)),
        "recurrence": None,
    }


def _compact(moment: int) -> str:
    return iso(moment).replace("-", "").replace(":", "")


def find(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return the row of an event, a series or an occurrence, even a cancelled one, or refuse."""
    row = svc.db.get(table(words), event_id) or _computed(svc, words, event_id)
    if row is None or row["calendar_id"] not in {c["id"] for c in calendars(svc, words)}:
        svc.fail(
            words.event_missing,
            f"There is no event {event_id!r}.",
            f"Use an event_id from {words.list_events}; each occurrence of a series has its own.",
            event_id=event_id,
        )
    if row["series_id"] is not None and row["cancelled_at"] is None:
        series = svc.db.get(table(words), row["series_id"]) or row
        row["cancelled_at"] = series["cancelled_at"]
    return row


def _computed(svc: Service, words: Words, event_id: str) -> dict[str, Any] | None:
    """Return an occurrence that has no row of its own by its ID, or None."""
    series_id, _, stamp = event_id.rpartition(words.joint)
    series = svc.db.get(table(words), series_id)
    if series is None or series["recurrence"] is None:
        return None
    for row in expand(svc, words, series, *_about(stamp)):
        if row["id"] == event_id:
            return row
    return None


def _about(stamp: str) -> tuple[int, int]:
    """Return the second named by the stamp in an occurrence's ID as a span; empty if malformed."""
    try:
        moment = int(datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0, 0
    if not 1900 <= int(stamp[:4]) < 2201:
        return 0, 0
    return moment, moment + 1


def live(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return an event that is not cancelled, or refuse."""
    row = find(svc, words, event_id)
    if row["cancelled_at"] is not None:
        svc.fail(
            "EVENT_CANCELLED",
            f"'{row['title']}' was cancelled at {row['cancelled_at']}.",
            f"Choose another event from {words.list_events}, or create a new one.",
            event_id=event_id,
        )
    return row


def own(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return a live event that the account may change, or refuse.

    The account must be able to write the event's calendar, and the organizer must be the account or
    the owner of that calendar.
    """
    row = live(svc, words, event_id)
    holder = calendar(svc, words, row["calendar_id"], "writer")
    if row["organizer"] not in (holder["owner"], me(svc, words)["email"]):
        svc.fail(
            "NOT_ORGANIZER",
            f"'{row['title']}' is organized by {row['organizer']}; "
            "only the organizer can change it.",
            f"Answer the invitation with {words.respond}, or write to the organizer.",
            event_id=event_id,
            organizer=row["organizer"],
        )
    return row


def expand(
    svc: Service, words: Words, series: Row, first: int, last: int
) -> Iterable[dict[str, Any]]:
    """Yield the occurrences of a series that touch a span, following its rule alone."""
    begin = parse_time(series["start_at"])
    length = parse_time(series["end_at"]) - begin
    if series["all_day"]:
        length += 7200  # A day can be longer than the first one if clocks change.
    where = zone(svc, words)
    for start in starts(series["recurrence"], begin, where, first - length + 1, last):
        if end_of(series, start, where) > first:
            yield occurrence(words, series, start, where)


def occurrences(
    svc: Service, words: Words, first: int, last: int, ids: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return single events and occurrences that touch a span, by start.

    They come from all visible calendars unless `ids` names some.
    """
    wanted = set(ids) if ids is not None else {c["id"] for c in calendars(svc, words)}
    stored = svc.db.rows(
        table(words),
        # The pluses leave the index on end_at, the only one that passes over what is past; the
        # last condition passes over what is still to come.
        "+recurrence IS NULL AND +start_at<? AND end_at>? AND end_at<? AND cancelled_at IS NULL",
        iso(last),
        iso(first),
        iso(last + LONGEST + DAY),
    )
    changed = svc.db.rows(
        table(words),
        # The plus leaves the index on original_at.
        "+series_id IS NOT NULL AND original_at>? AND original_at<?",
        iso(first - LONGEST),
        iso(last + DAY),
    )
    apart = {(r["series_id"], r["original_at"]) for r in changed}
    # Unlike IS NOT NULL, this finds the few series by the index on recurrence.
    series = "recurrence>''"
    stopped = {r["id"] for r in svc.db.rows(table(words), f"{series} AND cancelled_at IS NOT NULL")}
    rows = [r for r in stored if r["series_id"] not in stopped]
    running = svc.db.rows(
        table(words), f"{series} AND cancelled_at IS NULL AND +start_at<?", iso(last)
    )
    for each in running:
        if each["calendar_id"] in wanted:
            for row in expand(svc, words, each, first, last):
                if (each["id"], row["original_at"]) not in apart:
                    rows.append(row)
    visible = [r for r in rows if r["calendar_id"] in wanted]
    return sorted(visible, key=lambda r: (r["start_at"], r["end_at"], r["id"]))


def matching(
    svc: Service, words: Words, query: str, calendar_id: str | None
) -> list[dict[str, Any]]:
    """Return live events that match words, best match first; a series appears once.

    Of events that match equally well, the next one comes first, then the latest that is over.
    """
    if calendar_id is None:
        ids = {c["id"] for c in calendars(svc, words)}
    else:
        ids = {calendar(svc, words, calendar_id)["id"]}
    marks = ",".join("?" * len(ids))
    source = search.Source(table(words), f"calendar_id IN ({marks})", tuple(sorted(ids)))
    totals = search.scores(svc.db, query, source)

    def away(row: Row) -> tuple[bool, int, str]:
        start = parse_time(row["start_at"])
        return start < svc.now, abs(start - svc.now), row["id"]

    marks = ",".join("?" * len(totals))
    rows = sorted(svc.db.rows(table(words), f"id IN ({marks})", *totals), key=away)
    hits = search.in_order(rows, totals)
    return [r for r in hits if find(svc, words, r["id"])["cancelled_at"] is None]


def next_start(svc: Service, words: Words, row: Row) -> str | None:
    """Return the next start of a series, or None if it is over.

    An occurrence that was changed alone counts at its own time.
    """
    apart = {r["original_at"]: r for r in svc.db.rows(table(words), "series_id=?", row["id"])}
    live_apart = [r["start_at"] for r in apart.values() if r["cancelled_at"] is None]
    candidates = [start for start in live_apart if start >= svc.time]
    begin = parse_time(row["start_at"])
    horizon = max(svc.now, begin) + 100 * LONGEST
    for start in starts(row["recurrence"], begin, zone(svc, words), svc.now, horizon):
        if iso(start) not in apart:
            candidates.append(iso(start))
            break
    return min(candidates, default=None)
