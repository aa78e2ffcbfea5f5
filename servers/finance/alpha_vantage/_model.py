"""Alpha Vantage's tables, its names, and its delay behind the market."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _data as data
from servers.finance import _market as market
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.zones import local_day

TABLES = {"alpha_vantage_watchlists": data.WATCHLISTS}
DELAY = 900
"""Seconds by which quotes and news are late."""
COMPACT = 100
"""Number of points in a compact series."""

AssetType = Literal["Equity", "ETF", "Mutual Fund", "Digital Currency"]
TYPES: dict[str, AssetType] = {
    "stock": "Equity",
    "etf": "ETF",
    "mutual_fund": "Mutual Fund",
    "crypto": "Digital Currency",
}
Exchange = Annotated[
    Literal["NASDAQ", "NYSE", "NYSE MKT", "NMFQS", "CRYPTO"],
    Field(description="Exchange; NMFQS means mutual funds, CRYPTO means coins."),
]
EXCHANGES = {
    "NASDAQ": "NASDAQ",
    "NYSE": "NYSE",
    "AMEX": "NYSE MKT",
    "FUND": "NMFQS",
    "CRYPTO": "CRYPTO",
}
WORDS = data.Words(
    tables="alpha_vantage",
    watchlist_id="avw",
    no_symbol="SYMBOL_NOT_FOUND",
    no_watchlist="WATCHLIST_NOT_FOUND",
    search="search_alpha_symbols",
    list_watchlists="list_alpha_watchlists",
    types=TYPES,
    exchanges=EXCHANGES,
)
Interval = Annotated[Literal["daily", "weekly", "monthly"], Field(description="Length of a bar.")]


def delayed(svc: Service) -> int:
    """Return the moment that quotes and news reflect: 15 minutes ago."""
    return svc.now - DELAY


def trading_days(svc: Service, row: Row, since: date | None = None) -> list[date]:
    """Return a security's completed trading days, oldest first.

    A day counts as complete 15 minutes after its close.
    """
    seen = delayed(svc)
    last = calendar.last_closed(seen)
    if row["kind"] == "crypto":
        last = local_day(seen, market.UTC) - timedelta(days=1)
    return market.days(row, since or date(1990, 1, 2), last, svc.now)


def quote_json(svc: Service, row: Row) -> Json:
    """Return the short form of a delayed quote."""
    quote = market.quote(row, delayed(svc))
    return {
        "symbol": row["symbol"],
        "name": row["name"],
        "price": quote.price,
        "change": quote.change,
        "change_percent": quote.change_percent,
    }
