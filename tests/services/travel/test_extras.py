"""Features of one provider only: Genius and price alerts; insurance, boards and travelers."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from tests.services.travel.support import DAY, book, go_to, reserve
from tests.support import at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


# -- Booking.com -----------------------------------------------------------------------------------
async def test_the_genius_level_grows_with_stays_and_its_discount_applies_once(
    session: Session,
) -> None:
    status = await call_ok(session, "booking", "get_genius_status")
    assert (status["level"], status["bookings_to_next_level"]) == (1, 1)
    stay = {"city": "Chicago", "check_in": "2026-05-05", "check_out": "2026-05-07"}
    deals = (await call_ok(session, "booking", "get_genius_deals", **stay))["deals"]
    deal = next(d for d in deals if d["property_id"] == at("bpr", "lakeside_suites"))
    assert deal["genius_discount_percent"] == 10
    reduced = pytest.approx(0.9 * deal["price_per_night"], abs=0.01)
    assert deal["discounted_price_per_night"] == reduced
    booking = await book(session, "lakeside_suites-0")
    key = booking["booking_id"]
    less = await call_ok(session, "booking", "apply_genius_discount", booking_id=key)
    assert less["original_price"] == booking["total_price"]
    assert less["discounted_price"] == pytest.approx(0.9 * booking["total_price"], abs=0.02)
    error = await call_refused(session, "booking", "apply_genius_discount", booking_id=key)
    assert error["code"] == "DISCOUNT_ALREADY_APPLIED"
    key = (await book(session))["booking_id"]
    error = await call_refused(session, "booking", "apply_genius_discount", booking_id=key)
    assert error["code"] == "NOT_ELIGIBLE"
    go_to(session, "2026-04-13T00:00:00Z")  # the night in Seattle is over
    assert (await call_ok(session, "booking", "get_genius_status"))["level"] == 2


async def test_an_alert_triggers_expires_and_is_unique(session: Session) -> None:
    hotel = at("bpr", "wabash_hotel")
    stay = {"property_id": hotel, "check_in": "2026-05-05", "check_out": "2026-05-07"}
    high = await call_ok(session, "booking", "set_price_alert", **stay, target_price=900)
    assert high["status"] == "triggered" and high["current_price"] < 900
    error = await call_refused(session, "booking", "set_price_alert", **stay)
    assert error["code"] == "ALERT_EXISTS"
    await call_ok(session, "booking", "remove_price_alert", alert_id=high["alert_id"])
    low = await call_ok(session, "booking", "set_price_alert", **stay, target_price=20)
    assert low["status"] == "active"
    session.control.advance(60 * DAY)
    alerts = (await call_ok(session, "booking", "list_price_alerts"))["alerts"]
    status = {a["alert_id"]: a["status"] for a in alerts}
    assert status[low["alert_id"]] == "expired" and high["alert_id"] not in status


# -- Expedia ---------------------------------------------------------------------------------------
async def test_insurance_is_priced_by_the_stay_refunded_in_time_and_pays_the_loss(
    session: Session,
) -> None:
    itinerary = await reserve(session, "wabash_house-1")
    key = itinerary["booking_id"]
    total = cents(itinerary["price"]["total"])
    options = await call_ok(session, "expedia", "get_insurance_options", booking_id=key)
    price = {p["plan_id"]: cents(p["price"]) for p in options["plans"]}
    assert price["plan_cancel"] == max(1400, round(total * 0.06))
    plan = {"booking_id": key, "plan_id": "plan_cancel"}
    added = await call_ok(session, "expedia", "add_insurance", **plan)
    assert added["refundable_until"] == iso(parse_time(added["bought_at"]) + 10 * DAY)
    other = plan | {"plan_id": "plan_complete"}
    error = await call_refused(session, "expedia", "add_insurance", **other)
    assert error["code"] == "ALREADY_INSURED"
    session.control.advance(11 * DAY)
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=key)
    assert gone["refund"]["amount"] == 0 and gone["insurance_premium_refunded"] == 0
    assert cents(gone["insurance_payout"]) == round(0.75 * total)
    key = (await reserve(session))["booking_id"]
    plan = {"booking_id": key, "plan_id": "plan_cancel"}
    bought = await call_ok(session, "expedia", "add_insurance", **plan)
    back = await call_ok(session, "expedia", "cancel_insurance", booking_id=key)
    assert back["refunded"] == bought["price"]
    error = await call_refused(session, "expedia", "get_insurance_details", booking_id=key)
    assert error["code"] == "NOT_INSURED"
    past = {"booking_id": at("xit", "first"), "plan_id": "plan_cancel"}
    error = await call_refused(session, "expedia", "add_insurance", **past)
    assert error["code"] == "INSURANCE_UNAVAILABLE"


async def test_a_board_holds_search_results_and_can_be_listed(session: Session) -> None:
    saturday = {"city": "Seattle, WA", "on_date": "2026-04-11"}
    activities = await call_ok(session, "expedia", "search_activities", **saturday)
    things = activities["activities"]
    assert things and all("sat" in t["weekdays"] for t in things)
    plan = {"name": "Plan B", "destination": "Seattle, WA"}
    dates = "2026-04-11 to 2026-04-12"
    board = await call_ok(session, "expedia", "create_trip_board", **plan, travel_dates=dates)
    key = board["board_id"]
    item = {"board_id": key, "item_type": "activity", "item_id": things[0]["activity_id"]}
    await call_ok(session, "expedia", "add_to_trip_board", **item)
    error = await call_refused(session, "expedia", "add_to_trip_board", **item)
    assert error["code"] == "ALREADY_ON_BOARD"
    no_hotel = item | {"item_type": "property"}
    error = await call_refused(session, "expedia", "add_to_trip_board", **no_hotel)
    assert error["code"] == "HOTEL_NOT_FOUND"
    tom = ["tom.lindqvist@outlook.com"]
    await call_ok(session, "expedia", "share_trip_board", board_id=key, emails=tom)
    own = {"board_id": key, "emails": ["Maya.Lindqvist@gmail.com"]}
    error = await call_refused(session, "expedia", "share_trip_board", **own)
    assert error["code"] == "CANNOT_SHARE_WITH_SELF"
    head = {k: board[k] for k in ("board_id", "name", "destination", "travel_dates", "created_at")}
    boards = (await call_ok(session, "expedia", "list_trip_boards"))["boards"]
    assert boards[0] == head | {"item_count": 1}
    shown = await call_ok(session, "expedia", "get_trip_board", board_id=key)
    assert [i["name"] for i in shown["items"]] == [things[0]["name"]]
    assert shown["shared_with"] == tom
    backwards = {"name": "X", "travel_dates": "2026-04-12/2026-04-11"}
    error = await call_refused(session, "expedia", "create_trip_board", **plan | backwards)
    assert error["code"] == "INVALID_INPUT"


async def test_saved_travelers_are_unique_by_name(session: Session) -> None:
    error = await call_refused(session, "expedia", "add_saved_traveler", name="TOM  lindqvist")
    assert error["code"] == "TRAVELER_EXISTS"
    await call_ok(session, "expedia", "remove_saved_traveler", name="tom lindqvist")
    profile = await call_ok(session, "expedia", "get_traveler_profile")
    saved = [t["name"] for t in profile["saved_travelers"]]
    assert "Tom Lindqvist" not in saved and "Ingrid Lindqvist" in saved
    error = await call_refused(session, "expedia", "remove_saved_traveler", name="Tomas Lind")
    assert error["code"] == "TRAVELER_NOT_FOUND"
