"""Ratings, reports and the fund screener."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._brokerage import Symbol
from servers.finance.fidelity._model import WORDS
from servers.kit.service import Service, reads
from servers.kit.values import Cursor, Limit, dollars, page

Percent = Annotated[float, Field(ge=0, le=100, description="Percent a year, e.g. 0.25.")]
Sector = Annotated[
    market.Sector, Field(description="Only funds of this sector; broad funds have none.")
]


class Research(Service):
    """What is thought of a security."""

    @reads(example={"symbol": "CSPL"})
    def get_analyst_rating(self, symbol: Symbol) -> dict[str, Any]:
        """Return the analysts' rating of a stock: consensus, target price in dollars, how many rate it how, and its sector."""
        row = self._stock(symbol)
        said = figures.analysts(row, self.now)
        assert said is not None  # a stock is rated
        return {
            "symbol": row["symbol"],
            "analyst_rating": said.consensus,
            "target_price": said.target,
            "target_low": said.target_low,
            "target_high": said.target_high,
            "ratings": said.counts,
            "sector": row["sector"],
        }

    @reads(example={"symbol": "CSPL"})
    def get_research_report(self, symbol: Symbol) -> dict[str, Any]:
        """Return the report on a stock: summary, recommendation, target price, valuation, revenue growth in percent, rank within its
        sector (1 is best) and risk from 1 (calm) to 10."""
        row = self._stock(symbol)
        said = figures.analysts(row, self.now)
        ranks = self._ranks(row["sector"])
        assert said is not None  # a stock is rated
        last = market.price(row, self.now)
        upside = round((said.target / market.price(row, self.now) - 1) * 100, 1)
        next_report = next(
            (e.date.isoformat() for e in figures.earnings(row, self.now) if e.reported is None),
            None,
        )
        return {
            "symbol": row["symbol"],
            "summary": f"{row['name']} ({row['industry'].lower()}): {row['about']}. At ${last:,.2f} the shares trade {abs(upside)} percent "
            f"{'below' if upside >= 0 else 'above'} the analysts' target of ${said.target:,.2f}.",
            "recommendation": said.consensus,
            "target_price": said.target,
            "pe_ratio": figures.pe_ratio(row, self.now),
            "eps": figures.eps(row, self.now),
            "revenue_growth": row["growth"],
            "sector": row["sector"],
            "sector_rank": ranks.index(row["symbol"]) + 1,
            "sector_size": len(ranks),
            "risk_score": min(max(round(row["volatility"] * 2 + row["beta"] * 1.5), 1), 10),
            "next_earnings_date": next_report,
        }

    @reads(example={"max_expense_ratio": 0.1, "min_dividend_yield": 1})
    def screen_funds(
        self,
        min_expense_ratio: Percent | None = None,
        max_expense_ratio: Percent | None = None,
        sector: Sector | None = None,
        min_dividend_yield: Percent | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return ETFs and mutual funds that meet every condition, cheapest first, with expense ratio and dividend yield in percent."""
        low = min_expense_ratio or 0
        high = 100 if max_expense_ratio is None else max_expense_ratio
        if low > high:
            message = "min_expense_ratio is above max_expense_ratio."
            self.fail(
                "INVALID_RANGE",
                message,
                "Swap the two.",
                min_expense_ratio=low,
                max_expense_ratio=high,
            )
        found = []
        for row in market.securities(self, ("etf", "mutual_fund")):
            fits = low <= (row["expense_ratio"] or 0) <= high and sector in (None, row["sector"])
            if fits and (
                min_dividend_yield is None
                or figures.dividend_yield(row, self.now) >= min_dividend_yield
            ):
                found.append(row)
        return page(
            sorted(found, key=lambda r: (r["expense_ratio"] or 0, r["symbol"])),
            "funds",
            limit,
            cursor,
            self._fund,
        )

    def _fund(self, row: dict[str, Any]) -> dict[str, Any]:
        kept = ("symbol", "name", "family", "category", "sector", "expense_ratio")
        return {k: row[k] for k in kept} | {
            "security_type": row["kind"],
            "dividend_yield": figures.dividend_yield(row, self.now),
            "last_price": market.price(row, self.now),
            "minimum_investment": None
            if row["minimum_investment"] is None
            else dollars(row["minimum_investment"]),
        }

    def _ranks(self, sector: str) -> list[str]:
        rated = []
        for row in market.securities(self, ("stock",), delisted=True):
            said = figures.analysts(row, self.now) if row["sector"] == sector else None
            if said is not None:
                rated.append((said.score, row["symbol"]))
        return [symbol for _, symbol in sorted(rated)]

    def _stock(self, symbol: str) -> dict[str, Any]:
        row = brokerage.find_security(self, WORDS, symbol)
        if row["kind"] != "stock":
            hint = "Research covers stocks; for funds see screen_funds."
            self.fail(
                "RESEARCH_NOT_AVAILABLE",
                f"{row['symbol']} is no stock.",
                hint,
                symbol=row["symbol"],
                security_type=row["kind"],
            )
        return row
