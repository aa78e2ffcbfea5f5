"""What a broker mails to the owner of its accounts: orders, transfers, dividends, plans, alerts.

Fills and arrivals are known as soon as something is ordered, so their letters are posted then, for
their own moments. Each says what has become of its row by that moment (`by_then`).
"""

from __future__ import annotations

from decimal import Decimal

from servers.finance import _calendar as calendar
from servers.finance import _market as market
from servers.finance._brokerage import MAIN, Words
from servers.finance._orders import UNIT, Fill, filled, left, status, value, whole
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time

ORIGINS = {
    "recurring": "Recurring investment",
    "basket": "Basket order",
    "rebalance": "Rebalancing",
    "dividend": "Reinvested dividend",
}
CONDITIONS = {
    "above": "reached",
    "below": "fell to",
    "price_above": "reached",
    "price_below": "fell to",
    "volume_above": "traded a volume of",
    "pe_below": "fell below a price-to-earnings ratio of",
}
_CONTRACT = 100
"""How many shares an option contract is for."""


def tell(
    svc: Service, words: Words, occasion: str, said: Json, *, about: str, due: int | None = None
) -> None:
    """Mail the owner of the accounts."""
    svc.post(occasion, owner(svc, words)["email"], said, about=about, due=due)


def owner(svc: Service, words: Words) -> Row:
    """Return the profile of the signed-in customer."""
    return svc.db.rows(f"{words.tables}_profile", limit=1)[0]


def ending(svc: Service, words: Words, account_id: str) -> str:
    """Return the last four digits of an account's number."""
    if account_id == MAIN:
        return owner(svc, words)["account_number"][-4:]
    return (svc.db.get(f"{words.tables}_accounts", account_id) or {})["number"][-4:]


def by_then(svc: Service, words: Words, post: Row) -> Json | None:
    """Return what a letter says now that its moment has come, or None if it is void."""
    occasion = post["template"]
    table = _TABLES.get(occasion)
    if table is None:
        return post["data"]
    row = svc.db.get(f"{words.tables}_{table}", post["about"])
    if row is None:
        return None
    if occasion == "order_filled":
        fills = [Fill(*fill) for fill in row["fills"] if fill[0] == post["data"]["at"]]
        return of_order(svc, words, row, fills[0]) if fills else None
    if occasion == "order_expired":
        return of_order(svc, words, row) if status(row, svc.time) == "expired" else None
    if occasion == "alert_triggered":
        stands = row["removed_at"] is None and row["triggers_at"] is not None
        return of_alert(svc, row) if stands else None
    if table == "dividends":
        return of_dividend(svc, words, row)
    return of_transfer(svc, words, row) if row["failed_at"] is None else None


_TABLES = {
    "order_filled": "orders",
    "order_expired": "orders",
    "alert_triggered": "alerts",
    "dividend_paid": "dividends",
    "dividend_reinvested": "dividends",
    "deposit_arrived": "transfers",
    "withdrawal_arrived": "transfers",
}
"""What may be posted for a later moment, and the table that it is about."""


# -- orders ---------------------------------------------------------------------------------------
def order(svc: Service, words: Words, row: Row) -> None:
    """Mail that an order was received if it waits, and each fill or its expiration when due."""
    fills = [Fill(*fill) for fill in row["fills"]]
    if not fills or fills[0].at > row["created_at"]:
        tell(svc, words, "order_placed", of_order(svc, words, row), about=row["id"])
    occasion = "contract_expired" if row["origin"] == "expiration" else "order_filled"
    for fill in fills:
        said = of_order(svc, words, row, fill)
        tell(svc, words, occasion, said, about=row["id"], due=parse_time(fill.at))
    is_filled = bool(fills) and sum(fill.units for fill in fills) >= whole(row)
    if row["expires_at"] is not None and not is_filled:
        said = of_order(svc, words, row)
        due = parse_time(row["expires_at"])
        tell(svc, words, "order_expired", said, about=row["id"], due=due)


