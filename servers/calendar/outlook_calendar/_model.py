"""Outlook Calendar's tables, words and argument types, and what an event looks like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.kit.control import seeded
from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch, local

EVENTS = "outlook_calendar_events"
TABLES = {
    "outlook_calendar_profile": Table(
        "id:str name:str email:str timezone:str", identity=True, catalogue=True
    ),
    "outlook_calendar_calendars": rules.CALENDARS,
    EVENTS: Table(
        f"{rules.EVENT} category:str?/matter room_id:str?/ref",
        search=rules.SEARCH,
        index=(*rules.INDEX, "room_id"),
        outward=rules.INVITES,
        noun=rules.EVENT_NOUN,
    ),
    "outlook_calendar_rooms": Table(
        "id:str name:str capacity:int building:str floor:int equipment:list", catalogue=True
    ),
    # Bookings by other people; one with a `rule` repeats.
    "outlook_calendar_bookings": Table(
        "id:str room_id:str title:str organizer:str start_at:str end_at:str rule:dict?",
        index=("room_id",),
        catalogue=True,
    ),
    "outlook_calendar_categories": Table("name:str color:str", catalogue=True),
    "outlook_calendar_hours": Table(
        "id:str days:list/matter start_time:str/matter end_time:str/matter timezone:str/matter",
        noun="the working hours from {start_time} to {end_time}",
    ),
    # `slots` are {slot_id, start_at, end_at}; the organizer votes too, and chooses at `decides_at`
    # if that is somebody else.
    "outlook_calendar_polls": Table(
        "id:str title:str/prose organizer:str/derived attendees:list/recipients "
        "slots:list/matter duration_minutes:int/matter location:str/prose created_at:str/stamp "
        "closed_at:str?/stamp event_id:str?/ref slot_id:str?/ref decides_at:str?/derived",
        index=("created_at", "decides_at"),
        outward={},
        noun="the scheduling poll {title}",
    ),
    "outlook_calendar_votes": Table(
        "id:str poll_id:str/ref slot_id:str/ref voter:str/derived response:str/matter "
        "voted_at:str/stamp",
        index=("poll_id",),
        noun="a vote ({response}) in the poll {poll_id}",
    ),
}
WORDS = rules.Words(
    tables="outlook_calendar",
    event_id="oev",
    joint=".",
    list_calendars="get_calendars",
    list_events="get_events",
    respond="respond_to_event",
    calendar_missing="ERROR_CALENDAR_NOT_FOUND",
    event_missing="ERROR_ITEM_NOT_FOUND",
    denied="ERROR_ACCESS_DENIED",
    bad_time="ERROR_INVALID_TIME_INTERVAL",
    bad_recurrence="ERROR_INVALID_RECURRENCE",
)

Folder = Annotated[
    str,
    Field(description="calendar_id from get_calendars; 'primary' is your main calendar."),
]
Item = Annotated[
    str,
    Field(
        description=(
            "event_id from get_events: of an event, of a whole series, or of one occurrence."
        )
    ),
]
Subject = Annotated[
    str, Field(min_length=1, max_length=255, pattern=r"\S", description="Subject of the event.")
]
Body = Annotated[
    str, Field(max_length=8000, description="Body of the event; an empty string clears it.")
]
Place = Annotated[
    str, Field(max_length=255, description="Location; rooms are booked with book_room.")
]
Start = Annotated[
    rules.When,
    Field(
        description=(
            "Start, e.g. 2026-03-20T12:30:00-07:00; without an offset, in your time zone. "
            "All day: a date."
        )
    ),
]
End = Annotated[
    rules.When,
    Field(
        description="End, in the same format as the start; all day: the date after the last day."
    ),
]
ShowAs = Annotated[
    Literal["free", "tentative", "busy", "oof"],
    Field(description="How the time appears to others (oof: out of office)."),
]
RoomId = Annotated[str, Field(description="room_id, from list_rooms.")]
QUARTER_HOUR = [{"method": "popup", "minutes_before": 15}]
"""Reminders of an event that was created without any."""


def own() -> str:
    """Return the ID of the default world's primary calendar, for examples."""
    return seeded("ocl", "work")


def moment(svc: Service, text: str, *, closing: bool = False) -> int:
    """Return the epoch seconds that an agent means; a day that ends a span is included in it."""
    where = rules.zone(svc, WORDS)
    if closing and len(text) == 10:
        return rules.day_after(text, where)
    return epoch(text, where)


def stretch(svc: Service, start: str, end: str, longest: int = rules.LONGEST) -> tuple[int, int]:
    """Return a span whose ends are both given, or refuse one that is empty or too long."""
    first, last = rules.window(svc, WORDS, moment(svc, start), moment(svc, end, closing=True))
    if last - first > longest + rules.DAY:
        days = longest // rules.DAY
        svc.fail(
            "ERROR_TIME_INTERVAL_TOO_BIG",
            f"The span is longer than {days} days.",
            f"Request at most {days} days at a time.",
        )
    return first, last


def folder_json(row: Row) -> Json:
    """Return a calendar as agents see it."""
    return {
        "calendar_id": row["id"],
        "name": row["name"],
        "owner_email": row["owner"],
        "is_primary": row["is_primary"],
        "can_edit": row["role"] in ("writer", "owner"),
        "can_share": row["role"] == "owner",
    }


def time_of(svc: Service, row: Row, column: str) -> str:
    """Return a start or end as agents see it: UTC, or the local date of an all-day event."""
    if not row["all_day"]:
        return row[column]
    return f"{local(parse_time(row[column]), rules.zone(svc, WORDS)):%Y-%m-%d}"


