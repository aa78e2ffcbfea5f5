"""Helpers of the travel tests: nights in May, bookings, and moving the clock."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.support import at, call_ok

DAY = 86_400
MAY = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-07"}


async def book(session: Session, room: str = "wabash_house-0", **args: Any) -> dict[str, Any]:
    """Book a room with Booking.com."""
    request = {"room_type_id": at("brt", room), **MAY, "num_guests": 1} | args
    return await call_ok(session, "booking", "create_booking", **request)


async def reserve(session: Session, room: str = "wabash_house-0", **args: Any) -> dict[str, Any]:
    """Book a room with Expedia."""
    request = {"room_type_id": at("xrt", room), **MAY, "num_guests": 1} | args
    return await call_ok(session, "expedia", "create_itinerary", **request)


def go_to(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)
