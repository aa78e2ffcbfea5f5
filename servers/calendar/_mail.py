"""What either calendar mails: invitations, changes, answers, and reminders by mail."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from servers.calendar import _busy
from servers.calendar import _rules as rules
from servers.calendar._recurrence import DAY_NAMES, DAYS
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local

TOLD = ("title", "start_at", "end_at", "all_day", "location", "description", "recurrence")
"""Columns of an event that guests are told of when they change."""
ANSWERS = {"accepted": "Accepted", "declined": "Declined", "tentative": "Tentative"}
UNITS = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}


# -- what a mail says ------------------------------------------------------------------------------
def said(row: Row, zone: ZoneInfo, organizer: str, **more: Any) -> dict[str, Any]:
    """Return the fields of a mail about an event; `organizer` is a name."""
    names = [a["name"] or a["email"] for a in row["attendees"]]
    fields = {
        "title": row["title"],
        "when": when(row, zone),
        "repeats": repeats(row.get("recurrence")),
        "where": row["location"],
        "notes": row["description"],
        "organizer": organizer,
        "guests": names,
        "online": "a link is in the event" if row["online"] else None,
        "reference": row["id"],
    }
    return fields | more


def when(row: Row, zone: ZoneInfo) -> str:
    """Return the time of an event in words, in the zone of the account's calendars."""
    first = local(parse_time(row["start_at"]), zone)
    last = local(parse_time(row["end_at"]), zone)
    if row["all_day"]:
        last -= timedelta(days=1)
        return _day(first) if first.date() >= last.date() else f"{_day(first)} to {_day(last)}"
    ends = _clock(last) if first.date() == last.date() else f"{_day(last)}, {_clock(last)}"
    return f"{_day(first)}, {_clock(first)} to {ends} ({first.tzname()})"


def _day(moment: Any) -> str:
    return f"{moment:%A, %B} {moment.day}"


def _clock(moment: Any) -> str:
    return f"{moment.hour % 12 or 12}:{moment:%M %p}"


def repeats(rule: Row | None) -> str | None:
    """Return how an event repeats in words, or None if it does not."""
    if not rule:
        return None
    unit = UNITS[rule["freq"]]
    every = rule.get("interval", 1)
    text = f"every {unit}" if every == 1 else f"every {every} {unit}s"
    days = [DAY_NAMES[DAYS.index(day[-2:])] for day in rule.get("by_day", [])]
    if days:
        text += f" on {', '.join(days)}"
    if "until" in rule:
        text += f" until {rule['until'][:10]}"
    return text + (f", {rule['count']} times" if "count" in rule else "")


def name_of(svc: Service, words: rules.Words, email: str) -> str:
    """Return the name of somebody with an address, or the address."""
    if rules.is_me(svc, words, email):
        return rules.me(svc, words)["name"]
    person = svc.db.get("calendar_people", email)
    return person["name"] if person else email


# -- posting ---------------------------------------------------------------------------------------
def made(svc: Service, words: rules.Words, row: Row) -> None:
    """Invite the guests of a new event, and post its reminders."""
    _invite(svc, words, row, row["attendees"])
    _remind(svc, words, row, [])


def invited(svc: Service, words: rules.Words, row: Row) -> None:
    """Mail the account the invitation to somebody else's event."""
    svc.post("invitation", rules.me(svc, words)["email"], _said(svc, words, row), about=row["id"])


def changed(svc: Service, words: rules.Words, before: Row, after: Row) -> None:
    """Tell guests, or the organizer, what has become of an event."""
    if after["cancelled_at"] != before["cancelled_at"]:
        if _busy.my_answer(svc, words, before) is None:
            _tell(svc, words, "cancelled", after, before["attendees"])
        else:
            _answered(svc, words, after, "declined")
        return
    known = {a["email"]: a for a in before["attendees"]}
    present = {a["email"]: a for a in after["attendees"]}
    _tell(svc, words, "uninvited", after, [a for e, a in known.items() if e not in present])
    _invite(svc, words, after, [a for e, a in present.items() if e not in known])
    stayed = [a for e, a in present.items() if e in known]
    if any(after[column] != before[column] for column in TOLD):
        zone = rules.zone(svc, words)
        was = when(before, zone)
        moved = was != when(after, zone)
        _tell(svc, words, "updated", after, stayed, was=was if moved else None)
    asked = [a for a in stayed if a["invited_at"] != known[a["email"]]["invited_at"]]
    _await(svc, words, after, asked)
    mine = _busy.my_answer(svc, words, after)
    if mine != _busy.my_answer(svc, words, before) and mine is not None:
        _answered(svc, words, after, mine)
    _remind(svc, words, after, _moments(before))


