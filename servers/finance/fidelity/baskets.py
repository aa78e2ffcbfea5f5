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
from servers.kit.values import Cursor, Dollars, Limit, dollars, page

BasketId = Annotated[str, Field(description="basket_id, from list_baskets.")]
BasketName = Annotated[str, Field(min_length=1, max_length=60, description="Name of the basket.")]


class Part(BaseModel):
    """One security of a basket."""

    model_config = ConfigDict(extra="forbid", strict=True)
    symbol: Symbol
    weight_percent: Annotated[
        float,
        Field(gt=0, le=100, description="Share of the basket in percent, at most two decimals."),
    ]


Parts = Annotated[
    list[Part],
    Field(
        min_length=1,
        max_length=50,
        description="Stocks and ETFs with their weights, which add up to 100 percent.",
    ),
]


class Baskets(Service):
    """Baskets."""

    @writes(
        example={
            "name": "Northwest",
            "securities": [
                {"symbol": "CSPL", "weight_percent": 60},
                {"symbol": "PXGV", "weight_percent": 40},
            ],
        }
    )
    def create_basket(self, name: BasketName, securities: Parts) -> dict[str, Any]:
        """Make a basket of stocks and ETFs by weight. Nothing is bought yet; see trade_basket."""
        name = name.strip()
        if not name:
            self.fail(
                "INVALID_BASKET_NAME",
                "A basket needs a name.",
                "Give a name of letters or digits.",
                field="name",
            )
        if any(r["name"].lower() == name.lower() for r in self._baskets()):
            self.fail(
                "DUPLICATE_BASKET_NAME",
                f"A basket is called {name!r} already.",
                "Choose another name.",
                name=name,
            )
        parts: list[list[Any]] = []
        for part in securities:
            row = brokerage.find_security(self, WORDS, part.symbol, ("stock", "etf"))
            brokerage.tradable(self, WORDS, row)
            weight = Decimal(str(part.weight_percent)) * 100
            if weight != int(weight):
                message = f"The weight of {row['symbol']} has more than two decimals."
                self.fail("INVALID_WEIGHTS", message, "Round the weights.", symbol=row["symbol"])
            if row["symbol"] in [p[0] for p in parts]:
                self.fail(
                    "DUPLICATE_SYMBOL",
                    f"{row['symbol']} is named twice.",
                    "Name each security once.",
                    symbol=row["symbol"],
                )
            parts.append([row["symbol"], int(weight)])
        total = sum(p[1] for p in parts)
        if total != 10_000:
            message = f"The weights add up to {total / 100:g} percent."
            self.fail(
                "INVALID_WEIGHTS",
                message,
                "They must add up to 100 percent.",
                total_percent=total / 100,
            )
        made = {
            "id": self.new_id("fdb"),
            "name": name,
            "securities": parts,
            "created_at": self.time,
            "deleted_at": None,
        }
        return self._json(self.db.insert("fidelity_baskets", made))

    @reads(example={"basket_id": seeded("fdb", "dividends")})
    def get_basket(self, basket_id: BasketId) -> dict[str, Any]:
        """Return a basket, deleted or not: its securities with weights, present prices in dollars, and the shares of them that the account
        holds."""
        return self._json(self._find(basket_id, deleted=True))

    @reads()
    def list_baskets(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return baskets, newest first, with how many securities each has."""
        return page(self._baskets(), "baskets", limit, cursor, self._short)

    @writes(example={"basket_id": seeded("fdb", "dividends"), "total_amount": 30, "side": "buy"})
    def trade_basket(
        self,
        basket_id: BasketId,
        total_amount: Dollars,
        side: Annotated[Literal["buy", "sell"], Field(description="Buy or sell the whole basket.")],
    ) -> dict[str, Any]:
        """Buy or sell a basket for an amount of dollars, split by weight: all of its orders are placed or none. Each part is for a dollar
        or more."""
        basket = self._find(basket_id)
        amounts = [total_amount * weight // 10_000 for _, weight in basket["securities"]]
        amounts[0] += total_amount - sum(amounts)
        if min(amounts) < 100:
            hint = "Raise total_amount."
            self.fail(
                "INVALID_AMOUNT",
                "A security of the basket would get less than $1.00.",
                hint,
                smallest=dollars(min(amounts)),
            )
        made = []
        for (symbol, _), amount in zip(basket["securities"], amounts, strict=True):
            row = brokerage.find_security(self, WORDS, symbol)
            brokerage.tradable(self, WORDS, row)
            wish = Wish(side, amount=amount)
            made.append(dealing.place(self, WORDS, row, wish, origin="basket", ref=basket_id)["id"])
        return {
            "basket_id": basket_id,
            "side": side,
            "total_amount": dollars(total_amount),
            "order_ids": made,
        }

    @writes(example={"basket_id": seeded("fdb", "dividends")}, destructive=True)
    def delete_basket(self, basket_id: BasketId) -> dict[str, Any]:
        """Delete a basket; the shares that it bought stay."""
        self._find(basket_id)
        self.db.update("fidelity_baskets", basket_id, deleted_at=self.time)
        return {"basket_id": basket_id, "status": "deleted"}

    def _baskets(self) -> list[dict[str, Any]]:
        return self.db.rows(
            "fidelity_baskets", "deleted_at IS NULL", order="created_at DESC, rowid DESC"
        )

    def _find(self, basket_id: str, deleted: bool = False) -> dict[str, Any]:
        row = self.db.get("fidelity_baskets", basket_id)
        if row is None or (row["deleted_at"] is not None and not deleted):
            hint = "Take a basket_id from list_baskets."
            self.fail(
                "BASKET_NOT_FOUND", f"There is no basket {basket_id!r}.", hint, basket_id=basket_id
            )
        return row

    def _short(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = {
            "basket_id": row["id"],
            "name": row["name"],
            "status": "deleted" if row["deleted_at"] else "active",
        }
        return shown | {"security_count": len(row["securities"]), "created_at": row["created_at"]}

    def _json(self, row: dict[str, Any]) -> dict[str, Any]:
        mine = account(self)
        parts = []
        for symbol, weight in row["securities"]:
            asset = brokerage.find_security(self, WORDS, symbol)
            now = {
                "current_price": market.price(asset, self.now),
                "shares_held": shares(mine.units(symbol)),
            }
            parts.append({"symbol": symbol, "weight_percent": weight / 100} | now)
        return self._short(row) | {"securities": parts}
