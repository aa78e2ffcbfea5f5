"""Allocation and rebalancing, required distributions, and the service's clock."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _dealing as dealing
from servers.finance import _mail as mail
from servers.finance import _retirement as retirement
from servers.finance import _statements as statements
from servers.finance._orders import Wish, status
from servers.finance.vanguard import _allocation as allocation
from servers.finance.vanguard._model import (
    ARRIVES,
    WORDS,
    AccountId,
    bank_of,
    find_account,
    find_fund,
    reinvests,
)
from servers.kit.errors import ServiceError
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Date, Dollars, dollars, iso
from servers.kit.zones import day_start


def _percent(value: float) -> float:
    hundredths = Decimal(str(value)) * 100
    if hundredths != int(hundredths):
        raise ValueError("must be a percentage with at most two decimal places")
    return value


def _hundredths(amount: float) -> int:
    """Convert percent to hundredths of a percent, or dollars to cents."""
    return int(Decimal(str(amount)) * 100)


Percent = Annotated[
    float, Field(ge=0, le=100, description="Percent of the account."), AfterValidator(_percent)
]
ScheduleId = Annotated[str, Field(description="The schedule_id, from get_rmd_status.")]
RmdFrequency = Annotated[
    Literal["monthly", "quarterly", "annually"], Field(description="How often to withdraw.")
]
BirthDate = Annotated[
    Date, Field(description="Date of birth as YYYY-MM-DD; by default the client's.")
]
Balance = Annotated[
    Dollars,
    Field(
        description="Balance on December 31 of last year in dollars; "
        "by default the account's actual balance."
    ),
]


class Planning(Service):
    """Allocation, required distributions, and the service's clock."""

    # -- allocation -------------------------------------------------------------------------------
    @reads()
    def get_target_allocation(self, account_id: AccountId | None = None) -> Json:
        """Return the target allocation in percent; each part is null if no target is set."""
        owner = find_account(self, account_id)
        target = self.db.get("vanguard_targets", owner["id"])
        return {"account_id": owner["id"], **allocation.target_json(target)}

    @writes(example={"stocks_percent": 80, "bonds_percent": 15, "cash_percent": 5}, idempotent=True)
    def set_target_allocation(
        self,
        stocks_percent: Percent,
        bonds_percent: Percent,
        cash_percent: Percent,
        account_id: AccountId | None = None,
    ) -> Json:
        """Set the target percentages of stocks, bonds and cash, which must add up to 100.

        Nothing is traded; see get_rebalance_preview.
        """
        owner = find_account(self, account_id)
        target = {
            "stocks": _hundredths(stocks_percent),
            "bonds": _hundredths(bonds_percent),
            "cash": _hundredths(cash_percent),
        }
        if sum(target.values()) != 10_000:
            total = sum(target.values()) / 100
            message = f"The percentages add up to {total:g}."
            self.fail("INVALID_ALLOCATION", message, "They must add up to 100.", total=total)
        row = self.db.get("vanguard_targets", owner["id"])
        if row is None:
            new = {"account_id": owner["id"], **target, "set_at": self.time}
            self.db.insert("vanguard_targets", new)
        elif any(row[name] != share for name, share in target.items()):
            self.db.update("vanguard_targets", owner["id"], **target, set_at=self.time)
        return {"account_id": owner["id"], **allocation.target_json(target), "status": "set"}

    @reads()
    def get_rebalance_preview(self, account_id: AccountId | None = None) -> Json:
        """Return the current and target allocations in percent, and the trades to rebalance.

        The suggested sales and purchases are in dollars.
        """
        owner = find_account(self, account_id)
        return {"account_id": owner["id"], **allocation.preview(self, owner["id"])}

    @writes(example={})
    def execute_rebalance(self, account_id: AccountId | None = None) -> Json:
        """Place the trades shown by get_rebalance_preview, either all or none.

        Purchases are paid for by the sales placed with them.
        """
        owner = find_account(self, account_id)
        self._check_none_waits(owner["id"])
        trades = allocation.preview(self, owner["id"])["suggested_trades"]
        if not trades:
            message = "No trade of $50.00 or more would bring the account closer to its target."
            hint = "See get_rebalance_preview; funds that are not yet held have minimums."
            self.fail("NOTHING_TO_REBALANCE", message, hint)
        ref = self.new_id("vgs")
        order_ids = []
        for trade in trades:
            row = find_fund(self, trade["fund_id"])
            brokerage.tradable(self, WORDS, row)
            order = dealing.place(
                self,
                WORDS,
                row,
                Wish(trade["action"], amount=_hundredths(trade["amount"])),
                account_id=owner["id"],
                origin="rebalance",
                ref=ref,
                funded=True,
            )
            order_ids.append(order["id"])
        return {
            "account_id": owner["id"],
            "status": "submitted",
            "orders_placed": order_ids,
            "trades": trades,
        }

    def _check_none_waits(self, account_id: str) -> None:
        """Refuse to rebalance while orders from an earlier rebalance are open."""
        waiting = []
        for row in dealing.orders(self, WORDS, account_id):
            is_open = status(row, self.time) in ("pending", "partially_filled")
            if is_open and row["origin"] == "rebalance":
                waiting.append(row["id"])
        if waiting:
            message = "Orders from an earlier rebalance are still pending."
            hint = "Wait until they execute, or cancel them with cancel_order."
            self.fail("REBALANCE_PENDING", message, hint, order_ids=waiting)

    # -- required distributions -------------------------------------------------------------------
    @reads(example={"birth_date": "1952-04-19", "account_balance": 510000})
    def calculate_rmd(
        self,
        account_id: AccountId | None = None,
        birth_date: BirthDate | None = None,
        account_balance: Balance | None = None,
    ) -> Json:
        """Calculate this year's required minimum distribution from a traditional IRA, in dollars.

        This is the balance at the end of last year divided by the life expectancy factor for the
        age reached this year. Nothing is required before age 73 (75 if born in 1960 or later).
        """
        born = date.fromisoformat(birth_date or self._born())
        today = retirement.today(self)
        if born > today:
            message = f"The date of birth {born} is in the future."
            hint = "Give a date of birth in the past."
            self.fail("INVALID_BIRTH_DATE", message, hint, birth_date=str(born))
        if account_balance is None:
            account_balance = self._year_end(self._ira(account_id)["id"], today.year)
        elif account_id is not None:
            find_account(self, account_id)
        age = today.year - born.year
        factor, amount = retirement.rmd(age, account_balance, retirement.first_rmd_age(born))
        return {
            "tax_year": today.year,
            "age": age,
            "life_expectancy_factor": factor,
            "account_balance": dollars(account_balance),
            "rmd_amount": dollars(amount),
            "deadline": retirement.deadline(today.year, born).isoformat() if factor else None,
            "first_rmd_year": born.year + retirement.first_rmd_age(born),
        }

    @reads()
    def get_rmd_status(self, account_id: AccountId | None = None) -> Json:
        """Return the status of an IRA's required distribution this year.

        Amounts required, withdrawn and remaining are in dollars. The reply also has the deadline,
        and the withdrawal plans with their next dates.
        """
        owner = self._ira(account_id)
        born = date.fromisoformat(self._born())
        today = retirement.today(self)
        balance = self._year_end(owner["id"], today.year)
        first = retirement.first_rmd_age(born)
        factor, required = retirement.rmd(today.year - born.year, balance, first)
        start = day_start(date(today.year, 1, 1), calendar.NEW_YORK)
        withdrawn = (
            "SELECT coalesce(sum(amount),0) FROM vanguard_transfers WHERE account_id=? "
            "AND direction='withdrawal' AND failed_at IS NULL "
            "AND created_at>=? AND created_at<=?"
        )
        taken = self.db.sql(withdrawn, owner["id"], start, self.time)[0][0]
        plans = self.db.rows(
            "vanguard_rmd_plans", "account_id=?", owner["id"], order="created_at, rowid"
        )
        return {
            "account_id": owner["id"],
            "birth_date": str(born),
            "tax_year": today.year,
            "last_calculated_rmd": dollars(required),
            "withdrawn_this_year": dollars(taken),
            "remaining": dollars(max(required - taken, 0)),
            "deadline": retirement.deadline(today.year, born).isoformat() if factor else None,
            "withdrawal_schedule": [self._plan_json(plan) for plan in plans],
        }

    @writes(
        example={
            "amount": 25,
            "frequency": "quarterly",
            "start_date": "2026-06-15",
        }
    )
    def schedule_rmd_withdrawal(
        self,
        amount: Dollars,
        frequency: RmdFrequency,
        start_date: Date,
        account_id: AccountId | None = None,
    ) -> Json:
        """Schedule recurring withdrawals from an IRA to the linked bank, and return the plan.

        They start on a future date and come out of settled cash. A withdrawal that the cash does
        not cover fails, and list_withdrawals shows it.
        """
        owner = self._ira(account_id)
        today = retirement.today(self)
        start = date.fromisoformat(start_date)
        if start <= today or start.year > today.year + 5:
            message = f"A withdrawal plan cannot start on {start}."
            hint = "Choose a date after today and within five years."
            self.fail("INVALID_START_DATE", message, hint, today=today.isoformat())
        first = clockwork.next_run(start, frequency, self.now)
        plan = {
            "id": self.new_id("vgr"),
            "account_id": owner["id"],
            "amount": amount,
            "frequency": frequency,
            "start_date": start_date,
            "created_at": self.time,
            "next_at": iso(first),
            "cancelled_at": None,
        }
        plan = self.db.insert("vanguard_rmd_plans", plan)
        mail.plan(self, WORDS, "withdrawals_started", plan)
        return self._plan_json(plan)

    @writes(
        example={"schedule_id": "${plan.schedule_id}"},
        setup=(
            Setup(
                "schedule_rmd_withdrawal",
                {"amount": 25, "frequency": "monthly", "start_date": "2026-06-15"},
                "plan",
            ),
        ),
        destructive=True,
    )
    def cancel_rmd_withdrawal(self, schedule_id: ScheduleId) -> Json:
        """Cancel a withdrawal plan. Past withdrawals are not affected."""
        row = self.db.get("vanguard_rmd_plans", schedule_id)
        if row is None or row["cancelled_at"] is not None:
            message = f"There is no active withdrawal plan with the ID {schedule_id!r}."
            hint = "Get the schedule_id of an active plan from get_rmd_status."
            self.fail("SCHEDULE_NOT_FOUND", message, hint, schedule_id=schedule_id)
        self.db.update("vanguard_rmd_plans", schedule_id, next_at=None, cancelled_at=self.time)
        mail.plan(self, WORDS, "withdrawals_stopped", row)
        return {"schedule_id": schedule_id, "status": "canceled"}

    def _plan_json(self, row: Row) -> Json:
        return {
            "schedule_id": row["id"],
            "amount": dollars(row["amount"]),
            "frequency": row["frequency"],
            "start_date": row["start_date"],
            "next_withdrawal": row["next_at"],
            "status": "active" if row["cancelled_at"] is None else "canceled",
        }

    def _ira(self, account_id: str | None) -> dict[str, Any]:
        owner = find_account(self, account_id)
        if owner["kind"] not in retirement.DISTRIBUTED:
            message = f"Accounts of type {owner['kind']} have no required distributions."
            hint = "Choose a traditional, rollover or SEP IRA from list_accounts."
            self.fail("RMD_NOT_APPLICABLE", message, hint, account_id=owner["id"])
        return owner

    def _year_end(self, account_id: str, year: int) -> int:
        """Return an account's value in cents at the close of the previous year."""
        close = calendar.session(calendar.on_or_before(date(year - 1, 12, 31)))[1]
        balance, units = brokerage.held_at(self, WORDS, account_id, [close])[0]
        for symbol, held in sorted(units.items()):
            balance += brokerage.worth(self, symbol, held, close)
        return max(balance, 0)

    def _born(self) -> str:
        return self.db.rows("vanguard_profile")[0]["born"]

    # -- the clock --------------------------------------------------------------------------------
    @happens("finance_agenda.next_at", where="id='vanguard'")
    def record_dividends(self, row: Row) -> None:
        """Record dividends for holdings on an ex-date."""

        def reinvested(account_id: str, fund_id: str) -> bool:
            return reinvests(self, account_id, fund_id)

        clockwork.record_dividends(self, WORDS, self._account_ids(), reinvested)

    @happens("finance_agenda.next_at", where="id='vanguard statements'")
    def send_statement(self, row: Row) -> None:
        """Mail the statement of the month that has ended."""
        statements.send(self, WORDS, self._account_ids())

    def _account_ids(self) -> list[str]:
        return [row["id"] for row in self.db.rows("vanguard_accounts", order="place")]

    @happens("vanguard_recurring.next_at")
    def make_recurring(self, row: Row) -> None:
        """Make the automatic purchase that is due."""
        clockwork.run_recurring(self, WORDS, row)

    @happens("vanguard_rmd_plans.next_at")
    def withdraw_planned(self, plan: Row) -> None:
        """Make a planned withdrawal; one that cannot be made is recorded as failed."""
        try:
            self._send(plan, self.now)
        except ServiceError as refusal:
            self._send(plan, self.now, failure=refusal.code)
        start = date.fromisoformat(plan["start_date"])
        following = clockwork.next_run(start, plan["frequency"], self.now)
        self.db.update("vanguard_rmd_plans", plan["id"], next_at=iso(following))

    def _send(self, plan: Row, moment: int, failure: str | None = None) -> None:
        """Make one withdrawal of a plan, or record that it failed."""
        dealing.transfer(
            self,
            WORDS,
            "withdrawal",
            plan["amount"],
            calendar.settles(moment, ARRIVES),
            bank=bank_of(find_account(self, plan["account_id"])),
            account_id=plan["account_id"],
            ref=plan["id"],
            at=moment,
            failure=failure,
        )
