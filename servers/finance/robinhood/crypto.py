"""Coins, which trade around the clock."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _dealing as dealing
from servers.finance._brokerage import Symbol
from servers.finance._orders import Wish, decimals, filled, shares, units_of
from servers.finance.robinhood._model import (
    WORDS,
    account,
    held,
    holding_json,
    quote_json,
    trade_json,
    worth,
)
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Dollars, dollars

Coins = Annotated[
    float,
    Field(gt=0, le=1_000_000_000, description="Number of coins, with up to eight decimal places."),
]
MINIMUM = 100
"""The minimum purchase in cents."""


class Crypto(Service):
    """Coins."""

    @reads(example={"symbol": "BTCR"})
    def get_crypto_quote(self, symbol: Symbol) -> Json:
        """Return the quote of a coin in dollars.

        The day starts at midnight UTC, and trading never stops.
        """
        return quote_json(self, self._coin(symbol))

    @reads()
    def get_crypto_portfolio(self) -> Json:
        """Return the coins held by symbol, and their total value in dollars.

        Each has its quantity, average cost, value and gain.
        """
        mine = account(self)
        symbols = held(self, mine, "crypto")
        total = sum(worth(self, symbol, mine.units(symbol)) for symbol in symbols)
        return {
            "holdings": {symbol: holding_json(self, mine, symbol) for symbol in symbols},
            "total_value": dollars(total),
        }

    @writes(example={"symbol": "ETRN", "amount_in_dollars": 20})
    def buy_crypto(self, symbol: Symbol, amount_in_dollars: Dollars) -> Json:
        """Buy a coin for a dollar amount (at least 1) at the ask, immediately and at any hour.

        Returns the amount bought and the order_id.
        """
        row = self._coin(symbol)
        brokerage.tradable(self, WORDS, row)
        if amount_in_dollars < MINIMUM:
            message = "A crypto purchase must be at least $1.00."
            self.fail("INVALID_AMOUNT", message, "Increase amount_in_dollars.", minimum=1.0)
        order = dealing.place(self, WORDS, row, Wish("buy", amount=amount_in_dollars))
        done = filled(order, self.time)
        figures = {"quantity": shares(done.units), "amount": dollars(done.cents)}
        return self._receipt(order) | figures

    @writes(example={"symbol": "ETRN", "quantity": 0.01}, destructive=True)
    def sell_crypto(self, symbol: Symbol, quantity: Coins) -> Json:
        """Sell coins at the bid, immediately and at any hour.

        The proceeds can be spent and withdrawn at once.
        """
        row = self._coin(symbol)
        brokerage.tradable(self, WORDS, row)
        wish = Wish("sell", units_of(self, quantity, decimals(row)))
        order = dealing.place(self, WORDS, row, wish)
        done = filled(order, self.time)
        figures = {"quantity": shares(done.units), "proceeds": dollars(done.cents)}
        return self._receipt(order) | figures

    def _receipt(self, order: Row) -> dict[str, Any]:
        trade = trade_json(self, order)
        return {name: trade[name] for name in ("order_id", "symbol", "status", "filled_price")}

    def _coin(self, symbol: str) -> dict[str, Any]:
        return brokerage.find_security(self, WORDS, symbol, ("crypto",))
