"""Google Calendar's tables, words and argument types, and what an event looks like."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.kit.control import seeded
from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import parse_time
from servers.kit.zones import epoch, local

TABLES = {
    "google_calendar_profile": Table(
        "id:str name:str email:str timezone:str", identity=True, catalogue=True
    ),
    "google_calendar_calendars": rules.CALENDARS,
    "google_calendar_events": Table(
        rules.EVENT,
        search=rules.SEARCH,
        index=rules.INDEX,
        outward=rules.INVITES,
        noun=rules.EVENT_NOUN,
    ),
    "google_calendar_acl": Table(
        "id:str calendar_id:str/ref email:str/matter role:str/matter granted_at:str/stamp",
        index=("calendar_id",),
        outward={},
        noun="the access of {email} to {calendar_id} ({role})",
    ),
    "google_calendar_slots": Table(
        "id:str calendar_id:str/ref title:str/prose description:str/prose location:str/prose "
        "start_at:str/appointed end_at:str/appointed event_id:str?/ref created_at:str/stamp",
        index=("calendar_id, start_at",),
        noun="the appointment slot {title} on {start_at:moment}",
    ),
    "google_calendar_hours": Table(
        "id:str days:list/matter start_time:str/matter end_time:str/matter",
        noun="the working hours from {start_time} to {end_time}",
    ),
    "google_calendar_absence": Table(
        "id:str start_date:str/appointed end_date:str/appointed decline_message:str?/prose",
        noun="the absence from {start_date:day} to {end_date:day}",
    ),
}
WORDS = rules.Words(
    tables="google_calendar",
    event_id="gev",
    joint="_",
    list_calendars="list_calendars",
    list_events="list_events",
    respond="rsvp_event",
    calendar_missing="CALENDAR_NOT_FOUND",
    event_missing="EVENT_NOT_FOUND",
    denied="INSUFFICIENT_PERMISSIONS",
    bad_time="INVALID_TIME_RANGE",
    bad_recurrence="INVALID_RECURRENCE",
)

EventId = rules.EventId
CalendarId = Annotated[
    str, Field(description="calendar_id from list_calendars; 'primary' is your main calendar.")
]
Transparency = Annotated[
    Literal["opaque", "transparent"],
    Field(description="opaque: blocks the time; transparent: you stay free."),
]
SlotId = Annotated[str, Field(description="slot_id, from list_appointment_slots.")]
Clock = Annotated[
    str,
    Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="Local time as HH:MM, on the 24-hour clock.",
    ),
]
POPUP = [{"method": "popup", "minutes_before": 30}]
"""Reminders of an event that was created without any."""
_MEET_LETTERS = "abcdefghijkmnopqrstuvwxyz"


def primary() -> str:
    """Return the ID of the default world's primary calendar, for examples."""
    return seeded("gcl", "personal")


def calendar_json(row: Row) -> Json:
    """Return a calendar as agents see it."""
    return {
        "calendar_id": row["id"],
        "name": row["name"],
        "is_primary": row["is_primary"],
        "access_role": row["role"],
        "owner": row["owner"],
    }


class Absence(NamedTuple):
    """An out-of-office period in epoch seconds."""

    start: int
    end: int

    def touches(self, first: int, last: int) -> bool:
        """Return whether a span overlaps it."""
        return rules.overlap(first, last, self.start, self.end)


def absence(svc: Service) -> Absence | None:
    """Return the out-of-office period that is set, even if it is over, or None."""
    rows = svc.db.rows("google_calendar_absence")
    if not rows:
        return None
    where = rules.zone(svc, WORDS)
    start = epoch(rows[0]["start_date"], where)
    return Absence(start, rules.day_after(rows[0]["end_date"], where))


def my_response(svc: Service, row: Row) -> str | None:
    """Return the account's answer.

    While the account is out of office, an invitation that it has not answered counts as declined.
    """
    answer = _busy.my_answer(svc, WORDS, row)
    if answer != "needsAction":
        return answer
    away = absence(svc)
    if away is None or not away.touches(parse_time(row["start_at"]), parse_time(row["end_at"])):
        return answer
    return "declined"


def shown_time(svc: Service, row: Row, column: str) -> str:
    """Return a start or end as agents see it: a date for all-day events, otherwise UTC."""
    if not row["all_day"]:
        return row[column]
    return local(parse_time(row[column]), rules.zone(svc, WORDS)).date().isoformat()


def _meet_link(event_id: str) -> str:
    drawn = [*draws("meet", event_id, 0)[:5], *draws("meet", event_id, 1)[:5]]
    letters = "".join(_MEET_LETTERS[int((d + 1) * 12.49)] for d in drawn)
    return f"https://meet.google.com/{letters[:3]}-{letters[3:7]}-{letters[7:]}"


def event_json(svc: Service, row: Row) -> Json:
    """Return an event, a series or an occurrence as agents see it."""
    answer = my_response(svc, row)
    if row["cancelled_at"]:
        state = "cancelled"
    else:
        state = "tentative" if answer == "tentative" else "confirmed"
    guests = []
    for guest in row["attendees"]:
        mine = rules.is_me(svc, WORDS, guest["email"])
        answered = answer if mine else _busy.answer_of(svc, row, guest)
        guests.append({"email": guest["email"], "name": guest["name"], "response_status": answered})
    return {
        "event_id": row["id"],
        "calendar_id": row["calendar_id"],
        "title": row["title"],
        "status": state,
        "start_time": shown_time(svc, row, "start_at"),
        "end_time": shown_time(svc, row, "end_at"),
        "all_day": row["all_day"],
        "timezone": rules.me(svc, WORDS)["timezone"],
        "location": row["location"],
        "description": row["description"],
        "organizer": {"email": row["organizer"], "self": rules.is_me(svc, WORDS, row["organizer"])},
        "attendees": guests,
        "my_response": answer,
        "transparency": "transparent" if row["show_as"] == "free" else "opaque",
        "recurrence": row["recurrence"],
        "recurring_event_id": row["series_id"],
        "original_start_time": row["original_at"],
        "reminders": row["reminders"],
        "meet_link": _meet_link(row["series_id"] or row["id"]) if row["online"] else None,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def made_json(svc: Service, row: Row) -> Json:
    """Return an event that was created or changed, with its conflicts."""
    conflicts = [_conflict_json(other) for other in _busy.conflicts(svc, WORDS, row)]
    return event_json(svc, row) | {"conflicts": conflicts}


def _conflict_json(row: Row) -> Json:
    return {
        "event_id": row["id"],
        "title": row["title"],
        "start_time": row["start_at"],
        "end_time": row["end_at"],
    }


def in_a_year(begin: int) -> int:
    """Return the default end of a listing."""
    return begin + rules.LONGEST
