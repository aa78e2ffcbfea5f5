"""Robinhood's tables and names, and the JSON of its orders, quotes and holdings."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _clockwork as clockwork
from servers.finance import _market as market
from servers.finance import _options as options
from servers.finance._orders import UNIT, Status, average_price, filled, shares, status, value
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso

TABLES = {
    "robinhood_profile": Table(
        "id:str name:str email:str account_number:str account_type:str gold:bool bank_name:str "
        "bank_last4:str opened_at:str",
        identity=True,
        catalogue=True,
    ),
    "robinhood_orders": brokerage.ORDERS,
    "robinhood_transfers": brokerage.TRANSFERS,
    "robinhood_dividends": brokerage.DIVIDENDS,
    "robinhood_recurring": clockwork.RECURRING,
    "robinhood_watchlist": brokerage.WATCH,
    "robinhood_alerts": brokerage.ALERTS,
    # A contract's id is the symbol of its orders; closed_at is when its expiration was settled.
    "robinhood_contracts": Table(
        "id:str/matter underlying:str/matter right_type:str/matter strike:int/matter "
        "expiry:str/appointed ends_at:str/derived closed_at:str?/derived",
        index=("underlying", "closed_at"),
        noun="the {right_type} contract on {underlying} that expires on {expiry:day}",
    ),
}
WORDS = brokerage.Words(
    tables="robinhood",
    order_id="rho",
    transfer_id="rht",
    dividend_id="rhd",
    lot_id="rhl",
    kinds=("stock", "etf", "crypto"),
    no_security="STOCK_NOT_FOUND",
    no_funds="INSUFFICIENT_BUYING_POWER",
    no_shares="INSUFFICIENT_SHARES",
    search="search_assets",
    quote="get_asset_quote",
    list_orders="list_trades",
    positions="get_portfolio",
    deposit="instant_deposit",
)
LISTED = ("stock", "etf")
SHOWN: dict[Status, str] = {"cancelled": "canceled", "expired": "canceled"}
"""Robinhood has no expired orders: an order not filled in time counts as canceled."""

TradeStatus = Annotated[
    Literal["pending", "partially_filled", "filled", "canceled", "failed"],
    Field(description="Only orders in this status."),
]
Direction = Annotated[Literal["buy", "sell"], Field(description="Buy or sell.")]


def asset_json(svc: Service, row: Row) -> Json:
    """Return a security in short, with its price and the day's change."""
    quote = market.quote(row, svc.now)
    return {
        "symbol": row["symbol"],
        "name": row["name"],
        "type": row["kind"],
        "sector": row["sector"],
        "current_price": quote.price,
        "day_change": quote.change,
        "day_change_percent": quote.change_percent,
        "tradable": quote.state in ("open", "closed"),
    }


def quote_json(svc: Service, row: Row) -> Json:
    """Return a full quote."""
    quote = market.quote(row, svc.now)
    return asset_json(svc, row) | {
        "bid": quote.bid,
        "ask": quote.ask,
        "previous_close": quote.previous_close,
        "day_open": quote.open,
        "day_high": quote.high,
        "day_low": quote.low,
        "volume": quote.volume,
        "market_open": quote.state == "open",
        "halted": quote.state == "halted",
        "price_as_of": iso(quote.as_of),
    }


def state(row: Row, now: str) -> str:
    """Return an order's status as Robinhood names it."""
    general = status(row, now)
    return SHOWN.get(general, general)


def trade_json(svc: Service, row: Row) -> Json:
    """Return an order as the agent sees it; for options, quantities are in contracts."""
    done = filled(row, svc.time)
    size = 100 if row["kind"] == "option" else 1
    ordered = row["units"]
    if ordered is None:
        ordered = done.units or None
    canceled_at = row["cancelled_at"]
    if not canceled_at and status(row, svc.time) == "expired":
        canceled_at = row["expires_at"]
    return {
        "order_id": row["id"],
        "symbol": row["symbol"],
        "asset_type": row["kind"],
        "side": row["side"],
        "quantity": None if ordered is None else shares(ordered // size),
        "amount_in_dollars": None if row["amount"] is None else dollars(row["amount"]),
        "order_type": row["order_type"],
        "limit_price": _price(row["limit_price"]),
        "stop_price": _price(row["stop_price"]),
        "time_in_force": row["duration"],
        "status": state(row, svc.time),
        "filled_quantity": shares(done.units // size),
        "filled_price": average_price(row, svc.time),
        "filled_amount": dollars(done.cents),
        "placed_by": row["origin"],
        "investment_id": row["ref"] if row["origin"] == "recurring" else None,
        "created_at": row["created_at"],
        "filled_at": done.latest_at,
        "expires_at": row["expires_at"],
        "canceled_at": canceled_at,
        "reject_reason": row["failure"],
    }


def _price(at_pips: int | None) -> float | None:
    return None if at_pips is None else at_pips / market.PIP


def account(svc: Service) -> brokerage.Account:
    """Return the account as of now."""
    return brokerage.account(svc, WORDS)


def worth(svc: Service, symbol: str, units: int, at: int | None = None) -> int:
    """Return the value in cents of units of a security or option contract.

    The value is as of a moment (by default now).
    """
    moment = svc.now if at is None else at
    contract = option(svc, symbol, moment)
    if contract is None:
        return brokerage.worth(svc, symbol, units, moment)
    return value(units, market.pips(contract.premium))


def option(svc: Service, symbol: str, at: int) -> options.Contract | None:
    """Return a contract's quote at a moment, or None for what is not a contract of the account."""
    contract = svc.db.get("robinhood_contracts", symbol)
    if contract is None:
        return None
    underlying = market.security(svc, contract["underlying"])
    if underlying is None:
        return None
    expiry = date.fromisoformat(contract["expiry"])
    strike = contract["strike"] / market.PIP
    return options.contract(underlying, at, expiry, contract["right_type"], strike)


def holding_json(svc: Service, mine: brokerage.Account, symbol: str) -> Json:
    """Return a position: quantity, average cost per share, value and gain, in dollars."""
    units = mine.units(symbol)
    cost = mine.cost(symbol)
    current = worth(svc, symbol, units)
    return {
        "quantity": shares(units),
        "average_cost": round(cost * UNIT / units / 100, 4),
        "current_value": dollars(current),
        "unrealized_gain_loss": dollars(current - cost),
    }


def held(svc: Service, mine: brokerage.Account, *kinds: str) -> list[str]:
    """Return the symbols held of the given kinds, in alphabetical order."""
    symbols = sorted(symbol for symbol, lots in mine.lots.items() if lots)
    return [symbol for symbol in symbols if _kind(svc, symbol) in kinds]


def _kind(svc: Service, symbol: str) -> str | None:
    """Return the kind of a security, or "option" for a contract of the account."""
    row = market.security(svc, symbol)
    if row is not None:
        return row["kind"]
    return "option" if option(svc, symbol, svc.now) else None
