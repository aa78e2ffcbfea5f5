"""What is paid elsewhere stands in the accounts: purchases, rides, stays and transfers."""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import cents, dollars, iso
from servers.travel.booking.stays import BOOKED as STAY
from tests.services.food_delivery.support import CANCEL
from tests.services.food_delivery.support import order as order_food
from tests.services.ridesharing.support import AIRPORT, request, row, until
from tests.services.shopping.support import EASTPORT, add, order, see, slots
from tests.support import at, call_ok, new_session

pytestmark = pytest.mark.anyio

DAY = 86_400
CHECKING = "4421"
"""The account behind the Visa that ends in 7754."""
AMEX = "1009"
"""The card that pays for rides with Lyft."""
VENMO_CARD = "4000 0000 0009 6158"


async def held(session: Session, last4: str = CHECKING) -> int:
    """Return the cents in one of Maya's accounts, or the free credit of a card."""
    sources = (await call_ok(session, "venmo", "list_funding_sources"))["sources"]
    source = next(one for one in sources if one["last4"] == last4)
    return cents(source["available_credit"] if source["balance"] is None else source["balance"])


async def total_of(session: Session, shop: str, placed: dict[str, Any]) -> int:
    """Return what an order cost, in cents."""
    return (await see(session, shop, placed["order_id"]))["total"]


async def test_a_purchase_lowers_the_account_behind_its_card_and_a_refund_raises_it() -> None:
    session = new_session("amazon", "venmo", "zelle")
    before = await held(session)
    await add(session, "amazon", "kettle-glass")
    placed = await order(session, "amazon")
    total = await total_of(session, "amazon", placed)
    assert await held(session) == before - total
    banks = (await call_ok(session, "zelle", "list_enrolled_banks"))["banks"]
    assert dollars(before - total) in [bank["balance"] for bank in banks]
    undo = {"order_id": placed["order_id"], "reason": "Not needed"}
    await call_ok(session, "amazon", "cancel_order", **undo)
    assert await held(session) == before


async def test_what_is_paid_with_a_credit_card_takes_its_credit() -> None:
    session = new_session("booking", "venmo", "gmail")
    cards = (await call_ok(session, "booking", "list_payment_methods"))["payment_methods"]
    amex = next(card for card in cards if card["last4"] == "1009")
    before = await held(session, "1009")
    paid = {**STAY.args, "payment_method_id": amex["payment_method_id"]}
    guest = {"guest_name": "Tom Lindqvist", "guest_email": "maya.lindqvist@fernhill.design"}
    made = await call_ok(session, "booking", "create_booking", **paid | guest)
    assert before - await held(session, "1009") == cents(made["charged_at_booking"]) > 0
    await call_ok(session, "booking", "cancel_booking", booking_id=made["booking_id"])
    assert await held(session, "1009") == before


async def test_the_venmo_card_shows_what_was_bought_with_it_elsewhere() -> None:
    session = new_session("amazon", "venmo")
    saved = await call_ok(
        session,
        "amazon",
        "add_payment_method",
        card_number=VENMO_CARD,
        expiration_date="01/29",
        cvv="123",
        billing_address="2318 SE Alder Street, Portland",
    )
    wallet = (await call_ok(session, "venmo", "get_balance"))["balance"]
    await add(session, "amazon", "kettle-glass")
    method = saved["payment_method_id"]
    placed = await call_ok(
        session, "amazon", "place_order", payment_method_id=method, address_id=at("aza", "home")
    )
    total = await total_of(session, "amazon", placed)
    shown = await call_ok(session, "venmo", "get_debit_card_transactions", limit=1)
    newest = shown["purchases"][0]
    assert newest["merchant"] == "Amazon.com" and newest["category"] == "shopping"
    assert newest["at"] == placed["placed_at"] and cents(newest["amount"]) == total
    left = (await call_ok(session, "venmo", "get_balance"))["balance"]
    assert cents(wallet) - cents(left) == total


async def test_a_ride_is_charged_when_it_ends_and_a_tip_when_it_is_given() -> None:
    session = new_session("lyft", "venmo")
    ride = await request(session, "lyft", AIRPORT)
    ends_at = row(session, ride, "lyft_rides")["ends_at"]
    before = await held(session, AMEX)
    until(session, ends_at)
    total = cents((await call_ok(session, "lyft", "get_trip", ride_id=ride))["total_charged"])
    assert before - await held(session, AMEX) == total > 0
    for tip in (3, 5):
        await call_ok(session, "lyft", "add_gratuity", ride_id=ride, amount=tip)
    assert before - await held(session, AMEX) == total + 500


@pytest.mark.parametrize("app", ["uber_eats", "doordash"])
async def test_a_delivery_is_charged_and_a_canceled_one_is_given_back(app: str) -> None:
    session = new_session(app, "venmo")
    before = await held(session)
    placed = await order_food(session, app)
    assert before - await held(session) == cents(placed["total"])
    gone = {"order_id": placed["order_id"], "reason": "Plans have changed"}
    reply = await call_ok(session, app, CANCEL[app], **gone)
    assert before - await held(session) == cents(reply["fee"])


async def test_what_nobody_collects_is_given_back_when_it_is_no_longer_held() -> None:
    session = new_session("walmart", "zelle", "venmo")
    before = await held(session)
    await add(session, "walmart", "detergent", 2, fulfillment_type="pickup", store_id=EASTPORT)
    slot = (await slots(session))[0]
    placed = await order(session, "walmart", pickup_slot_id=slot["slot_id"])
    total = await total_of(session, "walmart", placed)
    assert before - await held(session) == total
    session.pass_time(9 * DAY)
    entries = session.world.rows("payments_entries", "ref=?", placed["order_id"], order="rowid")
    assert [entry["amount"] for entry in entries] == [-total, total]


async def test_a_transfer_leaves_the_bank_for_the_broker_and_comes_back() -> None:
    session = new_session("robinhood", "venmo")
    before = await held(session)
    await call_ok(session, "robinhood", "instant_deposit", amount=200)
    assert await held(session) == before - 20_000
    sent = await call_ok(session, "robinhood", "withdraw_to_bank", amount=40)
    assert await held(session) == before - 20_000
    until(session, sent["estimated_arrival"])
    entries = session.world.rows("payments_entries", "ref=?", sent["transfer_id"])
    assert [entry["amount"] for entry in entries] == [4_000]


def entries_ahead(*names: str) -> list[tuple[str, str, int, str]]:
    """Return what others enter in the accounts in the weeks after the start, except their ids."""
    session = new_session(*names)
    session.pass_time(50 * DAY)
    since = iso(session.control.now - 50 * DAY)
    rows = session.world.rows("payments_entries", "at>? AND what NOT LIKE 'zelle%'", since)
    return sorted((row["at"], row["ref"], row["amount"], row["what"]) for row in rows)


async def test_money_moves_the_same_whichever_services_an_episode_offers() -> None:
    alone = entries_ahead("venmo")
    assert alone
    assert alone == entries_ahead("venmo", "amazon", "uber", "gmail", "vanguard")
