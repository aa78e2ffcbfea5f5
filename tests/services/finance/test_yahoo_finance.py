"""Yahoo Finance: bars by interval, message boards, and trending tickers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from servers.finance.yahoo_finance import _board as board
from servers.kit.session import Session
from tests.services.finance.market_support import DAY, SERVICES, ask, ask_all, refusal, until
from tests.support import at, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session(*SERVICES)


# -- bars ------------------------------------------------------------------------------------------
async def test_an_interval_is_honoured_and_bars_within_a_day_add_up_to_it(session: Session) -> None:
    tool = "get_yahoo_price_history"
    until(session, "2026-03-16T21:00:00Z")
    day = (await ask(session, tool, symbol="LUMR", range="1d", interval="1d"))["prices"][0]
    for interval, count in (("15m", 26), ("30m", 13), ("1h", 7)):
        history = await ask(session, tool, symbol="LUMR", range="1d", interval=interval)
        bars = history["prices"][::-1]
        assert len(bars) == count and bars[0]["time"] == "2026-03-16T13:30:00Z"
        assert (bars[0]["open"], bars[-1]["close"]) == (day["open"], day["close"])
        assert max(b["high"] for b in bars) == day["high"]
        assert min(b["low"] for b in bars) == day["low"]
        assert sum(b["volume"] for b in bars) == day["volume"]
        assert all(bar["close"] == after["open"] for bar, after in pairwise(bars))
    for span, interval in (("1y", "15m"), ("5d", "1mo"), ("1mo", "30m")):
        error = await refusal(session, tool, symbol="LUMR", range=span, interval=interval)
        assert error["code"] == "INTERVAL_NOT_AVAILABLE" and interval not in error["hint"]
    fund = await refusal(session, tool, symbol="MTMAX", range="1d", interval="1h")
    assert fund["hint"] == "Choose one of 1d."


async def test_history_pages_from_the_latest_bar_back_and_names_dividends(session: Session) -> None:
    tool = "get_yahoo_price_history"
    year = await ask_all(session, tool, "prices", symbol="CSPL", range="1y", interval="1d")
    assert len(year) == len({b["date"] for b in year}) and 245 <= len(year) <= 253
    assert year[0]["date"] == "2026-03-13"
    weeks = await ask(session, tool, symbol="CSPL", range="1y", interval="1wk")
    dividend = weeks["dividends"][-1]
    assert (dividend["ex_date"], dividend["amount"]) == ("2025-12-31", 0.53)
    assert len(weeks["prices"]) == 53


# -- the board -------------------------------------------------------------------------------------
async def test_a_board_is_paged_from_the_newest_post_and_grows_by_itself(
    session: Session,
) -> None:
    tool = "get_yahoo_conversations"
    posts = await ask_all(session, tool, "posts", symbol="VNTA", limit=7)
    times = [p["posted_at"] for p in posts]
    assert times == sorted(times, reverse=True)
    assert len({p["post_id"] for p in posts}) == len(posts) > 20
    assert [p["author"] for p in posts if p["mine"]] == ["kiln_and_kettle"] * 2
    session.pass_time(2 * DAY)
    later = await ask_all(session, tool, "posts", symbol="VNTA", limit=50)
    texts = {p["post_id"]: p["text"] for p in later}
    assert later[0]["posted_at"] > times[0]
    recent = [p for p in posts if p["posted_at"] > "2026-02-17"]
    assert all(texts[p["post_id"]] == p["text"] for p in recent)


async def test_only_own_posts_can_be_deleted_and_none_is_posted_twice(session: Session) -> None:
    post = {"symbol": "PXGV", "text": " Holding, and $STMK as well. ", "sentiment": "bullish"}
    mine = await ask(session, "post_yahoo_comment", **post)
    posts = (await ask(session, "get_yahoo_conversations", symbol="PXGV"))["posts"]
    assert posts[0] == mine and mine["text"] == post["text"].strip()
    twice = await refusal(session, "post_yahoo_comment", **post)
    assert (twice["code"], twice["post_id"]) == ("DUPLICATE_POST", mine["post_id"])
    posts = (await ask(session, "get_yahoo_conversations", symbol="PXGV", limit=50))["posts"]
    for other in (posts[1]["post_id"], at("yfp", "other-11")):
        error = await refusal(session, "delete_yahoo_comment", post_id=other)
        assert error["code"] == "NOT_YOUR_POST"
    await ask(session, "delete_yahoo_comment", post_id=mine["post_id"])
    error = await refusal(session, "delete_yahoo_comment", post_id=mine["post_id"])
    assert error["code"] == "POST_NOT_FOUND"
    own = (await ask(session, "list_yahoo_posts"))["posts"]
    assert mine["post_id"] not in {p["post_id"] for p in own}
    closed = await refusal(session, "post_yahoo_comment", symbol="NWSP", text="Hello?")
    assert closed["code"] == "CONVERSATION_CLOSED"


async def test_an_id_that_is_nobodys_is_looked_for_on_few_boards(session: Session) -> None:
    boards = [row["symbol"] for row in session.world.rows("finance_securities")]
    post = (await ask(session, "get_yahoo_conversations", symbol="PXGV"))["posts"][-1]["post_id"]
    looked_at = [symbol for symbol in boards if board.may_be_on(symbol, post)]
    assert "PXGV" in looked_at and len(looked_at) < len(boards) / 20
    error = await refusal(session, "delete_yahoo_comment", post_id=post)
    assert error["code"] == "NOT_YOUR_POST"
    error = await refusal(session, "delete_yahoo_comment", post_id="yfp_0123456789")
    assert error["code"] == "POST_NOT_FOUND"


async def test_trending_counts_posts_and_mentions(session: Session) -> None:
    async def counted() -> dict[str, int]:
        trending = await ask_all(session, "get_yahoo_trending_tickers", "tickers", limit=100)
        return {ticker["symbol"]: ticker["mentions"] for ticker in trending}

    before = await counted()
    assert list(before.values()) == sorted(before.values(), reverse=True)
    text = "Calmer than $HVND and $DVQL, and $NOSUCH"
    await ask(session, "post_yahoo_comment", symbol="DVQL", text=text)
    after = await counted()
    grown = {symbol: count - before.get(symbol, 0) for symbol, count in after.items()}
    assert {s: n for s, n in grown.items() if n != 0} == {"DVQL": 1, "HVND": 1}
