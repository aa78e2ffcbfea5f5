"""What Amazon, Walmart and Target share: worlds, sums, prices, search, reviews and stores."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import Builder, person
from servers.kit.control import make_id
from servers.kit.service import service
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping._rules import TAX_BPS, split, tax_shares
from tests.services.shopping.support import (
    DAY,
    GET,
    HOUR,
    LIST,
    PREFIX,
    SEARCH,
    SHOPS,
    add,
    order,
    see,
)
from tests.support import at, call_ok, call_refused, example, new_session, pages, session_of

pytestmark = pytest.mark.anyio
PEOPLE = ("maya", "eleanor", "rafael")
every_shop = pytest.mark.parametrize("shop", SHOPS)
every_person = pytest.mark.parametrize("name", PEOPLE)


@pytest.fixture
def session() -> Session:
    return new_session(*SHOPS)


# -- the worlds ------------------------------------------------------------------------------------


@every_person
async def test_purchases_of_a_life_are_among_the_orders(name: str) -> None:
    session = session_of(name, *SHOPS)
    zone = ZoneInfo(person(name)["timezone"])
    life = Builder(name, person(name)).life
    happenings = [h for h in life if h.get("buy", {}).get("on") in SHOPS]
    assert len(happenings) >= 7
    for happening in happenings:
        buy = happening["buy"]
        shop = buy["on"]
        shown = await see(session, shop, make_id(PREFIX[shop] + "o", name, happening["key"]))
        assert shown["total"] == cents(buy["total"]) == shown["charged"], happening["key"]
        assert sum(i["quantity"] for i in shown["items"]) == len(buy["items"])
        placed = datetime.fromisoformat(shown["placed_at"]).astimezone(zone)
        assert f"{placed:%Y-%m-%d}" == str(buy.get("made") or buy.get("at") or happening["at"])[:10]
        if "refunded" in buy:
            assert shown["refunded"] == cents(buy["refunded"]), happening["key"]
        if "cancelled" in buy:
            assert shown["status"] == "canceled" and shown["refunded"] == shown["charged"]
        due = str(buy.get("arrives", ""))
        if due and due > person(name)["start"][:10]:
            assert shown["status"] in ("processing", "shipped")


@every_person
async def test_a_year_of_orders_has_its_mishaps_and_every_sum_adds_up(name: str) -> None:
    session = session_of(name, *SHOPS)
    seen = set()
    count = 0
    for shop in SHOPS:
        for short in await pages(session, shop, LIST[shop], "orders", limit=40):
            shown = await see(session, shop, short["order_id"])
            count += 1
            assert_sums_add_up(shown)
            assert short["total"] == shown["total"]
            seen.add(shown["status"])
            if delivered_late(shown):
                seen.add("late")
            if shown["charged"] == 2 * shown["total"] and shown["refunded"] == shown["total"]:
                seen.add("double")
    assert seen >= {
        "delayed",
        "delivered",
        "picked_up",
        "shipped",
        "processing",
        "ready",
        "expired",
        "canceled",
        "lost",
        "late",
        "double",
    }
    assert 80 <= count <= 120


def assert_sums_add_up(shown: dict[str, Any]) -> None:
    """Check the sums of an order, under whatever names its shop shows them."""
    discount = sum(
        shown.get(key, 0)
        for key in ("discount", "circle_discount", "promo_discount", "redcard_discount")
    )
    fees = sum(shown.get(key, 0) for key in ("shipping", "fees", "shipping_fee"))
    assert shown["total"] == shown["subtotal"] - discount + fees + shown["tax"]
    assert shown["tax"] == sum(item["tax"] for item in shown["items"])
    if shown["status"] in ("canceled", "lost", "expired"):
        assert shown["charged"] - shown["refunded"] == 0
    else:
        assert shown["charged"] >= shown["total"] > shown["refunded"] - shown["total"]


def delivered_late(shown: dict[str, Any]) -> bool:
    delivered_at = shown.get("delivered_at") or ""
    return shown["status"] == "delivered" and delivered_at > shown.get("estimated_delivery", "9")


LOOK_UP = {
    "amazon": {
        "product_id": "get_product_details",
        "order_id": GET["amazon"],
        "seller_id": "get_seller",
        "return_id": "get_return",
        "wishlist_id": "get_wishlist",
    },
    "walmart": {
        "product_id": "get_item_details",
        "substitute_product_id": "get_item_details",
        "order_id": GET["walmart"],
        "return_id": "get_return_request",
        "store_id": "get_store_info",
        "request_id": "get_price_match_status",
    },
    "target": {
        "product_id": "get_merchandise_info",
        "order_id": GET["target"],
        "return_id": "get_return_info",
        "store_id": "get_store",
        "registry_id": "get_registry",
    },
}
"""By shop: the tool that looks up an id."""
LISTS = {
    "amazon": ("list_addresses", "list_payment_methods", "list_subscriptions", "list_price_alerts"),
    "walmart": ("list_shipping_addresses", "list_wallet_payments", "list_auto_reorders"),
    "target": ("get_address_book", "get_saved_payments", "get_circle_offers", "get_birthday_offer"),
}
"""By shop: the tools that list what no tool looks up by its id."""
NEEDS_NO_LOOK_UP = (
    "user_id",
    "variant_id",
    "review_id",
    "line_item_id",
    "slot_id",
    "window_id",
    "home_store_id",
    "preferred_store_id",
)
"""Ids of what is shown in full wherever it is shown, and of stores under another name."""


def ids_in(node: Any) -> set[tuple[str, str]]:
    """Return (key, value) of every id in a reply."""
    ids: set[tuple[str, str]] = set()
    if isinstance(node, list):
        for value in node:
            ids |= ids_in(value)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key.endswith("_id") and isinstance(value, str):
                ids.add((key, value))
            ids |= ids_in(value)
    return ids


@every_shop
async def test_every_id_that_a_reply_shows_can_be_looked_up(shop: str) -> None:
    session = new_session(shop)
    shown = set()
    for spec in service(shop).tools.values():
        if spec.effect == "read":
            shown |= ids_in((await example(session, service(shop), spec)).data)
    for short in await pages(session, shop, LIST[shop], "orders", limit=40):
        shown |= ids_in(await see(session, shop, short["order_id"]))
    listed = set()
    for tool in LISTS[shop]:
        listed |= ids_in(await call_ok(session, shop, tool))
    for key, value in sorted(shown):
        if key in LOOK_UP[shop]:
            argument = key.removeprefix("substitute_")
            await call_ok(session, shop, LOOK_UP[shop][key], **{argument: value})
        elif key not in NEEDS_NO_LOOK_UP:
            assert (key, value) in listed, f"{key} {value} cannot be looked up"


# -- sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "weights"),
    [(100, [1, 1, 1]), (7, [0, 3, 0]), (999, [333, 334, 332, 1]), (1, [50, 50]), (0, [5])],
)
def test_shares_add_up_and_stay_within_their_weights(total: int, weights: list[int]) -> None:
    shares = split(total, weights)
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / sum(weights)) < 1
        assert share == 0 or weight != 0


def test_tax_is_rounded_once_and_food_is_exempt() -> None:
    assert tax_shares("TX", [(999, False), (999, False), (500, True)]) == [83, 82, 0]
    assert sum(tax_shares("OR", [(5000, False)])) == 0 and len(TAX_BPS) == 51


@pytest.mark.parametrize(("key", "rate"), [("home", 0), ("tom", 1025), ("ingrid", 903)])
async def test_tax_follows_the_state_of_delivery(session: Session, key: str, rate: int) -> None:
    await add(session, "amazon", "charger-65")
    placed = await order(session, "amazon", address_id=at("aza", key))
    assert placed["pricing"]["tax"] == round(placed["pricing"]["subtotal"] * rate / 10_000)


# -- prices ----------------------------------------------------------------------------------------


async def test_prices_change_only_on_mondays_and_so_does_their_history(session: Session) -> None:
    moving = session.world.sql(
        "SELECT product_id FROM amazon_offers"
        " WHERE swing>5 AND condition='new' AND stock>50 AND seller_id=?",
        at("azs", "amazon"),
    )
    changed = 0
    for (product,) in moving[:12]:
        reply = await call_ok(session, "amazon", "get_product_offers", product_id=product)
        listed = reply["offers"]
        history = await call_ok(
            session, "amazon", "get_price_history", product_id=product, weeks=52
        )
        trusted = [o for o in listed if o["seller_rating"] >= 4]
        lowest = min(o["price"] for o in trusted if o["condition"] == "new")
        assert history["price_history"][0]["price"] == lowest
        dates = [p["date"] for p in history["price_history"]]
        assert dates == sorted(dates, reverse=True)
        assert {datetime.fromisoformat(d).weekday() for d in dates} == {0}
        if len(dates) > 1:
            changed += 1
    assert changed >= 8
    before = await call_ok(session, "amazon", "search_products", query="headphones")
    session.pass_time(36 * HOUR)  # Sunday night
    assert await call_ok(session, "amazon", "search_products", query="headphones") == before


async def test_a_new_monday_brings_other_prices() -> None:
    offers = [{"id": f"azf_{n}", "price": 5000, "swing": 8} for n in range(40)]
    now = parse_time("2026-03-14T16:00:00Z")

    def prices(at: int) -> list[int]:
        return [catalogue.offer_price(offer, at) for offer in offers]

    assert prices(now) == prices(now + DAY)
    assert prices(now) != prices(now + 3 * DAY)
    for week in range(60):
        assert all(4300 <= price <= 5300 for price in prices(now + week * 7 * DAY))


@every_shop
async def test_search_takes_words_in_any_order_and_filters_without_words(
    session: Session, shop: str
) -> None:
    tool = SEARCH[shop]
    reply = await call_ok(session, shop, tool, query="headphones wireless")
    other = await call_ok(session, shop, tool, query="wireless headphones")
    ids = [p["product_id"] for p in reply["products"]]
    others = [p["product_id"] for p in other["products"]]
    # Words that stand together in a name count a little more, so the tail may differ.
    assert len(ids) >= 2 and set(ids[:3]) <= set(others) and set(others[:3]) <= set(ids)
    kettles = await pages(session, shop, tool, "products", limit=40, category="kettles & coffee")
    assert kettles and {p["category"] for p in kettles} == {"Kettles & Coffee"}
    assert (await call_ok(session, shop, tool, query="zeppelin"))["products"] == []
    error = await call_refused(session, shop, tool, min_price=500, max_price=400)
    assert error["code"] == "INVALID_PRICE_RANGE"


# -- reviews and stores ----------------------------------------------------------------------------


@every_shop
async def test_one_review_for_each_product_counts_in_its_average(
    session: Session, shop: str
) -> None:
    write = {"amazon": "write_review", "walmart": "submit_review", "target": "post_review"}[shop]
    look = {
        "amazon": "get_product_details",
        "walmart": "get_item_details",
        "target": "get_merchandise_info",
    }[shop]
    product = at(PREFIX[shop] + "p", "detergent")
    before = await call_ok(session, shop, look, product_id=product)
    review = await call_ok(
        session,
        shop,
        write,
        product_id=product,
        rating=1,
        title="Watery",
        body="Needs twice as much as it says.",
    )
    after = await call_ok(session, shop, look, product_id=product)
    assert after["review_count"] == before["review_count"] + 1
    assert after["rating_count"] == before["rating_count"] + 1
    assert review["is_mine"]
    assert review["verified_purchase"] == (shop == "walmart"), (
        "Maya has bought and received one at Walmart only"
    )
    again = await call_refused(
        session,
        shop,
        write,
        product_id=product,
        rating=5,
        title="Fine",
        body="I had used the wrong cup.",
    )
    assert again["code"] == "REVIEW_EXISTS" and again["review_id"] == review["review_id"]


@pytest.mark.parametrize(
    ("shop", "tool"), [("walmart", "find_stores"), ("target", "search_stores")]
)
async def test_stores_are_found_by_zip_or_city_with_distances(
    session: Session, shop: str, tool: str
) -> None:
    nearby = (await call_ok(session, shop, tool, zip_code="97214"))["stores"]
    distances = [s["distance_miles"] for s in nearby]
    assert len(nearby) >= 4
    assert distances == sorted(distances)
    closed = next(s for s in nearby if s["permanently_closed"])
    choose = {"walmart": "set_home_store", "target": "set_preferred_store"}[shop]
    error = await call_refused(session, shop, choose, store_id=closed["store_id"])
    assert error["code"] == "STORE_CLOSED"
    which = await call_refused(session, shop, tool, city="Portland")
    assert which["code"] == "AMBIGUOUS_LOCATION" and which["states"] == ["ME", "OR"]
    assert (await call_ok(session, shop, tool, city="portland", state="ME"))["stores"] == []
    assert (await call_refused(session, shop, tool))["code"] == "LOCATION_REQUIRED"
