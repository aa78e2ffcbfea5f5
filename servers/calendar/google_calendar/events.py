"""Events and series: creating, changing and finding them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.calendar import _edit as edit
from servers.calendar import _mail as mail
from servers.calendar import _rules as rules
from servers.calendar._recurrence import Recurrence
from servers.calendar._rules import Guest, Guests, Query, Reminders, Text, Title, When, Where
from servers.calendar.google_calendar import _quick_add
from servers.calendar.google_calendar._model import (
    POPUP,
    WORDS,
    CalendarId,
    EventId,
    Transparency,
    event_json,
    in_a_year,
    made_json,
    primary,
    shown_time,
)
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.kit.zones import local, local_moment

AllDay = Annotated[
    bool,
    Field(
        description=(
            "All-day event: start_time and end_time are dates; end_time is the day after the last."
        )
    ),
]
Meet = Annotated[bool, Field(description="Add a Google Meet link.")]
Repeat = Annotated[
    Recurrence,
    Field(
        description=(
            "How the event repeats; start_time and end_time are those of the first occurrence."
        )
    ),
]
Stop = Annotated[
    bool, Field(description="true turns a series into a single event, its first occurrence.")
]
Line = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description="What, when and where, e.g. 'Lunch with Ana on Friday 12:30-13:30'.",
    ),
]
From = Annotated[When, Field(description="Only events that end after this; defaults to now.")]
Until = Annotated[
    When,
    Field(
        description=(
            "Only events that begin before this; at most, and by default, a year after time_min."
        )
    ),
]
COFFEE = Setup(
    "create_event",
    {
        "calendar_id": primary(),
        "title": "Coffee with Priya",
        "start_time": "2026-03-22T10:00:00-07:00",
        "end_time": "2026-03-22T11:00:00-07:00",
        "location": "Hazel & Oat Coffee, Hawthorne",
        "attendees": [{"email": "priya.nair@gmail.com"}],
    },
    "made",
)


def _people(attendees: list[Guest]) -> list[tuple[str, str | None]]:
    return [(a["email"], a.get("name")) for a in attendees]


class Events(Service):
    """Events in all visible calendars."""

    @writes(example=COFFEE.args)
    def create_event(
        self,
        calendar_id: CalendarId,
        title: Title,
        start_time: When,
        end_time: When,
        description: Text | None = None,
        location: Where | None = None,
        attendees: Guests | None = None,
        reminders: Reminders | None = None,
        recurrence: Repeat | None = None,
        all_day: AllDay = False,
        generate_meet_link: Meet = False,
        transparency: Transparency = "opaque",
    ) -> Json:
        """Create an event or a series and invite its attendees.

        Returns the event with `conflicts`: what else takes up that time.
        """
        calendar = rules.calendar(self, WORDS, calendar_id, "writer")
        start, end = edit.span(self, WORDS, start_time, end_time, all_day)
        event = edit.new(
            self,
            WORDS,
            calendar,
            title=title,
            start_at=start,
            end_at=end,
            all_day=all_day,
            description=description,
            location=location,
            attendees=edit.invite(self, _people(attendees or [])),
            reminders=POPUP if reminders is None else reminders,
            recurrence=recurrence,
            online=generate_meet_link,
            show_as="free" if transparency == "transparent" else "busy",
        )
        return made_json(self, event)

    @writes(
        example={"calendar_id": primary(), "text": "Lunch with Ana at Afuri on Friday 12:30-13:30"}
    )
    def quick_add_event(self, calendar_id: CalendarId, text: Line) -> Json:
        """Create an event from one line of text that names a day, a time, or both.

        It understands dates (2026-03-20, 20 March, 3/20), spans of days (April 6-9), weekdays,
        tomorrow, 'on the 20th', 'for 2 hours', 'every Tuesday' and 'at <place>'. Without am or pm,
        1 to 6 are in the afternoon, and so are later hours of a dinner or an evening; write 03:00
        for the early morning. Without a length the event lasts an hour; without a time it lasts
        all day. Returns the event as it was understood.
        """
        calendar = rules.calendar(self, WORDS, calendar_id, "writer")
        zone = rules.zone(self, WORDS)
        try:
            line = _quick_add.read(text, local(self.now, zone))
        except ValueError as wrong:
            self.fail(
                "CANNOT_PARSE_TEXT",
                f"The text could not be understood: {wrong}.",
                "Write e.g. 'Dentist on 2026-03-24 10:15 for 45 minutes', or use create_event.",
                text=text,
            )
        if line.clock is None:
            next_day = line.last + timedelta(days=1)
            start, end = edit.span(self, WORDS, line.day.isoformat(), next_day.isoformat(), True)
        else:
            begin = local_moment(line.day, line.clock, zone)
            start, end = edit.check_span(self, WORDS, begin, begin + line.minutes * 60, False)
        event = edit.new(
            self,
            WORDS,
            calendar,
            title=line.title,
            location=line.location,
            reminders=POPUP,
            start_at=start,
            end_at=end,
            all_day=line.clock is None,
            recurrence=line.rule,
        )
        return made_json(self, event)

    @writes(
        example={"event_id": "${made.event_id}", "start_time": "2026-03-22T11:00:00-07:00"},
        setup=(COFFEE,),
        idempotent=True,
    )
    def update_event(
        self,
        event_id: EventId,
        title: Title | None = None,
        start_time: When | None = None,
        end_time: When | None = None,
        description: Text | None = None,
        location: Where | None = None,
        attendees: Guests | None = None,
        reminders: Reminders | None = None,
        recurrence: Repeat | None = None,
        all_day: AllDay | None = None,
        transparency: Transparency | None = None,
        remove_recurrence: Stop = False,
    ) -> Json:
        """Change an event that you organize: a single one, a series, or one occurrence alone.

        Fields that are left out stay as they are. A new start_time without end_time keeps the
        length. `attendees` replaces the list. New times ask all attendees again; for a series they
        also undo changes made to single occurrences.
        """
        row = rules.own(self, WORDS, event_id)
        changes: dict[str, Any] = {
            "title": title,
            "description": description,
            "location": location,
            "reminders": reminders,
            "all_day": all_day,
            "recurrence": recurrence,
        }
        if transparency is not None:
            changes["show_as"] = "free" if transparency == "transparent" else "busy"
        if attendees is not None:
            changes["attendees"] = edit.invite(self, _people(attendees), row["attendees"])
        changes = {k: v for k, v in changes.items() if v is not None}
        whole = row["all_day"] if all_day is None else all_day
        if start_time is not None or end_time is not None or whole != row["all_day"]:
            changes["start_at"], changes["end_at"] = edit.retimed(
                self, WORDS, row, start_time, end_time, whole
            )
        if remove_recurrence and recurrence is None:
            changes["recurrence"] = None
        if row["series_id"] is not None and recurrence is not None:
            self.fail(
                "INVALID_RECURRENCE",
                "A single occurrence of a series cannot repeat.",
                f"Change the series {row['series_id']} instead, or omit recurrence.",
                event_id=event_id,
            )
        after = row | changes
        if after["recurrence"] is not None and {"recurrence", "start_at"} & set(changes):
            changes["start_at"], changes["end_at"] = edit.align(self, WORDS, after)
        return made_json(self, edit.change(self, WORDS, row, **changes))

    @writes(example={"event_id": "${made.event_id}"}, setup=(COFFEE,), destructive=True)
    def delete_event(self, event_id: EventId) -> Json:
        """Cancel an event, a whole series, or one occurrence alone; attendees are notified.

        If someone else organizes the event, it is only removed from your own calendar and counts as
        declined.
        """
        row = rules.live(self, WORDS, event_id)
        rules.calendar(self, WORDS, row["calendar_id"], "writer")
        edit.cancel(self, WORDS, row)
        return {"event_id": event_id, "status": "cancelled"}

    @writes(
        example={"event_id": "${made.event_id}", "new_calendar_id": seeded("gcl", "home")},
        setup=(COFFEE,),
    )
    def move_event(self, event_id: EventId, new_calendar_id: CalendarId) -> Json:
        """Move an event or a whole series that you organize to another calendar.

        You need to be able to write to both calendars.
        """
        row = rules.own(self, WORDS, event_id)
        target = rules.calendar(self, WORDS, new_calendar_id, "writer")
        if row["series_id"] is not None:
            self.fail(
                "CANNOT_MOVE_INSTANCE",
                "A single occurrence of a series cannot be moved.",
                f"Move the series {row['series_id']} instead.",
                event_id=event_id,
            )
        if target["id"] == row["calendar_id"]:
            self.fail(
                "ALREADY_IN_CALENDAR",
                f"The event is already in '{target['name']}'.",
                "Choose another calendar from list_calendars.",
                calendar_id=target["id"],
            )
        for part in (row, *self.db.rows("google_calendar_events", "series_id=?", row["id"])):
            guests = [a for a in part["attendees"] if a["email"] != target["owner"]]
            self.db.update(
                "google_calendar_events",
                part["id"],
                attendees=guests,
                updated_at=self.time,
                calendar_id=target["id"],
                organizer=target["owner"],
                people=edit.people_text(guests),
            )
        return {"event_id": event_id, "calendar_id": target["id"], "status": "moved"}

    @reads(example={"event_id": seeded("gev", "yoga")})
    def get_event(self, event_id: EventId) -> Json:
        """Return one event, series or occurrence with its attendees and their answers.

        It includes reminders, recurrence, meet_link and `conflicts`, which lists what else takes up
        its time. A cancelled event has the status cancelled and no `conflicts`.
        """
        row = rules.find(self, WORDS, event_id)
        return event_json(self, row) if row["cancelled_at"] else made_json(self, row)

    @reads(example={"time_min": "2026-03-16", "time_max": "2026-03-23"})
    def list_events(
        self,
        calendar_id: CalendarId | None = None,
        time_min: From | None = None,
        time_max: Until | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return single events and occurrences of series, by start.

        They come from one calendar or from all that you can see. Cancelled events are left out.
        """
        first, last = rules.bounds(self, WORDS, time_min, time_max, in_a_year)
        ids = None if calendar_id is None else [rules.calendar(self, WORDS, calendar_id)["id"]]
        rows = rules.occurrences(self, WORDS, first, last, ids)
        return page(rows, "events", max_results, cursor, lambda r: event_json(self, r))

    @reads(example={"query": "yoga"})
    def search_events(
        self,
        query: Query,
        calendar_id: CalendarId | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return past and future events that contain every word, best match first.

        Titles, notes, places and attendees are searched. A series appears once, with its recurrence
        and `next_start_time`; occurrences that were changed alone appear as well. Put phrases in
        "quotes".
        """
        rows = rules.matching(self, WORDS, query, calendar_id)
        return page(rows, "events", max_results, cursor, self._hit_json)

    def when_due(self, post: Row) -> Json | None:
        """Return what an answer or a reminder says by then; see `Service.when_due`."""
        return mail.when_due(self, WORDS, post)

    def _hit_json(self, row: Row) -> Json:
        shown = event_json(self, row)
        if row["recurrence"]:
            start = rules.next_start(self, WORDS, row)
            shown["next_start_time"] = start and shown_time(self, row | {"next": start}, "next")
        return shown
