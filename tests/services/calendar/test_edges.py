"""Edge cases of calendars: days of 23 and 25 hours, changed occurrences, new organizers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from scenarios.worlds.build import shared
from servers.calendar.google_calendar._quick_add import read
from servers.kit.control import make_id
from servers.kit.session import Session
from tests.services.calendar.support import DAY, google, outlook
from tests.support import assert_error, new_session

pytestmark = pytest.mark.anyio
LUCAS = "lucas.weber@fernhill.design"


@pytest.fixture
def session() -> Session:
    return new_session("google_calendar", "outlook_calendar")


@pytest.mark.parametrize(
    ("person", "key", "holidays"),
    [
        ("maya", "standup", ["2026-05-25", "2026-07-03"]),
        ("eleanor", "desk", ["2026-05-25", "2026-09-07"]),
        ("eleanor", "books", ["2025-11-27", "2025-12-25"]),
        ("rafael", "karla", ["2025-11-27", "2025-12-25", "2026-01-01"]),
    ],
)
def test_work_series_skip_holidays(person: str, key: str, holidays: list[str]) -> None:
    apart = shared(person).rows(
        "outlook_calendar_events", "series_id=?", make_id("oev", person, key)
    )
    gone = {row["original_at"][:10] for row in apart if row["cancelled_at"]}
    assert set(holidays) <= gone


async def weekly(session: Session, first: str, **more: Any) -> list[dict[str, Any]]:
    """Make a series on Google's calendar and return its first three occurrences."""
    start = f"{first}T09:00"
    end = f"{first}T10:00"
    rule = {"freq": "weekly", "count": 6}
    times = {"start_time": start, "end_time": end, "recurrence": rule}
    args = {"calendar_id": "primary", "title": "Sketching"} | times
    event = await google(session, "create_event", **args | more)
    shown = await google(session, "list_events", time_min=first, max_results=100)
    return [e for e in shown["events"] if e["recurring_event_id"] == event["event_id"]][:3]


async def test_an_all_day_series_stays_one_day_long_when_the_clocks_change(
    session: Session,
) -> None:
    rule = {"freq": "weekly", "by_day": ["SU"]}
    args = {
        "start_time": "2026-10-25",
        "end_time": "2026-10-26",
        "all_day": True,
        "recurrence": rule,
    }
    event = await google(session, "create_event", calendar_id="primary", title="Sunday off", **args)

    async def days(first: str, last: str) -> list[tuple[str, str]]:
        reply = await google(session, "list_events", time_min=first, time_max=last, max_results=100)
        events = [e for e in reply["events"] if e["recurring_event_id"] == event["event_id"]]
        return [(e["start_time"], e["end_time"]) for e in events]

    assert await days("2026-10-26", "2026-11-09") == [
        ("2026-11-01", "2026-11-02"),
        ("2026-11-08", "2026-11-09"),
    ]
    assert await days("2027-03-14", "2027-03-15") == [("2027-03-14", "2027-03-15")]
    assert await days("2027-03-15", "2027-03-16") == []


async def test_a_last_day_of_25_hours_is_included_to_its_end(session: Session) -> None:
    args = {"start_time": "2026-11-01T23:15:00", "end_time": "2026-11-01T23:45:00"}
    late = await outlook(
        session, "schedule_event", calendar_id="primary", title="Late call", **args
    )
    shown = await outlook(session, "get_events", start_date="2026-11-01", end_date="2026-11-01")
    assert late["event_id"] in [e["event_id"] for e in shown["events"]]
    await google(session, "set_out_of_office", start_date="2026-11-01", end_date="2026-11-01")
    reply = await google(session, "get_free_busy", time_min="2026-11-01", time_max="2026-11-03")
    busy = reply["busy"]
    assert {"start": "2026-11-01T07:00:00Z", "end": "2026-11-02T08:00:00Z"} in busy


