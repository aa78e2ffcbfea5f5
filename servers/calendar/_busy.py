"""Who attends and who is busy: answers to invitations, conflicts, free time.

What other people answer, and when, follows from their own calendars and the current moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import time
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from servers.calendar import _rules as rules
from servers.calendar._recurrence import starts
from servers.kit import future
from servers.kit.errors import did_you_mean
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import parse_time
from servers.kit.zones import local

AHEAD = 90 * rules.DAY
"""Seconds from now for which the occurrences of a series are checked for conflicts."""
MOST_CONFLICTS = 10
"""Most conflicts of an event that are reported."""
ANSWER_DELAY = 600
"""Seconds that everybody takes at least to answer an invitation."""
_ANSWERS = {"accept": "accepted", "tentative": "tentative", "decline": "declined"}
"""Answers by what somebody does with an invitation."""


class BusyTime(NamedTuple):
    """A time that is taken in someone's calendar, in epoch seconds."""

    start: int
    end: int
    status: str
    """busy, tentative or oof (out of office)."""


# -- answers ---------------------------------------------------------------------------------------
def my_answer(svc: Service, words: rules.Words, row: Row) -> str | None:
    """Return the account's answer, or None if it was not invited.

    It is accepted, declined, tentative or needsAction.
    """
    mine = next((a for a in row["attendees"] if rules.is_me(svc, words, a["email"])), None)
    return None if mine is None else mine["response"] or "needsAction"


def answer_of(svc: Service, row: Row, attendee: Row) -> str:
    """Return the answer of an attendee so far.

    People whose calendar is known answer within two days, or in their manner, and decline if they
    are busy; a few never answer.
    """
    if attendee["response"] is not None:
        return attendee["response"]
    if svc.now < answers_at(svc, row, attendee):
        return "needsAction"
    return coming_answer(svc, row, attendee)


def answers_at(svc: Service, row: Row, attendee: Row) -> int:
    """Return the moment at which an attendee whose calendar is known answers, in their manner."""
    manner = future.manner_of(svc.db, attendee["email"], "invitation")
    if manner is None:
        return usually_answers_at(row, attendee)
    zone = ZoneInfo(svc.person["timezone"])
    invited_at = parse_time(attendee["invited_at"])
    return future.drawn(manner, "/".join(_key(row, attendee)), invited_at, zone)


def usually_answers_at(row: Row, attendee: Row) -> int:
    """Return the moment at which somebody without a manner answers."""
    delay = ANSWER_DELAY + int(share("delay", *_key(row, attendee)) * 2 * rules.DAY)
    return parse_time(attendee["invited_at"]) + delay


def _key(row: Row, attendee: Row) -> tuple[str, str]:
    return row["series_id"] or row["id"], attendee["email"]


def coming_answer(svc: Service, row: Row, attendee: Row) -> str:
    """Return what an attendee will have answered when they do, needsAction if they never do."""
    if svc.db.get("calendar_people", attendee["email"]) is None:
        return "needsAction"
    manner = future.manner_of(svc.db, attendee["email"], "invitation")
    if manner is not None and manner["does"] == future.NOTHING:
        return "needsAction"
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    times = known_busy(svc, attendee["email"], first, last)
    if any(status in ("busy", "oof") for _, _, status in times):
        return "declined"
    if manner is not None:
        return _ANSWERS[manner["does"]]
    drawn = share("answer", *_key(row, attendee))
    if drawn < 0.8:
        return "accepted"
    return "tentative" if drawn < 0.9 else "needsAction"


def attendee(svc: Service, row: Row, email: str, add: str) -> dict[str, Any]:
    """Return an attendee of an event by address, or refuse. `add` is the tool that invites."""
    invited = {a["email"]: a for a in row["attendees"]}
    if email.lower() not in invited:
        svc.fail(
            "ATTENDEE_NOT_FOUND",
            f"{email} is not invited to '{row['title']}'{did_you_mean(email.lower(), invited)}",
            f"Name an attendee of the event; {add} invites someone.",
            email=email,
        )
    return invited[email.lower()]


