"""What single occurrences take from their series: its length and its changes."""

from __future__ import annotations

from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.types import Json, Row
from servers.kit.values import parse_time
from servers.kit.zones import local_day, local_moment

# Columns that an occurrence never takes over as they are.
_OWN = ("cancelled_at", "updated_at", "attendees", "people")


def end_of(row: Row, start: int, where: ZoneInfo) -> int:
    """Return the end of an event that begins at the given moment.

    All-day events keep their number of days, although a day can have 23 or 25 hours.
    """
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    if not row["all_day"]:
        return start + last - first
    length = local_day(last, where) - local_day(first, where)
    return local_moment(local_day(start, where) + length, time(0), where)


def following(series: Row, changes: dict[str, Any], apart: Row) -> Json:
    """Return the changes that an occurrence with a row of its own takes over from its series.

    It takes over each column that still had the same value as the series.
    """
    taken = {}
    for column, value in changes.items():
        if column not in _OWN and apart[column] == series[column] != value:
            taken[column] = value
    if "attendees" in changes:
        taken["attendees"] = _guests(series, changes["attendees"], apart)
    return taken if any(apart[k] != v for k, v in taken.items()) else {}


def _guests(series: Row, invited: list[Row], apart: Row) -> list[dict[str, Any]]:
    """Return an occurrence's attendees after those of its series have become `invited`.

    Guests are added and removed with those of the series. An answer given for the occurrence alone
    is kept, and so is a guest who was added or removed there alone.
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
