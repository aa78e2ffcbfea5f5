"""What the tests of ridesharing share: a way to work, rides as stored, and passing time."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.support import call_ok

MINUTE = 60
HOUR = 3600
DAY = 86_400
WORK = {
    "pickup_lat": 45.5181,
    "pickup_lng": -122.6431,
    "dropoff_lat": 45.5236,
    "dropoff_lng": -122.6828,
}


AIRPORT = WORK | {"dropoff_lat": 45.5898, "dropoff_lng": -122.5951}
REQUEST = {"uber": ("request_ride", "uberx"), "lyft": ("book_ride", "lyft")}


async def request(session: Session, app: str, way: dict[str, float] = WORK) -> str:
    """Request an ordinary ride for now and return its id."""
    tool, ride_type = REQUEST[app]
    ride = await call_ok(session, app, tool, ride_type_id=ride_type, **way)
    return ride["ride_id"]


def until(session: Session, moment: str, more: int = 0) -> None:
    session.pass_time(parse_time(moment) - session.control.now + more)


def row(session: Session, ride: str, table: str = "uber_rides") -> dict[str, Any]:
    stored = session.world.get(table, ride)
    assert stored is not None
    return stored
