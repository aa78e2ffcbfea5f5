"""Allocation and rebalancing, required distributions, and what the clock does."""

from __future__ import annotations

import functools
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _clockwork as clockwork
from servers.finance import _dealing as dealing
from servers.finance import _retirement as retirement
from servers.finance._clockwork import Job
from servers.finance._orders import Wish, status
from servers.finance.vanguard import _allocation as allocation
from servers.finance.vanguard._model import (
    WORDS,
    AccountId,
    bank_of,
    find_account,
    find_fund,
    reinvests,
)
from servers.kit.errors import ServiceError
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Date, Dollars, dollars, iso, parse_time
from servers.kit.zones import day_start


def _percent(value: float) -> float:
    if Decimal(str(value)) * 100 != int(Decimal(str(value)) * 100):
        raise ValueError("must be a percentage with at most two decimals")
    return value


Percent = Annotated[
    float, Field(ge=0, le=100, description="Percent of the account."), AfterValidator(_percent)
]
ScheduleId = Annotated[str, Field(description="schedule_id, from get_rmd_status.")]
RmdFrequency = Annotated[
    Literal["monthly", "quarterly", "annually"], Field(description="How often money is sent out.")
]
BirthDate = Annotated[
    Date, Field(description="Date of birth as YYYY-MM-DD; the client's own when left out.")
]
Balance = Annotated[
    Dollars,
    Field(
        description="Balance on 31 December of last year in dollars; the account's own when left out."
    ),
]


