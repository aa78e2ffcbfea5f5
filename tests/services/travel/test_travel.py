"""What makes Booking.com and Expedia unlike each other, and what a stay costs, needs and gives back."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import names, person
from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from tests.services.travel.support import DAY, MAY, go_to, reserve
from tests.support import at, call_ok, call_refused, new_session, session_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


async def book(session: Session, room: str = "wabash_house-0", **args: Any) -> dict[str, Any]:
    return await call_ok(
        session,
        "booking",
        "create_booking",
        **{"room_type_id": at("brt", room), **MAY, "num_guests": 1} | args,
    )


# -- the world ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
async def test_stays_ahead_are_those_of_the_persons_life_at_the_total_told(name: str) -> None:
    session = session_of(name, "booking", "expedia")
    told = {"maya": 398.0, "eleanor": 398.0, "rafael": 189.0}[name]
    stays = (await call_ok(session, "booking", "list_bookings", limit=100))["bookings"]
    trips = (await call_ok(session, "expedia", "list_trips", limit=100))["trips"]
    ahead = {b["total_price"] for b in stays if b["booking_status"] == "confirmed"}
    ahead |= {t["price"]["total"] for t in trips if t["booking_status"] == "confirmed"}
    assert told in ahead
    assert {"completed", "cancelled", "no_show"} <= {b["booking_status"] for b in [*stays, *trips]}
    towns = session.world.sql("SELECT city_id, count(*) FROM travel_hotels GROUP BY city_id")
    assert (
        min(n for _, n in towns) >= 5
        and max(n for _, n in towns) >= 12
        and len(towns) == len(person(name)["cities"])
    )


async def test_one_house_is_sold_by_both_at_its_own_price_and_under_its_own_id(
    session: Session,
) -> None:
    one = await call_ok(session, "booking", "get_property", property_id=at("bpr", "wabash_house"))
    two = await call_ok(
        session, "expedia", "get_hotel_details", property_id=at("xpr", "wabash_house")
    )
    assert (
        one["address"] == two["location"]["street"]
        and one["phone"] == two["phone"]
        and one["property_id"] != two["property_id"]
    )
    here = await call_ok(
        session, "booking", "get_room_types", property_id=one["property_id"], **MAY
    )
    there = await call_ok(
        session, "expedia", "get_room_availability", property_id=two["property_id"], **MAY
    )
    assert here["room_types"][0]["average_price_per_night"] != there["rooms"][0]["nightly_average"]


async def test_towns_of_one_name_are_mixed_by_booking_and_asked_back_by_expedia(
    session: Session,
) -> None:
    found = (await call_ok(session, "booking", "search_properties", city="Portland", **MAY))[
        "properties"
    ]
    assert {p["state"] for p in found} == {"OR", "ME"}
    error = await call_refused(session, "expedia", "search_hotels", city="Portland", **MAY)
    assert error["code"] == "AMBIGUOUS_DESTINATION" and error["candidates"] == [
        "Portland, ME",
        "Portland, OR",
    ]
    assert {
        h["location"]["state"]
        for h in (
            await call_ok(session, "expedia", "search_hotels", city="portland, maine", **MAY)
        )["hotels"]
    } == {"ME"}
    assert (await call_refused(session, "booking", "search_properties", city="Chicagoo", **MAY))[
        "code"
    ] == "DESTINATION_NOT_FOUND"


# -- prices ---------------------------------------------------------------------------------------------------------


async def test_a_total_is_the_sum_of_its_nights_with_tax_and_the_searched_price_is_honoured(
    session: Session,
) -> None:
    seen = (
        await call_ok(session, "booking", "search_properties", city="Chicago", **MAY, limit=100)
    )["properties"]
    seen = next(p for p in seen if p["property_id"] == at("bpr", "lakeside_suites"))
    made = await call_ok(session, "booking", "create_booking", room_type_id=seen["cheapest_room_type_id"], **MAY, num_guests=2,
                    quoted_total=seen["total_price"])  # fmt: skip
    nights = [cents(n["price"]) for n in made["nightly_prices"]]
    assert [n["date"] for n in made["nightly_prices"]] == ["2026-05-05", "2026-05-06"]
    assert (
        cents(made["price_before_taxes"]) == sum(nights)
        and made["total_price"] == seen["total_price"]
    )
    assert (
        cents(made["taxes_and_fees"])
        == cents(made["total_price"]) - sum(nights)
        > 0.15 * sum(nights)
    )


async def test_a_price_may_be_another_tomorrow_and_then_a_quote_is_refused(
    session: Session,
) -> None:
    async def quote() -> float:
        rooms = await call_ok(
            session, "booking", "get_room_types", property_id=at("bpr", "wabash_house"), **MAY
        )
        return next(
            r["total_price"]
            for r in rooms["room_types"]
            if r["room_type_id"] == at("brt", "wabash_house-0")
        )

    first = await quote()
    assert await quote() == first
    session.control.advance(DAY)
    assert await quote() != first
    error = await call_refused(
        session,
        "booking",
        "create_booking",
        room_type_id=at("brt", "wabash_house-0"),
        **MAY,
        num_guests=1,
        quoted_total=first,
    )
    assert error["code"] == "PRICE_CHANGED" and error["total_price"] == await quote()


async def test_booking_counts_the_fee_of_the_house_and_expedia_leaves_it_to_the_desk(
    session: Session,
) -> None:
    keys = [r["id"] for r in session.world.rows("travel_hotels", "fee>0", order="id")]
    one, two = (
        session.world.rows(t, f"hotel_id IN ({','.join('?' * len(keys))})", *keys)
        for t in ("booking_properties", "expedia_properties")
    )
    pairs = [(a["id"], b["id"]) for a in one for b in two if a["hotel_id"] == b["hotel_id"]]
    here, there = pairs[0]
    fee = (await call_ok(session, "booking", "get_property", property_id=here))["fee_per_night"]
    offer = (await call_ok(session, "booking", "get_room_types", property_id=here, **MAY))[
        "room_types"
    ][0]
    rate = (await call_ok(session, "expedia", "get_room_availability", property_id=there, **MAY))[
        "rooms"
    ][0]["price"]
    tax = rate["taxes"] / rate["rooms"]
    assert rate["due_at_property"] == 2 * fee and rate["total"] == pytest.approx(
        rate["rooms"] + rate["taxes"]
    )
    assert offer["taxes_and_fees"] == pytest.approx(
        offer["price_before_taxes"] * tax + 2 * fee, abs=0.05
    )


async def test_weekends_cost_more(session: Session) -> None:
    rooms = await call_ok(session, "booking", "get_room_types", property_id=at("bpr", "wabash_hotel"), check_in_date="2026-05-06",
                     check_out_date="2026-05-10")  # fmt: skip
    price = {n["date"]: n["price"] for n in rooms["room_types"][0]["nightly_prices"]}
    assert min(price["2026-05-08"], price["2026-05-09"]) > max(
        price["2026-05-06"], price["2026-05-07"]
    )


# -- what can be had ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-03-13", "2026-03-15"),
        ("2026-05-07", "2026-05-07"),
        ("2026-05-07", "2026-05-05"),
        ("2026-05-01", "2026-07-01"),
        ("2028-05-01", "2028-05-02"),
    ],
)
async def test_dates_are_checked(session: Session, first: str, last: str) -> None:
    error = await call_refused(
        session,
        "booking",
        "search_properties",
        city="Chicago",
        check_in_date=first,
        check_out_date=last,
    )
    assert error["code"] == "INVALID_DATES"


async def test_rooms_run_out_and_come_back_when_a_booking_is_cancelled(session: Session) -> None:
    async def left() -> dict[str, int]:
        rooms = await call_ok(
            session, "booking", "get_room_types", property_id=at("bpr", "wabash_house"), **MAY
        )
        return {r["room_type_id"]: r["rooms_left"] for r in rooms["room_types"]}

    room = at("brt", "wabash_house-0")
    twin = at("brt", "wabash_house-1")
    before = await left()
    assert before[room] == before[twin] > 1, (
        "a refundable and a non-refundable rate sell the same rooms"
    )
    made = await book(session, rooms_booked=before[room])
    assert (await left())[room] == (await left())[twin] == 0
    error = await call_refused(
        session, "booking", "create_booking", room_type_id=twin, **MAY, num_guests=1
    )
    assert error["code"] == "NO_AVAILABILITY" and error["rooms_left"] == 0
    await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    assert await left() == before


async def test_an_event_fills_a_town_and_a_closed_house_sells_nothing(session: Session) -> None:
    fair = {"check_in_date": "2026-03-16", "check_out_date": "2026-03-18"}
    free = (await call_ok(session, "booking", "search_properties", city="Chicago", **fair))[
        "properties"
    ]
    every = (
        await call_ok(
            session,
            "booking",
            "search_properties",
            city="Chicago",
            **fair,
            include_unavailable=True,
        )
    )["properties"]
    assert len(free) <= 3 < 10 <= len(every)
    shown = (await call_ok(session, "expedia", "search_hotels", city="Chicago", **fair, limit=100))[
        "hotels"
    ]
    assert "sold_out" in {h["status"] for h in shown}
    closed = await call_ok(session, "booking", "get_property", property_id=at("bpr", "chicago-2"))
    assert closed["closed_from"] == "2026-02-01" and closed["closed_until"] == "2026-05-01"
    for stay, open_then in (
        ({"check_in_date": "2026-04-30", "check_out_date": "2026-05-02"}, False),
        (MAY, True),
    ):
        rooms = await call_ok(
            session,
            "booking",
            "get_room_types",
            property_id=closed["property_id"],
            **stay,
            num_guests=1,
        )
        assert any(r["available"] for r in rooms["room_types"]) is open_then


async def test_guests_must_fit_and_short_stays_may_be_refused(session: Session) -> None:
    error = await call_refused(
        session,
        "booking",
        "create_booking",
        room_type_id=at("brt", "wabash_house-0"),
        **MAY,
        num_guests=3,
    )
    assert error["code"] == "TOO_MANY_GUESTS" and error["max_guests"] == 2
    assert (await book(session, num_guests=3, rooms_booked=2))["rooms_booked"] == 2
    flat = session.world.rows("expedia_room_types", "min_stay=2", order="id", limit=1)[0]["id"]
    error = await call_refused(
        session,
        "expedia",
        "create_itinerary",
        room_type_id=flat,
        check_in_date="2026-05-05",
        check_out_date="2026-05-06",
        num_guests=1,
    )
    assert error["code"] == "MINIMUM_STAY_NOT_MET" and error["minimum_nights"] == 2


async def test_an_expired_card_pays_nothing(session: Session) -> None:
    cards = (await call_ok(session, "booking", "list_payment_methods"))["payment_methods"]
    old = next(c for c in cards if c["expired"])
    error = await call_refused(session, "booking", "create_booking", room_type_id=at("brt", "wabash_house-0"), **MAY, num_guests=1,
                          payment_method_id=old["payment_method_id"])  # fmt: skip
    assert error["code"] == "PAYMENT_METHOD_EXPIRED"
    assert (await book(session))["payment_method_id"] == next(
        c["payment_method_id"] for c in cards if not c["expired"]
    )


async def test_expedia_does_not_book_the_same_room_twice_and_booking_does(session: Session) -> None:
    first = await reserve(session)
    error = await call_refused(
        session,
        "expedia",
        "create_itinerary",
        room_type_id=at("xrt", "wabash_house-0"),
        **MAY,
        num_guests=2,
    )
    assert error["code"] == "DUPLICATE_ITINERARY" and error["booking_id"] == first["booking_id"]
    assert (await reserve(session, guest_name="Lucas Weber"))["traveler"]["name"] == "Lucas Weber"
    assert (await book(session))["booking_id"] != (await book(session))["booking_id"]


# -- the life of a booking ------------------------------------------------------------------------------------------


async def test_a_stay_begins_and_ends_by_the_hotels_own_clock(session: Session) -> None:
    key = (await call_ok(session, "expedia", "list_trips", booking_status="confirmed"))["trips"][0][
        "booking_id"
    ]
    stay = await call_ok(session, "expedia", "get_itinerary", booking_id=key)
    assert (stay["check_in_date"], stay["hotel"]["hotel_name"]) == (
        "2026-03-18",
        "The Wabash House",
    )
    opens = int(stay["check_in_time"][:2])
    leaves = int(stay["check_out_time"][:2])
    for moment, status in (
        (f"2026-03-18T{opens + 4}:59:00Z", "confirmed"),      # Chicago is five hours behind
        (f"2026-03-18T{opens + 5}:01:00Z", "checked_in"),
        (f"2026-03-20T{leaves + 4}:59:00Z", "checked_in"),
        (f"2026-03-20T{leaves + 5}:01:00Z", "completed"),
    ):  # fmt: skip
        go_to(session, moment)
        assert (await call_ok(session, "expedia", "get_itinerary", booking_id=key))[
            "booking_status"
        ] == status
    assert (await call_refused(session, "expedia", "cancel_itinerary", booking_id=key))[
        "code"
    ] == "CANNOT_CANCEL"
    assert (
        await call_refused(session, "expedia", "update_itinerary", booking_id=key, num_guests=2)
    )["code"] == "CANNOT_MODIFY"


@pytest.mark.parametrize(
    ("room", "when", "back"),
    [
        (
            "lakeside_suites-0",
            "2026-05-04T22:59:00Z",
            "all",
        ),  # flexible: 18:00 in Chicago on the day before
        ("lakeside_suites-0", "2026-05-04T23:01:00Z", "all but a night"),
        ("lakeside_suites-1", "2026-03-15T00:00:00Z", "nothing"),
    ],
)
async def test_a_refund_follows_the_policy(
    session: Session, room: str, when: str, back: str
) -> None:
    made = await book(session, room)
    go_to(session, when)
    gone = await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    night = cents(made["nightly_prices"][0]["price"])
    kept = round(night * cents(made["total_price"]) / cents(made["price_before_taxes"]))
    wanted = {
        "all": cents(made["total_price"]),
        "all but a night": cents(made["total_price"]) - kept,
        "nothing": 0,
    }[back]
    assert cents(gone["refund_amount"]) == pytest.approx(wanted, abs=1) and gone["refundable"] is (
        wanted > 0
    )
    assert cents(gone["refund_amount"]) + cents(gone["not_refunded"]) == cents(made["total_price"])
    shown = await call_ok(session, "booking", "get_booking", booking_id=made["booking_id"])
    assert (
        shown["booking_status"] == "cancelled" and shown["refund_amount"] == gone["refund_amount"]
    )
    assert (
        await call_refused(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    )["code"] == "ALREADY_CANCELLED"


async def test_a_deposit_is_what_is_charged_and_given_back() -> None:
    session = session_of("rafael", "booking", "expedia")
    stays = (await call_ok(session, "booking", "list_bookings", booking_status="confirmed"))[
        "bookings"
    ]
    key = next(b["booking_id"] for b in stays if b["property_name"] == "Sea Turtle Cottages")
    stay = await call_ok(session, "booking", "get_booking", booking_id=key)
    assert (stay["total_price"], stay["charged_at_booking"], stay["due_at_property"]) == (
        1645.0,
        411.25,
        1233.75,
    )
    gone = await call_ok(session, "booking", "cancel_booking", booking_id=key)
    assert (gone["refund_amount"], gone["not_refunded"]) == (411.25, 0)
    condo = next(
        t
        for t in (await call_ok(session, "expedia", "list_trips"))["trips"]
        if t["hotel"]["hotel_name"] == "Sand Dollar Condominiums"
    )
    assert (await call_ok(session, "expedia", "get_itinerary", booking_id=condo["booking_id"]))[
        "refund_amount"
    ] == 208.9


async def test_expedia_lets_go_of_any_rate_for_a_day_and_booking_does_not(session: Session) -> None:
    for advance, refund in ((DAY - 60, True), (DAY + 60, False)):
        one = new_session("booking", "expedia")
        made = await reserve(one, "wabash_house-1")
        one.control.advance(advance)
        gone = await call_ok(one, "expedia", "cancel_itinerary", booking_id=made["booking_id"])
        assert gone["refund"]["amount"] == (made["price"]["total"] if refund else 0)
    made = await book(session, "wabash_house-1")
    assert (await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"]))[
        "refund_amount"
    ] == 0


async def test_a_longer_stay_keeps_the_nights_agreed_and_pays_for_the_new(session: Session) -> None:
    made = await book(session)
    session.control.advance(3 * DAY)
    longer = await call_ok(
        session,
        "booking",
        "modify_booking",
        booking_id=made["booking_id"],
        check_out_date="2026-05-08",
    )
    assert (
        longer["nightly_prices"][:2] == made["nightly_prices"]
        and len(longer["nightly_prices"]) == 3
    )
    assert (
        cents(longer["price_difference"])
        == cents(longer["total_price"]) - cents(made["total_price"])
        > 0
    )
    mark = session.world.last_change()
    assert (
        await call_ok(
            session,
            "booking",
            "modify_booking",
            booking_id=made["booking_id"],
            check_out_date="2026-05-08",
        )
    )["price_difference"] == 0
    assert session.world.last_change() == mark
    fixed = await book(session, "wabash_house-1")
    error = await call_refused(
        session,
        "booking",
        "modify_booking",
        booking_id=fixed["booking_id"],
        check_out_date="2026-05-08",
    )
    assert error["code"] == "CANNOT_MODIFY"
    assert (
        await call_ok(
            session, "booking", "modify_booking", booking_id=fixed["booking_id"], num_guests=2
        )
    )["price_difference"] == 0


# -- what only one of them has --------------------------------------------------------------------------------------


async def test_a_level_grows_with_stays_and_its_discount_is_taken_once(session: Session) -> None:
    status = await call_ok(session, "booking", "get_genius_status")
    assert (status["level"], status["bookings_to_next_level"]) == (1, 1)
    deals = (
        await call_ok(
            session,
            "booking",
            "get_genius_deals",
            city="Chicago",
            check_in="2026-05-05",
            check_out="2026-05-07",
        )
    )["deals"]
    deal = next(d for d in deals if d["property_id"] == at("bpr", "lakeside_suites"))
    assert deal["genius_discount_percent"] == 10 and deal[
        "discounted_price_per_night"
    ] == pytest.approx(0.9 * deal["price_per_night"], abs=0.01)
    made = await book(session, "lakeside_suites-0")
    less = await call_ok(session, "booking", "apply_genius_discount", booking_id=made["booking_id"])
    assert less["original_price"] == made["total_price"] and less[
        "discounted_price"
    ] == pytest.approx(0.9 * made["total_price"], abs=0.02)
    assert (
        await call_refused(
            session, "booking", "apply_genius_discount", booking_id=made["booking_id"]
        )
    )["code"] == "DISCOUNT_ALREADY_APPLIED"
    other = await book(session)
    assert (
        await call_refused(
            session, "booking", "apply_genius_discount", booking_id=other["booking_id"]
        )
    )["code"] == "NOT_ELIGIBLE"
    go_to(session, "2026-04-13T00:00:00Z")  # the night in Seattle is over
    assert (await call_ok(session, "booking", "get_genius_status"))["level"] == 2


async def test_an_alert_triggers_expires_and_is_unique(session: Session) -> None:
    stay = {
        "property_id": at("bpr", "wabash_hotel"),
        "check_in": "2026-05-05",
        "check_out": "2026-05-07",
    }
    high = await call_ok(session, "booking", "set_price_alert", **stay, target_price=900)
    assert high["status"] == "triggered" and high["current_price"] < 900
    assert (await call_refused(session, "booking", "set_price_alert", **stay))[
        "code"
    ] == "ALERT_EXISTS"
    await call_ok(session, "booking", "remove_price_alert", alert_id=high["alert_id"])
    low = await call_ok(session, "booking", "set_price_alert", **stay, target_price=20)
    assert low["status"] == "active"
    session.control.advance(60 * DAY)
    shown = {
        a["alert_id"]: a for a in (await call_ok(session, "booking", "list_price_alerts"))["alerts"]
    }
    assert shown[low["alert_id"]]["status"] == "expired" and high["alert_id"] not in shown


async def test_insurance_is_priced_by_the_stay_given_back_in_time_and_pays_what_is_lost(
    session: Session,
) -> None:
    made = await reserve(session, "wabash_house-1")
    options = (
        await call_ok(session, "expedia", "get_insurance_options", booking_id=made["booking_id"])
    )["plans"]
    price = {p["plan_id"]: cents(p["price"]) for p in options}
    assert price["plan_cancel"] == max(1400, round(cents(made["price"]["total"]) * 0.06))
    added = await call_ok(
        session, "expedia", "add_insurance", booking_id=made["booking_id"], plan_id="plan_cancel"
    )
    assert added["refundable_until"] == iso(parse_time(added["bought_at"]) + 10 * DAY)
    assert (
        await call_refused(
            session,
            "expedia",
            "add_insurance",
            booking_id=made["booking_id"],
            plan_id="plan_complete",
        )
    )["code"] == "ALREADY_INSURED"
    session.control.advance(11 * DAY)
    gone = await call_ok(session, "expedia", "cancel_itinerary", booking_id=made["booking_id"])
    assert gone["refund"]["amount"] == 0 and gone["insurance_premium_refunded"] == 0
    assert cents(gone["insurance_payout"]) == round(0.75 * cents(made["price"]["total"]))
    again = await reserve(session)
    bought = await call_ok(
        session, "expedia", "add_insurance", booking_id=again["booking_id"], plan_id="plan_cancel"
    )
    back = await call_ok(session, "expedia", "cancel_insurance", booking_id=again["booking_id"])
    assert back["refunded"] == bought["price"]
    assert (
        await call_refused(
            session, "expedia", "get_insurance_details", booking_id=again["booking_id"]
        )
    )["code"] == "NOT_INSURED"
    past = at("xit", "first")
    assert (
        await call_refused(
            session, "expedia", "add_insurance", booking_id=past, plan_id="plan_cancel"
        )
    )["code"] == "INSURANCE_UNAVAILABLE"


async def test_a_board_holds_what_can_be_searched_and_is_found_again(session: Session) -> None:
    things = (
        await call_ok(
            session, "expedia", "search_activities", city="Seattle, WA", on_date="2026-04-11"
        )
    )["activities"]
    assert things and all("sat" in t["weekdays"] for t in things)
    board = await call_ok(
        session,
        "expedia",
        "create_trip_board",
        name="Plan B",
        destination="Seattle, WA",
        travel_dates="2026-04-11 to 2026-04-12",
    )
    key = board["board_id"]
    await call_ok(
        session,
        "expedia",
        "add_to_trip_board",
        board_id=key,
        item_type="activity",
        item_id=things[0]["activity_id"],
    )
    error = await call_refused(
        session,
        "expedia",
        "add_to_trip_board",
        board_id=key,
        item_type="activity",
        item_id=things[0]["activity_id"],
    )
    assert error["code"] == "ALREADY_ON_BOARD"
    error = await call_refused(
        session,
        "expedia",
        "add_to_trip_board",
        board_id=key,
        item_type="property",
        item_id=things[0]["activity_id"],
    )
    assert error["code"] == "HOTEL_NOT_FOUND"
    await call_ok(
        session, "expedia", "share_trip_board", board_id=key, emails=["tom.lindqvist@outlook.com"]
    )
    error = await call_refused(
        session, "expedia", "share_trip_board", board_id=key, emails=["Maya.Lindqvist@gmail.com"]
    )
    assert error["code"] == "CANNOT_SHARE_WITH_SELF"
    assert (await call_ok(session, "expedia", "list_trip_boards"))["boards"][0] == {
        **{k: board[k] for k in ("board_id", "name", "destination", "travel_dates", "created_at")},
        "item_count": 1,
    }
    shown = await call_ok(session, "expedia", "get_trip_board", board_id=key)
    assert [i["name"] for i in shown["items"]] == [things[0]["name"]] and shown["shared_with"] == [
        "tom.lindqvist@outlook.com"
    ]
    error = await call_refused(
        session,
        "expedia",
        "create_trip_board",
        name="X",
        destination="Seattle, WA",
        travel_dates="2026-04-12/2026-04-11",
    )
    assert error["code"] == "INVALID_INPUT"


async def test_saved_travelers_are_unique_by_name(session: Session) -> None:
    error = await call_refused(session, "expedia", "add_saved_traveler", name="TOM  lindqvist")
    assert error["code"] == "TRAVELER_EXISTS"
    await call_ok(session, "expedia", "remove_saved_traveler", name="tom lindqvist")
    names_now = [
        t["name"]
        for t in (await call_ok(session, "expedia", "get_traveler_profile"))["saved_travelers"]
    ]
    assert "Tom Lindqvist" not in names_now and "Ingrid Lindqvist" in names_now
    assert (await call_refused(session, "expedia", "remove_saved_traveler", name="Tomas Lind"))[
        "code"
    ] == "TRAVELER_NOT_FOUND"
