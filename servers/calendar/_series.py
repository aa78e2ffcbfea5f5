"""What single occurrences take from their series: their length, and its changes."""

from __future__ import annotations

from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.values import parse_time
from servers.kit.zones import local_day, local_moment

# Columns that an occurrence never takes over as they are.
_OWN = ("cancelled_at", "updated_at", "attendees", "people")


def end_of(row: dict[str, Any], start: int, where: ZoneInfo) -> int:
    """Return when an event would end that began at a moment.

    Whole days stay whole, although a day may have 23 hours, or 25.
    """
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    if not row["all_day"]:
        return start + last - first
    length = local_day(last, where) - local_day(first, where)
    return local_moment(local_day(start, where) + length, time(0), where)


def following(
    series: dict[str, Any], changes: dict[str, Any], apart: dict[str, Any]
) -> dict[str, Any]:
    """Return the changes that an occurrence with a row of its own takes over from its series.

    It takes over every column in which it is still like the series.
    """
    taken = {}
    for column, value in changes.items():
        if column not in _OWN and apart[column] == series[column] != value:
            taken[column] = value
    if "attendees" in changes:
        taken["attendees"] = _guests(series, changes["attendees"], apart)
    return taken if any(apart[k] != v for k, v in taken.items()) else {}


def _guests(
    series: dict[str, Any], invited: list[dict[str, Any]], apart: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return an occurrence's attendees after those of its series have become `invited`.

    Guests come and go with those of the series; an answer that was given for the occurrence stays,
    and so does a guest who was added or removed there alone.
    """
    before = {a["email"]: a for a in series["attendees"]}
    here = {a["email"]: a for a in apart["attendees"]}
    guests = []
    for guest in invited:
        email = guest["email"]
        if here.get(email) == before.get(email):
            guests.append(guest)
        elif email in here:
            guests.append(here[email])
    emails = {a["email"] for a in invited}
    for email, guest in here.items():
        if email not in before and email not in emails:
            guests.append(guest)
    return guests
