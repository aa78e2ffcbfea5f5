"""What happens at a broker by the clock: dividends for who holds on the ex-date, and investments that repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Literal

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._brokerage import Words, account, find_security, tradable
from servers.finance._dealing import order_row, place
from servers.finance._orders import Plan, Wish, plan, value
from servers.kit.errors import ServiceError
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day, local_moment, months_later

RECURRING = Table(
    "id:str account_id:str symbol:str amount:int frequency:str start_date:str created_at:str next_at:str? cancelled_at:str?",
    index=("next_at",),
)
HOUR = time(10)
"""Clock time in New York at which recurring investments are made."""
Frequency = Literal["daily", "weekly", "biweekly", "monthly", "quarterly", "annually"]
_AHEAD = 120


@dataclass(frozen=True)
class Job:
    """A kind of thing that comes due: when the next of it does (epoch seconds), and how it is done."""

    due_at: Callable[[], int | None]
    run: Callable[[int], None]


def run_due(svc: Service, jobs: Iterable[Job]) -> None:
    """Do everything that is due, in order of time."""
    listed = list(jobs)
    while True:
        waiting = [
            (moment, n)
            for n, job in enumerate(listed)
            if (moment := job.due_at()) is not None and moment <= svc.now
        ]
        if not waiting:
            return
        moment, n = min(waiting)
        listed[n].run(moment)


def is_due(svc: Service, words: Words, recurring: bool = True) -> bool:
    """Whether an ex-date or a recurring investment has come since the last look."""
    later = (
        f" UNION ALL SELECT 1 FROM {words.tables}_recurring WHERE next_at<=?2" if recurring else ""
    )
    return bool(
        svc.db.sql(
            f"SELECT 1 FROM finance_agenda WHERE id=?1 AND next_at<=?2{later} LIMIT 1",
            words.tables,
            svc.time,
        )
    )


# -- dividends --------------------------------------------------------------------------------------------------------
def dividends(
    svc: Service, words: Words, accounts: Iterable[str], reinvests: Callable[[str, str], bool]
) -> Job:
    """Return the job that works out dividends on each ex-date; `reinvests` says of an account and symbol whether they buy shares."""
    listed = list(accounts)

    def due_at() -> int | None:
        row = svc.db.get("finance_agenda", words.tables)
        return parse_time(row["next_at"]) if row else None

    def run(moment: int) -> None:
        for row, paid in paid_on(market.securities(svc, words.kinds), moment):
            for account_id in listed:
                entitle(
                    svc, words, account_id, row, paid, moment, reinvests(account_id, row["symbol"])
                )
        svc.db.update(
            "finance_agenda",
            words.tables,
            next_at=next_ex_date(market.securities(svc, words.kinds), moment),
        )

    return Job(due_at, run)


def paid_on(
    rows: list[dict[str, Any]], moment: int
) -> list[tuple[dict[str, Any], figures.Dividend]]:
    """Return the dividends whose ex-date is the day of a moment."""
    day = local_day(moment, calendar.NEW_YORK)
    return [(row, paid) for row in rows for paid in figures.dividends(row, day, day)]


def next_ex_date(rows: list[dict[str, Any]], after: int) -> str:
    """Return the moment (ISO) at which the next ex-date after a moment begins, or, if none is near, of a look again."""
    first = local_day(after, calendar.NEW_YORK) + timedelta(days=1)
    last = first + timedelta(days=_AHEAD)
    found = [paid.ex_date for row in rows for paid in figures.dividends(row, first, last)]
    return iso(calendar.session(calendar.on_or_after(min(found, default=last)))[0])


def entitle(
    svc: Service,
    words: Words,
    account_id: str,
    row: dict[str, Any],
    paid: figures.Dividend,
    moment: int,
    reinvest: bool,
) -> None:
    """Record what a holder is paid, and the purchase that it is put into on the day of payment."""
    units = account(svc, words, account_id, moment - 1).units(row["symbol"])
    amount = value(units, paid.amount)
    if amount <= 0:
        return
    pays_at = calendar.session(paid.pay_date)[0]
    order_id = None
    if reinvest:
        bought, wish = reinvested(row, amount, pays_at)
        reinvest = any(
            fill[1] for fill in bought.fills
        )  # what buys no thousandth of a share is paid in cash
    if reinvest:
        order_id = svc.new_id(words.order_id)
        made = order_row(
            order_id, row, wish, bought, account_id, "dividend", None, None, 0, iso(pays_at)
        )
        svc.db.insert(f"{words.tables}_orders", made)
    svc.db.insert(
        f"{words.tables}_dividends",
        {
            "id": svc.new_id(words.dividend_id),
            **dividend_row(account_id, row, paid, units, order_id),
        },
    )


def reinvested(row: dict[str, Any], amount: int, pays_at: int) -> tuple[Plan, Wish]:
    """Return how a dividend buys shares on the day of its payment."""
    wish = Wish("buy", amount=amount)
    return plan(row, wish, pays_at), wish


def dividend_row(
    account_id: str, row: dict[str, Any], paid: figures.Dividend, units: int, order_id: str | None
) -> dict[str, Any]:
    """Return the row of a dividend, without its id."""
    return {
        "account_id": account_id,
        "symbol": row["symbol"],
        "ex_date": paid.ex_date.isoformat(),
        "pay_date": paid.pay_date.isoformat(),
        "pays_at": iso(calendar.session(paid.pay_date)[0]),
        "per_share": paid.amount,
        "units": units,
        "amount": value(units, paid.amount),
        "order_id": order_id,
    }


# -- recurring investments --------------------------------------------------------------------------------------------
def occurrence(start: date, frequency: Frequency, number: int, every_day: bool = False) -> date:
    """Return the day of the n-th run (from 0); a trading day, unless what is bought trades every day."""
    if frequency == "daily":
        return (
            start + timedelta(days=number)
            if every_day
            else calendar.add_days(calendar.on_or_after(start), number)
        )
    weeks = {"weekly": 1, "biweekly": 2}.get(frequency, 0)
    months = {"monthly": 1, "quarterly": 3, "annually": 12}.get(frequency, 0)
    day = months_later(start, months * number) + timedelta(days=7 * weeks * number)
    return day if every_day else calendar.on_or_after(day)


def next_run(start: date, frequency: Frequency, after: int, every_day: bool = False) -> int:
    """Return the moment of the first run after a moment."""
    number = 0
    while (
        moment := local_moment(
            occurrence(start, frequency, number, every_day), HOUR, calendar.NEW_YORK
        )
    ) <= after:
        number += 1
    return moment


def recurring(svc: Service, words: Words) -> Job:
    """Return the job that makes recurring investments; one that cannot be made leaves a failed order."""
    table = f"{words.tables}_recurring"

    def due_at() -> int | None:
        found = svc.db.sql(f"SELECT min(next_at) FROM {table} WHERE next_at IS NOT NULL")[0][0]
        return parse_time(found) if found else None

    def run(moment: int) -> None:
        for said in svc.db.rows(table, "next_at=?", iso(moment), order="rowid"):
            row = market.security(svc, said["symbol"])
            if row is None:
                svc.db.update(table, said["id"], next_at=None)
                continue
            invest(svc, words, said, row, moment)
            following = next_run(
                date.fromisoformat(said["start_date"]),
                said["frequency"],
                moment,
                row["kind"] == "crypto",
            )
            svc.db.update(table, said["id"], next_at=iso(following))

    return Job(due_at, run)


def invest(
    svc: Service, words: Words, said: dict[str, Any], row: dict[str, Any], moment: int
) -> None:
    """Make one run of a recurring investment."""
    wish = Wish("buy", amount=said["amount"])
    try:
        tradable(svc, words, row, moment)
        place(
            svc,
            words,
            row,
            wish,
            account_id=said["account_id"],
            origin="recurring",
            ref=said["id"],
            at=moment,
        )
    except ServiceError as refusal:
        lapsed = order_row(
            svc.new_id(words.order_id),
            row,
            wish,
            Plan(),
            said["account_id"],
            "recurring",
            said["id"],
            None,
            0,
            iso(moment),
            refusal.code,
        )
        svc.db.insert(f"{words.tables}_orders", lapsed)


def start_recurring(
    svc: Service,
    words: Words,
    prefix: str,
    symbol: str,
    amount: int,
    frequency: Frequency,
    start: date,
    account_id: str,
) -> dict[str, Any]:
    """Set up a recurring investment from a day on, and return its row."""
    row = find_security(svc, words, symbol)
    tradable(svc, words, row)
    first = next_run(start, frequency, svc.now, row["kind"] == "crypto")
    made = {
        "account_id": account_id,
        "symbol": row["symbol"],
        "amount": amount,
        "frequency": frequency,
        "start_date": start.isoformat(),
    }
    times = {"created_at": svc.time, "next_at": iso(first), "cancelled_at": None}
    return svc.db.insert(f"{words.tables}_recurring", {"id": svc.new_id(prefix), **made, **times})


def stop_recurring(svc: Service, words: Words, investment_id: str, lister: str) -> dict[str, Any]:
    """Cancel a recurring investment and return its old row; purchases already made stay."""
    row = svc.db.get(f"{words.tables}_recurring", investment_id)
    if row is None:
        hint = f"Take an investment_id from {lister}."
        svc.fail(
            "INVESTMENT_NOT_FOUND",
            f"There is no recurring investment {investment_id!r}.",
            hint,
            investment_id=investment_id,
        )
    if row["cancelled_at"] is not None:
        hint = f"See {lister} for those that run."
        svc.fail(
            "INVESTMENT_ALREADY_CANCELED",
            f"It was canceled at {row['cancelled_at']}.",
            hint,
            investment_id=investment_id,
        )
    svc.db.update(f"{words.tables}_recurring", investment_id, next_at=None, cancelled_at=svc.time)
    return row
