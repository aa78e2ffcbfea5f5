"""What Google Calendar and Outlook share: calendars and who may write them, events, series and their occurrences, invitations, busy time.

A series is one row; its occurrences are worked out, under ids of their own. One that was changed or cancelled alone has a row too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, NotRequired
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from servers.calendar._recurrence import flaw, starts
from servers.calendar._series import end_of, following
from servers.kit.fields import Email, PersonName
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment

DAY = 86_400
LONGEST = 366 * DAY
"""Seconds that a listing or an event may span."""
ROLES = ("reader", "writer", "owner")

# `owner` is the address of whose calendar it is, `role` what the signed-in account may do with it.
CALENDARS = Table("id:str name:str owner:str role:str is_primary:bool created_at:str")
EVENT = (
    "id:str calendar_id:str title:str description:str location:str start_at:str end_at:str all_day:bool recurrence:dict? series_id:str? "
    "original_at:str? organizer:str attendees:list people:str reminders:list show_as:str online:bool created_at:str updated_at:str "
    "cancelled_at:str?"
)
"""Columns of an event. Those of an occurrence of its own have `series_id`, and in `original_at` when the rule would have it."""
SEARCH = ("title", "description", "location", "people")
INDEX = ("calendar_id", "start_at", "series_id")
SHARED = {
    # Who has a calendar that can be looked into, and what is in it; `rule` repeats a busy time. Working hours are local.
    "calendar_people": Table("email:str name:str timezone:str works_from:int works_until:int"),
    "calendar_busy": Table(
        "id:str email:str start_at:str end_at:str status:str rule:dict?", index=("email",)
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
    str, Field(max_length=4000, description="Notes on the event; empty text clears them.")
]
Where = Annotated[str, Field(max_length=200, description="Place or address; empty text clears it.")]
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
        raise ValueError("must lie between the years 1900 and 2199")
    return text


When = Annotated[
    str,
    Field(
        description="Date and time, e.g. 2026-03-20T12:30:00-07:00; without an offset it is in the calendar's zone. A day: YYYY-MM-DD."
    ),
    AfterValidator(_when),
]
"""A moment or a day as the agent wrote it; `epoch` says what it means in a zone."""


@with_config(extra="forbid")
class Guest(TypedDict):
    """Who is invited."""

    email: Email
    name: NotRequired[PersonName]


@with_config(extra="forbid")
class Reminder(TypedDict):
    """When and how to be reminded."""

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
    """How a provider calls things."""

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


# -- the account, its zone and its calendars ------------------------------------------------------------------------
def me(svc: Service, words: Words) -> dict[str, Any]:
    """Return the signed-in account: name, email, timezone."""
    return svc.db.rows(f"{words.tables}_profile")[0]


def zone(svc: Service, words: Words) -> ZoneInfo:
    """Return the time zone of the account's calendars."""
    return ZoneInfo(me(svc, words)["timezone"])


def epoch(text: str, where: ZoneInfo) -> int:
    """Return the epoch seconds of a checked moment or, at its first hour, of a day; without an offset in the given zone."""
    if len(text) == 10:
        return local_moment(date.fromisoformat(text), time(0), where)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(
        (moment if moment.tzinfo else moment.replace(tzinfo=where)).astimezone(UTC).timestamp()
    )


def day_after(text: str, where: ZoneInfo) -> int:
    """Return the epoch seconds at which a day of a zone is over."""
    return local_moment(date.fromisoformat(text) + timedelta(days=1), time(0), where)


def window(svc: Service, words: Words, first: int, last: int) -> tuple[int, int]:
    """Return a span to look at, or refuse one that is empty or longer than a year."""
    if not 0 < last - first <= LONGEST + DAY:
        why = "ends before it begins" if last <= first else "is longer than a year"
        svc.fail(
            words.bad_time,
            f"The span from {iso(first)} to {iso(last)} {why}.",
            "Give a later end, at most a year after the start.",
        )
    return first, last


