"""Offers of Booking.com and Expedia: one world under two names, prices, and availability."""

from __future__ import annotations

import pytest

from scenarios.worlds.build import names, person
from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.travel.support import DAY, MAY, book, reserve
from tests.support import at, call_ok, call_refused, new_session, session_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("booking", "expedia")


# -- the world -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", names())
async def test_upcoming_stays_are_those_of_the_persons_life_at_the_given_total(name: str) -> None:
    session = session_of(name, "booking", "expedia")
    told = {"maya": 398.0, "eleanor": 398.0, "rafael": 189.0}[name]
    stays = (await call_ok(session, "booking", "list_bookings", limit=100))["bookings"]
    trips = (await call_ok(session, "expedia", "list_trips", limit=100))["trips"]
    ahead = {b["total_price"] for b in stays if b["booking_status"] == "confirmed"}
    ahead |= {t["price"]["total"] for t in trips if t["booking_status"] == "confirmed"}
    assert told in ahead
    assert {"completed", "cancelled", "no_show"} <= {b["booking_status"] for b in [*stays, *trips]}
    towns = session.world.sql("SELECT city_id, count(*) FROM travel_hotels GROUP BY city_id")
    counts = [count for _, count in towns]
    assert min(counts) >= 5 and max(counts) >= 12
    assert len(towns) == len(person(name)["cities"])


async def test_one_house_is_sold_by_both_at_its_own_price_and_under_its_own_id(
    session: Session,
) -> None:
    here_id = at("bpr", "wabash_house")
    there_id = at("xpr", "wabash_house")
    here = await call_ok(session, "booking", "get_property", property_id=here_id)
    there = await call_ok(session, "expedia", "get_hotel_details", property_id=there_id)
    assert here["address"] == there["location"]["street"] and here["phone"] == there["phone"]
    assert here["property_id"] == here_id != there_id == there["property_id"]
    rooms = await call_ok(session, "booking", "get_room_types", property_id=here_id, **MAY)
    rates = await call_ok(session, "expedia", "get_room_availability", property_id=there_id, **MAY)
    price = rooms["room_types"][0]["average_price_per_night"]
    assert price != rates["rooms"][0]["nightly_average"]


async def test_booking_mixes_towns_of_the_same_name_and_expedia_asks_which_one() -> None:
    dates = {"check_in_date": "2026-11-17", "check_out_date": "2026-11-18", "limit": 100}
    session = session_of("eleanor", "booking", "expedia")
    both = await call_ok(session, "booking", "search_properties", city="Charleston", **dates)
    assert {p["state"] for p in both["properties"]} == {"SC", "WV"}
    error = await call_refused(session, "expedia", "search_hotels", city="Charleston", **dates)
    assert error["code"] == "AMBIGUOUS_DESTINATION"
    assert error["candidates"] == ["Charleston, SC", "Charleston, WV"]


async def test_a_town_may_be_called_what_people_call_it(session: Session) -> None:
    for name in ("Portland", "portland or", "PDX", "Portland, Oregon, USA", "downtown Portland"):
        found = await call_ok(session, "booking", "search_properties", city=name, **MAY)
        assert {p["state"] for p in found["properties"]} == {"OR"}, name
    for name, city in (
        ("NYC", "New York"),
        ("San Fran", "San Francisco"),
        ("SFO", "San Francisco"),
    ):
        found = await call_ok(session, "expedia", "search_hotels", city=name, **MAY)
        assert {h["location"]["city"] for h in found["hotels"]} == {city}, name
    maine = await call_ok(session, "expedia", "search_hotels", city="portland, maine", **MAY)
    assert {h["location"]["state"] for h in maine["hotels"]} == {"ME"}
    error = await call_refused(session, "booking", "search_properties", city="Chicagoo", **MAY)
    assert error["code"] == "DESTINATION_NOT_FOUND"


