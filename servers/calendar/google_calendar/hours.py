"""Working hours, out of office, free and busy time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.calendar._rules import When
from servers.calendar.google_calendar._model import (
    WORDS,
    Absence,
    CalendarId,
    Clock,
    absence,
    my_response,
)
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Date, iso, parse_time
from servers.kit.zones import epoch, local_day

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Weekdays = Annotated[
    list[Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]],
    Field(min_length=1, max_length=7, description="Weekdays on which you work."),
]
Message = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="Message to people whose invitations are declined.",
    ),
]
Which = Annotated[
    list[CalendarId],
    Field(
        min_length=1,
        max_length=20,
        description="Calendars to check; defaults to your own.",
    ),
]
AWAY = Setup(
    "set_out_of_office",
    {
        "start_date": "2026-03-27",
        "end_date": "2026-03-29",
        "decline_message": "At the cabin, no signal.",
    },
)


class Hours(Service):
    """When the account works, is away, and is busy."""

    @writes(
        example={
            "days_of_week": ["monday", "wednesday"],
            "start_time": "18:00",
            "end_time": "21:00",
        },
        idempotent=True,
    )
    def set_working_hours(self, days_of_week: Weekdays, start_time: Clock, end_time: Clock) -> Json:
        """Set the days and local hours when you work, replacing the previous ones."""
        if end_time <= start_time:
            self.fail(
                "INVALID_TIME_RANGE",
                f"The hours would end at {end_time}, not after {start_time}.",
                "Give a later end_time.",
            )
        row = {
            "days": [d for d in WEEK if d in days_of_week],
            "start_time": start_time,
            "end_time": end_time,
        }
        if not self.db.rows("google_calendar_hours"):
            self.db.insert("google_calendar_hours", {"id": "me"} | row)
        elif self.get_working_hours() != _hours_json(row):
            self.db.update("google_calendar_hours", "me", **row)
        return _hours_json(row)

    @reads()
    def get_working_hours(self) -> Json:
        """Return days_of_week with local start_time and end_time (HH:MM), or an empty object."""
        rows = self.db.rows("google_calendar_hours")
        return _hours_json(rows[0]) if rows else {}

    @writes(example=AWAY.args, idempotent=True)
    def set_out_of_office(
        self, start_date: Date, end_date: Date, decline_message: Message | None = None
    ) -> Json:
        """Set an out-of-office period, both days included, replacing any previous one.

        Unanswered invitations in that period count as declined (their IDs are in declined_events),
        open slots are blocked, and the time is busy.
        """
        if end_date < start_date:
            self.fail(
                "INVALID_TIME_RANGE",
                f"The absence would end on {end_date}, before {start_date}.",
                "Give a later end_date.",
            )
        where = rules.zone(self, WORDS)
        if end_date < local_day(self.now, where).isoformat():
            self.fail(
                "INVALID_TIME_RANGE",
                f"{end_date} is in the past.",
                "Give an end_date of today or later.",
            )
        first = epoch(start_date, where)
        rules.window(self, WORDS, first, epoch(end_date, where) + 1)
        row = {"start_date": start_date, "end_date": end_date, "decline_message": decline_message}
        if self.db.rows("google_calendar_absence"):
            self.db.update("google_calendar_absence", "me", **row)
        else:
            self.db.insert("google_calendar_absence", {"id": "me"} | row)
        return self._absence()

    @writes(setup=(AWAY,))
    def clear_out_of_office(self) -> Json:
        """Remove the out-of-office period.

        Invitations that were declined only because of it are unanswered again.
        """
        if not self.db.rows("google_calendar_absence"):
            self.fail(
                "OUT_OF_OFFICE_NOT_SET",
                "Out of office is not set.",
                "get_out_of_office shows the current setting.",
            )
        self.db.delete("google_calendar_absence", "me")
        return {"enabled": False, "status": "cleared"}

    @reads()
    def get_out_of_office(self) -> Json:
        """Return the out-of-office period, or an empty object if none is set.

        Fields: start_date, end_date, decline_message, enabled (false once it is over),
        declined_events.
        """
        return self._absence() if self.db.rows("google_calendar_absence") else {}

    def _absence(self) -> dict[str, Any]:
        row = self.db.rows("google_calendar_absence")[0]
        away = absence(self) or Absence(0, 0)
        declined = []
        for event in rules.occurrences(self, WORDS, *away):
            answer = _busy.my_answer(self, WORDS, event)
            if answer == "needsAction" and my_response(self, event) == "declined":
                declined.append(event["id"])
        shown = {k: row[k] for k in ("start_date", "end_date", "decline_message")}
        return shown | {"enabled": self.now < away.end, "declined_events": declined}

    @reads(example={"time_min": "2026-03-16", "time_max": "2026-03-21"})
    def get_free_busy(
        self, time_min: When, time_max: When, calendar_ids: Which | None = None
    ) -> Json:
        """Return when you are busy, for all your calendars together and for each one.

        It does not show what you are busy with. Events that are transparent or declined leave you
        free; an out-of-office period is busy on your primary calendar. Spans are cut to the
        requested times.
        """
        where = rules.zone(self, WORDS)
        first, last = rules.window(self, WORDS, epoch(time_min, where), epoch(time_max, where))
        if calendar_ids is None:
            ids = rules.own_ids(self, WORDS)
        else:
            ids = [rules.calendar(self, WORDS, c)["id"] for c in calendar_ids]
        busy: dict[str, list[tuple[int, int]]] = {i: [] for i in ids}
        for row in _busy.busy(self, WORDS, first, last, ids):
            if my_response(self, row) != "declined":
                span = (parse_time(row["start_at"]), parse_time(row["end_at"]))
                busy[row["calendar_id"]].append(span)
        away = absence(self)
        home = rules.calendar(self, WORDS, "primary")["id"]
        if away is not None and home in busy:
            busy[home].append(away)
        calendars = []
        for calendar_id, spans in busy.items():
            calendars.append({"calendar_id": calendar_id, "busy": _joined(spans, first, last)})
        return {
            "time_min": iso(first),
            "time_max": iso(last),
            "busy": _joined(chain.from_iterable(busy.values()), first, last),
            "calendars": calendars,
        }


def _hours_json(row: Row) -> Json:
    return {
        "days_of_week": row["days"],
        "start_time": row["start_time"],
        "end_time": row["end_time"],
    }


def _joined(spans: Iterable[tuple[int, int]], first: int, last: int) -> list[dict[str, str]]:
    """Return spans as agents see them, joined where they touch and cut to the requested time."""
    touching = [span for span in spans if rules.overlap(*span, first, last)]
    cut = [(max(start, first), min(end, last)) for start, end in touching]
    return [{"start": iso(start), "end": iso(end)} for start, end in _busy.merged(cut)]
