"""What people are mailed about orders: confirmations, deliveries, refunds, and gifts."""

from __future__ import annotations

from typing import Any

import pytest

from servers.food_delivery.doordash.add_ons import CORNER
from servers.food_delivery.doordash.gifts import claims
from servers.food_delivery.uber_eats.groceries import BASKET
from servers.kit.session import Session
from tests.mailed import mailed, subjects
from tests.services.food_delivery.support import (
    CANCEL,
    DAY,
    GET,
    HOUR,
    at,
    both,
    coffee,
    order,
    out_soon,
)
from tests.support import START, call_ok, new_session

pytestmark = pytest.mark.anyio

SENDER = {"uber_eats": "noreply@ubereats-mail.com", "doordash": "no-reply@doordash-mail.com"}


@pytest.fixture
def session() -> Session:
    return new_session("uber_eats", "doordash", "gmail")


@both
async def test_an_order_is_confirmed_with_its_items_and_total(session: Session, app: str) -> None:
    placed = await order(session, app)
    session.pass_time(1)
    confirmed = mailed(session, SENDER[app])[-1]
    assert confirmed["created_at"] == placed["created_at"]
    for part in (placed["order_id"], f"${placed['total']:.2f}", "Oat cookie", "7754"):
        assert part.lower() in confirmed["body"].lower()


@both
async def test_a_mail_says_when_an_order_was_delivered(session: Session, app: str) -> None:
    placed = await order(session, app)
    session.pass_time(3 * HOUR)
    _, delivered = mailed(session, SENDER[app])[-2:]
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert delivered["created_at"] == shown.get("delivered_at", shown.get("arrived_at"))


@both
async def test_a_cancelled_order_is_not_delivered_and_its_refund_is_told(
    session: Session, app: str
) -> None:
    placed = await order(session, app)
    gone = {"order_id": placed["order_id"], "reason": "Plans have changed"}
    reply = await call_ok(session, app, CANCEL[app], **gone)
    session.pass_time(DAY)
    _, cancelled = mailed(session, SENDER[app])[-2:]
    assert "Plans have changed" in cancelled["body"]
    assert f"Refund: ${reply['refunded']:.2f}" in cancelled["body"]


async def test_what_was_out_of_stock_is_in_the_mail_about_the_delivery(session: Session) -> None:
    item = await out_soon(session)
    wish = BASKET | {"items": [*BASKET["items"], {"item_id": item["id"], "quantity": 1}]}
    placed = await call_ok(session, "uber_eats", "submit_grocery_order", **wish)
    session.pass_time(3 * HOUR)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=placed["order_id"])
    delivered = mailed(session, SENDER["uber_eats"])[-1]
    assert shown["adjustment"] < 0
    assert f"{item['name']} was out of stock." in delivered["body"]
    assert f"Total  ${shown['total']:.2f}" in delivered["body"]


async def test_a_later_preference_changes_the_mail_about_the_delivery(session: Session) -> None:
    item = await out_soon(session)
    wish = BASKET | {"items": [*BASKET["items"], {"item_id": item["id"], "quantity": 1}]}
    placed = await call_ok(session, "uber_eats", "submit_grocery_order", **wish)
    rather = {"item_id": item["id"], "preference": "substitute"}
    await call_ok(
        session,
        "uber_eats",
        "set_substitution_preference",
        order_id=placed["order_id"],
        **rather,
    )
    session.pass_time(3 * HOUR)
    shown = await call_ok(session, "uber_eats", "get_order", order_id=placed["order_id"])
    got = [i for i in shown["items"] if i["item_id"] == item["id"]]
    delivered = mailed(session, SENDER["uber_eats"])[-1]
    replacement = got[0]["replaced_by"]["name"]
    assert f"{item['name']} was replaced with {replacement}." in delivered["body"]
    assert f"Total  ${shown['total']:.2f}" in delivered["body"]


