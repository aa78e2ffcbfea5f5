"""What makes Alpha Vantage, Google Finance and Yahoo Finance unlike each other, and that they look at one market."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from servers.finance.alpha_vantage import _indicators as indicators
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests import support
from tests.support import at, call_refused, new_session, pages

pytestmark = pytest.mark.anyio
DAY = 86_400
MONDAY_NOON = "2026-03-16T16:00:00Z"


@pytest.fixture
def session() -> Session:
    return new_session("alpha_vantage", "google_finance", "yahoo_finance", "robinhood")


def until(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)


def owner(tool: str) -> str:
    """Return the service that a tool belongs to; its name tells."""
    services = {"alpha": "alpha_vantage", "google": "google_finance", "yahoo": "yahoo_finance"}
    return next((s for word, s in services.items() if f"_{word}_" in tool), "robinhood")


async def call_ok(session: Session, tool: str, /, **args: Any) -> dict[str, Any]:
    return await support.call_ok(session, owner(tool), tool, **args)


async def all_pages(
    session: Session, tool: str, items: str, /, **args: Any
) -> list[dict[str, Any]]:
    return await pages(session, owner(tool), tool, items, **args)


# -- one market -----------------------------------------------------------------------------------------------------


async def test_google_and_yahoo_show_one_price_and_alpha_vantage_shows_it_fifteen_minutes_later(
    session: Session,
) -> None:
    until(session, MONDAY_NOON)
    google = await call_ok(session, "get_google_quote", symbol="NVLT")
    yahoo = await call_ok(session, "get_yahoo_live_quote", symbol="nvlt")
    assert (
        google["price"] == yahoo["regular_market_price"]
        and yahoo["market_state"] == "REGULAR"
        and google["market_state"] == "open"
    )
    assert (await call_ok(session, "get_asset_quote", symbol="NVLT"))["current_price"] == google[
        "price"
    ]
    assert (await call_ok(session, "get_alpha_global_quote", symbol="NVLT"))["price"] != google[
        "price"
    ]
    until(session, "2026-03-16T16:15:00Z")
    late = await call_ok(session, "get_alpha_global_quote", symbol="NVLT")
    assert (
        late["price"] == google["price"] and late["as_of"] == google["last_trade_at"] == MONDAY_NOON
    )
    assert (await call_ok(session, "get_google_quote", symbol="NVLT"))["price"] != late["price"]


async def test_halted_and_delisted_securities_keep_their_last_price_and_say_so(
    session: Session,
) -> None:
    halted = await call_ok(session, "get_yahoo_live_quote", symbol="HLXA")
    until(session, MONDAY_NOON)
    again = await call_ok(session, "get_google_quote", symbol="HLXA")
    assert again["price"] == halted["regular_market_price"] and again["market_state"] == "halted"
    assert halted["regular_market_time"] == again["last_trade_at"] == "2026-03-12T15:00:00Z"
    found = (await call_ok(session, "search_alpha_symbols", keywords="newspring"))["matches"]
    assert [(m["symbol"], m["status"]) for m in found] == [("NWSP", "delisted")]


async def test_searches_rank_the_symbol_first_and_filter_by_the_services_own_codes(
    session: Session,
) -> None:
    summits = (await call_ok(session, "search_google_tickers", query="summit"))["tickers"]
    assert {t["symbol"] for t in summits} == {"SMPK", "SMRG", "SMTF"}
    assert (await call_ok(session, "search_yahoo_tickers", query="orbx"))["quotes"][0][
        "short_name"
    ] == "Orbex Systems"
    coins = (await call_ok(session, "search_yahoo_tickers", exchange="CCC", limit=50))["quotes"]
    assert {c["quote_type"] for c in coins} == {"CRYPTOCURRENCY"} and len(coins) == 8
    assert (await call_ok(session, "search_alpha_symbols", asset_type="ETF", exchange="NASDAQ"))[
        "matches"
    ][0]["symbol"] == "BNDT"
    wrong = await call_refused(
        session, "google_finance", "get_google_quote", symbol="SMPK", exchange="NYSE"
    )
    assert (wrong["code"], wrong["exchange"]) == ("EXCHANGE_MISMATCH", "NASDAQ")
    assert (
        "'SMPK'"
        in (await call_refused(session, "yahoo_finance", "get_yahoo_live_quote", symbol="SMPKK"))[
            "message"
        ]
    )


async def test_all_three_quote_the_same_analysts_in_their_own_words(session: Session) -> None:
    alpha = await call_ok(session, "get_alpha_rating_snapshot", symbol="CSPL")
    google = await call_ok(session, "get_google_analyst_summary", symbol="CSPL")
    yahoo = await call_ok(session, "get_yahoo_recommendation_trend", symbol="CSPL")
    assert alpha["target_price"] == google["average_target"] == yahoo["target_mean_price"]
    assert (
        alpha["ratings"] == google["breakdown"]
        and list(alpha["ratings"].values()) == list(yahoo["trend"][0].values())[2:]
    )
    assert google["upside_percent"] == round(
        (google["average_target"] / google["price"] - 1) * 100, 2
    )
    assert (
        await call_refused(
            session, "yahoo_finance", "get_yahoo_recommendation_trend", symbol="BTCR"
        )
    )["code"] == "NO_ANALYST_COVERAGE"


async def test_screens_hold_what_meets_every_condition(session: Session) -> None:
    everything = await all_pages(session, "screen_google_equities", "results", limit=20)
    caps = [r["market_cap"] for r in everything]
    assert caps == sorted(caps, reverse=True) and "NWSP" not in {r["symbol"] for r in everything}
    wanted = {
        r["symbol"]
        for r in everything
        if r["sector"] == "Energy" and r["market_cap"] >= 2e10 and r["consensus"] == "buy"
    }
    args = {"sector": "Energy", "min_market_cap": 2e10, "analyst_rating": "buy"}
    assert (
        wanted
        and {
            r["symbol"] for r in (await call_ok(session, "screen_yahoo_equities", **args))["quotes"]
        }
        == wanted
    )
    assert {
        r["symbol"] for r in (await call_ok(session, "screen_alpha_equities", **args))["equities"]
    } == wanted


# -- Alpha Vantage --------------------------------------------------------------------------------------------------


def test_indicators_by_hand() -> None:
    assert indicators.sma([1, 2, 6, 4], 2) == [None, 1.5, 4, 5]
    assert indicators.ema([2, 4, 6, 8, 12], 3) == [None, None, 4, 6, 9]
    assert indicators.rsi([10, 11, 10, 12], 2) == [None, None, 50, pytest.approx(250 / 3)]
    assert indicators.bands([1, 3, 3], 2) == ([None, 4, 3], [None, 2, 3], [None, 0, 3])
    line, signal, rest = indicators.macd([float(n) for n in range(40)])
    # Upon a straight line an exponential mean over n bars stays (n - 1) / 2 behind: 12.5 - 5.5 = 7.
    assert (
        line[24:26] == [None, pytest.approx(7)]
        and signal[32:34] == [None, pytest.approx(7)]
        and rest[39] == pytest.approx(0)
    )
    k, d = indicators.stochastic([3, 4, 5, 5, 6, 6], [1, 2, 3, 3, 4, 2], [2, 4, 4, 3, 6, 3], 2)
    # Raw %K from the second bar on: 100, 66.67, 0, 100, 25.
    assert k == [None, None, None, *map(pytest.approx, (500 / 9, 500 / 9, 125 / 3))] and d[
        5
    ] == pytest.approx((1000 / 9 + 125 / 3) / 3)
    # Up moves 1, 0, 2 and down moves 0, 1, 0 over true ranges: smoothed to (0.5, 0.5), then (1.25, 0.25): 0 and 66.67.
    assert indicators.adx([2, 3, 3, 5], [1, 2, 1, 3], [2, 3, 2, 4], 2) == [
        None,
        None,
        None,
        pytest.approx(100 / 3),
    ]
    assert indicators.sma([1], 3) == [None] and indicators.adx([1], [1], [1], 5) == [None]


async def test_an_indicator_is_that_of_the_published_bars_and_keeps_its_past_values(
    session: Session,
) -> None:
    series = (await call_ok(session, "get_alpha_time_series", symbol="KYRA"))["series"]
    values = (
        await call_ok(
            session, "get_alpha_technical_indicator", symbol="KYRA", indicator="SMA", time_period=10
        )
    )["values"]
    assert values[0]["date"] == series[0]["date"] == "2026-03-13"
    assert values[3]["sma"] == pytest.approx(sum(b["close"] for b in series[3:13]) / 10, abs=1e-4)
    bars = {n: [b[n] for b in series[:60][::-1]] for n in ("high", "low", "close")}
    k = (
        await call_ok(
            session,
            "get_alpha_technical_indicator",
            symbol="KYRA",
            indicator="STOCH",
            time_period=5,
        )
    )["values"][0]
    assert k["slow_k"] == pytest.approx(
        indicators.stochastic(bars["high"], bars["low"], bars["close"], 5)[0][-1], abs=1e-4
    )
    before = (
        await call_ok(session, "get_alpha_technical_indicator", symbol="KYRA", indicator="ADX")
    )["values"]
    session.pass_time(5 * DAY)
    later = (
        await call_ok(session, "get_alpha_technical_indicator", symbol="KYRA", indicator="ADX")
    )["values"]
    assert later[0]["date"] == "2026-03-18" and before[0] in later
    few = await call_refused(
        session,
        "alpha_vantage",
        "get_alpha_technical_indicator",
        symbol="KYRA",
        indicator="RSI",
        interval="monthly",
    )
    assert few["code"] == "INSUFFICIENT_DATA" and few["bars"] == 7
    error = await call_refused(
        session,
        "alpha_vantage",
        "get_alpha_technical_indicator",
        symbol="KYRA",
        indicator="MACD",
        time_period=9,
    )
    assert error["code"] == "INVALID_TIME_PERIOD"


async def test_bars_are_end_of_day_and_add_up_to_weeks_and_months(session: Session) -> None:
    until(session, "2026-03-16T20:14:50Z")
    assert (await call_ok(session, "get_alpha_time_series", symbol="SMPK", limit=1))["series"][0][
        "date"
    ] == "2026-03-13"
    until(session, "2026-03-16T20:15:00Z")
    daily = (await call_ok(session, "get_alpha_time_series", symbol="SMPK"))["series"]
    assert daily[0]["date"] == "2026-03-16" and len(daily) == 100
    weekly = (await call_ok(session, "get_alpha_time_series", symbol="SMPK", interval="weekly"))[
        "series"
    ]
    assert (
        weekly[0]["date"] == "2026-03-16"
        and weekly[1]["date"] == "2026-03-13"
        and len(weekly) == 52
    )
    week = daily[1:6]
    assert weekly[1] == {
        "date": "2026-03-13",
        "open": week[-1]["open"],
        "high": max(b["high"] for b in week),
        "low": min(b["low"] for b in week),
        "close": week[0]["close"],
        "volume": sum(b["volume"] for b in week),
    }
    monthly = await call_ok(
        session,
        "get_alpha_time_series",
        symbol="SMPK",
        interval="monthly",
        outputsize="full",
        limit=2,
    )
    assert [b["date"] for b in monthly["series"]] == ["2026-03-16", "2026-02-27"] and monthly[
        "next_cursor"
    ]


async def test_a_figure_is_unknown_before_its_release_and_revised_by_later_ones(
    session: Session,
) -> None:
    early = (await call_ok(session, "get_alpha_economic_indicator", indicator="RETAIL_SALES"))[
        "data"
    ][0]
    assert (early["date"], early["vintage"], early["earlier_value"]) == (
        "2026-01-01",
        "advance",
        None,
    )
    listed = {
        i["indicator"]: i
        for i in (await call_ok(session, "list_alpha_economic_indicators"))["indicators"]
    }
    assert listed["RETAIL_SALES"]["next_release_at"] == "2026-03-16T12:30:00Z"
    until(session, "2026-03-16T12:29:50Z")
    assert (await call_ok(session, "get_alpha_economic_indicator", indicator="RETAIL_SALES"))[
        "data"
    ][0] == early
    until(session, "2026-03-16T12:30:00Z")
    new, revised = (
        await call_ok(session, "get_alpha_economic_indicator", indicator="RETAIL_SALES", limit=2)
    )["data"]
    assert (new["date"], new["vintage"]) == ("2026-02-01", "advance")
    assert (
        revised["vintage"] == "revised"
        and revised["earlier_value"] == early["value"] != revised["value"]
    )
    assert (await call_ok(session, "get_alpha_economic_indicator", indicator="GDP"))["data"][0][
        "vintage"
    ] == "second"
    session.pass_time(11 * DAY)
    assert (await call_ok(session, "get_alpha_economic_indicator", indicator="GDP"))["data"][0][
        "vintage"
    ] == "third"


async def test_yearly_inflation_follows_from_the_price_index(session: Session) -> None:
    index = await all_pages(
        session, "get_alpha_economic_indicator", "data", indicator="CPI", limit=100
    )
    latest = (await call_ok(session, "get_alpha_economic_indicator", indicator="INFLATION"))[
        "data"
    ][0]
    means = [
        sum(p["value"] for p in index if p["date"][:4] == year) / 12 for year in ("2024", "2025")
    ]
    assert latest["date"] == "2025-01-01" and latest["value"] == round(
        (means[1] / means[0] - 1) * 100, 2
    )


async def test_a_rumour_stands_until_it_is_denied_and_only_yahoo_marks_the_old_article(
    session: Session,
) -> None:
    story = "Summit Ridge Energy in takeover talks, sources say"

    async def told() -> tuple[dict[str, Any], list[str]]:
        yahoo = (await call_ok(session, "get_yahoo_company_news", symbol="SMRG", limit=20))["news"]
        google = (await call_ok(session, "get_google_company_news", symbol="SMRG", limit=20))[
            "articles"
        ]
        assert [a["title"] for a in yahoo] == [a["title"] for a in google]
        return next(a for a in yahoo if a["title"] == story), [a["title"] for a in google]

    before, titles = await told()
    assert before["correction"] is None and titles[0] == story
    assert (await call_ok(session, "get_alpha_news_sentiment", symbol="SMRG"))["feed"][0][
        "sentiment_label"
    ] == "Bullish"
    session.pass_time(5 * DAY)
    after, titles = await told()
    assert "no talks" in after["correction"]["note"] and after["article_id"] == before["article_id"]
    denial = titles.index("Summit Ridge Energy answers reports")
    assert denial < titles.index(story) and after["summary"] == before["summary"]


async def test_results_are_news_on_their_day_and_a_misprint_is_put_right_at_noon(
    session: Session,
) -> None:
    news = (await call_ok(session, "get_google_company_news", symbol="CSPL", limit=50))["articles"]
    day = [a for a in reversed(news) if a["timestamp"].startswith("2026-02-09")]
    assert [a["source"] for a in day] == ["Northwire", "Market Courier", "Market Courier"]
    assert (
        "$0.78" in day[0]["summary"]
        and "$0.68" in day[1]["summary"]
        and "$0.78 a share, not $0.68" in day[2]["summary"]
    )
    reports = (await call_ok(session, "get_yahoo_company_profile", symbol="CSPL"))["earnings"]
    assert next(e["eps_actual"] for e in reports if e["date"] == "2026-02-09") == 0.78


# -- Google Finance -------------------------------------------------------------------------------------------------


async def test_a_chart_ends_at_the_present_price_and_begins_where_its_window_does(
    session: Session,
) -> None:
    until(session, "2026-03-17T17:10:00Z")
    quote = await call_ok(session, "get_google_quote", symbol="STMK")
    charts = {
        w: await call_ok(session, "get_google_price_chart", symbol="STMK", window=w)
        for w in ("1D", "5D", "1M", "6M", "1Y")
    }
    assert {c["points"][-1]["price"] for c in charts.values()} == {quote["price"]}
    assert (
        charts["1D"]["change"] == quote["change"]
        and charts["1D"]["points"][0]["time"] == "2026-03-17T13:30:00Z"
    )
    assert (
        charts["5D"]["points"][0]["time"] == "2026-03-11T13:30:00Z"
        and charts["1M"]["points"][0]["time"][:10] == "2026-02-17"
    )
    assert 52 <= len(charts["1Y"]["points"]) <= 54 and len(charts["6M"]["points"]) > 120
    times = [p["time"] for p in charts["1Y"]["points"]]
    assert times == sorted(times)
    returns = (
        await call_ok(
            session,
            "compare_google_stocks",
            symbols=["STMK", "PXGV"],
            metrics=["return_1m", "price"],
        )
    )["comparison"]
    assert returns[0] == {
        "symbol": "STMK",
        "name": "Streamlark Media",
        "return_1m": returns[0]["return_1m"],
        "price": quote["price"],
    }
    same = await call_refused(
        session, "google_finance", "compare_google_stocks", symbols=["STMK", "stmk"]
    )
    assert same["code"] == "INVALID_ARGUMENT"


async def test_a_sector_moves_with_its_stocks_weighed_by_market_value(session: Session) -> None:
    until(session, MONDAY_NOON)
    shown = await call_ok(session, "get_google_sector_performance", sector="Utilities")
    sector = shown["sectors"][0]
    now = 0.0
    before = 0.0
    assert [s["symbol"] for s in shown["stocks"]] == ["CSPL", "LMSA", "SLGS", "BWTR"]
    for stock in shown["stocks"]:
        quote = await call_ok(session, "get_google_quote", symbol=stock["symbol"])
        now += quote["market_cap"]
        before += quote["market_cap"] / quote["price"] * quote["previous_close"]
    assert sector["day_change_percent"] == pytest.approx((now / before - 1) * 100, abs=0.006)
    assert (
        sector["market_cap"] == pytest.approx(now, rel=1e-3)
        and sector["advancing"] + sector["declining"] <= 4
    )
    assert len((await call_ok(session, "get_google_sector_performance"))["sectors"]) == 10


async def test_a_portfolio_gains_to_the_cent_what_its_purchases_did(session: Session) -> None:
    until(session, MONDAY_NOON)
    made = (await call_ok(session, "create_google_portfolio", name="Trial"))["portfolio_id"]
    quote = await call_ok(session, "get_google_quote", symbol="ORBX")
    early = {"purchase_price": 58.125, "purchase_date": "2026-03-12"}
    await call_ok(
        session, "add_to_google_portfolio", portfolio_id=made, symbol="ORBX", shares=3.333, **early
    )
    await call_ok(
        session,
        "add_to_google_portfolio",
        portfolio_id=made,
        symbol="orbx",
        shares=2,
        purchase_price=quote["price"],
    )
    found = await call_ok(session, "get_google_portfolio", portfolio_id=made)
    holding = found["holdings"][0]
    cost = 19373 + 2 * cents(quote["price"])
    worth = round(3.333 * quote["price"] * 100) + 2 * cents(quote["price"])
    assert (
        cents(found["total_cost"]) == cents(holding["cost_basis"]) == cost
        and cents(found["total_value"]) == worth
    )
    assert (
        cents(holding["gain_loss"])
        == worth - cost
        == sum(cents(lot["gain_loss"]) for lot in holding["lots"])
    )
    assert holding["day_gain"] == pytest.approx(3.333 * quote["change"], abs=0.011), (
        "what was bought today gains from its own price on"
    )
    assert (holding["shares"], [lot["purchase_date"] for lot in holding["lots"]]) == (
        5.333,
        ["2026-03-12", "2026-03-16"],
    )
    one = {"portfolio_id": made, "symbol": "ORBX"}
    await call_ok(
        session, "remove_from_google_portfolio", **one, lot_id=holding["lots"][0]["lot_id"]
    )
    assert cents(
        (await call_ok(session, "get_google_portfolio", portfolio_id=made))["total_cost"]
    ) == 2 * cents(quote["price"])
    await call_ok(session, "remove_from_google_portfolio", **one)
    assert (await call_refused(session, "google_finance", "remove_from_google_portfolio", **one))[
        "code"
    ] == "HOLDING_NOT_FOUND"


async def test_a_purchase_must_have_been_possible(session: Session) -> None:
    lot = {"portfolio_id": at("gfp", "robinhood"), "symbol": "CSPL", "shares": 1}
    cheap = await call_refused(
        session, "google_finance", "add_to_google_portfolio", **lot, purchase_price=50
    )
    assert (
        cheap["code"] == "PRICE_OUT_OF_RANGE"
        and cheap["low"] > 60
        and cheap["purchase_date"] == "2026-03-13"
    )
    for day in ("2026-03-14", "2026-03-16", "2011-06-01"):
        error = await call_refused(
            session,
            "google_finance",
            "add_to_google_portfolio",
            **lot,
            purchase_price=63,
            purchase_date=day,
        )
        assert (
            error["code"] == "INVALID_PURCHASE_DATE" and error["latest_trading_day"] == "2026-03-13"
        )
    assert (
        await call_refused(session, "google_finance", "create_google_portfolio", name=" robinhood ")
    )["code"] == "PORTFOLIO_EXISTS"


async def test_mayas_portfolio_is_no_longer_what_she_holds(session: Session) -> None:
    tracked = {
        h["symbol"]: h["shares"]
        for h in (
            await call_ok(session, "get_google_portfolio", portfolio_id=at("gfp", "robinhood"))
        )["holdings"]
    }
    held = {
        s: h["quantity"] for s, h in (await call_ok(session, "get_portfolio"))["holdings"].items()
    }
    assert (
        tracked["CSPL"] == 2 and held["CSPL"] == 1 and held["VNTA"] == 4 and "VNTA" not in tracked
    )
    assert tracked["SMPK"] == held["SMPK"] == 1


# -- Yahoo Finance --------------------------------------------------------------------------------------------------


async def test_an_interval_is_honoured_and_bars_within_a_day_add_up_to_it(session: Session) -> None:
    until(session, "2026-03-16T21:00:00Z")
    day = (
        await call_ok(session, "get_yahoo_price_history", symbol="LUMR", range="1d", interval="1d")
    )["prices"][0]
    for interval, count in (("15m", 26), ("30m", 13), ("1h", 7)):
        bars = (
            await call_ok(
                session, "get_yahoo_price_history", symbol="LUMR", range="1d", interval=interval
            )
        )["prices"][::-1]
        assert len(bars) == count and bars[0]["time"] == "2026-03-16T13:30:00Z"
        assert (bars[0]["open"], bars[-1]["close"]) == (day["open"], day["close"])
        assert (max(b["high"] for b in bars), min(b["low"] for b in bars)) == (
            day["high"],
            day["low"],
        )
        assert sum(b["volume"] for b in bars) == day["volume"] and all(
            b["close"] == n["open"] for b, n in pairwise(bars)
        )
    for span, interval in (("1y", "15m"), ("5d", "1mo"), ("1mo", "30m")):
        error = await call_refused(
            session,
            "yahoo_finance",
            "get_yahoo_price_history",
            symbol="LUMR",
            range=span,
            interval=interval,
        )
        assert error["code"] == "INTERVAL_NOT_AVAILABLE" and interval not in error["hint"]
    fund = await call_refused(
        session,
        "yahoo_finance",
        "get_yahoo_price_history",
        symbol="MTMAX",
        range="1d",
        interval="1h",
    )
    assert fund["hint"] == "Choose one of 1d."


async def test_history_pages_from_the_latest_bar_back_and_names_dividends(session: Session) -> None:
    year = await all_pages(
        session, "get_yahoo_price_history", "prices", symbol="CSPL", range="1y", interval="1d"
    )
    assert (
        len(year) == len({b["date"] for b in year})
        and 245 <= len(year) <= 253
        and year[0]["date"] == "2026-03-13"
    )
    weeks = await call_ok(
        session, "get_yahoo_price_history", symbol="CSPL", range="1y", interval="1wk"
    )
    assert [(d["ex_date"], d["amount"]) for d in weeks["dividends"]][-1] == (
        "2025-12-31",
        0.53,
    ) and len(weeks["prices"]) == 53


async def test_the_options_chain_is_robinhoods(session: Session) -> None:
    until(session, MONDAY_NOON)
    dates = (await call_ok(session, "get_yahoo_options_expirations", symbol="SMPK"))[
        "expiration_dates"
    ]
    yahoo = await call_ok(
        session, "get_yahoo_options_chain", symbol="SMPK", expiration_date=dates[2]
    )
    robinhood = await call_ok(
        session,
        "get_options_chain",
        symbol="SMPK",
        expiration_date=dates[2],
        option_type="put",
        limit=50,
    )
    shown = ("strike", "premium", "bid", "ask", "volume", "open_interest", "implied_volatility")
    assert [tuple(c[n] for n in shown) for c in yahoo["puts"]] == [
        tuple(c[n] for n in shown) for c in robinhood["options"]
    ]
    error = await call_refused(
        session,
        "yahoo_finance",
        "get_yahoo_options_chain",
        symbol="SMPK",
        expiration_date="2026-03-19",
    )
    assert error["code"] == "EXPIRATION_NOT_FOUND" and dates[0] in error["hint"]
    assert (await call_refused(session, "yahoo_finance", "get_yahoo_options_chain", symbol="BTCR"))[
        "code"
    ] == "OPTIONS_NOT_FOUND"


async def test_a_board_is_paged_from_the_newest_post_back_and_goes_on_by_itself(
    session: Session,
) -> None:
    posts = await all_pages(session, "get_yahoo_conversations", "posts", symbol="VNTA", limit=7)
    times = [p["posted_at"] for p in posts]
    assert (
        times == sorted(times, reverse=True)
        and len({p["post_id"] for p in posts}) == len(posts) > 20
    )
    assert [p["author"] for p in posts if p["mine"]] == ["kiln_and_kettle"] * 2
    session.pass_time(2 * DAY)
    later = await all_pages(session, "get_yahoo_conversations", "posts", symbol="VNTA", limit=50)
    kept = {p["post_id"]: p["text"] for p in later}
    assert later[0]["posted_at"] > times[0] and all(
        kept[p["post_id"]] == p["text"] for p in posts if p["posted_at"] > "2026-02-17"
    )


async def test_only_own_posts_can_be_deleted_and_none_is_posted_twice(session: Session) -> None:
    said = {"symbol": "PXGV", "text": " Holding, and $STMK as well. ", "sentiment": "bullish"}
    mine = await call_ok(session, "post_yahoo_comment", **said)
    assert (await call_ok(session, "get_yahoo_conversations", symbol="PXGV"))["posts"][
        0
    ] == mine and mine["text"] == said["text"].strip()
    twice = await call_refused(session, "yahoo_finance", "post_yahoo_comment", **said)
    assert (twice["code"], twice["post_id"]) == ("DUPLICATE_POST", mine["post_id"])
    board = (await call_ok(session, "get_yahoo_conversations", symbol="PXGV", limit=50))["posts"]
    for other in (board[1]["post_id"], at("yfp", "other-11")):
        assert (
            await call_refused(session, "yahoo_finance", "delete_yahoo_comment", post_id=other)
        )["code"] == "NOT_YOUR_POST"
    await call_ok(session, "delete_yahoo_comment", post_id=mine["post_id"])
    assert (
        await call_refused(
            session, "yahoo_finance", "delete_yahoo_comment", post_id=mine["post_id"]
        )
    )["code"] == "POST_NOT_FOUND"
    assert mine["post_id"] not in {
        p["post_id"] for p in (await call_ok(session, "list_yahoo_posts"))["posts"]
    }
    closed = await call_refused(
        session, "yahoo_finance", "post_yahoo_comment", symbol="NWSP", text="Hello?"
    )
    assert closed["code"] == "CONVERSATION_CLOSED"


async def test_trending_counts_posts_and_mentions(session: Session) -> None:
    async def counted() -> dict[str, int]:
        return {
            t["symbol"]: t["mentions"]
            for t in await all_pages(session, "get_yahoo_trending_tickers", "tickers", limit=100)
        }

    before = await counted()
    assert list(before.values()) == sorted(before.values(), reverse=True)
    await call_ok(
        session,
        "post_yahoo_comment",
        symbol="DVQL",
        text="Calmer than $HVND and $DVQL, and $NOSUCH",
    )
    after = await counted()
    assert {s: n - before.get(s, 0) for s, n in after.items() if n != before.get(s, 0)} == {
        "DVQL": 1,
        "HVND": 1,
    }


@pytest.mark.parametrize(
    ("service", "word"),
    [("alpha_vantage", "alpha"), ("google_finance", "google"), ("yahoo_finance", "yahoo")],
)
async def test_saving_under_a_name_overwrites_and_a_repeat_changes_nothing(
    session: Session, service: str, word: str
) -> None:
    first = await call_ok(
        session, f"save_{word}_watchlist", name="Chips", symbols=["nvlt", "ORBX", "NVLT"]
    )
    assert first["symbols"] == ["NVLT", "ORBX"]
    mark = session.world.last_change()
    assert (
        await call_ok(session, f"save_{word}_watchlist", name=" chips", symbols=["NVLT", "ORBX"])
        == first
    )
    assert session.world.last_change() == mark
    other = await call_ok(session, f"save_{word}_watchlist", name="CHIPS", symbols=["KYRA"])
    assert other["watchlist_id"] == first["watchlist_id"] and other["symbols"] == ["KYRA"]
    lists = (await call_ok(session, f"list_{word}_watchlists"))["watchlists"]
    assert [w["name"] for w in lists].count("Chips") == 1
    gone = await call_refused(
        session, service, f"save_{word}_watchlist", name="Chips", symbols=["KYRA", "NWSP"]
    )
    assert gone["code"] == "SYMBOL_DELISTED"
    await call_ok(session, f"delete_{word}_watchlist", watchlist_id=first["watchlist_id"])
    assert (
        await call_refused(
            session, service, f"get_{word}_watchlist", watchlist_id=first["watchlist_id"]
        )
    )["code"] == "WATCHLIST_NOT_FOUND"


async def test_a_delisted_symbol_stays_on_the_list_that_holds_it(session: Session) -> None:
    kept = await call_ok(
        session, "save_yahoo_watchlist", name="Newspapers", symbols=["NWSP", "STMK", "PXGV"]
    )
    assert kept["symbols"] == ["NWSP", "STMK", "PXGV"] and kept["watchlist_id"] == at(
        "yfw", "old_news"
    )
    shown = (await call_ok(session, "get_yahoo_watchlist", watchlist_id=kept["watchlist_id"]))[
        "quotes"
    ]
    assert [q["market_state"] for q in shown] == ["DELISTED", "CLOSED", "CLOSED"]
