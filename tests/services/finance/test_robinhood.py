"""What is particular to Robinhood: instant deposits, coins, options, fractions."""

from __future__ import annotations

from datetime import date

import pytest

from servers.finance import _market as market
from servers.finance import _options as options
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.services.finance.support import ROWS, cash, until
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
END = date(2026, 4, 17)


@pytest.fixture
def session() -> Session:
    return new_session("robinhood")


# -- money ----------------------------------------------------------------------------------------


async def test_a_thousand_dollars_of_deposits_can_be_spent_at_once(session: Session) -> None:
    before = await cash(session)
    first = await call_ok(session, "robinhood", "instant_deposit", amount=700)
    assert first["instant_available"] == 700.0
    assert first["pending"] == 0.0
    assert first["clears_at"] == "2026-03-18T13:30:00Z"
    second = await call_ok(session, "robinhood", "instant_deposit", amount=500)
    assert (second["instant_available"], second["pending"]) == (300.0, 200.0)
    between = await cash(session)
    assert between["buying_power"] == before["buying_power"] + 100_000
    assert between["withdrawable_cash"] == before["withdrawable_cash"], (
        "none of it can be withdrawn yet"
    )
    until(session, "2026-03-18T13:30:00Z")
    after = await cash(session)
    bought = 2_500  # the weekly purchase on Monday
    assert after["buying_power"] == before["buying_power"] + 120_000 - bought
    assert before["buying_power"] + 120_000 - bought == after["withdrawable_cash"]
    newest = (await call_ok(session, "robinhood", "list_transfers", limit=2))["transfers"]
    assert {t["status"] for t in newest} == {"completed"}


async def test_spent_credit_cannot_be_withdrawn_too(session: Session) -> None:
    free = (await cash(session))["buying_power"]
    await call_ok(session, "robinhood", "instant_deposit", amount=1000)
    await call_ok(
        session, "robinhood", "buy_crypto", symbol="BTCR", amount_in_dollars=(free + 99_000) / 100
    )
    assert (await cash(session))["withdrawable_cash"] == 0
    error = await call_refused(session, "robinhood", "withdraw_to_bank", amount=20)
    assert error["code"] == "INSUFFICIENT_SETTLED_CASH" and error["available"] == 0.0


async def test_a_repeated_reference_places_no_second_order(session: Session) -> None:
    args = {"symbol": "ORBX", "side": "buy", "quantity": 1, "ref_id": "my-order-0001"}
    one, two = [await call_ok(session, "robinhood", "place_trade", **args) for _ in range(2)]
    assert one["order_id"] == two["order_id"]
    trades = (await call_ok(session, "robinhood", "list_trades", status="pending"))["trades"]
    assert len(trades) == 2
    error = await call_refused(session, "robinhood", "place_trade", **args | {"symbol": "VNTA"})
    assert error["code"] == "REF_ID_REUSED" and error["order_id"] == one["order_id"]


async def test_the_parts_of_the_portfolio_add_up_and_its_history_ends_there(
    session: Session,
) -> None:
    whole = await call_ok(session, "robinhood", "get_portfolio")
    parts = sum(
        cents(whole[k]) for k in ("total_value", "crypto_value", "options_value", "cash_balance")
    )
    assert cents(whole["account_value"]) == parts
    assert cents(whole["total_value"]) == sum(
        cents(h["current_value"]) for h in whole["holdings"].values()
    )
    coins = await call_ok(session, "robinhood", "get_crypto_portfolio")
    assert coins["total_value"] == whole["crypto_value"]
    assert set(coins["holdings"]) == {"BTCR", "ETRC", "ETRN"}
    for span, least in (
        ("day", 13),
        ("week", 5),
        ("month", 20),
        ("3month", 60),
        ("year", 40),
        ("all", 35),
    ):
        reply = await call_ok(session, "robinhood", "get_portfolio_history", span=span)
        points = reply["data_points"]
        assert len(points) >= least
        assert [p["timestamp"] for p in points] == sorted({p["timestamp"] for p in points})
        assert points[-1]["value"] == pytest.approx(whole["account_value"], abs=1), (
            "coin prices change every second"
        )


async def test_a_dividend_is_pending_until_its_pay_date_and_then_cash(session: Session) -> None:
    newest = (await call_ok(session, "robinhood", "get_dividends"))["dividends"][0]
    assert newest["symbol"] == "TMKT"
    assert newest["status"] == "pending"
    assert newest["pay_date"] == "2026-03-27"
    assert cents(newest["amount"]) == round(newest["shares"] * newest["rate_per_share"] * 100)
    until(session, "2026-03-27T13:29:00Z")
    before = await cash(session)
    until(session, "2026-03-27T13:31:00Z")
    assert (await cash(session))["cash_balance"] == before["cash_balance"] + cents(newest["amount"])
    dividends = (await call_ok(session, "robinhood", "get_dividends"))["dividends"]
    assert dividends[0]["status"] == "paid"