async def test_changes_of_a_series_reach_an_occurrence_that_differs_in_other_fields(
    session: Session,
) -> None:
    first, second, third = await weekly(
        session, "2026-03-19", attendees=[{"email": "priya.nair@gmail.com"}]
    )
    series = first["recurring_event_id"]
    await google(
        session, "update_event", event_id=second["event_id"], start_time="2026-03-26T11:00"
    )
    await google(session, "update_event", event_id=third["event_id"], location="Outside")
    await google(session, "update_event", event_id=series, title="Drawing", location="Room 2")
    await google(session, "add_attendee", event_id=series, email="ben.asher@gmail.com")
    await google(session, "remove_attendee", event_id=series, email="priya.nair@gmail.com")
    moved = await google(session, "get_event", event_id=second["event_id"])
    assert (moved["title"], moved["location"], moved["start_time"]) == (
        "Drawing",
        "Room 2",
        "2026-03-26T18:00:00Z",
    )
    assert [a["email"] for a in moved["attendees"]] == ["ben.asher@gmail.com"]
    assert (await google(session, "get_event", event_id=third["event_id"]))["location"] == "Outside"
    reply = await google(session, "search_events", query="drawing ben")
    assert moved["event_id"] in [e["event_id"] for e in reply["events"]]


async def test_an_answer_for_one_occurrence_survives_an_answer_for_the_series(
    session: Session,
) -> None:
    shown = await google(
        session, "list_events", time_min="2026-03-14", time_max="2026-12-31", max_results=100
    )
    accepted = [e for e in shown["events"] if e["my_response"] == "accepted"]
    invited = next(e for e in accepted if e["recurring_event_id"])
    one = invited["event_id"]
    series = invited["recurring_event_id"]
    await google(session, "rsvp_event", event_id=one, response="declined")
    await google(session, "rsvp_event", event_id=series, response="tentative")
    assert (await google(session, "get_event", event_id=one))["my_response"] == "declined"
    assert (await google(session, "get_event", event_id=series))["my_response"] == "tentative"


async def test_the_next_start_of_a_series_counts_moved_occurrences_and_looks_far_ahead(
    session: Session,
) -> None:
    first, second, _ = await weekly(session, "2026-03-19", title="Xylophone")

    async def following() -> str | None:
        return (await google(session, "search_events", query="xylophone"))["events"][0][
            "next_start_time"
        ]

    assert await following() == first["start_time"]
    await google(session, "update_event", event_id=first["event_id"], start_time="2026-03-20T12:00")
    assert await following() == "2026-03-20T19:00:00Z"
    await google(session, "delete_event", event_id=first["event_id"])
    assert await following() == second["start_time"]
    rule = {"freq": "yearly", "interval": 20}
    times = {"start_time": "2026-03-10T09:00", "end_time": "2026-03-10T10:00", "recurrence": rule}
    await google(session, "create_event", calendar_id="primary", title="Zephyr", **times)
    reply = await google(session, "search_events", query="zephyr")
    assert reply["events"][0]["next_start_time"] == "2046-03-10T17:00:00Z"


async def test_the_next_start_of_a_series_of_whole_days_is_a_day(session: Session) -> None:
    days = {"start_time": "2026-03-10", "end_time": "2026-03-11", "all_day": True}
    rule = {"freq": "weekly"}
    series = {"calendar_id": "primary", "title": "Quokka", "recurrence": rule}
    await google(session, "create_event", **series, **days)
    await outlook(session, "schedule_event", **series, **days)
    there = (await google(session, "search_events", query="quokka"))["events"][0]
    here = (await outlook(session, "find_events", query="quokka"))["events"][0]
    assert there["start_time"] == here["start"] == "2026-03-10"
    assert there["next_start_time"] == here["next_start"] == "2026-03-17"


async def test_a_room_of_a_series_is_also_booked_for_a_moved_occurrence(
    session: Session,
) -> None:
    rule = {"freq": "daily", "count": 3}
    times = {"start_time": "2026-06-10T19:00", "end_time": "2026-06-10T20:00", "recurrence": rule}
    reply = await outlook(
        session, "schedule_event", calendar_id="primary", title="Model night", **times
    )
    series = reply["event_id"]
    reply = await outlook(
        session, "get_events", start_date="2026-06-10", end_date="2026-06-12", max_results=100
    )
    shown = reply["events"]
    one = [e for e in shown if e["series_event_id"] == series][1]["event_id"]
    await outlook(session, "modify_event", event_id=one, start_time="2026-06-11T21:00")
    room = make_id("orm", "maya", "small")
    await outlook(session, "book_room", event_id=series, room_id=room)
    assert (await outlook(session, "get_event_details", event_id=one))["room"]["room_id"] == room
    span = {"start_time": "2026-06-11T21:00", "end_time": "2026-06-11T22:00"}
    taken = await outlook(session, "check_room_availability", room_id=room, **span)
    assert not taken["available"] and taken["conflicting_events"][0]["event_id"] == one


