"""What is particular to Fidelity: tax lots, baskets, research, fees, several kinds of alerts."""

from __future__ import annotations

from datetime import date

import pytest

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.services.finance.support import ROWS, cash, of, until
from tests.support import call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio
BASKET = make_id("fdb", "maya", "dividends")


@pytest.fixture
def session() -> Session:
    return new_session("fidelity")


# -- lots -----------------------------------------------------------------------------------------


async def test_a_sale_takes_the_oldest_lots_unless_lots_are_named(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    lots = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    assert [lot["shares"] for lot in lots] == [0.8, 0.9, 0.7, 1.0]
    assert [lot["acquired_date"] for lot in lots] == sorted(lot["acquired_date"] for lot in lots)
    await call_ok(session, "fidelity", "place_order", symbol="TMKT", side="sell", quantity=1)
    left = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    assert [(lot["lot_id"], lot["shares"]) for lot in left] == [
        (lots[1]["lot_id"], 0.7),
        (lots[2]["lot_id"], 0.7),
        (lots[3]["lot_id"], 1.0),
    ]
    assert cents(left[0]["cost_basis"]) == pytest.approx(
        cents(lots[1]["cost_basis"]) * 7 / 9, abs=1
    )
    named = [lots[3]["lot_id"], lots[2]["lot_id"]]
    sold = await call_ok(
        session, "fidelity", "place_order", symbol="TMKT", side="sell", quantity=1.2, lot_ids=named
    )
    assert sold["lot_ids"] == named
    rest = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    assert [(lot["lot_id"], lot["shares"]) for lot in rest] == [
        (lots[1]["lot_id"], 0.7),
        (lots[2]["lot_id"], 0.5),
    ]
    reply = await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT", include_sold=True)
    every = reply["lots"]
    assert [(lot["lot_id"], lot["shares_bought"]) for lot in every] == [
        (lot["lot_id"], lot["shares"]) for lot in lots
    ]
    assert [lot["shares"] for lot in every] == [0.0, 0.7, 0.5, 0.0]


async def test_lots_that_do_not_match_the_order_are_refused(session: Session) -> None:
    lots = (await call_ok(session, "fidelity", "get_tax_lots", symbol="TMKT"))["lots"]
    order = {"symbol": "TMKT", "side": "sell", "quantity": 1}
    short = await call_refused(
        session, "fidelity", "place_order", **order, lot_ids=[lots[0]["lot_id"]]
    )
    assert short["code"] == "INSUFFICIENT_LOT_SHARES" and short["available"] == 0.8
    twice = await call_refused(
        session, "fidelity", "place_order", **order, lot_ids=[lots[0]["lot_id"]] * 2
    )
    assert twice["code"] == "INSUFFICIENT_LOT_SHARES", "a lot named twice counts once"
    other = (await call_ok(session, "fidelity", "get_tax_lots", symbol="DVQL"))["lots"][0]["lot_id"]
    error = await call_refused(session, "fidelity", "place_order", **order, lot_ids=[other])
    assert error["code"] == "LOT_NOT_FOUND"
    buy = await call_refused(
        session, "fidelity", "place_order", **order | {"side": "buy"}, lot_ids=[lots[0]["lot_id"]]
    )
    assert buy["code"] == "INVALID_LOT_SELECTION"


async def test_positions_are_the_sum_of_their_lots_and_lots_turn_long_term(
    session: Session,
) -> None:
    held = (await call_ok(session, "fidelity", "get_positions"))["positions"]
    for symbol, position in held.items():
        lots = (await call_ok(session, "fidelity", "get_tax_lots", symbol=symbol))["lots"]
        assert sum(lot["shares"] for lot in lots) == pytest.approx(position["quantity"], abs=1e-9)
        assert sum(cents(lot["cost_basis"]) for lot in lots) == cents(position["cost_basis"])
    first = (await call_ok(session, "fidelity", "get_tax_lots", symbol="MRFFX"))["lots"][0]
    assert (first["acquired_date"], first["term"]) == ("2025-05-19", "short")
    until(session, "2026-05-19T16:00:00Z")
    listed = (await call_ok(session, "fidelity", "get_tax_lots", symbol="MRFFX"))["lots"]
    assert listed[0]["term"] == "short", "a year is not more than a year"
    until(session, "2026-05-20T16:00:00Z")
    reply = (await call_ok(session, "fidelity", "get_tax_lots", symbol="MRFFX"))["lots"]
    assert reply[0]["term"] == "long"


# -- funds, money ---------------------------------------------------------------------------------


async def test_a_fund_order_fills_at_the_net_asset_value_at_the_close(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    order = await call_ok(
        session, "fidelity", "place_order", symbol="MRFFX", side="buy", quantity=2
    )
    assert order["status"] == "open" and order["filled_price"] is None
    until(session, "2026-03-16T20:00:00Z")
    done = await call_ok(session, "fidelity", "get_order", order_id=order["order_id"])
    assert (done["status"], done["executed_at"]) == ("filled", "2026-03-16T20:00:00Z")
    assert done["filled_price"] == market.closing(
        ROWS["MRFFX"], calendar.last_session(session.control.now)
    )
    error = await call_refused(
        session,
        "fidelity",
        "place_order",
        symbol="MRFFX",
        side="buy",
        quantity=1,
        order_type="limit",
        limit_price=50,
    )
    assert error["code"] == "INVALID_ORDER_TYPE"


async def test_some_funds_have_a_minimum_and_a_fee() -> None:
    session = of("eleanor")
    small = await call_refused(
        session, "fidelity", "place_order", symbol="IRGRX", side="buy", quantity=5
    )
    assert small["code"] == "MINIMUM_INVESTMENT_NOT_MET" and small["minimum_investment"] == 2500.0
    before = await cash(session, "fidelity")
    order = await call_ok(
        session, "fidelity", "place_order", symbol="IRGRX", side="buy", quantity=40
    )
    assert order["commission"] == 49.95
    until(session, "2026-10-06T20:00:00Z")
    done = await call_ok(session, "fidelity", "get_order", order_id=order["order_id"])
    after = await cash(session, "fidelity")
    assert before["cash_balance"] - after["cash_balance"] == cents(done["filled_value"]) + 4995
    assert after["committed_to_open_orders"] == 0


async def test_a_deposit_counts_when_it_arrives_and_a_wire_arrives_first(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    before = await cash(session, "fidelity")
    slow = await call_ok(session, "fidelity", "deposit_funds", amount=200, method="ach")
    assert slow["status"] == "pending" and slow["estimated_available"] == "2026-03-18T13:30:00Z"
    assert (await cash(session, "fidelity"))["buying_power"] == before["buying_power"]
    fast = await call_ok(session, "fidelity", "deposit_funds", amount=150, method="wire")
    assert fast["status"] == "completed"
    assert (await cash(session, "fidelity"))["buying_power"] == before["buying_power"] + 15_000
    error = await call_refused(session, "fidelity", "deposit_funds", amount=50, method="wire")
    assert error["code"] == "AMOUNT_TOO_SMALL"
    until(session, "2026-03-18T13:30:00Z")
    assert (await cash(session, "fidelity"))["buying_power"] == before["buying_power"] + 35_000


async def test_a_deposit_into_an_ira_is_a_contribution_with_a_limit(session: Session) -> None:
    first = await call_ok(session, "fidelity", "deposit_funds", amount=7200)
    assert first["tax_year"] == 2026, "300 of 7,500 were contributed before"
    full = await call_refused(session, "fidelity", "deposit_funds", amount=0.01)
    assert full["code"] == "CONTRIBUTION_LIMIT_EXCEEDED"
    assert full["remaining"] == 0.0
    assert "2025" in full["hint"]
    reply = await call_ok(session, "fidelity", "deposit_funds", amount=100, tax_year=2025)
    assert reply["tax_year"] == 2025
    error = await call_refused(session, "fidelity", "deposit_funds", amount=10, tax_year=2024)
    assert error["code"] == "INVALID_TAX_YEAR"
    until(session, "2026-04-16T12:00:00Z")
    late = await call_refused(session, "fidelity", "deposit_funds", amount=10, tax_year=2025)
    assert late["code"] == "INVALID_TAX_YEAR" and late["hint"] == "tax_year may be 2026."
    taxable = await call_refused(
        of("eleanor"), "fidelity", "deposit_funds", amount=10, tax_year=2026
    )
    assert taxable["code"] == "NOT_A_RETIREMENT_ACCOUNT"


async def test_dividends_go_to_holders_before_the_ex_date(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    row = ROWS["DVQL"]
    ahead = figures.dividends(row, date(2026, 3, 17), date(2026, 7, 1))[0]
    opened = calendar.session(ahead.ex_date)[0]
    session.pass_time(opened - 60 - session.control.now)
    held = (await call_ok(session, "fidelity", "get_positions"))["positions"]["DVQL"]["quantity"]
    session.pass_time(120)
    await call_ok(session, "fidelity", "place_order", symbol="DVQL", side="sell", quantity=1)
    reply = await call_ok(session, "fidelity", "list_dividends")
    paid = next(d for d in reply["dividends"] if d["symbol"] == "DVQL")
    assert (paid["ex_date"], paid["status"]) == (ahead.ex_date.isoformat(), "declared")
    assert cents(paid["amount"]) == round(held * ahead.amount / 100)


# -- baskets --------------------------------------------------------------------------------------


async def test_a_basket_is_split_by_weight_to_the_cent(session: Session) -> None:
    until(session, "2026-03-16T15:00:00Z")
    bought = await call_ok(
        session, "fidelity", "trade_basket", basket_id=BASKET, total_amount=100.01, side="buy"
    )
    orders = [
        await call_ok(session, "fidelity", "get_order", order_id=o) for o in bought["order_ids"]
    ]
    assert [(o["symbol"], o["dollar_amount"]) for o in orders] == [
        ("CSPL", 40.01),
        ("HRVL", 35.0),
        ("DVQL", 25.0),
    ]
    assert all(o["status"] == "filled" and o["basket_id"] == BASKET for o in orders)
    shown = await call_ok(session, "fidelity", "get_basket", basket_id=BASKET)
    assert sum(p["weight_percent"] for p in shown["securities"]) == 100.0


async def test_a_basket_is_traded_completely_or_not_at_all(session: Session) -> None:
    listed = await call_ok(session, "fidelity", "list_orders")
    error = await call_refused(
        session, "fidelity", "trade_basket", basket_id=BASKET, total_amount=1000, side="buy"
    )
    assert error["code"] == "INSUFFICIENT_FUNDS"
    assert await call_ok(session, "fidelity", "list_orders") == listed
    held = (await call_ok(session, "fidelity", "get_positions"))["positions"]
    much = (
        held["HRVL"]["current_value"] * 3.5
    )  # there is enough of the others but too little of HRVL
    short = await call_refused(
        session,
        "fidelity",
        "trade_basket",
        basket_id=BASKET,
        total_amount=round(much, 2),
        side="sell",
    )
    assert short["code"] == "INSUFFICIENT_POSITION"


async def test_a_basket_needs_distinct_securities_that_add_up_to_100_percent(
    session: Session,
) -> None:
    def of_parts(*parts: tuple[str, float]) -> list[dict[str, object]]:
        return [{"symbol": s, "weight_percent": w} for s, w in parts]

    for parts, code in (
        (of_parts(("CSPL", 60), ("HRVL", 39.99)), "INVALID_WEIGHTS"),
        (of_parts(("CSPL", 60), ("cspl", 40)), "DUPLICATE_SYMBOL"),
        (of_parts(("CSPL", 60), ("MTMAX", 40)), "SECURITY_NOT_FOUND"),
        (of_parts(("CSPL", 33.333), ("HRVL", 66.667)), "INVALID_WEIGHTS"),
        (of_parts(("HLXA", 100)), "TRADING_HALTED"),
    ):
        error = await call_refused(
            session, "fidelity", "create_basket", name="Try", securities=parts
        )
        assert error["code"] == code
    thirds = of_parts(("CSPL", 33.33), ("HRVL", 33.33), ("DVQL", 33.34))
    basket = await call_ok(session, "fidelity", "create_basket", name="Thirds", securities=thirds)
    error = await call_refused(
        session, "fidelity", "create_basket", name="thirds", securities=thirds
    )
    assert error["code"] == "DUPLICATE_BASKET_NAME"
    await call_ok(session, "fidelity", "delete_basket", basket_id=basket["basket_id"])
    gone = await call_refused(
        session,
        "fidelity",
        "trade_basket",
        basket_id=basket["basket_id"],
        total_amount=30,
        side="buy",
    )
    assert gone["code"] == "BASKET_NOT_FOUND"
    reply = await call_ok(session, "fidelity", "get_basket", basket_id=basket["basket_id"])
    assert reply["status"] == "deleted", "its orders still refer to it"
    baskets = (await call_ok(session, "fidelity", "list_baskets"))["baskets"]
    assert [b["basket_id"] for b in baskets] == [BASKET]


# -- research and alerts --------------------------------------------------------------------------


async def test_reports_rank_a_stock_within_its_sector(session: Session) -> None:
    ranks = {}
    for symbol in ("CSPL", "SLGS", "BWTR", "LMSA"):
        report, rating = [
            await call_ok(session, "fidelity", tool, symbol=symbol)
            for tool in ("get_research_report", "get_analyst_rating")
        ]
        assert report["recommendation"] == rating["analyst_rating"]
        assert report["target_price"] == rating["target_price"]
        assert 1 <= report["risk_score"] <= 4 and report["sector_size"] == 4
        ranks[symbol] = report["sector_rank"]
    assert sorted(ranks.values()) == [1, 2, 3, 4]
    error = await call_refused(session, "fidelity", "get_research_report", symbol="TMKT")
    assert error["code"] == "RESEARCH_NOT_AVAILABLE"


async def test_funds_are_screened_by_cost_yield_and_sector(session: Session) -> None:
    reply = await call_ok(
        session, "fidelity", "screen_funds", max_expense_ratio=0.05, min_dividend_yield=3
    )
    cheap = reply["funds"]
    assert {f["symbol"] for f in cheap} == {"BNDT", "MTBAX", "STRY"}
    assert all(f["dividend_yield"] >= 3 for f in cheap)
    funds = (await call_ok(session, "fidelity", "screen_funds", sector="Energy"))["funds"]
    assert [f["symbol"] for f in funds] == ["NRGQ"]
    error = await call_refused(
        session, "fidelity", "screen_funds", min_expense_ratio=1, max_expense_ratio=0.5
    )
    assert error["code"] == "INVALID_RANGE"


async def test_search_matches_words_and_type(session: Session) -> None:
    named = await call_ok(session, "fidelity", "search_stocks", query="summit", limit=20)
    assert {s["symbol"] for s in named["securities"]} == {"SMPK", "SMRG", "SMTF"}
    funds = await call_ok(
        session, "fidelity", "search_stocks", query="index admiral", security_type="mutual_fund"
    )
    assert {s["symbol"] for s in funds["securities"]} == {"MTMAX", "MFHAX", "MTBAX", "MINAX"}
    optioned = await call_ok(
        session, "fidelity", "search_stocks", query="summit", security_type="option"
    )
    assert {s["symbol"] for s in optioned["securities"]} == {"SMPK", "SMRG"}
    reply = await call_ok(session, "fidelity", "search_stocks", query="newspring")
    securities = reply["securities"]
    assert securities == [], "no longer listed"


async def test_alerts_watch_prices_volumes_and_ratios(session: Session) -> None:
    alert = await call_ok(
        session,
        "fidelity",
        "set_stock_alert",
        symbol="SMPK",
        condition="price_below",
        threshold=900,
    )
    assert alert["status"] == "triggered", (
        "a condition that already holds triggers at once, even on a weekend"
    )
    until(session, "2026-03-16T15:00:00Z")
    volume = await call_ok(
        session,
        "fidelity",
        "set_stock_alert",
        symbol="SMPK",
        condition="volume_above",
        threshold=3_000_000,
    )
    ratio = await call_ok(
        session, "fidelity", "set_stock_alert", symbol="LUMR", condition="pe_below", threshold=10
    )
    assert volume["status"] == ratio["status"] == "active"
    session.pass_time(30 * 86_400)
    reply = await call_ok(session, "fidelity", "list_stock_alerts")
    shown = {a["alert_id"]: a for a in reply["alerts"]}
    assert shown[volume["alert_id"]]["status"] == "triggered"
    assert shown[ratio["alert_id"]]["status"] == "active", "without earnings there is no ratio"
    moment = parse_time(shown[volume["alert_id"]]["triggered_at"])
    row = ROWS["SMPK"]
    assert market.quote(row, moment).volume >= 3_000_000 > market.quote(row, moment - 120).volume
    session.pass_time(61 * 86_400)
    alerts = (await call_ok(session, "fidelity", "list_stock_alerts"))["alerts"]
    assert {a["alert_id"]: a["status"] for a in alerts}[ratio["alert_id"]] == "expired"
    odd = await call_refused(
        session, "fidelity", "set_stock_alert", symbol="TMKT", condition="pe_below", threshold=10
    )
    assert odd["code"] == "CONDITION_NOT_AVAILABLE"
    fine = await call_refused(
        session,
        "fidelity",
        "set_stock_alert",
        symbol="SMPK",
        condition="volume_above",
        threshold=1.5,
    )
    assert fine["code"] == "INVALID_THRESHOLD"
