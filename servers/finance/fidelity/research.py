"""Ratings, reports and the fund screener."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.finance import _brokerage as brokerage
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._brokerage import Symbol
from servers.finance.fidelity._model import WORDS, minimum_investment
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

Percent = Annotated[float, Field(ge=0, le=100, description="Percent per year, e.g. 0.25.")]
Sector = Annotated[
    market.Sector, Field(description="Only funds in this sector; broad funds have no sector.")
]


class Research(Service):
    """Analysts' views on securities, and the fund screener."""

    @reads(example={"symbol": "CSPL"})
    def get_analyst_rating(self, symbol: Symbol) -> Json:
        """Return the analysts' rating of a stock, with its sector.

        It includes the consensus, target prices in dollars, and the number of analysts for each
        rating.
        """
        row = self._stock(symbol)
        rating = figures.analysts(row, self.now)
        assert rating is not None  # a stock is rated
        return {
            "symbol": row["symbol"],
            "analyst_rating": rating.consensus,
            "target_price": rating.target,
            "target_low": rating.target_low,
            "target_high": rating.target_high,
            "ratings": rating.counts,
            "sector": row["sector"],
        }

    @reads(example={"symbol": "CSPL"})
    def get_research_report(self, symbol: Symbol) -> Json:
        """Return the research report on a stock.

        It has a summary, recommendation, target price, valuation, revenue growth in percent, rank
        within its sector (1 is best), and a risk score from 1 (low) to 10 (high).
        """
        row = self._stock(symbol)
        rating = figures.analysts(row, self.now)
        ranks = self._ranks(row["sector"])
        assert rating is not None  # a stock is rated
        last = market.price(row, self.now)
        upside = round((rating.target / last - 1) * 100, 1)
        way = "below" if upside >= 0 else "above"
        summary = (
            f"{row['name']} ({row['industry'].lower()}): {row['about']}. "
            f"At ${last:,.2f} the shares trade {abs(upside)} percent {way} "
            f"the analysts' target of ${rating.target:,.2f}."
        )
        reports = figures.earnings(row, self.now)
        to_come = [report.date.isoformat() for report in reports if report.reported is None]
        return {
            "symbol": row["symbol"],
            "summary": summary,
            "recommendation": rating.consensus,
            "target_price": rating.target,
            "pe_ratio": figures.pe_ratio(row, self.now),
            "eps": figures.eps(row, self.now),
            "revenue_growth": row["growth"],
            "sector": row["sector"],
            "sector_rank": ranks.index(row["symbol"]) + 1,
            "sector_size": len(ranks),
            "risk_score": min(max(round(row["volatility"] * 2 + row["beta"] * 1.5), 1), 10),
            "next_earnings_date": to_come[0] if to_come else None,
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
    ) -> Json:
        """Return the ETFs and mutual funds that meet every condition, cheapest first.

        Expense ratios and dividend yields are in percent.
        """
        low = min_expense_ratio or 0
        high = 100 if max_expense_ratio is None else max_expense_ratio
        if low > high:
            self.fail(
                "INVALID_RANGE",
                "min_expense_ratio is greater than max_expense_ratio.",
                "Swap the two.",
                min_expense_ratio=low,
                max_expense_ratio=high,
            )

        def fits(row: Row) -> bool:
            if sector is not None and row["sector"] != sector:
                return False
            if not low <= (row["expense_ratio"] or 0) <= high:
                return False
            if min_dividend_yield is None:
                return True
            return figures.dividend_yield(row, self.now) >= min_dividend_yield

        funds = [row for row in market.securities(self, ("etf", "mutual_fund")) if fits(row)]
        funds.sort(key=lambda row: (row["expense_ratio"] or 0, row["symbol"]))
        return page(funds, "funds", limit, cursor, self._fund)

    def _fund(self, row: Row) -> Json:
        return {
            "symbol": row["symbol"],
            "name": row["name"],
            "family": row["family"],
            "category": row["category"],
            "sector": row["sector"],
            "expense_ratio": row["expense_ratio"],
            "security_type": row["kind"],
            "dividend_yield": figures.dividend_yield(row, self.now),
            "last_price": market.price(row, self.now),
            "minimum_investment": minimum_investment(row),
        }

    def _ranks(self, sector: str) -> list[str]:
        """Return the symbols of a sector's stocks, best rated first."""
        rated = []
        for row in market.securities(self, ("stock",), delisted=True):
            rating = figures.analysts(row, self.now) if row["sector"] == sector else None
            if rating is not None:
                rated.append((rating.score, row["symbol"]))
        return [symbol for _, symbol in sorted(rated)]

    def _stock(self, symbol: str) -> dict[str, Any]:
        row = brokerage.find_security(self, WORDS, symbol)
        if row["kind"] != "stock":
            message = f"{row['symbol']} is not a stock."
            hint = "Research covers stocks only; for funds, see screen_funds."
            self.fail(
                "RESEARCH_NOT_AVAILABLE",
                message,
                hint,
                symbol=row["symbol"],
                security_type=row["kind"],
            )
        return row
