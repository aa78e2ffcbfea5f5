"""What comes after the start of each world: mail, invitations, requests, and people's answers."""

from __future__ import annotations

from collections import Counter
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import folder, names, parsed, person, shared
from servers.kit.control import Control
from servers.kit.session import Session
from servers.kit.store import CLOCK, POST
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch
from tests.support import at, call_ok, session_of

pytestmark = pytest.mark.anyio

DAY = 86_400
SPAN = 45
MAIL = ("gmail_emails", "outlook_emails")
CALENDARS = ("calendar-notification@google-mail.com", "calendar@outlook-mail.com")
SEARCH = {"gem": ("gmail", "search_emails"), "oem": ("outlook", "query_mail_items")}
"""The search of a provider, by the prefix of its messages' ids."""
NEWS = (*MAIL, "google_calendar_events", "outlook_calendar_events", "venmo_requests")


def start(name: str) -> int:
    return parse_time(person(name)["start"])


def session(name: str, *services: str) -> Session:
    """Return a session of some services; of none, it holds the whole world."""
    if services:
        return session_of(name, *services)
    return Session(["clock"], shared(name).share(), Control(start(name)))


def found(running: Session, table: str, key: str) -> dict[str, Any]:
    row = running.world.get(table, key)
    assert row is not None
    return row


