"""Attendees, answers and reminders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _edit as edit
from servers.calendar import _rules as rules
from servers.calendar._rules import Reminders
from servers.calendar.google_calendar._model import WORDS, EventId, my_response
from servers.calendar.google_calendar.events import COFFEE
from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName
from servers.kit.service import Service, writes
from servers.kit.types import Json

Response = Annotated[
    Literal["accepted", "declined", "tentative"], Field(description="Your answer.")
]
MADE = "${made.event_id}"


class Invitations(Service):
    """Who attends events, and reminders."""

    @writes(
        example={"event_id": MADE, "email": "ben.asher@gmail.com", "name": "Ben Asher"},
        setup=(COFFEE,),
    )
    def add_attendee(self, event_id: EventId, email: Email, name: PersonName | None = None) -> Json:
        """Invite one more person to an event that you organize.

        Their answer comes later and is shown by get_event.
        """
        row = rules.own(self, WORDS, event_id)
        present = [(a["email"], a["name"]) for a in row["attendees"]]
        if email.lower() in dict(present) or email.lower() == row["organizer"]:
            self.fail(
                "DUPLICATE_ATTENDEE",
                f"{email} is already an attendee.",
                "get_event shows the attendees.",
                event_id=event_id,
                email=email,
            )
        if len(present) == 100:
            self.fail(
                "TOO_MANY_ATTENDEES",
                "An event has at most 100 attendees.",
                "Remove someone with remove_attendee first.",
            )
        attendees = edit.invite(self, [*present, (email, name)], row["attendees"])
        edit.change(self, WORDS, row, attendees=attendees)
        return {"event_id": event_id, "email": email.lower(), "status": "invited"}

    @writes(example={"event_id": MADE, "email": "priya.nair@gmail.com"}, setup=(COFFEE,))
    def remove_attendee(self, event_id: EventId, email: Email) -> Json:
        """Remove a person from an event that you organize."""
        row = rules.own(self, WORDS, event_id)
        gone = _busy.attendee(self, row, email, "add_attendee")
        edit.change(self, WORDS, row, attendees=[a for a in row["attendees"] if a is not gone])
        return {"event_id": event_id, "email": gone["email"], "status": "removed"}

    @writes(
        example={"event_id": seeded("gev", "house_meeting"), "response": "accepted"},
        idempotent=True,
    )
    def rsvp_event(self, event_id: EventId, response: Response) -> Json:
        """Answer an invitation, for a whole series or for one occurrence.

        You can change an answer later.
        """
        row = edit.respond(self, WORDS, event_id, response)
        return {"event_id": event_id, "response": my_response(self, row), "status": "responded"}

    @writes(
        example={"event_id": MADE, "reminders": [{"method": "email", "minutes_before": 1440}]},
        setup=(COFFEE,),
        idempotent=True,
    )
    def set_event_reminder(self, event_id: EventId, reminders: Reminders) -> Json:
        """Replace your own reminders for an event, even one that someone else organizes."""
        row = rules.live(self, WORDS, event_id)
        rules.calendar(self, WORDS, row["calendar_id"], "writer")
        edit.change(self, WORDS, row, reminders=reminders)
        return {"event_id": event_id, "reminders": reminders, "status": "updated"}
