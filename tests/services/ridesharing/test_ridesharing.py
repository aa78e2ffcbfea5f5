"""What makes Uber and Lyft unlike each other, and the rules of rides that they share."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import cents, iso
from servers.ridesharing import _roads as roads
from tests.services.ridesharing.support import (
    AIRPORT,
    DAY,
    HOUR,
    MINUTE,
    WORK,
    request,
    row,
    until,
)
from tests.support import START, at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("uber", "lyft")


# -- prices ----------------------------------------------------------------------------------------


async def test_a_fare_that_was_shown_is_the_fare_that_is_charged(session: Session) -> None:
    shown = await call_ok(session, "uber", "estimate_ride", ride_type_id="uberx", **WORK)
    assert await call_ok(session, "uber", "estimate_ride", ride_type_id="uberx", **WORK) == shown
    ride = await call_ok(
        session, "uber", "request_ride", ride_type_id="uberx", fare_id=shown["fare_id"], **WORK
    )
    assert ride["fare_total"] == shown["estimated_fare"]
    assert ride["surge_multiplier"] == shown["surge_multiplier"]
    all_of_them = (await call_ok(session, "lyft", "get_ride_estimates", **AIRPORT))["estimates"]
    lyft = next(e for e in all_of_them if e["ride_type_id"] == "lyft")
    booked = await call_ok(
        session,
        "lyft",
        "book_ride",
        ride_type_id="lyft",
        wait_and_save=True,
        cost_token=lyft["cost_token"],
        **AIRPORT,
    )
    assert booked["fare_total"] == lyft["wait_and_save_fare"] < lyft["fare"]


async def test_a_quote_survives_a_price_change_but_not_its_deadline_or_another_route(
    session: Session,
) -> None:
    shown = await call_ok(session, "uber", "estimate_ride", ride_type_id="comfort", **AIRPORT)
    until(session, shown["fare_expires_at"], -4)
    later = await call_ok(session, "uber", "estimate_ride", ride_type_id="comfort", **AIRPORT)
    assert later["estimated_fare"] != shown["estimated_fare"], (
        "the example needs a price that moves"
    )
    wrong = await call_refused(
        session, "uber", "request_ride", ride_type_id="comfort", fare_id=shown["fare_id"], **WORK
    )
    assert wrong["code"] == "QUOTE_EXPIRED"
    ride = await call_ok(
        session, "uber", "request_ride", ride_type_id="comfort", fare_id=shown["fare_id"], **AIRPORT
    )
    assert ride["fare_total"] == shown["estimated_fare"]
    session.pass_time(DAY)
    stale = await call_refused(
        session, "uber", "request_ride", ride_type_id="comfort", fare_id=shown["fare_id"], **AIRPORT
    )
    assert stale["code"] == "QUOTE_EXPIRED" and "estimate_ride" in stale["hint"]


def test_an_immediate_request_never_meets_higher_demand_than_was_shown() -> None:
    city = {"name": "Portland", "state": "Oregon", "timezone": "America/Los_Angeles", "storms": []}
    seen = set()
    for moment in range(START, START + 7 * DAY, 97):
        before, after = (roads.busy("uber", city, t) for t in (moment, moment + 290))
        seen.add(before)
        if moment // 900 != (moment + 290) // 900:
            assert after <= before
    assert 0 in seen and max(seen) >= 40, "there should be quiet and busy hours"


async def test_a_ride_must_go_somewhere_within_reach(session: Session) -> None:
    nowhere = WORK | {"dropoff_lat": 45.5181, "dropoff_lng": -122.6431, "ride_type_id": "uberx"}
    same = await call_refused(session, "uber", "estimate_ride", **nowhere)
    assert same["code"] == "SAME_LOCATION"
    to_seattle = WORK | {"dropoff_lat": 47.6062, "dropoff_lng": -122.3321}
    far = await call_refused(session, "lyft", "get_ride_estimates", **to_seattle)
    assert far["code"] == "DISTANCE_EXCEEDED"
    from_the_sea = WORK | {"pickup_lat": 40.0, "pickup_lng": -140.0, "ride_type_id": "lyft"}
    sea = await call_refused(session, "lyft", "book_ride", **from_the_sea)
    assert sea["code"] in ("OUTSIDE_SERVICE_AREA", "DISTANCE_EXCEEDED")


async def test_home_is_the_home_that_the_rider_saved(session: Session) -> None:
    uber = await call_ok(session, "uber", "find_place", query="home")
    lyft = await call_ok(session, "lyft", "search_address", query="home")
    assert "2318 SE Alder Street" in uber["places"][0]["address"]
    assert lyft["results"] == uber["places"]


async def test_an_address_is_resolved_or_refused_as_unknown_or_ambiguous(session: Session) -> None:
    later = {"ride_type": "uberx", "scheduled_time": iso(START + DAY)}
    two = await call_refused(
        session, "uber", "reserve_ride", pickup="Home", dropoff="Hazel & Oat Coffee", **later
    )
    assert two["code"] == "AMBIGUOUS_ADDRESS" and len(two["candidates"]) == 3
    airport = await call_ok(session, "uber", "reserve_ride", pickup="Home", dropoff="PDX", **later)
    assert "Portland International Airport" in airport["dropoff"]["address"]
    none = await call_refused(
        session, "uber", "reserve_ride", pickup="Home", dropoff="The North Pole", **later
    )
    assert none["code"] == "ADDRESS_NOT_FOUND" and "find_place" in none["hint"]
    known = await call_ok(
        session,
        "uber",
        "reserve_ride",
        pickup="home",
        dropoff=two["candidates"][1]["place_id"],
        **later,
    )
    assert known["dropoff"]["address"] == two["candidates"][1]["address"]
    reply = await call_ok(session, "lyft", "search_address", query="portland airport")
    assert reply["results"][0]["lat"] == 45.5898


# -- the life of a ride ----------------------------------------------------------------------------


async def test_a_ride_runs_by_the_clock(session: Session) -> None:
    ride = await call_ok(session, "uber", "request_ride", ride_type_id="uberx", **WORK)
    assert ride["status"] == "processing" and ride["driver"] is None
    early = await call_refused(session, "uber", "get_driver_info", ride_id=ride["ride_id"])
    assert early["code"] == "DRIVER_NOT_ASSIGNED"
    stored = row(session, ride["ride_id"])
    for moment, status in (
        ("matched_at", "accepted"),
        ("arrives_at", "arriving"),
        ("starts_at", "in_progress"),
        ("ends_at", "completed"),
    ):
        until(session, stored[moment])
        seen = await call_ok(session, "uber", "get_ride", ride_id=ride["ride_id"])
        assert seen["status"] == status and seen["driver"]["vehicle"]["license_plate"]
    assert seen["dropped_off_at"] == stored["ends_at"]
    assert seen["receipt"]["total"] == ride["fare_total"]
    reply = await call_ok(session, "uber", "list_rides", limit=5)
    assert reply["rides"][0]["status"] == "scheduled", "scheduled rides come first"


async def test_cancelling_is_free_for_two_minutes_then_costs_a_fee_then_is_too_late(
    session: Session,
) -> None:
    costs = {}
    for seconds in (0, 119, 121):
        ride = await request(session, "lyft", AIRPORT)
        stored = row(session, ride, "lyft_rides")
        until(session, stored["matched_at"], seconds - 1)
        costs[seconds] = (await call_ok(session, "lyft", "cancel_trip", ride_id=ride))["cancel_fee"]
        seen = await call_ok(session, "lyft", "get_trip", ride_id=ride)
        assert seen["status"] == "canceled" and seen["total_charged"] == costs[seconds]
    assert costs == {0: 0.0, 119: 0.0, 121: 5.0}
    ride = await request(session, "lyft", AIRPORT)
    until(session, row(session, ride, "lyft_rides")["starts_at"])
    late = await call_refused(session, "lyft", "cancel_trip", ride_id=ride)
    assert late["code"] == "RIDE_NOT_CANCELLABLE"


async def test_lyft_drives_one_ride_at_a_time_and_uber_three(session: Session) -> None:
    first = await call_ok(session, "lyft", "book_ride", ride_type_id="lyft", **WORK)
    again = await call_refused(session, "lyft", "book_ride", ride_type_id="lyft", **WORK)
    assert again["code"] == "RIDE_IN_PROGRESS" and again["ride_id"] == first["ride_id"]
    rides = [await request(session, "uber") for _ in range(3)]
    fourth = await call_refused(session, "uber", "request_ride", ride_type_id="uberx", **WORK)
    assert fourth["code"] == "TOO_MANY_ACTIVE_RIDES" and sorted(fourth["ride_ids"]) == sorted(rides)


async def test_a_payment_method_must_be_known_and_valid(session: Session) -> None:
    by_old_card = WORK | {"ride_type_id": "uberx", "payment_method_id": at("ubw", "old_visa")}
    gone = await call_refused(session, "uber", "request_ride", **by_old_card)
    assert gone["code"] == "PAYMENT_METHOD_EXPIRED"
    by_ubers_card = WORK | {"ride_type_id": "lyft", "payment_method_id": at("ubw", "visa")}
    other = await call_refused(session, "lyft", "book_ride", **by_ubers_card)
    assert other["code"] == "PAYMENT_METHOD_NOT_FOUND" and "list_payment_cards" in other["hint"]
    by_amex = WORK | {"ride_type_id": "uberx", "payment_method_id": at("ubw", "amex")}
    amex = await call_ok(session, "uber", "request_ride", **by_amex)
    assert amex["payment_method"]["last4"] == "1009"


async def test_stops_change_fare_and_arrival_and_only_those_ahead_can_be_removed(
    session: Session,
) -> None:
    ride = await call_ok(session, "uber", "request_ride", ride_type_id="uberx", **AIRPORT)
    name = ride["ride_id"]
    one = await call_ok(session, "uber", "add_stop", ride_id=name, address="Bright Kiln Supply")
    assert one["fare_total"] > ride["fare_total"]
    two = await call_ok(
        session, "uber", "add_stop", ride_id=name, address="Alder Co-op", position=0
    )
    assert [s["address"].split(",")[0] for s in two["stops"]] == [
        "Alder Co-op",
        "Bright Kiln Supply",
    ]
    await call_ok(session, "uber", "add_stop", ride_id=name, address="Cole Pet Care", position=1)
    full = await call_refused(session, "uber", "add_stop", ride_id=name, address="Two Rivers Books")
    assert full["code"] == "TOO_MANY_STOPS"
    until(session, row(session, name)["starts_at"], 9 * MINUTE)
    stops = (await call_ok(session, "uber", "get_ride_stops", ride_id=name))["stops"]
    assert stops[0]["reached"] and not stops[-1]["reached"]
    behind = await call_refused(session, "uber", "remove_stop", ride_id=name, stop_index=0)
    assert behind["code"] == "STOP_ALREADY_REACHED"
    fewer = await call_ok(session, "uber", "remove_stop", ride_id=name, stop_index=2)
    assert len(fewer["stops"]) == 2
    error = await call_refused(session, "uber", "remove_stop", ride_id=name, stop_index=2)
    assert error["code"] == "STOP_NOT_FOUND"
    until(session, row(session, name)["ends_at"])
    done = await call_ok(session, "uber", "get_ride", ride_id=name)
    assert done["receipt"]["total"] == fewer["fare_total"]
    error = await call_refused(session, "uber", "add_stop", ride_id=name, address="Work")
    assert error["code"] == "RIDE_NOT_ACTIVE"


# -- after the ride --------------------------------------------------------------------------------


async def test_ratings_and_tips_are_possible_only_in_the_days_after_a_ride(
    session: Session,
) -> None:
    for app, tool, args in (
        ("uber", "rate_ride", {"rating": 5}),
        ("uber", "tip_driver", {"amount": 3}),
        ("lyft", "add_gratuity", {"amount": 3}),
    ):
        ride = await request(session, app)
        error = await call_refused(session, app, tool, ride_id=ride, **args)
        assert error["code"] == "RIDE_NOT_COMPLETED"
    old = await call_refused(session, "uber", "tip_driver", ride_id=at("ubr", "disputed"), amount=3)
    assert old["code"] == "TIP_WINDOW_CLOSED"
    session.pass_time(29 * DAY)
    recent = await call_ok(session, "uber", "tip_driver", ride_id=at("ubr", "recent"), amount=4.5)
    assert recent["tip_amount"] == 4.5
    session.pass_time(2 * DAY)
    error = await call_refused(session, "uber", "rate_ride", ride_id=at("ubr", "recent"), rating=5)
    assert error["code"] == "RATING_WINDOW_CLOSED"


async def test_a_tip_is_final_at_uber_and_can_be_raised_at_lyft(session: Session) -> None:
    uber = at("ubr", "recent")
    lyft = at("lyr", "recent")
    before = (await call_ok(session, "uber", "get_ride", ride_id=uber))["receipt"]["total"]
    reply = await call_ok(session, "uber", "tip_driver", ride_id=uber, amount=4.15)
    assert cents(reply["total"]) == cents(before) + 415
    error = await call_refused(session, "uber", "tip_driver", ride_id=uber, amount=5)
    assert error["code"] == "TIP_ALREADY_ADDED"
    await call_ok(session, "lyft", "add_gratuity", ride_id=lyft, amount=2)
    error = await call_refused(session, "lyft", "add_gratuity", ride_id=lyft, amount=1)
    assert error["code"] == "INVALID_TIP"
    raised = await call_ok(session, "lyft", "add_gratuity", ride_id=lyft, amount=3.25)
    seen = await call_ok(session, "lyft", "get_trip", ride_id=lyft)
    assert seen["tip_amount"] == 3.25 and seen["total_charged"] == raised["total_with_tip"]
    assert cents(seen["total_charged"]) == sum(cents(c["amount"]) for c in seen["charges"])


async def test_lyft_does_not_match_a_badly_rated_driver_again(session: Session) -> None:
    ride = at("lyr", "recent")
    shunned = row(session, ride, "lyft_rides")["driver_id"]
    await call_ok(session, "lyft", "rate_trip", ride_id=ride, rating=1)
    for _ in range(25):
        new_ride = await request(session, "lyft")
        assert row(session, new_ride, "lyft_rides")["driver_id"] != shunned
        await call_ok(session, "lyft", "cancel_trip", ride_id=new_ride)
    error = await call_refused(session, "lyft", "rate_trip", ride_id=ride, rating=5)
    assert error["code"] == "ALREADY_RATED"


async def test_a_split_adds_up_to_the_cent_and_nobody_pays_before_accepting(
    session: Session,
) -> None:
    ride = at("ubr", "recent")
    people = [at("ubc", k) for k in ("jordan_park", "priya_nair", "ben_asher", "mei_chen")]
    total = cents((await call_ok(session, "uber", "get_ride", ride_id=ride))["receipt"]["total"])
    wrong = await call_refused(
        session, "uber", "split_fare", ride_id=ride, contact_ids=people, num_splits=4
    )
    assert wrong["code"] == "SPLIT_MISMATCH"
    error = await call_refused(
        session, "uber", "split_fare", ride_id=ride, contact_ids=["ubc_nobody"]
    )
    assert error["code"] == "CONTACT_NOT_FOUND"
    split = await call_ok(
        session, "uber", "split_fare", ride_id=ride, contact_ids=people, num_splits=5
    )
    assert cents(split["amount_per_person"]) == total // 5 and cents(split["your_share"]) == total
    assert {p["status"] for p in split["participants"]} == {"invited"}
    session.pass_time(2 * DAY)
    seen = (await call_ok(session, "uber", "get_ride", ride_id=ride))["fare_split"]
    accepted = [p for p in seen["participants"] if p["status"] == "accepted"]
    assert accepted and not [p for p in seen["participants"] if p["status"] == "invited"]
    assert cents(seen["your_share"]) + sum(cents(p["amount"]) for p in accepted) == total
    error = await call_refused(session, "uber", "split_fare", ride_id=ride, contact_ids=people[:1])
    assert error["code"] == "SPLIT_NOT_ALLOWED"
    error = await call_refused(
        session, "uber", "split_fare", ride_id=at("ubr", "no_show"), contact_ids=people
    )
    assert error["code"] == "SPLIT_NOT_ALLOWED"


# -- rides for later -------------------------------------------------------------------------------


async def test_a_reservation_becomes_a_ride_at_its_fare_and_is_free_to_cancel_until_an_hour_before(
    session: Session,
) -> None:
    args = {
        "pickup": "Home",
        "dropoff": "Work",
        "ride_type": "comfort",
        "scheduled_time": iso(START + 3 * HOUR),
    }
    kept, free, dear = [await call_ok(session, "uber", "reserve_ride", **args) for _ in range(3)]
    session.pass_time(HOUR)
    reply = await call_ok(
        session, "uber", "cancel_reservation", reservation_id=free["reservation_id"]
    )
    assert reply["cancellation_fee"] == 0
    session.pass_time(HOUR + MINUTE)
    reply = await call_ok(
        session, "uber", "cancel_reservation", reservation_id=dear["reservation_id"]
    )
    assert reply["cancellation_fee"] == 5
    reply = await call_ok(session, "uber", "get_ride", ride_id=kept["ride_id"])
    assert reply["status"] == "scheduled"
    until(session, args["scheduled_time"], -10 * MINUTE)
    now = await call_ok(session, "uber", "get_ride", ride_id=kept["ride_id"])
    assert now["status"] == "accepted" and now["driver"]
    until(session, row(session, kept["ride_id"])["ends_at"])
    reservations = (await call_ok(session, "uber", "get_reservations"))["reservations"]
    listed = {r["reservation_id"]: r for r in reservations}
    assert listed[kept["reservation_id"]]["status"] == "completed"
    receipt = (await call_ok(session, "uber", "get_ride", ride_id=kept["ride_id"]))["receipt"]
    assert receipt["total"] == kept["fare_total"]
    assert listed[free["reservation_id"]]["status"] == "canceled"
    gone = await call_refused(
        session, "uber", "cancel_reservation", reservation_id=kept["reservation_id"]
    )
    assert gone["code"] == "RIDE_NOT_CANCELLABLE"


async def test_lyft_rides_are_scheduled_half_an_hour_apart_and_free_to_cancel_before_a_driver_comes(
    session: Session,
) -> None:
    args = {
        "pickup": "Home",
        "dropoff": "Work",
        "ride_type": "lyft",
        "scheduled_time": iso(START + 5 * HOUR),
    }
    ride = await call_ok(session, "lyft", "schedule_ride", **args)
    close = args | {"scheduled_time": iso(START + 5 * HOUR + 20 * MINUTE)}
    near = await call_refused(session, "lyft", "schedule_ride", **close)
    assert near["code"] == "SCHEDULE_CONFLICT"
    assert near["scheduled_ride_id"] == ride["scheduled_ride_id"]
    soon = await call_refused(
        session, "lyft", "schedule_ride", **args | {"scheduled_time": iso(START + 20 * MINUTE)}
    )
    past = await call_refused(
        session, "lyft", "schedule_ride", **args | {"scheduled_time": iso(START - DAY)}
    )
    assert soon["code"] == past["code"] == "INVALID_PICKUP_TIME"
    until(session, ride["driver_assigned_at"], -MINUTE)
    reply = await call_ok(
        session, "lyft", "cancel_scheduled_ride", scheduled_ride_id=ride["scheduled_ride_id"]
    )
    assert reply["cancel_fee"] == 0


@pytest.mark.parametrize(
    ("app", "book", "listing", "days"),
    [
        ("uber", "reserve_ride", "list_rides", ("from_date", "to_date")),
        ("lyft", "schedule_ride", "list_trip_history", ("since", "until")),
    ],
)
async def test_a_ride_is_listed_on_the_day_of_its_pickup_not_of_its_booking(
    session: Session, app: str, book: str, listing: str, days: tuple[str, str]
) -> None:
    ride = await call_ok(
        session,
        app,
        book,
        pickup="Home",
        dropoff="Work",
        ride_type="uberx" if app == "uber" else "lyft",
        scheduled_time=iso(START + 5 * DAY),
    )
    for day, listed in ((START, False), (START + 5 * DAY, True)):
        reply = await call_ok(session, app, listing, **dict.fromkeys(days, iso(day)[:10]))
        assert (ride["ride_id"] in [r["ride_id"] for r in reply["rides"]]) is listed


async def test_a_scheduled_request_is_a_reservation(session: Session) -> None:
    ride = await call_ok(
        session,
        "uber",
        "request_ride",
        ride_type_id="uberxl",
        scheduled_time=iso(START + 2 * DAY),
        **AIRPORT,
    )
    assert ride["status"] == "scheduled" and ride["surge_multiplier"] == 1
    reply = await call_ok(session, "uber", "get_reservations", status="scheduled")
    assert ride["reservation_id"] in {r["reservation_id"] for r in reply["reservations"]}


# -- offers ----------------------------------------------------------------------------------------


async def test_offers_have_terms_and_cannot_be_combined(session: Session) -> None:
    codes = {
        key: (await call_refused(session, "uber", "apply_offer", offer_id=at("ubo", key)))["code"]
        for key in ("welcome", "feb", "spring", "winter")
    }
    assert codes == {
        "welcome": "OFFER_NOT_ELIGIBLE",
        "feb": "OFFER_EXPIRED",
        "spring": "OFFER_NOT_STARTED",
        "winter": "OFFER_USED",
    }
    await call_ok(session, "uber", "apply_offer", offer_id=at("ubo", "five"))
    five = await call_ok(session, "uber", "estimate_ride", ride_type_id="uberx", **AIRPORT)
    assert five["discount"] == 5
    reply = await call_ok(session, "uber", "estimate_ride", ride_type_id="uberx", **WORK)
    assert reply["discount"] == 0
    other = await call_ok(session, "uber", "apply_offer", offer_id=at("ubo", "comfort"))
    assert other["replaced_offer_id"] == at("ubo", "five")
    ride = await call_ok(session, "uber", "request_ride", ride_type_id="comfort", **WORK)
    plain = row(session, ride["ride_id"])["fare"]
    assert ride["offer_id"] == at("ubo", "comfort")
    assert cents(ride["fare_total"]) == plain - min(1000, (plain * 30 + 50) // 100)
    unused = {o["offer_id"] for o in (await call_ok(session, "uber", "list_offers"))["offers"]}
    assert at("ubo", "comfort") not in unused
    await call_ok(session, "uber", "cancel_ride", ride_id=ride["ride_id"])
    reply = await call_ok(session, "uber", "get_user_profile")
    assert reply["promo"]["offer_id"] == at("ubo", "comfort"), (
        "a cancelled ride does not use up an offer"
    )


async def test_a_ride_is_not_booked_with_a_promo_that_does_not_apply_to_it(
    session: Session,
) -> None:
    wish = {"pickup": "Home", "dropoff": "Work", "offer_id": at("lyo", "comfort")}
    error = await call_refused(session, "lyft", "request_wait_and_save_ride", **wish)
    assert error["code"] == "PROMO_NOT_APPLICABLE"
    assert (await call_ok(session, "lyft", "get_rider_profile"))["promo"] is None


# -- Uber's parcels and places ---------------------------------------------------------------------


async def test_a_parcel_goes_by_the_clock_and_the_same_key_orders_once(session: Session) -> None:
    order = {
        "pickup": "Home",
        "dropoff": "Work",
        "package_description": "Keys",
        "recipient_name": "Mei",
        "recipient_phone": "+1-503-555-0146",
    }
    parcel = await call_ok(
        session, "uber", "request_package_delivery", **order, idempotency_key="k"
    )
    mark = session.world.last_change()
    reply = await call_ok(session, "uber", "request_package_delivery", **order, idempotency_key="k")
    assert reply["delivery_id"] == parcel["delivery_id"]
    assert session.world.last_change() == mark
    other = await call_refused(
        session,
        "uber",
        "request_package_delivery",
        **order | {"recipient_name": "Max"},
        idempotency_key="k",
    )
    assert other["code"] == "IDEMPOTENCY_KEY_REUSED"
    away = await call_refused(
        session,
        "uber",
        "request_package_delivery",
        **order | {"dropoff": "O'Hare International Airport"},
    )
    assert away["code"] in ("DISTANCE_EXCEEDED", "DIFFERENT_CITIES")
    stored = row(session, parcel["delivery_id"], "uber_deliveries")
    seen = []
    parcel_id = {"delivery_id": parcel["delivery_id"]}
    for moment in (
        stored["requested_at"],
        stored["matched_at"],
        stored["starts_at"],
        stored["ends_at"],
    ):
        until(session, moment, 5)
        reply = await call_ok(session, "uber", "get_delivery_status", **parcel_id)
        seen.append(reply["status"])
    assert seen == ["pending", "pickup", "pickup_complete", "delivered"]
    reply = await call_ok(session, "uber", "get_delivery_status", delivery_id=at("ubd", "returned"))
    assert reply["status"] == "returned"


async def test_a_taken_label_is_refused_at_uber_and_replaced_at_lyft(session: Session) -> None:
    new = {
        "label": "work",
        "address": "1 New Office Way, Portland, OR",
        "lat": 45.53,
        "lng": -122.68,
    }
    assert (await call_refused(session, "uber", "add_saved_place", **new))["code"] == "LABEL_EXISTS"
    assert (await call_ok(session, "lyft", "save_location", **new))["status"] == "replaced"
    places = (await call_ok(session, "lyft", "get_rider_profile"))["saved_places"]
    assert [p["address"] for p in places if p["label"].lower() == "work"] == [new["address"]]


# -- donations, challenges and streaks -------------------------------------------------------------


async def test_donations_follow_from_rides_that_ended_while_round_up_was_on(
    session: Session,
) -> None:
    before = await call_ok(session, "lyft", "get_donation_history")
    given = before["donations"][0]
    ride = await call_ok(session, "lyft", "get_trip", ride_id=given["ride_id"])
    assert cents(ride["fare_total"]) % 100 + cents(given["amount"]) == 100
    await call_ok(session, "lyft", "toggle_round_up", enabled=False)
    booked = await call_ok(session, "lyft", "book_ride", ride_type_id="lyft", **AIRPORT)
    until(session, row(session, booked["ride_id"], "lyft_rides")["ends_at"])
    after = await call_ok(session, "lyft", "get_donation_history")
    assert (after["total_donated"], after["ride_count"]) == (
        before["total_donated"],
        before["ride_count"],
    )


async def test_a_completed_ride_counts_for_challenges_and_the_streak(session: Session) -> None:
    async def early() -> dict[str, Any]:
        listed = (await call_ok(session, "lyft", "get_ride_challenges"))["challenges"]
        return next(c for c in listed if c["challenge_id"] == at("lyc", "early"))

    before = await early()
    week = (await call_ok(session, "lyft", "get_ride_streak"))["rides_this_week"]
    until(session, "2026-03-16T14:00:00Z")
    streak = await call_ok(session, "lyft", "get_ride_streak")
    assert streak["streak_status"] == "at_risk" and streak["rides_this_week"] == 0 != week
    for number in (1, 2, 3):
        ride = await request(session, "lyft")
        assert (await early())["progress"] == before["progress"] + number - 1, (
            "a ride counts when it is over"
        )
        until(session, row(session, ride, "lyft_rides")["ends_at"])
    assert (await early())["status"] == "completed"
    reply = await call_ok(session, "lyft", "get_ride_streak")
    assert reply["current_streak"] == streak["current_streak"] + 1
