"""Target: Circle offers and points, RedCard, birthday, drive-up, aisles, registries."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import iso
from tests.services.shopping.support import DAY, HOLLYWOOD, HOUR, add, emptied, order, see
from tests.support import START, at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
RED = {"card_type": "red_card", "card_number": "5859 7500 0000 0035", "expiry": "06/29"}


@pytest.fixture
def session() -> Session:
    return new_session("target")


async def target(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "target", tool, **args)


@pytest.fixture
async def bare(session: Session) -> Session:
    """A session whose cart is empty."""
    return await emptied(session)


# -- offers and cards ------------------------------------------------------------------------------


async def test_offers_then_a_code_then_the_redcard_are_taken_off_in_this_order(
    bare: Session,
) -> None:
    card = await target(bare, "save_payment_method", **RED)
    cart = await add(bare, "target", "rc-car", 2)
    full = cart["subtotal"]
    clipped = await target(bare, "apply_circle_offer", offer_id=at("tgf", "circle-toys"))
    off = (full + 5) // 10
    assert clipped["discount_preview"] == off
    code = await target(bare, "apply_discount_code", promo_code="HELLO10")
    assert code["discount_preview"] == 1000
    placed = await target(bare, "checkout_order", payment_method_id=card["payment_method_id"])
    red = round((full - off - 1000) * 0.05 + 1e-9)
    assert placed["circle_discount"] == off
    assert placed["promo_discount"] == 1000
    assert placed["redcard_discount"] == red
    assert placed["total"] == full - off - 1000 - red and placed["circle_points_earned"] == 0
    reply = await target(bare, "get_circle_offers")
    used = next(o for o in reply["offers"] if o["offer_id"] == at("tgf", "circle-toys"))
    assert used["state"] == "used"
    await add(bare, "target", "rc-car")
    error = await call_refused(
        bare, "target", "apply_circle_offer", offer_id=at("tgf", "circle-toys")
    )
    assert error["code"] == "ALREADY_APPLIED"
    await target(bare, "void_order", order_id=placed["order_id"], reason="Gives the offer back")
    assert (await target(bare, "view_cart"))["circle_discount"] > 0


async def test_only_one_offer_applies_to_a_line(bare: Session) -> None:
    cart = await add(bare, "target", "hp-arc2")
    await target(bare, "apply_circle_offer", offer_id=at("tgf", "circle-norvane"))
    clash = {
        "id": "tgf_other",
        "description": "All electronics",
        "kind": "percent",
        "worth": 10,
        "items": [],
        "categories": [],
        "departments": ["Electronics"],
        "minimum": 0,
        "starts": iso(START - DAY),
        "expires": iso(START + DAY),
    }
    bare.world.insert("target_offers", clash)
    bare.world.commit()
    second = await target(bare, "apply_circle_offer", offer_id="tgf_other")
    assert second["discount_preview"] == 0 and second["reason"] != "OK"
    after = await target(bare, "view_cart")
    quarter = (cart["subtotal"] * 25 + 50) // 100
    applied = {"offer_id": at("tgf", "circle-norvane"), "discount": quarter}
    assert after["circle_offers_applied"] == [applied]


@pytest.mark.parametrize(
    ("offer", "code"),
    [
        ("circle-old", "OFFER_EXPIRED"),
        ("circle-office", "NOT_APPLICABLE"),
        ("circle-kitchen", "ALREADY_APPLIED"),
        ("none", "OFFER_NOT_FOUND"),
    ],
)
async def test_an_offer_that_cannot_be_used_says_why(bare: Session, offer: str, code: str) -> None:
    await add(bare, "target", "rc-car")
    error = await call_refused(bare, "target", "apply_circle_offer", offer_id=at("tgf", offer))
    assert error["code"] == code


async def test_only_cards_that_target_issued_are_redcards(session: Session) -> None:
    error = await call_refused(
        session,
        "target",
        "save_payment_method",
        card_type="red_card",
        card_number="4242424242424242",
        expiry="06/29",
    )
    assert error["code"] == "NOT_A_RED_CARD"
    missing = await call_refused(
        session, "target", "save_payment_method", card_type="credit", card_number="4242424242424242"
    )
    assert missing["code"] == "EXPIRY_REQUIRED"


async def test_a_redcard_ships_small_orders_free_and_extends_returns(bare: Session) -> None:
    card = await target(bare, "save_payment_method", **RED)
    await add(bare, "target", "cable-2m")
    plain = await order(bare, "target")
    await add(bare, "target", "cable-2m")
    red = await target(bare, "checkout_order", payment_method_id=card["payment_method_id"])
    assert (plain["fees"], red["fees"]) == (599, 0)
    bare.pass_time(7 * DAY)
    by_card = (await see(bare, "target", plain["order_id"]))["items"][0]["return_by"]
    by_red_card = (await see(bare, "target", red["order_id"]))["items"][0]["return_by"]
    assert by_card < iso(bare.control.now + 30 * DAY) < by_red_card, (
        "electronics have 30 days, and 30 more with a RedCard"
    )


async def test_the_birthday_offer_is_for_the_month_of_the_birthday(bare: Session) -> None:
    offer = await target(bare, "get_birthday_offer")
    assert offer["available"] is False
    assert offer["valid_from"] == "2026-09-01T00:00:00Z"
    assert offer["valid_until"] == "2026-10-01T00:00:00Z"
    await add(bare, "target", "charger-65")
    error = await call_refused(bare, "target", "apply_circle_offer", offer_id=offer["offer_id"])
    assert error["code"] == "OFFER_NOT_STARTED"
    bare.pass_time(175 * DAY)
    assert (await target(bare, "get_birthday_offer"))["available"]
    worth = await target(bare, "apply_circle_offer", offer_id=offer["offer_id"])
    placed = await order(bare, "target")
    twentieth = round(placed["subtotal"] * 0.05 + 1e-9)
    assert placed["circle_discount"] == worth["discount_preview"] == twentieth
    after = await target(bare, "get_birthday_offer")
    assert after["redeemed"] and not after["available"]
    bare.pass_time(30 * DAY)
    assert (await target(bare, "get_birthday_offer"))["valid_from"] == "2027-09-01T00:00:00Z"


# -- points ----------------------------------------------------------------------------------------


async def ledger(session: Session) -> int:
    history = await target(session, "get_circle_earnings_history", limit=100)
    return sum(e["points"] for e in history["history"])


async def test_the_points_are_the_sum_of_their_ledger_and_come_with_delivery(bare: Session) -> None:
    before = await target(bare, "get_circle_points")
    assert before["points_balance"] == await ledger(bare) > 100
    assert before["next_reward_threshold"] % 500 == 0
    await add(bare, "target", "charger-65", 2)
    placed = await order(bare, "target")
    earned = placed["circle_points_earned"]
    assert earned == placed["subtotal"] // 100
    during = await target(bare, "get_circle_points")
    assert during["points_balance"] == before["points_balance"]
    assert during["points_pending"] == before["points_pending"] + earned
    bare.pass_time(7 * DAY)
    after = await target(bare, "get_circle_points")
    assert after["points_balance"] == await ledger(bare) >= before["points_balance"] + earned
    back = await target(
        bare,
        "begin_return",
        order_id=placed["order_id"],
        product_id=at("tgp", "charger-65"),
        reason="One too many",
    )
    assert back["status"] == "requested"
    bare.pass_time(2 * DAY)
    reply = await target(bare, "get_circle_points")
    assert reply["points_balance"] == after["points_balance"] - earned


async def test_points_pay_for_an_order_and_come_back_when_it_is_voided(bare: Session) -> None:
    held = (await target(bare, "get_circle_points"))["points_balance"]
    await add(bare, "target", "charger-65")
    placed = await order(bare, "target")
    done = await target(bare, "redeem_circle_points", points=200, order_id=placed["order_id"])
    assert (done["dollar_value"], done["remaining_points"]) == (2.0, held - 200)
    assert (await see(bare, "target", placed["order_id"]))["refunded"] == 200
    much = await call_refused(
        bare, "target", "redeem_circle_points", points=100_000, order_id=placed["order_id"]
    )
    assert much["code"] == "INSUFFICIENT_POINTS"
    old = await call_refused(
        bare, "target", "redeem_circle_points", points=100, order_id=at("tgo", "windstorm")
    )
    assert old["code"] == "ORDER_NOT_ELIGIBLE"
    void = await target(bare, "void_order", order_id=placed["order_id"], reason="Wrong one")
    assert void["refund_amount"] == placed["total"] - 200
    assert void["circle_points_reversed"] == placed["circle_points_earned"]
    assert (await target(bare, "get_circle_points"))["points_balance"] == held


# -- stores ----------------------------------------------------------------------------------------


async def test_drive_up_needs_a_time_and_is_handed_over_at_check_in(bare: Session) -> None:
    await add(bare, "target", "towels-paper-12", 1, fulfillment_type="drive_up", store_id=HOLLYWOOD)
    error = await call_refused(
        bare, "target", "checkout_order", payment_method_id=at("tgm", "visa")
    )
    assert error["code"] == "WINDOW_REQUIRED"
    reply = await target(bare, "get_drive_up_times", store_id=HOLLYWOOD, available_only=True)
    slot = reply["slots"][0]
    placed = await order(bare, "target", drive_up_slot_id=slot["slot_id"])
    assert placed["window"]["starts_at"] == slot["starts_at"] and placed["fees"] == 0
    error = await call_refused(bare, "target", "check_in_at_store", order_id=placed["order_id"])
    assert error["code"] == "ORDER_NOT_READY"
    before = (await target(bare, "get_circle_points"))["points_balance"]
    bare.pass_time(13 * HOUR)
    reply = await target(bare, "check_in_at_store", order_id=placed["order_id"])
    assert reply["status"] == "picked_up"
    reply = await target(bare, "get_circle_points")
    assert reply["points_balance"] == before + placed["circle_points_earned"]
    none = await call_refused(bare, "target", "get_drive_up_times", store_id=at("tgs", "galleria"))
    assert none["code"] == "FULFILLMENT_UNAVAILABLE"


async def test_same_day_delivery_comes_within_its_window_for_a_fee(bare: Session) -> None:
    await add(bare, "target", "towels-paper-12", 1, fulfillment_type="same_day_delivery")
    reply = await target(bare, "get_delivery_windows", store_id=HOLLYWOOD, available_only=True)
    window = reply["windows"][0]
    placed = await order(bare, "target", delivery_window_id=window["window_id"])
    assert placed["fees"] == window["fee"] == 999 and placed["status"] == "preparing"
    assert placed["expected_by"] > window["starts_at"]
    bare.pass_time(14 * HOUR)
    assert (await see(bare, "target", placed["order_id"]))["completed_at"] <= placed["expected_by"]


async def test_pickup_orders_cost_the_in_store_price(bare: Session) -> None:
    info = await target(bare, "get_merchandise_info", product_id=at("tgp", "kettle-electric"))
    assert info["in_store_price"] > info["price"]
    shelf = {
        "id": f"{HOLLYWOOD}:{info['product_id']}",
        "store_id": HOLLYWOOD,
        "product_id": info["product_id"],
        "quantity": 5,
    }
    if bare.world.get("target_shelves", shelf["id"]) is None:
        bare.world.insert("target_shelves", shelf)
        bare.world.commit()
    cart = await add(bare, "target", "kettle-electric")
    assert cart["subtotal"] == info["price"]
    moved = await target(
        bare, "set_fulfillment_method", fulfillment_type="order_pickup", store_id=HOLLYWOOD
    )
    assert moved["subtotal"] == info["in_store_price"] and moved["warnings"] == []


async def test_both_tools_agree_on_aisle_shelf_and_floor(session: Session) -> None:
    one = await target(
        session, "find_in_store", product_id=at("tgp", "candle-fig"), store_id=HOLLYWOOD
    )
    two = await target(
        session,
        "check_in_store_availability",
        product_id=at("tgp", "candle-fig"),
        store_id=HOLLYWOOD,
    )
    for key in ("aisle", "shelf", "floor"):
        assert one[key] == two[key]
    assert one["found"] and one["department_area"] == "Home" and two["quantity"] == 2
    online = await target(
        session, "find_in_store", product_id=at("tgp", "armchair-oat"), store_id=HOLLYWOOD
    )
    assert not online["found"] and online["aisle"] is None


# -- registries ------------------------------------------------------------------------------------


async def test_a_registry_counts_what_others_have_given(session: Session) -> None:
    registry = await target(session, "get_registry", registry_id=at("tgg", "own"))
    given = {
        i["name"]: (i["quantity_desired"], i["quantity_fulfilled"], i["given_by"])
        for i in registry["items"]
    }
    assert given["Homely Five-tier shelf"] == (1, 0, [])
    assert (2, 1, ["Ingrid Lindqvist"]) in given.values()
    again = await target(session, "open_registry_link", share_link=registry["share_link"])
    assert again == registry


async def test_a_gift_from_a_friends_registry_counts_there_and_only_its_owner_may_change_it(
    bare: Session,
) -> None:
    nora = await target(
        bare, "open_registry_link", share_link="https://gifts.target.example/r/nora-and-will"
    )
    knife = at("tgp", "knife-chef")
    oven = at("tgp", "dutch-oven")
    assert not nora["is_mine"] and nora["owner"] == "Nora Ellis"
    denied = await call_refused(
        bare, "target", "add_to_registry", registry_id=nora["registry_id"], product_id=oven
    )
    assert denied["code"] == "NOT_REGISTRY_OWNER"
    wrong = await call_refused(
        bare,
        "target",
        "put_in_cart",
        product_id=at("tgp", "rc-car"),
        quantity=1,
        registry_id=nora["registry_id"],
    )
    assert wrong["code"] == "NOT_IN_REGISTRY"
    await target(bare, "put_in_cart", product_id=knife, quantity=1, registry_id=nora["registry_id"])
    placed = await order(bare, "target")
    assert await fulfilled(bare, nora["registry_id"], knife) == 1
    await target(bare, "void_order", order_id=placed["order_id"], reason="Somebody else gave it")
    assert await fulfilled(bare, nora["registry_id"], knife) == 0


async def fulfilled(session: Session, registry_id: str, product_id: str) -> int:
    registry = await target(session, "get_registry", registry_id=registry_id)
    return next(i["quantity_fulfilled"] for i in registry["items"] if i["product_id"] == product_id)


async def test_a_registry_has_one_link_and_no_date_in_the_past(session: Session) -> None:
    late = await call_refused(
        session,
        "target",
        "create_gift_registry",
        name="Too late",
        type="baby",
        event_date="2026-03-13",
    )
    assert late["code"] == "INVALID_EVENT_DATE"
    created = await target(
        session,
        "create_gift_registry",
        name="Studio",
        type="housewarming",
        co_registrant_name="Ana Ruiz",
    )
    assert created["share_link"] is None
    shared = await target(session, "share_registry", registry_id=created["registry_id"])
    link = shared["share_link"]
    reply = await target(session, "share_registry", registry_id=created["registry_id"])
    assert reply["share_link"] == link
    for _ in range(2):
        registry = await target(
            session,
            "add_to_registry",
            registry_id=created["registry_id"],
            product_id=at("tgp", "stockpot-12"),
        )
    assert [i["quantity_desired"] for i in registry["items"]] == [2]
