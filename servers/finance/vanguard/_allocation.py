"""How an account is spread over stocks, bonds and cash, and the trades that bring it to its target."""

from __future__ import annotations

from typing import Any

from servers.finance import _brokerage as brokerage
from servers.finance import _market as market
from servers.finance._orders import value
from servers.finance.vanguard._model import account_at
from servers.kit.service import Service
from servers.kit.values import dollars

CLASSES = ("stocks", "bonds", "cash")
DEFAULTS = {"stocks": ("MTMAX", "MTMIX"), "bonds": ("MTBAX", "MTBIX")}
"""Funds that are bought where none of a class is held."""
LEAST = 5_000
"""Cents below which no trade is suggested."""
SLACK = 100
"""Cents kept back for each sale: funds are sold in thousandths of a share, so that a sale may bring a little less."""


def target_json(row: dict[str, Any] | None) -> dict[str, Any]:
    """Return a target in percent."""
    return {f"{name}_percent": None if row is None else row[name] / 100 for name in CLASSES}


def preview(svc: Service, account_id: str) -> dict[str, Any]:
    """Return present and target allocation, and the suggested trades; refuses where no target was set."""
    target = svc.db.get("vanguard_targets", account_id)
    if target is None:
        hint = "Set one with set_target_allocation."
        svc.fail(
            "TARGET_ALLOCATION_NOT_SET",
            "The account has no target allocation.",
            hint,
            account_id=account_id,
        )
    mine = account_at(svc, account_id)
    funds = {
        s: row
        for s in sorted(mine.lots)
        if mine.lots[s] and (row := market.security(svc, s)) is not None
    }
    worth = {s: value(mine.units(s), market.price_pips(row, svc.now)) for s, row in funds.items()}
    total = sum(worth.values()) + mine.cash
    now = {
        name: sum(worth[s] * _percent(row, name) // 100 for s, row in funds.items())
        for name in ("stocks", "bonds")
    }
    now["cash"] = total - now["stocks"] - now["bonds"]
    wanted = {name: total * target[name] // 10_000 for name in CLASSES}
    return {
        "current_allocation": {
            f"{name}_percent": round(now[name] / total * 100, 2) if total else 0.0
            for name in CLASSES
        },
        "target_allocation": target_json(target),
        "total_value": dollars(total),
        "suggested_trades": _trades(
            svc, mine, funds, worth, {n: wanted[n] - now[n] for n in CLASSES}
        )
        if total > 0
        else [],
    }


def _main(row: dict[str, Any]) -> str:
    return "stocks" if _percent(row, "stocks") >= _percent(row, "bonds") else "bonds"


def _trades(
    svc: Service,
    mine: brokerage.Account,
    funds: dict[str, dict[str, Any]],
    worth: dict[str, int],
    short: dict[str, int],
) -> list[dict[str, Any]]:
    """Sell the largest funds of what there is too much of, and buy for it and for spare cash what there is too little of.

    `short` are the cents that each class lacks; a fund of several classes moves all of them.
    """
    spare = min(max(-short["cash"], 0), mine.buying_power)
    trades = []
    money = spare - max(short["cash"], 0)
    for name in ("stocks", "bonds"):
        for symbol in sorted(
            (s for s in funds if _main(funds[s]) == name), key=lambda s: (-worth[s], s)
        ):
            free = (
                value(mine.free_units(symbol), market.price_pips(funds[symbol], svc.now))
                * 98
                // 100
            )
            amount = min(-short[name] * 100 // max(_percent(funds[symbol], name), 1), free)
            if amount >= LEAST and market.state(funds[symbol], svc.now) in ("open", "closed"):
                trades.append({"action": "sell", "fund_id": symbol, "amount": dollars(amount)})
                money += amount - SLACK
                for moved in ("stocks", "bonds"):
                    short[moved] += amount * _percent(funds[symbol], moved) // 100
    for name in ("stocks", "bonds"):
        symbol = (
            _to_buy(svc, funds, worth, name, min(short[name], money))
            if min(short[name], money) >= LEAST
            else None
        )
        row = market.security(svc, symbol) if symbol is not None else None
        etf = row is not None and row["kind"] == "etf"
        room = (
            min(spare, money) if etf else money
        )  # an ETF is paid before the sales of funds bring their money
        if symbol is not None and row is not None and room >= LEAST:
            amount = min(short[name] * 100 // max(_percent(row, name), 1), room)
            spare -= amount if etf else 0
            trades.append({"action": "buy", "fund_id": symbol, "amount": dollars(amount)})
            money -= amount
            for moved in ("stocks", "bonds"):
                short[moved] -= amount * _percent(row, moved) // 100
    return trades


def _percent(row: dict[str, Any], name: str) -> int:
    return row[f"{name}_percent"] or 0


def _to_buy(
    svc: Service, funds: dict[str, dict[str, Any]], worth: dict[str, int], name: str, amount: int
) -> str | None:
    pure = [s for s, r in funds.items() if r["kind"] == "mutual_fund" and _percent(r, name) >= 80]
    if pure:
        return max(pure, key=lambda s: (worth[s], s))
    for symbol in DEFAULTS[name]:
        row = market.security(svc, symbol)
        if row is not None and (row["minimum_investment"] or 0) <= amount:
            return symbol
    etfs = [
        s
        for s, r in funds.items()
        if r["kind"] == "etf"
        and _percent(r, name) >= 80
        and market.state(r, svc.now) in ("open", "closed")
    ]
    return max(etfs, key=lambda s: (worth[s], s), default=None)
