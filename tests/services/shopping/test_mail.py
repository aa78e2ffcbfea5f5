"""What the shops mail, when it comes, and what takes it back."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from servers.shopping.instacart.carts import CART, OATS
from tests.services.shopping.support import (
    CANCEL,
    DAY,
    EASTPORT,
    HOUR,
    SHOPS,
    add,
    order,
    see,
    slots,
)
from tests.support import at, call_ok, new_session

pytestmark = pytest.mark.anyio


def opened(*services: str, **more: Any) -> Session:
    """Return an episode with a mailbox, whose older posts are left aside."""
    session = new_session(*services, "gmail", "clock", **more)
    session.world.commit()
    return session


def mailed(session: Session, about: str) -> list[tuple[str, str]]:
    """Return what has arrived about a row: template and moment, oldest first."""
    rows = session.world.rows("outbox", "about=? AND delivered_at IS NOT NULL", about)
    found = [(row["delivered_at"], row["template"]) for row in rows]
    return [(template, moment) for moment, template in sorted(found)]


async def newest(session: Session, query: str) -> dict[str, Any]:
    found = await call_ok(session, "gmail", "search_emails", query=query, max_results=1)
    email_id = found["emails"][0]["email_id"]
    return await call_ok(session, "gmail", "get_email", email_id=email_id)


@pytest.mark.parametrize("shop", SHOPS)
async def test_a_parcel_is_mailed_when_the_order_says_that_it_moves(shop: str) -> None:
    session = opened(shop)
    await add(session, shop, "kettle-glass")
    placed = await order(session, shop)
    shown = await call_ok(session, "gmail", "list_emails", max_results=1)
    body = shown["emails"][0]["body"]
    assert placed["order_id"] in body and "ending in" in body
    total = (await see(session, shop, placed["order_id"]))["total"]
    assert f"${total / 100:,.2f}" in body
    session.pass_time(9 * DAY)
    row = session.world.get(f"{shop}_orders", placed["order_id"])
    assert row is not None
    assert mailed(session, placed["order_id"]) == [
        ("order_placed", row["placed_at"]),
        ("shipped", row["ships_at"]),
        ("delivered", row["done_at"]),
    ]


@pytest.mark.parametrize("shop", SHOPS)
async def test_a_canceled_order_ships_nothing(shop: str) -> None:
    session = opened(shop)
    await add(session, shop, "kettle-glass")
    placed = await order(session, shop)
    await call_ok(session, shop, CANCEL[shop], order_id=placed["order_id"], reason="Not needed")
    session.pass_time(9 * DAY)
    arrived = [template for template, _ in mailed(session, placed["order_id"])]
    assert arrived == ["order_placed", "order_canceled"]


async def test_an_order_ships_after_all_if_its_cancelation_is_undone() -> None:
    session = opened("amazon")
    await add(session, "amazon", "kettle-glass")
    placed = await order(session, "amazon")
    order_id = placed["order_id"]
    await call_ok(session, "amazon", "cancel_order", order_id=order_id, reason="Not needed")
    session.world.update("amazon_orders", order_id, canceled_at=None)
    session.world.commit()
    session.pass_time(9 * DAY)
    assert "shipped" in [template for template, _ in mailed(session, order_id)]


async def for_pickup(session: Session) -> dict[str, Any]:
    where = {"fulfillment_type": "pickup", "store_id": EASTPORT}
    await add(session, "walmart", "detergent", 2, **where)
    slot = (await slots(session))[0]
    return await order(session, "walmart", pickup_slot_id=slot["slot_id"])


async def test_what_nobody_collects_is_mailed_three_times() -> None:
    session = opened("walmart")
    placed = await for_pickup(session)
    session.pass_time(9 * DAY)
    row = session.world.get("walmart_orders", placed["order_id"])
    assert row is not None
    reminder = iso(parse_time(row["hold_until"]) - DAY)
    assert mailed(session, placed["order_id"])[1:] == [
        ("ready", row["ready_at"]),
        ("pickup_reminder", reminder),
        ("unclaimed", row["hold_until"]),
    ]


async def test_a_collected_order_is_not_waited_for() -> None:
    session = opened("walmart")
    placed = await for_pickup(session)
    order_id = placed["order_id"]
    session.pass_time(parse_time(placed["ready_at"]) - session.control.now + HOUR)
    await call_ok(session, "walmart", "check_in_for_pickup", order_id=order_id)
    session.pass_time(9 * DAY)
    arrived = [template for template, _ in mailed(session, order_id)]
    assert arrived == ["order_placed", "ready", "picked_up"]


async def test_a_refund_is_mailed_on_the_day_on_which_the_return_says_so() -> None:
    session = opened("amazon")
    of = {"order_id": at("azo", "returnable"), "product_id": at("azp", "desk-lamp")}
    back = await call_ok(session, "amazon", "request_return", reason="It flickers", **of)
    session.pass_time(20 * DAY)
    assert mailed(session, back["return_id"]) == [
        ("return_started", back["requested_at"]),
        ("return_refunded", back["refund_expected_by"]),
    ]
    mail = await newest(session, f"from:amazon-mail {back['return_id']}")
    assert f"${back['refund_amount'] / 100:,.2f}" in mail["body"]


async def test_a_subscription_reminds_before_its_next_order_unless_it_was_canceled() -> None:
    session = opened("amazon")
    tea = at("azp", "tea-earl")
    plan = await call_ok(
        session, "amazon", "create_subscription", product_id=tea, frequency="biweekly"
    )
    plan_id = plan["subscription_id"]
    session.pass_time(13 * DAY)
    arrived = [template for template, _ in mailed(session, plan_id)]
    assert arrived == ["subscription_started", "order_soon"]
    ordered = session.world.rows("amazon_orders", "plan_id=?", plan_id)
    assert mailed(session, ordered[0]["id"])[0][0] == "order_placed"
    session.pass_time(4 * DAY)
    await call_ok(session, "amazon", "cancel_subscription", subscription_id=plan_id)
    session.pass_time(30 * DAY)
    arrived = [template for template, _ in mailed(session, plan_id)]
    assert arrived == ["subscription_started", "order_soon", "subscription_canceled"]


async def test_groceries_are_mailed_from_the_order_to_the_receipt_with_its_last_tip() -> None:
    session = opened("instacart")
    placed = await groceries(session)
    order_id = placed["order_id"]
    row = session.world.get("instacart_orders", order_id)
    assert row is not None
    session.pass_time(parse_time(row["leaves_at"]) - session.control.now + 60)
    await call_ok(session, "instacart", "update_tip", order_id=order_id, new_tip=1234)
    session.pass_time(2 * DAY)
    arrived = [template for template, _ in mailed(session, order_id)]
    told = ["order_placed", "shopping_started", "on_its_way", "tip_changed", "delivered"]
    assert arrived == told
    mail = await newest(session, "from:instacart-mail receipt")
    status = await call_ok(session, "instacart", "get_order_status", order_id=order_id)
    assert "Tip: $12.34" in mail["body"]
    assert f"Total charged: ${status['pricing']['total'] / 100:,.2f}" in mail["body"]


async def test_a_canceled_delivery_is_not_shopped_for() -> None:
    session = opened("instacart")
    order_id = (await groceries(session))["order_id"]
    await call_ok(session, "instacart", "cancel_delivery", order_id=order_id, reason="Twice")
    session.pass_time(3 * DAY)
    arrived = [template for template, _ in mailed(session, order_id)]
    assert arrived == ["order_placed", "order_canceled"]


async def groceries(session: Session) -> dict[str, Any]:
    oats = {"cart_id": CART, "product_id": OATS, "quantity": 6}
    await call_ok(session, "instacart", "add_grocery_item", **oats)
    store = at("ics", "new_seasons")
    slot = await call_ok(
        session, "instacart", "get_delivery_slots", store_id=store, date="2026-03-17"
    )
    return await call_ok(
        session,
        "instacart",
        "checkout",
        cart_id=CART,
        address_id=at("ica", "home"),
        payment_method_id=at("icm", "visa"),
        delivery_window_id=slot["slots"][0]["window_id"],
    )


async def test_a_decided_complaint_is_mailed_two_hours_later() -> None:
    session = opened("instacart")
    report = {"issue_type": "damaged_item", "description": "The eggs were broken, all but two"}
    order_id = at("ico", "recent")
    issue = await call_ok(session, "instacart", "report_issue", order_id=order_id, **report)
    made = parse_time(issue["created_at"])
    session.pass_time(3 * HOUR)
    assert mailed(session, issue["issue_id"]) == [
        ("issue_received", iso(made)),
        ("issue_refunded", iso(made + 2 * HOUR)),
    ]


async def test_a_price_alert_is_mailed_when_it_triggers() -> None:
    session = opened("amazon")
    listed = (await call_ok(session, "amazon", "list_price_alerts"))["price_alerts"]
    waiting = [alert["alert_id"] for alert in listed if not alert["triggered"]]
    tea = at("azp", "tea-earl")
    price = (await call_ok(session, "amazon", "get_product_details", product_id=tea))["buy_box"]
    wish = {"product_id": tea, "target_price": price["price"]}
    met = await call_ok(session, "amazon", "set_price_alert", **wish)
    session.pass_time(200 * DAY)
    assert mailed(session, met["alert_id"]) == [("price_met", met["created_at"])]
    after = (await call_ok(session, "amazon", "list_price_alerts"))["price_alerts"]
    triggered = {a["alert_id"]: a["triggered_at"] for a in after if a["alert_id"] in waiting}
    assert any(triggered.values())
    for alert_id, moment in triggered.items():
        assert mailed(session, alert_id) == ([("price_met", moment)] if moment else [])


async def test_a_price_alert_that_was_removed_is_silent() -> None:
    session = opened("amazon")
    before = (await call_ok(session, "amazon", "list_price_alerts"))["price_alerts"]
    for alert in before:
        await call_ok(session, "amazon", "remove_price_alert", alert_id=alert["alert_id"])
    session.pass_time(200 * DAY)
    assert not session.world.rows("outbox", "template='price_met'")
