"""Ticker search, quotes, and charts."""

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
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import months_later

Window = Annotated[
    Literal["1D", "5D", "1M", "6M", "1Y"],
    Field(
        description="1D and 5D: half-hourly points of the latest one or five trading days; "
        "1M and 6M: daily closes; 1Y: weekly closes."
    ),
]
OnlyType = Annotated[AssetType, Field(description="Only securities of this type.")]
MONTHS = {"1M": 1, "6M": 6, "1Y": 12}


class Quotes(Service):
    """Securities and their prices."""

    @reads(example={"query": "summit"})
    def search_google_tickers(
        self,
        query: data.Query | None = None,
        asset_type: OnlyType | None = None,
        exchange: Exchange | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find securities by name or symbol, best match first.

        Each has its price in dollars and the day's change in percent. The query may be omitted if
        there is a filter.
        """
        rows = data.search(self, WORDS, query, asset_type, exchange)
        return page(rows, "tickers", limit, cursor, lambda r: ticker_json(self, r))

    @reads(example={"symbol": "SMPK", "exchange": "NASDAQ"})
    def get_google_quote(self, symbol: Symbol, exchange: Exchange | None = None) -> Json:
        """Return a security's current quote in dollars.

        It has the price, the day's range and change, the 52-week range of closes, market value,
        P/E ratio, dividend yield in percent, and market_state (open, closed, halted or delisted).
        """
        row = self._listed(symbol, exchange)
        quote = market.quote(row, self.now)
        low, high = market.year_range(row, self.now)
        return ticker_json(self, row) | {
            "currency": "USD",
            "change": quote.change,
            "previous_close": quote.previous_close,
            "day_open": quote.open,
            "day_range": {"low": quote.low, "high": quote.high},
            "year_range": {"low": low, "high": high},
            "volume": quote.volume,
            "market_cap": figures.market_cap(row, self.now),
            "pe_ratio": figures.pe_ratio(row, self.now),
            "dividend_yield": figures.dividend_yield(row, self.now),
            "last_trade_at": iso(quote.as_of),
        }

    @reads(example={"symbol": "SMPK", "window": "5D"})
    def get_google_price_chart(self, symbol: Symbol, window: Window = "1M") -> Json:
        """Return the price chart of a window that ends now or with the last trade, oldest first.

        Prices are in dollars; change is measured from reference_price, the close before the window.
        There are no points before the listing.
        """
        row = data.find_security(self, WORDS, symbol)
        end = market.trading_date(row, self.now)
        last = market.price(row, self.now)
        if window in MONTHS:
            since = months_later(end, -MONTHS[window])
            points = list(self._closes(row, since, end, "weekly" if window == "1Y" else "daily"))
        else:
            latest = market.days(row, end - timedelta(days=14), end, self.now)
            latest = latest[-1:] if window == "1D" else latest[-5:]
            since = latest[0] if latest else end
            points = list(self._half_hours(row, since, end))
        if not points or points[-1]["price"] != last:
            points.append({"time": iso(market.as_of(row, self.now)), "price": last})
        before = data.close_by(row, since - timedelta(days=1))
        change = None
        change_percent = None
        if before is not None:
            change = round(last - before, 4)
            change_percent = round((last - before) / before * 100, 2)
        return {
            "symbol": row["symbol"],
            "window": window,
            "currency": "USD",
            "market_state": market.state(row, self.now),
            "reference_price": before,
            "change": change,
            "change_percent": change_percent,
            "points": points,
        }

    def _half_hours(self, row: Row, since: date, end: date) -> Iterator[dict[str, Any]]:
        for day in market.days(row, since, end, self.now):
            for moment, last in market.intraday(row, day, self.now):
                yield {"time": iso(moment), "price": last}

    def _closes(
        self, row: Row, since: date, end: date, interval: market.Interval
    ) -> Iterator[dict[str, Any]]:
        for _, day in data.spans(market.days(row, since, end, self.now), interval):
            moment = min(market.closed(row, day), market.as_of(row, self.now))
            price = market.price(row, moment) if day == end else data.close_by(row, day)
            yield {"time": iso(moment), "price": price}

    def _listed(self, symbol: str, on: str | None) -> dict[str, Any]:
        row = data.find_security(self, WORDS, symbol)
        listed = EXCHANGES[row["exchange"]]
        if on not in (None, listed):
            message = f"{row['symbol']} is not listed on {on}."
            hint = f"Use exchange {listed}, or omit it."
            self.fail("EXCHANGE_MISMATCH", message, hint, symbol=row["symbol"], exchange=listed)
        return row
