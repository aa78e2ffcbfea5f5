"""What only one of the providers keeps: Google's appointment slots, Outlook's rooms and polls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.worlds.fill.calendar._seeds import HOUR, length_of, rule_of
from servers.calendar import _rules as rules
from servers.kit.values import iso

if TYPE_CHECKING:
    from scenarios.worlds.fill.calendar.calendar import Book


def fill_google(book: Book) -> None:
    """Write who shares calendars, appointment slots and working hours."""
    builder = book.builder
    seeds = book.seeds
    for calendar, seed in seeds["calendars"].items():
        for number, (who, role) in enumerate(seed.get("share", {}).items()):
            at = book.since + rules.DAY * (3 + 11 * number)
            builder.add(
                at,
                "google_calendar_acl",
                id=builder.id("gac", f"{calendar}-{who}"),
                calendar_id=book.calendar(calendar),
                email=book.address(who)[0],
                role=role,
                granted_at=iso(at),
            )
    for seed in seeds.get("slots", []):
        for number in range(seed["count"]):
            _slot(book, seed, number)
    if seeds.get("hours"):
        builder.add(book.since, "google_calendar_hours", id="me", **seeds["hours"])


def _slot(book: Book, seed: dict[str, Any], number: int) -> None:
    """Write one appointment slot, and the event that booked it."""
    builder = book.builder
    key = f"{seed['key']}-{number}"
    slot = builder.id("gsl", key)
    at = builder.moment(seed["made"])
    start = builder.moment(seed["at"]) + number * seed["minutes"] * 60
    builder.add(
        at,
        "google_calendar_slots",
        id=slot,
        calendar_id=book.calendar(seed["cal"]),
        title=seed["title"],
        description=seed.get("note", ""),
        location=book.place(seed["place"]),
        start_at=iso(start),
        end_at=iso(start + seed["minutes"] * 60),
        created_at=iso(at),
    )
    booking = seed.get("booked", {}).get(number)
    if booking:
        booked_at = builder.moment(booking["at"])
        event = {
            "key": key,
            "cal": seed["cal"],
            "title": seed["title"],
            "at": iso(start),
            "hours": seed["minutes"] / 60,
            "answers": {booking["by"]: "accepted"},
            "guests": [booking["by"]],
            "made": iso(booked_at),
            "place": seed["place"],
            "note": seed.get("note", ""),
        }
        book.event(event)
        builder.change(booked_at, "google_calendar_slots", slot, event_id=book.id(key))


def fill_outlook(book: Book) -> None:
    """Write rooms with their bookings, categories, working hours and polls."""
    builder = book.builder
    seeds = book.seeds
    for key, seed in seeds["rooms"].items():
        builder.add(book.since, "outlook_calendar_rooms", id=builder.id("orm", key), **seed)
    for number, seed in enumerate(seeds["bookings"]):
        begin = builder.moment(seed["at"])
        builder.add(
            min(begin, builder.start),
            "outlook_calendar_bookings",
            id=builder.id("orb", str(number)),
            room_id=builder.id("orm", seed["room"]),
            title=seed["title"],
            organizer=book.address(seed["by"])[0],
            start_at=iso(begin),
            end_at=iso(begin + length_of(seed)),
            rule=rule_of(seed),
        )
    for name, color in seeds["categories"].items():
        builder.add(book.since, "outlook_calendar_categories", name=name, color=color)
    builder.add(
        book.since,
        "outlook_calendar_hours",
        id="me",
        timezone=builder.person["timezone"],
        **seeds["hours"],
    )
    for seed in seeds["polls"]:
        _poll(book, seed)


def _poll(book: Book, seed: dict[str, Any]) -> None:
    """Write a scheduling poll, its votes and how it was closed."""
    builder = book.builder
    poll = builder.id("opl", seed["key"])
    at = builder.moment(seed["made"])
    slots = []
    for number, text in enumerate(seed["times"]):
        begin = builder.moment(text)
        slot = {
            "slot_id": builder.id("ols", f"{seed['key']}-{number}"),
            "start_at": iso(begin),
            "end_at": iso(begin + seed["minutes"] * 60),
        }
        slots.append(slot)
    organizer = book.email
    asked = [book.address(who)[0] for who in seed["asked"]]
    if seed.get("by"):
        organizer = book.address(seed["by"])[0]
        asked.append(book.email)
    builder.add(
        at,
        "outlook_calendar_polls",
        id=poll,
        location=seed.get("where", ""),
        created_at=iso(at),
        title=seed["title"],
        organizer=organizer,
        attendees=asked,
        slots=slots,
        duration_minutes=seed["minutes"],
        decides_at=iso(builder.moment(seed["decides"])) if "decides" in seed else None,
    )
    for who, votes in seed.get("votes", {}).items():
        for number, response in enumerate(votes):
            voted_at = min(at + (5 + number) * HOUR // 2, builder.start)
            builder.add(
                voted_at,
                "outlook_calendar_votes",
                id=builder.id("olv", f"{seed['key']}-{who}-{number}"),
                poll_id=poll,
                slot_id=slots[number]["slot_id"],
                voter=book.email if who == "me" else book.address(who)[0],
                response=response,
                voted_at=iso(voted_at),
            )
    if seed.get("closed"):
        closed_at = builder.moment(seed["closed"])
        outcome = {"closed_at": iso(closed_at)}
        if seed.get("event"):
            outcome["event_id"] = book.id(seed["event"])
            outcome["slot_id"] = slots[seed["won"]]["slot_id"]
        builder.change(closed_at, "outlook_calendar_polls", poll, **outcome)
