"""Companies: profile, news, recommendations, and a screener."""

from __future__ import annotations

from datetime import time
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _data as data
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _news as news
from servers.finance._data import Symbol
from servers.finance.yahoo_finance._model import EXCHANGES, TYPES, WORDS, ticker_json
from servers.kit.control import make_id
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import local_day, local_moment, months_later

SortBy = Annotated[
    Literal["market_cap", "change_percent", "volume"],
    Field(description="Sort key, largest first."),
]
GRADES = {
    "strong_buy": "strongBuy",
    "buy": "buy",
    "hold": "hold",
    "sell": "sell",
    "strong_sell": "strongSell",
}


class Research(Service):
    """Facts and opinions about companies."""

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_company_profile(self, symbol: Symbol) -> Json:
        """Return a company's profile, with revenue in dollars and recent and next earnings.

        It has the industry, headquarters, employees and a business summary; fields that do not
        apply to a fund or coin are null.
        """
        row = data.find_security(self, WORDS, symbol)
        reports = [
            {
                "quarter": e.quarter,
                "date": e.date.isoformat(),
                "eps_estimate": e.estimate,
                "eps_actual": e.reported,
            }
            for e in figures.earnings(row, self.now)
        ]
        return {
            "symbol": row["symbol"],
            "long_name": row["name"],
            "quote_type": TYPES[row["kind"]],
            "exchange": EXCHANGES[row["exchange"]],
            "sector": row["sector"],
            "industry": row["industry"],
            "city": row["headquarters"],
            "full_time_employees": row["employees"],
            "long_business_summary": row["about"],
            "total_revenue": row["revenue"],
            "fund_family": row["family"],
            "fund_category": row["category"],
            "annual_report_expense_ratio": row["expense_ratio"],
            "earnings": reports,
        }

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_company_news(
        self, symbol: Symbol, limit: Limit = 5, cursor: Cursor | None = None
    ) -> Json:
        """Return news about a security, newest first.

        An article that proved wrong has a correction, the editors' note, once they have added it.
        """
        row = data.find_security(self, WORDS, symbol)
        published = {make_id("yfn", a.key): a for a in news.articles(row, self.now)}
        return {"symbol": row["symbol"]} | page(
            list(published), "news", limit, cursor, lambda i: _article(i, published[i])
        )

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_recommendation_trend(self, symbol: Symbol) -> Json:
        """Return the analysts' recommendations for a stock by month, back to three months ago.

        0m is the current month. The mean runs from 1 (strong buy) to 5 (strong sell); target prices
        are in dollars.
        """
        row = data.find_security(self, WORDS, symbol)
        analysts = figures.analysts(row, self.now)
        if analysts is None:
            message = f"There are no recommendations for {row['symbol']}."
            hint = "Analysts rate only stocks; find some with screen_yahoo_equities."
            self.fail("NO_ANALYST_COVERAGE", message, hint, symbol=row["symbol"])
        return {
            "symbol": row["symbol"],
            "recommendation_key": GRADES[analysts.consensus],
            "recommendation_mean": analysts.score,
            "number_of_analysts": sum(analysts.counts.values()),
            "target_mean_price": analysts.target,
            "target_low_price": analysts.target_low,
            "target_high_price": analysts.target_high,
            "trend": [self._month(row, back) for back in range(4)],
        }

    @reads(example={"sector": "Energy", "sort_by": "change_percent"})
    def screen_yahoo_equities(
        self,
        sector: data.Sector | None = None,
        analyst_rating: data.Rating | None = None,
        min_market_cap: data.MarketCap | None = None,
        sort_by: SortBy = "market_cap",
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return listed stocks that meet every condition, in the requested order.

        Each has its analyst recommendation and the day's volume.
        """
        stocks = data.screen(self, self.now, sector, analyst_rating, min_market_cap)
        if sort_by != "market_cap":
            stocks.sort(key=lambda s: -getattr(market.quote(s.row, self.now), sort_by))
        passed = {s.row["symbol"]: s for s in stocks}
        return page(list(passed), "quotes", limit, cursor, lambda s: self._screened(passed[s]))

    def _screened(self, passed: data.Screened) -> Json:
        return ticker_json(self, passed.row) | {
            "sector": passed.row["sector"],
            "market_cap": passed.market_cap,
            "regular_market_volume": market.quote(passed.row, self.now).volume,
            "recommendation_key": GRADES[passed.analysts.consensus],
        }

    def _month(self, row: Row, back: int) -> Json:
        first = months_later(local_day(self.now, calendar.NEW_YORK).replace(day=1), -back)
        analysts = figures.analysts(row, local_moment(first, time(12), calendar.NEW_YORK))
        grades = {GRADES[r]: n for r, n in analysts.counts.items()} if analysts is not None else {}
        period = f"-{back}m" if back else "0m"
        return {"period": period, "month": f"{first:%Y-%m}"} | grades


def _article(article_id: str, article: news.Article) -> Json:
    correction = None
    if article.corrected is not None:
        added_at, note = article.corrected
        correction = {"added_at": iso(added_at), "note": note}
    return {
        "article_id": article_id,
        "title": article.title,
        "publisher": article.source,
        "published_at": iso(article.at),
        "summary": article.summary,
        "correction": correction,
    }
