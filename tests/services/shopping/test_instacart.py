"""Instacart: from stores and carts to the delivery and what follows it.

Carts for each store, replacements, delivery slots, coupons, recipes, tips and issues.
"""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import Builder, person
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.shopping.instacart import (
    CART,
    CHEDDAR,
    DAY,
    EGGS,
    HOUR,
    LOAF,
    MILK,
    RECENT,
    STORE,
    call,
    checkout,
    everything,
    refused,
    slot,
    until,
)
from tests.support import at, new_session, session_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("instacart")


# -- stores and products --------------------------------------------------------------------------


async def test_stores_are_found_by_distance_and_branches_of_a_chain_differ(
    session: Session,
) -> None:
    home = {"lat": 45.5181, "lng": -122.6431}
    near = (await call(session, "search_stores", location=home))["stores"]
    assert [s["distance_miles"] for s in near] == sorted(s["distance_miles"] for s in near)
    reply = await call(session, "search_stores", location=home, query="new seasons")
    branches = reply["stores"]
    assert len(branches) == 2 and len({b["address"] for b in branches}) == 2
    one, two = [
        await everything(session, "search_grocery_items", "items", store_id=b["store_id"])
        for b in branches
    ]
    assert {i["product_id"] for i in one} != {i["product_id"] for i in two}
    sea = (await call(session, "search_stores", location={"lat": 21.3, "lng": -157.8}))["stores"]
    assert sea == []
    closed = (await call(session, "search_stores", location=home, query="sellwood"))["stores"][0]
    reply = await call(session, "get_store_details", store_id=closed["store_id"])
    assert reply["permanently_closed"]
    error = await refused(session, "create_cart", store_id=closed["store_id"])
    assert error["code"] == "STORE_CLOSED"


async def test_sizes_compare_by_price_of_a_unit(session: Session) -> None:
    reply = await call(
        session,
        "search_grocery_items",
        store_id=STORE,
        query="peanut butter",
        in_stock_only=False,
    )
    spreads = [item for item in reply["items"] if item["unit"].endswith(" oz")]
    assert len(spreads) >= 2
    for item in spreads:
        shown = await call(
            session, "get_grocery_details", store_id=STORE, product_id=item["product_id"]
        )
        size = float(item["unit"].split()[0])
        assert shown["price"] == item["price"]
        assert shown["per_unit"] == "oz"
        assert abs(shown["per_unit_price"] * size - item["price"]) < size
    milk = await call(
        session, "search_grocery_items", store_id=STORE, query="whole milk gal", in_stock_only=False
    )
    assert milk["items"][0]["name"] == "Whole Milk", "a unit too many spoils the search"
    missing = await refused(
        session, "get_grocery_details", store_id=at("ics", "belmont_pharmacy"), product_id=MILK
    )
    assert missing["code"] == "PRODUCT_NOT_FOUND" and "does not carry" in missing["message"]


# -- carts ----------------------------------------------------------------------------------------


async def test_each_store_has_one_open_cart_and_all_are_listed(session: Session) -> None:
    same = await call(session, "create_cart", store_id=STORE)
    assert same["cart_id"] == CART and len(same["items"]) == 5
    new = await call(session, "create_cart", store_id=at("ics", "alder_coop"))
    assert new["items"] == []
    reply = await call(session, "list_carts", status="open")
    listed = {c["cart_id"]: c for c in reply["carts"]}
    assert {new["cart_id"], CART, at("icc", "asian"), at("icc", "bulk")} == set(listed)
    other = await refused(
        session,
        "add_grocery_item",
        cart_id=at("icc", "bulk"),
        product_id=at("icp", "ibuprofen-everyday-24"),
        quantity=1,
    )
    assert other["code"] == "PRODUCT_NOT_FOUND"


