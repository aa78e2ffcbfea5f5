"""What Google Calendar and Outlook share about creating and changing events."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from servers.calendar import _busy
from servers.calendar import _mail as mail
from servers.calendar import _rules as rules
from servers.calendar._recurrence import flaw, starts
from servers.calendar._series import end_of, following
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch, local


# -- times -----------------------------------------------------------------------------------------
def span(svc: Service, words: rules.Words, start: str, end: str, all_day: bool) -> tuple[str, str]:
    """Return start and end of an event as they are stored, or refuse.

    The end of an all-day event is the day after its last day.
    """
    where = rules.zone(svc, words)
    if all_day:
        start = _day(start, where)
        end = _day(end, where)
    elif len(start) == 10 or len(end) == 10:
        svc.fail(
            words.bad_time,
            "An event that is not all-day needs times, not only dates.",
            "Give a date and time, or set all_day to true.",
        )
    return check_span(svc, words, epoch(start, where), epoch(end, where), all_day)


def _day(text: str, where: ZoneInfo) -> str:
    """Return the local day of a moment or day that an agent wrote."""
    return text if len(text) == 10 else local(epoch(text, where), where).date().isoformat()


def check_span(
    svc: Service, words: rules.Words, first: int, last: int, all_day: bool
) -> tuple[str, str]:
    """Return start and end as they are stored.

    Refuses an event that is empty or longer than a year.
    """
    if last <= first:
        hint = "Give an end_time after start_time."
        if all_day:
            hint = "end_time is exclusive: a one-day event ends on the next date."
        svc.fail(
            words.bad_time,
            f"The event would end at {iso(last)}, not after its start at {iso(first)}.",
            hint,
        )
    if last - first > rules.LONGEST:
        svc.fail(
            words.bad_time,
            "An event can last at most a year.",
            "Use a recurrence or several events.",
        )
    return iso(first), iso(last)


def retimed(
    svc: Service,
    words: rules.Words,
    row: Row,
    start: str | None,
    end: str | None,
    all_day: bool,
) -> tuple[str, str]:
    """Return the new start and end of an event as they are stored.

    A start that is not given stays. An end that is not given keeps the event's length.
    """
    where = rules.zone(svc, words)
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    if all_day:
        length = local(last - 1, where).date() - local(first, where).date() + timedelta(days=1)
        begin = local(first if start is None else epoch(start, where), where).date()
        return span(svc, words, begin.isoformat(), end or (begin + length).isoformat(), True)
    if row["all_day"] and (start is None or end is None):
        svc.fail(
            words.bad_time,
            "An event that is no longer all-day needs a start and end time.",
            "Give start_time and end_time.",
        )
    start = start or row["start_at"]
    return span(svc, words, start, end or iso(epoch(start, where) + last - first), False)


def align(svc: Service, words: rules.Words, row: Row) -> tuple[str, str]:
    """Return start and end of the first occurrence that an event's rule allows.

    Refuses a rule that contradicts itself or matches no day.
    """
    rule = row["recurrence"]
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    where = rules.zone(svc, words)
    contradiction = flaw(rule)
    begin = None
    if contradiction is None:
        begin = next(starts(rule, first, where, first, first + 30 * rules.LONGEST), None)
    if begin is None:
        svc.fail(
            words.bad_recurrence,
            f"The recurrence is invalid: {contradiction or 'no day matches it'}.",
            "Correct freq, by_day, count or until.",
        )
    if last - first > 31 * rules.DAY:
        svc.fail(
            words.bad_recurrence,
            "An event that repeats can last at most 31 days.",
            "Shorten it, or omit recurrence.",
        )
    return iso(begin), iso(end_of(row, begin, where))


# -- attendees -------------------------------------------------------------------------------------


def invite(
    svc: Service, people: Iterable[tuple[str, str | None]], present: Iterable[Row] = ()
) -> list[dict[str, Any]]:
    """Return attendees as they are stored, each address once.

    Those in `present` keep their answer; the others are invited now.
    """
    known = {a["email"]: a for a in present}
    attendees = {}
    for address, name in people:
        email = address.lower()
        person = svc.db.get("calendar_people", email) or {"name": None}
        invited = {
            "email": email,
            "name": name or person["name"],
            "invited_at": svc.time,
            "response": None,
        }
        attendees.setdefault(email, known.get(email, invited))
    return list(attendees.values())


def people_text(attendees: list[Row]) -> str:
    """Return the attendees' names and addresses as text for search."""
    return " ".join(f"{a['name'] or ''} {a['email']}" for a in attendees).strip()


