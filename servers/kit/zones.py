"""Calendar days, months and local hours in a time zone; rows hold UTC."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from servers.kit.values import iso


def local(moment: int, where: ZoneInfo) -> datetime:
    """Return a moment (epoch seconds) as a local date and time."""
    return datetime.fromtimestamp(moment, where)


def local_day(moment: int, where: ZoneInfo) -> date:
    """Return the calendar day of a moment (epoch seconds)."""
    return local(moment, where).date()


def local_moment(day: date, clock: time, where: ZoneInfo) -> int:
    """Return the epoch seconds of a local date and clock time."""
    return int(datetime.combine(day, clock, where).astimezone(UTC).timestamp())


def epoch(text: str, where: ZoneInfo) -> int:
    """Return the epoch seconds of a checked moment, or of the start of a day (YYYY-MM-DD).

    A moment without an offset is in the given zone.
    """
    if len(text) == 10:
        return local_moment(date.fromisoformat(text), time(0), where)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=where)
    return int(moment.astimezone(UTC).timestamp())


def months_later(day: date, months: int) -> date:
    """Return the same day some months later, or that month's last day if it is shorter.

    A negative number of months goes back.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def day_start(day: date, where: ZoneInfo, hour: int = 0) -> str:
    """Return the UTC moment (ISO) at which a day, or an hour of it, begins."""
    return iso(local_moment(day, time(hour), where))