async def test_the_new_organizer_of_a_moved_event_is_no_longer_its_guest(session: Session) -> None:
    reply = await google(session, "list_calendars")
    shared = next(c for c in reply["calendars"] if c["access_role"] == "writer")
    times = {
        "start_time": "2026-03-20T18:00",
        "end_time": "2026-03-20T19:00",
        "attendees": [{"email": shared["owner"]}],
    }
    event = await google(session, "create_event", calendar_id="primary", title="Ropes", **times)
    await google(
        session, "move_event", event_id=event["event_id"], new_calendar_id=shared["calendar_id"]
    )
    moved = await google(session, "get_event", event_id=event["event_id"])
    assert moved["organizer"]["email"] == shared["owner"] and moved["attendees"] == []


async def test_a_colleague_who_is_away_declines(session: Session) -> None:
    times = {
        "start_time": "2026-04-08T10:00",
        "end_time": "2026-04-08T11:00",
        "attendees": [{"email": LUCAS}],
    }
    event = await outlook(session, "schedule_event", calendar_id="primary", title="Tokens", **times)
    session.control.advance(3 * DAY)
    reply = await outlook(session, "get_event_details", event_id=event["event_id"])
    assert reply["attendees"][0]["response"] == "declined"


async def test_a_colleague_is_busy_during_a_meeting_that_they_accepted(session: Session) -> None:
    standup = {"start_date": "2026-03-17T09:30", "end_date": "2026-03-17T09:45"}
    busy = (await outlook(session, "get_schedule", email=LUCAS, **standup))["schedule"]
    assert [(b["start"], b["status"], b["title"]) for b in busy] == [
        ("2026-03-17T16:30:00Z", "busy", None)
    ]
    dry_run = {"start_date": "2026-03-16T10:00", "end_date": "2026-03-16T12:00"}
    reply = await outlook(session, "get_schedule", email=LUCAS, **dry_run)
    assert reply["schedule"], "Lucas organises it"
    stranger = {
        "start_date": "2026-03-17T09:30",
        "end_date": "2026-03-17T09:45",
        "email": "ben.archer@northlight.org",
    }
    assert (await outlook(session, "get_schedule", **stranger))["schedule"] == []


async def test_out_of_office_is_busy_on_the_primary_calendar_only(
    session: Session,
) -> None:
    await google(session, "set_out_of_office", start_date="2026-05-05", end_date="2026-05-05")
    home = make_id("gcl", "maya", "home")
    primary = make_id("gcl", "maya", "personal")
    day = {"time_min": "2026-05-05", "time_max": "2026-05-06"}
    away = [{"start": "2026-05-05T07:00:00Z", "end": "2026-05-06T07:00:00Z"}]
    every = await google(session, "get_free_busy", **day)
    assert every["busy"] == away
    assert {c["calendar_id"]: c["busy"] for c in every["calendars"]}[primary] == away
    assert (await google(session, "get_free_busy", calendar_ids=["primary"], **day))["busy"] == away
    assert (await google(session, "get_free_busy", calendar_ids=[home], **day))["busy"] != away


WEEK = ["MO", "TU", "WE", "TH", "FR"]


@pytest.mark.parametrize(
    ("text", "title", "day", "by_day"),
    [
        ("Stand-up every weekday 9:00", "Stand-up", "2026-03-16", WEEK),
        ("Yoga every Monday, Wednesday and Friday 18:00", "Yoga", "2026-03-16", ["MO", "WE", "FR"]),
        ("Dentist on the 20th at 15:00", "Dentist", "2026-03-20", None),
        ("Meet the 5th floor team Friday 14:00", "Meet the 5th floor team", "2026-03-20", None),
        ("Bill on the 31st", "Bill", "2026-03-31", None),
    ],
)
def test_a_line_can_name_several_weekdays_or_a_day_of_the_month(
    text: str, title: str, day: str, by_day: list[str] | None
) -> None:
    line = read(text, datetime(2026, 3, 14, 8))
    assert (line.title, line.day.isoformat()) == (title, day)
    assert (line.rule or {}).get("by_day") == by_day


