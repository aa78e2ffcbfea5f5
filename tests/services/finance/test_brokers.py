"""What the brokers share: cash, holds and settlement, orders, time, and the people's pasts."""

from __future__ import annotations

import pytest

from servers.finance import _market as market
from servers.finance._brokerage import held_at
from servers.finance.fidelity._model import WORDS as FIDELITY
from servers.finance.robinhood._model import WORDS as ROBINHOOD
from servers.finance.robinhood.service import Robinhood
from servers.finance.vanguard._model import WORDS as VANGUARD
from servers.kit.control import make_id
from servers.kit.service import Ids
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.services.finance.support import ROWS, cash, of, until
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
MONDAY_OPEN = "2026-03-16T13:30:00Z"


@pytest.fixture
def session() -> Session:
    return new_session("robinhood", "fidelity", "vanguard")


# -- orders and the clock -------------------------------------------------------------------------


async def test_a_weekend_market_order_holds_money_until_it_fills_at_the_opening(
    session: Session,
) -> None:
    before = await cash(session)
    order = await call_ok(
        session, "robinhood", "place_trade", symbol="orbx", side="buy", quantity=2
    )
    assert order["status"] == "pending"
    assert order["filled_price"] is None
    assert order["expires_at"] == "2026-03-16T20:00:00Z"
    last = market.price(ROWS["ORBX"], session.control.now)
    held = await cash(session)
    assert held["cash_balance"] == before["cash_balance"]
    assert before["buying_power"] - held["buying_power"] == int(2 * cents(last) * 1.05)
    until(session, MONDAY_OPEN)
    done = await call_ok(session, "robinhood", "get_trade", order_id=order["order_id"])
    ask = market.spread(ROWS["ORBX"], market.price(ROWS["ORBX"], parse_time(MONDAY_OPEN)))[1]
    assert (done["status"], done["filled_at"], done["filled_price"]) == ("filled", MONDAY_OPEN, ask)
    after = await cash(session)
    assert before["cash_balance"] - after["cash_balance"] == cents(done["filled_amount"])
    assert cents(done["filled_amount"]) == 2 * cents(ask)
    assert after["held_for_orders"] == before["held_for_orders"]


async def test_a_market_order_in_the_session_fills_at_the_quote(session: Session) -> None:
    until(session, "2026-03-16T15:00:05Z")
    quote = await call_ok(session, "robinhood", "get_asset_quote", symbol="SMPK")
    bought = await call_ok(
        session, "robinhood", "place_trade", symbol="SMPK", side="buy", quantity=0.5
    )
    sold = await call_ok(session, "fidelity", "place_order", symbol="DVQL", side="sell", quantity=1)
    assert bought["status"] == "filled"
    assert bought["filled_price"] == quote["ask"] > quote["current_price"]
    other = await call_ok(session, "fidelity", "get_stock_quote", symbol="DVQL")
    assert sold["filled_price"] == other["bid"] and sold["commission"] == 0.0
    reply = await call_ok(session, "fidelity", "get_stock_quote", symbol="SMPK")
    assert reply["last_price"] == quote["current_price"], "all brokers have the same price"


