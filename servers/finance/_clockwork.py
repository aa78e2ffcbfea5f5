"""What a broker does as time passes: dividends on ex-dates, and recurring investments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, time, timedelta
from typing import Any, Literal

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _mail as mail
from servers.finance import _market as market
from servers.finance._brokerage import Words, account, find_security, tradable
from servers.finance._dealing import order_row, place
from servers.finance._orders import Plan, Wish, plan, value
from servers.kit.errors import ServiceError
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import iso
from servers.kit.zones import local_day, local_moment, months_later

RECURRING = Table(
    "id:str account_id:str/ref symbol:str/matter amount:int/matter frequency:str/matter "
    "start_date:str/derived created_at:str/stamp next_at:str?/derived cancelled_at:str?/stamp",
    index=("next_at", "created_at"),
    noun="a {frequency} investment of {amount:cents} in {symbol}",
)
HOUR = time(10)
"""The time of day in New York at which recurring investments are made."""
Frequency = Literal["daily", "weekly", "biweekly", "monthly", "quarterly", "annually"]
_AHEAD = 120
"""How many days the agenda looks ahead for an ex-date."""


# -- dividends ------------------------------------------------------------------------------------
def record_dividends(
    svc: Service, words: Words, accounts: Iterable[str], reinvests: Callable[[str, str], bool]
) -> None:
    """Compute the dividends of an ex-date, which begins now, and note the next one.

    `reinvests` tells for an account and a symbol whether dividends buy more shares.
    """
    listed = list(accounts)
    for row, paid in paid_on(market.securities(svc, words.kinds), svc.now):
        for account_id in listed:
            reinvest = reinvests(account_id, row["symbol"])
            entitle(svc, words, account_id, row, paid, svc.now, reinvest)
    following = next_ex_date(market.securities(svc, words.kinds), svc.now)
    svc.db.update("finance_agenda", words.tables, next_at=following)


def paid_on(rows: list[Row], moment: int) -> list[tuple[dict[str, Any], figures.Dividend]]:
    """Return (security, dividend) pairs for the dividends whose ex-date is the day of a moment."""
    day = local_day(moment, calendar.NEW_YORK)
    payments = []
    for row in rows:
        payments += [(row, dividend) for dividend in figures.dividends(row, day, day)]
    return payments


def next_ex_date(rows: list[Row], after: int) -> str:
    """Return the moment (ISO) at which the first ex-date after the given moment begins.

    If no ex-date is near, return the moment at which to look again.
    """
    first = local_day(after, calendar.NEW_YORK) + timedelta(days=1)
    last = first + timedelta(days=_AHEAD)
    earliest = last
    for row in rows:
        for dividend in figures.dividends(row, first, last):
            earliest = min(earliest, dividend.ex_date)
    return iso(calendar.session(calendar.on_or_after(earliest))[0])


def entitle(
    svc: Service,
    words: Words,
    account_id: str,
    row: Row,
    paid: figures.Dividend,
    moment: int,
    reinvest: bool,
) -> None:
    """Record a holder's dividend, and the purchase that reinvests it on the pay date."""
    units = account(svc, words, account_id, moment - 1).units(row["symbol"])
    amount = value(units, paid.amount)
    if amount <= 0:
        return
    order_id = None
    if reinvest:
        pays_at = calendar.session(paid.pay_date)[0]
        wish = Wish("buy", amount=amount)
        purchase = plan(row, wish, pays_at)
        # A dividend too small to buy a thousandth of a share is paid in cash.
        if any(units_bought for _, units_bought, _ in purchase.fills):
            order_id = svc.new_id(words.order_id)
            order = order_row(
                order_id,
                row,
                wish,
                purchase,
                account_id=account_id,
                origin="dividend",
                created_at=iso(pays_at),
            )
            svc.db.insert(f"{words.tables}_orders", order)
    dividend = dividend_row(account_id, row, paid, units, order_id)
    dividend = {"id": svc.new_id(words.dividend_id), **dividend}
    mail.dividend(svc, words, svc.db.insert(f"{words.tables}_dividends", dividend))


def dividend_row(
    account_id: str, row: Row, paid: figures.Dividend, units: int, order_id: str | None
) -> Row:
    """Return a dividend's row without its ID."""
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


