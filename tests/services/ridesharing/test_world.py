"""The rides of every person: enough of them, with their traps, and in accord with what happened in the person's life."""

from __future__ import annotations

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
    for tool, cancelled in (
        ("uber.list_rides", "driver_canceled"),
        ("lyft.list_trip_history", "canceled"),
    ):
        rides = await pages(session, *tool.split("."), "rides", limit=100)
        assert 60 <= len(rides) <= 150 and len({r["ride_id"] for r in rides}) == len(rides)
        assert any(r["status"] == cancelled for r in rides)
    table = session.world.sql(
        "SELECT name, count(*) FROM uber_drivers GROUP BY name, city_id HAVING count(*)>1"
    )
    assert table, "two drivers of one name"
    no_show = await call_ok(session, "uber", "get_ride", ride_id=make_id("ubr", name, "no_show"))
    assert no_show["status"] == "no_show" and no_show["receipt"]["total"] == 5
    receipt = (
        await call_ok(session, "uber", "get_ride", ride_id=make_id("ubr", name, "disputed"))
    )["receipt"]
    parts = (
        cents(receipt["fare"])
        + cents(receipt["tip"])
        + sum(cents(a["amount"]) for a in receipt["adjustments"])
    )
    assert cents(receipt["total"]) == parts < cents(receipt["fare"]) + cents(receipt["tip"])


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_rides_of_the_persons_life_cost_what_it_says(name: str) -> None:
    world = shared(name)
    life = [
        (e["key"], n, r)
        for e in _life(name)
        for n, r in enumerate(e.get("rides", [e["ride"]] if "ride" in e else []))
    ]
    assert len(life) >= 5
    for key, number, said in life:
        prefix, table = ("ubr", "uber_rides") if said["on"] == "uber" else ("lyr", "lyft_rides")
        found = world.get(table, make_id(prefix, name, f"{key}-{number}"))
        assert found is not None and found["fare"] == cents(said["fare"])
        assert (found["cancelled_at"] is not None) == ("cancelled" in said)
        assert found["requested_at"] <= person(name)["start"]


def _life(name: str) -> list[dict[str, Any]]:
    return Builder(name, person(name)).life
