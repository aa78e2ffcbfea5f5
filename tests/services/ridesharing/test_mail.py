"""What riders are mailed: receipts when rides end, reminders, and what cancels or changes them."""

from __future__ import annotations

from typing import Any

import pytest

from fault_profiles.model import parse
from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from servers.ridesharing.uber.parcels import PARCEL
from tests.mailed import mailed, subjects
from tests.services.ridesharing.support import AIRPORT, DAY, HOUR, MINUTE, request, row, until
from tests.support import START, call_ok, new_session

pytestmark = pytest.mark.anyio

SENDER = {"uber": "noreply@uber-mail.com", "lyft": "no-reply@lyft-mail.com"}
GET = {"uber": "get_ride", "lyft": "get_trip"}
CANCEL = {"uber": "cancel_ride", "lyft": "cancel_trip"}
TIP = {"uber": "tip_driver", "lyft": "add_gratuity"}
TOTAL = {
    "uber": lambda ride: ride["receipt"]["total"],
    "lyft": lambda ride: ride["total_charged"],
}
LATER = {"uber": "reserve_ride", "lyft": "schedule_ride"}
RIDE_TYPE = {"uber": "comfort", "lyft": "lyft"}
both = pytest.mark.parametrize("app", ["uber", "lyft"])


@pytest.fixture
def session() -> Session:
    return new_session("uber", "lyft", "gmail")


async def ahead(session: Session, app: str, days: int = 3) -> dict[str, Any]:
    wish = {
        "pickup": "Home",
        "dropoff": "Work",
        "ride_type": RIDE_TYPE[app],
        "scheduled_time": iso(START + days * DAY),
    }
    return await call_ok(session, app, LATER[app], **wish)


@both
async def test_a_receipt_comes_when_the_ride_ends_and_has_its_total(
    session: Session, app: str
) -> None:
    ride = await request(session, app, AIRPORT)
    ends_at = row(session, ride, f"{app}_rides")["ends_at"]
    until(session, ends_at, -1)
    assert mailed(session, SENDER[app]) == []
    until(session, ends_at)
    receipt = mailed(session, SENDER[app])[0]
    shown = await call_ok(session, app, GET[app], ride_id=ride)
    assert receipt["created_at"] == ends_at and f"${TOTAL[app](shown):.2f}" in receipt["body"]
    assert ride in receipt["body"] and shown["driver"]["name"] in receipt["body"]


@both
async def test_a_cancelled_ride_brings_no_receipt(session: Session, app: str) -> None:
    ride = await request(session, app)
    await call_ok(session, app, CANCEL[app], ride_id=ride)
    session.pass_time(DAY)
    [subject] = subjects(session, SENDER[app])
    assert "cancel" in subject


@both
async def test_a_planned_ride_is_confirmed_and_comes_to_mind_a_day_before(
    session: Session, app: str
) -> None:
    booked = await ahead(session, app)
    session.pass_time(4 * DAY)
    confirmed, reminder, receipt = mailed(session, SENDER[app], booked["ride_id"])
    stored = row(session, booked["ride_id"], f"{app}_rides")
    assert confirmed["created_at"] == stored["requested_at"]
    assert reminder["created_at"] == iso(START + 2 * DAY)
    assert receipt["created_at"] == stored["ends_at"]
    assert f"${booked['fare_total']:.2f}" in confirmed["body"]


@both
async def test_a_planned_ride_that_is_cancelled_is_not_called_to_mind(
    session: Session, app: str
) -> None:
    booked = await ahead(session, app)
    session.pass_time(HOUR)
    await call_ok(session, app, CANCEL[app], ride_id=booked["ride_id"])
    session.pass_time(4 * DAY)
    assert len(mailed(session, SENDER[app], booked["ride_id"])) == 2


@both
async def test_a_tip_changes_the_receipt(session: Session, app: str) -> None:
    ride = await request(session, app)
    until(session, row(session, ride, f"{app}_rides")["ends_at"], MINUTE)
    await call_ok(session, app, TIP[app], ride_id=ride, amount=4)
    session.pass_time(MINUTE)
    shown = await call_ok(session, app, GET[app], ride_id=ride)
    updated = mailed(session, SENDER[app])[-1]
    assert "$4.00" in updated["body"] and f"${TOTAL[app](shown):.2f}" in updated["body"]


