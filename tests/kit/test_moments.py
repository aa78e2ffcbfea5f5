"""Moments in arguments: what has no offset is in the time zone of the account."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import call_ok, new_session

pytestmark = pytest.mark.anyio

RIDE = {"pickup": "Home", "dropoff": "Work"}
MAIL = {"to": ["priya.nair@gmail.com"], "subject": "Monday", "body": "Is it still at nine?"}


@pytest.mark.parametrize(
    ("service", "tool", "args", "moment"),
    [
        ("uber", "reserve_ride", RIDE | {"ride_type": "uberx"}, "scheduled_time"),
        ("lyft", "schedule_ride", RIDE | {"ride_type": "lyft"}, "scheduled_time"),
        ("gmail", "schedule_send", MAIL, "send_at"),
    ],
)
@pytest.mark.parametrize("text", ["2026-03-16T08:30:00", "2026-03-16T11:30:00-04:00"])
async def test_a_moment_is_in_the_accounts_zone_unless_it_has_an_offset(
    service: str, tool: str, args: dict[str, Any], moment: str, text: str
) -> None:
    session = new_session(service)
    reply = await call_ok(session, service, tool, **args, **{moment: text})
    assert reply[moment] == "2026-03-16T15:30:00Z"


@pytest.mark.parametrize(
    ("service", "tool"), [("yelp", "search_businesses"), ("google_map_review", "search_places")]
)
async def test_opening_hours_are_asked_for_in_the_zone_of_the_home_city(
    service: str, tool: str
) -> None:
    session = new_session(service)
    wish = {"query": "coffee", "location": "Portland, OR"}
    asked = [
        await call_ok(session, service, tool, open_at=moment, **wish)
        for moment in ("2026-03-16T08:30", "2026-03-16T15:30:00Z", "2026-03-16T08:30:00Z")
    ]
    assert asked[0] == asked[1] != asked[2]
