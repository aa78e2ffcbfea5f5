"""The account, its positions and tax lots, and orders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _calendar as calendar
from servers.finance import _dealing as dealing
from servers.finance import _market as market
from servers.finance import _options as options
from servers.finance._brokerage import OrderId, Price, Quantity, Query, Symbol
from servers.finance._orders import UNIT, shares, value
from servers.finance.fidelity._model import (
    WORDS,
    OrderStatus,
    account,
    order_json,
    quote_json,
    security_json,
    state,
)
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page, parse_time
from servers.kit.zones import local_day, months_later

Side = Annotated[Literal["buy", "sell"], Field(description="Buy or sell.")]
Type = Annotated[
    Literal["market", "limit", "stop"],
    Field(
        description="Funds and coins can be traded only with market orders. "
        "Limit and stop orders expire at the end of the day."
    ),
]
Security = Annotated[
    Literal["stock", "etf", "option", "crypto", "mutual_fund"],
    Field(description="Only securities of this type; option: those with listed options."),
]
LotIds = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=20,
        description="The lot_ids to sell, in order, from get_tax_lots; "
        "by default the oldest lots are sold first.",
    ),
]
Sold = Annotated[bool, Field(description="Whether to include lots that were sold completely.")]
FEE_FAMILIES = {"Ironwood": 4995}
"""Fund families that charge for each purchase, with the charge in cents."""


class Trading(Service):
    """The account, its positions, and orders."""

    @reads()
    def get_investor_profile(self) -> Json:
        """Return the account holder, the account's type and registration, and its cash.

        Buying power, cash and the amount available to withdraw are in dollars.
        """
        who = self.db.rows("fidelity_profile")[0]
        mine = account(self)
        return {
            "name": who["name"],
            "email": who["email"],
            "account_number": who["account_number"],
            "account_type": who["account_type"],
            "registration": who["registration"],
            "opened_at": who["opened_at"],
            "buying_power": dollars(mine.buying_power),
            "cash_balance": dollars(mine.cash),
            "committed_to_open_orders": dollars(mine.holds),
            "cash_available_to_withdraw": dollars(mine.withdrawable),
            "bank": {"name": who["bank_name"], "last4": who["bank_last4"]},
        }

    @reads(example={"query": "summit", "security_type": "stock"})
    def search_stocks(
        self,
        query: Query,
        security_type: Security | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return securities whose symbol or name contains every word of the query.

        The best match comes first. Stocks, ETFs, mutual funds and coins are searched.
        """
        kinds = WORDS.kinds if security_type in (None, "option") else (security_type,)
        matches = market.search(self, query, kinds)
        if security_type == "option":
            matches = [row for row in matches if options.has_options(row)]
        return page(matches, "securities", limit, cursor, lambda row: security_json(self, row))

    @reads(example={"symbol": "CNDR"})
    def get_stock_quote(self, symbol: Symbol) -> Json:
        """Return a quote in dollars for a stock, ETF, mutual fund or coin.

        It includes the 52-week range, valuation figures, and the time of the quote.
        """
        return quote_json(self, brokerage.find_security(self, WORDS, symbol))

    @reads()
    def get_positions(self) -> Json:
        """Return positions by symbol, their total value, and the cash balance.

        Each position has its quantity, average cost, value, gain, and shares available to sell.
        """
        mine = account(self)
        positions = {}
        total = 0
        for symbol in sorted(symbol for symbol, lots in mine.lots.items() if lots):
            units = mine.units(symbol)
            cost = mine.cost(symbol)
            worth = brokerage.worth(self, symbol, units)
            total += worth
            positions[symbol] = {
                "quantity": shares(units),
                "available_to_sell": shares(mine.free_units(symbol)),
                "average_cost": round(cost * UNIT / units / 100, 4),
                "cost_basis": dollars(cost),
                "current_value": dollars(worth),
                "unrealized_gain_loss": dollars(worth - cost),
            }
        return {
            "positions": positions,
            "total_value": dollars(total),
            "cash_balance": dollars(mine.cash),
        }

    @reads(example={"symbol": "TMKT"})
    def get_tax_lots(
        self,
        symbol: Symbol,
        include_sold: Sold = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the tax lots of a position, oldest first.

        Each lot has its remaining shares, cost basis, purchase date, gain in dollars, and term:
        long if held for more than a year, else short.
        """
        row = brokerage.find_security(self, WORDS, symbol)
        mine = account(self)
        position = list(mine.lots.get(row["symbol"], ()))
        if include_sold:
            position += mine.sold.get(row["symbol"], ())
        position.sort(key=lambda lot: lot.acquired_at)
        lots = {lot.id: lot for lot in position}
        return page(list(lots), "lots", limit, cursor, lambda lot_id: self._lot(row, lots[lot_id]))

    def _lot(self, row: Row, lot: brokerage.Lot) -> Json:
        worth = brokerage.worth(self, lot.symbol, lot.units)
        acquired = local_day(parse_time(lot.acquired_at), calendar.NEW_YORK)
        is_long_term = local_day(self.now, calendar.NEW_YORK) > months_later(acquired, 12)
        return {
            "lot_id": lot.id,
            "symbol": lot.symbol,
            "shares": shares(lot.units),
            "shares_bought": shares(lot.bought),
            "cost_basis": dollars(lot.cost),
            "acquired_date": acquired.isoformat(),
            "current_price": market.price(row, self.now),
            "gain_loss": dollars(worth - lot.cost),
            "term": "long" if is_long_term else "short",
        }

    @writes(
        example={
            "symbol": "DVQL",
            "side": "buy",
            "quantity": 1,
            "order_type": "limit",
            "limit_price": 60,
        }
    )
    def place_order(
        self,
        symbol: Symbol,
        side: Side,
        quantity: Quantity,
        order_type: Type = "market",
        limit_price: Price | None = None,
        stop_price: Price | None = None,
        lot_ids: LotIds | None = None,
    ) -> Json:
        """Order shares, and return the order.

        Stocks and ETFs fill at the bid or ask while the market is open, funds at the next net asset
        value, and coins immediately. A sale may name the tax lots to sell.
        """
        row = brokerage.find_security(self, WORDS, symbol)
        brokerage.tradable(self, WORDS, row)
        wish = dealing.wish_of(self, row, side, quantity, order_type, limit_price, stop_price)
        if lot_ids is not None:
            self._check_lots(row["symbol"], side, wish.units or 0, lot_ids)
        elif side == "sell":
            lot_ids = self._unpromised(row["symbol"])
        fee = 0
        if side == "buy":
            amount = value(wish.units or 0, market.price_pips(row, self.now))
            dealing.check_minimum(self, WORDS, row, account(self), amount)
            if row["kind"] == "mutual_fund":
                fee = FEE_FAMILIES.get(row["family"] or "", 0)
        order = dealing.place(self, WORDS, row, wish, fee=fee, lots=lot_ids)
        return order_json(self, order)

    def _check_lots(self, symbol: str, side: str, wanted: int, lot_ids: list[str]) -> None:
        """Fail if lots are named for a purchase, are not held, or do not cover the sale."""
        if side == "buy":
            message = "lot_ids can be used only for sales."
            self.fail("INVALID_LOT_SELECTION", message, "Omit lot_ids.", field="lot_ids")
        lots = brokerage.free_lots(account(self), symbol, self._open_sales(symbol), self.time)
        for lot_id in lot_ids:
            if lot_id not in lots:
                message = f"The account holds no lot of {symbol} with the ID {lot_id!r}."
                hint = f"Get the lot_ids of {symbol} from get_tax_lots."
                self.fail("LOT_NOT_FOUND", message, hint, lot_id=lot_id)
        units = sum(lots[lot_id] for lot_id in set(lot_ids))
        if units < wanted:
            available = shares(units)
            message = (
                f"The lots have {available} shares that no open sale reserves, "
                f"but the order is for {shares(wanted)}."
            )
            hint = "Add more lots, or sell fewer shares."
            self.fail("INSUFFICIENT_LOT_SHARES", message, hint, available=available)

    def _unpromised(self, symbol: str) -> list[str] | None:
        """Return the lots that a sale without lot_ids takes.

        This is None, meaning the oldest, unless an open sale has reserved particular lots.
        """
        sales = self._open_sales(symbol)
        if not any(sale["lots"] for sale in sales):
            return None
        free = brokerage.free_lots(account(self), symbol, sales, self.time)
        return [lot_id for lot_id, units in free.items() if units]

    def _open_sales(self, symbol: str) -> list[dict[str, Any]]:
        """Return the open sales of a symbol, oldest first."""
        sales = []
        for row in reversed(dealing.orders(self, WORDS)):
            is_sale = row["symbol"] == symbol and row["side"] == "sell"
            if is_sale and state(row, self.time) in ("open", "partially_filled"):
                sales.append(row)
        return sales

    @reads(example={"order_id": seeded("fdo", "div-etf")})
    def get_order(self, order_id: OrderId) -> Json:
        """Return one order with its current status, what has been filled, and its commission."""
        return order_json(self, dealing.find_order(self, WORDS, order_id))

    @reads(example={"limit": 5})
    def list_orders(
        self,
        status: OrderStatus | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders, newest first. Orders placed through a basket have its basket_id."""
        rows = dealing.listed_orders(self, WORDS, from_date, to_date)
        if status is not None:
            rows = rows.keep(lambda row: state(row, self.time) == status)
        return page(rows, "orders", limit, cursor, lambda row: order_json(self, row))

    @writes(
        example={"order_id": "${made.order_id}"},
        setup=(
            Setup(
                "place_order",
                {
                    "symbol": "DVQL",
                    "side": "buy",
                    "quantity": 1,
                    "order_type": "limit",
                    "limit_price": 60,
                },
                "made",
            ),
        ),
        destructive=True,
    )
    def cancel_order(self, order_id: OrderId) -> Json:
        """Cancel an open or partially filled order. The part already filled stays."""
        shown = order_json(self, dealing.cancel(self, WORDS, order_id))
        return {name: shown[name] for name in ("order_id", "status", "filled_quantity")}
