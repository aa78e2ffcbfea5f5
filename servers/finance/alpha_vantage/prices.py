"""Symbol search, delayed quotes, and series of bars."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.finance._data import Symbol
from servers.finance.alpha_vantage._model import (
    COMPACT,
    DELAY,
    EXCHANGES,
    TYPES,
    WORDS,
    AssetType,
    Exchange,
    Interval,
    delayed,
    trading_days,
)
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page

OutputSize = Annotated[
    Literal["compact", "full"],
    Field(description="compact: the latest 100 bars; full: all bars since the listing."),
]
AssetTypeArg = Annotated[AssetType, Field(description="Only securities of this type.")]
MOST = {"daily": 100, "weekly": 52, "monthly": 24}
"""Most bars on a page. The high and low of a month take a look at each of its days."""


class Prices(Service):
    """Symbols and their prices."""

    @reads(example={"keywords": "summit"})
    def search_alpha_symbols(
        self,
        keywords: data.Query | None = None,
        exchange: Exchange | None = None,
        asset_type: AssetTypeArg | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find securities whose symbol or name contains every keyword, best match first.

        match_score runs from 0 to 1. Without keywords, all securities that match the filters are
        listed. Delisted securities come last and have the status delisted.
        """
        rows = data.search(self, WORDS, keywords, asset_type, exchange)
        return page(rows, "matches", limit, cursor, lambda r: self._match(r, keywords or ""))

    @reads(example={"symbol": "SMPK"})
    def get_alpha_global_quote(self, symbol: Symbol) -> Json:
        """Return a quote in dollars as of 15 minutes ago; as_of is the moment of the price.

        It includes the range, volume and change of the latest trading day.
        """
        row = data.find_security(self, WORDS, symbol)
        quote = market.quote(row, delayed(self))
        return {
            "symbol": quote.symbol,
            "open": quote.open,
            "high": quote.high,
            "low": quote.low,
            "price": quote.price,
            "volume": quote.volume,
            "latest_trading_day": market.trading_date(row, delayed(self)).isoformat(),
            "previous_close": quote.previous_close,
            "change": quote.change,
            "change_percent": quote.change_percent,
            "as_of": iso(quote.as_of),
            "delay_minutes": DELAY // 60,
        }

    @reads(example={"symbol": "SMPK", "interval": "weekly"})
    def get_alpha_time_series(
        self,
        symbol: Symbol,
        interval: Interval = "daily",
        outputsize: OutputSize = "compact",
        limit: Limit = 100,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return price bars of completed trading days, newest first.

        A bar has open, high, low and close in dollars, and volume; a week or month is dated by its
        last trading day so far. A page holds at most 100 daily, 52 weekly or 24 monthly bars.
        """
        row = data.find_security(self, WORDS, symbol)
        days = trading_days(self, row)
        spans = data.spans(days, interval)
        first_days = {last.isoformat(): first for first, last in reversed(spans)}
        dates = list(first_days)[: COMPACT if outputsize == "compact" else None]
        about = {
            "symbol": row["symbol"],
            "interval": interval,
            "outputsize": outputsize,
            "last_refreshed": days[-1].isoformat() if days else None,
        }
        most = min(limit, MOST[interval])
        return about | page(
            dates, "series", most, cursor, lambda d: self._bar(row, interval, first_days[d], d)
        )

    def _bar(self, row: Row, interval: Interval, first: date, last: str) -> Json:
        bar = market.bars(row, interval, first, date.fromisoformat(last), self.now)[0]
        return {
            "date": bar.date,
            "open": bar.open,
            "high": bar.high,
            "low": bar.low,
            "close": bar.close,
            "volume": bar.volume,
        }

    def _match(self, row: Row, keywords: str) -> Json:
        asked = keywords.strip().upper()
        name = row["name"]
        score = min(round(len(asked) / max(len(name), 1), 4), 0.99)
        if asked == row["symbol"]:
            score = 1.0
        status = market.state(row, self.now)
        return {
            "symbol": row["symbol"],
            "name": name,
            "type": TYPES[row["kind"]],
            "exchange": EXCHANGES[row["exchange"]],
            "region": "United States",
            "currency": "USD",
            "match_score": score if asked else None,
            "status": status if status in ("halted", "delisted") else "active",
        }
