"""Walmart: fulfilment by line, pickup slots, substitutions, price match, auto reorder."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from tests.services.shopping.support import DAY, EASTPORT, HOUR, add, order, see, shelf, slots
from tests.support import START, at, call_ok, call_refused, new_session, session_of

pytestmark = pytest.mark.anyio
VISA = at("wmm", "visa")


@pytest.fixture
def session() -> Session:
    return new_session("walmart", "amazon", "target")


async def walmart(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "walmart", tool, **args)


# -- prices and the basket -------------------------------------------------------------------------


async def test_a_basket_was_updated_when_its_latest_product_came_in() -> None:
    session = session_of("rafael", "walmart")
    came = [row["added_at"] for row in session.world.rows("walmart_basket")]
    assert (await walmart(session, "get_basket"))["updated_at"] == max(came)


async def test_a_rollback_applies_for_its_days_and_a_store_may_have_its_own_price(
    session: Session,
) -> None:
    fryer = await walmart(session, "get_item_details", product_id=at("wmp", "airfryer-5"))
    assert fryer["effective_price"] == fryer["rollback_price"] < fryer["price"]
    own = session.world.sql(
        "SELECT store_id, product_id, price FROM walmart_shelves"
        " WHERE price IS NOT NULL ORDER BY id LIMIT 1"
    )[0]
    there = await walmart(session, "check_store_availability", store_id=own[0], product_id=own[1])
    assert there["price_override"] == there["effective_price"] == own[2]
    session.pass_time(11 * DAY)
    after = await walmart(session, "get_item_details", product_id=at("wmp", "airfryer-5"))
    assert after["effective_price"] == fryer["price"] and after["rollback_price"] is None


async def test_lines_differ_by_fulfilment_but_an_order_has_only_one(session: Session) -> None:
    await add(session, "walmart", "detergent", 1)
    basket = await add(
        session, "walmart", "detergent", 2, fulfillment_type="pickup", store_id=EASTPORT
    )
    lines = [(i["fulfillment_type"], i["quantity"]) for i in basket["items"]]
    assert lines == [("shipping", 1), ("pickup", 2)]
    error = await call_refused(session, "walmart", "submit_order", payment_method_id=VISA)
    assert error["code"] == "MIXED_FULFILLMENT"
    shelf(session, "detergent", 2)
    one = await walmart(session, "choose_fulfillment", fulfillment_type="pickup")
    assert [(i["quantity"], i["store_id"]) for i in one["items"]] == [(3, EASTPORT)]
    assert [(w["wanted"], w["available"]) for w in one["warnings"]] == [(3, 2)]
    error = await call_refused(session, "walmart", "submit_order", payment_method_id=VISA)
    assert error["code"] == "INSUFFICIENT_STOCK"
    nowhere = await call_refused(
        session,
        "walmart",
        "choose_fulfillment",
        fulfillment_type="delivery",
        store_id=at("wms", "holgate"),
    )
    assert nowhere["code"] == "FULFILLMENT_UNAVAILABLE" and nowhere["offered"] == ["pickup"]


@pytest.mark.parametrize(
    ("key", "quantity", "fee"), [("toothpaste-4", 1, 699), ("charger-65", 2, 0)]
)
async def test_shipping_is_free_above_a_minimum(
    session: Session, key: str, quantity: int, fee: int
) -> None:
    await add(session, "walmart", key, quantity)
    placed = await order(session, "walmart")
    assert placed["shipping_fee"] == fee and placed["total"] == placed["subtotal"] + fee


async def test_a_store_delivers_within_its_city_on_the_same_day(
    session: Session,
) -> None:
    shelf(session, "charger-65", 20)
    await add(session, "walmart", "charger-65", 2, fulfillment_type="delivery", store_id=EASTPORT)
    far = await walmart(
        session,
        "add_shipping_address",
        name="Tom",
        street="5717 Phinney Avenue N",
        city="Seattle",
        state="WA",
        zip_code="98103",
    )
    error = await call_refused(
        session, "walmart", "submit_order", payment_method_id=VISA, address_id=far["address_id"]
    )
    assert error["code"] == "DELIVERY_UNAVAILABLE"
    placed = await order(session, "walmart")
    assert placed["shipping_fee"] == 995 and placed["status"] == "preparing"
    session.pass_time(8 * HOUR)
    assert (await see(session, "walmart", placed["order_id"]))["status"] == "delivered"


# -- pickup ----------------------------------------------------------------------------------------


async def test_a_slot_takes_only_as_many_orders_as_it_has_room_for(session: Session) -> None:
    tight = next(s for s in await slots(session) if s["orders_left"] == 1)
    await add(session, "walmart", "detergent", 1, fulfillment_type="pickup", store_id=EASTPORT)
    placed = await order(session, "walmart", pickup_slot_id=tight["slot_id"])
    assert placed["pickup_slot"]["starts_at"] == tight["starts_at"]
    await add(session, "walmart", "detergent", 1, fulfillment_type="pickup", store_id=EASTPORT)
    full = await call_refused(
        session, "walmart", "submit_order", payment_method_id=VISA, pickup_slot_id=tight["slot_id"]
    )
    assert full["code"] == "SLOT_UNAVAILABLE"
    await walmart(session, "cancel_purchase", order_id=placed["order_id"], reason="Frees the slot")
    await order(session, "walmart", pickup_slot_id=tight["slot_id"])


async def test_a_reserved_slot_is_held_for_an_hour(session: Session) -> None:
    await add(session, "walmart", "detergent", 1, fulfillment_type="pickup", store_id=EASTPORT)
    error = await call_refused(session, "walmart", "submit_order", payment_method_id=VISA)
    assert error["code"] == "SLOT_REQUIRED"
    late = (await slots(session))[-1]
    held = await walmart(session, "reserve_pickup_slot", store_id=EASTPORT, slot_id=late["slot_id"])
    session.pass_time(HOUR + 60)
    assert (await walmart(session, "get_basket"))["reserved_slot"] is None and held["reserved"]
    error = await call_refused(session, "walmart", "submit_order", payment_method_id=VISA)
    assert error["code"] == "SLOT_REQUIRED"
    await walmart(session, "reserve_pickup_slot", store_id=EASTPORT, slot_id=late["slot_id"])
    assert (await order(session, "walmart"))["pickup_slot"]["date"] == late["date"]


async def test_only_orders_not_collected_in_three_days_are_refunded(
    session: Session,
) -> None:
    slot = (await slots(session))[0]
    placed = []
    for _ in range(2):
        await add(session, "walmart", "detergent", 1, fulfillment_type="pickup", store_id=EASTPORT)
        free = next(s for s in await slots(session) if s["date"] == slot["date"])
        placed.append(await order(session, "walmart", pickup_slot_id=free["slot_id"]))
    early = await call_refused(
        session, "walmart", "check_in_for_pickup", order_id=placed[0]["order_id"]
    )
    assert early["code"] == "ORDER_NOT_READY" and placed[0]["ready_at"] in early["hint"]
    session.pass_time(14 * HOUR)
    assert (await see(session, "walmart", placed[0]["order_id"]))["status"] == "ready"
    error = await call_refused(
        session, "walmart", "cancel_purchase", order_id=placed[0]["order_id"], reason="No time"
    )
    assert error["status"] == "ready"
    await walmart(session, "check_in_for_pickup", order_id=placed[0]["order_id"])
    session.pass_time(4 * DAY)
    taken, left = [await see(session, "walmart", p["order_id"]) for p in placed]
    assert (taken["status"], taken["refunded"]) == ("picked_up", 0)
    assert (left["status"], left["refunded"]) == ("expired", left["total"])


@pytest.mark.parametrize("wish", ["allow_substitution", "no_substitution", "contact_me"])
async def test_an_item_that_runs_out_is_substituted_or_refunded_when_the_order_is_put_together(
    session: Session, wish: str
) -> None:
    shelf(session, "detergent", 2)
    await add(
        session,
        "walmart",
        "detergent",
        1,
        fulfillment_type="pickup",
        store_id=EASTPORT,
        substitution_pref=wish,
    )
    shelf(session, "peanut-butter", 30)
    await add(session, "walmart", "peanut-butter", 1, fulfillment_type="pickup", store_id=EASTPORT)
    placed = await order(session, "walmart", pickup_slot_id=(await slots(session))[0]["slot_id"])
    assert [i["outcome"] for i in placed["items"]] == [None, None], "the outcomes are not known yet"
    session.pass_time(14 * HOUR)
    after = await see(session, "walmart", placed["order_id"])
    short, fine = after["items"]
    assert fine["outcome"] is None and after["status"] == "ready"
    if wish == "allow_substitution":
        other = await walmart(
            session, "get_item_details", product_id=short["substitute_product_id"]
        )
        assert short["outcome"] == "substituted" and other["category"] == "Cleaning"
        there = await walmart(
            session, "check_store_availability", product_id=other["product_id"], store_id=EASTPORT
        )
        assert after["refunded"] == max(short["unit_price"] - there["effective_price"], 0)
    else:
        assert short["outcome"] == "refunded"
        assert after["refunded"] == short["unit_price"] + short["tax"]
    session.pass_time(4 * DAY)
    reply = await see(session, "walmart", placed["order_id"])
    assert reply["refunded"] == placed["total"], "no more is refunded than was paid"


# -- price match -----------------------------------------------------------------------------------


async def matchable(session: Session) -> dict[str, Any]:
    """Order two air fryers that Target sells for less.

    Returns what check_price_match says, with the `order`.
    """
    prices = await walmart(session, "check_price_match", product_id=at("wmp", "airfryer-8"))
    assert prices["best_competitor"]["competitor_name"] == "Target"
    assert prices["best_competitor"]["price"] < prices["walmart_price"]
    await add(session, "walmart", "airfryer-8", 2)
    return prices | {"order": await order(session, "walmart")}


async def test_a_competitors_price_is_the_one_that_its_own_service_shows(session: Session) -> None:
    prices = await matchable(session)
    target = session.world.rows("target_products", "item_id=?", prices["upc"])
    shown = await call_ok(session, "target", "get_merchandise_info", product_id=target[0]["family"])
    assert prices["best_competitor"]["price"] == shown["price"] and shown["upc"] == prices["upc"]


async def test_a_true_lower_price_is_matched_after_two_hours_and_once(session: Session) -> None:
    prices = await matchable(session)
    best = prices["best_competitor"]
    placed = prices["order"]
    claim = {
        "order_id": placed["order_id"],
        "product_id": prices["product_id"],
        "competitor_name": "Target",
    }
    request = await walmart(session, "request_price_match", **claim, competitor_price=best["price"])
    assert (request["status"], request["refund_amount"]) == ("pending", None)
    error = await call_refused(
        session, "walmart", "request_price_match", **claim, competitor_price=best["price"]
    )
    assert error["code"] == "PRICE_MATCH_EXISTS"
    session.pass_time(2 * HOUR)
    decision = await walmart(session, "get_price_match_status", request_id=request["request_id"])
    item = placed["items"][0]
    assert decision["status"] == "approved"
    assert decision["refund_amount"] == 2 * (item["unit_price"] - best["price"])
    after = await see(session, "walmart", placed["order_id"])
    assert after["refunded"] == decision["refund_amount"]
    session.pass_time(6 * DAY)
    back = await walmart(
        session,
        "initiate_return",
        order_id=placed["order_id"],
        product_id=prices["product_id"],
        reason="Not needed",
    )
    assert back["refund_amount"] == 2 * best["price"], (
        "the matched difference is not refunded twice"
    )


async def test_a_claim_below_the_true_price_is_denied(session: Session) -> None:
    prices = await matchable(session)
    claim = {"order_id": prices["order"]["order_id"], "product_id": prices["product_id"]}
    paid = prices["order"]["items"][0]["unit_price"]
    high = await call_refused(
        session,
        "walmart",
        "request_price_match",
        **claim,
        competitor_name="Target",
        competitor_price=paid,
    )
    assert high["code"] == "PRICE_NOT_LOWER" and high["paid"] == paid
    request = await walmart(
        session, "request_price_match", **claim, competitor_name="Target", competitor_price=100
    )
    session.pass_time(3 * HOUR)
    decision = await walmart(session, "get_price_match_status", request_id=request["request_id"])
    assert decision["status"] == "denied"
    assert decision["refund_amount"] == 0
    assert str(prices["best_competitor"]["price"]) in decision["reason"]
    assert (await see(session, "walmart", claim["order_id"]))["refunded"] == 0
    old = {"order_id": at("wmo", "returnable"), "product_id": at("wmp", "toaster-2")}
    closed = await call_refused(
        session,
        "walmart",
        "request_price_match",
        **old,
        competitor_name="Target",
        competitor_price=100,
    )
    assert closed["code"] == "PRICE_MATCH_WINDOW_CLOSED"


# -- auto reorder ----------------------------------------------------------------------------------


async def test_an_auto_reorder_places_orders_on_schedule_until_it_is_paused(
    session: Session,
) -> None:
    session.world.update("walmart_products", at("wmp", "detergent"), stock=90)
    session.world.commit()
    created = await walmart(
        session,
        "setup_auto_reorder",
        product_id=at("wmp", "detergent"),
        frequency_days=10,
        quantity=3,
    )
    session.pass_time(21 * DAY)
    running = await plan(session, created["reorder_id"])
    first, second = [await see(session, "walmart", o) for o in running["order_ids"]]
    start = parse_time(created["created_at"])
    assert parse_time(first["placed_at"]) == start + 10 * DAY
    assert parse_time(second["placed_at"]) == start + 20 * DAY
    await walmart(session, "update_auto_reorder", reorder_id=created["reorder_id"], paused=True)
    session.pass_time(40 * DAY)
    paused = await plan(session, created["reorder_id"])
    assert paused["status"] == "paused"
    assert paused["next_reorder_at"] is None
    assert len(paused["order_ids"]) == 2
    again = await walmart(
        session, "update_auto_reorder", reorder_id=created["reorder_id"], paused=False
    )
    assert again["next_reorder_at"] == iso(session.control.now + 10 * DAY)
    await walmart(session, "cancel_auto_reorder", reorder_id=created["reorder_id"])
    error = await call_refused(
        session, "walmart", "update_auto_reorder", reorder_id=created["reorder_id"], paused=False
    )
    assert error["code"] == "REORDER_CANCELED" and session.control.now > START


async def plan(session: Session, reorder_id: str) -> dict[str, Any]:
    listed = (await walmart(session, "list_auto_reorders"))["auto_reorders"]
    return next(r for r in listed if r["reorder_id"] == reorder_id)
