"""What Booking.com and Expedia mail about stays, and when."""

from __future__ import annotations

import pytest

from fault_profiles.model import parse
from servers.kit.session import Session
from servers.kit.values import cents
from servers.travel.booking.stays import BOOKED as STAY
from servers.travel.expedia.account import INSURED
from servers.travel.expedia.hotels import BOOKED as TRIP
from tests.support import call_ok, new_session

pytestmark = pytest.mark.anyio

DAY = 86_400
NEXT = {"check_in": "2026-11-20", "check_out": "2026-11-23"}


def mailed(session: Session, about: str) -> list[str]:
    """Return the templates of letters about a row that have arrived, oldest first."""
    where = "about=? AND delivered_at IS NOT NULL"
    rows = session.world.rows("outbox", where, about, order="delivered_at, rowid")
    return [row["template"] for row in rows]


async def test_a_booking_is_confirmed_with_its_price_and_remembered_later() -> None:
    session = new_session("booking", "gmail", "clock")
    made = await call_ok(session, "booking", "create_booking", **STAY.args)
    found = await call_ok(session, "gmail", "search_emails", query=f"{made['booking_id']}")
    mail = await call_ok(session, "gmail", "get_email", email_id=found["emails"][0]["email_id"])
    assert mail["subject"] == f"Your booking is confirmed at {made['property_name']}"
    assert f"Total  ${made['total_price']:,.2f}" in mail["body"]
    assert "Check-in: Tuesday, May 5, from" in mail["body"]
    session.pass_time(60 * DAY)
    assert mailed(session, made["booking_id"]) == ["booked", "check_in_soon", "how_was_it"]


async def test_a_cancelled_stay_is_not_announced() -> None:
    session = new_session("booking", "gmail", "clock")
    made = await call_ok(session, "booking", "create_booking", **STAY.args)
    await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    session.pass_time(60 * DAY)
    assert mailed(session, made["booking_id"]) == ["booked", "cancelled"]


async def test_a_stay_whose_cancellation_was_undone_is_announced() -> None:
    undone = {"on": "booking.cancel_booking", "name": "undone", "seconds": 600}
    session = new_session(
        "booking", "gmail", "clock", faults=[parse({"revert_after_write": undone})]
    )
    made = await call_ok(session, "booking", "create_booking", **STAY.args)
    await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    session.pass_time(60 * DAY)
    arrived = mailed(session, made["booking_id"])
    assert arrived == ["booked", "cancelled", "check_in_soon", "how_was_it"]


async def test_a_stay_that_was_moved_is_announced_once_for_its_new_dates() -> None:
    session = new_session("expedia", "gmail", "clock")
    made = await call_ok(session, "expedia", "create_itinerary", **TRIP.args)
    moved = {"check_in_date": "2026-05-12", "check_out_date": "2026-05-14"}
    await call_ok(session, "expedia", "update_itinerary", booking_id=made["booking_id"], **moved)
    session.pass_time(70 * DAY)
    arrived = mailed(session, made["booking_id"])
    assert arrived == ["booked", "changed", "check_in_soon", "how_was_it"]
    found = await call_ok(session, "gmail", "search_emails", query=f"{made['booking_id']} tomorrow")
    mail = await call_ok(session, "gmail", "get_email", email_id=found["emails"][0]["email_id"])
    assert "Check-in: Tuesday, May 12" in mail["body"]


async def test_a_guest_with_another_address_is_told_what_is_booked_but_not_insured() -> None:
    session = new_session("expedia", "gmail")
    guest = {"guest_name": "Jordan Park", "guest_email": "jordan.park@gmail.com"}
    made = await call_ok(session, "expedia", "create_itinerary", **TRIP.args, **guest)
    await call_ok(
        session,
        "expedia",
        "add_insurance",
        booking_id=made["booking_id"],
        plan_id=INSURED.args["plan_id"],
    )
    told = session.world.rows("outbox", "recipient=?", guest["guest_email"])
    assert [row["template"] for row in told] == ["booked"]


async def test_a_price_alert_is_mailed_once_when_the_price_drops() -> None:
    session = new_session("booking", "gmail", "clock")
    stay = {"check_in": "2026-10-05", "check_out": "2026-10-08"}
    listed = (await call_ok(session, "booking", "list_price_alerts"))["alerts"]
    hotel = listed[0]["property_id"]
    alert = await call_ok(session, "booking", "set_price_alert", property_id=hotel, **stay)
    assert alert["status"] == "active"
    session.pass_time(60 * DAY)
    assert mailed(session, alert["alert_id"]) == ["price_alert_set", "price_alert_met"]
    (post,) = session.world.rows("outbox", "template='price_alert_met'")
    assert post["about"] == alert["alert_id"]
    assert post["data"]["price"] < cents(alert["price_when_set"])
    gone = await call_ok(session, "booking", "set_price_alert", property_id=hotel, **NEXT)
    await call_ok(session, "booking", "remove_price_alert", alert_id=gone["alert_id"])
    session.pass_time(60 * DAY)
    assert mailed(session, gone["alert_id"]) == ["price_alert_set"]
