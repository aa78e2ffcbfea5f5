"""Finding funds, and buying and selling them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _dealing as dealing
from servers.finance import _lists as lists
from servers.finance import _market as market
from servers.finance._brokerage import OrderId, Query, Symbol
from servers.finance._orders import UNIT, Wish, decimals, shares, status, units_of
from servers.finance.vanguard._model import (
    WORDS,
    AccountId,
    Category,
    FundId,
    account_at,
    check_purchase,
    find_account,
    find_fund,
    fund_json,
    order_json,
    reinvests,
    whole_fund_json,
)
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, page

Kind = Annotated[Category, Field(description="Only funds in this category.")]
ShareClass = Annotated[
    Literal["investor", "admiral", "etf"], Field(description="Only funds of this share class.")
]
FundIds = Annotated[
    list[str], Field(min_length=2, max_length=5, description="Two to five different fund_ids.")
]
Year = Annotated[int, Field(ge=1950, le=2100, description="The planned year of retirement.")]
Shares = Annotated[
    float,
    Field(
        gt=0,
        le=10_000_000,
        description="Number of shares to sell, with at most three decimal places. "
        "Give either shares or amount.",
    ),
]


class Funds(Service):
    """Funds, orders and the watchlist."""

    @reads(example={"query": "total market"})
    def search_stocks(
        self,
        query: Query,
        category: Kind | None = None,
        share_class: ShareClass | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return mutual funds and ETFs whose name or symbol contains every word of the query.

        The best match comes first. Each share class of a fund is listed separately.
        """
        rows = market.search(self, query, WORDS.kinds)
        if category is not None:
            rows = [row for row in rows if row["category"] == category]
        if share_class is not None:
            rows = [row for row in rows if row["share_class"] == share_class]
        return page(rows, "funds", limit, cursor, lambda row: fund_json(self, row))

    @reads(example={"fund_id": "MTMAX"})
    def get_stock_quote(self, fund_id: FundId) -> Json:
        """Return a fund: its latest net asset value and date (for an ETF, the market price).

        It also has the expense ratio, the minimum first purchase in dollars, the asset mix,
        dividend yield, and price returns in percent.
        """
        return whole_fund_json(self, find_fund(self, fund_id))

    @reads(example={"fund_ids": ["MTMAX", "MTMIX", "TMKT"]})
    def compare_funds(self, fund_ids: FundIds) -> Json:
        """Return two to five funds side by side, in the order given."""
        rows = [find_fund(self, fund_id) for fund_id in fund_ids]
        if len({row["symbol"] for row in rows}) < len(rows):
            message = "The same fund is listed more than once."
            hint = "List two to five different funds."
            self.fail("DUPLICATE_FUND", message, hint, fund_ids=fund_ids)
        return {"funds": [whole_fund_json(self, row) for row in rows]}

    @reads(example={"retirement_year": 2041})
    def get_target_date_fund(self, retirement_year: Year) -> Json:
        """Return the target-date fund whose year is closest to the retirement year.

        For years long past, this is the income fund.
        """
        funds = market.securities(self, ("mutual_fund",))
        dated = [row for row in funds if row["category"] == "target_date"]
        targets = [row for row in dated if row["target_year"] is not None]
        income = [row for row in dated if row["target_year"] is None]
        if not targets:
            message = "There are no target-date funds."
            self.fail("FUND_NOT_FOUND", message, "Search for other funds with search_stocks.")
        earliest = min(row["target_year"] for row in targets)
        if income and retirement_year < earliest - 5:
            return whole_fund_json(self, income[0])

        def distance(row: Row) -> tuple[int, int]:
            return abs(row["target_year"] - retirement_year), row["target_year"]

        return whole_fund_json(self, min(targets, key=distance))

    @reads()
    def get_positions(self, account_id: AccountId | None = None) -> Json:
        """Return an account's funds by fund_id, their total value, and the settlement cash.

        Each fund has its shares, average cost, value and gain in dollars, and whether its dividends
        are reinvested.
        """
        owner = find_account(self, account_id)
        mine = account_at(self, owner["id"])
        positions = {}
        total = 0
        for fund_id in sorted(symbol for symbol, lots in mine.lots.items() if lots):
            units = mine.units(fund_id)
            cost = mine.cost(fund_id)
            worth = brokerage.worth(self, fund_id, units)
            total += worth
            positions[fund_id] = {
                "quantity": shares(units),
                "average_cost": round(cost * UNIT / units / 100, 4),
                "current_value": dollars(worth),
                "unrealized_gain_loss": dollars(worth - cost),
                "dividend_reinvest": reinvests(self, owner["id"], fund_id),
            }
        return {
            "account_id": owner["id"],
            "account_type": owner["kind"],
            "positions": positions,
            "total_value": dollars(total),
            "settlement_cash": dollars(mine.cash),
        }

    @writes(example={"fund_id": "MTBIX", "amount": 25})
    def buy_fund(
        self, fund_id: FundId, amount: Dollars, account_id: AccountId | None = None
    ) -> Json:
        """Buy a fund for a dollar amount of settlement cash.

        Mutual funds are bought at the next net asset value, set at 16:00 in New York on trading
        days, and ETFs at the market price. A first purchase must meet the fund's minimum.
        """
        row = find_fund(self, fund_id)
        owner = find_account(self, account_id)
        brokerage.tradable(self, WORDS, row)
        check_purchase(self, row, owner["id"], amount)
        wish = Wish("buy", amount=amount)
        order = dealing.place(self, WORDS, row, wish, account_id=owner["id"])
        return order_json(self, order)

    @writes(example={"fund_id": "MRFFX", "amount": 20})
    def sell_fund(
        self,
        fund_id: FundId,
        shares: Shares | None = None,
        amount: Dollars | None = None,
        account_id: AccountId | None = None,
    ) -> Json:
        """Sell a number of shares or a dollar amount of a fund at the next net asset value.

        Returns the order; shares_sold and proceeds are set once it executes. The proceeds can be
        withdrawn one business day later.
        """
        row = find_fund(self, fund_id)
        owner = find_account(self, account_id)
        brokerage.tradable(self, WORDS, row)
        if (shares is None) == (amount is None):
            message = "Specify either shares or amount."
            self.fail("INVALID_AMOUNT", message, "Pass exactly one of the two.", field="shares")
        if shares is None:
            wish = Wish("sell", amount=amount)
        else:
            wish = Wish("sell", units_of(self, shares, decimals(row)))
        order = dealing.place(self, WORDS, row, wish, account_id=owner["id"])
        sale = order_json(self, order)
        return sale | {"shares_sold": sale["executed_shares"], "proceeds": sale["executed_amount"]}

    @reads(example={"order_id": seeded("vgo", "first-target")})
    def get_order(self, order_id: OrderId) -> Json:
        """Return one order: pending until its net asset value is set, then executed.

        An executed order has its price and shares.
        """
        return order_json(self, dealing.find_order(self, WORDS, order_id))

    @reads(example={"limit": 5})
    def list_orders(
        self,
        limit: Limit = 20,
        cursor: Cursor | None = None,
        account_id: AccountId | None = None,
        since: Since | None = None,
        until: Until | None = None,
    ) -> Json:
        """Return the orders of all accounts, or of one, newest first.

        They include automatic investments and reinvested dividends.
        """
        account = None if account_id is None else find_account(self, account_id)["id"]
        rows = dealing.listed_orders(self, WORDS, since, until, account)
        return page(rows, "orders", limit, cursor, lambda row: order_json(self, row))

    @writes(
        example={"order_id": "${made.order_id}"},
        setup=(Setup("buy_fund", {"fund_id": "MTBIX", "amount": 25}, "made"),),
        destructive=True,
    )
    def cancel_order(self, order_id: OrderId) -> Json:
        """Cancel an order before it executes.

        Other orders of the same rebalance are canceled with it.
        """
        row = dealing.cancel(self, WORDS, order_id)
        also_canceled = []
        if row["origin"] == "rebalance":
            others = self.db.rows(
                "vanguard_orders", "ref=? AND id<>?", row["ref"], order_id, order="id"
            )
            for other in others:
                if status(other, self.time) in ("pending", "partially_filled"):
                    dealing.cancel(self, WORDS, other["id"])
                    also_canceled.append(other["id"])
        return {"order_id": order_id, "status": "canceled", "also_canceled": also_canceled}

    # -- watchlist --------------------------------------------------------------------------------
    @reads()
    def get_watchlist(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the watched funds, in the order added, with their net asset values and changes."""
        rows = lists.watched(self, WORDS)
        return page(rows, "funds", limit, cursor, lambda row: fund_json(self, row))

    @writes(example={"symbol": "MWMIX"}, idempotent=True)
    def add_to_watchlist(self, symbol: Symbol) -> Json:
        """Add a fund or ETF to the watchlist; `symbol` is its fund_id."""
        return {"symbol": lists.watch(self, WORDS, symbol)["symbol"], "status": "on_watchlist"}

    @writes(example={"symbol": "MRFYX"}, destructive=True)
    def remove_from_watchlist(self, symbol: Symbol) -> Json:
        """Remove a fund from the watchlist; `symbol` is its fund_id."""
        removed = lists.unwatch(self, WORDS, symbol, "get_watchlist")
        return {"symbol": removed, "status": "removed"}
