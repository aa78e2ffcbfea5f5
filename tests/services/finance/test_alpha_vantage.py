"""Alpha Vantage: indicators, end-of-day bars, and economic data with its releases."""

from __future__ import annotations

import pytest

from servers.finance.alpha_vantage import _indicators as indicators
from servers.kit.session import Session
from tests.services.finance.market_support import DAY, SERVICES, ask, ask_all, refusal, until
from tests.support import new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session(*SERVICES)


def test_indicators_by_hand() -> None:
    assert indicators.sma([1, 2, 6, 4], 2) == [None, 1.5, 4, 5]
    assert indicators.ema([2, 4, 6, 8, 12], 3) == [None, None, 4, 6, 9]
    assert indicators.rsi([10, 11, 10, 12], 2) == [None, None, 50, pytest.approx(250 / 3)]
    assert indicators.bands([1, 3, 3], 2) == ([None, 4, 3], [None, 2, 3], [None, 0, 3])
    line, signal, rest = indicators.macd([float(n) for n in range(40)])
    # On a straight line an exponential mean over n bars stays (n - 1) / 2 behind: 12.5 - 5.5 = 7.
    assert line[24:26] == [None, pytest.approx(7)]
    assert signal[32:34] == [None, pytest.approx(7)]
    assert rest[39] == pytest.approx(0)
    k, d = indicators.stochastic([3, 4, 5, 5, 6, 6], [1, 2, 3, 3, 4, 2], [2, 4, 4, 3, 6, 3], 2)
    # Raw %K from the second bar on: 100, 66.67, 0, 100, 25.
    assert k == [None, None, None, *map(pytest.approx, (500 / 9, 500 / 9, 125 / 3))]
    assert d[5] == pytest.approx((1000 / 9 + 125 / 3) / 3)
    # Up moves 1, 0, 2 and down moves 0, 1, 0 over true ranges are smoothed to (0.5, 0.5), then to
    # (1.25, 0.25): 0 and 66.67.
    third = pytest.approx(100 / 3)
    assert indicators.adx([2, 3, 3, 5], [1, 2, 1, 3], [2, 3, 2, 4], 2) == [None, None, None, third]
    assert indicators.sma([1], 3) == [None] and indicators.adx([1], [1], [1], 5) == [None]


async def test_an_indicator_follows_from_the_published_bars_and_keeps_its_past_values(
    session: Session,
) -> None:
    tool = "get_alpha_technical_indicator"
    series = (await ask(session, "get_alpha_time_series", symbol="KYRA"))["series"]
    sma = await ask(session, tool, symbol="KYRA", indicator="SMA", time_period=10)
    values = sma["values"]
    assert values[0]["date"] == series[0]["date"] == "2026-03-13"
    assert values[3]["sma"] == pytest.approx(sum(b["close"] for b in series[3:13]) / 10, abs=1e-4)
    bars = series[:60][::-1]
    highs = [b["high"] for b in bars]
    lows = [b["low"] for b in bars]
    closes = [b["close"] for b in bars]
    slow_k, _ = indicators.stochastic(highs, lows, closes, 5)
    stoch = await ask(session, tool, symbol="KYRA", indicator="STOCH", time_period=5)
    assert stoch["values"][0]["slow_k"] == pytest.approx(slow_k[-1], abs=1e-4)
    before = (await ask(session, tool, symbol="KYRA", indicator="ADX"))["values"]
    session.pass_time(5 * DAY)
    later = (await ask(session, tool, symbol="KYRA", indicator="ADX"))["values"]
    assert later[0]["date"] == "2026-03-18" and before[0] in later
    few = await refusal(session, tool, symbol="KYRA", indicator="RSI", interval="monthly")
    assert few["code"] == "INSUFFICIENT_DATA" and few["bars"] == 7
    error = await refusal(session, tool, symbol="KYRA", indicator="MACD", time_period=9)
    assert error["code"] == "INVALID_TIME_PERIOD"


async def test_bars_are_end_of_day_and_add_up_to_weeks_and_months(session: Session) -> None:
    tool = "get_alpha_time_series"
    until(session, "2026-03-16T20:14:50Z")
    latest = (await ask(session, tool, symbol="SMPK", limit=1))["series"][0]
    assert latest["date"] == "2026-03-13"
    until(session, "2026-03-16T20:15:00Z")
    daily = (await ask(session, tool, symbol="SMPK"))["series"]
    assert daily[0]["date"] == "2026-03-16" and len(daily) == 100
    weekly = (await ask(session, tool, symbol="SMPK", interval="weekly"))["series"]
    assert [b["date"] for b in weekly[:2]] == ["2026-03-16", "2026-03-13"] and len(weekly) == 52
    week = daily[1:6]
    assert weekly[1] == {
        "date": "2026-03-13",
        "open": week[-1]["open"],
        "high": max(b["high"] for b in week),
        "low": min(b["low"] for b in week),
        "close": week[0]["close"],
        "volume": sum(b["volume"] for b in week),
    }
    monthly = await ask(
        session, tool, symbol="SMPK", interval="monthly", outputsize="full", limit=2
    )
    assert [b["date"] for b in monthly["series"]] == ["2026-03-16", "2026-02-27"]
    assert monthly["next_cursor"]


async def test_a_figure_is_unknown_before_its_release_and_revised_by_later_releases(
    session: Session,
) -> None:
    tool = "get_alpha_economic_indicator"
    early = (await ask(session, tool, indicator="RETAIL_SALES"))["data"][0]
    assert (early["date"], early["vintage"]) == ("2026-01-01", "advance")
    assert early["earlier_value"] is None
    listed = (await ask(session, "list_alpha_economic_indicators"))["indicators"]
    retail = next(i for i in listed if i["indicator"] == "RETAIL_SALES")
    assert retail["next_release_at"] == "2026-03-16T12:30:00Z"
    until(session, "2026-03-16T12:29:50Z")
    assert (await ask(session, tool, indicator="RETAIL_SALES"))["data"][0] == early
    until(session, "2026-03-16T12:30:00Z")
    new, revised = (await ask(session, tool, indicator="RETAIL_SALES", limit=2))["data"]
    assert (new["date"], new["vintage"]) == ("2026-02-01", "advance")
    assert revised["vintage"] == "revised"
    assert revised["earlier_value"] == early["value"] != revised["value"]
    gdp = (await ask(session, tool, indicator="GDP"))["data"]
    assert gdp[0]["vintage"] == "second"
    session.pass_time(11 * DAY)
    gdp = (await ask(session, tool, indicator="GDP"))["data"]
    assert gdp[0]["vintage"] == "third"


async def test_yearly_inflation_follows_from_the_price_index(session: Session) -> None:
    tool = "get_alpha_economic_indicator"
    index = await ask_all(session, tool, "data", indicator="CPI", limit=100)
    latest = (await ask(session, tool, indicator="INFLATION"))["data"][0]

    def mean(year: str) -> float:
        return sum(p["value"] for p in index if p["date"][:4] == year) / 12

    assert latest["date"] == "2025-01-01"
    assert latest["value"] == round((mean("2025") / mean("2024") - 1) * 100, 2)