def cancelled(svc: Service, words: Words, row: Row) -> None:
    """Mail that the open part of an order was cancelled."""
    tell(svc, words, "order_cancelled", of_order(svc, words, row), about=row["id"])


def refused(svc: Service, words: Words, row: Row) -> None:
    """Mail that a purchase of a plan could not be made."""
    tell(svc, words, "plan_failed", of_order(svc, words, row), about=row["id"])


def of_order(svc: Service, words: Words, row: Row, fill: Fill | None = None) -> Json:
    """Return the fields of an order, or of one of its fills."""
    symbol = row["symbol"]
    kind = row["kind"]
    done = filled(row, svc.time)
    said = {
        "reference": row["id"],
        "account": ending(svc, words, row["account_id"]),
        "side": row["side"],
        "action": "Bought" if row["side"] == "buy" else "Sold",
        "symbol": symbol,
        "security": _name(svc, words, symbol, kind),
        "ordered": _ordered(row),
        "terms": _terms(row),
        "source": ORIGINS.get(row["origin"]),
        "good_until": row["expires_at"],
        "done": quantity(kind, symbol, done.units) if done.units else None,
        "reason": reason(row["failure"]),
        "amount": row["amount"],
        "at": row["created_at"],
    }
    if fill is None:
        return said
    is_first = row["fills"][0][0] == fill.at
    fee = row["fee"] if is_first else 0
    principal = value(fill.units, fill.at_pips)
    rest = left(row, fill.at)
    return said | {
        "quantity": quantity(kind, symbol, fill.units),
        "price": price(fill.at_pips),
        "principal": principal,
        "fee": fee or None,
        "total": principal + fee if row["side"] == "buy" else principal - fee,
        "open": quantity(kind, symbol, rest) if rest > 0 else None,
        "settles": None if kind == "crypto" else iso(calendar.settles(parse_time(fill.at))),
        "at": fill.at,
    }


def _ordered(row: Row) -> str:
    if row["units"] is None:
        return f"${row['amount'] / 100:,.2f}"
    return quantity(row["kind"], row["symbol"], row["units"])


def _terms(row: Row) -> str:
    if row["limit_price"] is not None:
        return f"limit, {price(row['limit_price'])}"
    if row["stop_price"] is not None:
        return f"stop, {price(row['stop_price'])}"
    return "market"


def _name(svc: Service, words: Words, symbol: str, kind: str) -> str:
    if kind == "option":
        contract = svc.db.get(f"{words.tables}_contracts", symbol) or {}
        return (
            f"{contract['underlying']} {price(contract['strike'])} {contract['right_type']}, "
            f"expires {contract['expiry']}"
        )
    return (market.security(svc, symbol) or {"name": symbol})["name"]


def quantity(kind: str, symbol: str, units: int) -> str:
    """Write stored units: "2 shares", "0.5 BTCR", "1 contract"."""
    exact = Decimal(units) / UNIT
    if kind == "option":
        exact /= _CONTRACT
    number = f"{exact:,.8f}".rstrip("0").rstrip(".")
    if kind == "crypto":
        return f"{number} {symbol}"
    noun = "contract" if kind == "option" else "share"
    return f"{number} {noun}" if exact == 1 else f"{number} {noun}s"


def price(at_pips: int) -> str:
    """Write a price in 1/10000 dollars with two to four decimal places."""
    text = f"{Decimal(at_pips) / market.PIP:,.4f}"
    return f"${text[:-2]}{text[-2:].rstrip('0')}"


def reason(code: str | None) -> str | None:
    """Return in words why something failed."""
    if code is None:
        return None
    return code.removeprefix("R01_").replace("_", " ").lower()


# -- transfers and dividends ----------------------------------------------------------------------
def transfer(svc: Service, words: Words, row: Row) -> None:
    """Mail that a transfer has failed, or that it has begun, and later that it has arrived."""
    said = of_transfer(svc, words, row)
    direction = row["direction"]
    if row["failure"] is not None:
        tell(svc, words, f"{direction}_failed", said, about=row["id"])
        return
    if row["clears_at"] > row["created_at"]:
        tell(svc, words, f"{direction}_started", said, about=row["id"])
    arrives = parse_time(row["clears_at"])
    tell(svc, words, f"{direction}_arrived", said, about=row["id"], due=arrives)


