"""Amazon: many sellers, variants, gifts, Prime, wish lists, alerts, subscriptions."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from tests.services.shopping.support import DAY, HOUR, add, order, see
from tests.support import START, at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
CHARGER = at("azp", "charger-65")


@pytest.fixture
def session() -> Session:
    return new_session("amazon")


# -- sellers and variants --------------------------------------------------------------------------


async def test_the_buy_box_is_the_cheapest_new_offer_of_a_trusted_seller(session: Session) -> None:
    seen_dubious = 0
    for product in session.world.rows("amazon_products", order="id"):
        reply = await call_ok(session, "amazon", "get_product_offers", product_id=product["id"])
        offers = reply["offers"]
        landed = [o["price"] + o["shipping_cost"] for o in offers]
        assert landed == sorted(landed) and sum(o["is_buy_box"] for o in offers) <= 1
        new = [o for o in offers if o["condition"] == "new"]
        trusted = [o for o in new if o["seller_rating"] >= 4]
        fair = [o for o in trusted if o["in_stock"]]
        box = next((o for o in offers if o["is_buy_box"]), None)
        assert (box is None) == (not fair)
        if box is not None:
            cheapest = min(o["price"] + o["shipping_cost"] for o in fair)
            assert box in fair
            assert box["price"] + box["shipping_cost"] == cheapest or box["prime_eligible"]
        if len(trusted) < len(new):
            seen_dubious += 1
    assert seen_dubious >= 5, "too few offers of dubious sellers to tempt anybody"


async def test_a_used_offer_of_another_seller_costs_its_own_price_and_shipping(
    session: Session,
) -> None:
    product, seller = session.world.sql(
        "SELECT product_id, seller_id FROM amazon_offers"
        " WHERE condition='used_good' AND stock>0 ORDER BY id LIMIT 1"
    )[0]
    offers = (await call_ok(session, "amazon", "get_product_offers", product_id=product))["offers"]
    used = next(o for o in offers if o["condition"] == "used_good")
    reply = await call_ok(session, "amazon", "get_product_details", product_id=product)
    variations = reply["variations"]
    chosen = {}
    if variations:
        chosen["variant_id"] = next(v["variant_id"] for v in variations if v["in_stock"])
    cart = await call_ok(
        session, "amazon", "add_to_cart", product_id=product, quantity=1, seller_id=seller, **chosen
    )
    assert cart["items"][0]["condition"] == "used_good"
    assert cart["shipping_cost"] == used["shipping_cost"] == 499
    wrap = await call_refused(
        session, "amazon", "update_cart_item", product_id=product, gift_wrap=True
    )
    assert wrap["code"] == "GIFT_WRAP_UNAVAILABLE"
    two = await call_refused(session, "amazon", "update_cart_item", product_id=product, quantity=2)
    assert two["code"] == "INSUFFICIENT_STOCK"
    error = await call_refused(
        session, "amazon", "select_shipping_option", shipping_option="prime_two_day"
    )
    assert error["code"] == "NOT_PRIME_ELIGIBLE"


async def test_a_colour_must_be_chosen_and_each_colour_has_its_own_line(
    session: Session,
) -> None:
    cable = at("azp", "cable-2m")
    error = await call_refused(session, "amazon", "add_to_cart", product_id=cable, quantity=1)
    assert error["code"] == "VARIANT_REQUIRED"
    reply = await call_ok(session, "amazon", "get_product_details", product_id=cable)
    black, white = (v["variant_id"] for v in reply["variations"])
    for variant in (black, white, black):
        cart = await call_ok(
            session, "amazon", "add_to_cart", product_id=cable, quantity=1, variant_id=variant
        )
    assert [(i["variant_id"], i["quantity"]) for i in cart["items"]] == [(black, 2), (white, 1)]
    which = await call_refused(session, "amazon", "remove_from_cart", product_id=cable)
    assert which["code"] == "AMBIGUOUS_CART_ITEM" and len(which["lines"]) == 2
    left = await call_ok(session, "amazon", "remove_from_cart", product_id=cable, variant_id=black)
    assert [i["variant_id"] for i in left["items"]] == [white]
    wrong = await call_refused(
        session, "amazon", "add_to_cart", product_id=CHARGER, quantity=1, variant_id=white
    )
    assert wrong["code"] == "VARIANT_NOT_FOUND"


async def test_gift_wrap_is_charged_for_each_unit(session: Session) -> None:
    await add(session, "amazon", "charger-65", 2, gift_wrap=True, gift_message="For the new desk")
    placed = await order(session, "amazon")
    assert placed["pricing"]["fees"] == 2 * 499
    assert placed["items"][0]["gift_message"] == "For the new desk"
    assert (await call_ok(session, "amazon", "get_cart"))["items"] == []
    error = await call_refused(
        session,
        "amazon",
        "place_order",
        address_id=at("aza", "home"),
        payment_method_id=at("azm", "visa"),
    )
    assert error["code"] == "CART_EMPTY"


# -- Prime -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "days", "cost"),
    [
        ("prime_two_day", 2, 0),
        ("prime_one_day", 1, 299),
        ("prime_same_day", 0, 499),
        ("expedited", 3, 999),
    ],
)
async def test_an_option_arrives_within_its_days(
    session: Session, option: str, days: int, cost: int
) -> None:
    await add(session, "amazon", "charger-65")
    chosen = await call_ok(session, "amazon", "select_shipping_option", shipping_option=option)
    assert (chosen["cost"], chosen["eta_days"][1]) == (cost, days)
    placed = await order(session, "amazon")
    assert placed["pricing"]["shipping"] == cost
    session.pass_time(parse_time(placed["estimated_delivery"]) - session.control.now)
    assert (await see(session, "amazon", placed["order_id"]))["status"] == "delivered"
    assert parse_time(placed["estimated_delivery"]) <= START + (days + 1) * DAY


async def test_prime_options_need_prime_and_same_day_needs_the_morning(session: Session) -> None:
    await add(session, "amazon", "coffee-filters")
    reply = await call_ok(session, "amazon", "get_cart")
    assert reply["shipping_cost"] == 0, "standard shipping is free with Prime"
    session.pass_time(4 * HOUR)
    late = await call_refused(
        session, "amazon", "select_shipping_option", shipping_option="prime_same_day"
    )
    assert late["code"] == "TOO_LATE_TODAY"
    session.world.update("amazon_profile", "me", prime_until=iso(START))
    session.world.commit()
    error = await call_refused(
        session, "amazon", "select_shipping_option", shipping_option="prime_one_day"
    )
    assert error["code"] == "PRIME_REQUIRED"
    assert (await call_ok(session, "amazon", "get_cart"))["shipping_cost"] == 599
    options = (await call_ok(session, "amazon", "list_shipping_options"))["shipping_options"]
    assert [o["available"] for o in options] == [True, True, False, False, False]


# -- wish lists and alerts -------------------------------------------------------------------------


async def test_there_can_be_several_wish_lists_and_each_has_a_product_once(
    session: Session,
) -> None:
    cabin = await call_ok(session, "amazon", "create_wishlist", name="Cabin")
    error = await call_refused(session, "amazon", "create_wishlist", name="CABIN")
    assert error["code"] == "WISHLIST_EXISTS"
    await call_ok(
        session,
        "amazon",
        "add_to_wishlist",
        product_id=CHARGER,
        wishlist_id=cabin["wishlist_id"],
        note="two of them",
    )
    again = await call_refused(
        session, "amazon", "add_to_wishlist", product_id=CHARGER, wishlist_id=cabin["wishlist_id"]
    )
    assert again["code"] == "ALREADY_ON_WISHLIST"
    await call_ok(session, "amazon", "add_to_wishlist", product_id=CHARGER)
    lists = (await call_ok(session, "amazon", "list_wishlists"))["wishlists"]
    assert lists[0]["is_default"] and sum(w["is_default"] for w in lists) == 1
    assert {w["name"]: w["item_count"] for w in lists} == {
        "Wish list": 6,
        "Studio": 4,
        "For Tom": 2,
        "Cabin": 1,
    }
    await call_ok(
        session,
        "amazon",
        "remove_from_wishlist",
        product_id=CHARGER,
        wishlist_id=cabin["wishlist_id"],
    )
    reply = await call_ok(session, "amazon", "get_wishlist", wishlist_id=cabin["wishlist_id"])
    assert reply["items"] == []


async def test_an_alert_is_triggered_when_the_price_first_meets_its_target(
    session: Session,
) -> None:
    moving = session.world.sql(
        "SELECT product_id FROM amazon_offers WHERE condition='new'"
        " GROUP BY product_id HAVING count(*)=1 AND min(swing)=12 AND min(stock)>50"
        " ORDER BY product_id LIMIT 1"
    )[0][0]
    reply = await call_ok(session, "amazon", "get_product_details", product_id=moving)
    price = reply["buy_box"]["price"]
    met = await call_ok(session, "amazon", "set_price_alert", product_id=moving, target_price=price)
    assert met["triggered"] and met["triggered_at"] == met["created_at"]
    lower = await call_ok(
        session, "amazon", "set_price_alert", product_id=moving, target_price=int(price * 0.9)
    )
    reply = await call_ok(session, "amazon", "list_price_alerts")
    listed = [a for a in reply["price_alerts"] if a["product_id"] == moving]
    assert [a["alert_id"] for a in listed] == [lower["alert_id"]], "one alert per product"
    for _ in range(80):
        session.pass_time(7 * DAY)
        reply = await call_ok(session, "amazon", "list_price_alerts")
        alert = next(a for a in reply["price_alerts"] if a["alert_id"] == lower["alert_id"])
        if alert["triggered"]:
            break
    assert alert["triggered_at"] > lower["created_at"]
    assert alert["current_price"] <= alert["target_price"]
    await call_ok(session, "amazon", "remove_price_alert", alert_id=lower["alert_id"])
    error = await call_refused(session, "amazon", "remove_price_alert", alert_id=lower["alert_id"])
    assert error["code"] == "ALERT_NOT_FOUND"


# -- subscriptions ---------------------------------------------------------------------------------


async def test_a_subscription_places_orders_on_schedule_at_its_discount(session: Session) -> None:
    created = await call_ok(
        session,
        "amazon",
        "create_subscription",
        product_id=at("azp", "tea-earl"),
        frequency="biweekly",
        quantity=3,
    )
    assert created["order_ids"] == [] and created["discount_percent"] == 5
    twice = await call_refused(
        session,
        "amazon",
        "create_subscription",
        product_id=at("azp", "tea-earl"),
        frequency="monthly",
    )
    assert twice["code"] == "SUBSCRIPTION_EXISTS"
    session.pass_time(30 * DAY)
    listed = (await call_ok(session, "amazon", "list_subscriptions"))["subscriptions"]
    subscription = next(s for s in listed if s["subscription_id"] == created["subscription_id"])
    assert len(subscription["order_ids"]) == 3 and subscription["last_skipped"] is None
    orders = [await see(session, "amazon", o) for o in subscription["order_ids"]]
    first = parse_time(created["next_order_at"])
    waits = [parse_time(o["placed_at"]) - first for o in orders]
    assert waits == [0, 14 * DAY, 28 * DAY]
    for placed in orders:
        item = placed["items"][0]
        assert item["quantity"] == 3
        assert item["discount"] == 3 * round(item["unit_price"] * 0.05 + 1e-9)
        assert placed["subscription_id"] == created["subscription_id"] and placed["shipping"] == 0
    changes = [e for e in session.world.log(0) if e["table"] == "amazon_orders"]
    causes = {e["cause"] for e in changes if e["key"] in subscription["order_ids"]}
    assert causes == {"clock"}
    await call_ok(
        session, "amazon", "cancel_subscription", subscription_id=created["subscription_id"]
    )
    session.pass_time(60 * DAY)
    listed = (await call_ok(session, "amazon", "list_subscriptions"))["subscriptions"]
    subscription = next(s for s in listed if s["subscription_id"] == created["subscription_id"])
    assert len(subscription["order_ids"]) == 3


async def test_a_subscription_that_cannot_order_says_why_and_continues(session: Session) -> None:
    beans = at("azb", "coffee-beans")
    session.world.update("amazon_methods", at("azm", "visa"), closed_at=iso(START))
    session.world.commit()
    session.pass_time(4 * DAY)
    reply = await call_ok(session, "amazon", "list_subscriptions")
    subscription = next(s for s in reply["subscriptions"] if s["subscription_id"] == beans)
    assert subscription["last_skipped"] == "PAYMENT_DECLINED"
    assert parse_time(subscription["next_order_at"]) > session.control.now
    error = await call_refused(
        session, "amazon", "create_subscription", product_id=CHARGER, frequency="monthly"
    )
    assert error["code"] == "SUBSCRIPTION_UNAVAILABLE"