def weeks(rows: list[dict[str, Any]], name: str) -> Counter[int]:
    return Counter((parse_time(row["due_at"]) - start(name)) // (7 * DAY) for row in rows)


@pytest.mark.parametrize("name", names())
def test_every_week_brings_mail_of_people_and_of_firms(name: str) -> None:
    known = {who["email"] for who in person(name)["people"].values()}
    dated = [row for row in shared(name).rows("future") if row["place"] in MAIL]
    theirs = weeks([row for row in dated if row["row"]["sender"] in known], name)
    letters = [row for row in shared(name).rows("future") if row["absent"] is not None]
    firms = weeks([row for row in dated if row["row"]["sender"] not in known] + letters, name)
    for week in range(SPAN // 7 + 1):
        assert theirs[week] and firms[week], (week, theirs, firms)
        assert theirs[week] + firms[week] >= 5, (week, theirs, firms)


@pytest.mark.parametrize("name", names())
def test_mail_comes_from_people_and_firms_of_that_life(name: str) -> None:
    world = shared(name)
    known = {row["address"] for row in world.rows("email_directory")}
    own = {row["address"] for row in world.rows("email_accounts")}
    for table in MAIL:
        known |= {row["sender"] for row in world.rows(table)}
    for dated in world.rows("future"):
        if dated["place"] in MAIL:
            row = dated["row"]
            assert row["sender"] in known - own, row["subject"]
            assert {*row["recipients"], *row["cc"]} <= known | own, row["subject"]
            assert not row["read"], row["subject"]


@pytest.mark.parametrize("name", names())
async def test_nothing_of_it_can_be_read_before_its_moment(name: str) -> None:
    running = session(name, "gmail", "outlook", "google_calendar", "outlook_calendar", "venmo")
    soon = min(row["due_at"] for row in running.world.rows("future"))
    assert parse_time(soon) > start(name) + 1800
    for dated in running.world.rows("future"):
        if dated["what"] == "add":
            key = running.world.tables[dated["place"]].key
            assert running.world.get(dated["place"], dated["row"][key]) is None
    said = [row["row"] for row in running.world.rows("future") if row["place"] in MAIL]
    for mail in said[:: len(said) // 12]:
        service, tool = SEARCH[mail["id"][:3]]
        reply = await call_ok(running, service, tool, query=mail["subject"])
        shown = {row["email_id"] for row in reply["emails"]}
        assert not shown & {row["id"] for row in said}


@pytest.mark.parametrize("name", names())
def test_what_happens_does_not_depend_on_what_is_offered(name: str) -> None:
    few = session(name, "gmail", "google_calendar", "venmo")
    all_of_it = session(name)
    mark = few.world.last_change()
    few.pass_time(SPAN * DAY)
    all_of_it.pass_time(SPAN * DAY)
    for table in (*NEWS, "venmo_transactions", "zelle_transfers", "payments_entries"):
        theirs = few.world.rows(table, order="rowid")
        assert theirs == all_of_it.world.rows(table, order="rowid"), table
    causes = {entry["cause"] for entry in few.world.log(mark)}
    assert causes <= {CLOCK, POST}


@pytest.mark.parametrize("name", names())
async def test_people_answer_mail_in_their_manner(name: str) -> None:
    running = session(name, "gmail")
    people = person(name)["people"]
    manners = parsed(folder(name) / "manners.yaml")["people"]
    assert manners.keys() == people.keys()
    sent = {}
    for key, who in people.items():
        mail = {"to": [who["email"]], "subject": "A question", "body": "Does Sunday suit you?"}
        sent[key] = (await call_ok(running, "gmail", "send_email", **mail))["email_id"]
    running.pass_time(10 * DAY)
    for key, who in people.items():
        thread = found(running, "gmail_emails", sent[key])["thread_id"]
        rows = running.world.rows("gmail_emails", "thread_id=?", thread)
        answers = [row for row in rows if row["sender"] == who["email"]]
        if manners[key]["mail"]["does"] == "nothing":
            assert answers == [], key
            continue
        (answer,) = answers
        words = [" ".join(text.split()) for text in manners[key]["mail"]["says"]]
        signs = manners[key]["mail"].get("signs", who["name"].split()[0])
        begins = tuple(f"{text}\n\n{signs}\n\n" for text in words)
        assert answer["body"].startswith(begins), key
        assert answer["subject"] == "Re: A question" and not answer["read"]


async def test_organizers_move_and_call_off_what_they_organize() -> None:
    running = session("maya", "google_calendar", "outlook_calendar")

    async def dinner() -> dict[str, Any]:
        return await call_ok(running, "google_calendar", "get_event", event_id=at("gev", "basque"))

    before = await dinner()
    running.pass_time(6 * DAY)
    after = await dinner()
    assert (before["start_time"][11:16], after["start_time"][11:16]) == ("03:15", "03:45")
    running.pass_time(14 * DAY)
    row = found(running, "outlook_calendar_events", at("oev", "intern_talks"))
    assert row["cancelled_at"] == "2026-03-27T18:40:00Z"


async def test_what_is_open_at_the_start_is_paid_or_declined_and_new_requests_come() -> None:
    running = session("rafael", "venmo", "gmail")
    pending = running.world.rows("venmo_requests", "direction='outgoing' AND closed_as IS NULL")
    running.pass_time(SPAN * DAY)
    closed = [found(running, "venmo_requests", row["id"])["closed_as"] for row in pending]
    assert {"paid", "declined"} <= set(closed)
    cake = running.world.rows("venmo_requests", "note='Tres leches for seventy'")
    assert [(row["direction"], row["amount"]) for row in cake] == [("incoming", 18_000)]
    reply = await call_ok(running, "gmail", "search_emails", query="Berta Salinas requests")
    assert any("$180.00" in mail["subject"] for mail in reply["emails"])


async def test_people_pay_as_they_wrote_that_they_would() -> None:
    running = session("eleanor", "venmo", "gmail")
    ruth = "from:ruth annuity newer_than:30d"
    said = await call_ok(running, "gmail", "search_emails", query=ruth)
    assert "on 15 October" in said["emails"][0]["body"]
    running.pass_time(15 * DAY)
    room = running.world.rows("venmo_requests", "note='Half of our room in New York'")
    assert [row["closed_at"][:10] for row in room] == ["2026-10-15"]
    # Lionel wrote that he brings his 21 in cash.
    where = "note='Supper after rehearsal' AND closed_as IS NULL"
    assert len(running.world.rows("venmo_requests", where)) == 1


async def test_guests_answer_invitations_in_their_manner() -> None:
    running = session("maya", "google_calendar")
    asked = {
        "priya.nair@gmail.com": "accepted",
        "olivia.grant@acmeretail.com": "tentative",
        "kai.tanaka@gmail.com": "needsAction",
    }
    times = {"start_time": "2026-05-10T21:00:00", "end_time": "2026-05-10T21:30:00"}
    guests = [{"email": email} for email in asked]
    new = {"calendar_id": "primary", "title": "A call", "attendees": guests}
    made = await call_ok(running, "google_calendar", "create_event", **new, **times)
    running.pass_time(6 * DAY)
    event = await call_ok(running, "google_calendar", "get_event", event_id=made["event_id"])
    answers = {guest["email"]: guest["response_status"] for guest in event["attendees"]}
    assert {email: answers[email] for email in asked} == asked


@pytest.mark.parametrize("name", names())
def test_calendars_mail_what_others_plan_move_and_call_off(name: str) -> None:
    zone = ZoneInfo(person(name)["timezone"])
    running = session(name)
    running.pass_time(SPAN * DAY)
    mailed = set()
    for table in MAIL:
        for mail in running.world.rows(table):
            if mail["sender"] in CALENDARS:
                mailed.add(mail["created_at"])
    happenings = parsed(folder(name) / "ahead.yaml")["happenings"]
    plans = [happening["event"] for happening in happenings if "event" in happening]
    told = [epoch(plan.get("made") or plan["told"], zone) for plan in plans]
    soon = {iso(moment) for moment in told if moment <= running.control.now}
    assert len(soon) >= 5 and soon <= mailed


async def test_owners_answer_reviews_and_the_site_mails_it() -> None:
    running = session("maya", "google_map_review", "gmail")
    review = at("grv", "mine-afuri")
    assert found(running, "google_map_review_reviews", review)["reply"] is None
    running.pass_time(4 * DAY)
    reply = found(running, "google_map_review_reviews", review)["reply"]
    sender = "maps-noreply@google-mail.com"
    mails = running.world.rows(
        "gmail_emails", "sender=? AND created_at>?", sender, iso(start("maya"))
    )
    assert [mail["created_at"] for mail in mails] == ["2026-03-17T22:20:00Z"]
    assert reply in mails[0]["body"] and "Afuri" in mails[0]["subject"]


async def test_nobody_is_mailed_an_answer_to_a_review_that_is_gone() -> None:
    running = session("rafael", "yelp", "gmail")
    own = (await call_ok(running, "yelp", "get_my_yelp_reviews", limit=50))["reviews"]
    for review in own:
        await call_ok(running, "yelp", "remove_review", review_id=review["review_id"])
    running.pass_time(5 * DAY)
    assert not running.world.rows("gmail_emails", "subject LIKE '%replied to your review'")


@pytest.mark.parametrize("name", names())
def test_pay_and_bills_go_on_after_the_start(name: str) -> None:
    running = session(name, "zelle", "venmo")
    known = {row["id"] for row in running.world.rows("payments_entries")}
    running.pass_time(SPAN * DAY)
    later = [row for row in running.world.rows("payments_entries") if row["id"] not in known]
    moved = Counter(row["what"] for row in later)
    ledger = parsed(folder(name) / "payments.yaml")["ledger"]
    assert all(moved[item["what"]] for item in ledger), moved