# -- prices ----------------------------------------------------------------------------------------
async def test_a_total_is_the_sum_of_its_nights_with_tax_and_the_searched_price_is_honoured(
    session: Session,
) -> None:
    chicago = {"city": "Chicago", **MAY, "limit": 100}
    shown = (await call_ok(session, "booking", "search_properties", **chicago))["properties"]
    suites = next(p for p in shown if p["property_id"] == at("bpr", "lakeside_suites"))
    booking = await call_ok(
        session,
        "booking",
        "create_booking",
        room_type_id=suites["cheapest_room_type_id"],
        **MAY,
        num_guests=2,
        quoted_total=suites["total_price"],
    )
    nights = [cents(n["price"]) for n in booking["nightly_prices"]]
    assert [n["date"] for n in booking["nightly_prices"]] == ["2026-05-05", "2026-05-06"]
    assert cents(booking["price_before_taxes"]) == sum(nights)
    assert booking["total_price"] == suites["total_price"]
    taxes = cents(booking["taxes_and_fees"])
    assert taxes == cents(booking["total_price"]) - sum(nights) > 0.15 * sum(nights)


async def test_a_price_may_change_overnight_and_then_an_old_quote_is_refused(
    session: Session,
) -> None:
    room = at("brt", "wabash_house-0")

    async def quote() -> float:
        house = at("bpr", "wabash_house")
        rooms = await call_ok(session, "booking", "get_room_types", property_id=house, **MAY)
        return next(r["total_price"] for r in rooms["room_types"] if r["room_type_id"] == room)

    first = await quote()
    assert await quote() == first
    session.control.advance(DAY)
    assert await quote() != first
    request = {"room_type_id": room, **MAY, "num_guests": 1, "quoted_total": first}
    error = await call_refused(session, "booking", "create_booking", **request)
    assert error["code"] == "PRICE_CHANGED" and error["total_price"] == await quote()


async def test_booking_includes_the_hotels_fee_and_expedia_leaves_it_to_the_desk(
    session: Session,
) -> None:
    keys = [r["id"] for r in session.world.rows("travel_hotels", "fee>0", order="id")]
    charging = f"hotel_id IN ({','.join('?' * len(keys))})"
    properties = session.world.rows("booking_properties", charging, *keys)
    at_expedia = {
        r["hotel_id"]: r["id"] for r in session.world.rows("expedia_properties", charging, *keys)
    }
    house = next(r for r in properties if r["hotel_id"] in at_expedia)
    here = house["id"]
    there = at_expedia[house["hotel_id"]]
    fee = (await call_ok(session, "booking", "get_property", property_id=here))["fee_per_night"]
    rooms = await call_ok(session, "booking", "get_room_types", property_id=here, **MAY)
    rates = await call_ok(session, "expedia", "get_room_availability", property_id=there, **MAY)
    offer = rooms["room_types"][0]
    rate = rates["rooms"][0]["price"]
    tax = rate["taxes"] / rate["rooms"]
    assert rate["due_at_property"] == 2 * fee
    assert rate["total"] == pytest.approx(rate["rooms"] + rate["taxes"])
    taxes_and_fees = offer["price_before_taxes"] * tax + 2 * fee
    assert offer["taxes_and_fees"] == pytest.approx(taxes_and_fees, abs=0.05)


async def test_weekends_cost_more(session: Session) -> None:
    hotel = at("bpr", "wabash_hotel")
    week = {"check_in_date": "2026-05-06", "check_out_date": "2026-05-10"}
    rooms = await call_ok(session, "booking", "get_room_types", property_id=hotel, **week)
    price = {n["date"]: n["price"] for n in rooms["room_types"][0]["nightly_prices"]}
    weekend = min(price["2026-05-08"], price["2026-05-09"])
    assert weekend > max(price["2026-05-06"], price["2026-05-07"])


# -- what can be booked ----------------------------------------------------------------------------
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
    search = {"city": "Chicago", "check_in_date": first, "check_out_date": last}
    error = await call_refused(session, "booking", "search_properties", **search)
    assert error["code"] == "INVALID_DATES"


