"""Where sums, windows and searches of food delivery could go wrong: small bills and large promotions, far addresses, signs in a query."""

from __future__ import annotations

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
    key = {"uber_eats": "lunch", "doordash": "bundle"}[app]
    session.world.update(
        f"{app}_offers", at(app, 5, key), discount=discount, min_order=0, once=False
    )
    return at(app, 5, key)


@both
async def test_cancelling_never_costs_more_than_the_order(session: Session, app: str) -> None:
    made = await order(session, app, offer_id=grant(session, app, 5000), tip=0)
    row = session.world.get(f"{app}_orders", made["order_id"])
    assert row is not None and cents(made["total"]) < 0.4 * cents(made["subtotal"]), (
        "fees alone are left to pay"
    )
    session.pass_time(parse_time(row["preparing_at"]) - session.control.now + 1)
    shown = await call_ok(session, app, GET[app], order_id=made["order_id"])
    fee = shown.get("cancellation_fee", shown.get("cancel_fee"))
    done = await call_ok(
        session, app, CANCEL[app], order_id=made["order_id"], reason="Nobody is home"
    )
    assert done["fee"] == fee == made["total"] and done["refunded"] == 0


async def test_a_promotion_takes_no_more_off_groceries_than_were_bought(session: Session) -> None:
    item = await out_soon(session)
    offer = grant(session, "uber_eats", 5000)
    lines = [{"item_id": item["id"], "quantity": 9}]
    session.world.update("uber_eats_restaurants", STORE, min_order=0)
    made = await call_ok(
        session,
        "uber_eats",
        "submit_grocery_order",
        **BASKET | {"items": lines, "offer_id": offer, "tip": 1},
    )
    row = session.world.get("uber_eats_orders", made["order_id"])
    assert row is not None
    session.pass_time(parse_time(row["delivered_at"]) - session.control.now + 1)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"])
    assert shown["items"][0]["fulfillment"] == "refunded"
    fees = sum(cents(shown["fees"][k]) for k in ("delivery", "service", "tip"))
    assert cents(shown["total"]) == fees, "nothing was bought: no goods, no discount"


async def test_what_was_cancelled_changes_no_bill(session: Session) -> None:
    item = await out_soon(session)
    beans = {"item_id": make_id("uei", "maya", "alder_coop/black-beans"), "quantity": 9}
    kept = BASKET["items"]
    lines = [{"item_id": item["id"], "quantity": 2}, beans, *kept]
    made = await call_ok(session, "uber_eats", "submit_grocery_order", **BASKET | {"items": lines})
    while (await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"]))["items"][0][
        "fulfillment"
    ] == "pending":
        session.pass_time(30)
    assert (await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"]))[
        "adjustment"
    ] < 0
    await call_ok(
        session, "uber_eats", "cancel_food_order", order_id=made["order_id"], reason="Plans changed"
    )
    shown = await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"])
    assert shown["adjustment"] == 0 and [i["adjustment"] for i in shown["items"]] == [0] * len(
        lines
    )


async def test_the_shopper_waits_for_no_answer_once_the_bags_have_left(session: Session) -> None:
    item = await out_soon(session)
    some = session.world.rows(
        "uber_eats_items",
        "restaurant_id=? AND scarce=0 AND out_since IS NULL AND removed_at IS NULL",
        STORE,
    )
    lines = [{"item_id": i["id"], "quantity": 1} for i in some[:20]] + [
        {"item_id": item["id"], "quantity": 2}
    ]
    made = await call_ok(session, "uber_eats", "submit_grocery_order", **BASKET | {"items": lines})
    about = {"order_id": made["order_id"], "item_id": item["id"]}
    await call_ok(
        session, "uber_eats", "set_substitution_preference", **about, preference="contact_me"
    )
    row = session.world.get("uber_eats_orders", made["order_id"])
    assert row is not None
    session.pass_time(parse_time(row["picked_up_at"]) - session.control.now - 20)
    assert (await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"]))["items"][
        -1
    ]["fulfillment"] == "asking"
    session.pass_time(20)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=made["order_id"])
    assert shown["status"] == "picked_up" and shown["items"][-1]["fulfillment"] == "refunded"


