"""Prices of nights, and how many rooms are left.

Both are functions of a room, a night and the day of the question. Other guests book, too, and more
of them as the night draws near, so a room may be gone tomorrow. None of the episode's draws are
spent, so a repeated search agrees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, timedelta

from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import round_cents

HORIZON = 500
"""Days in advance for which rooms are sold."""
_WARM = 35.0
"""Latitude below which winters are warm."""
_WEEKEND = (4, 5)
"""Friday and Saturday nights."""


def nights(check_in: str, check_out: str) -> list[date]:
    """Return the nights of a stay: every day from arrival to the day before departure."""
    first = date.fromisoformat(check_in)
    last = date.fromisoformat(check_out)
    return [first + timedelta(days=n) for n in range((last - first).days)]


def busy(events: Iterable[Row], night: date) -> int:
    """Return how full an event in town makes a night, in percent, or 0 without an event.

    Above 100 the town sells out.
    """
    day = night.isoformat()
    return max((e["fill"] for e in events if e["begins"] <= day < e["ends"]), default=0)


def season(lat: float, night: date) -> float:
    """Return the season of a night from -1 (dead) to 1 (high).

    It peaks in July in the north, and in March where winters are warm.
    """
    peak = 75 if lat < _WARM else 196
    return math.cos(2 * math.pi * (night.timetuple().tm_yday - peak) / 365)


def night_price(room: Row, hotel: Row, fill: int, night: date, today: date) -> int:
    """Return the price of a night booked on `today`: whole dollars, in cents."""
    ahead = (night - today).days
    lead = 1.0
    if ahead <= 3:
        lead = 1.08
    elif ahead >= 60:
        lead = 0.94
    weekend = 1.17 if night.weekday() in _WEEKEND else 1.0
    event = 1 + max(0, fill - 60) / 130
    of_night = 0.05 * draws("rate", hotel["property_id"], night)[0]
    of_today = 0.03 * draws("rate", hotel["property_id"], night, today)[1]
    drift = 1 + of_night + of_today
    seasonal = room["base"] * (1 + 0.15 * season(hotel["lat"], night))
    return round_cents(seasonal * weekend * event * lead * drift / 100) * 100


def others(room: Row, hotel: Row, fill: int, night: date, today: date) -> int:
    """Return how many units of a pool other guests have booked for a night, as of `today`."""
    day = night.isoformat()
    closed_from = hotel["closed_from"]
    if closed_from is not None and closed_from <= day < (hotel["closed_to"] or "9999"):
        return room["units"]
    usual, luck, early = draws("guests", hotel["property_id"], room["pool"], night)[:3]
    ahead = min(max((night - today).days, 0), 75)
    if fill:
        share = fill / 100 + 0.18 * luck
        pickup = 1 - 0.15 * ahead / 75
    else:
        weekend = 0.10 if night.weekday() in _WEEKEND else 0.0
        share = 0.60 + 0.16 * season(hotel["lat"], night) + weekend + 0.22 * usual
        pickup = 1 - (0.55 + 0.1 * early) * ahead / 75
    return max(0, min(room["units"], math.floor(room["units"] * share * pickup + 0.5)))


def held(
    svc: Service, tables: str, property_id: str, pool: str, night: date, except_booking: str = ""
) -> int:
    """Return how many units of a pool this account has booked for a night."""
    day = night.isoformat()
    rooms = svc.db.sql(
        f"SELECT coalesce(sum(b.rooms),0) FROM {tables}_bookings b "
        f"JOIN {tables}_room_types r ON r.id=b.room_type_id "
        "WHERE b.property_id=? AND r.pool=? AND b.check_in<=? AND b.check_out>? "
        "AND b.cancelled_at IS NULL AND b.id<>?",
        property_id,
        pool,
        day,
        day,
        except_booking,
    )
    return rooms[0][0]
