"""Google Finance's tables, names, and the short form of a security."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

TABLES = {
    "google_finance_watchlists": data.WATCHLISTS,
    "google_finance_portfolios": Table(
        "id:str name:str/matter created_at:str/stamp", noun="the portfolio {name}"
    ),
    # units are 1/100,000,000 shares, price is in 1/10000 dollars; bought_on is the day in New York
    # (for coins, in UTC).
    "google_finance_lots": Table(
        "id:str portfolio_id:str/ref symbol:str/matter units:int/matter price:int/matter "
        "bought_on:str/appointed added_at:str/stamp",
        index=("portfolio_id",),
        noun="a purchase of {symbol} on {bought_on:day} in the portfolio {portfolio_id}",
    ),
}

AssetType = Literal["STOCK", "ETF", "MUTUAL_FUND", "CRYPTO"]
TYPES: dict[str, AssetType] = {
    "stock": "STOCK",
    "etf": "ETF",
    "mutual_fund": "MUTUAL_FUND",
    "crypto": "CRYPTO",
}
Exchange = Annotated[
    Literal["NASDAQ", "NYSE", "NYSEAMERICAN", "MUTF", "CRYPTO"],
    Field(description="Exchange; MUTF means mutual funds, CRYPTO means coins."),
]
EXCHANGES = {
    "NASDAQ": "NASDAQ",
    "NYSE": "NYSE",
    "AMEX": "NYSEAMERICAN",
    "FUND": "MUTF",
    "CRYPTO": "CRYPTO",
}
WORDS = data.Words(
    tables="google_finance",
    watchlist_id="gfw",
    no_symbol="SECURITY_NOT_FOUND",
    no_watchlist="WATCHLIST_NOT_FOUND",
    search="search_google_tickers",
    list_watchlists="list_google_watchlists",
    types=TYPES,
    exchanges=EXCHANGES,
)


def ticker_json(svc: Service, row: Row) -> Json:
    """Return the short form of a security."""
    quote = market.quote(row, svc.now)
    return {
        "symbol": row["symbol"],
        "name": row["name"],
        "asset_type": TYPES[row["kind"]],
        "exchange": EXCHANGES[row["exchange"]],
        "price": quote.price,
        "change_percent": quote.change_percent,
        "market_state": quote.state,
    }