def _invite(svc: Service, words: rules.Words, row: Row, guests: Iterable[Row]) -> None:
    invited = [a for a in guests if not rules.is_me(svc, words, a["email"])]
    _tell(svc, words, "invitation", row, invited)
    _await(svc, words, row, invited)


def _tell(
    svc: Service, words: rules.Words, occasion: str, row: Row, guests: Iterable[Row], **more: Any
) -> None:
    """Mail guests other than the account about an event."""
    data = _said(svc, words, row, **more)
    for guest in guests:
        if not rules.is_me(svc, words, guest["email"]):
            svc.post(occasion, guest["email"], data, about=row["id"])


def _answered(svc: Service, words: rules.Words, row: Row, answer: str) -> None:
    """Mail the organizer the account's answer to an invitation."""
    who = rules.me(svc, words)["name"]
    data = _said(svc, words, row, who=who, answer=ANSWERS[answer])
    svc.post("answered", row["organizer"], data, about=row["id"])


def _await(svc: Service, words: rules.Words, row: Row, guests: Iterable[Row]) -> None:
    """Post the answers that guests will give, each for its moment."""
    for guest in guests:
        answer = _busy.coming_answer(svc, row, guest)
        if answer in ANSWERS and guest["response"] is None:
            who = guest["name"] or guest["email"]
            data = _said(svc, words, row, who=who, answer=ANSWERS[answer]) | {"by": guest["email"]}
            due = _busy.answers_at(svc, row, guest)
            svc.post("answered", row["organizer"], data, about=row["id"], due=due)


def _moments(row: Row) -> list[int]:
    """Return when the account is reminded of an event by mail; not of those that repeat."""
    if row["recurrence"] is not None:
        return []
    start = parse_time(row["start_at"])
    by_mail = [r["minutes_before"] for r in row["reminders"] if r["method"] == "email"]
    return [start - minutes * 60 for minutes in by_mail]


def _remind(svc: Service, words: rules.Words, row: Row, known: Iterable[int]) -> None:
    for moment in dict.fromkeys(_moments(row)):
        where = "about=? AND template='reminder' AND due_at=?"
        again = svc.db.rows("outbox", where, row["id"], iso(moment))
        if moment > svc.now and moment not in known and not again:
            address = rules.me(svc, words)["email"]
            svc.post("reminder", address, _said(svc, words, row), about=row["id"], due=moment)


def _said(svc: Service, words: rules.Words, row: Row, **more: Any) -> dict[str, Any]:
    organizer = name_of(svc, words, row["organizer"])
    return said(row, rules.zone(svc, words), organizer, **more)


# -- when the moment comes -------------------------------------------------------------------------
def when_due(svc: Service, words: rules.Words, post: Row) -> Json | None:
    """Return what an answer or a reminder says by then, or None if it does not apply any more."""
    row = svc.db.get(rules.table(words), post["about"])
    if row is None or row["cancelled_at"] is not None:
        return None
    if post["template"] == "reminder":
        declined = _busy.my_answer(svc, words, row) == "declined"
        wanted = parse_time(post["due_at"]) in _moments(row)
        return _said(svc, words, row) if wanted and not declined else None
    guest = next((a for a in row["attendees"] if a["email"] == post["data"]["by"]), None)
    if guest is None or guest["invited_at"] != post["posted_at"]:
        return None
    answer = _busy.answer_of(svc, row, guest)
    if answer not in ANSWERS:
        return None
    return post["data"] | _said(svc, words, row, answer=ANSWERS[answer])
