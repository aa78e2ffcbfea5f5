"""Rules that Uber Eats and DoorDash both keep: prices, promotions, hours, orders, accounts."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from tests.services.food_delivery.support import (
    CANCEL,
    DAY,
    GET,
    HOUR,
    MENU,
    MINUTE,
    OPEN,
    PLACE,
    QUOTE,
    RATE,
    TRACK,
    at,
    both,
    coffee,
    order,
    paid,
)
from tests.support import START, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("uber_eats", "doordash")


# -- prices and quotes -----------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("lattes", "cookies", "tip"), [(1, 3, 0), (2, 3, 2.75), (7, 0, 0.01), (12, 9, 20)]
)
async def test_a_total_is_the_sum_of_its_parts_and_a_quote_is_what_is_charged(
    session: Session, app: str, lattes: int, cookies: int, tip: float
) -> None:
    wanted = coffee(app, lattes, cookies, tip=tip)
    wanted["items"] = [i for i in wanted["items"] if i["quantity"]]
    tool, key = MENU[app]
    menu = (await call_ok(session, app, tool, restaurant_id=wanted["restaurant_id"]))[key]
    prices = {item["item_id"]: cents(item["price"]) for item in menu}
    quote = await call_ok(session, app, QUOTE[app], **wanted)
    large = prices[wanted["items"][0]["item_id"]] + 100
    goods = lattes * large + cookies * prices[at(app, 1, "hazel_hawthorne/oat-cookie")]
    assert cents(quote["subtotal"]) == goods
    fees = sum(cents(fee) for fee in quote["fees"].values())
    assert cents(quote["total"]) == goods + fees - cents(quote["discount"])
    assert quote["fees"]["tax"] == 0, "Oregon does not tax meals"
    payment = {"payment_method_id": at(app, 4, "visa"), "quote_token": quote["quote_token"]}
    placed = await call_ok(session, app, PLACE[app], **wanted, **payment)
    assert (placed["total"], placed["fees"]) == (quote["total"], quote["fees"])
    reply = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert reply["total"] == quote["total"]


@both
async def test_a_quote_holds_for_ten_minutes_and_only_for_its_own_order(
    session: Session, app: str
) -> None:
    quote = await call_ok(session, app, QUOTE[app], **coffee(app, tip=3))
    token = quote["quote_token"]
    for other in (
        {"tip": 2},
        {"delivery_address_id": at(app, 3, "work")},
        {"items": coffee(app, 3)["items"]},
    ):
        error = await call_refused(session, app, PLACE[app], **paid(app, quote_token=token) | other)
        assert error["code"] == "QUOTE_MISMATCH" and QUOTE[app] in error["hint"]
    error = await call_refused(session, app, PLACE[app], **paid(app, quote_token="no-token"))
    assert error["code"] == "QUOTE_INVALID"
    fees = set()
    for _ in range(40):  # a rush comes and goes with the quarters of the hour
        fees.add((await call_ok(session, app, QUOTE[app], **coffee(app, 1, 2)))["fees"]["delivery"])
        session.pass_time(5 * MINUTE)
    assert len(fees) == 2, fees
    error = await call_refused(session, app, PLACE[app], **paid(app, quote_token=token))
    assert error["code"] == "QUOTE_EXPIRED"


async def test_members_pay_no_delivery_fee_above_a_certain_subtotal(session: Session) -> None:
    """Maya has Uber One; her DashPass has lapsed."""
    small = await call_ok(session, "uber_eats", "get_order_quote", **coffee("uber_eats", 1))
    large = await call_ok(session, "uber_eats", "get_order_quote", **coffee("uber_eats", 4))
    assert small["fees"]["delivery"] > 0 and large["fees"]["delivery"] == 0
    assert cents(large["fees"]["service"]) == max(199, round(cents(large["subtotal"]) / 10))
    dash = await call_ok(session, "doordash", "preview_dash", **coffee("doordash", 4))
    assert dash["fees"]["delivery"] >= 1.99
    assert cents(dash["fees"]["service"]) == max(300, round(cents(dash["subtotal"]) * 0.15))
    lapsed = await call_ok(session, "doordash", "get_dashpass_status")
    assert (lapsed["dashpass"], lapsed["ended_at"]) == (False, "2025-09-30T07:00:00Z")


@both
async def test_reads_of_the_same_moment_agree_regardless_of_earlier_reads(
    session: Session, app: str
) -> None:
    other = new_session(app)
    for _ in range(3):
        await call_ok(other, app, OPEN[app], open_only=True)
    for one in (session, other):
        one.pass_time(START + HOUR - one.control.now)
    quotes = [await call_ok(one, app, QUOTE[app], **coffee(app)) for one in (session, other)]
    assert quotes[0] == quotes[1]


async def test_a_minimum_order_counts_only_the_items(session: Session) -> None:
    error = await call_refused(session, "doordash", "preview_dash", **coffee("doordash", 1, tip=20))
    assert error["code"] == "MIN_ORDER_NOT_MET" and error["subtotal"] < error["min_order"] == 10.0
    reply = await call_ok(session, "doordash", "preview_dash", **coffee("doordash", 2))
    assert reply["subtotal"] >= 10.0


# -- promotions ------------------------------------------------------------------------------------


async def test_a_promotion_must_be_saved_current_and_meet_its_minimum(session: Session) -> None:
    def offer(key: str) -> str:
        return at("uber_eats", 5, key)

    quote = ("uber_eats", "get_order_quote")
    for key, lattes, code in (
        ("april", 6, "OFFER_UPCOMING"),
        ("winter", 6, "OFFER_EXPIRED"),
        ("lunch", 6, "OFFER_USED"),
        ("weekend", 6, "OFFER_NOT_IN_WALLET"),
        ("spice", 6, "OFFER_NOT_ELIGIBLE"),
        ("one", 3, "MIN_ORDER_NOT_MET"),
    ):
        wanted = coffee("uber_eats", lattes, offer_id=offer(key))
        error = await call_refused(session, *quote, **wanted)
        assert error["code"] == code, (key, error)
    error = await call_refused(session, *quote, **coffee("uber_eats", offer_id="uef_none"))
    assert error["code"] == "OFFER_NOT_FOUND"
    await call_ok(session, "uber_eats", "save_offer", offer_id=offer("weekend"))
    six_lattes = coffee("uber_eats", 6, offer_id=offer("weekend"))
    six = await call_ok(session, *quote, **six_lattes)
    assert cents(six["discount"]) == min(800, cents(six["subtotal"]) * 20 // 100)
    placed = await order(session, "uber_eats", items=six_lattes["items"], offer_id=offer("weekend"))
    assert placed["applied_promo"]["discount"] == six["discount"]
    again = await call_refused(session, *quote, **six_lattes)
    assert again["code"] == "OFFER_USED"
    cancelled = {"order_id": placed["order_id"], "reason": "Twice"}
    await call_ok(session, "uber_eats", "cancel_food_order", **cancelled)
    reply = await call_ok(session, *quote, **six_lattes)
    assert reply["discount"] == six["discount"]


async def test_member_promotions_require_the_membership(session: Session) -> None:
    wanted = coffee("doordash", 10, offer_id=at("doordash", 5, "pass"))
    error = await call_refused(session, "doordash", "preview_dash", **wanted)
    assert error["code"] == "PROMO_MEMBERS_ONLY"
    wanted = coffee("uber_eats", 10, offer_id=at("uber_eats", 5, "one"))
    assert (await call_ok(session, "uber_eats", "get_order_quote", **wanted))["discount"] == 10.0


# -- menus, hours, distance ------------------------------------------------------------------------


@both
async def test_required_options_are_asked_for_and_unknown_ones_refused(
    session: Session, app: str
) -> None:
    latte = at(app, 1, "hazel_hawthorne/latte")
    small = at(app, 2, "size/small")
    large = at(app, 2, "size/large")

    async def refusal(options: list[str], item: str = latte) -> dict[str, Any]:
        items = [{"item_id": item, "quantity": 3, "selected_options": options}]
        return await call_refused(session, app, QUOTE[app], **coffee(app) | {"items": items})

    missing = await refusal([])
    assert missing["code"] == "OPTION_REQUIRED" and small in missing["hint"]
    assert (await refusal([small, large]))["code"] == "TOO_MANY_OPTIONS"
    assert (await refusal([small, at(app, 2, "burger/bacon")]))["code"] == "OPTION_NOT_FOUND"
    elsewhere = await refusal([small], at(app, 1, "dough_ember/margherita"))
    assert elsewhere["code"] == "ITEM_NOT_FOUND"


@both
async def test_a_closed_restaurant_takes_orders_later_and_a_permanently_closed_one_never(
    session: Session, app: str
) -> None:
    margherita = {
        "item_id": at(app, 1, "dough_ember/margherita"),
        "quantity": 2,
        "selected_options": [at(app, 2, "pizza/10-inch")],
    }
    wanted = paid(app, restaurant_id=at(app, 0, "dough_ember"), items=[margherita])
    error = await call_refused(session, app, PLACE[app], **wanted)
    assert error["code"].endswith("_CLOSED")
    assert error["opens_at"] == "2026-03-14T19:00:00Z", "noon in Portland"
    session.pass_time(parse_time(error["opens_at"]) - session.control.now)
    assert (await call_ok(session, app, PLACE[app], **wanted))["restaurant_name"] == "Dough & Ember"
    gone = at(app, 0, {"uber_eats": "rosas_cantina", "doordash": "slabtown_old"}[app])
    details = "get_restaurant" if app == "uber_eats" else "get_store_details"
    shown = await call_ok(session, app, details, restaurant_id=gone)
    assert shown["permanently_closed"] and not shown["is_open"] and shown["opens_at"] is None
    items = [{"item_id": shown["menu"][0]["item_id"], "quantity": 3}]
    wanted = paid(app, restaurant_id=gone, items=items)
    error = await call_refused(session, app, PLACE[app], **wanted)
    assert error["code"].endswith("_PERMANENTLY_CLOSED")


@both
async def test_open_only_follows_the_clock_in_the_restaurants_own_zone(
    session: Session, app: str
) -> None:
    async def opened() -> set[str]:
        reply = await call_ok(session, app, OPEN[app], open_only=True, limit=100)
        return {place["name"] for place in next(iter(reply.values()))}

    morning = await opened()
    assert "Belmont Breakfast Club" in morning and "Midnight Burger Lab" not in morning
    session.pass_time(16 * HOUR + 30 * MINUTE)  # half past one at night
    assert await opened() == {"Midnight Burger Lab"}
    session.pass_time(HOUR)
    assert await opened() == set()


async def test_a_restaurant_delivers_only_within_its_radius(session: Session) -> None:
    reply = await call_ok(session, "uber_eats", "search_restaurants", query="hazel alberta")
    (alberta,) = reply["restaurants"]
    assert alberta["name"] == "Hazel & Oat Coffee, Alberta"
    assert (alberta["delivers_to_address"], alberta["delivery_fee"]) == (False, None)
    cookie = [{"item_id": at("uber_eats", 1, "hazel_alberta/oat-cookie"), "quantity": 4}]
    wanted = paid("uber_eats", restaurant_id=alberta["restaurant_id"], items=cookie)
    error = await call_refused(session, "uber_eats", "submit_food_order", **wanted)
    assert error["code"] == "OUT_OF_DELIVERY_RANGE" and error["distance_miles"] == 2.83
    wanted["delivery_address_id"] = at("uber_eats", 3, "old_flat")
    assert (await call_ok(session, "uber_eats", "submit_food_order", **wanted))["total"]


@both
async def test_branches_and_dishes_can_be_searched_by_words(session: Session, app: str) -> None:
    async def names(**args: Any) -> list[str]:
        reply = await call_ok(session, app, OPEN[app], limit=100, **args)
        return [place["name"] for place in next(iter(reply.values()))]

    branches = {"Hazel & Oat Coffee, Hawthorne", "Hazel & Oat Coffee, Pearl"}
    assert branches <= set(await names(query="hazel oat"))
    assert "Dough & Ember" in await names(query="margherita")
    assert "Dough and Amber" in await names(query="margherita")
    assert (await names(query="dough amber"))[0] == "Dough and Amber"
    # These have the word in their names, whatever others have on their menus.
    assert (await names(query="sushi"))[0] == "Kumo Sushi"
    assert (await names(query="noodles"))[0] == "Noodle Post"
    assert set(await names(category="thai")) == {"Lotus & Lime"}
    error = await call_refused(session, app, OPEN[app], category="Martian")
    assert error["code"] == "CATEGORY_NOT_FOUND" and "Thai" in error["hint"]


# -- the life of an order --------------------------------------------------------------------------
EATS = ("placed", "confirmed", "preparing", "courier_assigned", "picked_up", "delivered")
DASH = ("received", "confirmed", "being_prepared", "dasher_assigned", "on_the_way", "delivered")
STAGES = {"uber_eats": list(EATS), "doordash": list(DASH)}


@both
async def test_an_order_goes_through_its_stages_and_tracking_agrees(
    session: Session, app: str
) -> None:
    one = (await order(session, app))["order_id"]
    seen = []
    left = []
    for _ in range(80):
        tracked = await call_ok(session, app, TRACK[app], order_id=one)
        shown = await call_ok(session, app, GET[app], order_id=one)
        if tracked["status"] != shown["status"]:
            continue  # a stage began between the two calls
        if not seen or seen[-1] != tracked["status"]:
            seen.append(tracked["status"])
        assigned = seen[-1] in STAGES[app][3:]
        assert (tracked["courier_name"] is not None) == assigned
        left.append(tracked["eta_min"])
        session.pass_time(MINUTE)
    assert seen == STAGES[app] and left[-1] is None
    waits = [n for n in left if n is not None]
    assert waits == sorted(waits, reverse=True) and waits[-1] == 1


@both
async def test_cancelling_is_free_until_confirmed_then_costs_a_fee_until_pickup(
    session: Session, app: str
) -> None:
    shares = {
        "uber_eats": {"confirmed": 40, "preparing": 40},
        "doordash": {"confirmed": 25, "being_prepared": 60},
    }[app]

    async def shown(order_id: str) -> dict[str, Any]:
        return await call_ok(session, app, GET[app], order_id=order_id)

    free = await order(session, app)
    wish = {"order_id": free["order_id"], "reason": "Changed my mind"}
    done = await call_ok(session, app, CANCEL[app], **wish)
    assert (done["fee"], done["refunded"], done["canceled"]) == (0.0, free["total"], True)
    twice = await call_refused(session, app, CANCEL[app], **wish)
    assert twice["code"] == "ORDER_NOT_CANCELLABLE"
    for stage, share in shares.items():
        placed = await order(session, app)
        wish = {"order_id": placed["order_id"], "reason": "Too slow"}
        while (await shown(placed["order_id"]))["status"] != stage:
            session.pass_time(10)
        key = "cancellation_fee" if app == "uber_eats" else "cancel_fee"
        fee = (await shown(placed["order_id"]))[key]
        assert cents(fee) == cents(placed["subtotal"]) * share // 100
        done = await call_ok(session, app, CANCEL[app], **wish)
        assert done["fee"] == fee and cents(done["refunded"]) == cents(placed["total"]) - cents(fee)
    placed = await order(session, app)
    on_the_way = STAGES[app][4]
    while (await shown(placed["order_id"]))["status"] != on_the_way:
        session.pass_time(MINUTE)
    wish = {"order_id": placed["order_id"], "reason": "Too slow"}
    late = await call_refused(session, app, CANCEL[app], **wish)
    assert late["code"] == "ORDER_NOT_CANCELLABLE" and late["status"] == on_the_way


@both
async def test_only_a_delivered_order_can_be_rated_and_only_once(
    session: Session, app: str
) -> None:
    one = (await order(session, app))["order_id"]
    error = await call_refused(session, app, RATE[app], order_id=one, rating=5)
    assert error["code"] == "ORDER_NOT_DELIVERED"
    session.pass_time(2 * HOUR)
    extra = {"dasher_rating": 3} if app == "doordash" else {}
    rated = await call_ok(session, app, RATE[app], order_id=one, rating=5, comment="Fine", **extra)
    assert rated["comment"] == "Fine" and rated.get("dasher_rating", 3) == 3
    again = await call_refused(session, app, RATE[app], order_id=one, rating=1)
    assert again["code"] == "ALREADY_RATED" and again["rating"] == 5
    session.pass_time(31 * DAY)
    key = {"uber_eats": "latest-lunch", "doordash": "cafe-again"}[app]
    error = await call_refused(session, app, RATE[app], order_id=at(app, 6, key), rating=5)
    assert error["code"] == "RATING_WINDOW_CLOSED"


@both
async def test_a_scheduled_order_waits_for_its_window_and_arrives_within_it(
    session: Session, app: str
) -> None:
    cafe = at(app, 0, "hazel_hawthorne")
    if app == "uber_eats":
        key = "window_id"
        tool = "schedule_order"
        minutes = 30
        listed = {"restaurant_id": cafe, "limit": 100}
        windows = (await call_ok(session, app, "get_delivery_windows", **listed))["windows"]
        assert all(parse_time(w["start_time"]) < START + DAY + HOUR for w in windows)
    else:
        key = "slot_id"
        tool = "place_scheduled_order"
        minutes = 20
        day = {"restaurant_id": cafe, "date": "2026-03-16"}
        windows = (await call_ok(session, app, "get_scheduled_slots", **day))["slots"]
        far = day | {"date": "2026-03-21"}
        error = await call_refused(session, app, "get_scheduled_slots", **far)
        assert error["code"] == "DATE_OUT_OF_RANGE" and error["last"] == "2026-03-20"
    lengths = {parse_time(w["end_time"]) - parse_time(w["start_time"]) for w in windows}
    assert lengths == {minutes * MINUTE}
    full = next(w for w in windows if not w["available"])
    error = await call_refused(session, app, tool, **paid(app, **{key: full[key]}))
    assert error["code"].endswith("_UNAVAILABLE")
    error = await call_refused(session, app, tool, **paid(app, **{key: "x"}))
    assert error["code"].endswith("_NOT_FOUND")
    window = [w for w in windows if w["available"]][-3]
    placed = await call_ok(session, app, tool, **paid(app, **{key: window[key]}))
    assert placed["status"] == "scheduled"
    session.pass_time(parse_time(window["start_time"]) - 2 * HOUR - session.control.now)
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert shown["status"] == "scheduled"
    session.pass_time(2 * HOUR + minutes * MINUTE)
    done = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    arrived = done["delivered_at" if app == "uber_eats" else "arrived_at"]
    assert window["start_time"] <= arrived <= window["end_time"]
    assert arrived <= iso(session.control.now)


# -- the account -----------------------------------------------------------------------------------


@both
async def test_an_expired_card_can_neither_pay_nor_be_saved(session: Session, app: str) -> None:
    by_old_card = paid(app, payment_method_id=at(app, 4, "old_visa"))
    error = await call_refused(session, app, PLACE[app], **by_old_card)
    assert error["code"] == "CARD_EXPIRED" and "2025-09" in error["message"]
    tool, name = {
        "uber_eats": ("register_payment_method", "name"),
        "doordash": ("add_dash_payment", "billing_name"),
    }[app]
    card = {"card_number": "4242424242424242", "cvv": "123", name: "Maya Lindqvist"}
    error = await call_refused(session, app, tool, **card, expiration_date="02/26")
    assert error["code"] == "CARD_EXPIRED"
    saved = await call_ok(session, app, tool, **card, expiration_date="03/26")
    assert (await order(session, app, payment_method_id=saved["method_id"]))["total"] > 0
    session.pass_time(18 * DAY)  # April
    error = await call_refused(
        session, app, PLACE[app], **paid(app, payment_method_id=saved["method_id"])
    )
    assert error["code"] == "CARD_EXPIRED"


@both
async def test_an_address_must_be_served_and_stays_while_an_order_is_on_its_way(
    session: Session, app: str
) -> None:
    add, remove = {
        "uber_eats": ("register_delivery_address", "remove_address"),
        "doordash": ("add_delivery_location", "remove_delivery_location"),
    }[app]
    new = {"street": "77 SE Test Street", "city": "Portland", "state": "OR", "zip_code": "97214"}
    error = await call_refused(session, app, add, **new | {"zip_code": "10001"})
    assert error["code"] == "ADDRESS_NOT_SERVED"
    error = await call_refused(session, app, add, **new | {"city": "Salem"})
    assert error["code"] == "ADDRESS_NOT_VERIFIED"
    known = await call_refused(session, app, add, **new | {"street": "2318 se alder street"})
    assert known["code"] == "ADDRESS_EXISTS" and known["address_id"] == at(app, 3, "home")
    new_id = (await call_ok(session, app, add, **new))["address_id"]
    one = (await order(session, app, delivery_address_id=new_id))["order_id"]
    assert (await call_refused(session, app, remove, address_id=new_id))["code"] == "ADDRESS_IN_USE"
    session.pass_time(2 * HOUR)
    await call_ok(session, app, remove, address_id=new_id)
    error = await call_refused(session, app, PLACE[app], **paid(app, delivery_address_id=new_id))
    assert error["code"] == "ADDRESS_NOT_FOUND"
    key = "delivery_address" if app == "uber_eats" else "drop_off"
    address = (await call_ok(session, app, GET[app], order_id=one))[key]
    assert address["street"] == new["street"] and address["address_id"] is None
