"""How a series repeats: the days that a rule allows.

They are counted in local time, so an event keeps its hour when clocks change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NotRequired
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from servers.kit.types import Row
from servers.kit.values import parse_time
from servers.kit.zones import local, local_day, local_moment, months_later

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _until(text: str) -> str:
    day = text[:10]
    if len(text) > 10:
        parse_time(text)
    is_date = re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)
    if not is_date or not 1900 <= date.fromisoformat(day).year < 2200:
        raise ValueError("must be a date such as 2026-06-30")
    return day


Day = Annotated[str, Field(pattern=r"^(-1|[1-5])?(MO|TU|WE|TH|FR|SA|SU)$")]


@with_config(extra="forbid")
class Recurrence(TypedDict):
    """How an event repeats, in the calendar's time zone."""

    freq: Annotated[
        Literal["daily", "weekly", "monthly", "yearly"],
        Field(description="Unit of repetition."),
    ]
    interval: NotRequired[
        Annotated[
            int, Field(ge=1, le=99, description="Repeat every this many units; defaults to 1.")
        ]
    ]
    by_day: NotRequired[
        Annotated[
            list[Day],
            Field(
                min_length=1,
                max_length=7,
                description="Weekdays MO to SU, for weekly and monthly; "
                "for monthly they can be numbered: 2TU, -1FR.",
            ),
        ]
    ]
    count: NotRequired[
        Annotated[
            int,
            Field(
                ge=1, le=500, description="Number of occurrences; cannot be combined with until."
            ),
        ]
    ]
    until: NotRequired[
        Annotated[
            str,
            Field(description="Last day, as YYYY-MM-DD; without count or until it never ends."),
            AfterValidator(_until),
        ]
    ]


def flaw(rule: Row) -> str | None:
    """Return how a rule contradicts itself, or None."""
    days = rule.get("by_day", [])
    if "count" in rule and "until" in rule:
        return "a recurrence can have count or until, but not both"
    if days and rule["freq"] not in ("weekly", "monthly"):
        return f"by_day works with weekly and monthly, not with {rule['freq']}"
    if rule["freq"] == "weekly" and any(len(d) > 2 for d in days):
        return "numbered weekdays such as 2TU work only with monthly"
    return None


def starts(rule: Row, first: int, where: ZoneInfo, after: int, before: int) -> Iterator[int]:
    """Yield the starts of occurrences, from `after` on and before `before`.

    The series begins at `first`. All values are epoch seconds.
    """
    begin = local(first, where)
    clock = begin.time()
    left = rule.get("count")
    until = date.fromisoformat(rule["until"]) if "until" in rule else date.max
    near = begin.date() if left is not None else max(begin.date(), local_day(after, where))
    for day in _days(rule, begin, near, min(until, local_day(before, where))):
        moment = local_moment(day, clock, where)
        if left == 0 or day > until or moment >= before:
            return
        left = None if left is None else left - 1
        if moment >= after:
            yield moment


def _days(rule: Row, begin: datetime, near: date, last: date) -> Iterator[date]:
    """Yield the days of a rule in order, starting shortly before `near`."""
    first = begin.date()
    step = rule.get("interval", 1)
    months = (near.year - first.year) * 12 + near.month - first.month
    passed = {
        "daily": (near - first).days,
        "weekly": (near - first).days // 7,
        "monthly": months,
        "yearly": near.year - first.year,
    }
    number = max(0, passed[rule["freq"]] // step - 1)
    while True:
        start, days = _period(rule, first, number * step)
        if start > last:
            return
        yield from (d for d in days if d >= first)
        number += 1


def _period(rule: Row, first: date, offset: int) -> tuple[date, list[date]]:
    """Return the start of a period and the days in it that match the rule.

    The period is the day, week, month or year that is `offset` units after the first.
    """
    chosen = rule.get("by_day", [])
    if rule["freq"] == "daily":
        day = first + timedelta(days=offset)
        return day, [day]
    if rule["freq"] == "weekly":
        monday = first + timedelta(weeks=offset, days=-first.weekday())
        weekdays = {DAYS.index(d) for d in chosen} or {first.weekday()}
        return monday, [monday + timedelta(days=n) for n in sorted(weekdays)]
    if rule["freq"] == "yearly":
        year = first.year + offset
        return date(year, 1, 1), _exists(year, first.month, first.day)
    start = months_later(first.replace(day=1), offset)
    if not chosen:
        return start, _exists(start.year, start.month, first.day)
    days = set()
    for weekday in chosen:
        days.update(_weekdays(start, weekday))
    return start, sorted(days)


def _exists(year: int, month: int, day: int) -> list[date]:
    try:
        return [date(year, month, day)]
    except ValueError:
        return []


def _weekdays(start: date, chosen: str) -> list[date]:
    """Return the days of a month for a weekday such as TU, 2TU (the second) or -1FR (the last)."""
    day = start + timedelta(days=(DAYS.index(chosen[-2:]) - start.weekday()) % 7)
    days = []
    while day.month == start.month:
        days.append(day)
        day += timedelta(weeks=1)
    if len(chosen) == 2:
        return days
    place = int(chosen[:-2])
    return days[-1:] if place == -1 else days[place - 1 : place]
