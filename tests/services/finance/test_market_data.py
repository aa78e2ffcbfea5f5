"""Alpha Vantage, Google Finance and Yahoo Finance show the same market and keep watchlists."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest

from servers.kit.session import Session
from tests.services.finance.market_support import (
    MONDAY_NOON,
    SERVICES,
    ask,
    ask_all,
    refusal,
    until,
)
from tests.support import at, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session(*SERVICES)


# -- one market ------------------------------------------------------------------------------------
async def test_google_and_yahoo_show_one_price_and_alpha_vantage_shows_it_fifteen_minutes_later(
    session: Session,
) -> None:
    until(session, MONDAY_NOON)
    google = await ask(session, "get_google_quote", symbol="NVLT")
    yahoo = await ask(session, "get_yahoo_live_quote", symbol="nvlt")
    assert google["price"] == yahoo["regular_market_price"]
    assert yahoo["market_state"] == "REGULAR" and google["market_state"] == "open"
    robinhood = await ask(session, "get_asset_quote", symbol="NVLT")
    assert robinhood["current_price"] == google["price"]
    alpha = await ask(session, "get_alpha_global_quote", symbol="NVLT")
    assert alpha["price"] != google["price"]
    until(session, "2026-03-16T16:15:00Z")
    late = await ask(session, "get_alpha_global_quote", symbol="NVLT")
    assert late["price"] == google["price"]
    assert late["as_of"] == google["last_trade_at"] == MONDAY_NOON
    google = await ask(session, "get_google_quote", symbol="NVLT")
    assert google["price"] != late["price"]


async def test_halted_and_delisted_securities_keep_their_last_price_and_say_so(
    session: Session,
) -> None:
    halted = await ask(session, "get_yahoo_live_quote", symbol="HLXA")
    until(session, MONDAY_NOON)
    again = await ask(session, "get_google_quote", symbol="HLXA")
    assert again["price"] == halted["regular_market_price"] and again["market_state"] == "halted"
    assert halted["regular_market_time"] == again["last_trade_at"] == "2026-03-12T15:00:00Z"
    matches = (await ask(session, "search_alpha_symbols", keywords="newspring"))["matches"]
    assert [(m["symbol"], m["status"]) for m in matches] == [("NWSP", "delisted")]


async def test_searches_rank_the_symbol_first_and_filter_by_the_services_own_codes(
    session: Session,
) -> None:
    summits = (await ask(session, "search_google_tickers", query="summit"))["tickers"]
    assert {t["symbol"] for t in summits} == {"SMPK", "SMRG", "SMTF"}
    orbex = (await ask(session, "search_yahoo_tickers", query="orbx"))["quotes"]
    assert orbex[0]["short_name"] == "Orbex Systems"
    coins = (await ask(session, "search_yahoo_tickers", exchange="CCC", limit=50))["quotes"]
    assert {c["quote_type"] for c in coins} == {"CRYPTOCURRENCY"} and len(coins) == 8
    etfs = await ask(session, "search_alpha_symbols", asset_type="ETF", exchange="NASDAQ")
    assert etfs["matches"][0]["symbol"] == "BNDT"
    wrong = await refusal(session, "get_google_quote", symbol="SMPK", exchange="NYSE")
    assert (wrong["code"], wrong["exchange"]) == ("EXCHANGE_MISMATCH", "NASDAQ")
    unknown = await refusal(session, "get_yahoo_live_quote", symbol="SMPKK")
    assert "'SMPK'" in unknown["message"]


async def test_all_three_quote_the_same_analysts_in_their_own_words(session: Session) -> None:
    alpha = await ask(session, "get_alpha_rating_snapshot", symbol="CSPL")
    google = await ask(session, "get_google_analyst_summary", symbol="CSPL")
    yahoo = await ask(session, "get_yahoo_recommendation_trend", symbol="CSPL")
    assert alpha["target_price"] == google["average_target"] == yahoo["target_mean_price"]
    assert alpha["ratings"] == google["breakdown"]
    assert list(alpha["ratings"].values()) == list(yahoo["trend"][0].values())[2:]
    upside = (google["average_target"] / google["price"] - 1) * 100
    assert google["upside_percent"] == round(upside, 2)
    error = await refusal(session, "get_yahoo_recommendation_trend", symbol="BTCR")
    assert error["code"] == "NO_ANALYST_COVERAGE"


async def test_screens_return_the_stocks_that_meet_every_condition(session: Session) -> None:
    everything = await ask_all(session, "screen_google_equities", "results", limit=20)
    caps = [r["market_cap"] for r in everything]
    assert caps == sorted(caps, reverse=True) and "NWSP" not in {r["symbol"] for r in everything}
    wanted = set()
    for row in everything:
        large = row["market_cap"] >= 2e10
        if row["sector"] == "Energy" and large and row["consensus"] == "buy":
            wanted.add(row["symbol"])
    assert wanted
    args = {"sector": "Energy", "min_market_cap": 2e10, "analyst_rating": "buy"}
    yahoo = (await ask(session, "screen_yahoo_equities", **args))["quotes"]
    assert {r["symbol"] for r in yahoo} == wanted
    alpha = (await ask(session, "screen_alpha_equities", **args))["equities"]
    assert {r["symbol"] for r in alpha} == wanted


async def test_a_rumour_stands_until_it_is_denied_and_only_yahoo_marks_the_old_article(
    session: Session,
) -> None:
    story = "Summit Ridge Energy in takeover talks, sources say"

    async def told() -> tuple[dict[str, Any], list[str]]:
        yahoo = (await ask(session, "get_yahoo_company_news", symbol="SMRG", limit=20))["news"]
        google = await ask(session, "get_google_company_news", symbol="SMRG", limit=20)
        titles = [a["title"] for a in google["articles"]]
        assert [a["title"] for a in yahoo] == titles
        return next(a for a in yahoo if a["title"] == story), titles

    before, titles = await told()
    assert before["correction"] is None and titles[0] == story
    feed = (await ask(session, "get_alpha_news_sentiment", symbol="SMRG"))["feed"]
    assert feed[0]["sentiment_label"] == "Bullish"
    session.pass_time(5 * 86_400)
    after, titles = await told()
    assert "no talks" in after["correction"]["note"] and after["article_id"] == before["article_id"]
    denial = titles.index("Summit Ridge Energy answers reports")
    assert denial < titles.index(story) and after["summary"] == before["summary"]


async def test_results_are_news_on_their_day_and_a_misprint_is_put_right_at_noon(
    session: Session,
) -> None:
    news = (await ask(session, "get_google_company_news", symbol="CSPL", limit=50))["articles"]
    day = [a for a in reversed(news) if a["timestamp"].startswith("2026-02-09")]
    assert [a["source"] for a in day] == ["Northwire", "Market Courier", "Market Courier"]
    assert "$0.78" in day[0]["summary"] and "$0.68" in day[1]["summary"]
    assert "$0.78 a share, not $0.68" in day[2]["summary"]
    reports = (await ask(session, "get_yahoo_company_profile", symbol="CSPL"))["earnings"]
    assert next(e["eps_actual"] for e in reports if e["date"] == "2026-02-09") == 0.78


async def test_the_options_chain_is_robinhoods(session: Session) -> None:
    until(session, MONDAY_NOON)
    listed = await ask(session, "get_yahoo_options_expirations", symbol="SMPK")
    dates = listed["expiration_dates"]
    third = {"symbol": "SMPK", "expiration_date": dates[2]}
    yahoo = await ask(session, "get_yahoo_options_chain", **third)
    robinhood = await ask(session, "get_options_chain", **third, option_type="put", limit=50)
    shown = itemgetter(
        "strike", "premium", "bid", "ask", "volume", "open_interest", "implied_volatility"
    )
    assert list(map(shown, yahoo["puts"])) == list(map(shown, robinhood["options"]))
    thursday = {"symbol": "SMPK", "expiration_date": "2026-03-19"}
    error = await refusal(session, "get_yahoo_options_chain", **thursday)
    assert error["code"] == "EXPIRATION_NOT_FOUND" and dates[0] in error["hint"]
    coin = await refusal(session, "get_yahoo_options_chain", symbol="BTCR")
    assert coin["code"] == "OPTIONS_NOT_FOUND"


# -- watchlists ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("service", "word"),
    [("alpha_vantage", "alpha"), ("google_finance", "google"), ("yahoo_finance", "yahoo")],
)
async def test_saving_under_a_name_overwrites_and_a_repeat_changes_nothing(
    session: Session, service: str, word: str
) -> None:
    save = f"save_{word}_watchlist"
    first = await ask(session, save, name="Chips", symbols=["nvlt", "ORBX", "NVLT"])
    assert first["symbols"] == ["NVLT", "ORBX"]
    mark = session.world.last_change()
    assert await ask(session, save, name=" chips", symbols=["NVLT", "ORBX"]) == first
    assert session.world.last_change() == mark
    other = await ask(session, save, name="CHIPS", symbols=["KYRA"])
    assert other["watchlist_id"] == first["watchlist_id"] and other["symbols"] == ["KYRA"]
    lists = (await ask(session, f"list_{word}_watchlists"))["watchlists"]
    assert [w["name"] for w in lists].count("Chips") == 1
    gone = await refusal(session, save, name="Chips", symbols=["KYRA", "NWSP"])
    assert gone["code"] == "SYMBOL_DELISTED"
    key = first["watchlist_id"]
    await ask(session, f"delete_{word}_watchlist", watchlist_id=key)
    error = await refusal(session, f"get_{word}_watchlist", watchlist_id=key)
    assert error["code"] == "WATCHLIST_NOT_FOUND"


async def test_a_delisted_symbol_stays_on_the_list_that_holds_it(session: Session) -> None:
    symbols = ["NWSP", "STMK", "PXGV"]
    saved = await ask(session, "save_yahoo_watchlist", name="Newspapers", symbols=symbols)
    assert saved["symbols"] == symbols and saved["watchlist_id"] == at("yfw", "old_news")
    shown = await ask(session, "get_yahoo_watchlist", watchlist_id=saved["watchlist_id"])
    states = [quote["market_state"] for quote in shown["quotes"]]
    assert states == ["DELISTED", "CLOSED", "CLOSED"]
