"""What the tests of ridesharing share: a way to work, rides as stored, and passing time."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time

MINUTE = 60
HOUR = 3600
DAY = 86_400
WORK = {
    "pickup_lat": 45.5181,
    "pickup_lng": -122.6431,
    "dropoff_lat": 45.5236,
    "dropoff_lng": -122.6828,
}


def until(session: Session, moment: str, more: int = 0) -> None:
    session.pass_time(parse_time(moment) - session.control.now + more)


def row(session: Session, ride: str, table: str = "uber_rides") -> dict[str, Any]:
    stored = session.world.get(table, ride)
    assert stored is not None
    return stored