async def test_proceeds_can_be_spent_at_once_and_withdrawn_once_settled(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    before = await cash(session)
    sold = await call_ok(
        session, "robinhood", "place_trade", symbol="TMKT", side="sell", quantity=1
    )
    after = await cash(session)
    proceeds = cents(sold["filled_amount"])
    assert after["buying_power"] == before["buying_power"] + proceeds
    assert after["withdrawable_cash"] == before["withdrawable_cash"]
    assert after["unsettled_funds"] == proceeds
    error = await call_refused(
        session,
        "robinhood",
        "withdraw_to_bank",
        amount=(before["withdrawable_cash"] + proceeds) / 100,
    )
    assert error["code"] == "INSUFFICIENT_SETTLED_CASH"
    assert error["unsettled"] == sold["filled_amount"]
    until(session, "2026-03-17T13:30:00Z")
    sent = await call_ok(
        session,
        "robinhood",
        "withdraw_to_bank",
        amount=(before["withdrawable_cash"] + proceeds) / 100,
    )
    assert sent["estimated_arrival"] == "2026-03-19T13:30:00Z"
    assert (await cash(session))["withdrawable_cash"] == 0


async def test_a_limit_order_fills_at_its_limit_or_better_when_the_market_gets_there(
    session: Session,
) -> None:
    row = ROWS["SMPK"]
    opened = parse_time(MONDAY_OPEN)
    closed = parse_time("2026-03-16T20:00:00Z")
    asks = [market.spread(row, market.price(row, m))[1] for m in range(opened + 60, closed, 60)]
    limit = sorted(asks)[len(asks) // 20]
    order = await call_ok(
        session,
        "robinhood",
        "place_trade",
        symbol="SMPK",
        side="buy",
        quantity=1,
        order_type="limit",
        limit_price=limit,
    )
    until(session, "2026-03-16T20:00:00Z")
    done = await call_ok(session, "robinhood", "get_trade", order_id=order["order_id"])
    assert done["status"] == "filled"
    assert done["filled_price"] <= limit
    assert opened <= parse_time(done["filled_at"]) <= closed
    cheap = await call_ok(
        session,
        "robinhood",
        "place_trade",
        symbol="SMPK",
        side="buy",
        quantity=1,
        order_type="limit",
        limit_price=min(asks) / 2,
    )
    until(session, "2026-03-18T12:00:00Z")
    lapsed = await call_ok(session, "robinhood", "get_trade", order_id=cheap["order_id"])
    assert lapsed["status"] == "canceled"
    assert lapsed["canceled_at"] == "2026-03-17T20:00:00Z", "the order was good for the day"
    error = await call_refused(session, "robinhood", "cancel_trade", order_id=cheap["order_id"])
    assert error["code"] == "ORDER_NOT_CANCELABLE" and error["status"] == "expired"


async def test_a_canceled_order_releases_its_hold_and_never_fills(session: Session) -> None:
    before = await cash(session)
    order = await call_ok(
        session, "robinhood", "place_trade", symbol="ORBX", side="buy", quantity=3
    )
    gone = await call_ok(session, "robinhood", "cancel_trade", order_id=order["order_id"])
    assert gone["status"] == "canceled"
    assert gone["filled_quantity"] == 0.0
    assert await cash(session) == before
    until(session, "2026-03-16T15:00:00Z")
    assert "ORBX" not in (await call_ok(session, "robinhood", "get_portfolio"))["holdings"]
    trades = (await call_ok(session, "robinhood", "list_trades", status="canceled"))["trades"]
    assert trades[0]["order_id"] == order["order_id"]


async def test_a_stop_sells_when_the_price_falls_to_it(session: Session) -> None:
    until(session, "2026-03-16T14:00:00Z")
    row = ROWS["VNTA"]
    start = session.control.now
    last = market.price(row, start)
    low = min(market.price(row, m) for m in range(start, start + 20 * 86_400, 600))
    stop = round(low + 0.02, 2)
    assert low < stop < last
    args = {
        "symbol": "VNTA",
        "side": "sell",
        "quantity": 2,
        "order_type": "stop",
        "time_in_force": "gtc",
    }
    wrong = await call_refused(
        session, "robinhood", "place_trade", **args, stop_price=round(last * 1.1, 2)
    )
    assert wrong["code"] == "INVALID_STOP_PRICE" and "below" in wrong["hint"]
    order = await call_ok(session, "robinhood", "place_trade", **args, stop_price=stop)
    session.pass_time(20 * 86_400)
    done = await call_ok(session, "robinhood", "get_trade", order_id=order["order_id"])
    assert done["status"] == "filled" and done["filled_price"] <= stop


async def test_shares_reserved_by_one_sale_cannot_be_sold_again(session: Session) -> None:
    first = await call_ok(
        session, "robinhood", "place_trade", symbol="VNTA", side="sell", quantity=3
    )
    error = await call_refused(
        session, "robinhood", "place_trade", symbol="VNTA", side="sell", quantity=2
    )
    assert error["code"] == "INSUFFICIENT_SHARES" and error["available"] == 1.0
    await call_ok(session, "robinhood", "cancel_trade", order_id=first["order_id"])
    reply = await call_ok(
        session, "robinhood", "place_trade", symbol="VNTA", side="sell", quantity=4
    )
    assert reply["status"] == "pending"


async def test_invalid_orders_are_refused_in_the_providers_words(session: Session) -> None:
    order = {"symbol": "SMPK", "side": "buy", "quantity": 1}
    for args, code in (
        (order | {"order_type": "limit"}, "LIMIT_PRICE_REQUIRED"),
        (order | {"order_type": "stop"}, "STOP_PRICE_REQUIRED"),
        (order | {"limit_price": 60}, "INVALID_ORDER_TYPE"),
        (order | {"order_type": "limit", "limit_price": 60, "quantity": 0.5}, "INVALID_QUANTITY"),
        (order | {"quantity": 0.1234567}, "INVALID_QUANTITY"),
        (order | {"quantity": 500}, "INSUFFICIENT_BUYING_POWER"),
        (order | {"symbol": "SMPX"}, "STOCK_NOT_FOUND"),
        (order | {"symbol": "HLXA"}, "TRADING_HALTED"),
        (order | {"symbol": "NWSP"}, "SECURITY_DELISTED"),
    ):
        error = await call_refused(session, "robinhood", "place_trade", **args)
        assert error["code"] == code and error["hint"], (args, error)
    error = await call_refused(session, "robinhood", "place_trade", **order | {"symbol": "SMPX"})
    assert "'SMPK'" in error["message"]
    error = await call_refused(session, "fidelity", "place_order", **order | {"symbol": "SMPX"})
    assert error["code"] == "SECURITY_NOT_FOUND"
    error = await call_refused(session, "vanguard", "get_stock_quote", fund_id="SMPK")
    assert error["code"] == "FUND_NOT_FOUND"


async def test_one_long_step_of_time_does_the_same_as_many_short_ones(session: Session) -> None:
    walking = new_session("robinhood", "fidelity", "vanguard")
    for each in (session, walking):
        await call_ok(
            each,
            "robinhood",
            "setup_recurring_investment",
            symbol="CSPL",
            amount=12,
            frequency="biweekly",
        )
        await call_ok(
            each, "vanguard", "setup_auto_invest", fund_id="MTBIX", amount=15, frequency="weekly"
        )
        sale = {
            "symbol": "CSPL",
            "side": "sell",
            "quantity": 1,
            "order_type": "limit",
            "limit_price": 64.2,
            "time_in_force": "gtc",
        }
        # The sale fills after the ex-date of March 31.
        await call_ok(each, "robinhood", "place_trade", **sale)
        each.control.advance(parse_time("2026-03-14T16:10:00Z") - each.control.now)
    for _ in range(70):
        walking.pass_time(86_400)
    session.pass_time(70 * 86_400)
    for service, tool, args in (
        ("robinhood", "list_trades", {"limit": 100}),
        ("robinhood", "get_dividends", {}),
        ("fidelity", "list_dividends", {}),
        ("fidelity", "get_positions", {}),
        ("vanguard", "list_orders", {"limit": 100}),
        ("vanguard", "get_dividend_history", {}),
        ("vanguard", "list_accounts", {}),
    ):
        leapt = await call_ok(session, service, tool, **args)
        walked = await call_ok(walking, service, tool, **args)
        assert leapt == walked, (service, tool)
    reply = await call_ok(session, "robinhood", "get_dividends")
    paid = next(d for d in reply["dividends"] if d["ex_date"] == "2026-03-31")
    assert paid["symbol"] == "CSPL" and paid["shares"] > 1
    holdings = (await call_ok(session, "robinhood", "get_portfolio"))["holdings"]
    assert holdings["CSPL"]["quantity"] < 1


async def test_repeated_reads_agree(session: Session) -> None:
    for service, tool, args in (
        ("robinhood", "get_asset_quote", {"symbol": "TMKT"}),
        ("fidelity", "get_positions", {}),
        ("vanguard", "get_rebalance_preview", {}),
    ):
        first = await call_ok(session, service, tool, **args)
        assert await call_ok(session, service, tool, **args) == first


# -- people's pasts ------------------------------------------------------------------------------


async def test_mayas_trades_and_contributions_have_the_dates_of_her_life(session: Session) -> None:
    first = await call_ok(
        session, "robinhood", "get_trade", order_id=make_id("rho", "maya", "robinhood_start")
    )
    assert first["amount_in_dollars"] == 500.0
    assert first["created_at"] == "2025-06-06T01:30:00Z"
    assert first["filled_at"] == "2025-06-06T13:30:00Z"
    sold = await call_ok(
        session, "robinhood", "get_trade", order_id=make_id("rho", "maya", "robinhood_sell")
    )
    assert sold["side"] == "sell"
    assert sold["filled_at"] == "2025-11-12T18:40:00Z"
    assert sold["filled_amount"] == 140.0
    paid = (await call_ok(session, "fidelity", "list_transfers"))["transfers"]
    assert [(t["amount"], t["tax_year"]) for t in paid[:2]] == [(300.0, 2026), (250.0, 2025)]
    listed = (await call_ok(session, "robinhood", "list_trades", limit=100))["trades"]
    assert {t["status"] for t in listed} >= {"filled", "pending", "canceled"} and len(listed) > 45


async def test_eleanor_draws_on_an_ira_and_keeps_the_money_for_the_roof() -> None:
    session = of("eleanor")
    rmd = await call_ok(session, "vanguard", "get_rmd_status")
    assert (rmd["withdrawn_this_year"], rmd["deadline"]) == (4000.0, "2026-12-31")
    worked = await call_ok(session, "vanguard", "calculate_rmd")
    assert (worked["age"], worked["life_expectancy_factor"]) == (74, 25.5)
    assert cents(worked["rmd_amount"]) == round(cents(worked["account_balance"]) / 25.5)
    assert round(cents(worked["account_balance"]) / 25.5) == cents(rmd["last_calculated_rmd"])
    assert cents(rmd["remaining"]) == cents(rmd["last_calculated_rmd"]) - 400_000
    reply = await call_ok(session, "fidelity", "list_dividends")
    paid = [d for d in reply["dividends"] if d["pay_date"] == "2026-02-12"]
    assert [(d["symbol"], d["amount"], d["status"]) for d in paid] == [("PLCR", 186.42, "paid")]
    roof = await call_ok(
        session, "fidelity", "get_order", order_id=make_id("fdo", "eleanor", "fidelity_sell")
    )
    assert roof["filled_value"] == 3500.0
    assert (await cash(session, "fidelity"))["cash_available_to_withdraw"] >= 350_000
    stuck = await call_refused(
        session, "fidelity", "place_order", symbol="NWSP", side="sell", quantity=100
    )
    assert stuck["code"] == "SECURITY_DELISTED"


async def test_rafaels_episode_starts_on_an_exchange_holiday() -> None:
    session = of("rafael")
    waiting = (await call_ok(session, "robinhood", "list_trades", status="pending"))["trades"]
    assert waiting[0]["order_id"] == make_id("rho", "rafael", "trno-friday")
    assert waiting[0]["expires_at"] == "2026-06-22T20:00:00Z"
    reply = await call_ok(session, "robinhood", "get_asset_quote", symbol="TRNO")
    assert reply["market_open"] is False
    reply = await call_ok(session, "robinhood", "get_crypto_quote", symbol="BTCR")
    assert reply["market_open"] is True
    paid = (await call_ok(session, "vanguard", "list_contributions"))["contributions"]
    college = [c for c in paid if c["amount"] == 150.0]
    assert len(college) == 6
    assert college[0]["made_at"] == "2026-06-02T02:10:00Z", (
        "an evening in Texas, on the first of the month"
    )
    sep = (await call_ok(session, "fidelity", "list_transfers"))["transfers"][0]
    assert sep["amount"] == 2000.0
    assert sep["tax_year"] == 2025
    assert sep["requested_at"] == "2026-04-14T17:10:00Z"
    reply = await call_ok(session, "robinhood", "list_transfers")
    failed = [t for t in reply["transfers"] if t["status"] == "failed"]
    assert [t["failure"] for t in failed] == ["R01_INSUFFICIENT_FUNDS"]
    until(session, "2026-06-22T13:30:00Z")
    trade = await call_ok(session, "robinhood", "get_trade", order_id=waiting[0]["order_id"])
    assert trade["filled_at"] == "2026-06-22T13:30:00Z"


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_no_account_was_ever_overdrawn(name: str) -> None:
    session = of(name)
    svc = Robinhood(session.world, session.control.now, Ids(str, lambda p, n: p, []))
    days = [
        *range(parse_time("2025-06-02T20:00:00Z"), session.control.now, 86_400),
        session.control.now,
    ]
    for words in (ROBINHOOD, FIDELITY, VANGUARD):
        query = f"SELECT DISTINCT account_id FROM {words.tables}_transfers"
        for (account_id,) in session.world.sql(query):
            for balance, held in held_at(svc, words, account_id, days):
                assert balance >= 0, (words.tables, account_id)
                assert all(units > 0 for units in held.values()), (words.tables, account_id)
