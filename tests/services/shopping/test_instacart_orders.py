"""Instacart after an order, and its data.

Issues, replacements and tips; quantities in recipes; search words; consistent histories.
"""

from __future__ import annotations

import pytest

from scenarios.worlds.build import names, shared
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart import _orders as orders
from tests.services.shopping.instacart import (
    CART,
    CHEDDAR,
    HOUR,
    MILK,
    STORE,
    call,
    checkout,
    everything,
    refused,
    until,
)
from tests.support import at, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("instacart")


async def test_refunds_of_everything_give_back_what_was_paid_for_it_and_no_more(
    session: Session,
) -> None:
    await call(session, "add_grocery_item", cart_id=CART, product_id=MILK, quantity=4)
    await call(session, "redeem_coupon", cart_id=CART, coupon_code=" fresh5 ")
    order = await checkout(session)
    until(session, order["estimated_arrival"], 1)
    delivered = await call(session, "get_order_status", order_id=order["order_id"])
    bill = delivered["pricing"]
    lines = [i for i in delivered["items"] if i["outcome"] != "refunded"]
    assert bill["discount"] == 500 and len(lines) > 2
    for line in lines:
        issue = {
            "issue_type": "poor_quality",
            "description": "None of it was any good",
            "product_ids": [line["product_id"]],
        }
        await call(session, "report_issue", order_id=order["order_id"], **issue)
    session.pass_time(3 * HOUR)
    after = (await call(session, "get_order_status", order_id=order["order_id"]))["pricing"]
    goods = bill["subtotal"] - bill["discount"]
    assert goods - len(lines) < after["refunded"] <= goods, (
        "each item is refunded less its share of the coupon"
    )
    assert after["net_total"] == after["total"] - after["refunded"]
    assert after["net_total"] >= after["delivery_fee"] + after["service_fee"] + after["tip"]


async def test_a_replacement_can_be_reported_under_either_id(session: Session) -> None:
    order = await checkout(session)
    until(session, order["estimated_arrival"], 1)
    item = session.world.rows(
        "instacart_order_items", "order_id=? AND product_id=?", order["order_id"], CHEDDAR
    )[0]
    other = at("icp", "cheddar-everyday-16")
    session.world.update(
        "instacart_order_items", item["id"], outcome="replaced", got_id=other, got_price=650
    )
    issue = {
        "order_id": order["order_id"],
        "issue_type": "damaged_item",
        "description": "It was open",
    }
    done = await call(session, "report_issue", **issue, product_ids=[other])
    assert done["product_ids"] == [CHEDDAR]
    error = await refused(session, "report_issue", **issue, product_ids=[CHEDDAR])
    assert error["code"] == "ALREADY_REPORTED"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Two of the eggs were broken", ["eggs"]),
        ("The oat milk leaked over everything", ["oat milk"]),
        ("The milk is sour, the oat milk is fine", ["milk", "oat milk"]),
        ("My steak was cold", []),
        ("Cracked egg, mouldy potato", ["eggs", "potato"]),
        ("No ENGLISH BREAKFAST TEA in the bag", ["tea"]),
    ],
)
def test_a_description_names_whole_words_and_the_longest_first(
    session: Session, text: str, meant: list[str]
) -> None:
    class Shop:
        db = session.world

    first = {
        f: session.world.rows("instacart_products", "family=?", f, order="rowid")[0]["id"]
        for f in ("eggs", "milk", "oat milk", "tea", "potato")
    }
    lines = [{"product_id": p, "got_id": p} for p in first.values()]
    named = orders.named_in(Shop(), lines, text)  # ty: ignore[invalid-argument-type]
    assert named == [first[f] for f in first if f in meant]


async def test_a_cancelled_order_has_no_tip(session: Session) -> None:
    order = await checkout(session, tip=900)
    assert order["tip"] == order["pricing"]["tip"] == 900
    await call(session, "cancel_delivery", order_id=order["order_id"], reason="Ordered twice")
    shown = await call(session, "get_order_status", order_id=order["order_id"])
    assert shown["tip"] == shown["pricing"]["tip"] == shown["total"] == 0


async def test_a_recipe_asks_for_pieces_and_gets_pieces(session: Session) -> None:
    cart = (await call(session, "create_cart", store_id=at("ics", "gorge_pantry")))["cart_id"]
    done = await call(session, "add_recipe_to_cart", cart_id=cart, recipe_id=at("icx", "guacamole"))
    limes = next(m for m in done["matched"] if m["ingredient"] == "Lime")
    product = session.world.get("instacart_products", limes["product_id"])
    assert product is not None
    assert (product["unit"], limes["quantity"]) == ("each", 2), "two limes, not a bag of two pounds"


@pytest.mark.parametrize(
    ("query", "family"),
    [("cheese", "cheddar"), ("pasta", "spaghetti"), ("berries", "strawberry"), ("fish", "salmon")],
)
async def test_what_people_call_a_product_finds_it(
    session: Session, query: str, family: str
) -> None:
    items = await everything(
        session, "search_grocery_items", "items", store_id=STORE, query=query, in_stock_only=False
    )
    products = [session.world.get("instacart_products", i["product_id"]) or {} for i in items]
    assert family in {product["family"] for product in products}
    assert len(items) < 90, "most of a store is something else"


async def test_what_was_bought_in_a_store_can_be_looked_up_there(session: Session) -> None:
    for one in await everything(session, "list_orders", "orders"):
        whole = await call(session, "get_order_status", order_id=one["order_id"])
        for item in whole["items"]:
            await call(
                session,
                "get_grocery_details",
                store_id=one["store_id"],
                product_id=item["product_id"],
            )


@pytest.mark.parametrize("name", names())
def test_stores_carry_what_was_ordered_and_cancellations_cost_by_the_clock(name: str) -> None:
    world = shared(name, ("instacart",))
    stores = {s["id"]: s for s in world.rows("instacart_stores")}
    products = {p["id"]: p for p in world.rows("instacart_products")}
    for row in world.rows("instacart_orders"):
        for item in world.rows("instacart_order_items", "order_id=?", row["id"]):
            product = products[item["product_id"]]
            assert stock.carries(stores[row["store_id"]], product), row["id"]
        if row["cancelled_at"] is not None:
            assert row["cancelled_at"] < row["leaves_at"], row["id"]
            assert (row["cancel_fee"] > 0) == (row["cancelled_at"] >= row["shop_at"]), row["id"]
    for cart in world.rows("instacart_carts"):
        for item in world.rows("instacart_cart_items", "cart_id=?", cart["id"]):
            wanted = [item["product_id"]]
            if item["replacement_id"]:
                wanted.append(item["replacement_id"])
            for product_id in wanted:
                product = products[product_id]
                assert stock.carries(stores[cart["store_id"]], product), item["id"]


@pytest.mark.parametrize("name", names())
def test_a_wrong_item_is_not_the_one_that_was_ordered(name: str) -> None:
    world = shared(name, ("instacart",))
    issues = world.rows("instacart_issues", "issue_type='wrong_item'")
    assert issues
    for issue in issues:
        row = world.get("instacart_orders", issue["order_id"])
        assert row is not None and parse_time(issue["created_at"]) >= parse_time(row["arrives_at"])
        for product in issue["product_ids"]:
            ordered = (world.get("instacart_products", product) or {})["name"].casefold()
            text = issue["description"].casefold()
            came = text.split(" instead ")[0].split(" and ")[0]
            assert ordered.split()[0] not in came, issue["description"]
