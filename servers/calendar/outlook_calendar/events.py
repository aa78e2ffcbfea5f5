"""Events: scheduling, changing and finding them, and who attends."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _edit as edit
from servers.calendar import _mail as mail
from servers.calendar import _rules as rules
from servers.calendar._recurrence import Recurrence
from servers.calendar.outlook_calendar import _model as model
from servers.calendar.outlook_calendar._model import (
    WORDS,
    Body,
    End,
    Folder,
    Item,
    Place,
    ShowAs,
    Start,
    Subject,
)
from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

Invitees = Annotated[
    list[rules.Guest], Field(max_length=100, description="People to invite to the meeting.")
]
Alerts = Annotated[
    list[rules.Reminder], Field(max_length=5, description="Your reminders; an empty list for none.")
]
Pattern = Annotated[
    Recurrence, Field(description="How the meeting repeats, beginning at start_time.")
]
WholeDay = Annotated[
    bool,
    Field(description="All-day event, given as dates; the end is the date after the last day."),
]
Teams = Annotated[bool, Field(description="Add a Teams meeting link.")]
Single = Annotated[
    bool, Field(description="true ends the repetition and keeps only the first occurrence.")
]
Answer = Annotated[
    Literal["accepted", "declined", "tentative"],
    Field(description="Your answer to the organizer."),
]
FirstDay = Annotated[rules.When, Field(description="First day or time to show; defaults to now.")]
LastDay = Annotated[
    rules.When,
    Field(description="Last day (inclusive) or time; defaults to 30 days after the first."),
]
REVIEW = Setup(
    "schedule_event",
    {
        "calendar_id": model.own(),
        "title": "Tokens review",
        "start_time": "2026-03-24T15:00:00-07:00",
        "end_time": "2026-03-24T16:00:00-07:00",
        "attendees": [{"email": "lucas.weber@fernhill.design"}],
    },
    "review",
)
THIS = {"event_id": "${review.event_id}"}


def _people(attendees: list[rules.Guest]) -> list[tuple[str, str | None]]:
    return [(a["email"], a.get("name")) for a in attendees]


class Events(Service):
    """Events and invitations."""

    @writes(example=REVIEW.args)
    def schedule_event(
        self,
        calendar_id: Folder,
        title: Subject,
        start_time: Start,
        end_time: End,
        description: Body = "",
        location: Place = "",
        attendees: Invitees | None = None,
        reminders: Alerts | None = None,
        recurrence: Pattern | None = None,
        all_day: WholeDay = False,
        generate_teams_link: Teams = False,
        show_as: ShowAs = "busy",
    ) -> Json:
        """Put an event or a series into a calendar and send the invitations.

        Returns the event; `overlaps_with` lists events at the same time.
        """
        target = rules.calendar(self, WORDS, calendar_id, "writer")
        begins, ends = edit.span(self, WORDS, start_time, end_time, all_day)
        event = edit.new(
            self,
            WORDS,
            target,
            title=title,
            description=description,
            location=location,
            show_as=show_as,
            online=generate_teams_link,
            start_at=begins,
            end_at=ends,
            all_day=all_day,
            recurrence=recurrence,
            attendees=edit.invite(self, _people(attendees or [])),
            reminders=model.QUARTER_HOUR if reminders is None else reminders,
        )
        return model.saved_json(self, event)

    @writes(
        example=THIS
        | {"title": "Tokens review with Lucas", "end_time": "2026-03-24T16:30:00-07:00"},
        setup=(REVIEW,),
        idempotent=True,
    )
    def modify_event(
        self,
        event_id: Item,
        title: Subject | None = None,
        start_time: Start | None = None,
        end_time: End | None = None,
        description: Body | None = None,
        location: Place | None = None,
        attendees: Invitees | None = None,
        reminders: Alerts | None = None,
        recurrence: Pattern | None = None,
        all_day: WholeDay | None = None,
        show_as: ShowAs | None = None,
        end_recurrence: Single = False,
    ) -> Json:
        """Change a meeting that you organize; fields that are not given stay as they are.

        The ID of an occurrence changes that one alone. If the time changes, invitees are asked
        again, and changes to single occurrences of a series are undone. A booked room moves along;
        if it is taken at the new time, the change is refused.
        """
        row = rules.own(self, WORDS, event_id)
        given: dict[str, Any] = {
            "title": title,
            "description": description,
            "location": location,
            "show_as": show_as,
            "all_day": all_day,
            "reminders": reminders,
            "recurrence": recurrence,
        }
        changes = {k: v for k, v in given.items() if v is not None}
        if attendees is not None:
            changes["attendees"] = edit.invite(self, _people(attendees), row["attendees"])
        if recurrence and row["series_id"]:
            self.fail(
                WORDS.bad_recurrence,
                "A single occurrence cannot have its own recurrence.",
                f"Modify the series {row['series_id']}.",
                event_id=event_id,
            )
        if end_recurrence and not recurrence:
            changes["recurrence"] = None
        whole = row["all_day"] if all_day is None else all_day
        if start_time or end_time or whole != row["all_day"]:
            changes["start_at"], changes["end_at"] = edit.retimed(
                self, WORDS, row, start_time, end_time, whole
            )
        after = row | changes
        if after["recurrence"] is not None and {"recurrence", "start_at"} & set(changes):
            changes["start_at"], changes["end_at"] = edit.align(self, WORDS, after)
        if row["room_id"] is not None and {"start_at", "end_at", "recurrence"} & set(changes):
            model.claim(self, model.find_room(self, row["room_id"]), row | changes)
        return model.saved_json(self, edit.change(self, WORDS, row, **changes))

    @writes(example=THIS, setup=(REVIEW,), destructive=True)
    def cancel_event(self, event_id: Item) -> Json:
        """Cancel a meeting that you organize: a single one, a series, or one occurrence.

        Its room becomes free and invitees are notified.
        """
        edit.cancel(self, WORDS, rules.own(self, WORDS, event_id))
        return {"event_id": event_id, "status": "cancelled"}

    @reads(example={"event_id": seeded("oev", "standup")})
    def get_event_details(self, event_id: Item) -> Json:
        """Return one event, series or occurrence, even a cancelled one, in full.

        `overlaps_with` lists events at the same time.
        """
        row = rules.find(self, WORDS, event_id)
        if row["cancelled_at"] is not None:
            return model.event_json(self, row) | {"overlaps_with": []}
        return model.saved_json(self, row)

    @reads(example={"start_date": "2026-03-16", "end_date": "2026-03-20"})
    def get_events(
        self,
        calendar_id: Folder | None = None,
        start_date: FirstDay | None = None,
        end_date: LastDay | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the events in your calendars by start, with each occurrence of a series.

        Cancelled events are left out.
        """
        begin = self.now if start_date is None else model.moment(self, start_date)
        end = begin + 30 * rules.DAY
        if end_date is not None:
            end = model.moment(self, end_date, closing=True)
        ids = None if calendar_id is None else [rules.calendar(self, WORDS, calendar_id)["id"]]
        rows = rules.occurrences(self, WORDS, *rules.window(self, WORDS, begin, end), ids)
        return page(rows, "events", max_results, cursor, lambda row: model.event_json(self, row))

    @reads(example={"query": "acme workshop"})
    def find_events(
        self,
        query: rules.Query,
        calendar_id: Folder | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find past and future events by words in subject, body, place or people, best match first.

        A series appears once, with `next_start`; occurrences that differ from it appear as well.
        Put phrases in "quotes".
        """

        rows = rules.matching(self, WORDS, query, calendar_id)
        return page(rows, "events", max_results, cursor, self._hit_json)

    def when_due(self, post: Row) -> Json | None:
        """Return what an answer or a reminder says by then; see `Service.when_due`."""
        return mail.when_due(self, WORDS, post)

    def _hit_json(self, row: Row) -> Json:
        shown = model.event_json(self, row)
        if row["recurrence"]:
            start = rules.next_start(self, WORDS, row)
            shown["next_start"] = start and model.time_of(self, row | {"next": start}, "next")
        return shown

    @writes(
        example=THIS | {"email": "mei.chen@fernhill.design", "name": "Mei Chen"}, setup=(REVIEW,)
    )
    def invite_to_event(self, event_id: Item, email: Email, name: PersonName | None = None) -> Json:
        """Invite one more person to a meeting that you organize.

        get_event_details shows their answer once they have responded.
        """
        row = rules.own(self, WORDS, event_id)
        if email.lower() in {row["organizer"], *(a["email"] for a in row["attendees"])}:
            self.fail(
                "ERROR_ALREADY_INVITED",
                f"{email} is already part of the meeting.",
                "get_event_details shows who is invited.",
                email=email,
            )
        everybody = [(a["email"], a["name"]) for a in row["attendees"]] + [(email, name)]
        if len(everybody) > 100:
            self.fail(
                "ERROR_TOO_MANY_ATTENDEES",
                "A meeting can have at most 100 invitees.",
                "Remove someone with uninvite_from_event first.",
            )
        edit.change(self, WORDS, row, attendees=edit.invite(self, everybody, row["attendees"]))
        return {"event_id": event_id, "email": email.lower(), "status": "invitation_sent"}

    @writes(example=THIS | {"email": "lucas.weber@fernhill.design"}, setup=(REVIEW,))
    def uninvite_from_event(self, event_id: Item, email: Email) -> Json:
        """Withdraw someone's invitation to a meeting that you organize."""
        row = rules.own(self, WORDS, event_id)
        gone = _busy.attendee(self, row, email, "invite_to_event")
        edit.change(self, WORDS, row, attendees=[a for a in row["attendees"] if a is not gone])
        return {"event_id": event_id, "email": gone["email"], "status": "uninvited"}

    @writes(
        example={"event_id": seeded("oev", "expenses_call"), "response": "accepted"},
        idempotent=True,
    )
    def respond_to_event(self, event_id: Item, response: Answer) -> Json:
        """Answer an invitation: for one meeting, a series, or one occurrence."""
        edit.respond(self, WORDS, event_id, response)
        return {"event_id": event_id, "response": response, "status": "response_sent"}

    @writes(
        example=THIS | {"reminders": [{"method": "email", "minutes_before": 60}]},
        setup=(REVIEW,),
        idempotent=True,
    )
    def configure_event_reminder(self, event_id: Item, reminders: Alerts) -> Json:
        """Replace your own reminders for an event; other people's do not change."""
        row = rules.live(self, WORDS, event_id)
        rules.calendar(self, WORDS, row["calendar_id"], "writer")
        changed = edit.change(self, WORDS, row, reminders=reminders)
        return {
            "event_id": event_id,
            "reminders": changed["reminders"],
            "status": "configured",
        }
