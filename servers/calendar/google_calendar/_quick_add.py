"""Read a line such as "Lunch with Ana at Rosa's on Friday 12:30-13:30 every week"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from servers.calendar._recurrence import DAYS
from servers.kit.types import Json, Row

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY_STARTS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_NUMBER = r"([0-9]{1,2})(?:st|nd|rd|th)?"
# A second day after the first, as in "Mar 3 to Mar 5".
_SPAN = (
    r"(?:\b(?:to|until|till|through)|[-–—])\s*"
    rf"(?:{_WEEKDAY}\b|{_MONTH}\s*[0-9]|{_NUMBER}\s+{_MONTH}|[0-9]{{4}}-[0-9])"
)
# A time after "at" or "from", and a time that is clear without such a word.
_CLOCK = r"(?:([0-9]{1,2})(?:[:.]([0-9]{2}))?\s*([ap]\.?m\b\.?)?|(noon|midnight))"
_SURE_CLOCK = (
    r"(?:([0-9]{1,2}):([0-9]{2})\s*([ap]\.?m\b\.?)?"
    r"|([0-9]{1,2})\s*([ap]\.?m\b\.?)|(noon|midnight)\b)"
)
_ON_WEEKDAY = rf"(?:on )?(?:{_WEEKDAY},? )?"
_YEAR = r"(?:,? ([0-9]{4}))?"
_UNITS = {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}
_EDGES = " ,;-"


@dataclass
class Quick:
    """What a line says."""

    title: str
    day: date
    clock: time | None
    """None for an all-day event, for which `minutes` has no meaning."""
    minutes: int
    location: str = ""
    rule: dict[str, Any] | None = field(default=None)


class _Line:
    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match out of the line."""
        match = re.search(r"(?<!\w)" + pattern + r"(?!\w)", self.text, re.IGNORECASE | re.ASCII)
        if match:
            self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return match


def read(text: str, now: datetime) -> Quick:
    """Return what a line says, seen from a local moment.

    Raises `ValueError` in plain words if it cannot be read. The order of the steps matters: each
    cuts the part that it understood out of the line.
    """
    line = _Line(" ".join(text.split()))
    rule = _every(line)
    day = _day(line, now.date())
    if day is not None and re.search(_SPAN, line.text, re.IGNORECASE):
        raise ValueError("it names a span of days")
    length = line.take(r"for ([0-9]{1,3}(?:\.5)?)\s*(h|hours?|hrs?|m|min|mins|minutes?)")
    clock, end = _hours(line)
    if day is None and clock is None and rule is None:
        raise ValueError("it names neither a day nor a time")
    if day is None:
        day = _first_day(now, clock, rule)
    minutes = 60
    if length:
        minutes = int(float(length[1]) * (60 if length[2].lower().startswith("h") else 1))
    elif end is not None and clock is not None:
        minutes = (end.hour * 60 + end.minute - clock.hour * 60 - clock.minute) % 1440
    if minutes == 0:
        raise ValueError("the event would have no length")
    title = line.text
    location = ""
    place = re.search(r"(?:^|\s)(?:at|@)\s+(\S.*)$", title)
    if place:
        title = title[: place.start()]
        location = _tidy(place[1])
    # Cutting out the day or time can leave a preposition behind, as in "Lunch on".
    title = re.sub(r"(?:\s+(?:on|at|from|the|by))+$", "", _tidy(title), flags=re.IGNORECASE)
    title = title.strip(_EDGES)
    if not title:
        raise ValueError("it has no title besides the time")
    return Quick(title[:200], day, clock, minutes, location[:200], rule)


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(_EDGES)


def _first_day(now: datetime, clock: time | None, rule: Row | None) -> date:
    """Return the day for a line without one: today, tomorrow, or the first that a rule allows."""
    day = now.date()
    if rule is None:
        is_past = clock is not None and clock <= now.time()
        return day + timedelta(days=1) if is_past else day
    if rule.get("by_day"):
        day += timedelta(days=min((DAYS.index(d) - day.weekday()) % 7 for d in rule["by_day"]))
    return day


def _every(line: _Line) -> Json | None:
    if line.take(r"every (?:weekday|workday)"):
        return {"freq": "weekly", "by_day": list(DAYS[:5])}
    weekday = line.take(rf"every (other )?({_WEEKDAY}(?:(?:, ?| and |, ?and ){_WEEKDAY})*)")
    if weekday:
        named = {d[:2].upper() for d in re.findall(_WEEKDAY, weekday[2], re.IGNORECASE)}
        rule: dict[str, Any] = {"freq": "weekly", "by_day": [d for d in DAYS if d in named]}
        return rule | ({"interval": 2} if weekday[1] else {})
    unit = line.take(r"every (other )?(day|week|month|year)")
    if not unit:
        return None
    return {"freq": _UNITS[unit[2].lower()]} | ({"interval": 2} if unit[1] else {})