async def test_rooms_run_out_and_come_back_when_a_booking_is_cancelled(session: Session) -> None:
    house = at("bpr", "wabash_house")
    room = at("brt", "wabash_house-0")
    twin = at("brt", "wabash_house-1")

    async def left() -> dict[str, int]:
        rooms = await call_ok(session, "booking", "get_room_types", property_id=house, **MAY)
        return {r["room_type_id"]: r["rooms_left"] for r in rooms["room_types"]}

    before = await left()
    same = before[room] == before[twin] > 1
    assert same, "a refundable and a non-refundable rate sell the same rooms"
    booking = await book(session, rooms_booked=before[room])
    assert (await left())[room] == (await left())[twin] == 0
    request = {"room_type_id": twin, **MAY, "num_guests": 1}
    error = await call_refused(session, "booking", "create_booking", **request)
    assert error["code"] == "NO_AVAILABILITY" and error["rooms_left"] == 0
    await call_ok(session, "booking", "cancel_booking", booking_id=booking["booking_id"])
    assert await left() == before


async def test_an_event_fills_a_town_and_a_closed_house_sells_nothing(session: Session) -> None:
    fair = {"city": "Chicago", "check_in_date": "2026-03-16", "check_out_date": "2026-03-18"}
    free = await call_ok(session, "booking", "search_properties", **fair)
    every = await call_ok(session, "booking", "search_properties", **fair, include_unavailable=True)
    assert len(free["properties"]) <= 3 < 10 <= len(every["properties"])
    shown = await call_ok(session, "expedia", "search_hotels", **fair, limit=100)
    assert "sold_out" in {h["status"] for h in shown["hotels"]}
    key = at("bpr", "chicago-2")
    closed = await call_ok(session, "booking", "get_property", property_id=key)
    assert closed["closed_from"] == "2026-02-01" and closed["closed_until"] == "2026-05-01"
    april = {"check_in_date": "2026-04-30", "check_out_date": "2026-05-02"}
    for stay, is_open in ((april, False), (MAY, True)):
        request = {"property_id": key, **stay, "num_guests": 1}
        rooms = await call_ok(session, "booking", "get_room_types", **request)
        assert any(r["available"] for r in rooms["room_types"]) is is_open


async def test_guests_must_fit_and_short_stays_may_be_refused(session: Session) -> None:
    crowd = {"room_type_id": at("brt", "wabash_house-0"), **MAY, "num_guests": 3}
    error = await call_refused(session, "booking", "create_booking", **crowd)
    assert error["code"] == "TOO_MANY_GUESTS" and error["max_guests"] == 2
    assert (await book(session, num_guests=3, rooms_booked=2))["rooms_booked"] == 2
    flat = session.world.rows("expedia_room_types", "min_stay=2", order="id", limit=1)[0]["id"]
    night = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-06", "num_guests": 1}
    error = await call_refused(session, "expedia", "create_itinerary", room_type_id=flat, **night)
    assert error["code"] == "MINIMUM_STAY_NOT_MET" and error["minimum_nights"] == 2


async def test_an_expired_card_pays_nothing(session: Session) -> None:
    cards = (await call_ok(session, "booking", "list_payment_methods"))["payment_methods"]
    old = next(c["payment_method_id"] for c in cards if c["expired"])
    valid = next(c["payment_method_id"] for c in cards if not c["expired"])
    request = {"room_type_id": at("brt", "wabash_house-0"), **MAY, "num_guests": 1}
    error = await call_refused(
        session, "booking", "create_booking", **request, payment_method_id=old
    )
    assert error["code"] == "PAYMENT_METHOD_EXPIRED"
    assert (await book(session))["payment_method_id"] == valid


async def test_expedia_does_not_book_the_same_room_twice_and_booking_does(session: Session) -> None:
    first = await reserve(session)
    again = {"room_type_id": at("xrt", "wabash_house-0"), **MAY, "num_guests": 2}
    error = await call_refused(session, "expedia", "create_itinerary", **again)
    assert error["code"] == "DUPLICATE_ITINERARY" and error["booking_id"] == first["booking_id"]
    assert (await reserve(session, guest_name="Lucas Weber"))["traveler"]["name"] == "Lucas Weber"
    assert (await book(session))["booking_id"] != (await book(session))["booking_id"]
