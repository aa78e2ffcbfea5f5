"""Finding tickers, quotes, and charts of a window."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._data import Symbol
from servers.finance.google_finance._model import EXCHANGES, WORDS, AssetType, Exchange, ticker_json
from servers.kit.service import Service, reads
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import months_later

Window = Annotated[
    Literal["1D", "5D", "1M", "6M", "1Y"],
    Field(
        description="1D and 5D: half hours of the latest one or five trading days; 1M and 6M: daily closes; 1Y: weekly closes."
    ),
]
MONTHS = {"1M": 1, "6M": 6, "1Y": 12}


class Quotes(Service):
    """Securities and their prices."""

    @reads(example={"query": "summit"})
    def search_google_tickers(
        self,
        query: data.Query | None = None,
        asset_type: Annotated[AssetType, Field(description="Only this kind of security.")]
        | None = None,
        exchange: Exchange | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Find securities by words of their name or by symbol, best match first, with price in dollars and the day's change in percent.
        A query may be left out where a filter does."""
        found = data.search(self, WORDS, query, asset_type, exchange)
        return page(found, "tickers", limit, cursor, lambda r: ticker_json(self, r))

    @reads(example={"symbol": "SMPK", "exchange": "NASDAQ"})
    def get_google_quote(self, symbol: Symbol, exchange: Exchange | None = None) -> dict[str, Any]:
        """Return a security's present quote in dollars: price, the day's range and change, 52-week range of the closes, market value, price
        to earnings, yield in percent, and market_state (open, closed, halted or delisted)."""
        row = self._listed(symbol, exchange)
        now = market.quote(row, self.now)
        low, high = market.year_range(row, self.now)
        return ticker_json(self, row) | {
            "currency": "USD",
            "change": now.change,
            "previous_close": now.previous_close,
            "day_open": now.open,
            "day_range": {"low": now.low, "high": now.high},
            "year_range": {"low": low, "high": high},
            "volume": now.volume,
            "market_cap": figures.market_cap(row, self.now),
            "pe_ratio": figures.pe_ratio(row, self.now),
            "dividend_yield": figures.dividend_yield(row, self.now),
            "last_trade_at": iso(now.as_of),
        }

    @reads(example={"symbol": "SMPK", "window": "5D"})
    def get_google_price_chart(self, symbol: Symbol, window: Window = "1M") -> dict[str, Any]:
        """Return the chart of a window that ends now (or with the last trade), oldest point first: prices in dollars, and the change since
        reference_price, the close before the window. Points before the listing are missing."""
        row = data.find_security(self, WORDS, symbol)
        end = market.trading_date(row, self.now)
        first = market.days(row, end - timedelta(days=14), end, self.now)[
            -(1 if window == "1D" else 5) :
        ][:1]
        short = window in ("1D", "5D")
        since = (first or [end])[0] if short else months_later(end, -MONTHS[window])
        last = market.price(row, self.now)
        points = list(
            self._half_hours(row, since, end)
            if short
            else self._closes(row, since, end, "weekly" if window == "1Y" else "daily")
        )
        if not points or points[-1]["price"] != last:
            points.append({"time": iso(market.as_of(row, self.now)), "price": last})
        before = data.close_by(row, since - timedelta(days=1))
        return {
            "symbol": row["symbol"],
            "window": window,
            "currency": "USD",
            "market_state": market.state(row, self.now),
            "reference_price": before,
            "change": None if before is None else round(last - before, 4),
            "change_percent": None if before is None else round((last - before) / before * 100, 2),
            "points": points,
        }

    def _half_hours(self, row: dict[str, Any], since: date, end: date) -> Iterator[dict[str, Any]]:
        for day in market.days(row, since, end, self.now):
            for moment, last in market.intraday(row, day, self.now):
                yield {"time": iso(moment), "price": last}

    def _closes(
        self, row: dict[str, Any], since: date, end: date, interval: market.Interval
    ) -> Iterator[dict[str, Any]]:
        for _, day in data.spans(market.days(row, since, end, self.now), interval):
            moment = min(market.closed(row, day), market.as_of(row, self.now))
            yield {
                "time": iso(moment),
                "price": market.price(row, moment) if day == end else data.close_by(row, day),
            }

    def _listed(self, symbol: str, on: str | None) -> dict[str, Any]:
        row = data.find_security(self, WORDS, symbol)
        listed = EXCHANGES[row["exchange"]]
        if on not in (None, listed):
            hint = f"Ask with exchange {listed}, or leave it out."
            self.fail(
                "EXCHANGE_MISMATCH",
                f"{row['symbol']} is not listed on {on}.",
                hint,
                symbol=row["symbol"],
                exchange=listed,
            )
        return row
