"""Recurring investments, and everything else that happens as time passes."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _statements as statements
from servers.finance._brokerage import MAIN, Symbol
from servers.finance.robinhood._model import WORDS, worth
from servers.finance.robinhood.options import Options
from servers.kit.control import seeded
from servers.kit.service import happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page
from servers.kit.zones import local_day

Frequency = Annotated[
    Literal["daily", "weekly", "biweekly", "monthly"],
    Field(description="daily means every trading day; for coins, every day."),
]
InvestmentId = Annotated[
    str, Field(description="The investment_id, from list_recurring_investments.")
]


class Recurring(Options):
    """Recurring investments, and the service's clock."""

    @writes(example={"symbol": "LCPX", "amount": 15, "frequency": "weekly"})
    def setup_recurring_investment(
        self, symbol: Symbol, amount: Dollars, frequency: Frequency
    ) -> Json:
        """Invest a dollar amount (at least 1) in a stock, ETF or coin at regular intervals.

        Purchases are made at 10:00 in New York, starting tomorrow. If buying power does not cover a
        purchase, that one fails and the next is tried as scheduled.
        """
        if amount < 100:
            message = "A recurring investment must be at least $1.00."
            self.fail("INVALID_AMOUNT", message, "Increase the amount.", minimum=1.0)
        start = local_day(self.now, calendar.NEW_YORK) + timedelta(days=1)
        row = clockwork.start_recurring(self, WORDS, "rhi", symbol, amount, frequency, start, MAIN)
        return self._plan_json(row)

    @reads()
    def list_recurring_investments(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return recurring investments, newest first, including canceled ones.

        Each has its next run and the order_ids of its latest ten purchases.
        """
        rows = self.db.rows("robinhood_recurring", order="created_at DESC, rowid DESC")
        return page(rows, "investments", limit, cursor, self._plan_json)

    @writes(example={"investment_id": seeded("rhi", "index")}, destructive=True)
    def cancel_recurring_investment(self, investment_id: InvestmentId) -> Json:
        """Cancel a recurring investment. What it has bought stays in the account."""
        clockwork.stop_recurring(self, WORDS, investment_id, "list_recurring_investments")
        return {"investment_id": investment_id, "status": "canceled"}

    def _plan_json(self, row: Row) -> Json:
        runs = self.db.rows(
            "robinhood_orders",
            "ref=? AND created_at<=?",
            row["id"],
            self.time,
            order="created_at DESC, rowid DESC",
            limit=10,
        )
        return {
            "investment_id": row["id"],
            "symbol": row["symbol"],
            "amount": dollars(row["amount"]),
            "frequency": row["frequency"],
            "status": "active" if row["cancelled_at"] is None else "canceled",
            "next_execution": row["next_at"],
            "created_at": row["created_at"],
            "order_ids": [run["id"] for run in runs],
        }

    @happens("finance_agenda.next_at", where="id='robinhood'")
    def record_dividends(self, row: Row) -> None:
        """Record dividends for holdings on an ex-date."""
        clockwork.record_dividends(self, WORDS, [MAIN], lambda *_: False)

    @happens("robinhood_recurring.next_at")
    def make_recurring(self, row: Row) -> None:
        """Make the run of a recurring investment that is due."""
        clockwork.run_recurring(self, WORDS, row)

    @happens("finance_agenda.next_at", where="id='robinhood statements'")
    def send_statement(self, row: Row) -> None:
        """Mail the statement of the month that has ended."""
        statements.send(self, WORDS, [MAIN], worth)
