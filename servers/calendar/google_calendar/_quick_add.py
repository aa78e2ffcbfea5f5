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
# A day may follow the month, as in "2-3 April 6", where 2-3 are hours.
_MONTH_ALONE = rf"{_MONTH}(?! [0-9]{{1,2}}(?![0-9:.]|\s*[ap]\.?m\b))"
_TO = r"\s*(?:-|–|—|\b(?:to|until|till|through|thru)\b)\s*"
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
# What tells the halves of the day apart where an hour alone does not.
_MORNING = r"\b(?:morning|breakfast|sunrise|wake|run|jog)\b"
_EVENING = (
    r"\b(?:tonight|evening|dinner|supper|drinks|cocktails|party|concert|movies?|film|theat(?:er|re)"
    r"|opera|late show)\b"
)
_FIRST_OF_DAY = 7
"""The earliest hour that a bare number means in the morning: at 7 is 07:00, at 3 is 15:00."""


@dataclass
class Quick:
    """What a line says."""

    title: str
    day: date
    clock: time | None
    """None for an all-day event, for which `minutes` has no meaning."""
    minutes: int
    last: date
    """The last day of an all-day event."""
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
    evening = _half(line.text)
    rule = _every(line)
    span = _days(line, now.date())
    day = span[0] if span else _day(line, now.date())
    length = line.take(r"for ([0-9]{1,3}(?:\.5)?)\s*(h|hours?|hrs?|m|min|mins|minutes?)")
    clock, end = _hours(line, evening)
    if span and (clock is not None or length):
        raise ValueError("it names a span of days and a time of day")
    if span and rule:
        raise ValueError("it names a span of days and a repetition")
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
    last = span[1] if span else day
    return Quick(title[:200], day, clock, minutes, last, location[:200], rule)


def _half(text: str) -> bool | None:
    """Return whether a line speaks of the evening, or None if it names no part of the day."""
    if re.search(_MORNING, text, re.IGNORECASE):
        return False
    return True if re.search(_EVENING, text, re.IGNORECASE) else None


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


def _days(line: _Line, today: date) -> tuple[date, date] | None:
    """Return the first and the last day of a span such as April 6-9 or Mon-Wed, or None."""
    span = _month_span(line, today) or _other_span(line, today)
    if span and not span[0] <= span[1] <= span[0] + timedelta(days=366):
        raise ValueError("the span of days ends before it begins, or lasts more than a year")
    return span


def _month_span(line: _Line, today: date) -> tuple[date, date] | None:
    """Return a span of days whose months are named: April 6-9, 6-9 April, March 30 to April 2."""
    # A time may follow, as in "April 6 - 9pm".
    day_alone = rf"{_NUMBER}(?!\s*[ap]\.?m\b|[:.][0-9])"
    match = line.take(rf"(?:from )?{_MONTH} {_NUMBER}{_TO}{_MONTH} {_NUMBER}{_YEAR}")
    if match:
        return _between(today, match[1], match[2], match[3], match[4], match[5])
    match = line.take(rf"(?:from )?{_NUMBER} {_MONTH}{_TO}{_NUMBER} {_MONTH}{_YEAR}")
    if match:
        return _between(today, match[2], match[1], match[4], match[3], match[5])
    match = line.take(rf"(?:from )?{_MONTH} {_NUMBER}{_TO}{day_alone}{_YEAR}")
    if match:
        return _between(today, match[1], match[2], match[1], match[3], match[4])
    match = line.take(rf"(?:from )?{_NUMBER}{_TO}{_NUMBER}(?: of)? {_MONTH_ALONE}{_YEAR}")
    if match:
        return _between(today, match[3], match[1], match[3], match[2], match[4])
    return None


def _other_span(line: _Line, today: date) -> tuple[date, date] | None:
    """Return a span of days such as 2026-04-06 to 2026-04-09, 4/6-4/9 or Mon-Wed, or None."""
    dated = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    match = line.take(rf"(?:from )?{dated}{_TO}{dated}")
    if match:
        numbers = [int(part) for part in match.groups()]
        return _real(*numbers[:3]), _real(*numbers[3:])
    match = line.take(rf"(?:from )?([0-9]{{1,2}})/([0-9]{{1,2}}){_TO}([0-9]{{1,2}})/([0-9]{{1,2}})")
    if match:
        months = [_month_name(match[1]), _month_name(match[3])]
        return _between(today, months[0], match[2], months[1], match[4], None)
    match = line.take(rf"(?:from )?(next )?{_WEEKDAY}{_TO}{_WEEKDAY}")
    if match is None:
        return None
    first = _weekday(today, match[2], coming=bool(match[1]))
    return first, _weekday(first, match[3], coming=False)


