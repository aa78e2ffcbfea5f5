"""What Google Calendar and Outlook mail about events, and when."""

from __future__ import annotations

from typing import Any

import pytest

from servers.calendar.google_calendar.events import COFFEE
from servers.calendar.outlook_calendar.events import REVIEW
from servers.kit.session import Session
from servers.kit.types import Row
from tests.support import at, call_ok, new_session

pytestmark = pytest.mark.anyio

DAY = 86_400
LUCAS = "lucas.weber@fernhill.design"
PRIYA = "priya.nair@gmail.com"


def letters(session: Session, template: str, about: str) -> list[Row]:
    """Return the letters of a kind about an event that have arrived, oldest first."""
    where = "about=? AND template=? AND delivered_at IS NOT NULL"
    return session.world.rows("outbox", where, about, template, order="delivered_at, rowid")


async def review(session: Session, **more: Any) -> str:
    args = REVIEW.args | more
    made = await call_ok(session, "outlook_calendar", "schedule_event", **args)
    return made["event_id"]


async def answers(session: Session, event_id: str) -> dict[str, str]:
    shown = await call_ok(session, "outlook_calendar", "get_event_details", event_id=event_id)
    return {guest["email"]: guest["response"] for guest in shown["attendees"]}


async def test_what_an_invitee_answers_is_in_the_mail_when_the_event_shows_it() -> None:
    session = new_session("outlook_calendar", "outlook", "clock")
    guests = [{"email": a} for a in (LUCAS, "mei.chen@fernhill.design", "nobody@elsewhere.org")]
    event_id = await review(session, attendees=guests)
    session.pass_time(1)
    assert len(letters(session, "invitation", event_id)) == 3
    for _ in range(12):
        session.pass_time(DAY // 4)
        given = {a: r for a, r in (await answers(session, event_id)).items() if r in SAID}
        told = letters(session, "answered", event_id)
        assert {row["data"]["by"] for row in told} == set(given)
    assert given


SAID = ("accepted", "declined", "tentative")


async def test_an_answer_to_an_earlier_time_is_not_mailed() -> None:
    session = new_session("outlook_calendar", "outlook", "clock")
    event_id = await review(session)
    later = {"start_time": "2026-03-25T15:00:00-07:00"}
    await call_ok(session, "outlook_calendar", "modify_event", event_id=event_id, **later)
    session.pass_time(3 * DAY)
    (update,) = letters(session, "updated", event_id)
    assert update["data"]["was"].startswith("Tuesday, March 24, 3:00 PM to 4:00 PM")
    assert update["data"]["when"].startswith("Wednesday, March 25, 3:00 PM to 4:00 PM")
    assert len(letters(session, "answered", event_id)) == 1


async def test_nobody_answers_a_meeting_that_was_cancelled() -> None:
    session = new_session("outlook_calendar", "outlook", "clock")
    event_id = await review(session)
    await call_ok(session, "outlook_calendar", "cancel_event", event_id=event_id)
    session.pass_time(3 * DAY)
    assert [row["recipient"] for row in letters(session, "cancelled", event_id)] == [LUCAS]
    assert letters(session, "answered", event_id) == []


async def test_an_answer_goes_to_the_organizer_alone() -> None:
    session = new_session("google_calendar", "gmail")
    meeting = at("gev", "house_meeting")
    await call_ok(session, "google_calendar", "rsvp_event", event_id=meeting, response="tentative")
    (sent,) = session.world.rows("outbox", "about=?", meeting)
    shown = await call_ok(session, "google_calendar", "get_event", event_id=meeting)
    assert sent["recipient"] == shown["organizer"]["email"]
    assert sent["data"]["answer"] == "Tentative"


async def test_notes_of_ones_own_are_no_news_for_guests() -> None:
    session = new_session("google_calendar", "gmail")
    made = await call_ok(session, "google_calendar", "create_event", **COFFEE.args)
    mine = {"event_id": made["event_id"], "transparency": "transparent"}
    await call_ok(session, "google_calendar", "update_event", **mine)
    sent = session.world.rows("outbox", "about=? AND template<>'answered'", made["event_id"])
    assert [(row["template"], row["recipient"]) for row in sent] == [("invitation", PRIYA)]


async def test_reminders_by_mail_come_before_the_event_wherever_it_moves() -> None:
    session = new_session("google_calendar", "gmail", "clock")
    made = await call_ok(session, "google_calendar", "create_event", **COFFEE.args)
    event = {"event_id": made["event_id"]}
    day_before = [{"method": "email", "minutes_before": 1440}]
    for minutes in (day_before, [], day_before):
        await call_ok(session, "google_calendar", "set_event_reminder", **event, reminders=minutes)
    for hour in ("12", "10", "11"):
        start = {"start_time": f"2026-03-22T{hour}:00:00-07:00"}
        await call_ok(session, "google_calendar", "update_event", **event, **start)
    session.pass_time(10 * DAY)
    (reminder,) = letters(session, "reminder", made["event_id"])
    assert reminder["delivered_at"] == "2026-03-21T18:00:00Z"
    found = await call_ok(session, "gmail", "search_emails", query="subject:notification coffee")
    assert found["emails"][0]["subject"].startswith("Notification: Coffee with Priya @ Sunday")


async def test_a_series_is_told_in_words() -> None:
    session = new_session("google_calendar", "gmail")
    rule = {"freq": "weekly", "interval": 2, "by_day": ["SU"], "count": 6}
    args = COFFEE.args | {"recurrence": rule}
    made = await call_ok(session, "google_calendar", "create_event", **args)
    sent = session.world.rows("outbox", "about=?", made["event_id"])[0]
    assert sent["data"]["repeats"] == "every 2 weeks on Sunday, 6 times"