@pytest.mark.parametrize(
    ("text", "title", "first", "last"),
    [
        ("Trip April 6-9", "Trip", "2026-04-06", "2026-04-09"),
        ("Flight to Denver 6-9 April", "Flight to Denver", "2026-04-06", "2026-04-09"),
        ("Trip Apr 6th to 9th, 2027", "Trip", "2027-04-06", "2027-04-09"),
        ("Trip from March 20 to March 22", "Trip", "2026-03-20", "2026-03-22"),
        ("Fair 20 March - 22 March", "Fair", "2026-03-20", "2026-03-22"),
        ("Skiing Dec 30 through Jan 2", "Skiing", "2026-12-30", "2027-01-02"),
        ("Skiing Dec 30 - Jan 2 2027", "Skiing", "2026-12-30", "2027-01-02"),
        ("Camp 2026-07-06 to 2026-07-10", "Camp", "2026-07-06", "2026-07-10"),
        ("Camp 7/6-7/10", "Camp", "2026-07-06", "2026-07-10"),
        ("Rest Mon-Wed", "Rest", "2026-03-16", "2026-03-18"),
        ("Visit Fri to Sunday", "Visit", "2026-03-20", "2026-03-22"),
        ("Party April 6", "Party", "2026-04-06", "2026-04-06"),
    ],
)
def test_a_line_with_a_span_of_days_lasts_to_its_last_day(
    text: str, title: str, first: str, last: str
) -> None:
    line = read(text, datetime(2026, 3, 14, 8))
    assert line.clock is None
    assert (line.title, str(line.day), str(line.last)) == (title, first, last)


async def test_a_span_of_days_is_one_event_whose_end_is_the_day_after(session: Session) -> None:
    reply = await google(
        session,
        "quick_add_event",
        calendar_id="primary",
        text="Flight to Denver 6-9 April",
    )
    assert reply["all_day"] and reply["title"] == "Flight to Denver"
    assert (reply["start_time"], reply["end_time"]) == ("2026-04-06", "2026-04-10")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Party on the 35th", "no month"),
        ("Trip April 9-6", "ends before it begins"),
        ("Trip April 6-9 at 10:00", "a span of days and a time of day"),
        ("Trip April 6-9 every year", "a span of days and a repetition"),
        ("Trip February 27-30", "2027-02-30 is not a date"),
    ],
)
def test_a_span_that_cannot_be_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read(text, datetime(2026, 3, 14, 8))


@pytest.mark.parametrize(
    ("text", "title", "start", "minutes"),
    [
        ("Dinner at 7 tomorrow", "Dinner", "2026-03-15 19:00", 60),
        ("Meeting at 3 every Monday", "Meeting", "2026-03-16 15:00", 60),
        ("Meeting every other Monday at 3:30", "Meeting", "2026-03-16 15:30", 60),
        ("Breakfast at 6 tomorrow", "Breakfast", "2026-03-15 06:00", 60),
        ("Standup at 9 on Tuesday", "Standup", "2026-03-17 09:00", 60),
        ("Call Ana tonight at 8", "Call Ana", "2026-03-14 20:00", 60),
        ("Call Ana tomorrow evening at 8", "Call Ana", "2026-03-15 20:00", 60),
        ("Night bus at 03:10 on Monday", "Night bus", "2026-03-16 03:10", 60),
        ("Shift 9-5 on Monday", "Shift", "2026-03-16 09:00", 480),
        ("Call 2-3 April 6", "Call", "2026-04-06 14:00", 60),
        ("Lunch from 11:30 to 1 on Monday", "Lunch", "2026-03-16 11:30", 90),
        ("Choir April 6 - 9pm", "Choir", "2026-04-06 21:00", 60),
        ("Party at 10 to 2 on Friday", "Party", "2026-03-20 22:00", 240),
        ("Review at 12 on Friday", "Review", "2026-03-20 12:00", 60),
    ],
)
def test_an_hour_alone_is_in_the_half_of_the_day_that_people_mean(
    text: str, title: str, start: str, minutes: int
) -> None:
    line = read(text, datetime(2026, 3, 14, 8))
    assert line.clock is not None
    assert (line.title, f"{line.day} {line.clock:%H:%M}") == (title, start)
    assert line.minutes == minutes


@pytest.mark.parametrize(
    ("service", "tool", "args"),
    [
        ("google", "create_calendar", {"name": "  "}),
        ("outlook", "new_calendar", {"name": "  "}),
        ("google", "update_event", {"event_id": "gev_x", "title": " "}),
        ("outlook", "modify_event", {"event_id": "oev_x", "title": " "}),
    ],
)
async def test_a_blank_name_is_refused(
    session: Session, service: str, tool: str, args: dict[str, Any]
) -> None:
    error = assert_error(await session.call(f"{service}_calendar", tool, args))
    assert error["code"] in ("INVALID_ARGUMENT", "ERROR_INVALID_REQUEST")
