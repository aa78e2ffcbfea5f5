"""Read a line such as "Lunch with Ana at Rosa's on Friday 12:30-13:30 every week"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from servers.calendar._recurrence import DAYS

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_SPAN = rf"(?:\b(?:to|until|till|through)|[-–—])\s*(?:{_WEEKDAY}\b|{_MONTH}\s*[0-9]|[0-9]{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}|[0-9]{{4}}-[0-9])"
_CLOCK = r"(?:([0-9]{1,2})(?:[:.]([0-9]{2}))?\s*([ap]\.?m\b\.?)?|(noon|midnight))"
_SURE = r"(?:([0-9]{1,2}):([0-9]{2})\s*([ap]\.?m\b\.?)?|([0-9]{1,2})\s*([ap]\.?m\b\.?)|(noon|midnight)\b)"


@dataclass
class Quick:
    """What a line says; `clock` and `minutes` are None for a whole day. Raises `ValueError` in plain words where it cannot be read."""

    title: str
    day: date
    clock: time | None
    minutes: int
    location: str = ""
    rule: dict[str, Any] | None = field(default=None)


class _Line:
    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match out of the line."""
        found = re.search(r"(?<!\w)" + pattern + r"(?!\w)", self.text, re.IGNORECASE | re.ASCII)
        if found:
            self.text = f"{self.text[: found.start()]} {self.text[found.end() :]}"
        return found


def read(text: str, now: datetime) -> Quick:
    """Return what a line says, seen from a local moment. Raises `ValueError`."""
    line = _Line(" ".join(text.split()))
    rule = _every(line)
    day = _day(line, now.date())
    if day is not None and re.search(_SPAN, line.text, re.IGNORECASE):
        raise ValueError("it names a span of days")
    length = line.take(r"for ([0-9]{1,3}(?:\.5)?)\s*(h|hours?|hrs?|m|min|mins|minutes?)")
    clock, end = _hours(line)
    if day is None and clock is None and rule is None:
        raise ValueError("no day and no hour")
    if day is None:
        day = now.date() + timedelta(
            days=int(clock is not None and clock <= now.time() and rule is None)
        )
        if rule and rule.get("by_day"):
            day += timedelta(days=min((DAYS.index(d) - day.weekday()) % 7 for d in rule["by_day"]))
    minutes = 60
    if length:
        minutes = int(float(length[1]) * (60 if length[2].lower().startswith("h") else 1))
    elif end is not None and clock is not None:
        minutes = (end.hour * 60 + end.minute - clock.hour * 60 - clock.minute) % 1440
    if minutes == 0:
        raise ValueError("a length of nothing")
    rest = line.text
    place = re.search(r"(?:^|\s)(?:at|@)\s+(\S.*)$", rest)
    if place:
        rest = rest[: place.start()]
    title = re.sub(
        r"(?:\s+(?:on|at|from|the|by))+$",
        "",
        " ".join(rest.split()).strip(" ,;-"),
        flags=re.IGNORECASE,
    ).strip(" ,;-")
    where = " ".join(place[1].split()).strip(" ,;-") if place else ""
    if not title:
        raise ValueError("no title beside the time")
    return Quick(title[:200], day, clock, minutes, where[:200], rule)


def _every(line: _Line) -> dict[str, Any] | None:
    if line.take(r"every (?:weekday|workday)"):
        return {"freq": "weekly", "by_day": list(DAYS[:5])}
    weekday = line.take(rf"every (other )?({_WEEKDAY}(?:(?:, ?| and |, ?and ){_WEEKDAY})*)")
    if weekday:
        said = {d[:2].upper() for d in re.findall(_WEEKDAY, weekday[2], re.IGNORECASE)}
        rule: dict[str, Any] = {"freq": "weekly", "by_day": [d for d in DAYS if d in said]}
        return rule | ({"interval": 2} if weekday[1] else {})
    unit = line.take(r"every (other )?(day|week|month|year)")
    if not unit:
        return None
    freq = {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}[unit[2].lower()]
    return {"freq": freq} | ({"interval": 2} if unit[1] else {})


