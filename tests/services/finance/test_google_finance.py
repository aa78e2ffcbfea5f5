"""Google Finance: charts by window, sectors, and tracking portfolios."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from servers.kit.values import cents
from tests.services.finance.market_support import MONDAY_NOON, SERVICES, ask, refusal, until
from tests.support import at, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session(*SERVICES)


async def test_a_chart_ends_at_the_present_price_and_begins_where_its_window_does(
    session: Session,
) -> None:
    until(session, "2026-03-17T17:10:00Z")
    quote = await ask(session, "get_google_quote", symbol="STMK")
    charts = {}
    for window in ("1D", "5D", "1M", "6M", "1Y"):
        charts[window] = await ask(session, "get_google_price_chart", symbol="STMK", window=window)
    points = {window: chart["points"] for window, chart in charts.items()}
    assert {of_window[-1]["price"] for of_window in points.values()} == {quote["price"]}
    assert charts["1D"]["change"] == quote["change"]
    assert points["1D"][0]["time"] == "2026-03-17T13:30:00Z"
    assert points["5D"][0]["time"] == "2026-03-11T13:30:00Z"
    assert points["1M"][0]["time"][:10] == "2026-02-17"
    assert 52 <= len(points["1Y"]) <= 54 and len(points["6M"]) > 120
    times = [p["time"] for p in points["1Y"]]
    assert times == sorted(times)
    compared = await ask(
        session,
        "compare_google_stocks",
        symbols=["STMK", "PXGV"],
        metrics=["return_1m", "price"],
    )
    returns = compared["comparison"]
    assert returns[0] == {
        "symbol": "STMK",
        "name": "Streamlark Media",
        "return_1m": returns[0]["return_1m"],
        "price": quote["price"],
    }
    same = await refusal(session, "compare_google_stocks", symbols=["STMK", "stmk"])
    assert same["code"] == "INVALID_ARGUMENT"


async def test_a_sector_moves_with_its_stocks_weighed_by_market_value(session: Session) -> None:
    until(session, MONDAY_NOON)
    shown = await ask(session, "get_google_sector_performance", sector="Utilities")
    sector = shown["sectors"][0]
    now = 0.0
    before = 0.0
    assert [s["symbol"] for s in shown["stocks"]] == ["CSPL", "LMSA", "SLGS", "BWTR"]
    for stock in shown["stocks"]:
        quote = await ask(session, "get_google_quote", symbol=stock["symbol"])
        now += quote["market_cap"]
        before += quote["market_cap"] / quote["price"] * quote["previous_close"]
    assert sector["day_change_percent"] == pytest.approx((now / before - 1) * 100, abs=0.006)
    assert sector["market_cap"] == pytest.approx(now, rel=1e-3)
    assert sector["advancing"] + sector["declining"] <= 4
    assert len((await ask(session, "get_google_sector_performance"))["sectors"]) == 10


async def test_a_portfolios_gain_is_that_of_its_purchases_to_the_cent(session: Session) -> None:
    until(session, MONDAY_NOON)
    created = await ask(session, "create_google_portfolio", name="Trial")
    one = {"portfolio_id": created["portfolio_id"], "symbol": "ORBX"}
    quote = await ask(session, "get_google_quote", symbol="ORBX")
    early = {"shares": 3.333, "purchase_price": 58.125, "purchase_date": "2026-03-12"}
    await ask(session, "add_to_google_portfolio", **one, **early)
    late = {"symbol": "orbx", "shares": 2, "purchase_price": quote["price"]}
    await ask(session, "add_to_google_portfolio", **one | late)
    portfolio = await ask(session, "get_google_portfolio", portfolio_id=one["portfolio_id"])
    holding = portfolio["holdings"][0]
    lots = holding["lots"]
    cost = 19373 + 2 * cents(quote["price"])
    worth = round(3.333 * quote["price"] * 100) + 2 * cents(quote["price"])
    assert cents(portfolio["total_cost"]) == cents(holding["cost_basis"]) == cost
    assert cents(portfolio["total_value"]) == worth
    assert cents(holding["gain_loss"]) == worth - cost
    assert sum(cents(lot["gain_loss"]) for lot in lots) == worth - cost
    day_gain = pytest.approx(3.333 * quote["change"], abs=0.011)
    assert holding["day_gain"] == day_gain, "a lot bought today counts from its purchase price"
    assert holding["shares"] == 5.333
    assert [lot["purchase_date"] for lot in lots] == ["2026-03-12", "2026-03-16"]
    await ask(session, "remove_from_google_portfolio", **one, lot_id=lots[0]["lot_id"])
    portfolio = await ask(session, "get_google_portfolio", portfolio_id=one["portfolio_id"])
    assert cents(portfolio["total_cost"]) == 2 * cents(quote["price"])
    await ask(session, "remove_from_google_portfolio", **one)
    error = await refusal(session, "remove_from_google_portfolio", **one)
    assert error["code"] == "HOLDING_NOT_FOUND"


async def test_a_purchase_must_have_been_possible(session: Session) -> None:
    tool = "add_to_google_portfolio"
    lot = {"portfolio_id": at("gfp", "robinhood"), "symbol": "CSPL", "shares": 1}
    cheap = await refusal(session, tool, **lot, purchase_price=50)
    assert cheap["code"] == "PRICE_OUT_OF_RANGE"
    assert cheap["low"] > 60 and cheap["purchase_date"] == "2026-03-13"
    for day in ("2026-03-14", "2026-03-16", "2011-06-01"):
        error = await refusal(session, tool, **lot, purchase_price=63, purchase_date=day)
        assert error["code"] == "INVALID_PURCHASE_DATE"
        assert error["latest_trading_day"] == "2026-03-13"
    error = await refusal(session, "create_google_portfolio", name=" robinhood ")
    assert error["code"] == "PORTFOLIO_EXISTS"


async def test_mayas_tracked_portfolio_differs_from_what_she_holds(session: Session) -> None:
    portfolio = await ask(session, "get_google_portfolio", portfolio_id=at("gfp", "robinhood"))
    tracked = {h["symbol"]: h["shares"] for h in portfolio["holdings"]}
    holdings = (await ask(session, "get_portfolio"))["holdings"]
    held = {symbol: h["quantity"] for symbol, h in holdings.items()}
    assert tracked["CSPL"] == 2 and held["CSPL"] == 1
    assert held["VNTA"] == 4 and "VNTA" not in tracked
    assert tracked["SMPK"] == held["SMPK"] == 1