def of_transfer(svc: Service, words: Words, row: Row) -> Json:
    """Return the fields of a transfer."""
    return {
        "reference": row["id"],
        "account": ending(svc, words, row["account_id"]),
        "amount": row["amount"],
        "instant": row["instant"] or None,
        "method": {"ach": "Electronic transfer", "wire": "Wire"}.get(row["method"], row["method"]),
        "bank": row["bank"],
        "tax_year": row["tax_year"],
        "at": row["created_at"],
        "arrives_at": row["clears_at"],
        "reason": reason(row["failure"]),
    }


def dividend(svc: Service, words: Words, row: Row) -> None:
    """Mail a dividend when it is paid, or when it has bought more shares."""
    purchase = _purchase(svc, words, row)
    occasion = "dividend_paid"
    due = row["pays_at"]
    if purchase is not None:
        occasion = "dividend_reinvested"
        due = max(due, purchase["fills"][-1][0])
    said = of_dividend(svc, words, row)
    tell(svc, words, occasion, said, about=row["id"], due=parse_time(due))


def of_dividend(svc: Service, words: Words, row: Row) -> Json:
    """Return the fields of a dividend, with what it has bought if it was reinvested."""
    security = market.security(svc, row["symbol"]) or {"name": row["symbol"], "kind": "stock"}
    purchase = _purchase(svc, words, row)
    bought = None
    if purchase is not None and purchase["fills"]:
        fill = Fill(*purchase["fills"][-1])
        bought = f"{quantity('stock', row['symbol'], fill.units)} at {price(fill.at_pips)}"
    return {
        "reference": row["id"],
        "account": ending(svc, words, row["account_id"]),
        "symbol": row["symbol"],
        "security": security["name"],
        "amount": row["amount"],
        "per_share": price(row["per_share"]),
        "quantity": quantity(security["kind"], row["symbol"], row["units"]),
        "ex_date": row["ex_date"],
        "pay_date": row["pay_date"],
        "bought": bought,
    }


def _purchase(svc: Service, words: Words, row: Row) -> Row | None:
    if row["order_id"] is None:
        return None
    return svc.db.get(f"{words.tables}_orders", row["order_id"])


# -- plans, choices and alerts --------------------------------------------------------------------
def plan(svc: Service, words: Words, occasion: str, row: Row) -> None:
    """Mail that a plan was started or stopped: recurring purchases, or withdrawals."""
    symbol = row.get("symbol")
    said = {
        "reference": row["id"],
        "account": ending(svc, words, row["account_id"]),
        "symbol": symbol,
        "security": (market.security(svc, symbol) or {"name": symbol})["name"] if symbol else None,
        "amount": row["amount"],
        "frequency": row["frequency"],
        "next_at": row["next_at"],
    }
    tell(svc, words, occasion, said, about=row["id"])


def alert(svc: Service, words: Words, row: Row) -> None:
    """Mail an alert when the market meets its condition, if it ever will."""
    if row["triggers_at"] is not None:
        due = parse_time(row["triggers_at"])
        tell(svc, words, "alert_triggered", of_alert(svc, row), about=row["id"], due=due)


def of_alert(svc: Service, row: Row) -> Json:
    """Return the fields of an alert, with the price at the moment that triggers it."""
    security = market.security(svc, row["symbol"]) or {}
    at = row["triggers_at"]
    condition = row["condition"]
    threshold = price(row["threshold"])
    if condition == "volume_above":
        threshold = f"{row['threshold']:,} shares"
    elif condition == "pe_below":
        threshold = f"{row['threshold'] / market.PIP:g}"
    return {
        "reference": row["id"],
        "symbol": row["symbol"],
        "security": security["name"],
        "happened": f"{CONDITIONS[condition]} {threshold}",
        "price": price(market.price_pips(security, parse_time(at))),
        "at": at,
    }