# -- events ----------------------------------------------------------------------------------------
def new(svc: Service, words: rules.Words, calendar: Row, **columns: Any) -> Row:
    """Insert an event into a calendar and return its row.

    The calendar's owner is the organizer and not an attendee, unless `columns` name another
    organizer. They must include title, start and end; the others have defaults.
    """
    defaults = {
        "description": "",
        "location": "",
        "all_day": False,
        "attendees": [],
        "reminders": [],
        "show_as": "busy",
        "online": False,
    }
    given: dict[str, Any] = defaults | {k: v for k, v in columns.items() if v is not None}
    if given.get("recurrence"):
        given["start_at"], given["end_at"] = align(svc, words, given)
    organizer = given.setdefault("organizer", calendar["owner"])
    given["attendees"] = [a for a in given["attendees"] if a["email"] != organizer]
    row = {
        "id": svc.new_id(words.event_id),
        "calendar_id": calendar["id"],
        "people": people_text(given["attendees"]),
    }
    stamps = {"created_at": svc.time, "updated_at": svc.time}
    event = svc.db.insert(rules.table(words), row | given | stamps)
    mail.made(svc, words, event)
    return event


def change(svc: Service, words: rules.Words, row: Row, **changes: Any) -> dict[str, Any]:
    """Change an event, a series, or one occurrence alone, and return the new row.

    With new times, everybody who is invited is asked again. With new times or a new rule, a series
    loses the changes that were made to single occurrences.
    """
    changes = {k: v for k, v in changes.items() if row[k] != v}
    if not changes:
        return row
    if {"start_at", "end_at"} & set(changes):
        attendees = changes.get("attendees", row["attendees"])
        changes["attendees"] = [_asked_again(svc, words, a) for a in attendees]
    if "attendees" in changes:
        changes["attendees"] = [a for a in changes["attendees"] if a["email"] != row["organizer"]]
        changes["people"] = people_text(changes["attendees"])
    changes["updated_at"] = svc.time
    if row["recurrence"] is not None:
        _change_occurrences(svc, words, row, changes)
    if svc.db.get(rules.table(words), row["id"]) is None:
        svc.db.insert(rules.table(words), row | changes)
    else:
        svc.db.update(rules.table(words), row["id"], **changes)
    mail.changed(svc, words, row, row | changes)
    return row | changes


def _asked_again(svc: Service, words: rules.Words, attendee: Row) -> dict[str, Any]:
    if rules.is_me(svc, words, attendee["email"]):
        return attendee
    return attendee | {"invited_at": svc.time, "response": None}


def _change_occurrences(
    svc: Service, words: rules.Words, series: Row, changes: dict[str, Any]
) -> None:
    """Bring occurrences with rows of their own in line with a change of their series."""
    retimes = {"start_at", "end_at", "recurrence"} & set(changes)
    for apart in svc.db.rows(rules.table(words), "series_id=?", series["id"]):
        if retimes:
            svc.db.delete(rules.table(words), apart["id"])
        elif taken := following(series, changes, apart):
            people = people_text(taken.get("attendees", apart["attendees"]))
            svc.db.update(
                rules.table(words), apart["id"], updated_at=svc.time, people=people, **taken
            )


def cancel(svc: Service, words: rules.Words, row: Row) -> dict[str, Any]:
    """Cancel an event, a whole series, or one occurrence alone."""
    return change(svc, words, row, cancelled_at=svc.time)


def respond(svc: Service, words: rules.Words, event_id: str, response: str) -> dict[str, Any]:
    """Answer an invitation to an event, a series or one occurrence, and return the row.

    Refuses if the account was not invited.
    """
    row = rules.live(svc, words, event_id)
    rules.calendar(svc, words, row["calendar_id"], "writer")
    if _busy.my_answer(svc, words, row) is None or rules.is_me(svc, words, row["organizer"]):
        svc.fail(
            "NOT_INVITED",
            f"You are not an invited attendee of '{row['title']}', "
            f"organized by {row['organizer']}.",
            f"Only invitations can be answered; see the attendees in {words.list_events}.",
            event_id=event_id,
        )
    answered = [
        a | {"response": response} if rules.is_me(svc, words, a["email"]) else a
        for a in row["attendees"]
    ]
    return change(svc, words, row, attendees=answered)
