"""Who comes and who is busy: answers to invitations, conflicts, free time.

What others answer, and when, follows from their own calendars and the moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import time
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from servers.calendar import _rules as rules
from servers.calendar._recurrence import starts
from servers.kit.errors import did_you_mean
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.values import parse_time
from servers.kit.zones import local

AHEAD = 90 * rules.DAY
"""Seconds within which the occurrences of a series are compared with other events."""


# -- answers --------------------------------------------------------------------------------------------------------
def my_answer(svc: Service, words: rules.Words, row: dict[str, Any]) -> str | None:
    """Return accepted, declined, tentative, needsAction, or None where the account was not invited."""
    mine = next((a for a in row["attendees"] if rules.is_me(svc, words, a["email"])), None)
    return None if mine is None else mine["response"] or "needsAction"


def answer_of(svc: Service, row: dict[str, Any], attendee: dict[str, Any]) -> str:
    """Return what an attendee has answered by now. Who is known answers within two days and declines when busy; a few never answer."""
    if attendee["response"] is not None:
        return attendee["response"]
    if svc.db.get("calendar_people", attendee["email"]) is None:
        return "needsAction"
    key = (row["series_id"] or row["id"], attendee["email"])
    if svc.now < parse_time(attendee["invited_at"]) + 600 + int(
        share("delay", *key) * 2 * rules.DAY
    ):
        return "needsAction"
    if any(
        s[2] in ("busy", "oof")
        for s in known_busy(
            svc, attendee["email"], parse_time(row["start_at"]), parse_time(row["end_at"])
        )
    ):
        return "declined"
    drawn = share("answer", *key)
    return "accepted" if drawn < 0.8 else ("tentative" if drawn < 0.9 else "needsAction")


def respond(svc: Service, words: rules.Words, event_id: str, response: str) -> dict[str, Any]:
    """Answer an invitation to an event, a series or one occurrence, and return the row; refuse where there is none."""
    row = rules.live(svc, words, event_id)
    rules.calendar(svc, words, row["calendar_id"], "writer")
    if my_answer(svc, words, row) is None or rules.is_me(svc, words, row["organizer"]):
        message = (
            f"You are not an invited attendee of '{row['title']}', organised by {row['organizer']}."
        )
        svc.fail(
            "NOT_INVITED",
            message,
            f"Only invitations can be answered; see the attendees in {words.list_events}.",
            event_id=event_id,
        )
    answered = [
        a | {"response": response} if rules.is_me(svc, words, a["email"]) else a
        for a in row["attendees"]
    ]
    return rules.change(svc, words, row, attendees=answered)


def attendee(svc: Service, row: dict[str, Any], email: str, add: str) -> dict[str, Any]:
    """Return an event's attendee by address, or refuse. `add` is the tool that invites."""
    found = {a["email"]: a for a in row["attendees"]}
    if email.lower() not in found:
        message = f"{email} is not invited to '{row['title']}'{did_you_mean(email.lower(), found)}"
        svc.fail(
            "ATTENDEE_NOT_FOUND",
            message,
            f"Name an attendee of the event; {add} invites somebody.",
            email=email,
        )
    return found[email.lower()]


# -- busy time ------------------------------------------------------------------------------------------------------
def blocks(svc: Service, words: rules.Words, row: dict[str, Any]) -> bool:
    """Return whether an event takes the account's time."""
    return row["show_as"] != "free" and my_answer(svc, words, row) != "declined"


def conflicts(svc: Service, words: rules.Words, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what else takes the account's time during an event, or during a series in the next 90 days; ten at most."""
    begin = parse_time(row["start_at"])
    end = parse_time(row["end_at"])
    mine = [row]
    own_ids = rules.own_ids(svc, words)
    if row["recurrence"] is not None:
        end = max(begin, svc.now) + AHEAD
        mine = list(rules.expand(svc, words, row, max(begin, svc.now), end))
    ids = {row["id"], row["series_id"] or row["id"]}
    other = (
        o
        for o in rules.occurrences(svc, words, begin, end, own_ids)
        if not ids & {o["id"], o["series_id"]}
    )
    met = (
        o
        for o in other
        if any(o["start_at"] < m["end_at"] and o["end_at"] > m["start_at"] for m in mine)
    )
    return list(islice((o for o in met if blocks(svc, words, o)), 10))


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans joined where they touch, in order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def busy(
    svc: Service, words: rules.Words, first: int, last: int, ids: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return what takes the account's time in a span, by start; of its own calendars unless `ids` names some."""
    found = rules.occurrences(
        svc, words, first, last, rules.own_ids(svc, words) if ids is None else ids
    )
    return [o for o in found if blocks(svc, words, o)]


def known_busy(svc: Service, email: str, first: int, last: int) -> list[tuple[int, int, str]]:
    """Return start, end and status (busy, tentative) of what fills another person's calendar in a span."""
    person = svc.db.get("calendar_people", email)
    where = ZoneInfo(person["timezone"] if person else "UTC")
    found = []
    for row in svc.db.rows("calendar_busy", "email=?", email):
        begin = parse_time(row["start_at"])
        end = parse_time(row["end_at"])
        times = repeats(row["rule"], begin, where, first - (end - begin) + 1, last)
        found += [
            (t, t + end - begin, row["status"])
            for t in times
            if t < last and t + end - begin > first
        ]
    return sorted(found)


def engaged(
    svc: Service, words: rules.Words, email: str, first: int, last: int
) -> list[tuple[int, int, str]]:
    """Return the same with what the account sees of it: events that the other organises, or to which they said yes or perhaps."""
    found = known_busy(svc, email, first, last)
    for row in (
        rules.occurrences(svc, words, first, last) if svc.db.get("calendar_people", email) else ()
    ):
        guest = next((a for a in row["attendees"] if a["email"] == email), None)
        answer = (
            "accepted"
            if row["organizer"] == email
            else (answer_of(svc, row, guest) if guest is not None else "declined")
        )
        if answer in ("accepted", "tentative") and row["show_as"] != "free":
            status = "busy" if answer == "accepted" else "tentative"
            found.append((parse_time(row["start_at"]), parse_time(row["end_at"]), status))
    return sorted(set(found))


def repeats(
    rule: dict[str, Any] | None, begin: int, where: ZoneInfo, after: int, before: int
) -> Iterable[int]:
    """Return the starts of something that may repeat; see `starts`."""
    return (begin,) if rule is None else starts(rule, begin, where, after, before)


def within(
    first: int, last: int, where: ZoneInfo, opens: time, shuts: time, days: Iterable[int] = range(5)
) -> bool:
    """Return whether a span lies within local working hours of one day; `days` are weekdays, Monday 0."""
    start = local(first, where)
    end = local(last, where)
    return (
        start.date() == end.date()
        and start.weekday() in days
        and opens <= start.time()
        and end.time() <= shuts
    )
