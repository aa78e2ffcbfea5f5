"""The shops at their edges.

Refunds by way of points, lines that look alike, canceled orders, nights and long waits.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import shared
from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from servers.kit.zones import local
from tests.services.shopping.support import (
    DAY,
    EASTPORT,
    HOLLYWOOD,
    HOUR,
    add,
    emptied,
    order,
    see,
    shelf,
    slots,
)
from tests.support import START, at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("amazon", "walmart", "target")


@pytest.fixture
async def bare(session: Session) -> Session:
    """A session whose Target cart is empty."""
    return await emptied(session)


async def points(session: Session) -> dict[str, Any]:
    return await call_ok(session, "target", "get_circle_points")


# -- refunds in points, price match ----------------------------------------------------------------


async def test_an_item_paid_with_points_is_refunded_in_points(bare: Session) -> None:
    start = await points(bare)
    await add(bare, "target", "charger-65")
    placed = await order(bare, "target")
    await call_ok(bare, "target", "redeem_circle_points", points=100, order_id=placed["order_id"])
    bare.pass_time(7 * DAY)
    thing = {
        "order_id": placed["order_id"],
        "product_id": at("tgp", "charger-65"),
        "reason": "Hums at night",
    }
    back = await call_ok(bare, "target", "begin_return", **thing)
    assert back["refund_amount"] == placed["subtotal"] - 100
    bare.pass_time(2 * DAY)
    after = await see(bare, "target", placed["order_id"])
    assert after["charged"] - after["refunded"] == placed["fees"]
    ledger = (await call_ok(bare, "target", "get_circle_earnings_history", limit=100))["history"]
    assert sum(e["points"] for e in ledger if e["order_id"] == placed["order_id"]) == 0
    assert (await points(bare))["lifetime_earnings"] >= start["lifetime_earnings"]


async def test_points_spent_on_an_uncollected_order_come_back_without_being_earned_again(
    bare: Session,
) -> None:
    before = await points(bare)
    await add(
        bare, "target", "towels-paper-12", 1, fulfillment_type="order_pickup", store_id=HOLLYWOOD
    )
    placed = await order(bare, "target")
    await call_ok(bare, "target", "redeem_circle_points", points=100, order_id=placed["order_id"])
    during = await points(bare)
    assert during["points_balance"] == before["points_balance"] - 100
    assert during["points_pending"] == before["points_pending"]
    bare.control.advance(5 * DAY)
    after = await see(bare, "target", placed["order_id"])
    assert (after["status"], after["circle_points_earned"]) == ("expired", 0)
    assert after["refunded"] == after["charged"]
    assert after["timeline"][-1]["status"] == "expired"
    entries = (await call_ok(bare, "target", "get_circle_earnings_history", limit=100))["history"]
    assert sum(e["points"] for e in entries if e["order_id"] == placed["order_id"]) == 0


async def test_points_spent_on_a_collected_order_stay_spent(bare: Session) -> None:
    await add(
        bare, "target", "towels-paper-12", 1, fulfillment_type="order_pickup", store_id=HOLLYWOOD
    )
    placed = await order(bare, "target")
    await call_ok(bare, "target", "redeem_circle_points", points=100, order_id=placed["order_id"])
    bare.pass_time(3 * HOUR)
    await call_ok(bare, "target", "check_in_at_store", order_id=placed["order_id"])
    bare.pass_time(5 * DAY)
    entries = (await call_ok(bare, "target", "get_circle_earnings_history", limit=100))["history"]
    mine = [e["points"] for e in entries if e["order_id"] == placed["order_id"]]
    assert sorted(mine) == [-100, placed["circle_points_earned"]]


async def test_points_returned_by_a_voided_order_are_not_earnings(bare: Session) -> None:
    before = await points(bare)
    await add(bare, "target", "charger-65")
    placed = await order(bare, "target")
    await call_ok(bare, "target", "redeem_circle_points", points=100, order_id=placed["order_id"])
    await call_ok(bare, "target", "void_order", order_id=placed["order_id"], reason="Not needed")
    assert await points(bare) == before


async def test_a_returned_or_unavailable_item_is_not_price_matched(
    session: Session,
) -> None:
    claim = {
        "order_id": at("wmo", "match-me"),
        "product_id": at("wmp", "airfryer-8"),
        "competitor_name": "Target",
    }
    session.pass_time(10 * HOUR)
    await call_ok(
        session,
        "walmart",
        "initiate_return",
        order_id=claim["order_id"],
        product_id=claim["product_id"],
        reason="Too big for us",
    )
    late = await call_refused(
        session, "walmart", "request_price_match", **claim, competitor_price=8000
    )
    assert late["code"] == "ALREADY_RETURNED"
    shelf(session, "detergent", 2)
    await add(
        session,
        "walmart",
        "detergent",
        1,
        fulfillment_type="pickup",
        store_id=EASTPORT,
        substitution_pref="no_substitution",
    )
    placed = await order(session, "walmart", pickup_slot_id=(await slots(session))[0]["slot_id"])
    claim |= {"order_id": placed["order_id"], "product_id": at("wmp", "detergent")}
    asked = await call_ok(session, "walmart", "request_price_match", **claim, competitor_price=1)
    session.pass_time(2 * DAY)
    decision = await call_ok(
        session, "walmart", "get_price_match_status", request_id=asked["request_id"]
    )
    assert decision["status"] == "denied" and "could not keep" in decision["reason"]
    after = await see(session, "walmart", placed["order_id"])
    assert after["refunded"] == after["charged"]


# -- canceled orders -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shop", "key", "name"),
    [("amazon", "wrong-ink", "delivered_at"), ("target", "wrong-lamp", "completed_at")],
)
async def test_a_canceled_order_was_never_delivered(
    session: Session, shop: str, key: str, name: str
) -> None:
    shown = await see(session, shop, at({"amazon": "azo", "target": "tgo"}[shop], key))
    assert shown["status"] == "canceled"
    assert shown[name] is None
    assert shown["items"][0]["return_by"] is None


async def test_a_canceled_order_has_no_items_that_ran_out(session: Session) -> None:
    shelf(session, "detergent", 2)
    await add(
        session,
        "walmart",
        "detergent",
        1,
        fulfillment_type="pickup",
        store_id=EASTPORT,
        substitution_pref="no_substitution",
    )
    placed = await order(session, "walmart", pickup_slot_id=(await slots(session))[0]["slot_id"])
    await call_ok(
        session,
        "walmart",
        "cancel_purchase",
        order_id=placed["order_id"],
        reason="Found it at home",
    )
    session.pass_time(2 * DAY)
    after = await see(session, "walmart", placed["order_id"])
    assert after["items"][0]["outcome"] is None and after["refunded"] == after["charged"]


# -- lines that look alike -------------------------------------------------------------------------


async def test_a_gift_and_an_own_purchase_of_a_product_are_separate_lines(bare: Session) -> None:
    reply = await call_ok(bare, "target", "open_registry_link", share_link="nora-and-will")
    nora = reply["registry_id"]
    knife = {"product_id": at("tgp", "knife-chef"), "quantity": 1}
    await call_ok(bare, "target", "put_in_cart", **knife)
    cart = await call_ok(bare, "target", "put_in_cart", **knife, registry_id=nora)
    assert [(x["registry_id"], x["quantity"]) for x in cart["items"]] == [(None, 1), (nora, 1)]
    moved = await call_ok(bare, "target", "set_fulfillment_method", fulfillment_type="shipping")
    assert [x["registry_id"] for x in moved["items"]] == [None, nora]
    placed = await order(bare, "target")
    items = (await call_ok(bare, "target", "get_registry", registry_id=nora))["items"]
    assert [i["quantity_fulfilled"] for i in items if i["product_id"] == knife["product_id"]] == [1]
    bare.pass_time(7 * DAY)
    request = {
        "order_id": placed["order_id"],
        "product_id": knife["product_id"],
        "reason": "Two too many",
    }
    first, second = [await call_ok(bare, "target", "begin_return", **request) for _ in range(2)]
    assert first["return_id"] != second["return_id"]
    error = await call_refused(bare, "target", "begin_return", **request)
    assert error["code"] == "ALREADY_RETURNED"


async def test_a_gift_that_nobody_collects_was_not_given(bare: Session) -> None:
    reply = await call_ok(bare, "target", "open_registry_link", share_link="nora-and-will")
    nora = reply["registry_id"]
    oven = at("tgp", "dutch-oven")
    bare.world.insert(
        "target_shelves",
        {"id": f"{HOLLYWOOD}:{oven}", "store_id": HOLLYWOOD, "product_id": oven, "quantity": 5},
    )
    bare.world.commit()
    await add(
        bare,
        "target",
        "dutch-oven",
        1,
        registry_id=nora,
        fulfillment_type="order_pickup",
        store_id=HOLLYWOOD,
    )
    await order(bare, "target")
    counts = []
    for wait in (0, 6 * DAY):
        bare.control.advance(wait)
        items = (await call_ok(bare, "target", "get_registry", registry_id=nora))["items"]
        wish = next(i for i in items if i["product_id"] == oven)
        counts.append((wish["quantity_fulfilled"], wish["given_by"]))
    assert counts == [(1, ["Maya Lindqvist"]), (0, [])]


async def test_lines_of_one_product_share_its_stock_and_its_limit(bare: Session) -> None:
    product = at("tgp", "knife-chef")
    bare.world.update("target_products", product, stock=3)
    bare.world.commit()
    await call_ok(bare, "target", "put_in_cart", product_id=product, quantity=2)
    reply = await call_ok(bare, "target", "open_registry_link", share_link="nora-and-will")
    nora = reply["registry_id"]
    much = await call_refused(
        bare, "target", "put_in_cart", product_id=product, quantity=2, registry_id=nora
    )
    assert much["code"] == "INSUFFICIENT_STOCK"


async def test_colours_of_one_product_share_the_sellers_stock(session: Session) -> None:
    product = at("azp", "speaker-cove")
    details = await call_ok(session, "amazon", "get_product_details", product_id=product)
    one, two = [v["variant_id"] for v in details["variations"] if v["in_stock"]][:2]
    for row in session.world.rows("amazon_offers", "product_id=?", product):
        session.world.update("amazon_offers", row["id"], stock=3)
    session.world.commit()
    for variant in (one, two):
        await add(session, "amazon", "speaker-cove", 2, variant_id=variant)
    payment = {"address_id": at("aza", "home"), "payment_method_id": at("azm", "visa")}
    error = await call_refused(session, "amazon", "place_order", **payment)
    assert error["code"] == "INSUFFICIENT_STOCK"
    await call_ok(
        session, "amazon", "update_cart_item", product_id=product, variant_id=two, quantity=1
    )
    assert (await order(session, "amazon"))["status"] == "processing"


async def test_a_store_id_is_refused_for_shipping_not_ignored(session: Session) -> None:
    given = {"product_id": at("wmp", "detergent"), "quantity": 1, "store_id": EASTPORT}
    error = await call_refused(session, "walmart", "add_item_to_basket", **given)
    assert error["code"] == "STORE_NOT_NEEDED"
    basket = await call_ok(
        session, "walmart", "add_item_to_basket", **given, fulfillment_type="pickup"
    )
    line = basket["items"][0]["line_item_id"]
    shipped = await call_ok(
        session, "walmart", "update_basket_item", line_item_id=line, fulfillment_type="shipping"
    )
    assert shipped["items"][0]["store_id"] is None


# -- what several tools agree on -------------------------------------------------------------------


async def test_a_wish_for_a_variant_shows_the_price_of_that_variant(session: Session) -> None:
    variant, product = session.world.sql(
        "SELECT id, product_id FROM amazon_variants WHERE extra>0 AND product_id IN"
        " (SELECT product_id FROM amazon_offers WHERE stock>0 AND prime) ORDER BY id LIMIT 1"
    )[0]
    details = await call_ok(session, "amazon", "get_product_details", product_id=product)
    listed = next(v for v in details["variations"] if v["variant_id"] == variant)
    wishes = await call_ok(
        session, "amazon", "add_to_wishlist", product_id=product, variant_id=variant
    )
    wish = next(w for w in wishes["items"] if w["variant_id"] == variant)
    assert (wish["price"], wish["in_stock"]) == (listed["price"], listed["in_stock"])


async def test_the_estimated_days_match_the_promised_day(session: Session) -> None:
    varied = {p for (p,) in session.world.sql("SELECT DISTINCT product_id FROM amazon_variants")}
    offers = session.world.rows("amazon_offers", "stock>0", order="id")
    slow = [o for o in offers if o["days"] == [3, 6]]
    offer = next(o for o in slow if o["product_id"] not in varied)
    await call_ok(
        session,
        "amazon",
        "add_to_cart",
        product_id=offer["product_id"],
        quantity=1,
        seller_id=offer["seller_id"],
    )
    payment = {"address_id": at("aza", "home"), "payment_method_id": at("azm", "visa")}
    placed = await call_ok(session, "amazon", "place_order", **payment)
    assert placed["estimated_delivery_days"] == [3, 6]
    past = await see(session, "amazon", at("azo", "kettle-first"))
    span = (parse_time(past["estimated_delivery"]) - parse_time(past["placed_at"])) / DAY
    assert abs(past["estimated_delivery_days"][1] - span) < 1


async def test_a_registry_has_the_same_counts_in_the_list(session: Session) -> None:
    own = at("tgg", "own")
    await call_ok(
        session,
        "target",
        "remove_from_registry",
        registry_id=own,
        product_id=at("tgp", "toaster-2"),
    )
    whole = await call_ok(session, "target", "get_registry", registry_id=own)
    reply = await call_ok(session, "target", "list_registries")
    head = next(r for r in reply["registries"] if r["registry_id"] == own)
    assert head["quantity_fulfilled"] == sum(i["quantity_fulfilled"] for i in whole["items"])


@pytest.mark.parametrize(
    "words", ['"gooseneck kettle"', "Brewden kettle", "kettles filter", '"desk lamp"']
)
async def test_words_that_find_products_find_their_orders(session: Session, words: str) -> None:
    key = "returnable" if "lamp" in words else "kettle-first"
    orders = (await call_ok(session, "amazon", "list_orders", query=words))["orders"]
    assert at("azo", key) in {o["order_id"] for o in orders} and len(orders) < 5


@pytest.mark.parametrize("words", ["black running shoes", "phone case", "glass kettle"])
async def test_one_word_of_several_in_a_product_does_not_find_its_order(
    session: Session, words: str
) -> None:
    assert (await call_ok(session, "amazon", "list_orders", query=words))["orders"] == []


async def test_part_of_a_word_does_not_find_an_order(session: Session) -> None:
    assert (await call_ok(session, "amazon", "list_orders", query="seneck"))["orders"] == []


# -- nights and long waits -------------------------------------------------------------------------


async def test_a_reserved_slot_can_be_used_when_it_is_no_longer_listed(session: Session) -> None:
    slot = (await slots(session))[0]
    session.pass_time(parse_time(slot["starts_at"]) - START - 2 * HOUR - 60)
    await call_ok(
        session, "walmart", "reserve_pickup_slot", store_id=EASTPORT, slot_id=slot["slot_id"]
    )
    basket = await add(
        session, "walmart", "detergent", 1, fulfillment_type="pickup", store_id=EASTPORT
    )
    assert basket["reserved_slot"]["slot_id"] == slot["slot_id"]
    session.pass_time(58 * 60)
    assert slot["slot_id"] not in {s["slot_id"] for s in await slots(session)}
    placed = await order(session, "walmart", pickup_slot_id=slot["slot_id"])
    assert placed["pickup_slot"]["starts_at"] == slot["starts_at"]


async def test_drive_up_does_not_use_up_delivery_windows(bare: Session) -> None:
    reply = await call_ok(bare, "target", "get_delivery_windows", store_id=HOLLYWOOD, limit=100)
    windows = reply["windows"]
    reply = await call_ok(
        bare, "target", "get_drive_up_times", store_id=HOLLYWOOD, available_only=True, limit=100
    )
    times = reply["slots"]
    left = {w["starts_at"]: w["orders_left"] for w in windows if w["available"]}
    slot = next(t for t in times if t["starts_at"] in left)
    await add(bare, "target", "towels-paper-12", 1, fulfillment_type="drive_up", store_id=HOLLYWOOD)
    await order(bare, "target", drive_up_slot_id=slot["slot_id"])
    reply = await call_ok(bare, "target", "get_delivery_windows", store_id=HOLLYWOOD, limit=100)
    after = reply["windows"]
    window = next(w for w in after if w["starts_at"] == slot["starts_at"])
    assert window["orders_left"] == left[slot["starts_at"]]


async def test_nobody_delivers_after_midnight(session: Session) -> None:
    session.control.advance(parse_time("2026-03-15T04:30:00Z") - START)
    await add(session, "walmart", "detergent", 3, fulfillment_type="delivery", store_id=EASTPORT)
    placed = await order(session, "walmart")
    session.control.advance(2 * DAY)
    done = (await see(session, "walmart", placed["order_id"]))["completed_at"]
    assert "2026-03-15T13:00:00Z" <= done <= "2026-03-15T17:00:00Z"


async def test_an_event_today_is_not_past_although_it_is_tomorrow_in_utc(
    session: Session,
) -> None:
    session.control.advance(parse_time("2026-03-15T03:00:00Z") - START)
    registry = await call_ok(
        session,
        "target",
        "create_gift_registry",
        name="Tonight",
        type="birthday",
        event_date="2026-03-14",
    )
    assert registry["event_date"] == "2026-03-14"


async def test_a_card_that_expires_during_a_long_wait_pays_for_orders_before(
    session: Session,
) -> None:
    month = iso(START + 70 * DAY)[:7]
    session.world.update("amazon_methods", at("azm", "visa"), expires=month)
    session.world.commit()
    subscription = {
        "product_id": at("azp", "tea-earl"),
        "frequency": "monthly",
        "payment_method_id": at("azm", "visa"),
    }
    created = await call_ok(session, "amazon", "create_subscription", **subscription)
    plan = created["subscription_id"]
    session.pass_time(200 * DAY)
    listed = (await call_ok(session, "amazon", "list_subscriptions"))["subscriptions"]
    mine = next(p for p in listed if p["subscription_id"] == plan)
    assert len(mine["order_ids"]) == 3 and mine["last_skipped"] == "PAYMENT_METHOD_EXPIRED"


async def test_a_subscription_costs_the_discounted_price_for_each_unit(session: Session) -> None:
    tea = at("azp", "tea-earl")
    for offer in session.world.rows("amazon_offers", "product_id=?", tea):
        session.world.update("amazon_offers", offer["id"], price=905, swing=0)
    session.world.commit()
    plan = await call_ok(
        session, "amazon", "create_subscription", product_id=tea, frequency="monthly", quantity=2
    )
    session.pass_time(2 * DAY)
    listed = (await call_ok(session, "amazon", "list_subscriptions"))["subscriptions"]
    order_ids = next(
        p["order_ids"] for p in listed if p["subscription_id"] == plan["subscription_id"]
    )
    assert (await see(session, "amazon", order_ids[0]))["total"] == 2 * plan["discounted_price"]


# -- the worlds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
def test_stores_hand_over_on_the_hour_while_they_are_open(name: str) -> None:
    world = shared(name)
    for shop in ("walmart", "target"):
        stores = {s["id"]: s for s in world.rows(f"{shop}_stores")}
        orders = world.rows(f"{shop}_orders", "ready_at IS NOT NULL")
        assert orders
        for row in orders:
            store = stores[row["store_id"]]
            zone = ZoneInfo(store["timezone"])
            ready = local(parse_time(row["ready_at"]), zone)
            assert ready.minute == 0 and store["opens"] <= ready.hour < store["closes"]
            done = local(parse_time(row["done_at"] or row["ready_at"]), zone)
            assert ready <= done and done.hour < store["closes"]


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
def test_reviews_of_one_product_have_different_texts(name: str) -> None:
    for shop in ("amazon", "walmart", "target"):
        titles = shared(name).sql(f"SELECT subject, title FROM {shop}_reviews")
        assert len(set(titles)) == len(titles) > 50


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
def test_a_seller_makes_one_offer_of_a_product(name: str) -> None:
    """Offers of a product are told apart by the seller's id alone."""
    offers = shared(name).sql("SELECT product_id, seller_id FROM amazon_offers")
    assert len(set(offers)) == len(offers) > 100


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("vacuum cleaner", "Cleaning"),
        ("queen sheets", "Bedding"),
        ("coffee maker", "Kettles & Coffee"),
    ],
)
@pytest.mark.parametrize(
    ("shop", "tool"),
    [
        ("amazon", "search_products"),
        ("walmart", "browse_products"),
        ("target", "search_merchandise"),
    ],
)
async def test_obvious_words_find_something(
    session: Session, shop: str, tool: str, words: str, category: str
) -> None:
    products = (await call_ok(session, shop, tool, query=words, limit=3))["products"]
    assert [product["category"] for product in products] == [category] * 3