# -- coins and fractions --------------------------------------------------------------------------


async def test_coins_are_bought_at_the_ask_and_sold_at_the_bid_on_a_saturday(
    session: Session,
) -> None:
    quote = await call_ok(session, "robinhood", "get_crypto_quote", symbol="etrn")
    before = await cash(session)
    bought = await call_ok(session, "robinhood", "buy_crypto", symbol="ETRN", amount_in_dollars=50)
    assert bought["status"] == "filled"
    assert bought["filled_price"] == quote["ask"]
    assert bought["amount"] == 50.0
    sold = await call_ok(
        session, "robinhood", "sell_crypto", symbol="ETRN", quantity=bought["quantity"]
    )
    assert sold["filled_price"] == quote["bid"]
    assert cents(sold["proceeds"]) == round(bought["quantity"] * quote["bid"] * 100)
    after = await cash(session)
    assert after["withdrawable_cash"] == after["buying_power"]
    assert after["buying_power"] == before["buying_power"] - 5000 + cents(sold["proceeds"])
    listed = (await call_ok(session, "robinhood", "list_trades", limit=2))["trades"]
    assert [t["order_id"] for t in listed] == [sold["order_id"], bought["order_id"]]
    error = await call_refused(
        session, "robinhood", "buy_crypto", symbol="SMPK", amount_in_dollars=5
    )
    assert error["code"] == "STOCK_NOT_FOUND"
    error = await call_refused(session, "robinhood", "sell_crypto", symbol="SLVN", quantity=1)
    assert error["code"] == "INSUFFICIENT_SHARES"