async def test_a_stop_moves_the_receipt_and_changes_its_fare(session: Session) -> None:
    ride = await request(session, "uber")
    stop = {"ride_id": ride, "address": "Powell's Books, Portland"}
    changed = await call_ok(session, "uber", "add_stop", **stop)
    session.pass_time(3 * HOUR)
    notice, receipt = mailed(session, SENDER["uber"])
    assert f"New fare: ${changed['fare_total']:.2f}" in notice["body"]
    assert receipt["created_at"] == row(session, ride)["ends_at"]
    assert f"${changed['fare_total']:.2f}" in receipt["body"]
    assert "Stop: Powell's Books" in receipt["body"]


async def test_answers_to_a_fare_split_are_mailed_as_get_ride_tells_them(
    session: Session,
) -> None:
    ride = await request(session, "uber")
    until(session, row(session, ride)["starts_at"])
    contacts = (await call_ok(session, "uber", "list_contacts"))["contacts"][:4]
    people = [contact["contact_id"] for contact in contacts]
    await call_ok(session, "uber", "split_fare", ride_id=ride, contact_ids=people)
    session.pass_time(2 * HOUR)
    told = subjects(session, SENDER["uber"])
    shown = await call_ok(session, "uber", "get_ride", ride_id=ride)
    for person in shown["fare_split"]["participants"]:
        expected = f"{person['name']} {person['status']} your fare split"
        assert (expected in told) == (person["status"] in ("accepted", "declined"))


async def test_a_receipt_has_the_donation_of_its_dropoff(session: Session) -> None:
    ride = await request(session, "lyft")
    for enabled in (False, True):
        await call_ok(session, "lyft", "toggle_round_up", enabled=enabled)
        session.pass_time(MINUTE)
    until(session, row(session, ride, "lyft_rides")["ends_at"])
    [receipt] = mailed(session, SENDER["lyft"])
    shown = await call_ok(session, "lyft", "get_trip", ride_id=ride)
    assert f"${shown['total_charged']:.2f}" in receipt["body"]
    assert shown["total_charged"] == round(shown["total_charged"])
    assert "Round-up donation" in receipt["body"]


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_package_is_announced_and_arrives_unless_it_is_cancelled(
    session: Session, cancelled: bool
) -> None:
    parcel = await call_ok(session, "uber", "request_package_delivery", **PARCEL)
    said = {"delivery_id": parcel["delivery_id"]}
    if cancelled:
        await call_ok(session, "uber", "cancel_package_delivery", **said)
    session.pass_time(6 * HOUR)
    requested, then = mailed(session, SENDER["uber"])
    assert parcel["pin"] in requested["body"]
    assert ("canceled" if cancelled else "delivered") in then["subject"]
    if not cancelled:
        shown = await call_ok(session, "uber", "get_delivery_status", **said)
        assert parse_time(then["created_at"]) == parse_time(shown["delivered_at"])


async def test_a_ride_whose_cancellation_was_undone_brings_its_receipt() -> None:
    undone = parse({"revert_after_write": {"on": "uber.cancel_ride", "name": "undone"}})
    session = new_session("uber", "gmail", faults=[undone])
    ride = await request(session, "uber")
    await call_ok(session, "uber", "cancel_ride", ride_id=ride)
    session.pass_time(DAY)
    [subject] = subjects(session, SENDER["uber"])
    assert subject.startswith("Your trip with Uber")
    assert mailed(session, SENDER["uber"])[0]["created_at"] == row(session, ride)["ends_at"]


async def test_a_ride_that_becomes_shorter_brings_one_receipt_when_it_ends(
    session: Session,
) -> None:
    ride = await request(session, "uber")
    await call_ok(session, "uber", "add_stop", ride_id=ride, address="Powell's Books, Portland")
    await call_ok(session, "uber", "remove_stop", ride_id=ride, stop_index=0)
    session.pass_time(DAY)
    _, _, receipt = mailed(session, SENDER["uber"])
    assert receipt["created_at"] == row(session, ride)["ends_at"]
