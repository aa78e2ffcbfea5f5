"""Midnight between two towns, insurance in its first days, and searches without results."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.travel.support import go_to, reserve
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
TONIGHT = {"check_in_date": "2026-03-14", "check_out_date": "2026-03-15"}


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


def late_evening(session: Session) -> None:
    """Go to 9:30 in the evening in Oregon, when the next day has begun in Maine."""
    go_to(session, "2026-03-15T04:30:00Z")


async def test_tonight_is_searched_in_the_town_where_it_is_still_tonight(session: Session) -> None:
    late_evening(session)
    tonight = {"city": "Portland", **TONIGHT, "include_unavailable": True}
    shown = await call_ok(session, "booking", "search_properties", **tonight)
    assert {p["state"] for p in shown["properties"]} == {"OR"}
    maine = {"city": "Portland, ME", **TONIGHT}
    error = await call_refused(session, "booking", "search_properties", **maine)
    assert error["code"] == "INVALID_DATES"


async def test_tonights_deals_are_found_even_where_it_is_tomorrow_elsewhere(
    session: Session,
) -> None:
    late_evening(session)
    tonight = {"check_in": "2026-03-14", "check_out": "2026-03-15"}
    shown = await call_ok(session, "booking", "get_genius_deals", **tonight, limit=100)
    states = {d["state"] for d in shown["deals"]}
    assert "OR" in states and "ME" not in states
    past = {"check_in": "2026-03-01", "check_out": "2026-03-02"}
    error = await call_refused(session, "booking", "get_genius_deals", **past)
    assert error["code"] == "INVALID_DATES"


async def test_insurance_pays_from_its_first_day_and_shows_its_payout_later(
    session: Session,
) -> None:
    stay = {"check_in_date": "2026-03-19", "check_out_date": "2026-03-20"}
    itinerary = await reserve(session, "wabash_house-1", **stay)
    key = itinerary["booking_id"]
    total = cents(itinerary["price"]["total"])
    await call_ok(session, "expedia", "add_insurance", booking_id=key, plan_id="plan_cancel")
    details = await call_ok(session, "expedia", "get_insurance_details", booking_id=key)
    assert details["payout"] is None
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=key)
    assert gone["refund"]["amount"] == 0 and cents(gone["insurance_payout"]) == round(0.75 * total)
    assert gone["insurance_premium_refunded"] == 0, "insurance that has paid out is not refunded"
    details = await call_ok(session, "expedia", "get_insurance_details", booking_id=key)
    assert details["payout"] == gone["insurance_payout"]


async def test_insurance_that_pays_nothing_is_refunded_with_the_stay(session: Session) -> None:
    key = (await reserve(session))["booking_id"]
    plan = {"booking_id": key, "plan_id": "plan_complete"}
    bought = await call_ok(session, "expedia", "add_insurance", **plan)
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=key)
    assert gone["refund"]["not_refunded"] == gone["insurance_payout"] == 0
    assert gone["insurance_premium_refunded"] == bought["price"]


async def test_punctuation_finds_no_activities_and_blanks_name_no_board(
    session: Session,
) -> None:
    city = "Seattle, WA"
    every = await call_ok(session, "expedia", "search_activities", city=city)
    assert every["activities"]
    none = await call_ok(session, "expedia", "search_activities", city=city, query="?!")
    assert none["activities"] == []
    blank = {"name": "   ", "destination": city}
    error = await call_refused(session, "expedia", "create_trip_board", **blank)
    assert error["code"] == "INVALID_INPUT"


async def test_no_two_hotels_share_a_phone(session: Session) -> None:
    phones = [r["phone"] for r in session.world.rows("travel_hotels")]
    assert len(set(phones)) == len(phones)