async def test_an_order_in_dollars_never_costs_more(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    order = await call_ok(
        session,
        "robinhood",
        "place_fractional_order",
        symbol="NVLT",
        amount_in_dollars=33.33,
        side="buy",
    )
    assert order["status"] == "filled"
    assert 33.32 <= order["filled_amount"] <= 33.33
    assert order["quantity"] < 0.1
    error = await call_refused(
        session,
        "robinhood",
        "place_fractional_order",
        symbol="NVLT",
        amount_in_dollars=0.5,
        side="buy",
    )
    assert error["minimum"] == 1.0
    error = await call_refused(
        session,
        "robinhood",
        "place_fractional_order",
        symbol="CSPL",
        amount_in_dollars=500,
        side="sell",
    )
    assert error["code"] == "INSUFFICIENT_SHARES"


# -- options --------------------------------------------------------------------------------------


async def test_an_option_pays_out_its_exercise_value_at_expiration(session: Session) -> None:
    row = ROWS["SMPK"]
    expiry = "2026-04-17"
    until(session, "2026-03-16T15:00:00Z")
    end = parse_time("2026-04-17T20:00:00Z")
    reply = await call_ok(
        session, "robinhood", "get_options_chain", symbol="SMPK", expiration_date=expiry, limit=100
    )
    chain = reply["options"]
    final = market.price(row, end)
    right = "call" if final > market.price(row, session.control.now) else "put"
    of_type = [o for o in chain if o["option_type"] == right]
    affordable = [o for o in of_type if o["ask"] < 3.5]
    best = max(affordable, key=lambda o: options.exercise_value(row, END, right, o["strike"]))
    before = await cash(session)
    args = {
        "symbol": "SMPK",
        "option_type": right,
        "strike_price": best["strike"],
        "expiration_date": expiry,
        "quantity": 1,
    }
    order = await call_ok(session, "robinhood", "place_options_order", **args, order_type="market")
    assert order["status"] == "filled"
    assert order["premium"] == best["ask"]
    assert order["total"] == round(best["ask"] * 100, 2)
    held = (await call_ok(session, "robinhood", "get_options_positions"))["positions"]
    assert len(held) == 1
    assert held[0]["quantity"] == 1.0
    assert held[0]["current_value"] == round(held[0]["current_premium"] * 100, 2)
    portfolio = await call_ok(session, "robinhood", "get_portfolio")
    assert portfolio["options_value"] == held[0]["current_value"]
    until(session, "2026-04-18T00:00:00Z")
    assert (await call_ok(session, "robinhood", "get_options_positions"))["positions"] == []
    closed = (await call_ok(session, "robinhood", "list_options_orders"))["orders"][0]
    worth = options.exercise_value(row, END, right, best["strike"])
    assert (closed["placed_by"], closed["side"], closed["premium"]) == ("expiration", "sell", worth)
    later = await cash(session)
    dividends = (await call_ok(session, "robinhood", "get_dividends"))["dividends"]
    recent = [d for d in dividends if d["pay_date"] > "2026-03-16"]
    paid = [d for d in recent if d["status"] == "paid"]
    trades = (await call_ok(session, "robinhood", "list_trades"))["trades"]
    recent = [t for t in trades if t["created_at"] > "2026-03-17"]
    runs = [t for t in recent if t["investment_id"]]
    moved = sum(cents(d["amount"]) for d in paid) - sum(cents(t["filled_amount"]) for t in runs)
    assert len(paid) >= 1 and len(runs) == 4
    assert (
        later["cash_balance"]
        == before["cash_balance"] - cents(order["total"]) + cents(worth) * 100 + moved
    )


async def test_options_orders_must_match_the_chain_and_wait_for_the_session(
    session: Session,
) -> None:
    chain = await call_ok(session, "robinhood", "get_options_chain", symbol="SMPK")
    assert chain["expirations"][0] == "2026-03-20"
    assert {o["expiry"] for o in chain["options"]} == {"2026-03-20"}
    args = {
        "symbol": "SMPK",
        "option_type": "call",
        "strike_price": 75,
        "expiration_date": "2026-04-17",
        "quantity": 1,
    }
    order = args | {"order_type": "limit", "limit_price": 1.5}
    error = await call_refused(
        session, "robinhood", "place_options_order", **order | {"strike_price": 75.25}
    )
    assert error["code"] == "STRIKE_NOT_FOUND"
    error = await call_refused(
        session, "robinhood", "place_options_order", **order | {"expiration_date": "2026-04-18"}
    )
    assert error["code"] == "EXPIRATION_NOT_FOUND" and "2026-04-17" in error["hint"]
    error = await call_refused(
        session, "robinhood", "place_options_order", **args, order_type="limit"
    )
    assert error["code"] == "LIMIT_PRICE_REQUIRED"
    error = await call_refused(session, "robinhood", "get_options_chain", symbol="BWTR")
    assert error["code"] == "OPTIONS_NOT_AVAILABLE"
    before = await cash(session)
    placed = await call_ok(session, "robinhood", "place_options_order", **order)
    assert placed["status"] == "pending"
    assert before["buying_power"] - (await cash(session))["buying_power"] == 15_000
    await call_ok(session, "robinhood", "cancel_trade", order_id=placed["order_id"])
    assert await cash(session) == before


# -- by the clock ---------------------------------------------------------------------------------


async def test_a_recurring_investment_runs_and_can_be_canceled(session: Session) -> None:
    investment = await call_ok(
        session,
        "robinhood",
        "setup_recurring_investment",
        symbol="CSPL",
        amount=30,
        frequency="daily",
    )
    assert investment["next_execution"] == "2026-03-16T14:00:00Z" and investment["order_ids"] == []
    until(session, "2026-03-18T15:00:00Z")
    plan = (await call_ok(session, "robinhood", "list_recurring_investments"))["investments"][0]
    assert len(plan["order_ids"]) == 3 and plan["next_execution"] == "2026-03-19T14:00:00Z"
    run = await call_ok(session, "robinhood", "get_trade", order_id=plan["order_ids"][0])
    assert run["status"] == "filled"
    assert run["filled_at"] == "2026-03-18T14:00:00Z"
    assert run["investment_id"] == investment["investment_id"]
    assert 29.99 <= run["filled_amount"] <= 30
    await call_ok(
        session,
        "robinhood",
        "cancel_recurring_investment",
        investment_id=investment["investment_id"],
    )
    until(session, "2026-03-20T15:00:00Z")
    stopped = (await call_ok(session, "robinhood", "list_recurring_investments"))["investments"][0]
    assert stopped["order_ids"] == plan["order_ids"]
    assert (stopped["status"], stopped["next_execution"]) == ("canceled", None)
    again = await call_refused(
        session,
        "robinhood",
        "cancel_recurring_investment",
        investment_id=investment["investment_id"],
    )
    assert again["code"] == "INVESTMENT_ALREADY_CANCELED"


async def test_a_run_without_money_fails_but_the_next_one_is_tried(session: Session) -> None:
    investment = await call_ok(
        session,
        "robinhood",
        "setup_recurring_investment",
        symbol="LCPX",
        amount=300,
        frequency="weekly",
    )
    until(session, "2026-03-16T15:00:00Z")
    first, *_ = (await call_ok(session, "robinhood", "list_trades", status="filled"))["trades"]
    assert first["investment_id"] == investment["investment_id"]
    until(session, "2026-03-23T15:00:00Z")
    failed = (await call_ok(session, "robinhood", "list_trades", status="failed"))["trades"]
    assert [f["reject_reason"] for f in failed] == ["INSUFFICIENT_BUYING_POWER"]
    assert failed[0]["filled_quantity"] == 0.0
    await call_ok(session, "robinhood", "instant_deposit", amount=900)
    until(session, "2026-03-30T15:00:00Z")
    done = (await call_ok(session, "robinhood", "list_trades", limit=10))["trades"]
    assert [t["status"] for t in done if t["investment_id"] == investment["investment_id"]] == [
        "filled",
        "failed",
        "filled",
    ]


async def test_an_alert_triggers_when_the_price_reaches_its_target(session: Session) -> None:
    reply = await call_ok(session, "robinhood", "list_price_alerts")
    alerts = {a["symbol"]: a for a in reply["alerts"]}
    assert alerts["VNTA"]["status"] == "triggered" and alerts["SMPK"]["status"] == "active"
    assert market.price(ROWS["VNTA"], parse_time(alerts["VNTA"]["triggered_at"])) >= 19.0
    assert market.price(ROWS["VNTA"], parse_time(alerts["VNTA"]["triggered_at"]) - 60) < 19.0
    error = await call_refused(
        session, "robinhood", "set_price_alert", symbol="SMPK", target_price=100, direction="below"
    )
    assert error["code"] == "INVALID_TARGET_PRICE" and error["current_price"] == 70.14
    moment = session.control.now + 5 * 86_400
    target = market.price(ROWS["BTCR"], moment)
    way = "above" if target > market.price(ROWS["BTCR"], session.control.now) else "below"
    alert = await call_ok(
        session, "robinhood", "set_price_alert", symbol="BTCR", target_price=target, direction=way
    )
    assert alert["status"] == "active" and alert["triggered_at"] is None
    session.pass_time(5 * 86_400)
    listed = (await call_ok(session, "robinhood", "list_price_alerts"))["alerts"]
    assert listed[0]["status"] == "triggered"
    await call_ok(session, "robinhood", "remove_price_alert", alert_id=alert["alert_id"])
    gone = await call_refused(
        session, "robinhood", "remove_price_alert", alert_id=alert["alert_id"]
    )
    assert gone["code"] == "ALERT_NOT_FOUND"


async def test_themed_lists_follow_the_market(session: Session) -> None:
    reply = await call_ok(session, "robinhood", "list_collections")
    listed = {c["collection_name"]: c["stock_count"] for c in reply["collections"]}
    assert listed["Crypto"] == 8 and listed["New Listings"] == 1 and listed["Utilities"] == 4
    shown = await call_ok(
        session, "robinhood", "get_themed_collection", collection_name="dividend payers"
    )
    assert len(shown["stocks"]) == shown["stock_count"] == listed["Dividend Payers"] > 5
    error = await call_refused(
        session, "robinhood", "get_themed_collection", collection_name="Dividend Payer"
    )
    assert "'Dividend Payers'" in error["message"]


async def test_the_watchlist_keeps_its_order_and_holds_each_symbol_once(session: Session) -> None:
    reply = await call_ok(session, "robinhood", "add_to_collection", symbol="tmkt")
    assert reply["watchlist_size"] == 4
    reply = await call_ok(session, "robinhood", "get_collection")
    names = [r["symbol"] for r in reply["watchlist"]]
    assert names == ["TMKT", "PXGV", "VNTA", "ORBX"]
    error = await call_refused(session, "robinhood", "remove_from_collection", symbol="SMPK")
    assert error["code"] == "NOT_IN_WATCHLIST"
    page = await call_ok(session, "robinhood", "get_collection", limit=3)
    session.pass_time(2 * 86_400)
    rest = await call_ok(
        session, "robinhood", "get_collection", limit=3, cursor=page["next_cursor"]
    )
    assert [r["symbol"] for r in rest["watchlist"]] == ["ORBX"], (
        "a cursor survives a change of prices"
    )


async def test_seeded_recurring_orders_are_listed_with_their_investment(session: Session) -> None:
    plans = (await call_ok(session, "robinhood", "list_recurring_investments"))["investments"]
    index = next(p for p in plans if p["investment_id"] == make_id("rhi", "maya", "index"))
    for order_id in index["order_ids"]:
        trade = await call_ok(session, "robinhood", "get_trade", order_id=order_id)
        assert trade["placed_by"] == "recurring"