async def test_quantities_add_up_and_the_subtotal_follows(session: Session) -> None:
    before = await call(session, "get_grocery_cart", cart_id=CART)
    price = next(i["price"] for i in before["items"] if i["product_id"] == MILK)
    more = await call(
        session, "add_grocery_item", cart_id=CART, product_id=MILK, quantity=3, notes="Cold ones"
    )
    line = next(i for i in more["items"] if i["product_id"] == MILK)
    assert (line["quantity"], line["notes"], line["line_total"]) == (5, "Cold ones", 5 * price)
    assert more["subtotal"] == before["subtotal"] + 3 * price
    assert more["subtotal"] == sum(i["line_total"] for i in more["items"])
    await call(
        session, "update_grocery_quantity", cart_id=CART, product_id=MILK, quantity=1, notes=""
    )
    less = await call(session, "get_grocery_cart", cart_id=CART)
    assert less["subtotal"] == before["subtotal"] - price and less["items"][0]["notes"] is None
    error = await refused(session, "update_grocery_quantity", cart_id=CART, product_id=MILK)
    assert error["code"] == "NOTHING_TO_CHANGE"
    error = await refused(session, "add_grocery_item", cart_id=CART, product_id=MILK, quantity=99)
    assert error["code"] == "QUANTITY_TOO_LARGE"
    gone = await call(session, "remove_grocery_item", cart_id=CART, product_id=MILK)
    assert MILK not in {i["product_id"] for i in gone["items"]}
    error = await refused(session, "remove_grocery_item", cart_id=CART, product_id=MILK)
    assert error["code"] == "ITEM_NOT_IN_CART"


async def test_a_coupon_that_does_not_hold_says_why_and_changes_nothing(session: Session) -> None:
    mark = session.world.last_change()
    for code, reason in (
        ("NOSUCH", "COUPON_NOT_FOUND"),
        ("WINTER15", "COUPON_EXPIRED"),
        ("HELLO10", "COUPON_EXPIRED"),
        ("BIGCART", "MIN_ORDER_NOT_MET"),
        ("COOP10", "STORE_NOT_ELIGIBLE"),
    ):
        reply = await call(session, "redeem_coupon", cart_id=CART, coupon_code=code)
        status = reply["coupon_status"]
        assert (status["valid"], status["reason"]) == (False, reason), code
    assert session.world.last_change() == mark
    await call(session, "add_grocery_item", cart_id=CART, product_id=MILK, quantity=4)
    held = await call(session, "redeem_coupon", cart_id=CART, coupon_code="fresh5")
    assert held["coupon_status"]["valid"] and held["discount"] == 500
    await call(session, "remove_grocery_item", cart_id=CART, product_id=MILK)
    less = await call(session, "get_grocery_cart", cart_id=CART)
    assert less["discount"] == 0, "the coupon should not apply to a smaller cart"
    assert less["applied_coupon"]["reason"] == "MIN_ORDER_NOT_MET"


async def test_a_coupon_is_used_once(session: Session) -> None:
    await call(session, "add_grocery_item", cart_id=CART, product_id=MILK, quantity=4)
    await call(session, "redeem_coupon", cart_id=CART, coupon_code="FRESH5")
    order = await checkout(session)
    pricing = order["pricing"]
    assert pricing["discount"] == 500 and order["coupon_code"] == "FRESH5"
    charges = sum(pricing[k] for k in ("subtotal", "delivery_fee", "service_fee", "tip"))
    assert pricing["total"] == charges - 500
    cart = await call(session, "create_cart", store_id=STORE)
    again = await call(session, "redeem_coupon", cart_id=cart["cart_id"], coupon_code="FRESH5")
    assert again["coupon_status"]["reason"] == "COUPON_EXPIRED"
    reply = await call(session, "list_coupons")
    coupons = {c["coupon_code"]: c["status"] for c in reply["coupons"]}
    assert coupons["FRESH5"] == "used"
    assert coupons["BIGCART"] == "active"
    assert coupons["WINTER15"] == "expired"


# -- orders ---------------------------------------------------------------------------------------


async def test_a_checkout_closes_the_cart_and_needs_all_that_belongs_to_it(
    session: Session,
) -> None:
    window = (await slot(session))["window_id"]
    asian = (await slot(session, at("ics", "jade_harbor")))["window_id"]
    args = {
        "cart_id": CART,
        "address_id": at("ica", "home"),
        "payment_method_id": at("icm", "visa"),
        "delivery_window_id": window,
    }
    for change, code in (
        ({"cart_id": at("icc", "bulk")}, "ORDER_MINIMUM_NOT_MET"),
        ({"address_id": at("ica", "cabin")}, "ADDRESS_OUT_OF_RANGE"),
        ({"address_id": "ica_x"}, "ADDRESS_NOT_FOUND"),
        ({"payment_method_id": at("icm", "old")}, "PAYMENT_DECLINED"),
        ({"payment_method_id": "visa"}, "PAYMENT_METHOD_NOT_FOUND"),
        ({"delivery_window_id": asian}, "DELIVERY_WINDOW_UNAVAILABLE"),
        ({"cart_id": "icc_x"}, "CART_NOT_FOUND"),
    ):
        assert (await refused(session, "checkout", **args | change))["code"] == code
    order = await call(session, "checkout", **args, tip=350)
    assert order["tip"] == 350 and not order["pricing"]["final"] and order["shopper"] is None
    assert (await refused(session, "checkout", **args))["code"] == "CART_CHECKED_OUT"
    reply = await call(session, "get_grocery_cart", cart_id=CART)
    assert reply["order_id"] == order["order_id"]
    empty = await call(session, "create_cart", store_id=STORE)
    error = await refused(session, "checkout", **args | {"cart_id": empty["cart_id"]})
    assert error["code"] == "CART_EMPTY"


