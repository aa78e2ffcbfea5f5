"""Monthly statements of brokers: what the accounts were worth, and what moved in the month."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import time

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _mail as mail
from servers.finance._brokerage import Words
from servers.finance._orders import value
from servers.kit.service import Service
from servers.kit.types import Json
from servers.kit.values import iso
from servers.kit.zones import local_day, local_moment, months_later

HOUR = time(8)
"""The time of day in New York at which statements are sent, on a month's first trading day."""
Worth = Callable[[Service, str, int, int], int]
"""The cents that units of a symbol are worth at a moment."""


def key(words: Words) -> str:
    """Return the id of the row of the agenda that says when the next statement is sent."""
    return f"{words.tables} statements"


def next_at(after: int) -> str:
    """Return the moment (ISO) of the first statement after a moment."""
    month = local_day(after, calendar.NEW_YORK).replace(day=1)
    while True:
        moment = local_moment(calendar.on_or_after(month), HOUR, calendar.NEW_YORK)
        if moment > after:
            return iso(moment)
        month = months_later(month, 1)


def send(
    svc: Service, words: Words, accounts: Iterable[str], worth: Worth = brokerage.worth
) -> None:
    """Mail the statement of the month that has ended, and note when the next one is due.

    A month in which the accounts were empty has none.
    """
    until = local_day(svc.now, calendar.NEW_YORK).replace(day=1)
    since = months_later(until, -1)
    first = local_moment(since, time(0), calendar.NEW_YORK)
    end = local_moment(until, time(0), calendar.NEW_YORK)
    names: list[str] = []
    opening: list[int] = []
    closing: list[int] = []
    moved = {"deposits": 0, "withdrawals": 0, "dividends": 0, "bought": 0, "sold": 0}
    for account_id in accounts:
        values = []
        held = brokerage.held_at(svc, words, account_id, [first - 1, end - 1])
        for moment, (cash, units) in zip((first - 1, end - 1), held, strict=True):
            each = [worth(svc, symbol, units[symbol], moment) for symbol in sorted(units)]
            values.append(cash + sum(each))
        names.append(f"…{mail.ending(svc, words, account_id)}")
        opening.append(values[0])
        closing.append(values[1])
        for name, amount in _moved(svc, words, account_id, iso(first), iso(end)).items():
            moved[name] += amount
    said = {
        "month": f"{since:%B %Y}",
        "accounts": names,
        "opening": opening,
        "closing": closing,
        "total": sum(closing),
        **{name: amount or None for name, amount in moved.items()},
    }
    if any(opening) or any(closing) or any(moved.values()):
        mail.tell(svc, words, "statement", said, about=key(words))
    svc.db.update("finance_agenda", key(words), next_at=next_at(svc.now))


def _moved(svc: Service, words: Words, account_id: str, first: str, end: str) -> Json:
    """Return in cents what came into an account and left it, and what was traded."""
    moved = {"deposits": 0, "withdrawals": 0, "dividends": 0, "bought": 0, "sold": 0}
    for row in svc.db.rows(f"{words.tables}_transfers", "account_id=?", account_id):
        is_deposit = row["direction"] == "deposit"
        at = row["clears_at"] if is_deposit else row["created_at"]
        if row["failed_at"] is None and first <= at < end:
            moved["deposits" if is_deposit else "withdrawals"] += row["amount"]
    paid = "account_id=? AND pays_at>=? AND pays_at<?"
    for row in svc.db.rows(f"{words.tables}_dividends", paid, account_id, first, end):
        moved["dividends"] += row["amount"]
    for row in svc.db.rows(f"{words.tables}_orders", "account_id=?", account_id):
        for at, units, at_pips in row["fills"]:
            if first <= at < end:
                moved["bought" if row["side"] == "buy" else "sold"] += value(units, at_pips)
    return moved
