"""Midnight between two towns, what insurance owes in its first days, and searches for nothing."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.travel.support import go_to, reserve
from tests.support import assert_error, call_ok, new_session

pytestmark = pytest.mark.anyio
TONIGHT = {"check_in_date": "2026-03-14", "check_out_date": "2026-03-15"}


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


def late_evening(session: Session) -> None:
    """Go to nine in the evening in Oregon, when the next day has begun in Maine."""
    go_to(session, "2026-03-15T04:30:00Z")


async def test_tonight_is_searched_in_the_town_where_it_is_still_tonight(session: Session) -> None:
    late_evening(session)
    found = (
        await call_ok(
            session,
            "booking",
            "search_properties",
            city="Portland",
            **TONIGHT,
            include_unavailable=True,
        )
    )["properties"]
    assert {p["state"] for p in found} == {"OR"}
    error = assert_error(
        await session.call("booking", "search_properties", {"city": "Portland, ME", **TONIGHT})
    )
    assert error["code"] == "INVALID_DATES"


async def test_deals_of_tonight_are_found_although_it_is_tomorrow_elsewhere(
    session: Session,
) -> None:
    late_evening(session)
    deals = (
        await call_ok(
            session,
            "booking",
            "get_genius_deals",
            check_in="2026-03-14",
            check_out="2026-03-15",
            limit=100,
        )
    )["deals"]
    states = {d["state"] for d in deals}
    assert "OR" in states and "ME" not in states
    past = await session.call(
        "booking", "get_genius_deals", {"check_in": "2026-03-01", "check_out": "2026-03-02"}
    )
    assert assert_error(past)["code"] == "INVALID_DATES"


async def test_insurance_pays_from_its_first_day_and_its_payment_can_be_seen_later(
    session: Session,
) -> None:
    made = await reserve(
        session, "wabash_house-1", check_in_date="2026-03-19", check_out_date="2026-03-20"
    )
    key = made["booking_id"]
    total = cents(made["price"]["total"])
    await call_ok(session, "expedia", "add_insurance", booking_id=key, plan_id="plan_cancel")
    assert (await call_ok(session, "expedia", "get_insurance_details", booking_id=key))[
        "payout"
    ] is None
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=key)
    assert gone["refund"]["amount"] == 0 and cents(gone["insurance_payout"]) == round(0.75 * total)
    assert gone["insurance_premium_refunded"] == 0, "what has paid is not given back"
    assert (await call_ok(session, "expedia", "get_insurance_details", booking_id=key))[
        "payout"
    ] == gone["insurance_payout"]


async def test_insurance_that_pays_nothing_is_given_back_with_the_stay(session: Session) -> None:
    made = await reserve(session)
    bought = await call_ok(
        session, "expedia", "add_insurance", booking_id=made["booking_id"], plan_id="plan_complete"
    )
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=made["booking_id"])
    assert gone["refund"]["not_refunded"] == gone["insurance_payout"] == 0
    assert gone["insurance_premium_refunded"] == bought["price"]


async def test_activities_are_not_found_by_punctuation_nor_boards_named_by_blanks(
    session: Session,
) -> None:
    assert (await call_ok(session, "expedia", "search_activities", city="Seattle, WA"))[
        "activities"
    ]
    assert (await call_ok(session, "expedia", "search_activities", city="Seattle, WA", query="?!"))[
        "activities"
    ] == []
    blank = await session.call(
        "expedia", "create_trip_board", {"name": "   ", "destination": "Seattle, WA"}
    )
    assert assert_error(blank)["code"] == "INVALID_INPUT"


async def test_no_two_hotels_share_a_phone(session: Session) -> None:
    phones = [r["phone"] for r in session.world.rows("travel_hotels")]
    assert len(set(phones)) == len(phones)
