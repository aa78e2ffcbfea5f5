"""Free and busy time of the account and of colleagues, and times that suit everyone."""

from __future__ import annotations

from datetime import time
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.calendar._busy import BusyTime
from servers.calendar._recurrence import DAY_NAMES
from servers.calendar.outlook_calendar._model import WORDS, End, Start, status_of, stretch
from servers.kit.fields import Email
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local

Colleague = Annotated[
    Email,
    Field(
        description=("Email of a colleague whose calendar to check instead; titles stay hidden.")
    ),
]
Addresses = Annotated[
    list[Email],
    Field(min_length=1, max_length=20, description="Email addresses of the other attendees."),
]
Minutes = Annotated[int, Field(ge=15, le=480, description="Length of the meeting in minutes.")]
STEP = 30 * 60
"""Seconds between two starts that are tried."""
GRADES = ("good", "fair", "poor")
MOST_SUGGESTIONS = 10


class Suggestion(NamedTuple):
    """A time to meet; in sorted order the best comes first, then the earliest."""

    grade: int
    """Index in `GRADES`."""
    start: int
    busy: list[str]
    """Addresses of those who are busy."""


class Schedule(Service):
    """Who is free when."""

    @reads(example={"start_date": "2026-03-16", "end_date": "2026-03-17"})
    def get_schedule(
        self, start_date: Start, end_date: End, email: Colleague | None = None
    ) -> Json:
        """Return what fills a span of up to 62 days, for you or for a colleague.

        Fields: event_id, start, end, title, and status (busy, tentative or oof). A last day given
        as a date is included. Free and declined events are left out.
        """
        first, last = stretch(self, start_date, end_date, 62 * rules.DAY)
        if email is not None and not rules.is_me(self, WORDS, email.lower()):
            if self.db.get("calendar_people", email.lower()) is None:
                self.fail(
                    "ERROR_MAILBOX_NOT_FOUND",
                    f"You cannot see the calendar of {email}.",
                    "Only people whose organization shares free/busy times can be read.",
                    email=email,
                )
            spans = _busy.engaged(self, WORDS, email.lower(), first, last)
            return {"email": email.lower(), "schedule": [_hidden_json(span) for span in spans]}
        mine = [self._event_json(row) for row in _busy.busy(self, WORDS, first, last)]
        return {"email": rules.me(self, WORDS)["email"], "schedule": mine}

    def _event_json(self, row: Row) -> Json:
        return {
            "event_id": row["id"],
            "start": row["start_at"],
            "end": row["end_at"],
            "title": row["title"],
            "status": status_of(self, row),
        }

    @reads(
        example={
            "attendee_emails": ["lucas.weber@fernhill.design", "mei.chen@fernhill.design"],
            "duration_minutes": 60,
            "time_min": "2026-03-23",
            "time_max": "2026-03-25",
        }
    )
    def find_meeting_times(
        self, attendee_emails: Addresses, duration_minutes: Minutes, time_min: Start, time_max: End
    ) -> Json:
        """Suggest up to ten times within 31 days when you are free, the best first.

        Fields: start, end, confidence, busy_attendees. Confidence is good if everyone is free and
        in working hours; fair if someone is tentative, unknown or outside working hours; poor if
        someone is busy.
        """
        first, last = stretch(self, time_min, time_max, 31 * rules.DAY)
        length = duration_minutes * 60
        emails = sorted({e.lower() for e in attendee_emails})
        others = [e for e in emails if not rules.is_me(self, WORDS, e)]
        people = {e: self.db.get("calendar_people", e) for e in others}
        taken = {e: _busy.engaged(self, WORDS, e, first, last) for e in others}
        mine = [
            BusyTime(parse_time(r["start_at"]), parse_time(r["end_at"]), status_of(self, r))
            for r in _busy.busy(self, WORDS, first, last)
        ]
        begin = max(first, self.now)
        begin += -begin % STEP
        suggestions = []
        for start in range(begin, last - length + 1, STEP):
            end = start + length
            my_status = _status(mine, start, end)
            if my_status in ("busy", "oof") or not self._daytime(start, end):
                continue
            statuses = {e: _status(taken[e], start, end) for e in others}
            busy = [e for e, status in statuses.items() if status in ("busy", "oof")]
            if busy:
                grade = 2
            elif my_status or any(statuses.values()) or not self._suits(start, end, people):
                grade = 1
            else:
                grade = 0
            suggestions.append(Suggestion(grade, start, busy))
        return {
            "duration_minutes": duration_minutes,
            "suggestions": [_suggestion_json(s, length) for s in _best(suggestions, length)],
            "unknown_attendees": [e for e, person in people.items() if person is None],
        }

    def _daytime(self, start: int, end: int) -> bool:
        return _busy.within(start, end, rules.zone(self, WORDS), time(7), time(20), range(7))

    def _suits(self, start: int, end: int, people: dict[str, Row | None]) -> bool:
        """Return whether a span lies in everyone's working hours; False if some are unknown."""
        for row in self.db.rows("outlook_calendar_hours"):
            days = [DAY_NAMES.index(d) for d in row["days"]]
            opens = time.fromisoformat(row["start_time"])
            shuts = time.fromisoformat(row["end_time"])
            if not _busy.within(start, end, ZoneInfo(row["timezone"]), opens, shuts, days):
                return False
        for person in people.values():
            if person is None:
                return False
            opens = time(person["works_from"])
            shuts = time(person["works_until"])
            if not _busy.within(start, end, ZoneInfo(person["timezone"]), opens, shuts):
                return False
        return local(start, rules.zone(self, WORDS)).weekday() < 5


def _status(times: list[BusyTime], start: int, end: int) -> str:
    """Return the strongest status of the times that touch a span, or an empty string."""
    statuses = {t.status for t in times if rules.overlap(t.start, t.end, start, end)}
    return next((s for s in ("oof", "busy", "tentative") if s in statuses), "")


def _best(suggestions: list[Suggestion], length: int) -> list[Suggestion]:
    """Return the best suggestions, none of which overlaps a better one."""
    chosen: list[Suggestion] = []
    for suggestion in sorted(suggestions):
        if all(abs(suggestion.start - better.start) >= length for better in chosen):
            chosen.append(suggestion)
        if len(chosen) == MOST_SUGGESTIONS:
            break
    return chosen


def _suggestion_json(suggestion: Suggestion, length: int) -> Json:
    return {
        "start": iso(suggestion.start),
        "end": iso(suggestion.start + length),
        "confidence": GRADES[suggestion.grade],
        "busy_attendees": suggestion.busy,
    }


def _hidden_json(span: BusyTime) -> Json:
    """Return a busy time of someone else, without its title."""
    return {
        "event_id": None,
        "start": iso(span.start),
        "end": iso(span.end),
        "title": None,
        "status": span.status,
    }
