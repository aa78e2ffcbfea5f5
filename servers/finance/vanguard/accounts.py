"""Accounts, contributions, withdrawals, dividends and automatic investments."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _dealing as dealing
from servers.finance import _mail as mail
from servers.finance import _market as market
from servers.finance import _retirement as retirement
from servers.finance._orders import UNIT
from servers.finance.vanguard._model import (
    ARRIVES,
    WORDS,
    AccountId,
    FundId,
    account_at,
    bank_of,
    check_purchase,
    find_account,
    find_fund,
    reinvests,
)
from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page
from servers.kit.zones import local_day

TaxYear = Annotated[
    int,
    Field(
        ge=2000,
        le=2199,
        description="For IRAs only: the year for which the contribution counts. "
        "It is this year or, until April 15, last year.",
    ),
]
Frequency = Annotated[
    Literal["weekly", "biweekly", "monthly", "quarterly"],
    Field(description="How often to invest, starting tomorrow."),
]
InvestmentId = Annotated[str, Field(description="The investment_id, from list_auto_investments.")]
Canceled = Annotated[bool, Field(description="Whether to include canceled investments.")]
CLEARS = 5
"""How many business days must pass before a contribution can be withdrawn."""


class Accounts(Service):
    """Accounts, and the money that moves in and out of them."""

    @reads()
    def get_user_profile(self) -> Json:
        """Return the client's profile, and the type of the primary account.

        Its cash and buying power are in dollars.
        """
        who = self._profile()
        owner = find_account(self, None)
        mine = account_at(self, owner["id"])
        return {
            "name": who["name"],
            "email": who["email"],
            "birth_date": who["born"],
            "account_id": owner["id"],
            "account_type": owner["kind"],
            "buying_power": dollars(mine.buying_power),
            "cash_balance": dollars(mine.cash),
        }

    @reads()
    def list_accounts(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return all accounts, the primary account first.

        Each has its type, and in dollars its invested value, cash, withdrawable cash and total.
        """
        rows = self.db.rows("vanguard_accounts", order="place")
        return page(rows, "accounts", limit, cursor, self._account)

    def _account(self, row: Row) -> Json:
        mine = account_at(self, row["id"])
        invested = sum(
            brokerage.worth(self, symbol, mine.units(symbol)) for symbol in sorted(mine.lots)
        )
        return {
            "account_id": row["id"],
            "account_type": row["kind"],
            "number": row["number"],
            "primary": row["id"] == find_account(self, None)["id"],
            "invested_value": dollars(invested),
            "cash_balance": dollars(mine.cash),
            "buying_power": dollars(mine.buying_power),
            "withdrawable_cash": dollars(mine.withdrawable),
            "total_value": dollars(invested + mine.cash),
            "bank": bank_of(row),
            "opened_at": row["opened_at"],
        }

    # -- in and out -------------------------------------------------------------------------------
    @writes(example={"amount": 100, "tax_year": 2026})
    def contribute(
        self, amount: Dollars, tax_year: TaxYear | None = None, account_id: AccountId | None = None
    ) -> Json:
        """Contribute to an account from the linked bank.

        The money can be invested immediately, and withdrawn after five business days. A
        contribution to an IRA counts toward the limit for its tax year, which applies to all IRAs
        here together.
        """
        owner = find_account(self, account_id)
        year = None
        if owner["kind"] in retirement.KINDS:
            born = self._birthday()
            year = retirement.check_contribution(self, WORDS, amount, tax_year, born, owner["kind"])
        elif tax_year is not None:
            message = f"tax_year applies only to IRAs; this account is of type {owner['kind']}."
            hint = "Omit tax_year, or use the account_id of an IRA from list_accounts."
            self.fail("NOT_A_RETIREMENT_ACCOUNT", message, hint, account_id=owner["id"])
        clears = calendar.settles(self.now, CLEARS)
        row = dealing.transfer(
            self,
            WORDS,
            "deposit",
            amount,
            clears,
            bank=bank_of(owner),
            account_id=owner["id"],
            instant=amount,
            tax_year=year,
        )
        return self._contribution(row)

    @reads(example={"limit": 10})
    def list_contributions(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return contributions to all accounts, newest first.

        For each open tax year, the reply also has the contribution limit and what remains of it.
        """
        born = self._birthday()
        years = retirement.open_years(retirement.today(self))
        rows = dealing.listed_transfers(self, WORDS, since, until, "deposit")
        return {
            "tax_years": [retirement.row_of_year(year, self, WORDS, born) for year in years],
            **page(rows, "contributions", limit, cursor, self._contribution),
        }

    def _contribution(self, row: Row) -> Json:
        return {
            "contribution_id": row["id"],
            "account_id": row["account_id"],
            "amount": dollars(row["amount"]),
            "tax_year": row["tax_year"],
            "status": dealing.transfer_status(row, self.time),
            "bank": row["bank"],
            "made_at": row["created_at"],
            "clears_at": row["clears_at"],
        }

    @writes(example={"amount": 30})
    def withdraw(self, amount: Dollars, account_id: AccountId | None = None) -> Json:
        """Send settled cash from an account to the linked bank.

        For withdrawals from an IRA before age 59 and a half, the reply shows the ten percent tax
        penalty.
        """
        owner = find_account(self, account_id)
        arrives = calendar.settles(self.now, ARRIVES)
        row = dealing.transfer(
            self, WORDS, "withdrawal", amount, arrives, bank=bank_of(owner), account_id=owner["id"]
        )
        early = retirement.today(self) < retirement.penalty_ends(self._birthday())
        is_ira = owner["kind"] in retirement.KINDS
        penalty = dollars(amount // 10) if is_ira and early else 0.0
        return self._withdrawal(row) | {"early_withdrawal_penalty": penalty}

    @reads(example={"limit": 10})
    def list_withdrawals(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return withdrawals from all accounts, newest first.

        Those made by a withdrawal plan have its schedule_id.
        """
        rows = dealing.listed_transfers(self, WORDS, since, until, "withdrawal")
        return page(rows, "withdrawals", limit, cursor, self._withdrawal)

    def _withdrawal(self, row: Row) -> Json:
        status = dealing.transfer_status(row, self.time)
        return {
            "withdrawal_id": row["id"],
            "account_id": row["account_id"],
            "amount": dollars(row["amount"]),
            "status": status,
            "bank": row["bank"],
            "requested_at": row["created_at"],
            "estimated_arrival": None if status == "failed" else row["clears_at"],
            "schedule_id": row["ref"],
            "failure": row["failure"],
        }

    # -- dividends --------------------------------------------------------------------------------
    @reads(example={"fund_id": "MRFFX"})
    def get_dividend_history(
        self,
        fund_id: FundId | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 30,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return dividends in all accounts, latest ex-date first.

        Each has its amount in dollars, the shares held, the pay date and, if it was reinvested, the
        order_id of the purchase.
        """
        rows = dealing.listed_dividends(self, WORDS, since, until)
        if fund_id is not None:
            rows = rows.only("symbol=?", find_fund(self, fund_id)["symbol"])
        return page(rows, "dividends", limit, cursor, self._dividend)

    def _dividend(self, row: Row) -> Json:
        paid = row["pays_at"] <= self.time
        purchase = None
        if row["order_id"] is not None:
            purchase = self.db.get("vanguard_orders", row["order_id"])
        return {
            "dividend_id": row["id"],
            "account_id": row["account_id"],
            "fund_id": row["symbol"],
            "amount": dollars(row["amount"]),
            "per_share": row["per_share"] / market.PIP,
            "shares": row["units"] / UNIT,
            "ex_date": row["ex_date"],
            "pay_date": row["pay_date"],
            "status": "paid" if paid else "announced",
            "reinvested": purchase is not None and purchase["cancelled_at"] is None,
            "order_id": row["order_id"] if paid else None,
        }

    @writes(example={"fund_id": "MRFFX", "reinvest": False}, idempotent=True)
    def toggle_dividend_reinvestment(
        self,
        fund_id: FundId,
        reinvest: Annotated[
            bool,
            Field(
                description="true: dividends buy more shares; false: dividends are paid in cash."
            ),
        ],
        account_id: AccountId | None = None,
    ) -> Json:
        """Choose whether dividends of a fund are reinvested or paid in cash.

        The choice applies to ex-dates from now on. The fund must be held.
        """
        row = find_fund(self, fund_id)
        owner = find_account(self, account_id)
        if not account_at(self, owner["id"]).units(row["symbol"]):
            message = f"The account holds no {row['symbol']}."
            hint = "get_positions shows what the account holds."
            self.fail("POSITION_NOT_FOUND", message, hint, fund_id=row["symbol"])
        key = f"{owner['id']}:{row['symbol']}"
        if reinvests(self, owner["id"], row["symbol"]) != reinvest:
            if self.db.get("vanguard_reinvest", key):
                self.db.update("vanguard_reinvest", key, reinvest=reinvest, set_at=self.time)
            else:
                choice = {
                    "id": key,
                    "account_id": owner["id"],
                    "fund_id": row["symbol"],
                    "reinvest": reinvest,
                    "set_at": self.time,
                }
                self.db.insert("vanguard_reinvest", choice)
            said = {
                "account": mail.ending(self, WORDS, owner["id"]),
                "symbol": row["symbol"],
                "security": row["name"],
                "choice": "reinvest in the same fund" if reinvest else "pay in cash",
                "at": self.time,
            }
            mail.tell(self, WORDS, "dividend_choice", said, about=key)
        return {
            "fund_id": row["symbol"],
            "account_id": owner["id"],
            "reinvest": reinvest,
            "status": "updated",
        }

    # -- automatic investments --------------------------------------------------------------------
    @writes(example={"fund_id": "MRFFX", "amount": 50, "frequency": "monthly"})
    def setup_auto_invest(
        self,
        fund_id: FundId,
        amount: Dollars,
        frequency: Frequency,
        account_id: AccountId | None = None,
    ) -> Json:
        """Buy a fund for a dollar amount of settlement cash at regular intervals, from tomorrow on.

        If the cash does not cover a purchase, that one fails and the next is tried as scheduled.
        """
        row = find_fund(self, fund_id)
        owner = find_account(self, account_id)
        check_purchase(self, row, owner["id"], amount)
        start = local_day(self.now, calendar.NEW_YORK) + timedelta(days=1)
        investment = clockwork.start_recurring(
            self, WORDS, "vgi", row["symbol"], amount, frequency, start, owner["id"]
        )
        return self._plan(investment)

    @reads()
    def list_auto_investments(
        self, include_canceled: Canceled = False, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return active automatic investments, newest first.

        Each has its next date and the number of purchases made.
        """
        wanted = "1" if include_canceled else "cancelled_at IS NULL"
        rows = Listing(self.db, "vanguard_recurring", by="created_at", where=wanted)
        return page(rows, "investments", limit, cursor, self._plan)

    @writes(example={"investment_id": seeded("vgi", "target")}, destructive=True)
    def cancel_auto_invest(self, investment_id: InvestmentId) -> Json:
        """Cancel an automatic investment. Its past purchases stay."""
        clockwork.stop_recurring(self, WORDS, investment_id, "list_auto_investments")
        return {"investment_id": investment_id, "status": "canceled"}

    def _plan(self, row: Row) -> Json:
        # Its orders are for an amount, so each is filled once its last fill is past.
        filled = f"ref=? AND {brokerage.LAST_FILL}<=? AND failure IS NULL"
        query = f"SELECT count(*) FROM vanguard_orders WHERE {filled}"
        purchases = self.db.sql(query, row["id"], self.time)[0][0]
        return {
            "investment_id": row["id"],
            "account_id": row["account_id"],
            "fund_id": row["symbol"],
            "amount": dollars(row["amount"]),
            "frequency": row["frequency"],
            "next_execution": row["next_at"],
            "status": "active" if row["cancelled_at"] is None else "canceled",
            "purchases_made": purchases,
        }

    def _birthday(self) -> date:
        return date.fromisoformat(self._profile()["born"])

    def _profile(self) -> Row:
        return self.db.rows("vanguard_profile")[0]
