"""Deposits and withdrawals, dividends, the watchlist and alerts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _dealing as dealing
from servers.finance import _figures as figures
from servers.finance import _lists as lists
from servers.finance import _market as market
from servers.finance import _retirement as retirement
from servers.finance import _statements as statements
from servers.finance._brokerage import MAIN, Symbol
from servers.finance.fidelity._model import WORDS
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page

Method = Annotated[
    Literal["ach", "wire"],
    Field(
        description="ach: free, arrives in two business days; "
        "wire: arrives the same business day, at least 100 dollars."
    ),
]
Condition = Annotated[
    Literal["price_above", "price_below", "volume_above", "pe_below"],
    Field(
        description="price_above and price_below: the price in dollars; "
        "volume_above: shares traded in a day; pe_below: the price-to-earnings ratio of a stock."
    ),
]
Threshold = Annotated[
    float,
    Field(
        gt=0,
        le=1_000_000_000,
        description="In dollars, shares or a ratio, depending on the condition.",
    ),
]
TaxYear = Annotated[
    int,
    Field(
        ge=2000,
        le=2199,
        description="For retirement accounts only: the year for which the deposit counts.",
    ),
]
AlertId = Annotated[str, Field(description="The alert_id, from list_stock_alerts.")]
SETTLES = 2
"""How many business days an ACH transfer takes."""
LEAST_WIRE = 10_000
"""The minimum wire transfer in cents."""


def _steps_to_one(condition: str) -> int:
    """Return how many steps of a stored threshold make one share, dollar or ratio point."""
    return 1 if condition == "volume_above" else market.PIP


class Money(Service):
    """Transfers, dividends, the watchlist, alerts, and the service's clock."""

    @writes(example={"amount": 250})
    def deposit_funds(
        self, amount: Dollars, method: Method = "ach", tax_year: TaxYear | None = None
    ) -> Json:
        """Transfer money from the linked bank; it can be invested once it has arrived.

        In a retirement account, a deposit is a contribution and counts toward the annual limit for
        its tax year, which is the current year by default.
        """
        who = self._profile()
        year = None
        kind = who["account_type"]
        if kind in retirement.KINDS:
            born = date.fromisoformat(who["born"])
            year = retirement.check_contribution(self, WORDS, amount, tax_year, born, kind)
        elif tax_year is not None:
            message = f"tax_year applies only to retirement accounts; this one is of type {kind}."
            hint = "Omit tax_year."
            self.fail("NOT_A_RETIREMENT_ACCOUNT", message, hint, account_type=kind)
        arrives = self._arrival(amount, method)
        row = dealing.transfer(
            self,
            WORDS,
            "deposit",
            amount,
            arrives,
            method=method,
            bank=self._bank(),
            tax_year=year,
        )
        return self._transfer(row) | {"estimated_available": row["clears_at"]}

    @writes(example={"amount": 35})
    def withdraw_funds(self, amount: Dollars, method: Method = "ach") -> Json:
        """Send settled cash that is not held by open orders to the linked bank."""
        arrives = self._arrival(amount, method)
        row = dealing.transfer(
            self, WORDS, "withdrawal", amount, arrives, method=method, bank=self._bank()
        )
        return self._transfer(row) | {"estimated_arrival": row["clears_at"]}

    @reads(example={"limit": 10})
    def list_transfers(
        self,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return deposits and withdrawals, newest first, with method and status.

        Contributions show their tax year.
        """
        rows = dealing.listed_transfers(self, WORDS, from_date, to_date)
        return page(rows, "transfers", limit, cursor, self._transfer)

    @reads()
    def list_dividends(
        self,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 30,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return dividends in dollars, latest ex-date first.

        They are paid in cash on the pay date.
        """
        rows = dealing.listed_dividends(self, WORDS, from_date, to_date)
        return page(rows, "dividends", limit, cursor, self._dividend)

    def _dividend(self, row: Row) -> Json:
        return {
            "dividend_id": row["id"],
            "symbol": row["symbol"],
            "amount": dollars(row["amount"]),
            "per_share": row["per_share"] / market.PIP,
            "status": "paid" if row["pays_at"] <= self.time else "declared",
            "ex_date": row["ex_date"],
            "pay_date": row["pay_date"],
        }

    def _transfer(self, row: Row) -> Json:
        return {
            "transfer_id": row["id"],
            "type": row["direction"],
            "amount": dollars(row["amount"]),
            "method": row["method"],
            "status": dealing.transfer_status(row, self.time),
            "bank": row["bank"],
            "tax_year": row["tax_year"],
            "requested_at": row["created_at"],
            "completes_at": row["clears_at"],
        }

    def _arrival(self, amount: int, method: str) -> int:
        if method == "ach":
            return calendar.settles(self.now, SETTLES)
        if amount < LEAST_WIRE:
            message = "A wire must be at least $100.00."
            hint = "Use ach, or increase the amount."
            self.fail("AMOUNT_TOO_SMALL", message, hint, minimum=dollars(LEAST_WIRE))
        return self.now if calendar.is_open(self.now) else calendar.next_open(self.now)

    def _bank(self) -> str:
        who = self._profile()
        return f"{who['bank_name']} …{who['bank_last4']}"

    def _profile(self) -> Row:
        return self.db.rows("fidelity_profile")[0]

    # -- watchlist and alerts ---------------------------------------------------------------------
    @reads()
    def get_watchlist(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the watchlist, with prices and the day's changes in dollars and percent."""
        return page(lists.watched(self, WORDS), "watchlist", limit, cursor, self._watched)

    def _watched(self, row: Row) -> Json:
        quote = market.quote(row, self.now)
        return {
            "symbol": row["symbol"],
            "name": row["name"],
            "current_price": quote.price,
            "day_change": quote.change,
            "day_change_percent": quote.change_percent,
        }

    @writes(example={"symbol": "BWTR"}, idempotent=True)
    def add_to_watchlist(self, symbol: Symbol) -> Json:
        """Add a stock, ETF, mutual fund or coin to the watchlist."""
        return {"symbol": lists.watch(self, WORDS, symbol)["symbol"], "status": "watching"}

    @writes(example={"symbol": "GLFX"}, destructive=True)
    def remove_from_watchlist(self, symbol: Symbol) -> Json:
        """Remove a symbol from the watchlist."""
        return {"symbol": lists.unwatch(self, WORDS, symbol, "get_watchlist"), "status": "removed"}

    @writes(example={"symbol": "CSPL", "condition": "pe_below", "threshold": 17.5})
    def set_stock_alert(self, symbol: Symbol, condition: Condition, threshold: Threshold) -> Json:
        """Set an alert for the first time that a condition is met within 90 days.

        If the condition is already met, the alert triggers at once.
        """
        row = brokerage.find_security(self, WORDS, symbol)
        brokerage.tradable(self, WORDS, row)
        symbol = row["symbol"]
        lacks_earnings = condition == "pe_below" and row["eps"] is None
        lacks_volume = condition == "volume_above" and row["kind"] in ("mutual_fund", "crypto")
        if lacks_earnings or lacks_volume:
            figure = "earnings" if lacks_earnings else "trading volume"
            message = f"{symbol} has no {figure}."
            hint = "Use price_above or price_below."
            self.fail("CONDITION_NOT_AVAILABLE", message, hint, symbol=symbol, condition=condition)
        exact = Decimal(str(threshold)) * _steps_to_one(condition)
        if exact != int(exact) or exact < 1:
            message = f"The threshold {threshold} is too small or has too many decimal places."
            hint = "Use whole shares for volume_above, and at most four decimal places otherwise."
            self.fail("INVALID_THRESHOLD", message, hint, threshold=threshold)
        alert_id = self.new_id("fda")
        return self._alert(lists.set_alert(self, WORDS, alert_id, row, condition, int(exact)))

    @reads()
    def list_stock_alerts(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return alerts, newest first, with current prices and status.

        The status is active, triggered (with the time) or expired.
        """
        return page(lists.alerts(self, WORDS), "alerts", limit, cursor, self._alert)

    @writes(example={"alert_id": seeded("fda", "cspl-pe")}, destructive=True)
    def remove_stock_alert(self, alert_id: AlertId) -> Json:
        """Remove an alert permanently."""
        lists.remove_alert(self, WORDS, alert_id, "list_stock_alerts")
        return {"alert_id": alert_id, "status": "removed"}

    def _alert(self, row: Row) -> Json:
        asset = market.security(self, row["symbol"])
        status = lists.alert_status(row, self.time)
        return {
            "alert_id": row["id"],
            "symbol": row["symbol"],
            "condition": row["condition"],
            "threshold": row["threshold"] / _steps_to_one(row["condition"]),
            "status": status,
            "current_price": market.price(asset, self.now) if asset else None,
            "current_pe": figures.pe_ratio(asset, self.now) if asset else None,
            "current_volume": market.quote(asset, self.now).volume if asset else None,
            "triggered_at": row["triggers_at"] if status == "triggered" else None,
            "created_at": row["created_at"],
            "expires_at": row["expires_at"],
        }

    # -- the clock --------------------------------------------------------------------------------
    @happens("finance_agenda.next_at", where="id='fidelity'")
    def record_dividends(self, row: Row) -> None:
        """Record dividends for holdings on an ex-date."""
        clockwork.record_dividends(self, WORDS, [MAIN], lambda *_: False)

    @happens("finance_agenda.next_at", where="id='fidelity statements'")
    def send_statement(self, row: Row) -> None:
        """Mail the statement of the month that has ended."""
        statements.send(self, WORDS, [MAIN])
