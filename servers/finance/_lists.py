"""Watchlists and alerts, at any broker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _mail as mail
from servers.finance import _market as market
from servers.finance._brokerage import Words, find_security
from servers.finance._orders import crossing
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso
from servers.kit.zones import local_day, local_moment, months_later

ALERT_LIFE = 90 * 86_400
"""How many seconds an alert stays active."""


# -- watchlist ------------------------------------------------------------------------------------
def watched(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the rows of the watched securities in the order in which they were added."""
    entries = svc.db.rows(f"{words.tables}_watchlist", order="added_at, rowid")
    rows = [market.security(svc, entry["symbol"]) for entry in entries]
    return [row for row in rows if row is not None]


def watch(svc: Service, words: Words, symbol: str) -> dict[str, Any]:
    """Add a security to the watchlist and return its row; adding it twice changes nothing."""
    row = find_security(svc, words, symbol)
    if market.state(row, svc.now) == "delisted":
        message = f"{row['symbol']} is no longer listed."
        hint = f"Find another security with {words.search}."
        svc.fail("SECURITY_DELISTED", message, hint, symbol=row["symbol"])
    if svc.db.get(f"{words.tables}_watchlist", row["symbol"]) is None:
        svc.db.insert(f"{words.tables}_watchlist", {"symbol": row["symbol"], "added_at": svc.time})
    return row


def unwatch(svc: Service, words: Words, symbol: str, lister: str) -> str:
    """Remove a security from the watchlist and return its symbol, or fail if it is not there."""
    key = symbol.strip().upper()
    if svc.db.get(f"{words.tables}_watchlist", key) is None:
        message = f"{key!r} is not on the watchlist."
        hint = f"{lister} shows what is on it."
        svc.fail("NOT_IN_WATCHLIST", message, hint, symbol=key)
    svc.db.delete(f"{words.tables}_watchlist", key)
    return key


# -- alerts ---------------------------------------------------------------------------------------
def first_met(row: Row, condition: str, threshold: int, start: int) -> int | None:
    """Return when the market will first meet an alert's condition during its life, or None."""
    end = start + ALERT_LIFE
    if condition == "volume_above":
        return _volume_met(row, threshold, start, end)
    if condition == "pe_below":
        return _ratio_met(row, threshold, start, end)
    if condition.endswith("above"):
        return _price_met(row, start, end, lambda last: market.pips(last) >= threshold)
    return _price_met(row, start, end, lambda last: market.pips(last) <= threshold)


def _price_met(row: Row, start: int, end: int, hit: Callable[[float], bool]) -> int | None:
    return start if hit(market.price(row, start)) else crossing(row, start, end, hit)


def _volume_met(row: Row, threshold: int, start: int, end: int) -> int | None:
    first = local_day(start, calendar.NEW_YORK)
    last = local_day(end, calendar.NEW_YORK)
    for day in market.days(row, first, last, end):
        opened, closed = calendar.session(day)
        total = market.daily_bar(row, day, closed).volume
        if total < threshold or threshold <= 0 or closed < start:
            continue
        # Volume grows evenly over the session; round up to the minute that reaches the threshold.
        minutes = -(-(closed - opened) * threshold // total // 60)
        moment = opened + minutes * 60
        return max(moment, start) if moment <= end else None
    return None


def _ratio_met(row: Row, threshold: int, start: int, end: int) -> int | None:
    """Search quarter by quarter, because earnings change with each quarter."""
    while start < end:
        day = local_day(start, calendar.NEW_YORK)
        this_quarter = date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
        next_quarter = months_later(this_quarter, 3)
        until = min(local_moment(next_quarter, calendar.OPEN, calendar.NEW_YORK) - 60, end)
        earned = figures.eps(row, start) or 0
        if earned > 0:
            bound = earned * threshold / market.PIP
            met_at = _price_met(row, start, until, lambda last, bound=bound: last < bound)
            if met_at is not None:
                return met_at
        start = until + 60
    return None


def set_alert(
    svc: Service, words: Words, alert_id: str, row: Row, condition: str, threshold: int
) -> Row:
    """Set an alert on a security, and return its row."""
    met_at = first_met(row, condition, threshold, svc.now)
    alert = {
        "id": alert_id,
        "symbol": row["symbol"],
        "condition": condition,
        "threshold": threshold,
        "created_at": svc.time,
        "expires_at": iso(svc.now + ALERT_LIFE),
        "triggers_at": None if met_at is None else iso(met_at),
        "removed_at": None,
    }
    alert = svc.db.insert(f"{words.tables}_alerts", alert)
    mail.alert(svc, words, alert)
    return alert


def alerts(svc: Service, words: Words) -> list[Row]:
    """Return the rows of alerts that have not been removed, newest first."""
    return svc.db.rows(
        f"{words.tables}_alerts", "removed_at IS NULL", order="created_at DESC, rowid DESC"
    )


def alert_status(row: Row, moment: str) -> str:
    """Return "active", "triggered" or "expired"."""
    if row["triggers_at"] is not None and row["triggers_at"] <= moment:
        return "triggered"
    return "expired" if row["expires_at"] <= moment else "active"


def remove_alert(svc: Service, words: Words, alert_id: str, lister: str) -> Row:
    """Remove an alert and return its row from before, or fail if there is none."""
    row = svc.db.get(f"{words.tables}_alerts", alert_id)
    if row is None or row["removed_at"] is not None:
        message = f"There is no alert with the ID {alert_id!r}."
        svc.fail("ALERT_NOT_FOUND", message, f"Get the alert_id from {lister}.", alert_id=alert_id)
    svc.db.update(f"{words.tables}_alerts", alert_id, removed_at=svc.time)
    return row
