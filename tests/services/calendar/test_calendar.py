"""How the two calendars differ, and the rules about times and permissions that they share."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import names, shared
from servers.calendar._recurrence import starts
from servers.calendar.google_calendar._quick_add import read
from servers.kit.session import Session
from tests.services.calendar.support import google, made, outlook
from tests.support import at, call_refused, new_session

pytestmark = pytest.mark.anyio
PORTLAND = ZoneInfo("America/Los_Angeles")


@pytest.fixture
def session() -> Session:
    return new_session("google_calendar", "outlook_calendar")


async def occurrences(session: Session, series: str, first: str, last: str) -> list[dict[str, Any]]:
    listed = await google(session, "list_events", time_min=first, time_max=last, max_results=100)
    return [e for e in listed["events"] if e["recurring_event_id"] == series]


# -- the worlds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", names())
def test_both_calendars_of_every_person_are_full_and_moved_events_left_a_copy(
    person: str,
) -> None:
    world = shared(person)
    for service in ("google_calendar", "outlook_calendar"):
        events = world.rows(f"{service}_events")
        assert len(events) >= 120
        assert len([e for e in events if e["recurrence"] is not None]) >= 8
        assert len([e for e in events if e["cancelled_at"] is not None]) >= 10
    copies = world.rows("outlook_calendar_events", "title LIKE '%(copied)'")
    assert len(copies) >= 3


async def test_the_dentist_is_in_both_calendars_and_one_copy_is_stale(
    session: Session,
) -> None:
    own = await google(session, "get_event", event_id=at("gev", "dentist"))
    copy = await outlook(session, "get_event_details", event_id=at("oev", "dentist_copy"))
    assert own["start_time"] == "2026-03-24T17:15:00Z" and copy["start"] == "2026-03-17T16:30:00Z"


# -- recurrence ------------------------------------------------------------------------------------


def in_portland(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=PORTLAND).timestamp())


def local_starts(
    rule: dict[str, Any], first: str, last: str, *, after: str | None = None
) -> list[str]:
    begin = in_portland(first)
    times = starts(rule, begin, PORTLAND, in_portland(after or first), in_portland(last))
    return [datetime.fromtimestamp(s, PORTLAND).strftime("%m-%d %H:%M") for s in times]


@pytest.mark.parametrize(
    ("rule", "first", "last", "days"),
    [
        (
            {"freq": "daily", "interval": 3},
            "2026-03-06T09:00",
            "2026-03-14",
            ["03-06 09:00", "03-09 09:00", "03-12 09:00"],
        ),
        (
            {"freq": "weekly", "by_day": ["MO", "FR"]},
            "2026-03-06T09:00",
            "2026-03-14",
            ["03-06 09:00", "03-09 09:00", "03-13 09:00"],
        ),
        (
            {"freq": "weekly", "interval": 2},
            "2026-03-03T18:30",
            "2026-04-01",
            ["03-03 18:30", "03-17 18:30", "03-31 18:30"],
        ),
        (
            {"freq": "monthly"},
            "2026-01-31T08:00",
            "2026-06-01",
            ["01-31 08:00", "03-31 08:00", "05-31 08:00"],
        ),
        (
            {"freq": "monthly", "by_day": ["2TU"]},
            "2026-01-13T10:00",
            "2026-04-01",
            ["01-13 10:00", "02-10 10:00", "03-10 10:00"],
        ),
        (
            {"freq": "monthly", "by_day": ["-1FR"]},
            "2026-01-30T15:00",
            "2026-04-01",
            ["01-30 15:00", "02-27 15:00", "03-27 15:00"],
        ),
        (
            {"freq": "yearly"},
            "2024-02-29T12:00",
            "2033-01-01",
            ["02-29 12:00", "02-29 12:00", "02-29 12:00"],
        ),
        (
            {"freq": "weekly", "count": 2},
            "2026-03-03T18:30",
            "2026-12-01",
            ["03-03 18:30", "03-10 18:30"],
        ),
        (
            {"freq": "daily", "until": "2026-03-04"},
            "2026-03-03T18:30",
            "2026-12-01",
            ["03-03 18:30", "03-04 18:30"],
        ),
    ],
)
def test_rules_give_these_days(
    rule: dict[str, Any], first: str, last: str, days: list[str]
) -> None:
    assert local_starts(rule, first, last) == days


def test_a_late_window_sees_the_same_days_as_a_walk_from_the_beginning() -> None:
    for rule in (
        {"freq": "daily", "interval": 5},
        {"freq": "weekly", "interval": 3, "by_day": ["TU", "SU"]},
        {"freq": "monthly", "interval": 5},
    ):
        walk = local_starts(rule, "2021-01-05T09:00", "2026-07-01")
        late = local_starts(rule, "2021-01-05T09:00", "2026-07-01", after="2026-02-01T00:00")
        assert late and late == walk[-len(late) :]


async def test_a_series_keeps_its_local_time_when_the_clocks_change(session: Session) -> None:
    series = await made(
        session, "2026-03-01T09:00", "2026-03-01T10:00", recurrence={"freq": "weekly"}
    )
    shown = await occurrences(session, series["event_id"], "2026-02-28", "2026-03-16")
    assert [e["start_time"] for e in shown] == [
        "2026-03-01T17:00:00Z",
        "2026-03-08T16:00:00Z",
        "2026-03-15T16:00:00Z",
    ]


async def test_one_occurrence_can_be_changed_or_cancelled_alone(session: Session) -> None:
    reply = await made(
        session,
        "2026-03-16T07:00",
        "2026-03-16T07:30",
        recurrence={"freq": "daily", "count": 4},
    )
    series = reply["event_id"]
    first, second, third, _ = await occurrences(session, series, "2026-03-16", "2026-03-22")
    changed = await google(
        session,
        "update_event",
        event_id=second["event_id"],
        start_time="2026-03-17T08:00",
        title="Later",
    )
    assert changed["end_time"] == "2026-03-17T15:30:00Z"
    assert changed["original_start_time"] == second["start_time"]
    await google(session, "delete_event", event_id=third["event_id"])
    shown = await occurrences(session, series, "2026-03-16", "2026-03-22")
    assert [e["title"] for e in shown] == ["Test", "Later", "Test"]
    assert shown[0]["event_id"] == first["event_id"]
    assert (await google(session, "get_event", event_id=third["event_id"]))["status"] == "cancelled"
    again = await call_refused(
        session, "google_calendar", "update_event", event_id=third["event_id"], title="x"
    )
    assert again["code"] == "EVENT_CANCELLED"
    no = await call_refused(
        session, "google_calendar", "get_event", event_id=series + "_20260330T140000Z"
    )
    assert no["code"] == "EVENT_NOT_FOUND"


async def test_new_times_of_a_series_reset_its_occurrences(session: Session) -> None:
    reply = await made(
        session,
        "2026-03-16T07:00",
        "2026-03-16T07:30",
        recurrence={"freq": "daily", "count": 3},
    )
    series = reply["event_id"]
    part = (await occurrences(session, series, "2026-03-16", "2026-03-22"))[1]
    await google(session, "update_event", event_id=part["event_id"], title="Odd one")
    await google(
        session,
        "update_event",
        event_id=series,
        recurrence={"freq": "weekly", "by_day": ["TU"], "count": 2},
    )
    shown = await occurrences(session, series, "2026-03-16", "2026-04-20")
    assert [(e["title"], e["start_time"]) for e in shown] == [
        ("Test", "2026-03-17T14:00:00Z"),
        ("Test", "2026-03-24T14:00:00Z"),
    ]
    single = await google(session, "update_event", event_id=series, remove_recurrence=True)
    assert single["recurrence"] is None and single["start_time"] == "2026-03-17T14:00:00Z"


@pytest.mark.parametrize(
    "rule",
    [
        {"freq": "weekly", "count": 3, "until": "2026-06-01"},
        {"freq": "daily", "by_day": ["MO"]},
        {"freq": "weekly", "by_day": ["2MO"]},
        {"freq": "daily", "until": "2026-01-01"},
    ],
)
async def test_a_rule_that_contradicts_itself_is_refused(
    session: Session, rule: dict[str, Any]
) -> None:
    times = {"start_time": "2026-03-20T09:00", "end_time": "2026-03-20T10:00"}
    error = await call_refused(
        session,
        "google_calendar",
        "create_event",
        calendar_id="primary",
        title="x",
        recurrence=rule,
        **times,
    )
    assert error["code"] == "INVALID_RECURRENCE"


# -- times -----------------------------------------------------------------------------------------


async def test_all_day_events_have_dates_and_end_on_the_day_after(session: Session) -> None:
    days = await made(session, "2026-03-27", "2026-03-30", all_day=True)
    assert (days["start_time"], days["end_time"]) == ("2026-03-27", "2026-03-30")
    longer = await google(
        session, "update_event", event_id=days["event_id"], start_time="2026-03-28"
    )
    assert (longer["start_time"], longer["end_time"]) == ("2026-03-28", "2026-03-31"), (
        "a new start keeps the length"
    )
    hours = await call_refused(
        session, "google_calendar", "update_event", event_id=days["event_id"], all_day=False
    )
    assert hours["code"] == "INVALID_TIME_RANGE"
    timed = await google(
        session,
        "update_event",
        event_id=days["event_id"],
        all_day=False,
        start_time="2026-03-28T10:00",
        end_time="2026-03-28T11:00",
    )
    assert timed["start_time"] == "2026-03-28T17:00:00Z" and not timed["all_day"]
    nothing = {"start_time": "2026-03-27", "end_time": "2026-03-27", "all_day": True}
    empty = await call_refused(
        session, "google_calendar", "create_event", calendar_id="primary", title="x", **nothing
    )
    assert "exclusive" in empty["hint"]


async def test_an_end_before_the_start_is_refused_in_each_providers_words(session: Session) -> None:
    times = {
        "calendar_id": "primary",
        "title": "x",
        "start_time": "2026-03-20T10:00",
        "end_time": "2026-03-20T09:00",
    }
    error = await call_refused(session, "google_calendar", "create_event", **times)
    assert error["code"] == "INVALID_TIME_RANGE"
    error = await call_refused(session, "outlook_calendar", "schedule_event", **times)
    assert error["code"] == "ERROR_INVALID_TIME_INTERVAL"


async def test_an_overlap_is_shown_and_not_refused(session: Session) -> None:
    new = await made(session, "2026-03-20T20:30", "2026-03-20T21:30")
    assert at("gev", "basque") in [c["event_id"] for c in new["conflicts"]]
    free = await made(session, "2026-03-22T15:00", "2026-03-22T15:30")
    assert free["conflicts"] == []


@pytest.mark.parametrize(
    ("text", "title", "start", "minutes", "where"),
    [
        ("Lunch with Ana on Friday 12:30–13:30", "Lunch with Ana", "2026-03-20 12:30", 60, ""),
        ("Dentist tomorrow at 3pm for 45 minutes", "Dentist", "2026-03-15 15:00", 45, ""),
        (
            "Dinner at Tilikum Kitchen 2026-03-20 19:00",
            "Dinner",
            "2026-03-20 19:00",
            60,
            "Tilikum Kitchen",
        ),
        ("Call Tom March 17 2-3:30pm", "Call Tom", "2026-03-17 14:00", 90, ""),
        ("Tea on the 2nd of April at 16:00", "Tea", "2026-04-02 16:00", 60, ""),
        ("Vet 3/20 at 10:15", "Vet", "2026-03-20 10:15", 60, ""),
        ("Water the fern in 3 days at 18:00", "Water the fern", "2026-03-17 18:00", 60, ""),
        ("Walk today at 8", "Walk", "2026-03-14 08:00", 60, ""),
        ("Stretch at 8:30", "Stretch", "2026-03-15 08:30", 60, ""),
        ("Review next Monday noon", "Review", "2026-03-16 12:00", 60, ""),
    ],
)
def test_quick_add_understands_days_and_hours(
    text: str, title: str, start: str, minutes: int, where: str
) -> None:
    line = read(text, datetime(2026, 3, 14, 9, 0))
    assert line.clock is not None
    assert (line.title, f"{line.day} {line.clock:%H:%M}") == (title, start)
    assert (line.minutes, line.location) == (minutes, where)


async def test_quick_add_makes_whole_days_and_series_and_refuses_what_it_cannot_read(
    session: Session,
) -> None:
    day = await google(session, "quick_add_event", calendar_id="primary", text="Taxes due April 15")
    assert day["all_day"] and day["start_time"] == "2026-04-15" and day["title"] == "Taxes due"
    weekly = await google(
        session, "quick_add_event", calendar_id="primary", text="Choir every Tuesday at 19:00"
    )
    assert weekly["recurrence"] == {"freq": "weekly", "by_day": ["TU"]}
    assert weekly["start_time"] == "2026-03-18T02:00:00Z"
    for text in ("Something, some time", "Party on 2026-02-30", "Friday 12:00"):
        error = await call_refused(
            session, "google_calendar", "quick_add_event", calendar_id="primary", text=text
        )
        assert error["code"] == "CANNOT_PARSE_TEXT"


# -- permissions -----------------------------------------------------------------------------------


async def test_a_calendar_shared_for_reading_cannot_be_written(session: Session) -> None:
    times = {"title": "x", "start_time": "2026-03-20T09:00", "end_time": "2026-03-20T10:00"}
    error = await call_refused(
        session, "google_calendar", "create_event", calendar_id=at("gcl", "ana"), **times
    )
    assert error["code"] == "INSUFFICIENT_PERMISSIONS" and error["role"] == "reader"
    error = await call_refused(
        session, "google_calendar", "update_event", event_id=at("gev", "ana_away"), title="x"
    )
    assert error["code"] == "INSUFFICIENT_PERMISSIONS"
    error = await call_refused(
        session, "google_calendar", "get_calendar_acl", calendar_id=at("gcl", "climbing")
    )
    assert error["role"] == "writer"
    theirs = await google(session, "create_event", calendar_id=at("gcl", "climbing"), **times)
    assert theirs["organizer"] == {"email": "ben.asher@gmail.com", "self": False}
    closed = await call_refused(
        session, "outlook_calendar", "cancel_event", event_id=at("oev", "closed_july")
    )
    assert closed["code"] == "ERROR_ACCESS_DENIED"


async def test_only_the_organizer_changes_an_invitation_and_google_lets_one_drop_it(
    session: Session,
) -> None:
    error = await call_refused(
        session, "google_calendar", "update_event", event_id=at("gev", "house_meeting"), title="x"
    )
    assert error["code"] == "NOT_ORGANIZER" and "rsvp_event" in error["hint"]
    await google(session, "set_event_reminder", event_id=at("gev", "house_meeting"), reminders=[])
    await google(session, "delete_event", event_id=at("gev", "house_meeting"))
    theirs = await call_refused(
        session, "outlook_calendar", "cancel_event", event_id=at("oev", "expenses_call")
    )
    assert theirs["code"] == "NOT_ORGANIZER" and "respond_to_event" in theirs["hint"]
    mine = await call_refused(
        session, "google_calendar", "rsvp_event", event_id=at("gev", "dentist"), response="accepted"
    )
    assert mine["code"] == "NOT_INVITED"


async def test_sharing_replaces_a_role_and_can_be_revoked(session: Session) -> None:
    home = at("gcl", "home")
    await google(
        session, "share_calendar", calendar_id=home, email="Jordan.Park@gmail.com", role="writer"
    )
    reply = await google(session, "get_calendar_acl", calendar_id=home)
    acl = {r["email"]: r["role"] for r in reply["acl"]}
    assert acl == {
        "maya.lindqvist@gmail.com": "owner",
        "ana.reyes@gmail.com": "writer",
        "jordan.park@gmail.com": "writer",
    }
    await google(session, "unshare_calendar", calendar_id=home, email="jordan.park@gmail.com")
    gone = await call_refused(
        session,
        "google_calendar",
        "unshare_calendar",
        calendar_id=home,
        email="jordan.park@gmail.com",
    )
    assert gone["code"] == "ACL_RULE_NOT_FOUND"
    error = await call_refused(session, "google_calendar", "delete_calendar", calendar_id="primary")
    assert error["code"] == "CANNOT_DELETE_PRIMARY"


async def test_deleting_a_calendar_deletes_its_events(session: Session) -> None:
    await google(session, "delete_calendar", calendar_id=at("gcl", "studio"))
    error = await call_refused(
        session, "google_calendar", "get_event", event_id=at("gev", "spring_market")
    )
    assert error["code"] == "EVENT_NOT_FOUND"


async def test_a_moved_event_is_organised_from_its_new_calendar(session: Session) -> None:
    event = await made(session, "2026-03-22T10:00", "2026-03-22T11:00")
    await google(
        session, "move_event", event_id=event["event_id"], new_calendar_id=at("gcl", "climbing")
    )
    shown = await google(session, "get_event", event_id=event["event_id"])
    assert shown["calendar_id"] == at("gcl", "climbing")
    assert shown["organizer"]["email"] == "ben.asher@gmail.com"
    reply = await google(
        session,
        "list_events",
        calendar_id="primary",
        time_min="2026-03-17",
        time_max="2026-03-18",
    )
    part = reply["events"][0]
    assert part["recurring_event_id"] == at("gev", "yoga")
    error = await call_refused(
        session,
        "google_calendar",
        "move_event",
        event_id=part["event_id"],
        new_calendar_id=at("gcl", "home"),
    )
    assert error["code"] == "CANNOT_MOVE_INSTANCE"