def _day(line: _Line, today: date) -> date | None:
    """Return the day that a line names, or None."""
    return _calendar_date(line, today) or _relative_day(line, today)


def _calendar_date(line: _Line, today: date) -> date | None:
    """Return a date such as 2026-03-20, 20 March 2026, Mar 20 or 3/20, or None.

    A date without a year is the next such date.
    """
    match = line.take(r"(?:on )?([0-9]{4})-([0-9]{2})-([0-9]{2})")
    if match:
        return _real(int(match[1]), int(match[2]), int(match[3]))
    match = line.take(rf"{_ON_WEEKDAY}(?:the )?{_NUMBER}(?: of)? {_MONTH}{_YEAR}")
    if match:
        return _month_day(today, match[3], match[2], match[4])
    match = line.take(rf"{_ON_WEEKDAY}{_MONTH} {_NUMBER}{_YEAR}")
    if match:
        return _month_day(today, match[2], match[3], match[4])
    match = line.take(r"(?:on )?([0-9]{1,2})/([0-9]{1,2})(?:/(20[0-9]{2}))?")
    if match is None:
        return None
    if not 1 <= int(match[1]) <= 12:
        raise ValueError(f"{match[0].strip()} is not a valid month/day")
    return _month_day(today, _MONTHS[int(match[1]) - 1], match[2], match[3])


def _relative_day(line: _Line, today: date) -> date | None:
    """Return a day such as in 3 days, tomorrow, next Friday or on the 20th, or None."""
    match = line.take(r"in ([0-9]{1,3}) (day|week)s?")
    if match:
        return today + timedelta(days=int(match[1]) * (7 if match[2].lower() == "week" else 1))
    match = line.take(r"(today|tonight|this evening|tomorrow)")
    if match:
        return today + timedelta(days=1) if match[1].lower() == "tomorrow" else today
    match = line.take(rf"(?:on )?(?:this )?(next )?{_WEEKDAY}")
    if match:
        weekday = _WEEKDAY_STARTS.index(match[2][:3].lower())
        if match[1]:
            return today + timedelta(days=7 - today.weekday() + weekday)
        return today + timedelta(days=(weekday - today.weekday()) % 7)
    match = line.take(r"on the ([0-9]{1,2})(?:st|nd|rd|th)")
    return _next_day(today, int(match[1])) if match else None


def _month_day(today: date, month: str, day: str, year: str | None) -> date:
    number = _MONTHS.index(month[:3].lower()) + 1
    if year:
        return _real(int(year), number, int(day))
    this_year = _real(today.year, number, int(day))
    return this_year if this_year >= today else _real(today.year + 1, number, int(day))


def _next_day(today: date, number: int) -> date:
    """Return the next day with that number, in this month or a later one."""
    for ahead in range(62):
        day = today + timedelta(days=ahead)
        if day.day == number:
            return day
    raise ValueError(f"no month has a day {number}")


def _real(year: int, month: int, day: int) -> date:
    if 1900 <= year < 2200:
        try:
            return date(year, month, day)
        except ValueError:
            pass
    raise ValueError(f"{year}-{month:02d}-{day:02d} is not a date")


def _hours(line: _Line) -> tuple[time | None, time | None]:
    """Return the start and end times, as far as the line gives them."""
    span = line.take(rf"(?:at |from )?{_CLOCK}\s*(?:-|–|—|to|till|until)\s*{_CLOCK}")
    if span:
        hour, minute, half, word, end_hour, end_minute, end_half, end_word = span.groups()
        if not half and not minute and hour and end_hour and int(hour) <= int(end_hour):
            half = end_half  # 2-3pm begins at 2 p.m., but 11-1pm at 11 a.m.
        begin = _clock(hour, minute, half, word)
        return begin, _clock(end_hour, end_minute, end_half, end_word)
    match = line.take(rf"(?:at |from |@ ?){_CLOCK}")
    if match:
        return _clock(*match.groups()), None
    match = line.take(_SURE_CLOCK)
    if match:
        return _clock(match[1] or match[4], match[2], match[3] or match[5], match[6]), None
    return None, None


def _clock(hour: str | None, minute: str | None, half: str | None, word: str | None) -> time:
    if word or not hour:
        return time(12 if (word or "").lower() == "noon" else 0)
    number = int(hour)
    if half:
        if not 1 <= number <= 12:
            raise ValueError(f"{hour} {half} is not a valid hour")
        number = number % 12
        if half.lower().startswith("p"):
            number += 12
    if number > 23 or int(minute or 0) > 59:
        raise ValueError(f"{hour}:{minute or '00'} is not a time of day")
    return time(number, int(minute or 0))
