"""Vanguard's tables, names and accounts, and the JSON of its funds and orders."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _dealing as dealing
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._orders import average_price, filled, shares, status
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars

TABLES = {
    "vanguard_profile": Table("id:str name:str email:str born:str", identity=True, catalogue=True),
    # The account in the first place is the primary one, which tools use by default.
    "vanguard_accounts": Table(
        "id:str kind:str number:str place:int bank_name:str bank_last4:str opened_at:str",
        catalogue=True,
    ),
    "vanguard_orders": brokerage.ORDERS,
    "vanguard_transfers": brokerage.TRANSFERS,
    "vanguard_dividends": brokerage.DIVIDENDS,
    "vanguard_recurring": clockwork.RECURRING,
    "vanguard_watchlist": brokerage.WATCH,
    "vanguard_reinvest": Table(
        "id:str/matter account_id:str/ref fund_id:str/matter reinvest:bool/matter set_at:str/stamp",
        noun="the choice whether dividends of {fund_id} are reinvested ({reinvest})",
    ),
    # Percentages in hundredths.
    "vanguard_targets": Table(
        "account_id:str/ref stocks:int/matter bonds:int/matter cash:int/matter set_at:str/stamp",
        noun="the target allocation of the account {account_id}",
    ),
    "vanguard_rmd_plans": Table(
        "id:str account_id:str/ref amount:int/matter frequency:str/matter "
        "start_date:str/appointed created_at:str/stamp next_at:str?/derived "
        "cancelled_at:str?/stamp",
        index=("next_at",),
        noun="a plan to withdraw {amount:cents} {frequency} from {start_date:day} on",
    ),
}
WORDS = brokerage.Words(
    tables="vanguard",
    order_id="vgo",
    transfer_id="vgt",
    dividend_id="vgd",
    lot_id="vgl",
    kinds=("mutual_fund", "etf"),
    no_security="FUND_NOT_FOUND",
    no_funds="INSUFFICIENT_SETTLEMENT_FUNDS",
    no_shares="INSUFFICIENT_SHARES",
    search="search_stocks",
    quote="get_stock_quote",
    list_orders="list_orders",
    positions="get_positions",
    deposit="contribute",
)
FundId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=12,
        description="The fund_id is the fund's ticker symbol, e.g. MTMAX.",
    ),
]
AccountId = Annotated[
    str, Field(description="The account_id, from list_accounts; by default the primary account.")
]
SHOWN = {"filled": "executed", "cancelled": "canceled"}
ARRIVES = 2
"""How many business days a withdrawal takes to arrive."""
_SPANS = (
    ("one_month", 30),
    ("three_months", 91),
    ("one_year", 365),
    ("three_years", 3 * 365),
    ("five_years", 5 * 365),
)


def find_account(svc: Service, account_id: str | None) -> dict[str, Any]:
    """Return an account's row (by default the primary account's), or fail."""
    for row in svc.db.rows("vanguard_accounts", order="place"):
        if account_id is None or row["id"] == account_id:
            return row
    message = f"There is no account with the ID {account_id!r}."
    hint = "Get the account_id from list_accounts, or omit it."
    svc.fail("ACCOUNT_NOT_FOUND", message, hint, account_id=account_id)


def account_at(svc: Service, account_id: str, at: int | None = None) -> brokerage.Account:
    """Return an account as of a moment (by default now)."""
    return brokerage.account(svc, WORDS, account_id, at)


def find_fund(svc: Service, fund_id: str) -> dict[str, Any]:
    """Return a fund's row, or fail."""
    return brokerage.find_security(svc, WORDS, fund_id)


def check_purchase(svc: Service, row: Row, account_id: str, amount: int) -> None:
    """Refuse a purchase below one dollar, or a first purchase below the fund's minimum."""
    if amount < 100:
        message = "A purchase must be at least $1.00."
        svc.fail("INVALID_AMOUNT", message, "Increase the amount.", minimum=1.0)
    dealing.check_minimum(svc, WORDS, row, account_at(svc, account_id), amount)


def reinvests(svc: Service, account_id: str, fund_id: str) -> bool:
    """Whether dividends of a fund are reinvested, which is the default."""
    row = svc.db.get("vanguard_reinvest", f"{account_id}:{fund_id}")
    return row is None or row["reinvest"]


def fund_json(svc: Service, row: Row) -> Json:
    """Return a fund in short."""
    quote = market.quote(row, svc.now)
    return {
        "fund_id": row["symbol"],
        "name": row["name"],
        "share_class": row["share_class"],
        "category": row["category"],
        "expense_ratio": row["expense_ratio"],
        "minimum_investment": dollars(row["minimum_investment"] or 100),
        "nav": quote.price,
        "nav_date": market.trading_date(row, svc.now).isoformat(),
        "change": quote.change,
        "change_percent": quote.change_percent,
    }


def whole_fund_json(svc: Service, row: Row) -> Json:
    """Return a fund in full, with its mix and price returns in percent."""
    day = market.trading_date(row, svc.now)
    starts = {name: day - timedelta(days=back) for name, back in _SPANS}
    starts["year_to_date"] = day.replace(month=1, day=1) - timedelta(days=1)
    current = market.price(row, svc.now)
    returns = {}
    for name, start in starts.items():
        before = market.closing(row, calendar.on_or_before(start))
        returns[name] = round((current / before - 1) * 100, 2)
    return fund_json(svc, row) | {
        "about": row["about"],
        "stocks_percent": row["stocks_percent"],
        "bonds_percent": row["bonds_percent"],
        "target_year": row["target_year"],
        "dividend_yield": figures.dividend_yield(row, svc.now),
        "returns": returns,
    }


def state(row: Row, now: str) -> str:
    """Return an order's status as Vanguard names it."""
    general = status(row, now)
    return SHOWN.get(general, general)


def order_json(svc: Service, row: Row) -> Json:
    """Return an order as the agent sees it.

    Until it executes, the number of shares is an estimate at the latest net asset value.
    """
    done = filled(row, svc.time)
    fund = market.security(svc, row["symbol"])
    last = market.price(fund, svc.now) if fund else None
    estimate = None
    if not done.units:
        estimate = _estimated_shares(row, last)
    return {
        "order_id": row["id"],
        "account_id": row["account_id"],
        "fund_id": row["symbol"],
        "side": row["side"],
        "amount": None if row["amount"] is None else dollars(row["amount"]),
        "estimated_shares": estimate,
        "status": state(row, svc.time),
        "nav_price": average_price(row, svc.time) or last,
        "executed_shares": shares(done.units),
        "executed_amount": dollars(done.cents),
        "source": row["origin"],
        "investment_id": row["ref"] if row["origin"] == "recurring" else None,
        "placed_at": row["created_at"],
        "executed_at": done.latest_at,
        "canceled_at": row["cancelled_at"],
        "failure": row["failure"],
    }


def _estimated_shares(row: Row, last: float | None) -> float | None:
    if row["units"] is not None:
        return shares(row["units"])
    return round((row["amount"] or 0) / 100 / last, 3) if last else None


def orders(svc: Service, account_id: str | None) -> list[dict[str, Any]]:
    """Return the orders of one account, or of all, newest first."""
    if account_id is None:
        return dealing.orders(svc, WORDS)
    return dealing.orders(svc, WORDS, find_account(svc, account_id)["id"])


def bank_of(row: Row) -> str:
    """Return a short name of the bank account linked to an account."""
    return f"{row['bank_name']} …{row['bank_last4']}"


Category = Literal["us_stock", "international", "bond", "balanced", "target_date"]