# -- busy time -------------------------------------------------------------------------------------
def blocks(svc: Service, words: rules.Words, row: Row) -> bool:
    """Return whether an event takes up the account's time."""
    return row["show_as"] != "free" and my_answer(svc, words, row) != "declined"


def conflicts(svc: Service, words: rules.Words, row: Row) -> list[dict[str, Any]]:
    """Return what else takes up the account's time during an event, by start, ten at most.

    For a series, these are conflicts within the next 90 days.
    """
    begin = parse_time(row["start_at"])
    end = parse_time(row["end_at"])
    mine = [row]
    own_ids = rules.own_ids(svc, words)
    if row["recurrence"] is not None:
        end = max(begin, svc.now) + AHEAD
        mine = list(rules.expand(svc, words, row, max(begin, svc.now), end))
    ids = {row["id"], row["series_id"] or row["id"]}
    others = []
    for other in rules.occurrences(svc, words, begin, end, own_ids):
        if ids & {other["id"], other["series_id"]}:
            continue
        if any(_overlap(other, part) for part in mine) and blocks(svc, words, other):
            others.append(other)
            if len(others) == MOST_CONFLICTS:
                break
    return others


def _overlap(one: Row, other: Row) -> bool:
    return one["start_at"] < other["end_at"] and one["end_at"] > other["start_at"]


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, joined where they touch."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def busy(
    svc: Service, words: rules.Words, first: int, last: int, ids: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return what takes up the account's time in a span, by start.

    The account's own calendars are checked unless `ids` names some.
    """
    if ids is None:
        ids = rules.own_ids(svc, words)
    rows = rules.occurrences(svc, words, first, last, ids)
    return [row for row in rows if blocks(svc, words, row)]


def known_busy(svc: Service, email: str, first: int, last: int) -> list[BusyTime]:
    """Return the busy times in another person's calendar that touch a span, by start."""
    person = svc.db.get("calendar_people", email)
    where = ZoneInfo(person["timezone"] if person else "UTC")
    times = []
    for row in svc.db.rows("calendar_busy", "email=?", email):
        begin = parse_time(row["start_at"])
        length = parse_time(row["end_at"]) - begin
        for start in touching(row["rule"], begin, length, where, first, last):
            times.append(BusyTime(start, start + length, row["status"]))
    return sorted(times)


def engaged(svc: Service, words: rules.Words, email: str, first: int, last: int) -> list[BusyTime]:
    """Return another person's busy times, including events that the account can see.

    Those are events that the person organises or has accepted, at least tentatively.
    """
    times = known_busy(svc, email, first, last)
    if not svc.db.get("calendar_people", email):
        return sorted(set(times))
    for row in rules.occurrences(svc, words, first, last):
        answer = _answer_by(svc, row, email)
        if answer in ("accepted", "tentative") and row["show_as"] != "free":
            status = "busy" if answer == "accepted" else "tentative"
            begin = parse_time(row["start_at"])
            times.append(BusyTime(begin, parse_time(row["end_at"]), status))
    return sorted(set(times))


def _answer_by(svc: Service, row: Row, email: str) -> str | None:
    """Return a person's answer to an event; an organizer has accepted it. None if not invited."""
    if row["organizer"] == email:
        return "accepted"
    guest = next((a for a in row["attendees"] if a["email"] == email), None)
    return None if guest is None else answer_of(svc, row, guest)


def touching(
    rule: Row | None, begin: int, length: int, where: ZoneInfo, first: int, last: int
) -> list[int]:
    """Return the starts of something that may repeat, where it touches a span.

    It first begins at `begin` and lasts `length` seconds.
    """
    times = [begin] if rule is None else starts(rule, begin, where, first - length + 1, last)
    return [start for start in times if rules.overlap(start, start + length, first, last)]


def within(
    first: int, last: int, where: ZoneInfo, opens: time, shuts: time, days: Iterable[int] = range(5)
) -> bool:
    """Return whether a span lies within the working hours of one local day.

    `days` are weekdays; Monday is 0.
    """
    start = local(first, where)
    end = local(last, where)
    return (
        start.date() == end.date()
        and start.weekday() in days
        and opens <= start.time()
        and end.time() <= shuts
    )
