"""What brokers mail: now and at the moments that come, as things stand by then."""

from __future__ import annotations

import pytest

from fault_profiles.model import parse
from servers.finance import _mail as mail
from servers.kit import future, posts
from servers.kit.session import Session
from tests.support import call_ok, new_session

pytestmark = pytest.mark.anyio

DAY = 86_400
BROKERS = ("fidelity", "vanguard", "robinhood")
FUND = {"fund_id": "MTMIX", "amount": 40}


def arrived(session: Session, about: str) -> list[str]:
    """Return the templates of the letters about a row that have arrived, oldest first."""
    rows = session.world.rows("outbox", "about=?", about, order="delivered_at, rowid")
    return [row["template"] for row in rows if row["delivered_at"]]


async def bought(session: Session) -> str:
    """Buy a fund after the market has closed, and return the order's id."""
    session.pass_time(12 * 3600)
    order_id = (await call_ok(session, "vanguard", "buy_fund", **FUND))["order_id"]
    session.pass_time(60)
    return order_id


async def test_a_fund_is_confirmed_when_it_has_its_price() -> None:
    session = new_session("vanguard", "gmail", "clock")
    order_id = await bought(session)
    assert arrived(session, order_id) == ["order_placed"]
    session.pass_time(4 * DAY)
    assert arrived(session, order_id) == ["order_placed", "order_filled"]
    order = await call_ok(session, "vanguard", "get_order", order_id=order_id)
    listed = await call_ok(session, "gmail", "search_emails", query="from:vanguard-mail MTMIX")
    found = listed["emails"][0]["email_id"]
    body = (await call_ok(session, "gmail", "get_email", email_id=found))["body"]
    assert f"Order number: {order_id}" in body
    assert f"Amount: ${order['executed_amount']:,.2f}" in body


async def test_a_cancelled_order_is_not_confirmed_and_one_whose_cancellation_is_undone_is() -> None:
    undone = {"on": "vanguard.cancel_order", "name": "undone", "seconds": 600}
    kept = {"order_placed", "order_cancelled"}
    for faults, came in (([], kept), ([undone], {*kept, "order_filled"})):
        listed = [parse({"revert_after_write": fault}) for fault in faults]
        session = new_session("vanguard", "gmail", "clock", faults=listed)
        order_id = await bought(session)
        await call_ok(session, "vanguard", "cancel_order", order_id=order_id)
        session.pass_time(4 * DAY)
        assert set(arrived(session, order_id)) == came


async def test_an_alert_is_mailed_when_it_triggers_unless_it_was_removed() -> None:
    session = new_session("robinhood", "gmail", "clock")
    terms = {"symbol": "SMPK", "target_price": 66, "direction": "below"}
    kept = (await call_ok(session, "robinhood", "set_price_alert", **terms))["alert_id"]
    gone = (await call_ok(session, "robinhood", "set_price_alert", **terms))["alert_id"]
    session.pass_time(60)
    assert arrived(session, kept) == []
    await call_ok(session, "robinhood", "remove_price_alert", alert_id=gone)
    session.pass_time(20 * DAY)
    assert arrived(session, kept) == ["alert_triggered"]
    assert arrived(session, gone) == []


async def test_a_month_ends_with_statements_and_every_letter_can_be_written() -> None:
    session = new_session(*BROKERS, "gmail", "clock")
    await call_ok(session, "robinhood", "instant_deposit", amount=50)
    await call_ok(session, "robinhood", "withdraw_to_bank", amount=5)
    await call_ok(session, "fidelity", "deposit_funds", amount=20)
    session.pass_time(45 * DAY)
    rows = session.world.rows("outbox", order="rowid")
    sent = {row["provider"] for row in rows if row["template"] == "statement"}
    assert sent == set(BROKERS)
    for row in rows:
        known = posts.templates(row["provider"])
        letter = posts.made(
            known,
            row["template"],
            row["data"],
            to=row["recipient"],
            at=0,
            about=row["about"],
            person=future.person(session.world),
        )
        assert "None" not in letter.body
        assert "{" not in letter.subject + letter.body


def test_figures_are_written_as_people_read_them() -> None:
    assert mail.quantity("stock", "SMPK", 200_000_000) == "2 shares"
    assert mail.quantity("etf", "TMKT", 100_000_000) == "1 share"
    assert mail.quantity("crypto", "BTCR", 1_250_000) == "0.0125 BTCR"
    assert mail.quantity("option", "SMPK", 10_000_000_000) == "1 contract"
    assert [mail.price(pips) for pips in (505_000, 123_456, 12_345_678)] == [
        "$50.50",
        "$12.3456",
        "$1,234.5678",
    ]