async def test_a_full_slot_takes_no_more_and_a_slot_closes_in_time(session: Session) -> None:
    slots = await everything(session, "get_delivery_slots", "slots", store_id=STORE)
    window = min(slots, key=lambda s: s["places_left"] or 99)
    await checkout(session, delivery_window_id=window["window_id"])
    slots = await everything(session, "get_delivery_slots", "slots", store_id=STORE)
    left = {s["window_id"]: s for s in slots}
    assert left[window["window_id"]]["places_left"] == window["places_left"] - 1
    first = (await call(session, "get_delivery_slots", store_id=STORE))["slots"][0]
    until(session, first["start"], -80 * 60)
    reply = await call(session, "get_delivery_slots", store_id=STORE)
    assert first["window_id"] not in {s["window_id"] for s in reply["slots"]}
    day = await call(session, "get_delivery_slots", store_id=STORE, date="2026-03-17")
    assert day["slots"]
    assert all("2026-03-17T15" <= s["start"] < "2026-03-18T06" for s in day["slots"])


async def test_what_sells_out_before_the_shopper_comes_is_dealt_with_as_the_cart_says(
    session: Session,
) -> None:
    outcomes = {}
    for preference, more in (
        ("best_match", {}),
        ("refund", {}),
        ("specific", {"replacement_product_id": at("icp", "bread-millrace-24")}),
        ("contact_me", {}),
    ):
        fresh = new_session("instacart")
        await call(
            fresh,
            "set_replacement_preference",
            cart_id=CART,
            product_id=LOAF,
            preference=preference,
            **more,
        )
        reply = await call(fresh, "get_delivery_slots", store_id=STORE)
        evening = next(s for s in reply["slots"] if s["start"] >= "2026-03-14T22")
        order = await checkout(fresh, delivery_window_id=evening["window_id"])
        assert next(i for i in order["items"] if i["product_id"] == LOAF)["outcome"] is None
        until(fresh, evening["end"])
        done = await call(fresh, "get_order_status", order_id=order["order_id"])
        line = next(i for i in done["items"] if i["product_id"] == LOAF)
        if preference == "best_match":
            brought = fresh.world.get("instacart_products", line["replaced_by"]["product_id"])
            assert brought is not None and brought["family"] == "bread"
        outcomes[preference] = (line["outcome"], (line["replaced_by"] or {}).get("name"))
        pricing = done["pricing"]
        assert pricing["final"] and pricing["subtotal"] == sum(i["charged"] for i in done["items"])
        assert (line["outcome"] == "refunded") == (line["charged"] == 0)
    assert outcomes["best_match"][0] == "replaced"
    assert outcomes["specific"] == ("replaced", "Whole Wheat Bread")
    assert outcomes["refund"] == outcomes["contact_me"] == ("refunded", None)


async def test_a_preference_and_its_replacement_go_together(session: Session) -> None:
    item = {"cart_id": CART, "product_id": MILK}
    error = await refused(session, "set_replacement_preference", **item, preference="specific")
    assert error["code"] == "REPLACEMENT_MISMATCH"
    extra = await refused(
        session,
        "set_replacement_preference",
        **item,
        preference="refund",
        replacement_product_id=EGGS,
    )
    assert extra["code"] == "REPLACEMENT_MISMATCH"
    itself = await refused(
        session,
        "set_replacement_preference",
        **item,
        preference="specific",
        replacement_product_id=MILK,
    )
    assert itself["code"] == "REPLACEMENT_MISMATCH"
    reply = await call(session, "get_grocery_cart", cart_id=CART)
    cheddar = next(i for i in reply["items"] if i["product_id"] == CHEDDAR)
    assert cheddar["replacement_product_id"] == at("icp", "cheddar-everyday-16")


