"""Portfolios that track purchases made elsewhere, and watchlists."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.finance._brokerage import Price
from servers.finance._data import Symbol
from servers.finance._orders import decimals, shares, units_of, value
from servers.finance.google_finance._model import WORDS, ticker_json
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, dollars, page

PortfolioId = Annotated[str, Field(description="portfolio_id from list_google_portfolios.")]
LotId = Annotated[
    str,
    Field(
        description="lot_id of the one purchase to remove, from get_google_portfolio; "
        "omit it to remove all lots of the symbol."
    ),
]
PortfolioName = Annotated[
    str, Field(min_length=1, max_length=60, description="A name that no other portfolio uses.")
]
PurchaseDate = Annotated[
    Date,
    Field(description="Trading day of the purchase as YYYY-MM-DD; defaults to the latest one."),
]
Quantity = Annotated[
    float,
    Field(
        gt=0,
        le=1_000_000,
        description="Number of shares: up to six decimals for stocks, three for funds, "
        "eight for coins.",
    ),
]
LEEWAY = 5
"""Percent by which a purchase price may lie outside the day's range, for fees and after hours."""


class Portfolios(Service):
    """What the user follows and tracks."""

    @reads()
    def list_google_watchlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the watchlists, oldest first, each with its symbols and their number."""
        return page(data.watchlists(self, WORDS), "watchlists", limit, cursor, _list)

    @reads(example={"watchlist_id": seeded("gfw", "portland")})
    def get_google_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Return a watchlist with the price and day change of each security on it."""
        row = data.find_watchlist(self, WORDS, watchlist_id)
        return _list(row) | {"items": data.watched(self, row, lambda r: ticker_json(self, r))}

    @writes(example={"name": "Chips", "symbols": ["NVLT", "TCHQ"]}, idempotent=True)
    def save_google_watchlist(self, name: data.ListName, symbols: data.Symbols) -> Json:
        """Create a watchlist, or replace the symbols of the one with that name."""
        return _list(data.save_watchlist(self, WORDS, name, symbols, self.codes.invalid))

    @writes(example={"watchlist_id": seeded("gfw", "portland")}, destructive=True)
    def delete_google_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Delete a watchlist; the securities on it are not affected."""
        row = data.drop_watchlist(self, WORDS, watchlist_id)
        return {"watchlist_id": row["id"], "name": row["name"], "status": "deleted"}

    @writes(example={"name": "Someday"})
    def create_google_portfolio(self, name: PortfolioName) -> Json:
        """Create an empty portfolio. It only tracks holdings: nothing is bought or sold."""
        title = " ".join(name.split())
        known = {p["name"].casefold(): p["id"] for p in self.db.rows("google_finance_portfolios")}
        if not title:
            hint = "Give it a name of 1 to 60 characters."
            self.fail(self.codes.invalid, "A portfolio needs a name.", hint, name=name)
        if title.casefold() in known:
            message = f"A portfolio named {title!r} already exists."
            hint = "Use that one (see list_google_portfolios), or choose another name."
            self.fail("PORTFOLIO_EXISTS", message, hint, portfolio_id=known[title.casefold()])
        row = {"id": self.new_id("gfp"), "name": title, "created_at": self.time}
        return self._summary(self.db.insert("google_finance_portfolios", row))

    @reads()
    def list_google_portfolios(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the portfolios, oldest first, with cost, current value and gain in dollars."""
        rows = self.db.rows("google_finance_portfolios", order="created_at, rowid")
        return page(rows, "portfolios", limit, cursor, self._summary)

    @reads(example={"portfolio_id": seeded("gfp", "robinhood")})
    def get_google_portfolio(self, portfolio_id: PortfolioId) -> Json:
        """Return a portfolio's holdings with their purchases (lots), in dollars to the cent.

        Each holding has its average cost, current value, gain since purchase and gain today; a lot
        bought today counts from its purchase price.
        """
        row = self._portfolio(portfolio_id)
        return self._summary(row) | {"holdings": self._holdings(self._lots(portfolio_id))}

    @writes(
        example={
            "portfolio_id": seeded("gfp", "robinhood"),
            "symbol": "CSPL",
            "shares": 2,
            "purchase_price": 63,
            "purchase_date": "2026-03-12",
        }
    )
    def add_to_google_portfolio(
        self,
        portfolio_id: PortfolioId,
        symbol: Symbol,
        shares: Quantity,
        purchase_price: Price,
        purchase_date: PurchaseDate | None = None,
    ) -> Json:
        """Record a purchase and return the holding that includes it.

        The price per share must be within five percent of the security's price range on that day.
        """
        self._portfolio(portfolio_id)
        row = data.find_security(self, WORDS, symbol)
        day = self._day(row, purchase_date)
        self._check_price(row, day, purchase_price)
        lot = {
            "id": self.new_id("gfl"),
            "portfolio_id": portfolio_id,
            "symbol": row["symbol"],
            "bought_on": day.isoformat(),
            "units": units_of(self, shares, decimals(row)),
            "price": purchase_price,
            "added_at": self.time,
        }
        self.db.insert("google_finance_lots", lot)
        holding = self._holdings(self._lots(portfolio_id, row["symbol"]))[0]
        return {"portfolio_id": portfolio_id} | holding

    @writes(
        example={"portfolio_id": "${made.portfolio_id}", "symbol": "SMPK"},
        setup=(
            Setup("create_google_portfolio", {"name": "Trial"}, "made"),
            Setup(
                "add_to_google_portfolio",
                {
                    "portfolio_id": "${made.portfolio_id}",
                    "symbol": "SMPK",
                    "shares": 3,
                    "purchase_price": 70,
                    "purchase_date": "2026-03-12",
                },
            ),
        ),
        destructive=True,
    )
    def remove_from_google_portfolio(
        self, portfolio_id: PortfolioId, symbol: Symbol, lot_id: LotId | None = None
    ) -> Json:
        """Remove a holding, or one purchase of it, from a portfolio."""
        self._portfolio(portfolio_id)
        row = data.find_security(self, WORDS, symbol)
        lots = self._lots(portfolio_id, row["symbol"])
        if not lots:
            message = f"This portfolio has no holding in {row['symbol']}."
            hint = "Call get_google_portfolio to see its holdings."
            self.fail("HOLDING_NOT_FOUND", message, hint, symbol=row["symbol"])
        taken = [lot for lot in lots if lot_id in (None, lot["id"])]
        if not taken:
            message = f"This portfolio has no purchase of {row['symbol']} with the ID {lot_id!r}."
            hint = "Use a lot_id from get_google_portfolio."
            self.fail("LOT_NOT_FOUND", message, hint, lot_id=lot_id)
        for lot in taken:
            self.db.delete("google_finance_lots", lot["id"])
        gone = sum(lot["units"] for lot in taken)
        return {
            "portfolio_id": portfolio_id,
            "symbol": row["symbol"],
            "status": "removed",
            "shares_removed": shares(gone),
        }

    @writes(example={"portfolio_id": seeded("gfp", "robinhood")}, destructive=True)
    def delete_google_portfolio(self, portfolio_id: PortfolioId) -> Json:
        """Delete a portfolio and everything it tracks; brokerage accounts are not affected."""
        row = self._portfolio(portfolio_id)
        for lot in self._lots(portfolio_id):
            self.db.delete("google_finance_lots", lot["id"])
        self.db.delete("google_finance_portfolios", portfolio_id)
        return {"portfolio_id": portfolio_id, "name": row["name"], "status": "deleted"}

    # -- rows and sums -----------------------------------------------------------------------------
    def _portfolio(self, portfolio_id: str) -> Row:
        row = self.db.get("google_finance_portfolios", portfolio_id)
        if row is None:
            message = f"There is no portfolio {portfolio_id!r}."
            hint = "Use a portfolio_id from list_google_portfolios."
            self.fail("PORTFOLIO_NOT_FOUND", message, hint, portfolio_id=portfolio_id)
        return row

    def _lots(self, portfolio_id: str, symbol: str | None = None) -> list[dict[str, Any]]:
        rows = self.db.rows(
            "google_finance_lots", "portfolio_id=?", portfolio_id, order="bought_on, rowid"
        )
        return [r for r in rows if symbol in (None, r["symbol"])]

    def _day(self, row: Row, asked: str | None) -> date:
        """Return the day of a purchase, or refuse a day on which the security did not trade."""
        latest = market.trading_date(row, self.now)
        day = latest if asked is None else date.fromisoformat(asked)
        if not market.days(row, day, day, self.now):
            verb = "has not traded yet" if day > latest else "did not trade"
            self.fail(
                "INVALID_PURCHASE_DATE",
                f"{row['symbol']} {verb} on {day}.",
                f"Its latest trading day is {latest}.",
                purchase_date=str(day),
                latest_trading_day=str(latest),
            )
        return day

    def _check_price(self, row: Row, day: date, price: int) -> None:
        bar = market.daily_bar(row, day, self.now)
        low = market.pips(bar.low)
        high = market.pips(bar.high)
        if low * (100 - LEEWAY) <= price * 100 <= high * (100 + LEEWAY):
            return
        spread = f"between ${bar.low:,} and ${bar.high:,} on {day}"
        self.fail(
            "PRICE_OUT_OF_RANGE",
            f"{row['symbol']} traded {spread}, not at ${price / market.PIP:,}.",
            "Correct purchase_price, or set purchase_date if the purchase was earlier.",
            purchase_date=str(day),
            low=bar.low,
            high=bar.high,
        )

    def _holdings(self, lots: list[Row]) -> list[dict[str, Any]]:
        by_symbol: dict[str, list[dict[str, Any]]] = {}
        for lot in lots:
            by_symbol.setdefault(lot["symbol"], []).append(lot)
        holdings = []
        for symbol, of_symbol in sorted(by_symbol.items()):
            row = market.security(self, symbol)
            if row is not None:
                holdings.append(self._holding(row, of_symbol))
        return holdings

    def _holding(self, row: Row, lots: list[Row]) -> Json:
        units = sum(lot["units"] for lot in lots)
        cost = sum(value(lot["units"], lot["price"]) for lot in lots)
        paid = sum(lot["units"] * lot["price"] for lot in lots)
        worth, day_gain = self._worth(row, lots)
        return {
            "symbol": row["symbol"],
            "name": row["name"],
            "shares": shares(units),
            "average_cost": round(paid / units / market.PIP, 4),
            "price": market.price(row, self.now),
            "market_state": market.state(row, self.now),
            "cost_basis": dollars(cost),
            "value": dollars(worth),
            "gain_loss": dollars(worth - cost),
            "gain_loss_percent": _percent(worth - cost, cost),
            "day_gain": dollars(day_gain),
            "lots": [self._lot(row, lot) for lot in lots],
        }

    def _lot(self, row: Row, lot: Row) -> Json:
        gain = self._worth(row, [lot])[0] - value(lot["units"], lot["price"])
        return {
            "lot_id": lot["id"],
            "shares": shares(lot["units"]),
            "purchase_price": lot["price"] / market.PIP,
            "purchase_date": lot["bought_on"],
            "gain_loss": dollars(gain),
        }

    def _worth(self, row: Row, lots: list[Row]) -> tuple[int, int]:
        """Return the value of lots and their gain today, both in cents."""
        last = market.price_pips(row, self.now)
        today = str(market.trading_date(row, self.now))
        previous_close = market.pips(market.previous_close(row, self.now))
        worth = 0
        gain = 0
        for lot in lots:
            lot_worth = value(lot["units"], last)
            before = lot["price"] if lot["bought_on"] == today else previous_close
            worth += lot_worth
            gain += lot_worth - value(lot["units"], before)
        return worth, gain

    def _summary(self, row: Row) -> Json:
        holdings = self._holdings(self._lots(row["id"]))
        cost = _cents(holdings, "cost_basis")
        worth = _cents(holdings, "value")
        day_gain = _cents(holdings, "day_gain")
        return {
            "portfolio_id": row["id"],
            "name": row["name"],
            "created_at": row["created_at"],
            "holding_count": len(holdings),
            "total_cost": dollars(cost),
            "total_value": dollars(worth),
            "total_gain_loss": dollars(worth - cost),
            "total_gain_loss_percent": _percent(worth - cost, cost),
            "day_gain": dollars(day_gain),
        }


def _cents(holdings: list[Row], field: str) -> int:
    """Sum one amount of the holdings, in cents."""
    return sum(round(holding[field] * 100) for holding in holdings)


def _percent(part: int, whole: int) -> float | None:
    return round(part / whole * 100, 2) if whole else None


def _list(row: Row) -> Json:
    return {
        "watchlist_id": row["id"],
        "name": row["name"],
        "symbol_count": len(row["symbols"]),
        "symbols": row["symbols"],
        "updated_at": row["updated_at"],
    }
