"""Who attends and when everyone is free: answers, absences, slots, rooms, polls; and search."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from tests.services.calendar.support import DAY, google, made, outlook
from tests.support import at, call_ok, call_refused, new_session, pages, session_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("google_calendar", "outlook_calendar")


async def meeting(session: Session, start: str, end: str, **more: Any) -> dict[str, Any]:
    return await outlook(
        session,
        "schedule_event",
        calendar_id="primary",
        title="Test",
        start_time=start,
        end_time=end,
        **more,
    )


# -- answers ---------------------------------------------------------------------------------------


async def test_guests_answer_in_time_and_decline_when_they_are_busy(session: Session) -> None:
    people = [
        {"email": "lucas.weber@fernhill.design"},
        {"email": "tomas.lind@fernhill.design"},
        {"email": "nobody@elsewhere.com"},
    ]
    event = await meeting(session, "2026-03-23T13:30", "2026-03-23T14:00", attendees=people)
    assert {a["response"] for a in event["attendees"]} == {"needsAction"}
    session.control.advance(3 * DAY)
    reply = await outlook(session, "get_event_details", event_id=event["event_id"])
    answers = {a["email"]: a["response"] for a in reply["attendees"]}
    assert (
        answers["lucas.weber@fernhill.design"]
        == answers["tomas.lind@fernhill.design"]
        == "declined"
    )
    assert answers["nobody@elsewhere.com"] == "needsAction"
    moved = await outlook(
        session, "modify_event", event_id=event["event_id"], start_time="2026-03-27T14:00"
    )
    assert {a["response"] for a in moved["attendees"]} == {"needsAction"}, (
        "everyone is asked again about a new time"
    )


async def test_the_organizer_is_not_a_guest_and_nobody_is_invited_twice(session: Session) -> None:
    people = [
        {"email": "Maya.Lindqvist@gmail.com"},
        {"email": "ben.asher@gmail.com"},
        {"email": "Ben.Asher@gmail.com"},
    ]
    event = await made(session, "2026-03-22T10:00", "2026-03-22T11:00", attendees=people)
    assert [(g["email"], g["name"]) for g in event["attendees"]] == [
        ("ben.asher@gmail.com", "Ben Asher")
    ]
    assert event["my_response"] is None
    again = await call_refused(
        session,
        "google_calendar",
        "add_attendee",
        event_id=event["event_id"],
        email="BEN.ASHER@gmail.com",
    )
    assert again["code"] == "DUPLICATE_ATTENDEE"


async def test_a_declined_invitation_does_not_block_time(session: Session) -> None:
    span = {"start_date": "2026-03-24T11:00", "end_date": "2026-03-24T12:30"}
    before = (await outlook(session, "get_schedule", **span))["schedule"]
    assert [(s["title"], s["status"]) for s in before] == [
        ("Expenses of the quarter: last call", "tentative")
    ]
    await outlook(
        session, "respond_to_event", event_id=at("oev", "expenses_call"), response="declined"
    )
    assert (await outlook(session, "get_schedule", **span))["schedule"] == []


async def test_out_of_office_declines_unanswered_invitations_and_is_busy(session: Session) -> None:
    span = {"time_min": "2026-03-22T00:00", "time_max": "2026-03-23T00:00"}
    await google(
        session,
        "set_out_of_office",
        start_date="2026-03-22",
        end_date="2026-03-22",
        decline_message="Away",
    )
    away = await google(session, "get_out_of_office")
    assert away["enabled"] and away["declined_events"] == [at("gev", "house_meeting")]
    reply = await google(session, "get_event", event_id=at("gev", "house_meeting"))
    assert reply["my_response"] == "declined"
    reply = await google(session, "get_free_busy", **span)
    assert reply["busy"] == [{"start": "2026-03-22T07:00:00Z", "end": "2026-03-23T07:00:00Z"}]
    session.control.advance(10 * DAY)
    assert not (await google(session, "get_out_of_office"))["enabled"]
    await google(session, "clear_out_of_office")
    assert await google(session, "get_out_of_office") == {}
    reply = await google(session, "get_event", event_id=at("gev", "house_meeting"))
    assert reply["my_response"] == "needsAction"


# -- slots, rooms, polls ---------------------------------------------------------------------------


async def test_a_booked_slot_opens_again_when_its_event_is_cancelled(
    session: Session,
) -> None:
    studio = {"calendar_id": at("gcl", "studio"), "time_max": "2026-03-30"}
    free = (await google(session, "list_appointment_slots", **studio))["slots"]
    assert len(free) == 4, "two of six are booked"
    event = await google(
        session,
        "book_appointment_slot",
        slot_id=free[0]["slot_id"],
        attendee_email="kai@tanaka.com",
    )
    assert event["attendees"] == [
        {"email": "kai@tanaka.com", "name": None, "response_status": "accepted"}
    ]
    assert len((await google(session, "list_appointment_slots", **studio))["slots"]) == 3
    twice = await call_refused(
        session,
        "google_calendar",
        "book_appointment_slot",
        slot_id=free[0]["slot_id"],
        attendee_email="a@b.co",
    )
    assert twice["code"] == "SLOT_UNAVAILABLE" and twice["status"] == "booked"
    await google(session, "delete_event", event_id=event["event_id"])
    assert (await google(session, "list_appointment_slots", **studio))["slots"] == free
    await made(session, free[0]["start_time"], free[0]["end_time"])
    reply = await google(session, "list_appointment_slots", **studio)
    assert len(reply["slots"]) == 3, "another event takes up its time"
    session.control.advance(30 * DAY)
    late = await call_refused(
        session,
        "google_calendar",
        "book_appointment_slot",
        slot_id=free[1]["slot_id"],
        attendee_email="a@b.co",
    )
    assert late["status"] == "past"


async def test_rooms_conflict_even_when_a_meeting_moves(session: Session) -> None:
    event = (await meeting(session, "2026-03-24T12:00", "2026-03-24T13:00"))["event_id"]
    greenhouse = at("orm", "greenhouse")
    reply = await outlook(session, "book_room", event_id=event, room_id=greenhouse)
    assert reply["status"] == "booked"
    span = {"start_time": "2026-03-24T11:30", "end_time": "2026-03-24T13:30"}
    seen = await outlook(session, "check_room_availability", room_id=greenhouse, **span)
    assert not seen["available"] and [e["event_id"] for e in seen["conflicting_events"]] == [event]
    other = (await meeting(session, "2026-03-24T12:30", "2026-03-24T13:30"))["event_id"]
    error = await call_refused(
        session, "outlook_calendar", "book_room", event_id=other, room_id=greenhouse
    )
    assert error["code"] == "ERROR_ROOM_NOT_AVAILABLE"
    clash = await call_refused(
        session, "outlook_calendar", "modify_event", event_id=event, start_time="2026-03-24T13:30"
    )
    assert clash["code"] == "ERROR_ROOM_NOT_AVAILABLE" and "Client visit" in clash["message"]
    await outlook(session, "cancel_event", event_id=event)
    reply = await outlook(session, "book_room", event_id=other, room_id=greenhouse)
    assert reply["status"] == "booked"


async def test_a_series_needs_its_room_for_every_occurrence(session: Session) -> None:
    reply = await meeting(
        session, "2026-03-16T13:30", "2026-03-16T14:00", recurrence={"freq": "weekly"}
    )
    weekly = reply["event_id"]
    clash = await call_refused(
        session, "outlook_calendar", "book_room", event_id=weekly, room_id=at("orm", "greenhouse")
    )
    assert "Studio managers" in clash["message"]
    reply = await outlook(session, "book_room", event_id=weekly, room_id=at("orm", "attic"))
    assert reply["status"] == "booked"
    part = {"start_time": "2026-04-20T13:00", "end_time": "2026-04-20T14:00"}
    reply = await outlook(session, "check_room_availability", room_id=at("orm", "attic"), **part)
    assert not reply["available"]


async def test_meeting_times_suit_everyone_whose_calendar_is_known(session: Session) -> None:
    people = ["lucas.weber@fernhill.design", "mei.chen@fernhill.design"]
    span = {"duration_minutes": 60, "time_min": "2026-03-23", "time_max": "2026-03-24"}
    times = await outlook(session, "find_meeting_times", attendee_emails=people, **span)
    grades = [s["confidence"] for s in times["suggestions"]]
    assert grades == sorted(grades, key=("good", "fair", "poor").index)
    assert grades[0] == "good"
    assert times["unknown_attendees"] == []
    for suggestion in times["suggestions"]:
        if suggestion["confidence"] == "good":
            for email in people:
                taken = await outlook(
                    session,
                    "get_schedule",
                    start_date=suggestion["start"],
                    end_date=suggestion["end"],
                    email=email,
                )
                assert taken["schedule"] == []
            mine = await outlook(
                session, "get_schedule", start_date=suggestion["start"], end_date=suggestion["end"]
            )
            assert mine["schedule"] == []
    stranger = await outlook(session, "find_meeting_times", attendee_emails=["a@b.co"], **span)
    assert {s["confidence"] for s in stranger["suggestions"]} == {"fair"}
    assert stranger["unknown_attendees"] == ["a@b.co"]


async def test_votes_come_in_and_the_leading_slot_becomes_the_meeting(session: Session) -> None:
    times = [
        {"start_time": "2026-03-25T13:00", "end_time": "2026-03-25T14:00"},
        {"start_time": "2026-03-26T11:00", "end_time": "2026-03-26T12:00"},
    ]
    args = {
        "title": "Offsite",
        "proposed_times": times,
        "attendees": ["mei.chen@fernhill.design"],
        "duration_minutes": 60,
    }
    poll = await outlook(session, "create_scheduling_poll", **args)
    assert poll["leading_slot"] is None
    error = await call_refused(
        session, "outlook_calendar", "finalize_poll", poll_id=poll["poll_id"]
    )
    assert error["code"] == "ERROR_NO_VOTES"
    session.control.advance(2 * DAY)
    later = await outlook(session, "get_scheduling_poll", poll_id=poll["poll_id"])
    assert [s["votes"] for s in later["slots"]] == [
        [{"voter": "mei.chen@fernhill.design", "response": "no"}],
        [{"voter": "mei.chen@fernhill.design", "response": "yes"}],
    ], "Mei is busy on Wednesday afternoons"
    done = await outlook(session, "finalize_poll", poll_id=poll["poll_id"])
    assert done["winning_slot"]["slot_id"] == later["leading_slot"] == later["slots"][1]["slot_id"]
    event = await outlook(session, "get_event_details", event_id=done["event_id"])
    assert event["title"] == "Offsite" and event["start"] == "2026-03-26T18:00:00Z"
    no = [{"slot_id": later["leading_slot"], "response": "no"}]
    late = await call_refused(
        session, "outlook_calendar", "vote_on_poll", poll_id=poll["poll_id"], votes=no
    )
    assert late["code"] == "ERROR_POLL_CLOSED" and late["status"] == "finalized"


async def test_others_polls_can_be_voted_in_but_not_closed(session: Session) -> None:
    poll = at("opl", "critique")
    slot = (await outlook(session, "get_scheduling_poll", poll_id=poll))["slots"][1]
    await outlook(
        session,
        "vote_on_poll",
        poll_id=poll,
        votes=[{"slot_id": slot["slot_id"], "response": "yes"}],
    )
    reply = await outlook(session, "get_scheduling_poll", poll_id=poll)
    assert reply["slots"][1]["yes"] == slot["yes"] + 1
    error = await call_refused(session, "outlook_calendar", "finalize_poll", poll_id=poll)
    assert error["code"] == "ERROR_ACCESS_DENIED"
    expired = await outlook(session, "get_scheduling_poll", poll_id=at("opl", "old_lunch"))
    assert expired["status"] == "expired"


async def test_the_organizer_of_a_poll_chooses_what_suits_most_and_invites_everyone() -> None:
    session = session_of("eleanor", "outlook_calendar", "outlook")
    poll_id = make_id("opl", "eleanor", "training")
    slots = (await outlook(session, "get_scheduling_poll", poll_id=poll_id))["slots"]
    votes = [
        {"slot_id": slot["slot_id"], "response": response}
        for slot, response in zip(slots, ("no", "yes", "no"), strict=True)
    ]
    await outlook(session, "vote_on_poll", poll_id=poll_id, votes=votes)
    session.pass_time(4 * DAY)
    poll = await outlook(session, "get_scheduling_poll", poll_id=poll_id)
    assert (poll["status"], poll["winning_slot"]) == ("finalized", slots[1]["slot_id"])
    event = await outlook(session, "get_event_details", event_id=poll["event_id"])
    assert event["organizer"] == poll["organizer"] and event["start"] == slots[1]["start"]
    answers = {guest["email"].partition("@")[0]: guest["response"] for guest in event["attendees"]}
    assert answers == {"omarsh": "accepted", "pdent": "accepted", "ewhitfield": "needsAction"}
    query = "from:calendar@outlook-mail.com till"
    reply = await call_ok(session, "outlook", "query_mail_items", query=query)
    assert reply["emails"][0]["subject"].startswith("Training for the new till")


# -- finding ---------------------------------------------------------------------------------------


async def test_a_search_ranks_words_in_any_order_and_shows_a_series_once(session: Session) -> None:
    hits = await google(session, "search_events", query="nora yoga")
    series = [e for e in hits["events"] if e["event_id"] == at("gev", "yoga")]
    assert len(series) == 1 and series[0]["next_start_time"] == "2026-03-18T01:30:00Z"
    reply = await outlook(session, "find_events", query="workshop lakeview")
    assert reply["events"][0]["event_id"] == at("oev", "workshop_1")
    assert (await google(session, "search_events", query="zebra"))["events"] == []


async def test_pages_show_every_event_once(session: Session) -> None:
    span = {"time_min": "2026-02-01", "time_max": "2026-05-01", "max_results": 40}
    events = await pages(session, "google_calendar", "list_events", "events", **span)
    seen = [(e["start_time"], e["event_id"]) for e in events]
    assert len(seen) == len(set(seen)) > 80
    moments = [parse_time(s) for s, _ in seen if len(s) > 10]
    assert moments == sorted(moments) and iso(moments[0]) >= "2026-02-01"