async def test_an_order_runs_by_the_clock_and_can_be_cancelled_until_it_leaves_the_store(
    session: Session,
) -> None:
    order = await checkout(session)
    row = session.world.get("instacart_orders", order["order_id"]) or {}
    seen = []
    for moment in ("shop_at", "leaves_at", "arrives_at"):
        until(session, row[moment])
        shown = await call(session, "get_order_status", order_id=order["order_id"])
        seen.append((shown["status"], shown["shopper"] is not None))
    assert seen == [("shopping", True), ("delivering", True), ("delivered", True)]
    error = await refused(session, "cancel_delivery", order_id=order["order_id"], reason="Late")
    assert error["code"] == "ORDER_NOT_CANCELLABLE"
    for step, fee in ((0, 0), (1, 500)):
        fresh = new_session("instacart")
        other = (await checkout(fresh))["order_id"]
        if step:
            until(fresh, (fresh.world.get("instacart_orders", other) or {})["shop_at"], 60)
        gone = await call(fresh, "cancel_delivery", order_id=other, reason="Changed my mind")
        assert (gone["canceled"], gone["fee"]) == (True, fee)
        until(fresh, order["delivery_window"]["end"])
        bill = (await call(fresh, "get_order_status", order_id=other))["pricing"]
        assert bill["total"] == fee


async def test_a_tip_changes_until_a_day_after_the_delivery(session: Session) -> None:
    raised = await call(session, "update_tip", order_id=RECENT, new_tip=800)
    before = raised["new_total"] - 300
    assert (raised["old_tip"], raised["new_tip"]) == (500, 800)
    reply = await call(session, "update_tip", order_id=RECENT, new_tip=0)
    assert reply["new_total"] == before - 500
    delivered = (await call(session, "get_order_status", order_id=RECENT))["delivered_at"]
    until(session, delivered, DAY - 5)
    await call(session, "update_tip", order_id=RECENT, new_tip=600)
    session.pass_time(10)
    late = await refused(session, "update_tip", order_id=RECENT, new_tip=700)
    assert late["code"] == "TIP_WINDOW_CLOSED" and late["tip"] == 600
    error = await refused(session, "update_tip", order_id=at("ico", "cancelled"), new_tip=1)
    assert error["code"] == "TIP_WINDOW_CLOSED"


def issue(issue_type: str, description: str, **more: Any) -> dict[str, Any]:
    args = {"order_id": RECENT, "issue_type": issue_type, "description": description}
    return args | more


async def test_an_issue_is_decided_in_two_hours_and_an_item_is_refunded_once(
    session: Session,
) -> None:
    eggs = at("icp", "eggs-everyday-1")
    bill = (await call(session, "get_order_status", order_id=RECENT))["pricing"]
    reported = await call(session, "report_issue", **issue("damaged_item", "All eggs broken"))
    assert reported["status"] == "received" and reported["product_ids"] == [eggs]
    twice = await refused(
        session, "report_issue", **issue("missing_item", "No box", product_ids=[eggs])
    )
    assert twice["code"] == "ALREADY_REPORTED"
    strange = await refused(
        session, "report_issue", **issue("other", "No loaf", product_ids=[LOAF])
    )
    assert strange["code"] == "ITEM_NOT_IN_ORDER"
    vague = await call(session, "report_issue", **issue("other", "The shopper was rude"))
    session.pass_time(2 * HOUR)
    listed = {i["issue_id"]: i for i in (await call(session, "list_issues"))["issues"]}
    assert listed[vague["issue_id"]]["status"] == "declined"
    refund = listed[reported["issue_id"]]["refund"]
    after = (await call(session, "get_order_status", order_id=RECENT))["pricing"]
    assert refund > 0
    assert after["refunded"] == refund
    assert after["net_total"] == bill["total"] - refund
    old = await refused(
        session,
        "report_issue",
        **issue("late_delivery", "An hour late", order_id=at("ico", "late_order")),
    )
    assert old["code"] == "WINDOW_CLOSED"
    coming = await refused(session, "rate_order", order_id=at("ico", "cabin"), rating=5)
    assert coming["code"] == "ORDER_NOT_DELIVERED"


