"""Technical indicators, computed from completed trading days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.finance._data import Symbol
from servers.finance.alpha_vantage import _indicators as indicators
from servers.finance.alpha_vantage._indicators import Series
from servers.finance.alpha_vantage._model import WORDS, Interval, trading_days
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

Name = Annotated[
    Literal["RSI", "MACD", "SMA", "EMA", "BBANDS", "STOCH", "ADX"],
    Field(description="The indicator."),
]
Period = Annotated[
    int,
    Field(
        ge=2,
        le=200,
        description="Number of bars a value looks back over, 2 to 200; defaults to 14. "
        "Not accepted for MACD.",
    ),
]
Prices = dict[str, list[float]]
CLOSE_YEARS = {"daily": 3, "weekly": 12, "monthly": 30}
"""Calendar years of closes before this one: enough for exponential averages to settle."""
RANGE_YEARS = {"daily": 1, "weekly": 2, "monthly": 5}
"""Calendar years of bars before this one, for indicators that use highs and lows."""
DEFAULT_PERIOD = 14


@dataclass(frozen=True)
class Indicator:
    """How to compute an indicator from prices and a period, and the fields of its values.

    The prices are closes, plus highs and lows if the indicator is `ranged`.
    """

    description: str
    outputs: tuple[str, ...]
    run: Callable[[Prices, int], tuple[Series, ...]]
    ranged: bool = False


INDICATORS: dict[str, Indicator] = {
    "SMA": Indicator(
        "Simple moving average of the closes, in dollars.",
        ("sma",),
        lambda p, n: (indicators.sma(p["close"], n),),
    ),
    "EMA": Indicator(
        "Exponential moving average of the closes, in dollars, begun as a simple one.",
        ("ema",),
        lambda p, n: (indicators.ema(p["close"], n),),
    ),
    "RSI": Indicator(
        "Wilder's relative strength index, 0 to 100.",
        ("rsi",),
        lambda p, n: (indicators.rsi(p["close"], n),),
    ),
    "MACD": Indicator(
        "Difference of the exponential averages over 12 and 26 bars, its signal line over 9, "
        "and the difference of the two.",
        ("macd", "macd_signal", "macd_hist"),
        lambda p, _: indicators.macd(p["close"]),
    ),
    "BBANDS": Indicator(
        "Bollinger bands: the simple average, and two standard deviations above and below it.",
        ("upper_band", "middle_band", "lower_band"),
        lambda p, n: indicators.bands(p["close"], n),
    ),
    "STOCH": Indicator(
        "Slow stochastic oscillator, 0 to 100: %K smoothed over 3 bars, "
        "and %D, its average over 3.",
        ("slow_k", "slow_d"),
        lambda p, n: indicators.stochastic(p["high"], p["low"], p["close"], n),
        ranged=True,
    ),
    "ADX": Indicator(
        "Wilder's average directional index, 0 (no trend) to 100.",
        ("adx",),
        lambda p, n: (indicators.adx(p["high"], p["low"], p["close"], n),),
        ranged=True,
    ),
}


class Technicals(Service):
    """Technical indicators and their descriptions."""

    @reads(example={"symbol": "SMPK", "indicator": "RSI"})
    def get_alpha_technical_indicator(
        self,
        symbol: Symbol,
        indicator: Name,
        interval: Interval = "daily",
        time_period: Period | None = None,
        limit: Limit = 30,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return an indicator's values by date, newest first, from completed trading days.

        get_alpha_indicator_list describes the fields of a value. For coins, STOCH and ADX are
        available only daily.
        """
        row = data.find_security(self, WORDS, symbol)
        spec = INDICATORS[indicator]
        period = self._period(indicator, time_period)
        if spec.ranged and row["kind"] == "crypto" and interval != "daily":
            message = f"{indicator} is available only for daily bars of a coin."
            hint = "Use the daily interval, or an indicator based on closes such as RSI."
            self.fail("INTERVAL_NOT_SUPPORTED", message, hint, interval=interval)
        dates, prices = self._prices(row, interval, spec.ranged)
        values = _values(dates, spec.outputs, spec.run(prices, period))
        if not values:
            count = len(dates)
            bars = f"{count} {interval} bars"
            message = f"{row['symbol']} has {bars}, too few for {indicator} over {period}."
            hint = "Choose a smaller time_period or a shorter interval."
            self.fail("INSUFFICIENT_DATA", message, hint, bars=count)
        about = {
            "symbol": row["symbol"],
            "indicator": indicator,
            "interval": interval,
            "time_period": period or None,
        }
        return about | page(
            list(values), "values", limit, cursor, lambda d: {"date": d} | values[d]
        )

    @reads()
    def get_alpha_indicator_list(self) -> Json:
        """Return the technical indicators with their meaning, fields and default time_period."""
        listed = [
            {
                "indicator": name,
                "description": spec.description,
                "fields": list(spec.outputs),
                "default_time_period": self._period(name) or None,
            }
            for name, spec in INDICATORS.items()
        ]
        return {"indicators": listed}

    def _period(self, indicator: str, asked: int | None = None) -> int:
        if indicator != "MACD":
            return asked or DEFAULT_PERIOD
        if asked is not None:
            message = "MACD always looks back over 12, 26 and 9 bars."
            hint = "Omit time_period for MACD."
            self.fail("INVALID_TIME_PERIOD", message, hint, time_period=asked)
        return 0

    def _prices(
        self, row: Row, interval: market.Interval, ranged: bool
    ) -> tuple[list[str], Prices]:
        """Return the dates of bars and their prices, oldest first.

        They start on a fixed day, so that an indicator's value for a date never changes.
        """
        this_year = market.trading_date(row, self.now).year
        since = date(this_year - (RANGE_YEARS if ranged else CLOSE_YEARS)[interval], 1, 1)
        days = trading_days(self, row, since)
        dates = [last for _, last in data.spans(days, interval)]
        if not ranged:
            closes = [data.close_by(row, d) or 0.0 for d in dates]
            return [d.isoformat() for d in dates], {"close": closes}
        bars = market.bars(row, interval, since, dates[-1], self.now) if dates else []
        return [b.date for b in bars], {
            "high": [b.high for b in bars],
            "low": [b.low for b in bars],
            "close": [b.close for b in bars],
        }


def _values(
    dates: list[str], outputs: tuple[str, ...], lines: tuple[Series, ...]
) -> dict[str, dict[str, float]]:
    """Return the values by date and output, newest first, for dates with a value of each output."""
    by_date: dict[str, dict[str, float]] = {}
    for n in reversed(range(len(dates))):
        values = [line[n] for line in lines]
        known = [round(value, 4) for value in values if value is not None]
        if len(known) == len(outputs):
            by_date[dates[n]] = dict(zip(outputs, known, strict=True))
    return by_date
