"""The life of a booking: the hotel's clock, refunds, deposits, grace periods, and changes."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.travel.support import DAY, book, go_to, reserve
from tests.support import call_ok, call_refused, new_session, session_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


async def test_a_stay_begins_and_ends_in_the_hotels_time_zone(session: Session) -> None:
    trips = (await call_ok(session, "expedia", "list_trips", booking_status="confirmed"))["trips"]
    key = trips[0]["booking_id"]
    stay = await call_ok(session, "expedia", "get_itinerary", booking_id=key)
    assert stay["check_in_date"] == "2026-03-18"
    assert stay["hotel"]["hotel_name"] == "The Wabash House"
    opens = int(stay["check_in_time"][:2])
    leaves = int(stay["check_out_time"][:2])
    # Chicago is five hours behind.
    for moment, status in (
        (f"2026-03-18T{opens + 4}:59:00Z", "confirmed"),
        (f"2026-03-18T{opens + 5}:01:00Z", "checked_in"),
        (f"2026-03-20T{leaves + 4}:59:00Z", "checked_in"),
        (f"2026-03-20T{leaves + 5}:01:00Z", "completed"),
    ):
        go_to(session, moment)
        stay = await call_ok(session, "expedia", "get_itinerary", booking_id=key)
        assert stay["booking_status"] == status
    error = await call_refused(session, "expedia", "cancel_itinerary", booking_id=key)
    assert error["code"] == "CANNOT_CANCEL"
    error = await call_refused(session, "expedia", "update_itinerary", booking_id=key, num_guests=2)
    assert error["code"] == "CANNOT_MODIFY"


# The first rate is flexible until 18:00 in Chicago on the day before.
@pytest.mark.parametrize(
    ("room", "when", "back"),
    [
        ("lakeside_suites-0", "2026-05-04T22:59:00Z", "all"),
        ("lakeside_suites-0", "2026-05-04T23:01:00Z", "all but a night"),
        ("lakeside_suites-1", "2026-03-15T00:00:00Z", "nothing"),
    ],
)
async def test_a_refund_follows_the_policy(
    session: Session, room: str, when: str, back: str
) -> None:
    booking = await book(session, room)
    key = booking["booking_id"]
    total = cents(booking["total_price"])
    go_to(session, when)
    gone = await call_ok(session, "booking", "cancel_booking", booking_id=key)
    night = cents(booking["nightly_prices"][0]["price"])
    taxed_night = round(night * total / cents(booking["price_before_taxes"]))
    wanted = {"all": total, "all but a night": total - taxed_night, "nothing": 0}[back]
    refund = cents(gone["refund_amount"])
    assert refund == pytest.approx(wanted, abs=1) and gone["refundable"] is (wanted > 0)
    assert refund + cents(gone["not_refunded"]) == total
    shown = await call_ok(session, "booking", "get_booking", booking_id=key)
    assert shown["booking_status"] == "cancelled"
    assert shown["refund_amount"] == gone["refund_amount"]
    error = await call_refused(session, "booking", "cancel_booking", booking_id=key)
    assert error["code"] == "ALREADY_CANCELLED"


async def test_only_the_deposit_is_charged_and_refunded() -> None:
    session = session_of("rafael", "booking", "expedia")
    ahead = await call_ok(session, "booking", "list_bookings", booking_status="confirmed")
    cottages = next(b for b in ahead["bookings"] if b["property_name"] == "Sea Turtle Cottages")
    key = cottages["booking_id"]
    stay = await call_ok(session, "booking", "get_booking", booking_id=key)
    assert stay["total_price"] == 1645.0
    assert (stay["charged_at_booking"], stay["due_at_property"]) == (411.25, 1233.75)
    gone = await call_ok(session, "booking", "cancel_booking", booking_id=key)
    assert (gone["refund_amount"], gone["not_refunded"]) == (411.25, 0)
    trips = (await call_ok(session, "expedia", "list_trips"))["trips"]
    condo = next(t for t in trips if t["hotel"]["hotel_name"] == "Sand Dollar Condominiums")
    key = condo["booking_id"]
    itinerary = await call_ok(session, "expedia", "get_itinerary", booking_id=key)
    assert itinerary["refund_amount"] == 208.9


async def test_expedia_refunds_any_rate_for_a_day_and_booking_does_not(session: Session) -> None:
    for advance, refundable in ((DAY - 60, True), (DAY + 60, False)):
        one = new_session("booking", "expedia")
        itinerary = await reserve(one, "wabash_house-1")
        one.control.advance(advance)
        key = itinerary["booking_id"]
        gone = await call_ok(one, "expedia", "cancel_itinerary", booking_id=key)
        assert gone["refund"]["amount"] == (itinerary["price"]["total"] if refundable else 0)
    key = (await book(session, "wabash_house-1"))["booking_id"]
    gone = await call_ok(session, "booking", "cancel_booking", booking_id=key)
    assert gone["refund_amount"] == 0


async def test_a_longer_stay_keeps_its_agreed_nights_and_pays_for_the_new_one(
    session: Session,
) -> None:
    booking = await book(session)
    session.control.advance(3 * DAY)
    change = {"booking_id": booking["booking_id"], "check_out_date": "2026-05-08"}
    longer = await call_ok(session, "booking", "modify_booking", **change)
    assert longer["nightly_prices"][:2] == booking["nightly_prices"]
    assert len(longer["nightly_prices"]) == 3
    grown = cents(longer["total_price"]) - cents(booking["total_price"])
    assert cents(longer["price_difference"]) == grown > 0
    mark = session.world.last_change()
    again = await call_ok(session, "booking", "modify_booking", **change)
    assert again["price_difference"] == 0
    assert session.world.last_change() == mark
    fixed = (await book(session, "wabash_house-1"))["booking_id"]
    error = await call_refused(
        session, "booking", "modify_booking", **change | {"booking_id": fixed}
    )
    assert error["code"] == "CANNOT_MODIFY"
    two = await call_ok(session, "booking", "modify_booking", booking_id=fixed, num_guests=2)
    assert two["price_difference"] == 0
