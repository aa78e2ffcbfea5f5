"""Fidelity's tables and names, and the JSON of its orders and quotes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._orders import average_price, filled, shares, status
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso

TABLES = {
    "fidelity_profile": Table(
        "id:str name:str email:str account_number:str account_type:str registration:str born:str "
        "bank_name:str bank_last4:str opened_at:str",
        identity=True,
        catalogue=True,
    ),
    "fidelity_orders": brokerage.ORDERS,
    "fidelity_transfers": brokerage.TRANSFERS,
    "fidelity_dividends": brokerage.DIVIDENDS,
    "fidelity_watchlist": brokerage.WATCH,
    "fidelity_alerts": brokerage.ALERTS,
    # securities is a list of [symbol, weight in hundredths of a percent].
    "fidelity_baskets": Table(
        "id:str name:str/matter securities:list/matter created_at:str/stamp deleted_at:str?/stamp",
        noun="the basket {name}",
    ),
}
WORDS = brokerage.Words(
    tables="fidelity",
    order_id="fdo",
    transfer_id="fdt",
    dividend_id="fdd",
    lot_id="fdl",
    kinds=("stock", "etf", "mutual_fund", "crypto"),
    no_security="SECURITY_NOT_FOUND",
    no_funds="INSUFFICIENT_FUNDS",
    no_shares="INSUFFICIENT_POSITION",
    search="search_stocks",
    quote="get_stock_quote",
    list_orders="list_orders",
    positions="get_positions",
    deposit="deposit_funds",
)
OrderStatus = Annotated[
    Literal["open", "partially_filled", "filled", "canceled", "expired", "rejected"],
    Field(description="Only orders in this status."),
]
SHOWN = {"pending": "open", "cancelled": "canceled", "failed": "rejected"}


def state(row: Row, now: str) -> str:
    """Return an order's status as Fidelity names it."""
    general = status(row, now)
    return SHOWN.get(general, general)


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as the agent sees it."""
    done = filled(row, svc.time)
    quantity = row["units"]
    if quantity is None:
        quantity = done.units or None
    charged = done.units or status(row, svc.time) == "pending"
    return {
        "order_id": row["id"],
        "symbol": row["symbol"],
        "side": row["side"],
        "quantity": shares(quantity),
        "order_type": row["order_type"],
        "status": state(row, svc.time),
        "filled_quantity": shares(done.units),
        "filled_price": average_price(row, svc.time),
        "filled_value": dollars(done.cents),
        "commission": dollars(row["fee"] if charged else 0),
        "limit_price": _price(row["limit_price"]),
        "stop_price": _price(row["stop_price"]),
        "dollar_amount": None if row["amount"] is None else dollars(row["amount"]),
        "basket_id": row["ref"],
        "lot_ids": row["lots"] or [],
        "placed_at": row["created_at"],
        "executed_at": done.latest_at,
        "good_until": row["expires_at"],
        "canceled_at": row["cancelled_at"],
    }


def _price(at_pips: int | None) -> float | None:
    return None if at_pips is None else at_pips / market.PIP


def minimum_investment(row: Row) -> float | None:
    """Return the minimum first purchase of a fund in dollars, or None if it has none."""
    return None if row["minimum_investment"] is None else dollars(row["minimum_investment"])


def security_json(svc: Service, row: Row) -> Json:
    """Return a security as an item in a list of results."""
    quote = market.quote(row, svc.now)
    return {
        "symbol": row["symbol"],
        "name": row["name"],
        "sector": row["sector"],
        "exchange": row["exchange"],
        "security_type": row["kind"],
        "last_price": quote.price,
        "change_percent": quote.change_percent,
    }


def quote_json(svc: Service, row: Row) -> Json:
    """Return a full quote."""
    quote = market.quote(row, svc.now)
    low, high = market.year_range(row, svc.now)
    return security_json(svc, row) | {
        "industry": row["industry"],
        "previous_close": quote.previous_close,
        "change": quote.change,
        "open": quote.open,
        "high": quote.high,
        "low": quote.low,
        "bid": quote.bid,
        "ask": quote.ask,
        "volume": quote.volume,
        "average_volume": row["volume"],
        "week_52_low": low,
        "week_52_high": high,
        "market_cap": figures.market_cap(row, svc.now),
        "pe_ratio": figures.pe_ratio(row, svc.now),
        "dividend_yield": figures.dividend_yield(row, svc.now),
        "expense_ratio": row["expense_ratio"],
        "minimum_investment": minimum_investment(row),
        "trading_status": quote.state,
        "as_of": iso(quote.as_of),
    }


def account(svc: Service) -> brokerage.Account:
    """Return the account as of now."""
    return brokerage.account(svc, WORDS)
