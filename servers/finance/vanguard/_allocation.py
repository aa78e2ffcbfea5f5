"""How an account is allocated across stocks, bonds and cash, and how to rebalance it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from servers.finance import _brokerage as brokerage
from servers.finance import _market as market
from servers.finance._orders import value
from servers.finance.vanguard._model import account_at
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import dollars

CLASSES = ("stocks", "bonds", "cash")
INVESTED = ("stocks", "bonds")
DEFAULTS = {"stocks": ("MTMAX", "MTMIX"), "bonds": ("MTBAX", "MTBIX")}
"""The funds to buy for a class if no fund of it is held, in order of preference."""
LEAST = 5_000
"""The smallest trade to suggest, in cents."""
SLACK = 100
"""Cents kept back for each sale, which may bring slightly less: shares are sold in thousandths."""
MOST_SOLD = 98
"""The most to sell of a fund's free shares, in percent: the price may fall before the sale."""
PURE = 80
"""The percentage of a class that a fund must hold to be bought for that class."""


def target_json(row: Row | None) -> dict[str, Any]:
    """Return a target allocation in percent."""
    return {f"{name}_percent": None if row is None else row[name] / 100 for name in CLASSES}


def preview(svc: Service, account_id: str) -> Json:
    """Return the current and target allocations, and the suggested trades.

    Fails if no target is set.
    """
    target = svc.db.get("vanguard_targets", account_id)
    if target is None:
        message = "The account has no target allocation."
        hint = "Set one with set_target_allocation."
        svc.fail("TARGET_ALLOCATION_NOT_SET", message, hint, account_id=account_id)
    mine = account_at(svc, account_id)
    funds = _held_funds(svc, mine)
    total = sum(fund.worth for fund in funds) + mine.cash
    present = {}
    for name in INVESTED:
        present[name] = sum(fund.worth * _percent(fund.row, name) // 100 for fund in funds)
    present["cash"] = total - present["stocks"] - present["bonds"]
    shares = {name: present[name] / total * 100 if total else 0.0 for name in CLASSES}
    trades = []
    if total > 0:
        wanted = {name: total * target[name] // 10_000 for name in CLASSES}
        short = {name: wanted[name] - present[name] for name in CLASSES}
        trades = _Rebalancing(svc, mine, funds, short).trades
    return {
        "current_allocation": {f"{name}_percent": round(shares[name], 2) for name in CLASSES},
        "target_allocation": target_json(target),
        "total_value": dollars(total),
        "suggested_trades": trades,
    }


@dataclass(frozen=True)
class _Fund:
    """A fund in an account, with the value of the shares held in cents."""

    symbol: str
    row: Row
    worth: int


def _held_funds(svc: Service, mine: brokerage.Account) -> list[_Fund]:
    """Return the funds in an account by symbol."""
    funds = []
    for symbol, lots in sorted(mine.lots.items()):
        row = market.security(svc, symbol)
        if lots and row is not None:
            worth = value(mine.units(symbol), market.price_pips(row, svc.now))
            funds.append(_Fund(symbol, row, worth))
    return funds


def _percent(row: Row, name: str) -> int:
    return row[f"{name}_percent"] or 0


class _Rebalancing:
    """The trades that bring an account to its target.

    First they sell funds of each overweight class, largest fund first. Then they buy one fund of
    each underweight class with the proceeds and with spare cash. `short` is how many cents each
    class lacks. Trading a mixed fund changes every class that it holds.
    """

    def __init__(
        self, svc: Service, mine: brokerage.Account, funds: list[_Fund], short: dict[str, int]
    ) -> None:
        self.svc = svc
        self.mine = mine
        self.funds = funds
        self.short = short
        self.trades: list[dict[str, Any]] = []
        self.spare = min(max(-short["cash"], 0), mine.buying_power)
        self.money = self.spare - max(short["cash"], 0)
        for name in INVESTED:
            self._sell(name)
        for name in INVESTED:
            self._buy(name)

    def _sell(self, name: str) -> None:
        """Sell the excess of an overweight class, largest fund first."""
        of_class = [fund for fund in self.funds if _main_class(fund.row) == name]
        for fund in sorted(of_class, key=lambda fund: (-fund.worth, fund.symbol)):
            price = market.price_pips(fund.row, self.svc.now)
            free = value(self.mine.free_units(fund.symbol), price) * MOST_SOLD // 100
            excess = -self.short[name] * 100 // max(_percent(fund.row, name), 1)
            amount = min(excess, free)
            if amount >= LEAST and self._trades_now(fund.row):
                self._add("sell", fund.symbol, amount)
                self.money += amount - SLACK
                self._move(fund.row, amount)

    def _buy(self, name: str) -> None:
        """Buy one fund of an underweight class."""
        amount = min(self.short[name], self.money)
        row = self._fund_to_buy(name, amount) if amount >= LEAST else None
        if row is None:
            return
        # An ETF must be paid for before the sales of mutual funds bring in money.
        is_etf = row["kind"] == "etf"
        room = min(self.spare, self.money) if is_etf else self.money
        if room < LEAST:
            return
        amount = min(self.short[name] * 100 // max(_percent(row, name), 1), room)
        if is_etf:
            self.spare -= amount
        self._add("buy", row["symbol"], amount)
        self.money -= amount
        self._move(row, -amount)

    def _fund_to_buy(self, name: str, amount: int) -> dict[str, Any] | None:
        """Return a held mutual fund, else an affordable default fund, else a held ETF."""
        pure = [fund for fund in self.funds if _percent(fund.row, name) >= PURE]
        mutual = [fund for fund in pure if fund.row["kind"] == "mutual_fund"]
        if mutual:
            return max(mutual, key=lambda fund: (fund.worth, fund.symbol)).row
        for symbol in DEFAULTS[name]:
            row = market.security(self.svc, symbol)
            if row is not None and (row["minimum_investment"] or 0) <= amount:
                return row
        etfs = [fund for fund in pure if fund.row["kind"] == "etf"]
        traded = [fund for fund in etfs if self._trades_now(fund.row)]
        if not traded:
            return None
        return max(traded, key=lambda fund: (fund.worth, fund.symbol)).row

    def _trades_now(self, row: Row) -> bool:
        """Whether a fund is neither halted nor delisted."""
        return market.state(row, self.svc.now) in ("open", "closed")

    def _add(self, action: str, symbol: str, amount: int) -> None:
        self.trades.append({"action": action, "fund_id": symbol, "amount": dollars(amount)})

    def _move(self, row: Row, amount: int) -> None:
        """Update what each class lacks after `amount` cents of a fund are sold.

        A purchase is a negative amount.
        """
        for name in INVESTED:
            self.short[name] += amount * _percent(row, name) // 100


def _main_class(row: Row) -> str:
    return "stocks" if _percent(row, "stocks") >= _percent(row, "bonds") else "bonds"
