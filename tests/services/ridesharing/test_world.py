"""The rides of every person: enough of them, with their traps, and true to the person's life."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scenarios.worlds.build import Builder, person, shared
from servers.kit.control import make_id
from servers.kit.values import cents
from tests.support import call_ok, pages, session_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_every_person_has_a_history_with_its_traps(name: str) -> None:
    session = session_of(name, "uber", "lyft")
    for app, tool, cancelled in (
        ("uber", "list_rides", "driver_canceled"),
        ("lyft", "list_trip_history", "canceled"),
    ):
        rides = await pages(session, app, tool, "rides", limit=100)
        assert 60 <= len(rides) <= 150 and len({r["ride_id"] for r in rides}) == len(rides)
        assert any(r["status"] == cancelled for r in rides)
    namesakes = session.world.sql(
        "SELECT name, count(*) FROM uber_drivers GROUP BY name, city_id HAVING count(*)>1"
    )
    assert namesakes, "no two drivers share a name"
    no_show = await call_ok(session, "uber", "get_ride", ride_id=make_id("ubr", name, "no_show"))
    assert no_show["status"] == "no_show" and no_show["receipt"]["total"] == 5
    disputed = await call_ok(session, "uber", "get_ride", ride_id=make_id("ubr", name, "disputed"))
    receipt = disputed["receipt"]
    paid = cents(receipt["fare"]) + cents(receipt["tip"])
    adjusted = sum(cents(a["amount"]) for a in receipt["adjustments"])
    assert cents(receipt["total"]) == paid + adjusted < paid


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_rides_of_happenings_cost_what_the_happenings_say(name: str) -> None:
    world = shared(name)
    life = list(_told_rides(name))
    assert len(life) >= 5
    for key, told in life:
        prefix, table = ("ubr", "uber_rides") if told["on"] == "uber" else ("lyr", "lyft_rides")
        ride = world.get(table, make_id(prefix, name, key))
        assert ride is not None and ride["fare"] == cents(told["fare"])
        assert (ride["cancelled_at"] is not None) == ("cancelled" in told)
        assert ride["requested_at"] <= person(name)["start"]


def _told_rides(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rides of a person's happenings, with the keys from which their ids are made."""
    for event in Builder(name, person(name)).life:
        for number, ride in enumerate(
            event.get("rides", [event["ride"]] if "ride" in event else [])
        ):
            yield f"{event['key']}-{number}", ride