# -- recipes and past purchases -------------------------------------------------------------------


async def test_a_recipe_fills_a_cart_with_enough_for_its_servings(session: Session) -> None:
    reply = await call(session, "create_cart", store_id=at("ics", "new_seasons_hollywood"))
    cart = reply["cart_id"]
    added = await call(
        session, "add_recipe_to_cart", cart_id=cart, recipe_id=at("icx", "bean-chili"), servings=8
    )
    assert {u["name"] for u in added["unmatched"]} >= {"Water"}
    beans = next(m for m in added["matched"] if m["ingredient"] == "Kidney beans")
    assert beans["quantity"] == 2, "30 ounces are two cans of 15"
    reply = await call(session, "get_grocery_cart", cart_id=cart)
    lines = {i["product_id"]: i["quantity"] for i in reply["items"]}
    assert lines == {m["product_id"]: m["quantity"] for m in added["matched"]}
    reply = await call(session, "create_cart", store_id=at("ics", "belmont_pharmacy"))
    pharmacy = reply["cart_id"]
    none = await refused(
        session, "add_recipe_to_cart", cart_id=pharmacy, recipe_id=at("icx", "bean-chili")
    )
    assert none["code"] == "NOTHING_MATCHED"


async def test_recipes_are_found_by_words_and_diet(session: Session) -> None:
    reply = await call(session, "search_recipes", query="soup")
    soups = {r["title"]: r["diets"] for r in reply["recipes"]}
    assert set(soups) == {"Red Lentil Soup", "Chicken Rice Soup"}
    reply = await call(session, "search_recipes", query="soup", dietary_filter="vegan")
    vegan = reply["recipes"]
    assert [r["title"] for r in vegan] == ["Red Lentil Soup"]
    reply = await call(session, "get_recipe", recipe_id=vegan[0]["recipe_id"], store_id=STORE)
    there = reply["ingredients"]
    assert next(i for i in there if i["name"] == "Red lentils")["product_id"]
    assert not next(i for i in there if i["name"] == "Salt")["product_id"]


async def purchases(session: Session) -> dict[str, int]:
    products = await everything(session, "get_buy_it_again", "products")
    return {p["product_id"]: p["purchase_count"] for p in products}


async def test_past_purchases_are_counted_from_deliveries(session: Session) -> None:
    before = await purchases(session)
    await checkout(session)
    assert await purchases(session) == before
    session.pass_time(DAY)
    after = await purchases(session)
    assert after[MILK] == before[MILK] + 1
    cart = (await call(session, "create_cart", store_id=STORE))["cart_id"]
    added = await call(
        session,
        "quick_add_past_items",
        cart_id=cart,
        product_ids=[MILK, at("icp", "diapers-bright-day-27")],
    )
    assert [a["product_id"] for a in added["added"]] == [MILK]
    assert added["not_found"][0]["reason"] == "never_bought"


# -- worlds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_orders_of_the_persons_life_come_to_what_was_paid(name: str) -> None:
    session = session_of(name, "instacart")
    life = Builder(name, person(name)).life
    happenings = [h for h in life if h.get("buy", {}).get("on") == "instacart"]
    assert len(happenings) >= 2
    for event in happenings:
        buy = event["buy"]
        order = await call(session, "get_order_status", order_id=make_id("ico", name, event["key"]))
        assert order["pricing"]["total"] == cents(buy["total"])
        assert order["pricing"]["refunded"] == cents(buy.get("refunded", 0))
        assert len(order["items"]) == len(buy["items"])
    orders = await everything(session, "list_orders", "orders")
    assert len(orders) >= 60 and {"delivered", "canceled"} <= {o["status"] for o in orders}


async def test_the_shelves_are_empty_before_the_storm() -> None:
    session = session_of("eleanor", "instacart")
    storm = make_id("ico", "eleanor", "storm_supplies")
    assert (await call(session, "get_order_status", order_id=storm))["status"] == "received"
    session.pass_time(2 * DAY)
    done = await call(session, "get_order_status", order_id=storm)
    water = next(i for i in done["items"] if "Water" in i["name"])
    assert done["status"] == "delivered"
    assert water["outcome"] == "replaced"
    assert "Water" in water["replaced_by"]["name"]
    assert done["pricing"]["total"] != cents(71.42) and done["pricing"]["final"]