def calendars(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the rows of all calendars that the account sees: the primary one, its others, those shared with it."""
    return svc.db.rows(
        f"{words.tables}_calendars", order="is_primary DESC, role<>'owner', name, id"
    )


def calendar(svc: Service, words: Words, calendar_id: str, role: str = "reader") -> dict[str, Any]:
    """Return a calendar on which the account has at least a role, or refuse. `primary` names the primary one."""
    known = {c["id"]: c for c in calendars(svc, words)}
    row = next(iter(known.values())) if calendar_id == "primary" else known.get(calendar_id)
    if row is None:
        by_name = [
            c["id"] for c in known.values() if c["name"].lower() == calendar_id.strip().lower()
        ]
        hint = f"Take a calendar_id from {words.list_calendars}" + (
            f"; {by_name[0]} has that name." if by_name else "."
        )
        svc.fail(
            words.calendar_missing,
            f"There is no calendar {calendar_id!r}.",
            hint,
            calendar_id=calendar_id,
        )
    if ROLES.index(row["role"]) < ROLES.index(role):
        message = f"'{row['name']}' belongs to {row['owner']}; you are a {row['role']} there, and this needs {role}."
        svc.fail(
            words.denied,
            message,
            f"Use a calendar of your own from {words.list_calendars}.",
            calendar_id=row["id"],
            role=row["role"],
        )
    return row


def is_me(svc: Service, words: Words, email: str) -> bool:
    """Return whether an address is that of the signed-in account."""
    return email == me(svc, words)["email"]


def own_ids(svc: Service, words: Words) -> list[str]:
    """Return the ids of the account's own calendars."""
    return [c["id"] for c in calendars(svc, words) if c["owner"] == me(svc, words)["email"]]


# -- finding events and occurrences ---------------------------------------------------------------------------------
def table(words: Words) -> str:
    """Return the name of the provider's table of events."""
    return f"{words.tables}_events"


def occurrence(words: Words, series: dict[str, Any], start: int, where: ZoneInfo) -> dict[str, Any]:
    """Return the row that stands for one occurrence of a series."""
    made = {
        "id": f"{series['id']}{words.joint}{_compact(start)}",
        "series_id": series["id"],
        "original_at": iso(start),
    }
    return (
        series
        | made
        | {"start_at": iso(start), "end_at": iso(end_of(series, start, where)), "recurrence": None}
    )


def _compact(moment: int) -> str:
    return iso(moment).replace("-", "").replace(":", "")


def find(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return the row of an event, a series or an occurrence, cancelled or not, or refuse."""
    row = svc.db.get(table(words), event_id)
    if row is None:
        series_id, _, stamp = event_id.rpartition(words.joint)
        series = svc.db.get(table(words), series_id)
        if series is not None and series["recurrence"] is not None:
            row = next(
                (o for o in expand(svc, words, series, *_about(stamp)) if o["id"] == event_id), None
            )
    if row is None or row["calendar_id"] not in {c["id"] for c in calendars(svc, words)}:
        hint = (
            f"Take an event_id from {words.list_events}; each occurrence of a series has its own."
        )
        svc.fail(words.event_missing, f"There is no event {event_id!r}.", hint, event_id=event_id)
    if row["series_id"] is not None and row["cancelled_at"] is None:
        row["cancelled_at"] = (svc.db.get(table(words), row["series_id"]) or row)["cancelled_at"]
    return row


def _about(stamp: str) -> tuple[int, int]:
    try:
        moment = int(datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0, 0
    return (moment, moment + 1) if 1900 <= int(stamp[:4]) < 2201 else (0, 0)


def live(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return an event that is not cancelled, or refuse."""
    row = find(svc, words, event_id)
    if row["cancelled_at"] is not None:
        hint = f"Choose another event from {words.list_events}, or make a new one."
        svc.fail(
            "EVENT_CANCELLED",
            f"'{row['title']}' was cancelled at {row['cancelled_at']}.",
            hint,
            event_id=event_id,
        )
    return row


def own(svc: Service, words: Words, event_id: str) -> dict[str, Any]:
    """Return a live event that the account may change: in a calendar it may write, and organised there. Else refuse."""
    row = live(svc, words, event_id)
    where = calendar(svc, words, row["calendar_id"], "writer")
    if row["organizer"] not in (where["owner"], me(svc, words)["email"]):
        message = f"'{row['title']}' was organised by {row['organizer']}; only the organizer can change it."
        hint = f"Answer the invitation with {words.respond}, or write to the organizer."
        svc.fail("NOT_ORGANIZER", message, hint, event_id=event_id, organizer=row["organizer"])
    return row


def expand(
    svc: Service, words: Words, series: dict[str, Any], first: int, last: int
) -> Iterable[dict[str, Any]]:
    """Yield the occurrences of a series that touch a span, as its rule has them."""
    length = (
        parse_time(series["end_at"]) - parse_time(series["start_at"]) + series["all_day"] * 7200
    )
    begin = parse_time(series["start_at"])
    where = zone(svc, words)
    for start in starts(series["recurrence"], begin, where, first - length + 1, last):
        if end_of(series, start, where) > first:
            yield occurrence(words, series, start, where)


def occurrences(
    svc: Service, words: Words, first: int, last: int, ids: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return single events and occurrences that touch a span, by start; of all visible calendars unless `ids` names some."""
    wanted = set(ids) if ids is not None else {c["id"] for c in calendars(svc, words)}
    alone = svc.db.rows(
        table(words),
        "recurrence IS NULL AND start_at<? AND end_at>? AND cancelled_at IS NULL",
        iso(last),
        iso(first),
    )
    apart = {
        (r["series_id"], r["original_at"])
        for r in svc.db.rows(table(words), "series_id IS NOT NULL")
    }
    stopped = {
        r["id"]
        for r in svc.db.rows(table(words), "recurrence IS NOT NULL AND cancelled_at IS NOT NULL")
    }
    found = [r for r in alone if r["series_id"] not in stopped]
    for series in svc.db.rows(
        table(words), "recurrence IS NOT NULL AND cancelled_at IS NULL AND start_at<?", iso(last)
    ):
        if series["calendar_id"] in wanted:
            found += [
                o
                for o in expand(svc, words, series, first, last)
                if (series["id"], o["original_at"]) not in apart
            ]
    return sorted(
        (r for r in found if r["calendar_id"] in wanted),
        key=lambda r: (r["start_at"], r["end_at"], r["id"]),
    )


def matching(
    svc: Service, words: Words, query: str, calendar_id: str | None
) -> list[dict[str, Any]]:
    """Return live events that hold all words, best first; a series counts once."""
    ids = (
        {c["id"] for c in calendars(svc, words)}
        if calendar_id is None
        else {calendar(svc, words, calendar_id)["id"]}
    )
    return [
        r
        for r in svc.db.search(table(words), query)
        if r["calendar_id"] in ids and find(svc, words, r["id"])["cancelled_at"] is None
    ]


def next_start(svc: Service, words: Words, row: dict[str, Any]) -> str | None:
    """Return when a series occurs next, None where it never does. An occurrence that was changed alone counts at its own time."""
    apart = {r["original_at"]: r for r in svc.db.rows(table(words), "series_id=?", row["id"])}
    begin = parse_time(row["start_at"])
    ruled = starts(
        row["recurrence"], begin, zone(svc, words), svc.now, max(svc.now, begin) + 100 * LONGEST
    )
    coming = [
        r["start_at"]
        for r in apart.values()
        if r["cancelled_at"] is None and r["start_at"] >= svc.time
    ]
    follows = next((iso(start) for start in ruled if iso(start) not in apart), None)
    return min([*coming, follows] if follows else coming, default=None)


# -- making and changing events -------------------------------------------------------------------------------------
def span(svc: Service, words: Words, start: str, end: str, all_day: bool) -> tuple[str, str]:
    """Return start and end of an event as rows hold them, or refuse. The end of one over whole days is the day after the last."""
    where = zone(svc, words)
    if all_day:
        start, end = (
            t if len(t) == 10 else local(epoch(t, where), where).date().isoformat()
            for t in (start, end)
        )
    elif len(start) == 10 or len(end) == 10:
        svc.fail(
            words.bad_time,
            "An event that is not all_day needs an hour.",
            "Give date and time, or set all_day to true.",
        )
    return check_span(svc, words, epoch(start, where), epoch(end, where), all_day)


def check_span(svc: Service, words: Words, first: int, last: int, all_day: bool) -> tuple[str, str]:
    """Return start and end as rows hold them, or refuse an event that is empty or longer than a year."""
    if last <= first:
        hint = (
            "end_time is exclusive: one whole day ends on the next date."
            if all_day
            else "Give an end_time after start_time."
        )
        svc.fail(
            words.bad_time,
            f"The event would end at {iso(last)}, not after its start at {iso(first)}.",
            hint,
        )
    if last - first > LONGEST:
        svc.fail(
            words.bad_time, "An event lasts a year at most.", "Use a recurrence, or several events."
        )
    return iso(first), iso(last)


def retimed(
    svc: Service,
    words: Words,
    row: dict[str, Any],
    start: str | None,
    end: str | None,
    all_day: bool,
) -> tuple[str, str]:
    """Return new start and end of an event as rows hold them; what is not given keeps its place, or, after a new start, its length."""
    where = zone(svc, words)
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    if all_day:
        length = local(last - 1, where).date() - local(first, where).date() + timedelta(days=1)
        begin = local(first if start is None else epoch(start, where), where).date()
        return span(svc, words, begin.isoformat(), end or (begin + length).isoformat(), True)
    if row["all_day"] and (start is None or end is None):
        svc.fail(
            words.bad_time,
            "An event that is no longer all day needs its hours.",
            "Give start_time and end_time.",
        )
    start = start or row["start_at"]
    return span(svc, words, start, end or iso(epoch(start, where) + last - first), False)


def align(svc: Service, words: Words, row: dict[str, Any]) -> tuple[str, str]:
    """Return start and end of the first occurrence of an event's rule from its start on, or refuse a rule that contradicts itself."""
    rule = row["recurrence"]
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    wrong = flaw(rule)
    begin = (
        None
        if wrong
        else next(starts(rule, first, zone(svc, words), first, first + 30 * LONGEST), None)
    )
    if begin is None:
        svc.fail(
            words.bad_recurrence,
            f"The recurrence cannot be: {wrong or 'no day fits it'}.",
            "Correct freq, by_day, count or until.",
        )
    if last - first > 31 * DAY:
        svc.fail(
            words.bad_recurrence,
            "An event that repeats lasts 31 days at most.",
            "Shorten it, or leave out recurrence.",
        )
    return iso(begin), iso(end_of(row, begin, zone(svc, words)))


def invite(
    svc: Service, people: Iterable[tuple[str, str | None]], present: Iterable[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return attendees as rows hold them: those present keep their answer, new ones are invited now. Each address stands once."""
    known = {a["email"]: a for a in present}
    made = {}
    for address, name in people:
        email = address.lower()
        person = svc.db.get("calendar_people", email) or {"name": None}
        fresh = {
            "email": email,
            "name": name or person["name"],
            "invited_at": svc.time,
            "response": None,
        }
        made.setdefault(email, known.get(email, fresh))
    return list(made.values())


def people_text(attendees: list[dict[str, Any]]) -> str:
    """Return the attendees' names and addresses for search."""
    return " ".join(f"{a['name'] or ''} {a['email']}" for a in attendees).strip()


def new(svc: Service, words: Words, where: dict[str, Any], **columns: Any) -> dict[str, Any]:
    """Insert an event and return its row; a calendar's owner organises it and is no attendee. `columns` are those without a default."""
    empty = {
        "description": "",
        "location": "",
        "all_day": False,
        "attendees": [],
        "reminders": [],
        "show_as": "busy",
        "online": False,
    }
    kept: dict[str, Any] = empty | {k: v for k, v in columns.items() if v is not None}
    if kept.get("recurrence"):
        kept["start_at"], kept["end_at"] = align(svc, words, kept)
    kept["attendees"] = [a for a in kept["attendees"] if a["email"] != where["owner"]]
    row = {
        "id": svc.new_id(words.event_id),
        "calendar_id": where["id"],
        "organizer": where["owner"],
        "people": people_text(kept["attendees"]),
    }
    return svc.db.insert(
        table(words), row | kept | {"created_at": svc.time, "updated_at": svc.time}
    )


def change(svc: Service, words: Words, row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Change an event, a series, or one occurrence alone, and return the new row. New times ask everybody invited again.

    New times or a new rule of a series make its occurrences follow the rule again.
    """
    changes = {k: v for k, v in changes.items() if row[k] != v}
    if not changes:
        return row
    if {"start_at", "end_at"} & set(changes):
        again = changes.get("attendees", row["attendees"])
        changes["attendees"] = [
            a if is_me(svc, words, a["email"]) else a | {"invited_at": svc.time, "response": None}
            for a in again
        ]
    if "attendees" in changes:
        changes["attendees"] = [a for a in changes["attendees"] if a["email"] != row["organizer"]]
        changes["people"] = people_text(changes["attendees"])
    changes["updated_at"] = svc.time
    for apart in (
        svc.db.rows(table(words), "series_id=?", row["id"]) if row["recurrence"] is not None else ()
    ):
        if {"start_at", "end_at", "recurrence"} & set(changes):
            svc.db.delete(table(words), apart["id"])
        elif follows := following(row, changes, apart):
            people = people_text(follows.get("attendees", apart["attendees"]))
            svc.db.update(table(words), apart["id"], updated_at=svc.time, people=people, **follows)
    if svc.db.get(table(words), row["id"]) is None:
        svc.db.insert(table(words), row | changes)
    else:
        svc.db.update(table(words), row["id"], **changes)
    return row | changes


def cancel(svc: Service, words: Words, row: dict[str, Any]) -> dict[str, Any]:
    """Cancel an event, a whole series, or one occurrence alone."""
    return change(svc, words, row, cancelled_at=svc.time)


def bounds(
    svc: Service, words: Words, first: str | None, last: str | None, default: Callable[[int], int]
) -> tuple[int, int]:
    """Return the span that a listing is about: from now unless `first` is given, until `default` of that unless `last` is."""
    where = zone(svc, words)
    begin = svc.now if first is None else epoch(first, where)
    return window(svc, words, begin, default(begin) if last is None else epoch(last, where))
