"""Appointment slots: times that others can book, each once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _edit as edit
from servers.calendar import _rules as rules
from servers.calendar._rules import Text, Title, When, Where
from servers.calendar.google_calendar._model import (
    POPUP,
    WORDS,
    CalendarId,
    SlotId,
    absence,
    in_a_year,
    made_json,
    primary,
)
from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName
from servers.kit.listing import Listing
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time

Length = Annotated[int, Field(ge=5, le=480, description="Minutes that each slot lasts.")]
AllSlots = Annotated[
    bool,
    Field(description="true also returns slots that are booked, blocked by other events, or past."),
]
OPEN_HOURS = Setup(
    "create_appointment_slots",
    {
        "calendar_id": primary(),
        "title": "Studio visit",
        "start_time": "2026-04-07T16:00:00-07:00",
        "end_time": "2026-04-07T17:30:00-07:00",
        "slot_duration_minutes": 30,
    },
    "made",
)


class Appointments(Service):
    """Slots and their bookings."""

    @writes(example=OPEN_HOURS.args)
    def create_appointment_slots(
        self,
        calendar_id: CalendarId,
        title: Title,
        start_time: When,
        end_time: When,
        slot_duration_minutes: Length,
        description: Text | None = None,
        location: Where | None = None,
    ) -> Json:
        """Offer a future span of time as slots of equal length, at most 48.

        A remainder that is too short for a slot is left out.
        """
        calendar = rules.calendar(self, WORDS, calendar_id, "writer")
        start, end = edit.span(self, WORDS, start_time, end_time, False)
        step = slot_duration_minutes * 60
        begins = range(parse_time(start), parse_time(end) - step + 1, step)
        if not 1 <= len(begins) <= 48:
            self.fail(
                "INVALID_SLOT_COUNT",
                f"The span holds {len(begins)} slots of {slot_duration_minutes} minutes.",
                "Choose a span that fits between 1 and 48 slots.",
            )
        if begins[0] <= self.now:
            self.fail(
                "INVALID_TIME_RANGE",
                f"The first slot would begin at {start}, which is in the past.",
                "Offer a time in the future.",
            )
        slots = []
        for begin in begins:
            slot = {
                "id": self.new_id("gsl"),
                "calendar_id": calendar["id"],
                "start_at": iso(begin),
                "end_at": iso(begin + step),
                "title": title,
                "description": description or "",
                "location": location or "",
                "created_at": self.time,
            }
            slots.append(self.db.insert("google_calendar_slots", slot))
        return {"calendar_id": calendar["id"], "slots": [self._slot_json(r) for r in slots]}

    @reads(example={"calendar_id": seeded("gcl", "studio")})
    def list_appointment_slots(
        self,
        calendar_id: CalendarId,
        time_min: When | None = None,
        time_max: When | None = None,
        include_unavailable: AllSlots = False,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the slots of a calendar that can still be booked, by start.

        Fields: slot_id, title, start_time, end_time, location, status.
        """
        calendar = rules.calendar(self, WORDS, calendar_id)
        first, last = rules.bounds(self, WORDS, time_min, time_max, in_a_year)
        slots = Listing(self.db, "google_calendar_slots", "start_at", newest=False).only(
            "calendar_id=? AND start_at>? AND start_at<? AND end_at>?",
            calendar["id"],
            # No slot lasts longer than a day, so the index passes over the earlier ones.
            iso(first - rules.DAY),
            iso(last),
            iso(first),
        )
        if include_unavailable:
            return page(slots, "slots", limit, cursor, self._slot_json)
        slots = slots.keep(lambda row: self._state(row) == "open")
        return page(slots, "slots", limit, cursor, lambda row: self._slot_json(row, "open"))

    @writes(
        example={
            "slot_id": "${made.slots[0].slot_id}",
            "attendee_email": "harriet.moss@fastmail.com",
        },
        setup=(OPEN_HOURS,),
    )
    def book_appointment_slot(
        self, slot_id: SlotId, attendee_email: Email, attendee_name: PersonName | None = None
    ) -> Json:
        """Book an open slot for someone and return the event.

        The slot is then taken; it opens again if the event is cancelled or moved.
        """
        row = self.db.get("google_calendar_slots", slot_id)
        if row is None:
            self.fail(
                "SLOT_NOT_FOUND",
                f"There is no slot {slot_id!r}.",
                "Use a slot_id from list_appointment_slots.",
                slot_id=slot_id,
            )
        calendar = rules.calendar(self, WORDS, row["calendar_id"])
        state = self._state(row)
        if state != "open":
            self.fail(
                "SLOT_UNAVAILABLE",
                f"The slot at {row['start_at']} is {state}.",
                "Choose an open slot from list_appointment_slots.",
                slot_id=slot_id,
                status=state,
            )
        guest = edit.invite(self, [(attendee_email, attendee_name)])[0] | {"response": "accepted"}
        columns = {k: row[k] for k in ("title", "description", "location", "start_at", "end_at")}
        event = edit.new(self, WORDS, calendar, attendees=[guest], reminders=POPUP, **columns)
        self.db.update("google_calendar_slots", slot_id, event_id=event["id"])
        return made_json(self, event) | {"slot_id": slot_id}

    def _slot_json(self, row: Row, state: str | None = None) -> Json:
        state = state or self._state(row)
        return {
            "slot_id": row["id"],
            "calendar_id": row["calendar_id"],
            "title": row["title"],
            "description": row["description"],
            "location": row["location"],
            "start_time": row["start_at"],
            "end_time": row["end_at"],
            "status": state,
            "event_id": row["event_id"] if state == "booked" else None,
        }

    def _is_booked(self, row: Row) -> bool:
        """Return whether a slot's event still takes it: it was neither cancelled nor moved."""
        event = self.db.get("google_calendar_events", row["event_id"]) if row["event_id"] else None
        if event is None or event["cancelled_at"] is not None:
            return False
        return event["start_at"] == row["start_at"]

    def _state(self, row: Row) -> str:
        """Return open, booked, past, or blocked (by another event or an absence)."""
        if self._is_booked(row):
            return "booked"
        first = parse_time(row["start_at"])
        last = parse_time(row["end_at"])
        if first <= self.now:
            return "past"
        away = absence(self)
        if away is not None and away.touches(first, last):
            return "blocked"
        return "blocked" if _busy.busy(self, WORDS, first, last) else "open"
