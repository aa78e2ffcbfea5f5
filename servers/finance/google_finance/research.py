"""Companies and sectors: profiles, news, analysts, comparisons, and a screener."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _news as news
from servers.finance._data import Symbol
from servers.finance.google_finance._model import EXCHANGES, WORDS, ticker_json
from servers.kit.control import make_id
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import months_later

Metric = Literal[
    "price", "change_percent", "market_cap", "pe_ratio", "eps", "dividend_yield", "beta",
    "year_low", "year_high", "return_1m", "return_6m", "return_1y", "consensus", "target_price",
    "expense_ratio",
]  # fmt: skip
USUAL: tuple[Metric, ...] = (
    "price",
    "change_percent",
    "market_cap",
    "pe_ratio",
    "dividend_yield",
    "return_1y",
)
Compared = Annotated[
    list[Symbol], Field(min_length=2, max_length=8, description="Two to eight symbols.")
]
Metrics = Annotated[
    list[Metric],
    Field(
        min_length=1,
        max_length=15,
        description="Metrics to compare: in dollars, or in percent for changes, yields, "
        "returns and expense_ratio.",
    ),
]
PROFILE = (
    "sector",
    "industry",
    "family",
    "category",
    "headquarters",
    "founded",
    "employees",
    "expense_ratio",
)
"""Columns that a profile shows unchanged."""
MONTHS_BACK = {"return_1m": 1, "return_6m": 6, "return_1y": 12}


class Research(Service):
    """Facts and opinions about companies."""

    @reads(example={"symbol": "SMPK"})
    def get_google_company_profile(self, symbol: Symbol) -> Json:
        """Describe a company, fund or coin.

        The profile has its sector and industry (or a fund's family and category), description,
        headquarters, founding year and number of employees where they apply.
        """
        row = data.find_security(self, WORDS, symbol)
        about = {
            "symbol": row["symbol"],
            "name": row["name"],
            "exchange": EXCHANGES[row["exchange"]],
            "description": row["about"],
        }
        columns = {name: row[name] for name in PROFILE}
        return about | columns | {"listed_on": row["listed_at"][:10]}

    @reads(example={"symbol": "SMPK"})
    def get_google_company_news(
        self, symbol: Symbol, limit: Limit = 5, cursor: Cursor | None = None
    ) -> Json:
        """Return news about a security from several sources, newest first.

        Articles stay as published, so check later ones before relying on a report.
        """
        row = data.find_security(self, WORDS, symbol)
        published = {make_id("gfn", a.key): a for a in news.articles(row, self.now)}
        return {"symbol": row["symbol"]} | page(
            list(published), "articles", limit, cursor, lambda i: _article(i, published[i])
        )

    @reads(example={"symbol": "SMPK"})
    def get_google_analyst_summary(self, symbol: Symbol) -> Json:
        """Return analysts' consensus on a stock, with their target price and rating counts.

        The average target is in dollars, its upside over the current price in percent.
        """
        row = data.find_security(self, WORDS, symbol)
        analysts = figures.analysts(row, self.now)
        if analysts is None:
            message = f"Analysts do not cover {row['symbol']}."
            hint = "They cover only stocks; find some with screen_google_equities."
            self.fail("ANALYSTS_NOT_AVAILABLE", message, hint, symbol=row["symbol"])
        last = market.price(row, self.now)
        return {
            "symbol": row["symbol"],
            "consensus": analysts.consensus,
            "average_target": analysts.target,
            "target_range": {"low": analysts.target_low, "high": analysts.target_high},
            "price": last,
            "upside_percent": _percent_over(last, analysts.target),
            "analyst_count": sum(analysts.counts.values()),
            "breakdown": analysts.counts,
        }

    @reads(
        example={"symbols": ["SMPK", "NVLT", "KYRA"], "metrics": ["price", "return_1y", "pe_ratio"]}
    )
    def compare_google_stocks(self, symbols: Compared, metrics: Metrics | None = None) -> Json:
        """Compare securities side by side, in the order given.

        Each has the requested metrics (by default price, change, market value, P/E ratio, yield and
        one-year return); a metric is null where it does not apply.
        """
        named = [data.find_security(self, WORDS, symbol) for symbol in symbols]
        rows = list({r["symbol"]: r for r in named}.values())
        if len(rows) < 2:
            message = "A comparison needs two different symbols."
            only = [r["symbol"] for r in rows]
            self.fail(self.codes.invalid, message, "Add another symbol.", symbols=only)
        wanted = list(dict.fromkeys(metrics or USUAL))
        return {"metrics": wanted, "comparison": [self._compared(r, wanted) for r in rows]}

    @reads(example={"sector": "Technology"})
    def get_google_sector_performance(self, sector: data.Sector | None = None) -> Json:
        """Return the performance of sectors, the day's best first.

        Changes are in percent over the latest day, five trading days, a month and the year to date,
        weighted by market value. If a sector is given, its stocks are listed, too.
        """
        stocks = self._stocks_by_sector()
        shown = []
        for name, of_sector in stocks.items():
            if of_sector and sector in (None, name):
                shown.append(self._sector(name, of_sector))
        performance = {"sectors": sorted(shown, key=lambda s: -s["day_change_percent"])}
        if sector is None:
            return performance
        largest = sorted(stocks[sector], key=self._size, reverse=True)
        return performance | {"stocks": [ticker_json(self, row) for row in largest]}

    @reads(example={"analyst_rating": "buy"})
    def screen_google_equities(
        self,
        analyst_rating: data.Rating | None = None,
        min_market_cap: data.MarketCap | None = None,
        sector: data.Sector | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return listed stocks that meet every condition, by market value, largest first.

        Each has its sector, consensus and upside to the average target.
        """
        stocks = data.screen(self, self.now, sector, analyst_rating, min_market_cap)
        passed = {s.row["symbol"]: s for s in stocks}
        return page(list(passed), "results", limit, cursor, lambda s: self._screened(passed[s]))

    def _screened(self, passed: data.Screened) -> Json:
        last = market.price(passed.row, self.now)
        return ticker_json(self, passed.row) | {
            "sector": passed.row["sector"],
            "market_cap": passed.market_cap,
            "consensus": passed.analysts.consensus,
            "upside_percent": _percent_over(last, passed.analysts.target),
        }

    def _compared(self, row: Row, metrics: list[Metric]) -> Json:
        about = {"symbol": row["symbol"], "name": row["name"]}
        return about | {name: self._metric(row, name) for name in metrics}

    def _metric(self, row: Row, name: Metric) -> Any:
        if name in MONTHS_BACK:
            since = months_later(market.trading_date(row, self.now), -MONTHS_BACK[name])
            before = data.close_by(row, since)
            return None if before is None else _percent_over(before, market.price(row, self.now))
        if name in ("year_low", "year_high"):
            low, high = market.year_range(row, self.now)
            return high if name == "year_high" else low
        if name in ("consensus", "target_price"):
            analysts = figures.analysts(row, self.now)
            return analysts and (analysts.consensus if name == "consensus" else analysts.target)
        if name in ("beta", "expense_ratio"):
            return row[name]
        if name == "change_percent":
            return market.quote(row, self.now).change_percent
        return getattr(market if name == "price" else figures, name)(row, self.now)

    def _stocks_by_sector(self) -> dict[str, list[dict[str, Any]]]:
        by_sector: dict[str, list[dict[str, Any]]] = {name: [] for name in market.SECTORS}
        for row in market.securities(self, ("stock",)):
            if row["sector"] in by_sector:
                by_sector[row["sector"]].append(row)
        return by_sector

    def _size(self, row: Row) -> int:
        return figures.market_cap(row, self.now) or 0

    def _sector(self, name: str, stocks: list[Row]) -> Json:
        today = max(market.trading_date(r, self.now) for r in stocks)
        quotes = [market.quote(r, self.now) for r in stocks]
        week = market.days(stocks[0], today - timedelta(days=20), today, self.now)
        before = {
            "day": today - timedelta(days=1),
            "week": week[-6] if len(week) > 5 else today - timedelta(days=7),
            "month": months_later(today, -1),
            "ytd": date(today.year - 1, 12, 31),
        }
        return {
            "sector": name,
            **{f"{span}_change_percent": self._change(stocks, day) for span, day in before.items()},
            "advancing": sum(q.change > 0 for q in quotes),
            "declining": sum(q.change < 0 for q in quotes),
            "market_cap": sum(self._size(r) for r in stocks),
        }

    def _change(self, stocks: list[Row], day: date) -> float:
        """Return the percentage change of stocks since a day's close, excluding later listings."""
        worth_then = []
        worth_now = []
        for row in stocks:
            price_then = data.close_by(row, day)
            if price_then is not None:
                count = row["shares_outstanding"] or 0
                worth_then.append(count * price_then)
                worth_now.append(count * market.price(row, self.now))
        before = sum(worth_then)
        return round((sum(worth_now) / before - 1) * 100, 2) if before else 0.0


def _percent_over(before: float, after: float) -> float:
    return round((after - before) / before * 100, 2)


def _article(article_id: str, article: news.Article) -> Json:
    return {
        "article_id": article_id,
        "title": article.title,
        "source": article.source,
        "timestamp": iso(article.at),
        "summary": article.summary,
    }
