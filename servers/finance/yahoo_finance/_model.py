"""Yahoo Finance's tables, names, and the short form of a security."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

TABLES = {
    "yahoo_finance_profile": Table("id:str handle:str", identity=True, catalogue=True),
    "yahoo_finance_watchlists": data.WATCHLISTS,
    # Posts by real people, including the user; `_board` generates those of the crowd.
    "yahoo_finance_posts": Table(
        "id:str symbol:str/matter author:str/derived mine:bool/derived text:str/prose "
        "sentiment:str?/matter created_at:str/stamp deleted_at:str?/stamp",
        index=("symbol", "created_at", "mine, created_at"),
        outward={},
        noun="a post about {symbol} on Yahoo Finance",
    ),
}

QuoteType = Literal["EQUITY", "ETF", "MUTUALFUND", "CRYPTOCURRENCY"]
TYPES: dict[str, QuoteType] = {
    "stock": "EQUITY",
    "etf": "ETF",
    "mutual_fund": "MUTUALFUND",
    "crypto": "CRYPTOCURRENCY",
}
Exchange = Annotated[
    Literal["NMS", "NYQ", "ASE", "NAS", "CCC"],
    Field(
        description="Exchange: NMS is NASDAQ, NYQ the New York Stock Exchange, "
        "ASE NYSE American, NAS mutual funds, CCC coins."
    ),
]
EXCHANGES = {"NASDAQ": "NMS", "NYSE": "NYQ", "AMEX": "ASE", "FUND": "NAS", "CRYPTO": "CCC"}
STATES = {"open": "REGULAR", "closed": "CLOSED", "halted": "HALTED", "delisted": "DELISTED"}
WORDS = data.Words(
    tables="yahoo_finance",
    watchlist_id="yfw",
    no_symbol="QUOTE_NOT_FOUND",
    no_watchlist="WATCHLIST_NOT_FOUND",
    search="search_yahoo_tickers",
    list_watchlists="list_yahoo_watchlists",
    types=TYPES,
    exchanges=EXCHANGES,
)


def ticker_json(svc: Service, row: Row) -> Json:
    """Return the short form of a quote: the security, its price and the day's change."""
    quote = market.quote(row, svc.now)
    return {
        "symbol": row["symbol"],
        "short_name": row["name"],
        "quote_type": TYPES[row["kind"]],
        "exchange": EXCHANGES[row["exchange"]],
        "regular_market_price": quote.price,
        "regular_market_change": quote.change,
        "regular_market_change_percent": quote.change_percent,
        "market_state": STATES[quote.state],
    }
