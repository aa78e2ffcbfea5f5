"""Edges of food delivery: small bills, large promotions, far addresses, and signs in a query."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import names, shared
from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery.doordash._model import WORDS
from servers.food_delivery.uber_eats.groceries import BASKET
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.services.food_delivery.support import (
    CANCEL,
    GET,
    HOUR,
    MINUTE,
    OPEN,
    STORE,
    at,
    both,
    coffee,
    order,
    out_soon,
    paid,
)
from tests.support import START, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("uber_eats", "doordash")


def grant(session: Session, app: str, discount: int) -> str:
    """Put a promotion of so many cents off into the wallet."""
    offer_id = at(app, 5, {"uber_eats": "lunch", "doordash": "bundle"}[app])
    terms = {"discount": discount, "min_order": 0, "once": False}
    session.world.update(f"{app}_offers", offer_id, **terms)
    return offer_id


@both
async def test_the_same_item_in_two_lines_is_one_line(session: Session, app: str) -> None:
    once = coffee(app, 2, 1)
    latte, cookie = once["items"]
    single = latte | {"quantity": 1}
    named = cookie | {"special_instructions": "For Jordan"}
    placed = await order(session, app, **once | {"items": [single, cookie, single, named]})
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert [line["quantity"] for line in shown["items"]] == [2, 1, 1]


@both
async def test_cancelling_never_costs_more_than_the_order(session: Session, app: str) -> None:
    placed = await order(session, app, offer_id=grant(session, app, 5000), tip=0)
    row = session.world.get(f"{app}_orders", placed["order_id"])
    assert row is not None
    assert cents(placed["total"]) < 0.4 * cents(placed["subtotal"]), "only fees are left to pay"
    session.pass_time(parse_time(row["preparing_at"]) - session.control.now + 1)
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    fee = shown.get("cancellation_fee", shown.get("cancel_fee"))
    reason = "Nobody is home"
    done = await call_ok(session, app, CANCEL[app], order_id=placed["order_id"], reason=reason)
    assert done["fee"] == fee == placed["total"] and done["refunded"] == 0


async def test_a_promotion_never_exceeds_the_groceries_that_were_bought(session: Session) -> None:
    item = await out_soon(session)
    offer = grant(session, "uber_eats", 5000)
    session.world.update("uber_eats_restaurants", STORE, min_order=0)
    lines = [{"item_id": item["id"], "quantity": 9}]
    basket = BASKET | {"items": lines, "offer_id": offer, "tip": 1}
    placed = await call_ok(session, "uber_eats", "submit_grocery_order", **basket)
    row = session.world.get("uber_eats_orders", placed["order_id"])
    assert row is not None
    session.pass_time(parse_time(row["delivered_at"]) - session.control.now + 1)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=placed["order_id"])
    assert shown["items"][0]["fulfillment"] == "refunded"
    fees = sum(cents(shown["fees"][k]) for k in ("delivery", "service", "tip"))
    assert cents(shown["total"]) == fees, "nothing was bought, so there is no discount"


async def test_a_cancelled_order_has_no_adjustments(session: Session) -> None:
    item = await out_soon(session)
    beans = {"item_id": make_id("uei", "maya", "alder_coop/black-beans"), "quantity": 9}
    lines = [{"item_id": item["id"], "quantity": 2}, beans, *BASKET["items"]]
    placed = await call_ok(
        session, "uber_eats", "submit_grocery_order", **BASKET | {"items": lines}
    )
    order_id = placed["order_id"]

    async def shown() -> dict[str, Any]:
        return await call_ok(session, "uber_eats", "get_order", order_id=order_id)

    while (await shown())["items"][0]["fulfillment"] == "pending":
        session.pass_time(30)
    assert (await shown())["adjustment"] < 0
    reason = "Plans changed"
    await call_ok(session, "uber_eats", "cancel_food_order", order_id=order_id, reason=reason)
    cancelled = await shown()
    assert cancelled["adjustment"] == 0
    assert [line["adjustment"] for line in cancelled["items"]] == [0] * len(lines)


async def test_the_shopper_stops_waiting_for_an_answer_once_the_bags_leave(
    session: Session,
) -> None:
    item = await out_soon(session)
    on_shelf = "restaurant_id=? AND scarce=0 AND out_since IS NULL AND removed_at IS NULL"
    goods = session.world.rows("uber_eats_items", on_shelf, STORE)
    lines = [{"item_id": i["id"], "quantity": 1} for i in goods[:20]]
    lines.append({"item_id": item["id"], "quantity": 2})
    placed = await call_ok(
        session, "uber_eats", "submit_grocery_order", **BASKET | {"items": lines}
    )
    wish = {"order_id": placed["order_id"], "item_id": item["id"], "preference": "contact_me"}
    await call_ok(session, "uber_eats", "set_substitution_preference", **wish)
    row = session.world.get("uber_eats_orders", placed["order_id"])
    assert row is not None
    session.pass_time(parse_time(row["picked_up_at"]) - session.control.now - 20)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=placed["order_id"])
    assert shown["items"][-1]["fulfillment"] == "asking"
    session.pass_time(20)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=placed["order_id"])
    assert shown["status"] == "picked_up" and shown["items"][-1]["fulfillment"] == "refunded"


async def test_an_idempotency_key_covers_the_options(session: Session) -> None:
    breakfast = paid("uber_eats", idempotency_key="breakfast")
    await call_ok(session, "uber_eats", "submit_food_order", **breakfast)
    latte, cookie = breakfast["items"]
    small = latte | {"selected_options": [at("uber_eats", 2, "size/small")]}
    other = breakfast | {"items": [small, cookie]}
    error = await call_refused(session, "uber_eats", "submit_food_order", **other)
    assert error["code"] == "IDEMPOTENCY_KEY_REUSED"


async def test_a_reorder_repeats_special_instructions(session: Session) -> None:
    latte, cookie = coffee("doordash")["items"]
    latte |= {"special_instructions": "Oat milk on the side"}
    first = await order(session, "doordash", items=[latte, cookie])
    session.pass_time(HOUR)
    again = await call_ok(
        session,
        "doordash",
        "reorder",
        order_id=first["order_id"],
        delivery_address_id=at("doordash", 3, "home"),
        payment_method_id=at("doordash", 4, "visa"),
    )
    assert [i["special_instructions"] for i in again["items"]] == ["Oat milk on the side", None]


async def test_an_unknown_add_on_store_is_pointed_to_the_tool_that_lists_them(
    session: Session,
) -> None:
    cafe = at("doordash", 0, "hazel_hawthorne")
    error = await call_refused(session, "doordash", "get_doubledash_catalog", store_id=cafe)
    assert error["code"] == "STORE_NOT_FOUND" and "get_doubledash_stores" in error["hint"]


@both
async def test_signs_and_filler_words_do_not_hide_dishes(session: Session, app: str) -> None:
    key = {"uber_eats": "restaurants", "doordash": "stores"}[app]

    async def hits(query: str) -> list[str]:
        reply = await call_ok(session, app, OPEN[app], query=query)
        return [place["name"] for place in reply[key]]

    assert await hits("mac & cheese")
    assert set(await hits("mac & cheese")) == set(await hits("mac and cheese"))
    assert await hits("thai food") == await hits("thai")
    assert await hits("&") == await hits("food") == []


def test_the_slowest_kitchen_can_reach_the_farthest_address_in_the_soonest_window() -> None:
    busy_kitchens = 0
    for name in names():
        world = shared(name, ("doordash",))
        for place in world.rows("doordash_restaurants", "kind='restaurant'"):
            for now in range(START, START + 3 * HOUR, 7 * MINUTE):
                windows = pricing.windows(WORDS, place, now, now + 3 * HOUR, 20, now)
                soonest = next((w for w in windows if w.available), None)
                if soonest is None:
                    continue
                span = (soonest.start, soonest.end)
                stages = orders.stages(place, place["radius"], now, span)
                delivered = parse_time(stages["delivered_at"])
                assert soonest.start <= delivered <= soonest.end, (place["name"], now)
                if catalogue.busy(place, soonest.start) > 0.9:
                    busy_kitchens += 1
    assert busy_kitchens, "no kitchen was busy"


@pytest.mark.parametrize("name", names())
def test_every_past_order_used_a_card_and_an_address_that_were_valid_then(
    name: str,
) -> None:
    world = shared(name, ("uber_eats", "doordash"))
    for app in ("uber_eats", "doordash"):
        cards = {c["id"]: c for c in world.rows(f"{app}_cards")}
        addresses = {a["id"]: a for a in world.rows(f"{app}_addresses")}
        for row in world.rows(f"{app}_orders"):
            placed_at = row["placed_at"]
            card = cards[row["method_id"]]
            assert card["added_at"] <= placed_at, row["id"]
            assert placed_at[:7] <= card["expires"], row["id"]
            address = addresses.get(row["address_id"])
            if address is not None:
                removed_at = address["removed_at"] or "9"
                assert address["added_at"] <= placed_at < removed_at, row["id"]


@pytest.mark.parametrize("name", names())
def test_no_past_order_is_below_the_minimum_of_its_shop(name: str) -> None:
    world = shared(name)
    for app in ("doordash", "uber_eats"):
        for past in world.rows(f"{app}_orders"):
            lines = world.rows(f"{app}_lines", "order_id=?", past["id"])
            goods = sum(line["unit_price"] * line["quantity"] for line in lines)
            place = world.get(f"{app}_restaurants", past["restaurant_id"]) or {}
            assert goods >= place["min_order"], (past["id"], place["name"])
    for past in world.rows("instacart_orders"):
        items = world.rows("instacart_order_items", "order_id=?", past["id"])
        store = world.get("instacart_stores", past["store_id"]) or {}
        assert sum(i["price"] * i["quantity"] for i in items) >= store["min_order"], past["id"]