# -- recurring investments ------------------------------------------------------------------------
def occurrence(start: date, frequency: Frequency, number: int, every_day: bool = False) -> date:
    """Return the day of the n-th run, counting from 0.

    Runs fall on trading days, unless `every_day` is set, as it is for coins.
    """
    if frequency == "daily" and every_day:
        return start + timedelta(days=number)
    if frequency == "daily":
        return calendar.add_days(calendar.on_or_after(start), number)
    weeks = {"weekly": 1, "biweekly": 2}.get(frequency, 0)
    months = {"monthly": 1, "quarterly": 3, "annually": 12}.get(frequency, 0)
    day = months_later(start, months * number) + timedelta(days=7 * weeks * number)
    return day if every_day else calendar.on_or_after(day)


def next_run(start: date, frequency: Frequency, after: int, every_day: bool = False) -> int:
    """Return the moment of the first run after the given moment."""
    number = 0
    while True:
        day = occurrence(start, frequency, number, every_day)
        moment = local_moment(day, HOUR, calendar.NEW_YORK)
        if moment > after:
            return moment
        number += 1


def run_recurring(svc: Service, words: Words, investment: Row) -> None:
    """Make the run of a recurring investment that is due now.

    A run that is refused leaves a failed order.
    """
    table = f"{words.tables}_recurring"
    row = market.security(svc, investment["symbol"])
    if row is None:
        svc.db.update(table, investment["id"], next_at=None)
        return
    invest(svc, words, investment, row, svc.now)
    start = date.fromisoformat(investment["start_date"])
    every_day = row["kind"] == "crypto"
    following = next_run(start, investment["frequency"], svc.now, every_day)
    svc.db.update(table, investment["id"], next_at=iso(following))


def invest(svc: Service, words: Words, investment: Row, row: Row, moment: int) -> None:
    """Make one run of a recurring investment."""
    wish = Wish("buy", amount=investment["amount"])
    try:
        tradable(svc, words, row, moment)
        place(
            svc,
            words,
            row,
            wish,
            account_id=investment["account_id"],
            origin="recurring",
            ref=investment["id"],
            at=moment,
        )
    except ServiceError as refusal:
        failed = order_row(
            svc.new_id(words.order_id),
            row,
            wish,
            Plan(),
            account_id=investment["account_id"],
            origin="recurring",
            ref=investment["id"],
            created_at=iso(moment),
            failure=refusal.code,
        )
        mail.refused(svc, words, svc.db.insert(f"{words.tables}_orders", failed))


def start_recurring(
    svc: Service,
    words: Words,
    prefix: str,
    symbol: str,
    amount: int,
    frequency: Frequency,
    start: date,
    account_id: str,
) -> Row:
    """Set up a recurring investment that starts on a day, and return its row."""
    row = find_security(svc, words, symbol)
    tradable(svc, words, row)
    first = next_run(start, frequency, svc.now, row["kind"] == "crypto")
    investment = {
        "id": svc.new_id(prefix),
        "account_id": account_id,
        "symbol": row["symbol"],
        "amount": amount,
        "frequency": frequency,
        "start_date": start.isoformat(),
        "created_at": svc.time,
        "next_at": iso(first),
        "cancelled_at": None,
    }
    investment = svc.db.insert(f"{words.tables}_recurring", investment)
    mail.plan(svc, words, "plan_started", investment)
    return investment


def stop_recurring(svc: Service, words: Words, investment_id: str, lister: str) -> Row:
    """Cancel a recurring investment and return its row from before; past purchases stay."""
    row = svc.db.get(f"{words.tables}_recurring", investment_id)
    if row is None:
        message = f"There is no recurring investment with the ID {investment_id!r}."
        hint = f"Get the investment_id from {lister}."
        svc.fail("INVESTMENT_NOT_FOUND", message, hint, investment_id=investment_id)
    if row["cancelled_at"] is not None:
        message = f"This recurring investment was already canceled at {row['cancelled_at']}."
        hint = f"{lister} shows the recurring investments that are active."
        svc.fail("INVESTMENT_ALREADY_CANCELED", message, hint, investment_id=investment_id)
    svc.db.update(f"{words.tables}_recurring", investment_id, next_at=None, cancelled_at=svc.time)
    mail.plan(svc, words, "plan_stopped", row)
    return row
