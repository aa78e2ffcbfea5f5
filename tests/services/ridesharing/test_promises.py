"""Riders get what they are told: minutes, drivers, fees, offers. Nobody is in two cars at once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from scenarios.worlds.build import names, shared
from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing.lyft import _model as lyft
from servers.ridesharing.uber import _model as uber
from servers.weather._stations import true_hours
from tests.services.ridesharing.support import HOUR, MINUTE, WORK, request, row, until
from tests.support import START, at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("uber", "lyft")


async def test_a_lyft_picks_up_and_arrives_as_estimated(session: Session) -> None:
    shown = (await call_ok(session, "lyft", "get_ride_estimates", **WORK))["estimates"][0]
    booked = await call_ok(
        session, "lyft", "book_ride", **WORK, ride_type_id="lyft", cost_token=shown["cost_token"]
    )
    assert booked["eta_pickup_min"] == shown["eta_pickup_min"]
    assert booked["eta_dropoff_min"] == shown["eta_dropoff_min"]
    ride = row(session, booked["ride_id"], "lyft_rides")
    until(session, ride["arrives_at"], -2 * MINUTE)
    reply = await call_ok(session, "lyft", "get_trip", ride_id=booked["ride_id"])
    assert reply["eta_pickup_min"] == 2
    until(session, ride["starts_at"])
    reply = await call_ok(session, "lyft", "get_trip", ride_id=booked["ride_id"])
    assert reply["eta_dropoff_min"] == booked["duration_min"]


async def test_nobody_drives_two_rides_at_once() -> None:
    for seed in range(12):
        session = new_session("uber", seed=seed)
        rides = [await request(session, "uber") for _ in range(3)]
        drivers = [row(session, ride)["driver_id"] for ride in rides]
        parcel = await call_ok(
            session,
            "uber",
            "request_package_delivery",
            pickup="Home",
            dropoff="Work",
            package_description="Keys",
            recipient_name="Ana Reyes",
            recipient_phone="+1-503-555-0101",
        )
        drivers.append(row(session, parcel["delivery_id"], "uber_deliveries")["driver_id"])
        assert len(set(drivers)) == 4, seed


@pytest.mark.parametrize(("minutes", "fee"), [(4, 5), (6, 0)])
async def test_cancelling_a_reservation_is_free_when_the_driver_is_late(
    minutes: int, fee: int
) -> None:
    for seed in range(200):
        session = new_session("uber", seed=seed)
        wish = {
            "pickup": "Home",
            "dropoff": "Work",
            "ride_type": "uberx",
            "scheduled_time": iso(START + HOUR),
        }
        ride = row(session, (await call_ok(session, "uber", "reserve_ride", **wish))["ride_id"])
        if parse_time(ride["arrives_at"]) > parse_time(ride["scheduled_for"]) + 6 * MINUTE + 10:
            until(session, ride["scheduled_for"], minutes * MINUTE)
            reply = await call_ok(session, "uber", "cancel_ride", ride_id=ride["id"])
            assert reply["cancellation_fee"] == fee
            return
    raise AssertionError("no driver was late")


async def test_an_offer_is_dropped_from_a_ride_that_becomes_too_cheap_for_it(
    session: Session,
) -> None:
    await call_ok(session, "uber", "apply_offer", offer_id=at("ubo", "five"))
    far = {"lat": 45.5898, "lng": -122.5951}
    ride = await call_ok(session, "uber", "request_ride", **WORK, ride_type_id="uberx", stops=[far])
    assert ride["receipt"]["discount"] == 5 and ride["offer_id"] == at("ubo", "five")
    short = await call_ok(session, "uber", "remove_stop", ride_id=ride["ride_id"], stop_index=0)
    shown = await call_ok(session, "uber", "get_ride", ride_id=ride["ride_id"])
    assert cents(shown["receipt"]["fare"]) < 1800, "the offer requires 18 dollars"
    assert shown["receipt"]["discount"] == 0
    assert shown["fare_total"] == short["fare_total"] == shown["receipt"]["fare"]
    reply = await call_ok(session, "uber", "get_user_profile")
    assert reply["promo"]["offer_id"] == at("ubo", "five"), "it is available for another ride"


async def test_an_offer_for_first_rides_is_listed_as_ineligible_after_them(
    session: Session,
) -> None:
    for app, tool, key, name, apply in (
        ("uber", "list_offers", "offers", "status", "apply_offer"),
        ("lyft", "list_promos", "promos", "state", "redeem_promo"),
    ):
        offers = (await call_ok(session, app, tool))[key]
        over = [offer for offer in offers if offer[name] == "ineligible"]
        assert over and all(offer["first_rides"] for offer in over)
        error = await call_refused(session, app, apply, offer_id=over[0]["offer_id"])
        assert error["code"] == "OFFER_NOT_ELIGIBLE"
        for offer in offers:
            if offer[name] == "available":
                await call_ok(session, app, apply, offer_id=offer["offer_id"])


@pytest.mark.parametrize(
    ("app", "save", "book", "ride_type"),
    [
        ("uber", "add_saved_place", "reserve_ride", "uberx"),
        ("lyft", "save_location", "schedule_ride", "lyft"),
    ],
)
async def test_spaces_around_a_label_do_not_count(
    session: Session, app: str, save: str, book: str, ride_type: str
) -> None:
    place = {
        "address": "2101 NE Going Street, Portland, OR 97211",
        "lat": 45.5581,
        "lng": -122.6437,
    }
    reply = await call_ok(session, app, save, label="  The  aunt ", **place)
    assert reply["label"] == "The aunt"
    error = await call_refused(session, app, save, label="   ", **place)
    assert error["code"] in ("INVALID_REQUEST", "BAD_REQUEST")
    wish = {
        "pickup": "the aunt",
        "dropoff": "Work",
        "ride_type": ride_type,
        "scheduled_time": iso(START + 2 * HOUR),
    }
    reserved = await call_ok(session, app, book, **wish)
    assert (reserved.get("pickup") or reserved["origin"])["lat"] == 45.5581


@pytest.mark.parametrize("name", names())
def test_nobody_is_in_two_cars_at_once_and_offers_were_valid_for_their_rides(
    name: str,
) -> None:
    world = shared(name, ("uber", "lyft"))
    driven = []
    for app in ("uber", "lyft"):
        for ride in world.rows(f"{app}_rides", "cancelled_at IS NULL"):
            driven.append((ride["starts_at"], ride["ends_at"], ride["id"]))
            offer = world.get(f"{app}_offers", ride["offer_id"]) if ride["offer_id"] else None
            if offer is not None:
                assert offer["starts_at"] <= ride["requested_at"] < offer["expires_at"]
                assert ride["fare"] >= offer["minimum"]
    for (_, ends_at, ride_id), (starts_at, _, next_id) in pairwise(sorted(driven)):
        assert ends_at <= starts_at, (ride_id, next_id)


@pytest.mark.parametrize(
    ("app", "book", "ride_type"),
    [("uber", "reserve_ride", "uberx"), ("lyft", "schedule_ride", "lyft")],
)
async def test_a_scheduled_ride_has_no_minutes_to_its_pickup_until_it_has_a_driver(
    app: str, book: str, ride_type: str, session: Session
) -> None:
    moment = iso(START + 40 * 24 * HOUR)
    args = {"pickup": "Home", "dropoff": "Work", "scheduled_time": moment, "ride_type": ride_type}
    booked = await call_ok(session, app, book, **args)
    show = "get_ride" if app == "uber" else "get_trip"
    ride = await call_ok(session, app, show, ride_id=booked["ride_id"])
    assert ride["eta_pickup_min"] is None and ride.get("eta_dropoff_min") is None
    until(session, moment, -10 * MINUTE)
    ride = await call_ok(session, app, show, ride_id=booked["ride_id"])
    assert ride["eta_pickup_min"] in range(10, 20)


@pytest.mark.parametrize("app", ["uber", "lyft"])
def test_fares_and_waits_rise_while_the_weather_services_report_a_storm(app: str) -> None:
    world = shared("eleanor", ("weather_com", app))
    city = world.get("ridesharing_cities", "savannah") or {}
    calm = city | {"storms": []}
    mode = uber.MODES["uberx"] if app == "uber" else lyft.MODES["lyft"]
    hours = true_hours(world, "savannah", parse_time("2026-10-08T16:00:00Z"), 30)
    worst = [hour.at for hour in hours if hour.wind >= 14]
    dry = [hour.at for hour in hours if max(hour.rain * 4, hour.wind) < 8]
    assert len(worst) > 5 and dry
    for moment in worst:
        later = moment + 20 * MINUTE
        assert roads.busy(app, city, later) == roads.busy(app, calm, later) + 50
        assert roads.wait(app, mode, city, later) == roads.wait(app, mode, calm, later) + 7
    for moment in dry:
        assert roads.busy(app, city, moment) == roads.busy(app, calm, moment)
        assert roads.wait(app, mode, city, moment) == roads.wait(app, mode, calm, moment)
