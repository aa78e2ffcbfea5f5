"""What single occurrences have from their series: how long they last, and what they take over when it changes."""

from __future__ import annotations

from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.values import parse_time
from servers.kit.zones import local_day, local_moment

_OWN = ("cancelled_at", "updated_at", "attendees", "people")


def end_of(row: dict[str, Any], start: int, where: ZoneInfo) -> int:
    """Return when an event would end that began at a moment. Whole days stay whole: one of them may have 23 hours, or 25."""
    first = parse_time(row["start_at"])
    last = parse_time(row["end_at"])
    if not row["all_day"]:
        return start + last - first
    return local_moment(
        local_day(start, where) + (local_day(last, where) - local_day(first, where)), time(0), where
    )


def following(
    series: dict[str, Any], changes: dict[str, Any], apart: dict[str, Any]
) -> dict[str, Any]:
    """Return what an occurrence with a row of its own takes over when its series changes: all in which it is still like the series.

    Guests come and go with those of the series; an answer that was given for the occurrence stays.
    """
    found = {k: v for k, v in changes.items() if k not in _OWN and apart[k] == series[k] != v}
    if "attendees" in changes:
        before, here = ({a["email"]: a for a in row["attendees"]} for row in (series, apart))
        same = {email for email in {*before, *here} if here.get(email) == before.get(email)}
        people = [
            a if a["email"] not in {*before, *here} - same else here.get(a["email"])
            for a in changes["attendees"]
        ]
        now = {a["email"] for a in changes["attendees"]}
        people += [a for email, a in here.items() if email not in before and email not in now]
        found["attendees"] = [a for a in people if a is not None]
    return found if any(apart[k] != v for k, v in found.items()) else {}
