"""The life of an order at any of the three shops; codes, cards and stock."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.service import service
from servers.kit.session import Session
from tests.services.shopping.support import (
    ADD,
    CANCEL,
    DAY,
    HOUR,
    ORDER,
    PREFIX,
    SHOPS,
    add,
    order,
    see,
)
from tests.support import at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
every_shop = pytest.mark.parametrize("shop", SHOPS)


@pytest.fixture
def session() -> Session:
    return new_session(*SHOPS)


# -- the life of an order --------------------------------------------------------------------------


@every_shop
async def test_an_order_is_processed_shipped_and_delivered_as_time_passes(
    session: Session, shop: str
) -> None:
    await add(session, shop, "charger-65")
    placed = await order(session, shop)
    assert placed["status"] == "processing" and placed["tracking_number"] is None
    seen = []
    for _ in range(6 * 24):
        shown = await see(session, shop, placed["order_id"])
        if not seen or shown["status"] != seen[-1]:
            seen.append(shown["status"])
        session.pass_time(HOUR)
    assert seen == ["processing", "shipped", "out_for_delivery", "delivered"]
    assert shown["tracking_number"]
    tracked = shown
    if shop == "amazon":
        tracked = await call_ok(session, "amazon", "track_shipment", order_id=placed["order_id"])
    recorded = [e["status"] for e in tracked.get("events", tracked.get("timeline", []))]
    assert recorded == ["ordered", "shipped", "in_transit", "out_for_delivery", "delivered"]


@every_shop
async def test_only_an_order_that_has_not_left_can_be_canceled_and_is_refunded(
    session: Session, shop: str
) -> None:
    await add(session, shop, "charger-65")
    first = await order(session, shop)
    await add(session, shop, "charger-65")
    second = await order(session, shop)
    reply = await call_ok(
        session, shop, CANCEL[shop], order_id=second["order_id"], reason="Changed my mind"
    )
    shown = await see(session, shop, second["order_id"])
    assert reply["refund_amount"] == shown["total"] == shown["refunded"]
    assert shown["status"] == "canceled"
    again = await call_refused(
        session, shop, CANCEL[shop], order_id=second["order_id"], reason="Once more"
    )
    assert again["status"] == "canceled"
    session.pass_time(6 * DAY)
    late = await call_refused(
        session, shop, CANCEL[shop], order_id=first["order_id"], reason="Too late"
    )
    assert late["status"] == "delivered"
    codes = ("NOT_CANCELABLE", "ORDER_NOT_CANCELABLE", "ORDER_NOT_VOIDABLE")
    assert late["code"] in codes


@pytest.mark.parametrize(
    ("shop", "tool", "get", "more", "days"),
    [
        ("amazon", "request_return", "get_return", {}, 8),
        ("walmart", "initiate_return", "get_return_request", {"return_method": "store"}, 1),
        ("walmart", "initiate_return", "get_return_request", {"return_method": "mail"}, 8),
        ("target", "begin_return", "get_return_info", {"return_method": "drive_up"}, 1),
    ],
)
async def test_a_return_is_refunded_once_and_only_after_it_was_received(
    session: Session, shop: str, tool: str, get: str, more: dict[str, str], days: int
) -> None:
    await add(session, shop, "charger-65", 2)
    if shop == "amazon":
        variant_id = await first_variant(session, "cable-2m")
        await add(session, shop, "cable-2m", variant_id=variant_id)
    placed = await order(session, shop)
    request = {
        "order_id": placed["order_id"],
        "product_id": at(PREFIX[shop] + "p", "charger-65"),
        "reason": "Too slow",
        **more,
    }
    early = await call_refused(session, shop, tool, **request)
    assert early["code"] == "RETURN_NOT_ALLOWED"
    session.pass_time(6 * DAY)
    opened = await call_ok(session, shop, tool, **request)
    item = next(i for i in placed["items"] if i["product_id"] == request["product_id"])
    assert opened["refund_amount"] == item["unit_price"] * 2 - item["discount"] + item["tax"]
    assert opened["status"] == "requested"
    assert (await see(session, shop, placed["order_id"]))["refunded"] == 0
    assert (await call_refused(session, shop, tool, **request))["code"] == "ALREADY_RETURNED"
    session.pass_time(days * DAY)
    reply = await call_ok(session, shop, get, return_id=opened["return_id"])
    assert reply["status"] == "refunded"
    assert (await see(session, shop, placed["order_id"]))["refunded"] == opened["refund_amount"]


async def first_variant(session: Session, key: str) -> str:
    details = await call_ok(session, "amazon", "get_product_details", product_id=at("azp", key))
    return next(v["variant_id"] for v in details["variations"] if v["in_stock"])


async def test_return_windows_close_and_food_cannot_be_returned(session: Session) -> None:
    old = at("azo", "kettle-first")
    error = await call_refused(
        session,
        "amazon",
        "request_return",
        order_id=old,
        product_id=at("azp", "kettle-gooseneck"),
        reason="Leaks",
    )
    assert error["code"] == "RETURN_WINDOW_CLOSED" and error["return_by"].startswith("2025-10-16")
    await add(session, "walmart", "rice-10", 3)
    placed = await order(session, "walmart")
    session.pass_time(6 * DAY)
    food = {"order_id": placed["order_id"], "product_id": at("wmp", "rice-10"), "reason": "Stale"}
    error = await call_refused(session, "walmart", "initiate_return", **food)
    assert error["code"] == "ITEM_NOT_RETURNABLE"
    other = {**food, "product_id": at("wmp", "cable-2m")}
    error = await call_refused(session, "walmart", "initiate_return", **other)
    assert error["code"] == "ITEM_NOT_IN_ORDER"


# -- codes, cards, stock ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shop", "tool", "name", "good", "dear", "old", "other"),
    [
        ("amazon", "apply_coupon", "coupon_code", "KITCHEN10", "SAVE15", "WINTER25", "PETS5"),
        ("walmart", "redeem_promo_code", "promo_code", "ROLL10", "HOME20", "GIVE30", "TOOLS15"),
        ("target", "apply_discount_code", "promo_code", "HELLO10", None, "SPRING30", "BEDBATH"),
    ],
)
async def test_a_code_requires_its_minimum_dates_and_products_and_works_once(
    session: Session,
    shop: str,
    tool: str,
    name: str,
    good: str,
    dear: str | None,
    old: str,
    other: str,
) -> None:
    key = "coffee-filters" if shop == "amazon" else "charger-65"
    await add(session, shop, key, 1)
    expired = await call_refused(session, shop, tool, **{name: old})
    missing = await call_refused(session, shop, tool, **{name: "NOSUCH"})
    not_for = await call_refused(session, shop, tool, **{name: other})
    assert expired["code"].endswith("_EXPIRED") and missing["code"].endswith("_NOT_FOUND")
    assert not_for["code"] in ("PRODUCT_NOT_ELIGIBLE", "DEPARTMENT_NOT_ELIGIBLE", "NOT_APPLICABLE")
    if dear is not None:
        code = (await call_refused(session, shop, tool, **{name: dear}))["code"]
        assert code in ("MIN_ORDER_NOT_MET", "DEPARTMENT_NOT_ELIGIBLE")
    await add(session, shop, key, 4)
    preview = (await call_ok(session, shop, tool, **{name: good.lower()}))["discount_preview"]
    first = await order(session, shop)
    discount = first.get("pricing", first).get("discount") or first.get("promo_discount")
    assert discount == preview > 0
    await add(session, shop, key, 4)
    assert (await call_refused(session, shop, tool, **{name: good}))["code"] == "CODE_ALREADY_USED"
    await call_ok(session, shop, CANCEL[shop], order_id=first["order_id"], reason="Frees the code")
    assert (await call_ok(session, shop, tool, **{name: good}))["discount_preview"] > 0


async def test_an_order_is_not_placed_if_its_code_no_longer_applies(session: Session) -> None:
    await add(session, "walmart", "charger-65", 2)
    await call_ok(session, "walmart", "redeem_promo_code", promo_code="ROLL10")
    basket = await call_ok(session, "walmart", "get_basket")
    shrunk = await call_ok(
        session,
        "walmart",
        "update_basket_item",
        line_item_id=basket["items"][0]["line_item_id"],
        quantity=1,
    )
    assert shrunk["promo"] == {
        "promo_code": "ROLL10",
        "holds": False,
        "reason": "MIN_ORDER_NOT_MET",
    }
    assert shrunk["discount"] == 0
    error = await call_refused(
        session, "walmart", "submit_order", payment_method_id=at("wmm", "visa")
    )
    assert error["code"] == "MIN_ORDER_NOT_MET" and "remove_promo_code" in error["hint"]
    await call_ok(session, "walmart", "remove_promo_code")
    assert (await order(session, "walmart"))["discount"] == 0


@pytest.mark.parametrize(
    ("shop", "tool", "number"),
    [
        ("walmart", "add_wallet_payment", "6035710000001024"),
        ("target", "save_payment_method", "6049100000002020"),
    ],
)
async def test_only_the_shop_knows_the_balance_of_a_gift_card(
    session: Session, shop: str, tool: str, number: str
) -> None:
    schema = service(shop).tools[tool].schema
    assert "gift_card_balance" not in schema["properties"]
    saved = await call_ok(session, shop, tool, card_type="gift_card", card_number=number)
    loaded = {"walmart": 2500, "target": 4000}[shop]
    assert saved["gift_card_balance"] == loaded and saved["last_four"] == number[-4:]
    unknown = await call_refused(
        session, shop, tool, card_type="gift_card", card_number="6035710000009999"[:-1] + "2"
    )
    assert unknown["code"] in ("GIFT_CARD_NOT_FOUND", service(shop).codes.invalid)
    error = await call_refused(session, shop, tool, card_type="gift_card", card_number=number)
    assert error["code"] == "DUPLICATE_PAYMENT_METHOD"
    await add(session, shop, "charger-30")
    pay = {"walmart": "submit_order", "target": "checkout_order"}[shop]
    placed = await call_ok(session, shop, pay, payment_method_id=saved["payment_method_id"])
    assert await balance(session, shop, number) == loaded - placed["total"]
    await call_ok(session, shop, CANCEL[shop], order_id=placed["order_id"], reason="Keep the card")
    assert await balance(session, shop, number) == loaded
    await add(session, shop, "charger-65", 2)
    broke = await call_refused(session, shop, pay, payment_method_id=saved["payment_method_id"])
    assert broke["code"] == "INSUFFICIENT_GIFT_CARD_BALANCE"
    assert broke["available"] == loaded < broke["required"]


async def balance(session: Session, shop: str, number: str) -> int:
    tool = {"walmart": "list_wallet_payments", "target": "get_saved_payments"}[shop]
    listed = (await call_ok(session, shop, tool))["payments"]
    return next(m["gift_card_balance"] for m in listed if m["last_four"] == number[-4:])


async def test_expired_and_closed_cards_are_declined_and_nothing_is_ordered(
    session: Session,
) -> None:
    await add(session, "amazon", "charger-65")
    for key, code in (("old_visa", "PAYMENT_METHOD_EXPIRED"), ("bare", "PAYMENT_DECLINED")):
        error = await call_refused(
            session,
            "amazon",
            "place_order",
            address_id=at("aza", "home"),
            payment_method_id=at("azm", key),
        )
        assert error["code"] == code
    past = {
        "card_number": "4242424242424242",
        "expiration_date": "02/26",
        "cvv": "123",
        "billing_address": "2318 SE Alder Street",
    }
    error = await call_refused(session, "amazon", "add_payment_method", **past)
    assert error["code"] == "CARD_EXPIRED"


@every_shop
async def test_stock_goes_down_with_orders_and_up_when_they_are_canceled(
    session: Session, shop: str
) -> None:
    stocked = {
        "amazon": ("amazon_offers", "product_id=? AND condition='new'"),
        "walmart": ("walmart_products", "id=?"),
        "target": ("target_products", "id=?"),
    }
    table, where = stocked[shop]
    key = "charger-65"
    row = session.world.rows(table, where, at(PREFIX[shop] + "p", key))[0]
    session.world.update(table, row["id"], stock=3)
    session.world.commit()
    await add(session, shop, key, 2)
    placed = await order(session, shop)
    tool = ADD[shop]
    request: dict[str, Any] = {"product_id": at(PREFIX[shop] + "p", key), "quantity": 2}
    if shop == "amazon":
        request["seller_id"] = row["seller_id"]
    short = await call_refused(session, shop, tool, **request)
    assert short["code"] == "INSUFFICIENT_STOCK" and short["available"] == 1
    await call_ok(session, shop, CANCEL[shop], order_id=placed["order_id"], reason="Put it back")
    await call_ok(session, shop, tool, **request)


@pytest.mark.parametrize(
    ("shop", "key", "days"), [("walmart", "buds-pro", 9), ("target", "grinder-burr", 14)]
)
async def test_a_product_is_back_in_stock_on_its_restock_day(
    session: Session, shop: str, key: str, days: int
) -> None:
    tool = ADD[shop]
    request = {"product_id": at(PREFIX[shop] + "p", key), "quantity": 1}
    assert (await call_refused(session, shop, tool, **request))["code"] == "OUT_OF_STOCK"
    session.pass_time(days * DAY)
    await call_ok(session, shop, tool, **request)


@every_shop
async def test_an_order_without_a_named_payment_method_is_paid_with_the_default_one(
    session: Session, shop: str
) -> None:
    await add(session, shop, "charger-65")
    home = {"address_id": at("aza", "home")} if shop == "amazon" else {}
    placed = await call_ok(session, shop, ORDER[shop], payment_method_id="", **home)
    assert placed["payment_method_id"] == at(f"{PREFIX[shop]}m", "visa")
