"""What the tests of travel share: nights in May, an itinerary, and the way to a moment."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.support import at, call_ok

DAY = 86_400
MAY = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-07"}


async def reserve(session: Session, room: str = "wabash_house-0", **args: Any) -> dict[str, Any]:
    return await call_ok(
        session,
        "expedia",
        "create_itinerary",
        **{"room_type_id": at("xrt", room), **MAY, "num_guests": 1} | args,
    )


def go_to(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)