def _between(
    today: date, month: str, day: str, last_month: str, last_day: str, year: str | None
) -> tuple[date, date]:
    """Return two days, of which the second is the first such day after the other."""
    if year:
        last = _month_day(today, last_month, last_day, year)
        first = _month_day(today, month, day, year)
        if first > last and month[:3].lower() != last_month[:3].lower():
            first = _month_day(today, month, day, str(int(year) - 1))
        return first, last
    first = _month_day(today, month, day, None)
    if month[:3].lower() == last_month[:3].lower():
        return first, _month_day(today, last_month, last_day, str(first.year))
    return first, _month_day(first, last_month, last_day, None)


def _month_name(number: str) -> str:
    if not 1 <= int(number) <= 12:
        raise ValueError(f"{number} is not a month")
    return _MONTHS[int(number) - 1]


def _weekday(today: date, name: str, *, coming: bool) -> date:
    """Return the next such weekday, today included, or with `coming` that of the coming week."""
    weekday = _WEEKDAY_STARTS.index(name[:3].lower())
    if coming:
        return today + timedelta(days=7 - today.weekday() + weekday)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


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
    match = line.take(rf"{_ON_WEEKDAY}(?:the )?{_NUMBER}(?: of)? {_MONTH_ALONE}{_YEAR}")
    if match:
        return _month_day(today, match[3], match[2], match[4])
    match = line.take(rf"{_ON_WEEKDAY}{_MONTH} {_NUMBER}{_YEAR}")
    if match:
        return _month_day(today, match[2], match[3], match[4])
    match = line.take(r"(?:on )?([0-9]{1,2})/([0-9]{1,2})(?:/(20[0-9]{2}))?")
    if match is None:
        return None
    return _month_day(today, _month_name(match[1]), match[2], match[3])


def _relative_day(line: _Line, today: date) -> date | None:
    """Return a day such as in 3 days, tomorrow, next Friday or on the 20th, or None."""
    match = line.take(r"in ([0-9]{1,3}) (day|week)s?")
    if match:
        return today + timedelta(days=int(match[1]) * (7 if match[2].lower() == "week" else 1))
    match = line.take(r"(today|tonight|this (?:morning|afternoon|evening)|tomorrow)")
    if match:
        line.take(r"(?:in the )?(?:morning|afternoon|evening|night)")
        return today + timedelta(days=1) if match[1].lower() == "tomorrow" else today
    match = line.take(rf"(?:on )?(?:this )?(next )?{_WEEKDAY}")
    if match:
        return _weekday(today, match[2], coming=bool(match[1]))
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


def _hours(line: _Line, evening: bool | None) -> tuple[time | None, time | None]:
    """Return the start and end times, as far as the line gives them."""
    span = line.take(rf"(?:at |from )?{_CLOCK}\s*(?:-|–|—|to|till|until)\s*{_CLOCK}")
    if span:
        return _from_to(span.groups(), evening)
    match = line.take(rf"(?:at |from |@ ?){_CLOCK}")
    if match:
        return _guessed(match.groups(), evening), None
    match = line.take(_SURE_CLOCK)
    if match:
        parts = (match[1] or match[4], match[2], match[3] or match[5], match[6])
        return _guessed(parts, evening), None
    return None, None


_Parts = tuple[str | None, ...]
"""Hour, minute, am or pm, and noon or midnight, as far as a time has them."""


def _from_to(parts: _Parts, evening: bool | None) -> tuple[time, time]:
    """Return both ends of a span of hours; where only the end says am or pm, it tells both."""
    begun = parts[:4]
    ended = parts[4:]
    if not _is_bare(begun):
        begin = _clock(*begun)
    elif ended[2] and begun[0] and ended[0] and int(begun[0]) <= int(ended[0]) < 12:
        begin = _clock(begun[0], begun[1], ended[2], None)  # 2-3pm begins at 2 p.m.
    elif ended[2]:
        begin = _clock(*begun)  # 11-1pm begins at 11 a.m.
    else:
        begin = _guessed(begun, evening)
    end = _clock(*ended)
    if _is_bare(ended) and end <= begin and end.hour < 12:
        later = end.replace(hour=end.hour + 12)
        end = later if later > begin else end
    return begin, end


def _is_bare(parts: _Parts) -> bool:
    """Return whether a time leaves open which half of the day it means."""
    hour, _, half, word = parts
    return hour is not None and not half and not word and hour[0] != "0" and int(hour) < 12


def _guessed(parts: _Parts, evening: bool | None) -> time:
    """Return a time; an hour alone is in the half of the day in which people mean it."""
    moment = _clock(*parts)
    if not _is_bare(parts) or evening is False:
        return moment
    if evening or moment.hour < _FIRST_OF_DAY:
        return moment.replace(hour=moment.hour + 12)
    return moment


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