class Planning(Service):
    """Allocation, distributions, the clock."""

    # -- allocation ---------------------------------------------------------------------------------------------------
    @reads()
    def get_target_allocation(self, account_id: AccountId | None = None) -> dict[str, Any]:
        """Return the target shares of stocks, bonds and cash in percent; null where none was set."""
        owner = find_account(self, account_id)
        return {
            "account_id": owner["id"],
            **allocation.target_json(self.db.get("vanguard_targets", owner["id"])),
        }

    @writes(example={"stocks_percent": 80, "bonds_percent": 15, "cash_percent": 5}, idempotent=True)
    def set_target_allocation(
        self,
        stocks_percent: Percent,
        bonds_percent: Percent,
        cash_percent: Percent,
        account_id: AccountId | None = None,
    ) -> dict[str, Any]:
        """Set the target shares, which add up to 100 percent. Nothing is traded; see get_rebalance_preview."""
        owner = find_account(self, account_id)
        said = (stocks_percent, bonds_percent, cash_percent)
        stocks, bonds, cash = (int(Decimal(str(p)) * 100) for p in said)
        if stocks + bonds + cash != 10_000:
            total = (stocks + bonds + cash) / 100
            self.fail(
                "INVALID_ALLOCATION",
                f"The shares add up to {total:g} percent.",
                "They must add up to 100.",
                total=total,
            )
        row = self.db.get("vanguard_targets", owner["id"])
        new = {"stocks": stocks, "bonds": bonds, "cash": cash}
        if row is None:
            self.db.insert(
                "vanguard_targets", {"account_id": owner["id"], **new, "set_at": self.time}
            )
        elif any(row[k] != v for k, v in new.items()):
            self.db.update("vanguard_targets", owner["id"], **new, set_at=self.time)
        return {"account_id": owner["id"], **allocation.target_json(new), "status": "set"}

    @reads()
    def get_rebalance_preview(self, account_id: AccountId | None = None) -> dict[str, Any]:
        """Return present and target allocation in percent, and the sales and purchases in dollars that would bring them together."""
        owner = find_account(self, account_id)
        return {"account_id": owner["id"], **allocation.preview(self, owner["id"])}

    @writes(example={})
    def execute_rebalance(self, account_id: AccountId | None = None) -> dict[str, Any]:
        """Place the trades of get_rebalance_preview, all or none; purchases are paid by the sales of the same set."""
        owner = find_account(self, account_id)
        waiting = [
            r["id"]
            for r in dealing.orders(self, WORDS, owner["id"])
            if r["origin"] == "rebalance"
            and status(r, self.time) in ("pending", "partially_filled")
        ]
        if waiting:
            hint = "Wait until they are executed, or cancel them with cancel_order."
            self.fail(
                "REBALANCE_PENDING",
                "Orders of an earlier rebalancing are pending.",
                hint,
                order_ids=waiting,
            )
        trades = allocation.preview(self, owner["id"])["suggested_trades"]
        made = []
        if not trades:
            hint = "See get_rebalance_preview; funds that are not held yet have minimums."
            self.fail(
                "NOTHING_TO_REBALANCE",
                "No trade of $50.00 or more brings the account nearer to its target.",
                hint,
            )
        ref = self.new_id("vgs")
        for trade in trades:
            row = find_fund(self, trade["fund_id"])
            brokerage.tradable(self, WORDS, row)
            wish = Wish(trade["action"], amount=int(Decimal(str(trade["amount"])) * 100))
            made.append(
                dealing.place(
                    self,
                    WORDS,
                    row,
                    wish,
                    account_id=owner["id"],
                    origin="rebalance",
                    ref=ref,
                    funded=True,
                )["id"]
            )
        return {
            "account_id": owner["id"],
            "status": "submitted",
            "orders_placed": made,
            "trades": trades,
        }

    # -- required distributions ---------------------------------------------------------------------------------------
    @reads(example={"birth_date": "1952-04-19", "account_balance": 510000})
    def calculate_rmd(
        self,
        account_id: AccountId | None = None,
        birth_date: BirthDate | None = None,
        account_balance: Balance | None = None,
    ) -> dict[str, Any]:
        """Return what must be taken out of a traditional IRA this year: the balance at the end of last year divided by the years of the
        uniform lifetime table at the age reached this year; nothing before 73 (born 1960 or later: 75). Amounts in dollars."""
        born = date.fromisoformat(birth_date or self._born())
        today = retirement.today(self)
        if born > today:
            self.fail(
                "INVALID_BIRTH_DATE",
                f"{born} lies ahead.",
                "Give a date of birth in the past.",
                birth_date=str(born),
            )
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
    def get_rmd_status(self, account_id: AccountId | None = None) -> dict[str, Any]:
        """Return this year's required distribution of an IRA in dollars: how much, what was withdrawn so far, what is left, by when, and
        the plans of withdrawal with their next dates."""
        owner = self._ira(account_id)
        born = date.fromisoformat(self._born())
        today = retirement.today(self)
        balance = self._year_end(owner["id"], today.year)
        first = retirement.first_rmd_age(born)
        factor, required = retirement.rmd(today.year - born.year, balance, first)
        start = day_start(date(today.year, 1, 1), calendar.NEW_YORK)
        taken = self.db.sql(
            "SELECT coalesce(sum(amount),0) FROM vanguard_transfers WHERE account_id=? AND direction='withdrawal' AND failed_at IS NULL"
            " AND created_at>=? AND created_at<=?",
            *(owner["id"], start, self.time),
        )[0][0]
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
            "withdrawal_schedule": [self._plan_json(p) for p in plans],
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
    ) -> dict[str, Any]:
        """Have money of an IRA sent to the linked bank again and again from a date to come, out of settled cash; a withdrawal that the cash
        does not cover fails and shows in list_withdrawals. Returns the plan."""
        owner = self._ira(account_id)
        today = retirement.today(self)
        start = date.fromisoformat(start_date)
        if start <= today or start.year > today.year + 5:
            hint = "Choose a date after today and within five years."
            self.fail(
                "INVALID_START_DATE",
                f"A plan cannot begin on {start}.",
                hint,
                today=today.isoformat(),
            )
        made = {
            "id": self.new_id("vgr"),
            "account_id": owner["id"],
            "amount": amount,
            "frequency": frequency,
            "start_date": start_date,
        }
        first = clockwork.next_run(start, frequency, self.now)
        times = {"created_at": self.time, "next_at": iso(first), "cancelled_at": None}
        return self._plan_json(self.db.insert("vanguard_rmd_plans", made | times))

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
    def cancel_rmd_withdrawal(self, schedule_id: ScheduleId) -> dict[str, Any]:
        """End a plan of withdrawals; what was sent out stays out."""
        row = self.db.get("vanguard_rmd_plans", schedule_id)
        if row is None or row["cancelled_at"] is not None:
            hint = "Take the schedule_id of an active plan from get_rmd_status."
            self.fail(
                "SCHEDULE_NOT_FOUND",
                f"There is no active plan {schedule_id!r}.",
                hint,
                schedule_id=schedule_id,
            )
        self.db.update("vanguard_rmd_plans", schedule_id, next_at=None, cancelled_at=self.time)
        return {"schedule_id": schedule_id, "status": "canceled"}

    def _plan_json(self, row: dict[str, Any]) -> dict[str, Any]:
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
            message = f"No distribution is required of accounts of the type {owner['kind']}."
            hint = "Name a traditional or rollover IRA of list_accounts."
            self.fail("RMD_NOT_APPLICABLE", message, hint, account_id=owner["id"])
        return owner

    def _year_end(self, account_id: str, year: int) -> int:
        close = calendar.session(calendar.on_or_before(date(year - 1, 12, 31)))[1]
        cash, units = brokerage.held_at(self, WORDS, account_id, [close])[0]
        return max(
            cash + sum(brokerage.worth(self, s, n, close) for s, n in sorted(units.items())), 0
        )

    def _born(self) -> str:
        return self.db.rows("vanguard_profile")[0]["born"]

    # -- the clock ----------------------------------------------------------------------------------------------------
    def due(self) -> bool:
        """Whether a withdrawal, a purchase or an ex-date has come."""
        planned = self.db.sql(
            "SELECT 1 FROM vanguard_rmd_plans WHERE next_at<=? LIMIT 1", self.time
        )
        return bool(planned) or clockwork.is_due(self, WORDS)

    def tick(self) -> None:
        """Make withdrawals of plans and automatic purchases, and record dividends, in order of time."""
        accounts = [r["id"] for r in self.db.rows("vanguard_accounts", order="place")]
        paid = clockwork.dividends(
            self, WORDS, accounts, lambda account_id, fund_id: reinvests(self, account_id, fund_id)
        )
        clockwork.run_due(
            self, [paid, clockwork.recurring(self, WORDS), Job(self._next_plan, self._run_plans)]
        )

    def _next_plan(self) -> int | None:
        found = self.db.sql(
            "SELECT min(next_at) FROM vanguard_rmd_plans WHERE next_at IS NOT NULL"
        )[0][0]
        return parse_time(found) if found else None

    def _run_plans(self, moment: int) -> None:
        for said in self.db.rows("vanguard_rmd_plans", "next_at=?", iso(moment), order="rowid"):
            bank = bank_of(find_account(self, said["account_id"]))
            arrives = calendar.settles(moment, 2)
            send = functools.partial(
                dealing.transfer, self, WORDS, "withdrawal", said["amount"], arrives, bank=bank
            )
            send = functools.partial(send, account_id=said["account_id"], ref=said["id"], at=moment)
            try:
                send()
            except ServiceError as refusal:
                send(failure=refusal.code)
            following = clockwork.next_run(
                date.fromisoformat(said["start_date"]), said["frequency"], moment
            )
            self.db.update("vanguard_rmd_plans", said["id"], next_at=iso(following))