def _day(line: _Line, today: date) -> date | None:
    found = line.take(r"(?:on )?([0-9]{4})-([0-9]{2})-([0-9]{2})")
    if found:
        return _real(int(found[1]), int(found[2]), int(found[3]))
    found = line.take(
        rf"(?:on )?(?:{_WEEKDAY},? )?(?:the )?([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? ([0-9]{{4}}))?"
    )
    if found:
        return _month_day(today, found[3], found[2], found[4])
    found = line.take(
        rf"(?:on )?(?:{_WEEKDAY},? )?{_MONTH} ([0-9]{{1,2}})(?:st|nd|rd|th)?(?:,? ([0-9]{{4}}))?"
    )
    if found:
        return _month_day(today, found[2], found[3], found[4])
    found = line.take(r"(?:on )?([0-9]{1,2})/([0-9]{1,2})(?:/(20[0-9]{2}))?")
    if found and 1 <= int(found[1]) <= 12:
        return _month_day(today, _MONTHS[int(found[1]) - 1], found[2], found[3])
    if found:
        raise ValueError(f"{found[0].strip()} is no month/day")
    found = line.take(r"in ([0-9]{1,3}) (day|week)s?")
    if found:
        return today + timedelta(days=int(found[1]) * (7 if found[2].lower() == "week" else 1))
    found = line.take(r"(today|tonight|this evening|tomorrow)")
    if found:
        return today + timedelta(days=int(found[1].lower() == "tomorrow"))
    found = line.take(rf"(?:on )?(?:this )?(next )?{_WEEKDAY}")
    if found:
        weekday = next(
            n for n, name in enumerate(_WEEKDAYS) if name.startswith(found[2][:3].lower())
        )
        if found[1]:
            return today + timedelta(days=7 - today.weekday() + weekday)
        return today + timedelta(days=(weekday - today.weekday()) % 7)
    found = line.take(r"on the ([0-9]{1,2})(?:st|nd|rd|th)")
    return _next_day(today, int(found[1])) if found else None


def _month_day(today: date, month: str, day: str, year: str | None) -> date:
    number = _MONTHS.index(month[:3].lower()) + 1
    if year:
        return _real(int(year), number, int(day))
    made = _real(today.year, number, int(day))
    return made if made >= today else _real(today.year + 1, number, int(day))


def _next_day(today: date, number: int) -> date:
    """Return the next day of that number, of this month or of one that has it."""
    found = next(
        (d for d in (today + timedelta(days=n) for n in range(62)) if d.day == number), None
    )
    if found is None:
        raise ValueError(f"no month has a day {number}")
    return found


def _real(year: int, month: int, day: int) -> date:
    try:
        made = date(year, month, day)
    except ValueError:
        made = None
    if made is None or not 1900 <= year < 2200:
        raise ValueError(f"{year}-{month:02d}-{day:02d} is no date")
    return made


def _hours(line: _Line) -> tuple[time | None, time | None]:
    span = line.take(rf"(?:at |from )?{_CLOCK}\s*(?:-|–|—|to|till|until)\s*{_CLOCK}")
    if span:
        half = span[3] or (
            span[7]
            if not span[2] and span[1] and span[5] and int(span[1]) <= int(span[5])
            else None
        )
        return _clock(span[1], span[2], half, span[4]), _clock(span[5], span[6], span[7], span[8])
    found = line.take(rf"(?:at |from |@ ?){_CLOCK}")
    if found:
        return _clock(*found.groups()), None
    found = line.take(_SURE)
    if found:
        return _clock(found[1] or found[4], found[2], found[3] or found[5], found[6]), None
    return None, None


def _clock(hour: str | None, minute: str | None, half: str | None, word: str | None) -> time:
    if word or not hour:
        return time(12 if (word or "").lower() == "noon" else 0)
    number = int(hour)
    if half:
        if not 1 <= number <= 12:
            raise ValueError(f"{hour} {half} is no hour")
        number = number % 12 + 12 * half.lower().startswith("p")
    if number > 23 or int(minute or 0) > 59:
        raise ValueError(f"{hour}:{minute or '00'} is no time of day")
    return time(number, int(minute or 0))
