"""Free and busy time, of oneself and of colleagues, and times that suit everybody."""

from __future__ import annotations

from datetime import time
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.calendar.outlook_calendar._model import WORDS, End, Start, status_of, stretch
from servers.calendar.outlook_calendar.calendars import DAYS
from servers.kit.fields import Email
from servers.kit.service import Service, reads
from servers.kit.values import iso, parse_time
from servers.kit.zones import local

Colleague = Annotated[
    Email,
    Field(
        description="Address of a colleague whose calendar to look into instead; titles stay hidden."
    ),
]
Addresses = Annotated[
    list[Email],
    Field(
        min_length=1, max_length=20, description="Addresses of those who should come, besides you."
    ),
]
Minutes = Annotated[int, Field(ge=15, le=480, description="Length of the meeting in minutes.")]
STEP = 30 * 60
GRADES = ("good", "fair", "poor")
Spans = list[tuple[int, int, str]]


class Schedule(Service):
    """Who is free when."""

    @reads(example={"start_date": "2026-03-16", "end_date": "2026-03-17"})
    def get_schedule(
        self, start_date: Start, end_date: End, email: Colleague | None = None
    ) -> dict[str, Any]:
        """Return what fills a span of up to 62 days: event_id, start, end, title, and status busy, tentative or oof.

        A last day given as a date is included. Free and declined events are left out.
        """
        first, last = stretch(self, start_date, end_date, 62 * rules.DAY)
        if email is not None and not rules.is_me(self, WORDS, email.lower()):
            if self.db.get("calendar_people", email.lower()) is None:
                hint = "Only calendars of people whose organisation shares free/busy times can be read."
                self.fail(
                    "ERROR_MAILBOX_NOT_FOUND",
                    f"No calendar of {email} can be looked into.",
                    hint,
                    email=email,
                )
            spans = _busy.engaged(self, WORDS, email.lower(), first, last)
            shown = [
                {"event_id": None, "start": iso(a), "end": iso(b), "title": None, "status": status}
                for a, b, status in spans
            ]
            return {"email": email.lower(), "schedule": shown}
        mine = [
            {
                "event_id": row["id"],
                "start": row["start_at"],
                "end": row["end_at"],
                "title": row["title"],
                "status": status_of(self, row),
            }
            for row in _busy.busy(self, WORDS, first, last)
        ]
        return {"email": rules.me(self, WORDS)["email"], "schedule": mine}

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
    ) -> dict[str, Any]:
        """Suggest up to ten times within 31 days when you are free, the best first: start, end, confidence, busy_attendees.

        good: all are free, in everyone's working hours; fair: someone is tentative, unknown or out of hours; poor: someone is busy.
        """
        first, last = stretch(self, time_min, time_max, 31 * rules.DAY)
        length = duration_minutes * 60
        people = sorted({e.lower() for e in attendee_emails})
        known = {
            e: self.db.get("calendar_people", e) for e in people if not rules.is_me(self, WORDS, e)
        }
        taken = {e: _busy.engaged(self, WORDS, e, first, last) for e in known}
        mine = [
            (parse_time(r["start_at"]), parse_time(r["end_at"]), status_of(self, r))
            for r in _busy.busy(self, WORDS, first, last)
        ]
        begin = max(first, self.now)
        graded: list[tuple[int, int, list[str]]] = []
        for start in range(begin + -begin % STEP, last - length + 1, STEP):
            if _status(mine, start, start + length) not in ("busy", "oof") and self._daytime(
                start, start + length
            ):
                busy = [
                    e for e in taken if _status(taken[e], start, start + length) in ("busy", "oof")
                ]
                clear = not any(
                    _status(spans, start, start + length) for spans in (mine, *taken.values())
                )
                best = clear and self._suits(start, start + length, known)
                graded.append((2 if busy else (0 if best else 1), start, busy))
        chosen: list[tuple[int, int, list[str]]] = []
        for grade, start, busy in sorted(graded):
            if len(chosen) < 10 and all(abs(start - other) >= length for _, other, _ in chosen):
                chosen.append((grade, start, busy))
        unknown = [e for e, person in known.items() if person is None]
        found = [
            {
                "start": iso(start),
                "end": iso(start + length),
                "confidence": GRADES[grade],
                "busy_attendees": busy,
            }
            for grade, start, busy in chosen
        ]
        return {
            "duration_minutes": duration_minutes,
            "suggestions": found,
            "unknown_attendees": unknown,
        }

    def _daytime(self, start: int, end: int) -> bool:
        return _busy.within(start, end, rules.zone(self, WORDS), time(7), time(20), range(7))

    def _suits(self, start: int, end: int, people: dict[str, dict[str, Any] | None]) -> bool:
        """Return whether a span lies in everybody's working hours, as far as all of them are known."""
        for row in self.db.rows("outlook_calendar_hours"):
            days = [DAYS.index(d) for d in row["days"]]
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


def _status(spans: Spans, start: int, end: int) -> str:
    """Return the strongest status of what touches a span, empty where nothing does."""
    found = {s for a, b, s in spans if a < end and b > start}
    return next((s for s in ("oof", "busy", "tentative") if s in found), "")
