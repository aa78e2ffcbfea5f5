"""Finding stocks and ETFs, and buying and selling them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _dealing as dealing
from servers.finance import _market as market
from servers.finance._brokerage import OrderId, Price, Quantity, Query, Symbol
from servers.finance._orders import Wish, decimals, units_of
from servers.finance.robinhood._model import (
    LISTED,
    WORDS,
    Direction,
    TradeStatus,
    account,
    asset_json,
    held,
    holding_json,
    quote_json,
    state,
    trade_json,
    worth,
)
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Dollars, Limit, dollars, page

Type = Annotated[
    Literal["market", "limit", "stop"],
    Field(
        description="market: at the current price, or after the next opening if closed; "
        "limit and stop: for whole shares only."
    ),
]
Force = Annotated[
    Literal["gfd", "gtc"],
    Field(description="gfd: until the end of the session; gtc: for up to 90 days."),
]
RefId = Annotated[
    str,
    Field(
        min_length=8,
        max_length=64,
        description="Your own reference; repeating an order with the same one has no effect.",
    ),
]


class Trading(Service):
    """Stocks and ETFs: quotes, holdings and orders."""

    @reads(example={"query": "summit"})
    def search_assets(self, query: Query, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Return stocks, ETFs and coins whose symbol or name contains every word of the query.

        The best match comes first. Each has its price and the day's change.
        """
        rows = market.search(self, query, WORDS.kinds)
        return page(rows, "assets", limit, cursor, lambda row: asset_json(self, row))

    @reads(example={"symbol": "SMPK"})
    def get_asset_quote(self, symbol: Symbol) -> Json:
        """Return the quote of a stock, ETF or coin in dollars.

        It has the last price and its time, the day's change and range, bid and ask (null while
        trading is closed), and whether the market is open.
        """
        return quote_json(self, brokerage.find_security(self, WORDS, symbol))

    @reads()
    def get_portfolio(self) -> Json:
        """Return stock and ETF holdings by symbol, and the value of the account by type of asset.

        The values of stocks and ETFs, coins, options and cash, and their sum, are in dollars.
        """
        mine = account(self)

        def total(*kinds: str) -> int:
            symbols = held(self, mine, *kinds)
            return sum(worth(self, symbol, mine.units(symbol)) for symbol in symbols)

        listed = total(*LISTED)
        coins = total("crypto")
        options = total("option")
        symbols = held(self, mine, *LISTED)
        return {
            "holdings": {symbol: holding_json(self, mine, symbol) for symbol in symbols},
            "total_value": dollars(listed),
            "crypto_value": dollars(coins),
            "options_value": dollars(options),
            "cash_balance": dollars(mine.cash),
            "account_value": dollars(listed + coins + options + mine.cash),
        }

    @writes(
        example={
            "symbol": "ORBX",
            "side": "buy",
            "quantity": 2,
            "order_type": "limit",
            "limit_price": 50.5,
        }
    )
    def place_trade(
        self,
        symbol: Symbol,
        side: Direction,
        quantity: Quantity,
        order_type: Type = "market",
        limit_price: Price | None = None,
        stop_price: Price | None = None,
        time_in_force: Force = "gfd",
        ref_id: RefId | None = None,
    ) -> Json:
        """Order shares of a stock or ETF, and return the order.

        A market order fills at the ask or bid while the market is open. Open orders hold buying
        power or shares.
        """
        row = brokerage.find_security(self, WORDS, symbol, LISTED)
        earlier = None
        if ref_id is not None:
            earlier = next(iter(self.db.rows("robinhood_orders", "client_key=?", ref_id)), None)
        if earlier is not None:
            terms = {
                "symbol": row["symbol"],
                "side": side,
                "units": units_of(self, quantity, decimals(row)),
                "order_type": order_type,
                "limit_price": limit_price,
                "stop_price": stop_price,
                "duration": time_in_force,
            }
            if {column: earlier[column] for column in terms} != terms:
                message = "This ref_id was already used for a different order."
                hint = "Use a new ref_id for a new order."
                self.fail("REF_ID_REUSED", message, hint, order_id=earlier["id"])
            return trade_json(self, earlier)
        brokerage.tradable(self, WORDS, row)
        wish = dealing.wish_of(
            self, row, side, quantity, order_type, limit_price, stop_price, time_in_force
        )
        order = dealing.place(self, WORDS, row, wish, client_key=ref_id)
        return trade_json(self, order)

    @writes(example={"symbol": "TMKT", "amount_in_dollars": 25, "side": "buy"})
    def place_fractional_order(
        self, symbol: Symbol, amount_in_dollars: Dollars, side: Direction
    ) -> Json:
        """Buy or sell a stock or ETF for a dollar amount, and return the order.

        The amount is at least 1 dollar, and the order is a market order.
        """
        row = brokerage.find_security(self, WORDS, symbol, LISTED)
        brokerage.tradable(self, WORDS, row)
        if amount_in_dollars < 100:
            message = "An order in dollars must be at least $1.00."
            self.fail("INVALID_AMOUNT", message, "Increase the amount.", minimum=1.0)
        order = dealing.place(self, WORDS, row, Wish(side, amount=amount_in_dollars))
        return trade_json(self, order)

    @reads(example={"order_id": seeded("rho", "limit-nvlt")})
    def get_trade(self, order_id: OrderId) -> Json:
        """Return one order for a stock, coin or option, with its current status and fills."""
        return trade_json(self, dealing.find_order(self, WORDS, order_id))

    @reads(example={"status": "pending"})
    def list_trades(
        self,
        status: TradeStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return orders for stocks, coins and options, newest first.

        They include those of recurring investments.
        """
        rows = dealing.listed_orders(self, WORDS, since, until)
        if status in ("pending", "partially_filled"):
            rows = dealing.unsettled(rows, self.time)
        if status is not None:
            rows = rows.keep(lambda row: state(row, self.time) == status)
        return page(rows, "trades", limit, cursor, lambda row: trade_json(self, row))

    @writes(
        example={"order_id": "${made.order_id}"},
        setup=(
            Setup(
                "place_trade",
                {
                    "symbol": "ORBX",
                    "side": "buy",
                    "quantity": 1,
                    "order_type": "limit",
                    "limit_price": 40,
                },
                "made",
            ),
        ),
        destructive=True,
    )
    def cancel_trade(self, order_id: OrderId) -> Json:
        """Cancel the unfilled part of an open order.

        The money or shares that it held become available again.
        """
        row = dealing.cancel(self, WORDS, order_id)
        trade = trade_json(self, row)
        shown = ("order_id", "status", "filled_quantity", "canceled_at")
        return {name: trade[name] for name in shown}
