"""The exchanges' calendar in New York, as pure functions of dates.

It covers trading days, sessions, holidays and settlement days.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from datetime import date, time, timedelta
from zoneinfo import ZoneInfo

from servers.kit.zones import local_day, local_moment

NEW_YORK = ZoneInfo("America/New_York")
OPEN = time(9, 30)
CLOSE = time(16)
EARLY = time(13)
_FIRST = 1990
_MOURNING = frozenset({date(2025, 1, 9)})
"""Weekdays on which the exchanges closed outside their regular calendar."""


def _nth(year: int, month: int, weekday: int, n: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (n - 1))


def _easter(year: int) -> date:
    """Return Easter Sunday, by the anonymous Gregorian computus; its steps have no names."""
    a = year % 19
    b, c = divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month, day = divmod(h + k - 7 * m + 114, 31)
    return date(year, month, day + 1)


def _observed(day: date) -> date:
    return day + timedelta(days={5: -1, 6: 1}.get(day.weekday(), 0))


def _thanksgiving(year: int) -> date:
    return _nth(year, 11, 3, 4)


@functools.cache
def holidays(year: int) -> frozenset[date]:
    """Return the days of a year on which the exchanges are closed, apart from weekends."""
    new_year = date(year, 1, 1)
    if new_year.weekday() == 6:  # the exchanges make up for a Sunday, but not for a Saturday
        new_year += timedelta(days=1)
    end_of_may = date(year, 5, 31)
    regular = {
        new_year,
        _nth(year, 1, 0, 3),  # Martin Luther King Jr. Day
        _nth(year, 2, 0, 3),  # Washington's Birthday
        _easter(year) - timedelta(days=2),  # Good Friday
        end_of_may - timedelta(days=end_of_may.weekday()),  # Memorial Day
        _observed(date(year, 6, 19)),  # Juneteenth
        _observed(date(year, 7, 4)),
        _nth(year, 9, 0, 1),  # Labor Day
        _thanksgiving(year),
        _observed(date(year, 12, 25)),
    }
    return frozenset(regular) | {day for day in _MOURNING if day.year == year}


def closes_early(day: date) -> bool:
    """Whether a trading day ends at 13:00: the day after Thanksgiving, Christmas Eve and July 3."""
    day_after_thanksgiving = _thanksgiving(day.year) + timedelta(days=1)
    return (day.month, day.day) in ((7, 3), (12, 24)) or day == day_after_thanksgiving


@functools.cache
def _days(year: int) -> tuple[date, ...]:
    day = date(year, 1, 1)
    days = []
    while day.year == year:
        if is_trading_day(day):
            days.append(day)
        day += timedelta(days=1)
    return tuple(days)


@functools.cache
def _before(year: int) -> int:
    return 0 if year <= _FIRST else _before(year - 1) + len(_days(year - 1))


def is_trading_day(day: date) -> bool:
    """Whether the exchanges are open on a day."""
    return day.weekday() < 5 and day not in holidays(day.year)


def day_number(day: date) -> int:
    """Return the number of trading days between a fixed first day and the given day."""
    return _before(day.year) + bisect_left(_days(day.year), day)


def trading_day(number: int) -> date:
    """Return the trading day with the given `day_number`."""
    year = _FIRST + number // 254
    while _before(year + 1) <= number:
        year += 1
    return _days(year)[number - _before(year)]


def on_or_after(day: date) -> date:
    """Return the day itself if it is a trading day, else the next one."""
    return trading_day(day_number(day))


def on_or_before(day: date) -> date:
    """Return the day itself if it is a trading day, else the previous one."""
    days = _days(day.year)
    earlier = bisect_right(days, day)
    return days[earlier - 1] if earlier else _days(day.year - 1)[-1]


def add_days(day: date, count: int) -> date:
    """Return the trading day `count` trading days after a trading day (before it, if negative)."""
    return trading_day(day_number(day) + count)


@functools.lru_cache(4096)
def session(day: date) -> tuple[int, int]:
    """Return the moments (epoch seconds) at which a trading day's session opens and closes."""
    close = EARLY if closes_early(day) else CLOSE
    return local_moment(day, OPEN, NEW_YORK), local_moment(day, close, NEW_YORK)


@functools.lru_cache(4096)
def _last(minute: int) -> date:
    at = minute * 60
    day = on_or_before(local_day(at, NEW_YORK))
    return day if session(day)[0] <= at else add_days(day, -1)


def last_session(at: int) -> date:
    """Return the latest trading day whose session has opened by a moment."""
    return _last(at // 60)


def last_closed(at: int) -> date:
    """Return the latest trading day whose session has closed by a moment."""
    day = last_session(at)
    return day if session(day)[1] <= at else add_days(day, -1)


def is_open(at: int) -> bool:
    """Whether the exchanges are in session."""
    return at < session(last_session(at))[1]


def next_open(at: int) -> int:
    """Return the moment at which the next session after the given moment opens."""
    return session(add_days(last_session(at), 1))[0]


def next_close(at: int) -> int:
    """Return the close of the current session, or of the next one if none is open.

    Funds' next net asset values are set at that moment.
    """
    return session(add_days(last_closed(at), 1))[1]


def settles(at: int, days: int = 1) -> int:
    """Return the moment at which a trade or transfer made at the given moment settles.

    It is the opening of the session `days` trading days after the trade's own day.
    """
    return session(add_days(on_or_before(local_day(at, NEW_YORK)), days))[0]
