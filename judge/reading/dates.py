"""Days in a text: how they are written, and the dates that each may mean."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Sequence
from typing import Any

_MONTHS = re.findall(
    r"\w+",
    "january february march april may june july august september october november december",
)
_MONTH = {name[:3]: n for n, name in enumerate(_MONTHS, 1)}
_MONTH |= {name: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_WEEKDAYS = re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAY = {name: n for n, name in enumerate(_WEEKDAYS)}
_WEEKDAY |= {name[:3]: n for n, name in enumerate(_WEEKDAYS)}
_M = r"(?P<month>" + "|".join(sorted(_MONTH, key=len, reverse=True)) + r")\b\.?"
_W = (
    r"(?:"
    + "|".join(_WEEKDAYS)
    + r"|mon|tues?|wed|thu(?:rs?)?|fri|(?-i:Sat|Sun(?=,? (?:the )?(?:\d|[A-Z])|\s*\|)))\b"
)
_W = r"(?P<weekday>" + _W + r")"
_ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: n for n, word in enumerate(_ORDINAL_WORDS.split(), 1)}


def dates_of(found: re.Match[str], today: str) -> tuple[str, ...]:
    """Return the dates that a found day may mean."""
    return _dates_of(found.groups(), today[:10])


@functools.lru_cache(maxsize=1024)
def nearest_first(dates: tuple[str, ...], today: str) -> tuple[str, ...]:
    """Return dates in the order of how far they are from a day."""
    now = datetime.date.fromisoformat(today[:10])
    return tuple(sorted(dates, key=lambda d: abs((datetime.date.fromisoformat(d) - now).days)))


@functools.lru_cache(maxsize=1024)
def _dates_of(groups: tuple[Any, ...], today: str) -> tuple[str, ...]:
    now = datetime.date.fromisoformat(today)
    part = {name: groups[number - 1] for name, number in DAY.groupindex.items()}
    relative = (part.get("relative") or "").lower()
    if relative:
        steps = {"tomorrow": 1, "yesterday": -1, "last night": -1}
        return ((now + datetime.timedelta(steps.get(relative, 0))).isoformat(),)
    if part.get("iso"):
        return _valid([part["iso"]])
    month = part.get("month") or part.get("month2")
    dom = part.get("dom") or part.get("dom2") or part.get("dom3") or part.get("dom4")
    number = None
    if part.get("slash"):
        first, second = (int(n) for n in part["slash"].split("/")[:2])
        return _valid([f"{y}-{first:02}-{second:02}" for y in _years(now)])
    if dom:
        number = _ORDINALS.get(dom.lower()) or int(re.sub(r"\D", "", dom) or 0)
        if not 1 <= number <= 31:
            return ()
    if month and number:
        of_month = _MONTH[month.lower().rstrip(".")]
        year = part.get("year") or part.get("year2")
        years = [int(year)] if year else _years(now)
        last = part.get("upto")
        ends = (number, int(last)) if last and int(last) > number else (number,)
        days = []
        for dom in ends:
            days += [f"{y}-{of_month:02}-{dom:02}" for y in years]
        return _valid(days)
    weekday = part.get("weekday") or part.get("weekday2") or part.get("weekday3")
    at = _WEEKDAY[weekday.lower().rstrip(".")[:3]] if weekday else None
    around = _around(now)
    if number:
        wide = around if at is not None else _around(now, 190)
        numbered = [d for d in wide if d.day == number]
        fitting = [d for d in numbered if at in (None, d.weekday())]
        return tuple(d.isoformat() for d in fitting or numbered)
    if at is not None:
        near = [d for d in around if abs((d - now).days) < 22]
        return tuple(d.isoformat() for d in near if d.weekday() == at)
    return ()


@functools.lru_cache(maxsize=64)
def _around(now: datetime.date, ahead: int = 75) -> tuple[datetime.date, ...]:
    """Return the days of which one without a month may be."""
    return tuple(now + datetime.timedelta(n) for n in range(-45, ahead))


def _years(now: datetime.date) -> list[int]:
    return [now.year, now.year + 1, now.year - 1]


def _valid(days: Sequence[str]) -> tuple[str, ...]:
    found = []
    for day in days:
        try:
            found.append(datetime.date.fromisoformat(day).isoformat())
        except ValueError:
            continue
    return tuple(found)


_TO = r"(?:\s?[-\u2013]\s?(?P<upto>\d{1,2})\b(?![:./-]\d))?"
_MONTH_DOM = rf"{_M}\s+(?:the\s+)?(?P<dom>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d|\.\d)" + _TO
_DOM_MONTH = r"(?:the\s+)?(?P<dom2>\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+" + _M.replace(
    "month", "month2"
)
_NOT_A_DAY = (
    r"(?!\s+(?:try|attempt|time|payment|request|transfer|one|email|mail|call|street|ave|avenue"
    r"|floor|row|line|item|entry|copy|half|of each))"
)
_BEGINS = r"\d|to|th|ye|la|ne|co|mo|tu|we|fr|sa|su|ja|fe|ma|ap|ju|au|se|oc|no|de"
"""How every day begins; elsewhere the pattern need not look further."""
DAY = re.compile(
    rf"(?<!\w)(?={_BEGINS})(?:"
    r"\b(?P<iso>\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?(?!\w)"
    rf"|(?<!\w)(?:(?:next|this|last|coming)\s+)?(?:{_W},?\s+(?:the\s+)?)?"
    rf"(?:{_MONTH_DOM}(?:,?\s+(?P<year>20\d\d)\b)?|{_DOM_MONTH}(?:,?\s+(?P<year2>20\d\d)\b)?)"
    rf"|\b{_W.replace('weekday', 'weekday2')},?\s+\(?(?:the\s+)?"
    rf"(?P<dom3>\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(_ORDINALS)})\b"
    rf"|\bthe\s+(?P<dom4>\d{{1,2}}(?:st|nd|rd|th))\b{_NOT_A_DAY}"
    r"|(?<![\w/])(?P<slash>\d{1,2}/\d{1,2}(?:/\d{2,4})?)(?![\w/])"
    r"|\b(?P<relative>today|tomorrow|tonight|yesterday|last night"
    r"|this (?:morning|evening|afternoon))\b"
    rf"|\b(?:(?:next|this|last|coming)\s+)?{_W.replace('weekday', 'weekday3')}(?!\w)"
    r")",
    re.IGNORECASE,
)
