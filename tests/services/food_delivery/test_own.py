"""What only one of the two has: group orders and groceries; favourites, gifts, second stores."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import Builder, names, person, shared
from servers.food_delivery.uber_eats.groceries import BASKET
from servers.kit.control import Control, make_id
from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from tests.services.food_delivery.support import (
    DAY,
    GET,
    HOUR,
    MINUTE,
    OPEN,
    at,
    order,
    out_soon,
    paid,
)
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("uber_eats", "doordash")


async def eats(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "uber_eats", tool, **args)


async def dash(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "doordash", tool, **args)


# -- group orders ----------------------------------------------------------------------------------


async def group(session: Session, **more: Any) -> dict[str, Any]:
    return await eats(
        session, "create_group_order", restaurant_id=at("uber_eats", 0, "hazel_hawthorne"), **more
    )


def cookies(number: int) -> list[dict[str, Any]]:
    return [{"item_id": at("uber_eats", 1, "hazel_hawthorne/oat-cookie"), "quantity": number}]


PAYS = {
    "delivery_address_id": at("uber_eats", 3, "home"),
    "payment_method_id": at("uber_eats", 4, "visa"),
}


async def test_everyones_subtotals_add_up_to_the_group_order(session: Session) -> None:
    one = (await group(session))["group_order_id"]
    for name in ("Ana Reyes", "Ben Asher"):
        await eats(session, "join_group_order", group_order_id=one, participant_name=name)
    again = {"group_order_id": one, "participant_name": " ana  REYES "}
    taken = await call_refused(session, "uber_eats", "join_group_order", **again)
    assert taken["code"] == "PARTICIPANT_EXISTS"
    for name, number in (
        ("Ana Reyes", 2),
        ("ben asher", 1),
        ("Maya Lindqvist", 4),
        ("Ana Reyes", 1),
    ):
        wish = {"participant_name": name, "items": cookies(number)}
        await eats(session, "add_group_order_items", group_order_id=one, **wish)
    wish = {"group_order_id": one, "participant_name": "Kai", "items": cookies(1)}
    stranger = await call_refused(session, "uber_eats", "add_group_order_items", **wish)
    assert stranger["code"] == "PARTICIPANT_NOT_FOUND" and "Ben Asher" in stranger["hint"]
    shown = await eats(session, "get_group_order", group_order_id=one)
    each = {p["participant_name"]: cents(p["subtotal"]) for p in shown["participants"]}
    cookie = each["Ben Asher"]
    assert each == {"Maya Lindqvist": 4 * cookie, "Ana Reyes": 3 * cookie, "Ben Asher": cookie}
    placed = await eats(session, "finalize_group_order", group_order_id=one, tip=5, **PAYS)
    assert cents(placed["subtotal"]) == sum(each.values()) and placed["group_order_id"] == one
    assert [i["participant_name"] for i in placed["items"]] == [
        "Ana Reyes",
        "Ben Asher",
        "Maya Lindqvist",
        "Ana Reyes",
    ]
    again = await call_refused(
        session, "uber_eats", "finalize_group_order", group_order_id=one, **PAYS
    )
    assert again["code"] == "GROUP_ORDER_CLOSED" and again["status"] == "ordered"
    reply = await eats(session, "get_group_order", group_order_id=one)
    assert reply["order_id"] == placed["order_id"]


async def test_the_deadline_locks_a_group_order_and_two_hours_later_it_expires(
    session: Session,
) -> None:
    one, two = [(await group(session, deadline_minutes=15))["group_order_id"] for _ in range(2)]
    wish = {"participant_name": "Maya Lindqvist", "items": cookies(4)}
    for group_id in (one, two):
        await eats(session, "add_group_order_items", group_order_id=group_id, **wish)
    session.pass_time(15 * MINUTE)
    late = await call_refused(
        session, "uber_eats", "join_group_order", group_order_id=one, participant_name="Ana"
    )
    assert late["code"] == "GROUP_ORDER_CLOSED"
    assert late["status"] == "locked"
    assert "finalize_group_order" in late["hint"]
    reply = await eats(session, "finalize_group_order", group_order_id=one, **PAYS)
    assert reply["status"] == "placed"
    session.pass_time(2 * HOUR)
    gone = await call_refused(
        session, "uber_eats", "finalize_group_order", group_order_id=two, **PAYS
    )
    assert gone["code"] == "GROUP_ORDER_CLOSED" and gone["status"] == "expired"
    groups = (await eats(session, "list_group_orders"))["group_orders"]
    states = {g["group_order_id"]: g["status"] for g in groups}
    assert (states[one], states[two]) == ("ordered", "expired")


async def test_an_empty_group_order_cannot_be_placed_and_items_can_be_removed(
    session: Session,
) -> None:
    one = (await group(session))["group_order_id"]
    maya = {"group_order_id": one, "participant_name": "Maya Lindqvist"}
    await eats(session, "add_group_order_items", **maya, items=cookies(4))
    cleared = await eats(session, "clear_group_order_items", **maya)
    assert cleared["subtotal"] == 0
    error = await call_refused(
        session, "uber_eats", "finalize_group_order", group_order_id=one, **PAYS
    )
    assert error["code"] == "GROUP_ORDER_EMPTY"


# -- groceries -------------------------------------------------------------------------------------


async def grocery(session: Session, *items: str) -> dict[str, Any]:
    lines = [
        {"item_id": make_id("uei", "maya", "alder_coop/black-beans"), "quantity": 9},
        *({"item_id": i, "quantity": 2} for i in items),
    ]
    return await eats(session, "submit_grocery_order", **BASKET | {"items": lines})


@pytest.mark.parametrize("preference", ["none", "refund", "substitute", "named", "contact_me"])
async def test_an_item_that_is_out_of_stock_follows_the_preference(
    session: Session, preference: str
) -> None:
    item = await out_soon(session)
    placed = await grocery(session, item["id"])
    about = {"order_id": placed["order_id"], "item_id": item["id"]}
    beans = session.world.get("uber_eats_items", make_id("uei", "maya", "alder_coop/black-beans"))
    assert beans is not None
    if preference in ("refund", "substitute", "contact_me"):
        await eats(session, "set_substitution_preference", **about, preference=preference)
    elif preference == "named":
        wish = {"preference": "substitute", "substitute_item_id": beans["id"]}
        await eats(session, "set_substitution_preference", **about, **wish)

    async def line() -> dict[str, Any]:
        """Return the line of the item, with the total of its order."""
        shown = await eats(session, "get_order", order_id=placed["order_id"])
        shown_line = next(i for i in shown["items"] if i["item_id"] == item["id"])
        return shown_line | {"total": shown["total"]}

    assert (await line())["fulfillment"] == "pending" and (await line())["total"] == placed["total"]
    while (await line())["fulfillment"] == "pending":
        session.pass_time(30)
    picked = await line()
    if preference == "contact_me":
        assert picked["fulfillment"] == "asking"
        session.pass_time(8 * MINUTE)
        picked = await line()
    substitute = picked["replaced_by"]
    if preference in ("substitute", "named"):
        assert picked["fulfillment"] == "substituted" and substitute["item_id"] != item["id"]
        assert preference == "substitute" or substitute["item_id"] == beans["id"]
        change = 2 * (cents(substitute["price"]) - item["price"])
    else:
        assert picked["fulfillment"] == "refunded" and substitute is None
        change = -2 * item["price"]
    assert cents(picked["total"]) == cents(placed["total"]) + change
    assert cents(picked["adjustment"]) == change
    late = await call_refused(
        session, "uber_eats", "set_substitution_preference", **about, preference="refund"
    )
    assert late["code"] == "SHOPPING_DONE"
    session.pass_time(2 * HOUR)
    assert (await line())["total"] == picked["total"], "the outcome does not change afterwards"


async def test_the_shopper_waits_for_an_answer(session: Session) -> None:
    item = await out_soon(session)
    placed = await grocery(session, item["id"])
    about = {"order_id": placed["order_id"], "item_id": item["id"]}
    await eats(session, "set_substitution_preference", **about, preference="contact_me")

    async def state() -> str:
        shown = await eats(session, "get_order", order_id=placed["order_id"])
        return next(i["fulfillment"] for i in shown["items"] if i["item_id"] == item["id"])

    while await state() == "pending":
        session.pass_time(30)
    await eats(session, "set_substitution_preference", **about, preference="substitute")
    assert await state() == "substituted"


async def test_substitutions_apply_only_to_items_of_a_grocery_order(session: Session) -> None:
    placed = await grocery(session)
    meal = (await order(session, "uber_eats"))["order_id"]
    beans = placed["items"][0]["item_id"]
    milk = make_id("uei", "maya", "alder_coop/bananas")
    tool = ("uber_eats", "set_substitution_preference")
    wish = {"order_id": placed["order_id"], "item_id": beans, "preference": "refund"}
    strange = {"preference": "substitute", "substitute_item_id": "uei_x"}
    for code, args in (
        ("NOT_A_GROCERY_ORDER", wish | {"order_id": meal}),
        ("ITEM_NOT_IN_ORDER", wish | {"item_id": milk}),
        ("SUBSTITUTE_NOT_APPLICABLE", wish | {"substitute_item_id": milk}),
        ("ITEM_NOT_FOUND", wish | strange),
    ):
        assert (await call_refused(session, *tool, **args))["code"] == code


async def test_an_idempotency_key_orders_once(session: Session) -> None:
    breakfast = paid("uber_eats", idempotency_key="breakfast")
    first = await eats(session, "submit_food_order", **breakfast)
    mark = session.world.last_change()
    assert (await eats(session, "submit_food_order", **breakfast))["order_id"] == first["order_id"]
    assert session.world.last_change() == mark
    other = await call_refused(
        session, "uber_eats", "submit_food_order", **breakfast | {"items": cookies(5)}
    )
    assert other["code"] == "IDEMPOTENCY_KEY_REUSED" and other["order_id"] == first["order_id"]


# -- what only DoorDash has ------------------------------------------------------------------------


async def test_repeating_a_dash_within_minutes_must_be_deliberate(session: Session) -> None:
    first = await order(session, "doordash")
    twice = await call_refused(session, "doordash", "place_dash", **paid("doordash"))
    assert twice["code"] == "DUPLICATE_ORDER" and twice["order_id"] == first["order_id"]
    assert (await order(session, "doordash", allow_duplicate=True))["order_id"] != first["order_id"]
    elsewhere = await order(session, "doordash", delivery_address_id=at("doordash", 3, "work"))
    assert elsewhere["status"] == "received"
    session.pass_time(6 * MINUTE)
    assert (await order(session, "doordash"))["order_id"]


async def test_a_reorder_uses_todays_menu_and_prices_and_lists_the_changes(
    session: Session,
) -> None:
    old = at("doordash", 6, "cafe-again")
    where = {
        "delivery_address_id": at("doordash", 3, "home"),
        "payment_method_id": at("doordash", 4, "visa"),
    }
    before = await dash(session, "get_dash", order_id=old)
    cookie_id = at("doordash", 1, "hazel_hawthorne/oat-cookie")
    cookie = session.world.get("doordash_items", cookie_id) or {}
    session.world.update("doordash_items", cookie["id"], price=cookie["price"] + 50)
    session.world.commit()
    again = await dash(session, "reorder", order_id=old, **where)
    assert again["reordered_from"] == old
    assert cents(again["subtotal"]) == cents(before["subtotal"]) + 2 * 50
    assert [(c["name"], cents(c["now"]) - cents(c["then"])) for c in again["price_changes"]] == [
        ("Oat cookie", 50)
    ]
    session.world.update("doordash_items", cookie["id"], out_since=iso(session.control.now))
    session.world.commit()
    session.pass_time(HOUR)
    error = await call_refused(session, "doordash", "reorder", order_id=old, **where)
    assert error["code"] == "ITEMS_UNAVAILABLE" and error["items"] == ["Oat cookie"]


async def send(session: Session, phone: str) -> dict[str, Any]:
    wanted = {k: v for k, v in paid("doordash").items() if k not in ("delivery_address_id", "tip")}
    return await dash(
        session,
        "send_gift_order",
        recipient_name="A Friend",
        recipient_phone=phone,
        gift_message="Enjoy",
        **wanted,
    )


async def test_a_gift_waits_for_its_recipient_then_travels_or_expires(session: Session) -> None:
    sent = [await send(session, f"+1-503-555-01{n}") for n in range(50, 70)]
    assert {g["status"] for g in sent} == {"awaiting_claim"} and not any(g["claimed"] for g in sent)
    session.pass_time(3 * HOUR)
    listed = (await dash(session, "list_gift_orders", limit=100))["gifts"]
    by_id = {gift["order_id"]: gift for gift in listed}
    gifts = [by_id[gift["order_id"]] for gift in sent]
    taken = [gift for gift in gifts if gift["claimed"]]
    waiting = [gift for gift in gifts if not gift["claimed"]]
    assert taken and waiting
    assert {g["status"] for g in taken} == {"delivered"}
    assert {g["status"] for g in waiting} == {"awaiting_claim"}
    one = waiting[0]["order_id"]
    two = taken[0]["order_id"]
    error = await call_refused(session, "doordash", "rate_dash", order_id=one, rating=5)
    assert error["code"] == "ORDER_NOT_DELIVERED"
    error = await call_refused(session, "doordash", "cancel_dash", order_id=two, reason="x")
    assert error["code"] == "ORDER_NOT_CANCELLABLE"
    reply = await dash(session, "get_dash", order_id=two)
    assert reply["drop_off"] is None, "the friend's address stays private"
    session.pass_time(2 * DAY)
    gone = await dash(session, "get_dash", order_id=one)
    assert gone["status"] == "expired" and gone["refund"]["amount"] == gone["total"]
    error = await call_refused(session, "doordash", "cancel_dash", order_id=one, reason="x")
    assert error["code"] == "ORDER_NOT_CANCELLABLE"


async def test_cancelling_an_unclaimed_gift_is_free(session: Session) -> None:
    gift = at("doordash", 6, "gift-nora")
    done = await dash(session, "cancel_dash", order_id=gift, reason="She is away")
    assert done["fee"] == 0
    assert (await dash(session, "get_gift_order_status", order_id=gift))["status"] == "cancelled"
    mine = at("doordash", 6, "cafe-again")
    error = await call_refused(session, "doordash", "get_gift_order_status", order_id=mine)
    assert error["code"] == "NOT_A_GIFT_ORDER"


async def test_a_second_store_can_be_added_within_ten_minutes_without_another_delivery_fee(
    session: Session,
) -> None:
    session.pass_time(45 * MINUTE)  # a quarter to ten
    placed = await order(session, "doordash")
    one = placed["order_id"]
    near = (await dash(session, "get_doubledash_stores", order_id=one))["stores"]
    assert "Belmont Mini Mart" in {s["name"] for s in near}
    assert "Hawthorne Corner Store" not in {s["name"] for s in near}, "it opens at ten"
    assert all(s["distance_miles"] <= 1.5 for s in near)
    mart = make_id("dds", "maya", "belmont_mini_mart")
    water = make_id("ddi", "maya", "belmont_mini_mart/sparkling-water")
    more = {"order_id": one, "store_id": mart, "items": [{"item_id": water, "quantity": 3}]}
    elsewhere = more | {"store_id": make_id("dds", "maya", "pearl_mini")}
    far = await call_refused(session, "doordash", "add_doubledash_items", **elsewhere)
    assert far["code"] == "STORE_NOT_ELIGIBLE"
    grown = await dash(session, "add_doubledash_items", **more)
    price = cents(next(i["unit_price"] for i in grown["items"] if i["store_id"] == mart))
    assert cents(grown["subtotal"]) == cents(placed["subtotal"]) + 3 * price
    assert grown["fees"]["delivery"] == placed["fees"]["delivery"]
    assert grown["fees"]["tip"] == placed["fees"]["tip"]
    assert cents(grown["fees"]["service"]) == max(300, round(cents(grown["subtotal"]) * 0.15))
    extra = next(s["estimated_extra_time"] for s in near if s["store_id"] == mart)
    assert grown["estimated_minutes"] - placed["estimated_minutes"] in (extra - 1, extra)
    others = [s["store_id"] for s in near if s["store_id"] != mart]
    goods = (await dash(session, "get_doubledash_catalog", store_id=others[0]))["items"]
    item = next(g["item_id"] for g in goods if g["available"])
    second = {"order_id": one, "store_id": others[0], "items": [{"item_id": item, "quantity": 1}]}
    error = await call_refused(session, "doordash", "add_doubledash_items", **second)
    assert error["code"] == "STORE_LIMIT_REACHED"
    session.pass_time(10 * MINUTE)
    for tool, args in (
        ("add_doubledash_items", more),
        ("get_doubledash_stores", {"order_id": one}),
    ):
        error = await call_refused(session, "doordash", tool, **args)
        assert error["code"] == "DOUBLEDASH_CLOSED"


async def test_a_favourite_is_listed_once_and_shows_whether_it_has_closed(session: Session) -> None:
    olive = at("doordash", 0, "olive_ash")
    for _ in range(2):
        listed = (await dash(session, "add_favorite_restaurant", restaurant_id=olive))["favorites"]
        assert [f["restaurant_id"] for f in listed].count(olive) == 1
    shown = {f["name"]: f for f in (await dash(session, "get_favorite_restaurants"))["favorites"]}
    assert shown["Slabtown Burger"]["permanently_closed"]
    assert not shown["Olive & Ash"]["permanently_closed"]
    await dash(session, "remove_favorite_restaurant", restaurant_id=olive)
    error = await call_refused(
        session, "doordash", "remove_favorite_restaurant", restaurant_id=olive
    )
    assert error["code"] == "NOT_A_FAVORITE"


# -- the worlds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
async def test_each_world_has_the_orders_of_its_happenings_to_the_cent(name: str) -> None:
    builder = Builder(name, person(name))
    session = Session(("uber_eats", "doordash"), shared(name).share(), Control(builder.start))
    told = [h for h in builder.life if h.get("order")]
    assert told
    for happening in told:
        told_order = happening["order"]
        app = told_order["on"]
        prefix = at(app, 6, happening["key"]).split("_")[0]
        order_id = builder.id(prefix, happening["key"])
        shown = await call_ok(session, app, GET[app], order_id=order_id)
        assert shown["restaurant_name"] == builder.places[told_order["place"]]["name"]
        assert shown["total"] == told_order["total"]
        assert shown["fees"]["tip"] == told_order.get("tip", 0)
        assert (shown["refund"] or {}).get("amount") == told_order.get("refunded")
        assert {i["name"] for i in shown["items"]} == set(told_order["items"])


@pytest.mark.parametrize("name", names())
async def test_each_world_has_enough_restaurants_and_its_orders_add_up(name: str) -> None:
    start = Builder(name, person(name)).start
    session = Session(("uber_eats", "doordash"), shared(name).share(), Control(start))
    for app, history in (("uber_eats", "get_order_history"), ("doordash", "get_dash_history")):
        places = next(iter((await call_ok(session, app, OPEN[app], limit=100)).values()))
        assert 24 <= len(places) <= 40 and any(p["permanently_closed"] for p in places)
        assert any(p["is_open"] for p in places)
        listed = (await call_ok(session, app, history, limit=100))["orders"]
        moments = [one["created_at"] for one in listed]
        assert len(listed) >= 30 and moments == sorted(moments, reverse=True)
        for one in listed:
            shown = await call_ok(session, app, GET[app], order_id=one["order_id"])
            fees = sum(cents(fee) for fee in shown["fees"].values())
            parts = cents(shown["subtotal"]) + fees - cents(shown["discount"])
            total = parts + cents(shown.get("adjustment", 0))
            assert cents(shown["total"]) == total == cents(one["total"])
            assert parse_time(shown["created_at"]) <= session.control.now


# -- refunds ---------------------------------------------------------------------------------------
REPORT = {"doordash": "report_missing_items", "uber_eats": "report_order_missing_items"}
REFUND = {"doordash": "request_refund", "uber_eats": "request_order_refund"}
REQUESTS = {"doordash": "get_refund_requests", "uber_eats": "list_refund_requests"}


@pytest.mark.parametrize("app", ["doordash", "uber_eats"])
async def test_a_missing_item_is_refunded_with_its_tax_and_only_once(app: str) -> None:
    session = new_session(app)
    placed = await order(session, app)
    missing = [{"item_id": placed["items"][0]["item_id"], "quantity": 1}]
    report = {"order_id": placed["order_id"], "items": missing}
    error = await call_refused(session, app, REPORT[app], **report)
    assert error["code"] == "ORDER_NOT_DELIVERED"
    session.pass_time(3 * HOUR)
    wrong = [missing[0] | {"quantity": 40}]
    error = await call_refused(session, app, REPORT[app], **(report | {"items": wrong}))
    assert error["code"] == "QUANTITY_NOT_IN_ORDER"
    wrong = [missing[0] | {"item_id": "nothing"}]
    error = await call_refused(session, app, REPORT[app], **(report | {"items": wrong}))
    assert error["code"] == "ITEM_NOT_IN_ORDER"
    asked = await call_ok(session, app, REPORT[app], **report)
    assert asked["status"] == "in_review" and asked["refund"] is None
    session.pass_time(6 * MINUTE)
    listed = (await call_ok(session, app, REQUESTS[app]))["requests"]
    assert [r["request_id"] for r in listed] == [asked["request_id"]]
    assert listed[0]["status"] == "refunded"
    assert listed[0]["refund"] >= placed["items"][0]["unit_price"]
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert shown["refund"]["amount"] == listed[0]["refund"]
    assert shown["refund"]["reason"] == "missing items"
    count = placed["items"][0]["quantity"]
    for _ in range(count - 1):
        await call_ok(session, app, REPORT[app], **report)
    error = await call_refused(session, app, REPORT[app], **report)
    assert error["code"] == "ALREADY_REQUESTED"


@pytest.mark.parametrize("app", ["doordash", "uber_eats"])
async def test_an_order_that_never_arrived_is_refunded_in_full_after_a_day(app: str) -> None:
    session = new_session(app)
    placed = await order(session, app)
    session.pass_time(3 * HOUR)
    ask = {"order_id": placed["order_id"], "problem": "never_arrived"}
    items = [{"item_id": placed["items"][0]["item_id"], "quantity": 1}]
    error = await call_refused(session, app, REFUND[app], **ask, items=items)
    assert error["field"] == "items"
    error = await call_refused(session, app, REFUND[app], **(ask | {"problem": "poor_quality"}))
    assert error["field"] == "items"
    await call_ok(session, app, REFUND[app], **ask)
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert shown["refund"] is None
    session.pass_time(25 * HOUR)
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert shown["refund"]["amount"] == placed["total"]
    session.pass_time(15 * 24 * HOUR)
    other = ask | {"problem": "poor_quality", "items": items}
    error = await call_refused(session, app, REFUND[app], **other)
    assert error["code"] == "REFUND_WINDOW_CLOSED"
