"""The past year's mail about stays, meetings, reviews and wikis."""

from __future__ import annotations

import pytest

from scenarios.worlds.build import names, person, shared
from servers.kit.store import World
from servers.kit.types import Row
from servers.kit.values import iso, parse_time

PEOPLE = tuple(names())


def mails(world: World, *senders: str) -> list[Row]:
    """Return the mails of some senders in all of a person's accounts."""
    found = []
    for table in ("gmail_emails", "outlook_emails"):
        for row in world.rows(table):
            if row["sender"] in senders:
                found.append(row)
    return found


@pytest.mark.parametrize("name", PEOPLE)
def test_each_stay_is_confirmed_once(name: str) -> None:
    world = shared(name).share()
    since = iso(parse_time(person(name)["start"]) - 180 * 86_400)
    told = mails(world, "noreply@booking-mail.com", "travel@expedia-mail.com")
    for site in ("booking", "expedia"):
        for row in world.rows(f"{site}_bookings", "created_at>?", since):
            hotel = world.get(f"{site}_properties", row["property_id"])
            assert hotel is not None
            about = [m for m in told if hotel["name"].lower() in m["subject"].lower()]
            cancelled = [m for m in about if "cancel" in m["subject"].lower()]
            kept = [m for m in about if _confirms(m)]
            assert len(kept) == 1, (hotel["name"], [m["subject"] for m in about])
            assert len(cancelled) == (row["cancelled_at"] is not None), hotel["name"]


def _confirms(mail: Row) -> bool:
    subject = mail["subject"].lower()
    if "cancel" in subject or "tomorrow" in subject or "rate your" in subject:
        return False
    return "how was" not in subject


@pytest.mark.parametrize("name", PEOPLE)
def test_what_comes_of_a_stay_after_the_start_waits(name: str) -> None:
    world = shared(name).share()
    start = person(name)["start"]
    for site in ("booking", "expedia"):
        ahead = "check_in>? AND cancelled_at IS NULL"
        for row in world.rows(f"{site}_bookings", ahead, start[:10]):
            waits = world.rows("outbox", "about=? AND due_at>?", row["id"], start)
            assert "how_was_it" in {post["template"] for post in waits}


@pytest.mark.parametrize("name", PEOPLE)
def test_invitations_of_others_are_in_the_mail(name: str) -> None:
    world = shared(name).share()
    senders = {
        "google_calendar": "calendar-notification@google-mail.com",
        "outlook_calendar": "calendar@outlook-mail.com",
    }
    for service, sender in senders.items():
        me = world.rows(f"{service}_profile")[0]["email"]
        told = {mail["subject"] for mail in mails(world, sender)}
        since = iso(parse_time(person(name)["start"]) - 30 * 86_400)
        invited = 0
        for row in world.rows(f"{service}_events", "created_at>? AND organizer<>?", since, me):
            if me in {guest["email"] for guest in row["attendees"]} and not row["series_id"]:
                invited += 1
                assert any(row["title"] in subject for subject in told), row["title"]
        assert invited