async def test_a_key_stands_for_the_options_too(session: Session) -> None:
    said = paid("uber_eats", idempotency_key="breakfast")
    await call_ok(session, "uber_eats", "submit_food_order", **said)
    small = [
        {**said["items"][0], "selected_options": [at("uber_eats", 2, "size/small")]},
        said["items"][1],
    ]
    other = await call_refused(session, "uber_eats", "submit_food_order", **said | {"items": small})
    assert other["code"] == "IDEMPOTENCY_KEY_REUSED"


async def test_a_reorder_repeats_the_wishes(session: Session) -> None:
    items = coffee("doordash")["items"]
    first = await order(
        session,
        "doordash",
        items=[{**items[0], "special_instructions": "Oat milk on the side"}, items[1]],
    )
    session.pass_time(HOUR)
    said = {
        "order_id": first["order_id"],
        "delivery_address_id": at("doordash", 3, "home"),
        "payment_method_id": at("doordash", 4, "visa"),
    }
    again = await call_ok(session, "doordash", "reorder", **said)
    assert [i["special_instructions"] for i in again["items"]] == ["Oat milk on the side", None]


async def test_an_add_on_store_is_looked_for_where_it_is_listed(session: Session) -> None:
    error = await call_refused(
        session, "doordash", "get_doubledash_catalog", store_id=at("doordash", 0, "hazel_hawthorne")
    )
    assert error["code"] == "STORE_NOT_FOUND" and "get_doubledash_stores" in error["hint"]


@both
async def test_signs_and_words_that_say_nothing_hide_no_dish(session: Session, app: str) -> None:
    key = {"uber_eats": "restaurants", "doordash": "stores"}[app]

    async def found(query: str) -> list[str]:
        return [r["name"] for r in (await call_ok(session, app, OPEN[app], query=query))[key]]

    assert await found("mac & cheese") and set(await found("mac & cheese")) == set(
        await found("mac and cheese")
    )
    assert await found("thai food") == await found("thai")
    assert await found("&") == await found("food") == []


def test_the_soonest_window_can_be_kept_by_the_slowest_kitchen_for_the_farthest_address() -> None:
    kept = 0
    for name in names():
        world = shared(name, ("doordash",))
        for place in world.rows("doordash_restaurants", "kind='restaurant'"):
            for now in range(START, START + 3 * HOUR, 7 * MINUTE):
                windows = pricing.windows(WORDS, place, now, now + 3 * HOUR, 20, now)
                soonest = next((w for w in windows if w[3]), None)
                if soonest is not None:
                    done = parse_time(
                        orders.stages(place, place["radius"], now, soonest[1:3])["delivered_at"]
                    )
                    assert soonest[1] <= done <= soonest[2], (place["name"], now)
                    kept += catalogue.busy(place, soonest[1]) > 0.9
    assert kept, "kitchens were busy"


@pytest.mark.parametrize("name", names())
def test_every_order_was_paid_with_a_card_of_its_day_from_and_to_where_there_was_one(
    name: str,
) -> None:
    world = shared(name, ("uber_eats", "doordash"))
    for app in ("uber_eats", "doordash"):
        cards = {c["id"]: c for c in world.rows(f"{app}_cards")}
        places = {a["id"]: a for a in world.rows(f"{app}_addresses")}
        for row in world.rows(f"{app}_orders"):
            card = cards[row["method_id"]]
            place = places.get(row["address_id"])
            assert (
                card["added_at"] <= row["placed_at"] and row["placed_at"][:7] <= card["expires"]
            ), row["id"]
            assert place is None or place["added_at"] <= row["placed_at"] < (
                place["removed_at"] or "9"
            ), row["id"]
