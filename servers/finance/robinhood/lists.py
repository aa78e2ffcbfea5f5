"""The watchlist, themed collections and price alerts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _figures as figures
from servers.finance import _lists as lists
from servers.finance import _market as market
from servers.finance._brokerage import Price, Symbol
from servers.finance.robinhood._model import LISTED, WORDS, asset_json
from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page, parse_time

CollectionName = Annotated[
    str,
    Field(min_length=1, max_length=60, description="The collection_name, from list_collections."),
]
Side = Annotated[
    Literal["above", "below"],
    Field(description="Whether to alert when the price rises to the target or falls to it."),
]
AlertId = Annotated[str, Field(description="The alert_id, from list_price_alerts.")]
COLLECTIONS = {
    "100 Most Traded": "Stocks and ETFs by the shares traded on an ordinary day.",
    "Daily Movers": "The twenty largest moves of the day, up or down.",
    "Dividend Payers": "Stocks that yield three percent or more.",
    "New Listings": "Stocks that came to the market within a year.",
    "Upcoming Earnings": "Companies that report within three weeks.",
    "Crypto": "Coins.",
    **{sector: f"Stocks of the sector {sector}." for sector in market.SECTORS},
}
_YEAR = 365 * 86_400
"""How many seconds a listing counts as new."""
_SOON = 21
"""How many days ahead an earnings report counts as upcoming."""


class Lists(Service):
    """The watchlist, themed collections, and price alerts."""

    @reads()
    def get_collection(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the watchlist in the order in which it was built.

        Prices and the day's changes are in dollars and percent.
        """
        rows = lists.watched(self, WORDS)
        return page(rows, "watchlist", limit, cursor, lambda row: asset_json(self, row))

    @writes(example={"symbol": "STMK"}, idempotent=True)
    def add_to_collection(self, symbol: Symbol) -> Json:
        """Add a stock, ETF or coin to the watchlist."""
        row = lists.watch(self, WORDS, symbol)
        return {
            "symbol": row["symbol"],
            "status": "added",
            "watchlist_size": len(lists.watched(self, WORDS)),
        }

    @writes(example={"symbol": "ORBX"}, destructive=True)
    def remove_from_collection(self, symbol: Symbol) -> Json:
        """Remove a symbol from the watchlist."""
        removed = lists.unwatch(self, WORDS, symbol, "get_collection")
        return {"symbol": removed, "status": "removed"}

    @reads()
    def list_collections(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return Robinhood's themed collections.

        Each has its collection_name, a description, and the number of securities in it.
        """
        return page(list(COLLECTIONS), "collections", limit, cursor, self._collection)

    @reads(example={"collection_name": "Dividend Payers"})
    def get_themed_collection(
        self, collection_name: CollectionName, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return the current members of a themed collection, with prices."""
        names = {name.lower(): name for name in COLLECTIONS}
        name = names.get(collection_name.strip().lower())
        if name is None:
            near = did_you_mean(collection_name, COLLECTIONS)
            message = f"There is no collection named {collection_name!r}{near}."
            hint = "Get the collection_name from list_collections."
            self.fail("COLLECTION_NOT_FOUND", message, hint, collection_name=collection_name)
        members = self._members(name)
        stocks = page(members, "stocks", limit, cursor, lambda row: asset_json(self, row))
        return self._collection(name) | stocks

    def _collection(self, name: str) -> Json:
        return {
            "collection_name": name,
            "description": COLLECTIONS[name],
            "stock_count": len(self._members(name)),
        }

    def _members(self, name: str) -> list[dict[str, Any]]:
        if name == "Crypto":
            return market.securities(self, ("crypto",))
        if name == "100 Most Traded":
            listed = market.securities(self, LISTED)
            return sorted(listed, key=lambda row: -row["volume"])[:100]
        stocks = market.securities(self, ("stock",))
        if name == "Daily Movers":
            return sorted(stocks, key=self._movement, reverse=True)[:20]
        if name == "Dividend Payers":
            return [row for row in stocks if figures.dividend_yield(row, self.now) >= 3]
        if name == "New Listings":
            return [row for row in stocks if parse_time(row["listed_at"]) > self.now - _YEAR]
        if name == "Upcoming Earnings":
            last = market.trading_date(stocks[0], self.now) + timedelta(days=_SOON)
            return [row for row in stocks if self._reports_by(row, last)]
        return [row for row in stocks if row["sector"] == name]

    def _movement(self, row: Row) -> float:
        return abs(market.quote(row, self.now).change_percent)

    def _reports_by(self, row: Row, last: date) -> bool:
        """Whether a company is due to report earnings by a day."""
        for report in figures.earnings(row, self.now):
            if report.reported is None and report.date <= last:
                return True
        return False

    @writes(example={"symbol": "VNTA", "target_price": 20, "direction": "above"})
    def set_price_alert(self, symbol: Symbol, target_price: Price, direction: Side) -> Json:
        """Set an alert for the first time that a price reaches a target within 90 days.

        The price must not have reached the target already.
        """
        row = brokerage.find_security(self, WORDS, symbol)
        brokerage.tradable(self, WORDS, row)
        last = market.price(row, self.now)
        lies = "above" if target_price > market.pips(last) else "below"
        if lies != direction:
            message = f"{row['symbol']} is already at ${last:,.2f}."
            hint = f"With direction {direction}, the target_price must be {direction} that."
            self.fail("INVALID_TARGET_PRICE", message, hint, current_price=last)
        alert_id = self.new_id("rha")
        alert = lists.set_alert(self, WORDS, alert_id, row, direction, target_price)
        return self._alert(alert)

    @reads()
    def list_price_alerts(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return price alerts, newest first, with current prices and status.

        The status is active, triggered (with the time) or expired.
        """
        return page(lists.alerts(self, WORDS), "alerts", limit, cursor, self._alert)

    @writes(example={"alert_id": seeded("rha", "vnta-above")}, destructive=True)
    def remove_price_alert(self, alert_id: AlertId) -> Json:
        """Remove an alert, whether or not it has triggered."""
        lists.remove_alert(self, WORDS, alert_id, "list_price_alerts")
        return {"alert_id": alert_id, "status": "removed"}

    def _alert(self, row: Row) -> Json:
        asset = market.security(self, row["symbol"])
        status = lists.alert_status(row, self.time)
        return {
            "alert_id": row["id"],
            "symbol": row["symbol"],
            "target_price": row["threshold"] / market.PIP,
            "direction": row["condition"],
            "current_price": market.price(asset, self.now) if asset else None,
            "status": status,
            "triggered_at": row["triggers_at"] if status == "triggered" else None,
            "created_at": row["created_at"],
            "expires_at": row["expires_at"],
        }
