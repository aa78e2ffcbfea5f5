"""Edge cases at the brokers: rounding to nothing, reserved lots, repeated references, fees."""

from __future__ import annotations

from datetime import date

import pytest

from servers.finance import _retirement as retirement
from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.finance.support import cash, of, until
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
MONDAY = "2026-03-16T15:00:00Z"


@pytest.fixture
def session() -> Session:
    return new_session("robinhood", "fidelity", "vanguard")


# -- what rounds to nothing -----------------------------------------------------------------------


async def test_a_dividend_too_small_for_any_share_is_paid_in_cash(session: Session) -> None:
    until(session, "2026-03-30T16:00:00Z")
    held = (await call_ok(session, "vanguard", "get_positions"))["positions"]["MTMIX"]["quantity"]
    await call_ok(session, "vanguard", "sell_fund", fund_id="MTMIX", shares=round(held - 0.05, 3))
    until(session, "2026-06-15T16:00:00Z")
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTMIX")
    paid = reply["dividends"][0]
    assert (paid["status"], paid["shares"]) == ("announced", 0.05)
    assert cents(paid["amount"]) > 0 and paid["reinvested"] is False
    await call_ok(session, "vanguard", "sell_fund", fund_id="MTMIX", shares=0.05)
    until(session, f"{paid['pay_date']}T13:00:00Z")
    before = await cash(session, "vanguard")
    until(session, f"{paid['pay_date']}T21:30:00Z")
    reply = await cash(session, "vanguard")
    assert reply["cash_balance"] == before["cash_balance"] + cents(paid["amount"])
    assert "MTMIX" not in (await call_ok(session, "vanguard", "get_positions"))["positions"]


async def test_a_purchase_must_cost_at_least_a_cent(session: Session) -> None:
    until(session, MONDAY)
    for service, tool in (("robinhood", "place_trade"), ("fidelity", "place_order")):
        error = await call_refused(
            session, service, tool, symbol="VNTA", side="buy", quantity=0.0001
        )
        assert error["code"] == "INVALID_QUANTITY" and "cent" in error["message"]
        reply = await call_ok(session, service, tool, symbol="VNTA", side="buy", quantity=0.001)
        assert reply["filled_quantity"] == 0.001


async def test_an_automatic_investment_is_at_least_a_dollar(session: Session) -> None:
    error = await call_refused(
        session, "vanguard", "setup_auto_invest", fund_id="MTBIX", amount=0.99, frequency="weekly"
    )
    assert error["code"] == "INVALID_AMOUNT" and error["minimum"] == 1.0


# -- orders ---------------------------------------------------------------------------------------


async def test_a_lot_is_reserved_for_one_sale_only(session: Session) -> None:
    lots = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    sale = {"symbol": "TMKT", "side": "sell"}
    first = lots[0]
    last = lots[3]
    await call_ok(
        session,
        "fidelity",
        "place_order",
        **sale,
        quantity=first["shares"],
        lot_ids=[first["lot_id"]],
    )
    error = await call_refused(
        session,
        "fidelity",
        "place_order",
        **sale,
        quantity=first["shares"],
        lot_ids=[first["lot_id"]],
    )
    assert error["code"] == "INSUFFICIENT_LOT_SHARES" and error["available"] == 0.0
    until(session, MONDAY)
    rest = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    assert [lot["lot_id"] for lot in rest] == [lot["lot_id"] for lot in lots[1:]]
    far = {
        "order_type": "limit",
        "limit_price": rest[0]["current_price"] * 2,
        "lot_ids": [lots[1]["lot_id"], last["lot_id"]],
    }
    await call_ok(session, "fidelity", "place_order", **sale, quantity=1, **far)
    await call_ok(session, "fidelity", "place_order", **sale, quantity=0.5)
    reply = await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT")
    left = {lot["lot_id"]: lot["shares"] for lot in reply["lots"]}
    assert left[lots[1]["lot_id"]] == lots[1]["shares"], (
        "the oldest lot waits for the sale that named it"
    )
    assert left[lots[2]["lot_id"]] == pytest.approx(lots[2]["shares"] - 0.5)


async def test_a_reference_cannot_be_reused_with_other_terms(session: Session) -> None:
    order = {
        "symbol": "ORBX",
        "side": "buy",
        "quantity": 1,
        "ref_id": "my-order-0002",
        "order_type": "limit",
        "limit_price": 40,
    }
    placed = await call_ok(session, "robinhood", "place_trade", **order)
    for other in ({"quantity": 2}, {"limit_price": 41}, {"time_in_force": "gtc"}):
        error = await call_refused(session, "robinhood", "place_trade", **order | other)
        assert error["code"] == "REF_ID_REUSED" and error["order_id"] == placed["order_id"]
    reply = await call_ok(session, "robinhood", "place_trade", **order)
    assert reply["order_id"] == placed["order_id"]


async def test_a_canceled_order_costs_no_commission() -> None:
    session = of("eleanor")
    before = await cash(session, "fidelity")
    placed = await call_ok(
        session, "fidelity", "place_order", symbol="IRGRX", side="buy", quantity=40
    )
    assert placed["commission"] == 49.95 and placed["status"] == "open"
    await call_ok(session, "fidelity", "cancel_order", order_id=placed["order_id"])
    order = await call_ok(session, "fidelity", "get_order", order_id=placed["order_id"])
    assert order["commission"] == 0.0
    assert await cash(session, "fidelity") == before


