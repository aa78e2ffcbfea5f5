"""The account: its cash, transfers, dividends and value over time."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _dealing as dealing
from servers.finance import _market as market
from servers.finance._orders import UNIT
from servers.finance.robinhood._model import WORDS, account, worth
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, iso, page, parse_time
from servers.kit.zones import local_day

Span = Annotated[
    Literal["day", "week", "month", "3month", "year", "all"],
    Field(
        description="day: half hours of the last session; week, month and 3month: daily closes; "
        "year and all: weekly closes."
    ),
]
INSTANT = 100_000
"""Cents of uncleared deposits that can be spent at once; Gold accounts get five times that."""
CLEARS = 3
"""How many business days a deposit takes to clear."""
ARRIVES = 2
"""How many business days a withdrawal takes to arrive."""
MOST_PENDING = 5_000_000
"""The most cents in deposits that may be pending at a time."""


class Money(Service):
    """Cash, deposits, withdrawals, dividends, and the account's value over time."""

    @reads()
    def get_account(self) -> Json:
        """Return the account holder, the account's type, and its cash in dollars.

        Cash is shown as buying power, balance, and the amount that can be withdrawn.
        """
        who = self._profile()
        mine = account(self)
        return {
            "name": who["name"],
            "email": who["email"],
            "account_type": who["account_type"],
            "account_number": who["account_number"],
            "opened_at": who["opened_at"],
            "gold": who["gold"],
            "buying_power": dollars(mine.buying_power),
            "cash_balance": dollars(mine.cash),
            "held_for_orders": dollars(mine.holds),
            "unsettled_funds": dollars(mine.unsettled),
            "withdrawable_cash": dollars(mine.withdrawable),
            "linked_bank": {"name": who["bank_name"], "last4": who["bank_last4"]},
        }

    @reads(example={"span": "month"})
    def get_portfolio_history(self, span: Span = "week") -> Json:
        """Return the account's value in dollars, cash included, over a span, oldest point first.

        The last point is now.
        """
        moments = [moment for moment in self._moments(span) if moment < self.now] + [self.now]
        holdings = brokerage.held_at(self, WORDS, brokerage.MAIN, moments)
        values = []
        points = []
        for at, (cash, units) in zip(moments, holdings, strict=True):
            invested = sum(worth(self, symbol, held, at) for symbol, held in sorted(units.items()))
            values.append(dollars(cash + invested))
            points.append({"timestamp": iso(at), "value": values[-1]})
        change = round(values[-1] - values[0], 2)
        return {"span": span, "change": change, "data_points": points}

    def _moments(self, span: str) -> list[int]:
        last = calendar.last_session(self.now)
        opened, closed = calendar.session(last)
        if span == "day":
            return list(range(opened, closed + 1, 1800))
        days = {"week": 5, "month": 21, "3month": 63, "year": 252}.get(span)
        first = calendar.add_days(last, -days) if days else calendar.on_or_after(self._first_day())
        every = 5 if span in ("year", "all") else 1
        numbers = range(calendar.day_number(last), calendar.day_number(first) - 1, -every)
        return sorted(calendar.session(calendar.trading_day(n))[1] for n in numbers)

    def _first_day(self) -> date:
        """Return the day of the first transfer, or a day last week if there is none."""
        query = "SELECT min(created_at) FROM robinhood_transfers WHERE created_at<=?"
        first = self.db.sql(query, self.time)[0][0]
        if first is None:
            return calendar.last_session(self.now) - timedelta(days=7)
        return local_day(parse_time(first), calendar.NEW_YORK)

    @reads()
    def get_dividends(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 30,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return dividends by ex-date, newest first: amount in dollars, shares held, and status.

        A dividend is pending until its pay date.
        """
        rows = dealing.listed_dividends(self, WORDS, since, until)
        return page(rows, "dividends", limit, cursor, self._dividend)

    def _dividend(self, row: Row) -> Json:
        return {
            "dividend_id": row["id"],
            "symbol": row["symbol"],
            "amount": dollars(row["amount"]),
            "rate_per_share": row["per_share"] / market.PIP,
            "shares": row["units"] / UNIT,
            "ex_date": row["ex_date"],
            "pay_date": row["pay_date"],
            "status": "paid" if row["pays_at"] <= self.time else "pending",
        }

    @writes(example={"amount": 200})
    def instant_deposit(self, amount: Dollars) -> Json:
        """Transfer money from the linked bank.

        Up to 1,000 dollars of uncleared deposits (5,000 with Gold) can be spent immediately. The
        rest becomes available, and all of it can be withdrawn, after three business days.
        """
        who = self._profile()
        waiting = self.db.rows(
            "robinhood_transfers",
            "direction='deposit' AND clears_at>? AND failed_at IS NULL",
            self.time,
        )
        most = 5 * INSTANT if who["gold"] else INSTANT
        credit = max(most - sum(deposit["instant"] for deposit in waiting), 0)
        if sum(deposit["amount"] for deposit in waiting) + amount > MOST_PENDING:
            message = "At most $50,000.00 in deposits can be pending at a time."
            hint = "Wait until earlier deposits clear; see list_transfers."
            self.fail("DEPOSIT_LIMIT_EXCEEDED", message, hint)
        clears = calendar.settles(self.now, CLEARS)
        instant = min(amount, credit)
        row = dealing.transfer(
            self, WORDS, "deposit", amount, clears, bank=self._bank(), instant=instant
        )
        return {
            "transfer_id": row["id"],
            "amount": dollars(amount),
            "instant_available": dollars(instant),
            "pending": dollars(amount - instant),
            "status": "pending",
            "clears_at": row["clears_at"],
        }

    @writes(example={"amount": 40})
    def withdraw_to_bank(self, amount: Dollars) -> Json:
        """Send settled cash to the linked bank, where it arrives after two business days."""
        arrives = calendar.settles(self.now, ARRIVES)
        row = dealing.transfer(self, WORDS, "withdrawal", amount, arrives, bank=self._bank())
        return {
            "transfer_id": row["id"],
            "amount": dollars(amount),
            "status": "pending",
            "estimated_arrival": row["clears_at"],
        }

    @reads(example={"limit": 10})
    def list_transfers(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return deposits and withdrawals, newest first.

        Each has the time at which it clears or arrives, and the reason if it failed.
        """
        rows = dealing.listed_transfers(self, WORDS, since, until)
        return page(rows, "transfers", limit, cursor, self._transfer)

    def _transfer(self, row: Row) -> Json:
        status = dealing.transfer_status(row, self.time)
        return {
            "transfer_id": row["id"],
            "direction": row["direction"],
            "amount": dollars(row["amount"]),
            "status": status,
            "bank": row["bank"],
            "created_at": row["created_at"],
            "clears_at": row["clears_at"],
            "failure": row["failure"] if status == "failed" else None,
        }

    def _bank(self) -> str:
        who = self._profile()
        return f"{who['bank_name']} …{who['bank_last4']}"

    def _profile(self) -> Row:
        return self.db.rows("robinhood_profile")[0]