async def test_a_group_order_is_confirmed_once_it_is_placed(session: Session) -> None:
    place = at("uber_eats", 0, "hazel_hawthorne")
    group = await call_ok(session, "uber_eats", "create_group_order", restaurant_id=place)
    one = {"group_order_id": group["group_order_id"]}
    items = {"participant_name": "Maya Lindqvist", "items": coffee("uber_eats")["items"]}
    await call_ok(session, "uber_eats", "add_group_order_items", **one, **items)
    session.pass_time(1)
    assert mailed(session, SENDER["uber_eats"]) == []
    pays = {
        "delivery_address_id": at("uber_eats", 3, "home"),
        "payment_method_id": at("uber_eats", 4, "visa"),
    }
    await call_ok(session, "uber_eats", "finalize_group_order", **one, **pays)
    session.pass_time(3 * HOUR)
    assert len(mailed(session, SENDER["uber_eats"])) == 2


async def test_items_of_a_second_store_change_the_final_receipt(session: Session) -> None:
    placed = await order(session, "doordash")
    water = {"item_id": at("doordash", 1, "belmont_mini_mart/sparkling-water"), "quantity": 2}
    more = {"order_id": placed["order_id"], "store_id": CORNER, "items": [water]}
    changed = await call_ok(session, "doordash", "add_doubledash_items", **more)
    session.pass_time(3 * HOUR)
    confirmed, added, receipt = mailed(session, SENDER["doordash"])
    assert f"${placed['total']:.2f}" in confirmed["body"]
    assert "Sparkling water" in added["body"] and "Sparkling water" in receipt["body"]
    assert f"Total charged  ${changed['total']:.2f}" in receipt["body"]
    shown = await call_ok(session, "doordash", "get_dash", order_id=placed["order_id"])
    assert receipt["created_at"] == shown["arrived_at"]


async def test_a_gift_is_delivered_once_it_is_claimed_and_refunded_if_nobody_does(
    session: Session,
) -> None:
    gift = {
        "restaurant_id": at("doordash", 0, "hazel_hawthorne"),
        "items": coffee("doordash")["items"],
        "recipient_name": "Priya Nair",
        "gift_message": "Coffee is on me.",
        "payment_method_id": at("doordash", 4, "visa"),
    }
    told: dict[bool, list[Any]] = {}
    for number in range(30):
        phone = f"+1-503-555-01{number:02d}"
        sent = await call_ok(session, "doordash", "send_gift_order", recipient_phone=phone, **gift)
        claimed = claims(phone, sent["order_id"], START) is not None
        told.setdefault(claimed, []).append(sent["order_id"])
    session.pass_time(4 * DAY)
    letters = mailed(session, SENDER["doordash"])
    for claimed, ids in told.items():
        about = [mail["subject"] for mail in letters if ids[0] in mail["body"]]
        then = ["Priya Nair claimed your gift", "Your gift for Priya Nair was delivered"]
        never = ["Your gift for Priya Nair was not claimed"]
        assert about[1:] == (then if claimed else never)
    assert len(told) == 2 and len(subjects(session, SENDER["doordash"])) > 60


@both
async def test_a_refund_is_mailed_when_it_is_decided(session: Session, app: str) -> None:
    placed = await order(session, app)
    session.pass_time(3 * HOUR)
    cookie = {"item_id": at(app, 1, "hazel_hawthorne/oat-cookie"), "quantity": 1}
    missing = {"order_id": placed["order_id"], "items": [cookie]}
    tool = {"uber_eats": "report_order_missing_items", "doordash": "report_missing_items"}[app]
    asked = await call_ok(session, app, tool, **missing)
    session.pass_time(DAY)
    requested, refunded = mailed(session, SENDER[app], placed["order_id"])[-2:]
    assert asked["request_id"] in requested["body"]
    shown = await call_ok(session, app, GET[app], order_id=placed["order_id"])
    assert refunded["created_at"] == asked["decision_by"] == shown["refund"]["at"]
    assert f"${shown['refund']['amount']:.2f} of" in refunded["body"]