async def test_a_market_order_for_an_option_in_the_session_needs_only_its_price(
    session: Session,
) -> None:
    until(session, MONDAY)
    chain = await call_ok(
        session,
        "robinhood",
        "get_options_chain",
        symbol="SMPK",
        expiration_date="2026-04-17",
        limit=100,
    )
    best = max((o for o in chain["options"] if o["ask"] < 3.5), key=lambda o: o["ask"])
    power = (await cash(session))["buying_power"]
    await call_ok(
        session, "robinhood", "withdraw_to_bank", amount=(power - cents(best["ask"]) * 100) / 100
    )
    args = {
        "symbol": "SMPK",
        "option_type": best["option_type"],
        "strike_price": best["strike"],
        "expiration_date": "2026-04-17",
    }
    order = await call_ok(
        session, "robinhood", "place_options_order", **args, quantity=1, order_type="market"
    )
    assert order["status"] == "filled" and (await cash(session))["buying_power"] == 0


async def test_an_order_of_a_coin_as_a_stock_is_told_that_it_is_a_coin(session: Session) -> None:
    error = await call_refused(
        session, "robinhood", "place_trade", symbol="BTCR", side="buy", quantity=1
    )
    assert error["code"] == "STOCK_NOT_FOUND"
    assert error["message"] == "BTCR is a coin, not a stock or ETF."


# -- plans ----------------------------------------------------------------------------------------


async def test_a_purchase_counts_only_once_it_is_executed(session: Session) -> None:
    start = (await call_ok(session, "vanguard", "list_auto_investments"))["investments"][0]
    until(session, "2026-03-23T15:00:00Z")
    order = (await call_ok(session, "vanguard", "list_orders", limit=1))["orders"][0]
    assert (order["investment_id"], order["status"]) == (start["investment_id"], "pending")
    await call_ok(session, "vanguard", "cancel_order", order_id=order["order_id"])
    until(session, "2026-03-23T21:00:00Z")
    investments = (await call_ok(session, "vanguard", "list_auto_investments"))["investments"]
    assert investments[0]["purchases_made"] == start["purchases_made"]


async def test_spare_cash_goes_into_a_held_etf_if_no_fund_can_be_bought() -> None:
    session = of("rafael")
    preview = await call_ok(session, "vanguard", "get_rebalance_preview")
    assert [(t["action"], t["fund_id"]) for t in preview["suggested_trades"]] == [("buy", "TMKT")]
    await call_ok(session, "vanguard", "execute_rebalance")
    assert (await cash(session, "vanguard"))["buying_power"] >= 0
    until(session, "2026-06-22T15:00:00Z")
    after = await call_ok(session, "vanguard", "get_rebalance_preview")
    assert after["current_allocation"]["stocks_percent"] == pytest.approx(85, abs=1)
    error = await call_refused(session, "vanguard", "execute_rebalance")
    assert error["code"] == "NOTHING_TO_REBALANCE" and "minimum" in error["hint"]


async def test_distributions_start_at_75_for_people_born_in_1960_or_later(session: Session) -> None:
    distribution = await call_ok(session, "vanguard", "calculate_rmd")
    assert distribution["first_rmd_year"] == 1991 + 75
    older = await call_ok(
        session, "vanguard", "calculate_rmd", birth_date="1953-12-31", account_balance=26500
    )
    assert (older["first_rmd_year"], older["rmd_amount"]) == (2026, 1000.0)
    young = date(1960, 1, 1)
    assert retirement.rmd(74, 100_000, retirement.first_rmd_age(young)) == (None, 0)
    assert retirement.deadline(2035, young) == date(2036, 4, 1)
    assert retirement.deadline(2033, young) == date(2033, 12, 31)


async def test_a_failed_withdrawal_never_arrives_and_a_canceled_reinvestment_stays_cash(
    session: Session,
) -> None:
    held = (await cash(session, "vanguard"))["cash_balance"] / 100
    await call_ok(session, "vanguard", "withdraw", amount=held)
    await call_ok(
        session,
        "vanguard",
        "schedule_rmd_withdrawal",
        amount=500,
        frequency="annually",
        start_date="2026-03-18",
    )
    until(session, "2026-03-18T15:00:00Z")
    failed = (await call_ok(session, "vanguard", "list_withdrawals"))["withdrawals"][0]
    assert (failed["status"], failed["estimated_arrival"]) == ("failed", None)
    until(session, "2026-04-06T14:00:00Z")
    before = await cash(session, "vanguard")
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTBIX")
    paid = reply["dividends"][0]
    assert paid["reinvested"] is True
    await call_ok(session, "vanguard", "cancel_order", order_id=paid["order_id"])
    reply = await call_ok(session, "vanguard", "get_dividend_history", fund_id="MTBIX")
    dividends = reply["dividends"]
    assert dividends[0]["reinvested"] is False
    until(session, "2026-04-06T21:00:00Z")
    reply = await cash(session, "vanguard")
    assert reply["cash_balance"] == before["cash_balance"] >= cents(paid["amount"])


async def test_spaces_around_a_baskets_name_do_not_count(session: Session) -> None:
    parts = [{"symbol": "CSPL", "weight_percent": 100}]
    for name, code in (
        ("Steady dividends ", "DUPLICATE_BASKET_NAME"),
        ("  ", "INVALID_BASKET_NAME"),
    ):
        error = await call_refused(
            session, "fidelity", "create_basket", name=name, securities=parts
        )
        assert error["code"] == code