def status_of(svc: Service, row: Row) -> str:
    """Return how an event takes up the account's time.

    An invitation that is not accepted is tentative; one that is declined is free.
    """
    answer = _busy.my_answer(svc, WORDS, row)
    if row["show_as"] == "busy" and answer in ("needsAction", "tentative"):
        return "tentative"
    return "free" if answer == "declined" else row["show_as"]


def room_ref(svc: Service, room_id: str | None) -> Json | None:
    """Return `{room_id, name}` of a room, or None."""
    row = svc.db.get("outlook_calendar_rooms", room_id) if room_id else None
    return None if row is None else {"room_id": row["id"], "name": row["name"]}


def event_json(svc: Service, row: Row) -> Json:
    """Return an event, a series or an occurrence as agents see it."""
    answers = []
    for guest in row["attendees"]:
        answer = _busy.answer_of(svc, row, guest)
        answers.append({"email": guest["email"], "name": guest["name"], "response": answer})
    number = int((draws("teams", row["series_id"] or row["id"])[0] + 1) * 10**11)
    return {
        "event_id": row["id"],
        "calendar_id": row["calendar_id"],
        "title": row["title"],
        "description": row["description"],
        "start": time_of(svc, row, "start_at"),
        "end": time_of(svc, row, "end_at"),
        "is_all_day": row["all_day"],
        "is_cancelled": row["cancelled_at"] is not None,
        "location": row["location"],
        "room": room_ref(svc, row["room_id"]),
        "organizer": row["organizer"],
        "is_organizer": rules.is_me(svc, WORDS, row["organizer"]),
        "attendees": answers,
        "response": _busy.my_answer(svc, WORDS, row),
        "show_as": status_of(svc, row),
        "category": row["category"],
        "recurrence": row["recurrence"],
        "series_event_id": row["series_id"],
        "reminders": row["reminders"],
        "teams_link": f"https://teams.microsoft.com/meet/{number:012d}" if row["online"] else None,
        "created_at": row["created_at"],
        "last_modified_at": row["updated_at"],
    }


def saved_json(svc: Service, row: Row) -> Json:
    """Return an event with the events that overlap it."""
    others = _busy.conflicts(svc, WORDS, row)
    brief = [
        {"event_id": o["id"], "title": o["title"], "start": o["start_at"], "end": o["end_at"]}
        for o in others
    ]
    return event_json(svc, row) | {"overlaps_with": brief}


# -- rooms -----------------------------------------------------------------------------------------
def find_room(svc: Service, room_id: str) -> Row:
    """Return a room, or refuse if there is none."""
    row = svc.db.get("outlook_calendar_rooms", room_id)
    if row is None:
        svc.fail(
            "ERROR_ROOM_NOT_FOUND",
            f"There is no room {room_id!r}.",
            "Use a room_id from list_rooms.",
            room_id=room_id,
        )
    return row


def taken(
    svc: Service, room_id: str, first: int, last: int, without: str | None = None
) -> list[dict[str, Any]]:
    """Return the bookings of a room in a span, by start.

    Each has event_id (None for other people's), title, organizer, start and end. Those of the event
    or series `without` are left out.
    """
    where = rules.zone(svc, WORDS)
    bookings = []
    for row in svc.db.rows("outlook_calendar_bookings", "room_id=?", room_id):
        begin = parse_time(row["start_at"])
        length = parse_time(row["end_at"]) - begin
        shown = {"event_id": None, "title": row["title"], "organizer": row["organizer"]}
        for start in _busy.touching(row["rule"], begin, length, where, first, last):
            bookings.append(shown | {"start": iso(start), "end": iso(start + length)})
    for row in rules.occurrences(svc, WORDS, first, last):
        if row["room_id"] == room_id and without not in (row["id"], row["series_id"] or row["id"]):
            shown = {"event_id": row["id"], "title": row["title"], "organizer": row["organizer"]}
            bookings.append(shown | {"start": row["start_at"], "end": row["end_at"]})
    return sorted(bookings, key=lambda b: (b["start"], b["end"], b["title"]))


def claim(svc: Service, room: Row, row: Row) -> None:
    """Refuse unless a room is free for an event, or for a series during the next 90 days."""
    begin = parse_time(row["start_at"])
    end = parse_time(row["end_at"])
    spans = [(begin, end)]
    if row["recurrence"] is not None:
        begin = max(begin, svc.now)
        parts = rules.expand(svc, WORDS, row, begin, begin + _busy.AHEAD)
        spans = [(parse_time(p["start_at"]), parse_time(p["end_at"])) for p in parts]
        end = max([last for _, last in spans], default=end)
    booked = taken(svc, room["id"], begin, max(end, begin + 1), row["series_id"] or row["id"])
    conflicts = [booking for booking in booked if _touches(booking, spans)]
    if conflicts:
        first = conflicts[0]
        svc.fail(
            "ERROR_ROOM_NOT_AVAILABLE",
            f"{room['name']} is booked for '{first['title']}' "
            f"from {first['start']} to {first['end']}.",
            "See check_room_availability, choose another room from list_rooms, "
            "or release the room with release_room.",
            room_id=room["id"],
            conflicts=len(conflicts),
        )


def _touches(booking: Row, spans: list[tuple[int, int]]) -> bool:
    start = parse_time(booking["start"])
    end = parse_time(booking["end"])
    return any(rules.overlap(start, end, first, last) for first, last in spans)
