"""Baskets: several stocks and ETFs traded together by weight."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from servers.finance import _brokerage as brokerage
from servers.finance import _dealing as dealing
from servers.finance import _market as market
from servers.finance._brokerage import Symbol
from servers.finance._orders import Wish, shares
from servers.finance.fidelity._model import WORDS, account
from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page

BasketId = Annotated[str, Field(description="The basket_id, from list_baskets.")]
BasketName = Annotated[str, Field(min_length=1, max_length=60, description="The basket's name.")]


class Part(BaseModel):
    """One security in a basket."""

    model_config = ConfigDict(extra="forbid", strict=True)
    symbol: Symbol
    weight_percent: Annotated[
        float,
        Field(gt=0, le=100, description="Percent of the basket, with at most two decimal places."),
    ]


Parts = Annotated[
    list[Part],
    Field(
        min_length=1,
        max_length=50,
        description="Stocks and ETFs with their weights, which must add up to 100 percent.",
    ),
]


class Baskets(Service):
    """Baskets of stocks and ETFs."""

    @writes(
        example={
            "name": "Northwest",
            "securities": [
                {"symbol": "CSPL", "weight_percent": 60},
                {"symbol": "PXGV", "weight_percent": 40},
            ],
        }
    )
    def create_basket(self, name: BasketName, securities: Parts) -> Json:
        """Create a basket of stocks and ETFs by weight.

        Nothing is bought yet; see trade_basket.
        """
        name = name.strip()
        if not name:
            message = "A basket needs a name."
            hint = "Use at least one letter or digit."
            self.fail("INVALID_BASKET_NAME", message, hint, field="name")
        if any(row["name"].lower() == name.lower() for row in self._baskets()):
            message = f"There is already a basket named {name!r}."
            self.fail("DUPLICATE_BASKET_NAME", message, "Choose another name.", name=name)
        weights = self._weights(securities)
        basket = {
            "id": self.new_id("fdb"),
            "name": name,
            "securities": [[symbol, weight] for symbol, weight in weights.items()],
            "created_at": self.time,
            "deleted_at": None,
        }
        return self._json(self.db.insert("fidelity_baskets", basket))

    def _weights(self, securities: list[Part]) -> dict[str, int]:
        """Return each symbol's weight in hundredths of a percent, or fail if they are invalid."""
        weights: dict[str, int] = {}
        for part in securities:
            row = brokerage.find_security(self, WORDS, part.symbol, ("stock", "etf"))
            brokerage.tradable(self, WORDS, row)
            symbol = row["symbol"]
            weight = Decimal(str(part.weight_percent)) * 100
            if weight != int(weight):
                message = f"The weight of {symbol} has more than two decimal places."
                self.fail("INVALID_WEIGHTS", message, "Round the weights.", symbol=symbol)
            if symbol in weights:
                message = f"{symbol} is listed more than once."
                self.fail("DUPLICATE_SYMBOL", message, "List each security once.", symbol=symbol)
            weights[symbol] = int(weight)
        total = sum(weights.values())
        if total != 10_000:
            message = f"The weights add up to {total / 100:g} percent."
            hint = "They must add up to 100 percent."
            self.fail("INVALID_WEIGHTS", message, hint, total_percent=total / 100)
        return weights

    @reads(example={"basket_id": seeded("fdb", "dividends")})
    def get_basket(self, basket_id: BasketId) -> Json:
        """Return a basket, even a deleted one: its securities with their weights.

        Each security has its current price in dollars and the number of shares that the account
        holds.
        """
        return self._json(self._find(basket_id, deleted=True))

    @reads()
    def list_baskets(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return baskets, newest first, each with its number of securities."""
        return page(self._baskets(), "baskets", limit, cursor, self._short)

    @writes(example={"basket_id": seeded("fdb", "dividends"), "total_amount": 30, "side": "buy"})
    def trade_basket(
        self,
        basket_id: BasketId,
        total_amount: Dollars,
        side: Annotated[
            Literal["buy", "sell"], Field(description="Whether to buy or sell the basket.")
        ],
    ) -> Json:
        """Buy or sell a basket for a dollar amount, split by weight.

        Either all of its orders are placed or none. Each security must get at least one dollar.
        """
        basket = self._find(basket_id)
        amounts = [total_amount * weight // 10_000 for _, weight in basket["securities"]]
        amounts[0] += total_amount - sum(amounts)
        if min(amounts) < 100:
            message = "At least one security in the basket would get less than $1.00."
            smallest = dollars(min(amounts))
            self.fail("INVALID_AMOUNT", message, "Increase total_amount.", smallest=smallest)
        order_ids = []
        for (symbol, _), amount in zip(basket["securities"], amounts, strict=True):
            row = brokerage.find_security(self, WORDS, symbol)
            brokerage.tradable(self, WORDS, row)
            wish = Wish(side, amount=amount)
            order = dealing.place(self, WORDS, row, wish, origin="basket", ref=basket_id)
            order_ids.append(order["id"])
        return {
            "basket_id": basket_id,
            "side": side,
            "total_amount": dollars(total_amount),
            "order_ids": order_ids,
        }

    @writes(example={"basket_id": seeded("fdb", "dividends")}, destructive=True)
    def delete_basket(self, basket_id: BasketId) -> Json:
        """Delete a basket. Shares bought through it stay in the account."""
        self._find(basket_id)
        self.db.update("fidelity_baskets", basket_id, deleted_at=self.time)
        return {"basket_id": basket_id, "status": "deleted"}

    def _baskets(self) -> list[Row]:
        return self.db.rows(
            "fidelity_baskets", "deleted_at IS NULL", order="created_at DESC, rowid DESC"
        )

    def _find(self, basket_id: str, deleted: bool = False) -> Row:
        row = self.db.get("fidelity_baskets", basket_id)
        if row is None or (row["deleted_at"] is not None and not deleted):
            message = f"There is no basket with the ID {basket_id!r}."
            hint = "Get the basket_id from list_baskets."
            self.fail("BASKET_NOT_FOUND", message, hint, basket_id=basket_id)
        return row

    def _short(self, row: Row) -> Json:
        return {
            "basket_id": row["id"],
            "name": row["name"],
            "status": "deleted" if row["deleted_at"] else "active",
            "security_count": len(row["securities"]),
            "created_at": row["created_at"],
        }

    def _json(self, row: Row) -> dict[str, Any]:
        mine = account(self)
        securities = []
        for symbol, weight in row["securities"]:
            asset = brokerage.find_security(self, WORDS, symbol)
            security = {
                "symbol": symbol,
                "weight_percent": weight / 100,
                "current_price": market.price(asset, self.now),
                "shares_held": shares(mine.units(symbol)),
            }
            securities.append(security)
        return self._short(row) | {"securities": securities}
