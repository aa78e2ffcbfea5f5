"""Companies and sectors: profiles, news, analysts, comparisons, a screener."""

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
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import months_later

Metric = Literal[
    "price", "change_percent", "market_cap", "pe_ratio", "eps", "dividend_yield", "beta", "year_low", "year_high",
    "return_1m", "return_6m", "return_1y", "consensus", "target_price", "expense_ratio",
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
        description="What to compare: dollars, or percent for changes, yields, returns and expense_ratio.",
    ),
]


class Research(Service):
    """What is known and said of companies."""

    @reads(example={"symbol": "SMPK"})
    def get_google_company_profile(self, symbol: Symbol) -> dict[str, Any]:
        """Return what a company, fund or coin is: sector and industry (or a fund's family and category), description, headquarters,
        year of foundation and employees, where it has them."""
        row = data.find_security(self, WORDS, symbol)
        shown = {
            "symbol": row["symbol"],
            "name": row["name"],
            "exchange": EXCHANGES[row["exchange"]],
            "description": row["about"],
        }
        kept = (
            "sector",
            "industry",
            "family",
            "category",
            "headquarters",
            "founded",
            "employees",
            "expense_ratio",
        )
        return shown | {name: row[name] for name in kept} | {"listed_on": row["listed_at"][:10]}

    @reads(example={"symbol": "SMPK"})
    def get_google_company_news(
        self, symbol: Symbol, limit: Limit = 5, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return news about a security from several sources, newest first. Articles stay as they were published: look for later ones
        before trusting a report."""
        row = data.find_security(self, WORDS, symbol)
        found = {make_id("gfn", a.key): a for a in news.articles(row, self.now)}
        return {"symbol": row["symbol"]} | page(
            list(found), "articles", limit, cursor, lambda i: _article(i, found[i])
        )

    @reads(example={"symbol": "SMPK"})
    def get_google_analyst_summary(self, symbol: Symbol) -> dict[str, Any]:
        """Return the analysts' consensus on a stock, their average target in dollars, its upside over the present price in percent, and
        how many give which rating."""
        row = data.find_security(self, WORDS, symbol)
        said = figures.analysts(row, self.now)
        if said is None:
            message = f"Analysts do not cover {row['symbol']}."
            hint = "They cover stocks; see screen_google_equities."
            self.fail("ANALYSTS_NOT_AVAILABLE", message, hint, symbol=row["symbol"])
        last = market.price(row, self.now)
        return {
            "symbol": row["symbol"],
            "consensus": said.consensus,
            "average_target": said.target,
            "target_range": {"low": said.target_low, "high": said.target_high},
            "price": last,
            "upside_percent": round((said.target - last) / last * 100, 2),
            "analyst_count": sum(said.counts.values()),
            "breakdown": said.counts,
        }

    @reads(
        example={"symbols": ["SMPK", "NVLT", "KYRA"], "metrics": ["price", "return_1y", "pe_ratio"]}
    )
    def compare_google_stocks(
        self, symbols: Compared, metrics: Metrics | None = None
    ) -> dict[str, Any]:
        """Return securities side by side in the order given, each with the metrics asked for (price, change, market value, price to
        earnings, yield and a year's return by default); null where one has no such figure."""
        rows = list(
            {r["symbol"]: r for r in (data.find_security(self, WORDS, s) for s in symbols)}.values()
        )
        if len(rows) < 2:
            self.fail(
                self.codes.invalid,
                "A comparison needs two different symbols.",
                "Name another one.",
                symbols=[r["symbol"] for r in rows],
            )
        wanted = list(dict.fromkeys(metrics or USUAL))
        found = [
            {"symbol": r["symbol"], "name": r["name"]} | {m: self._metric(r, m) for m in wanted}
            for r in rows
        ]
        return {"metrics": wanted, "comparison": found}

    @reads(example={"sector": "Technology"})
    def get_google_sector_performance(self, sector: data.Sector | None = None) -> dict[str, Any]:
        """Return how sectors did, best of the day first: change in percent over the latest day, five trading days, a month and since the
        year began, weighed by market value. With a sector, its stocks, too."""
        found = [
            self._sector(name, of)
            for name, of in self._sectors().items()
            if of and sector in (None, name)
        ]
        shown = {"sectors": sorted(found, key=lambda s: -s["day_change_percent"])}
        if sector is None:
            return shown
        return shown | {
            "stocks": [
                ticker_json(self, r)
                for r in sorted(self._sectors()[sector], key=self._size, reverse=True)
            ]
        }

    @reads(example={"analyst_rating": "buy"})
    def screen_google_equities(
        self,
        analyst_rating: data.Rating | None = None,
        min_market_cap: data.MarketCap | None = None,
        sector: data.Sector | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return listed stocks that meet every condition, by market value, each with its sector, consensus and upside to the target."""
        found = {
            s.row["symbol"]: s
            for s in data.screen(self, self.now, sector, analyst_rating, min_market_cap)
        }
        return page(list(found), "results", limit, cursor, lambda s: self._screened(found[s]))

    def _screened(self, passed: data.Screened) -> dict[str, Any]:
        last = market.price(passed.row, self.now)
        about = {
            "sector": passed.row["sector"],
            "market_cap": passed.market_cap,
            "consensus": passed.analysts.consensus,
        }
        return (
            ticker_json(self, passed.row)
            | about
            | {"upside_percent": round((passed.analysts.target - last) / last * 100, 2)}
        )

    def _metric(self, row: dict[str, Any], name: Metric) -> Any:
        if name.startswith("return_"):
            before = data.close_by(
                row,
                months_later(
                    market.trading_date(row, self.now), -{"1m": 1, "6m": 6, "1y": 12}[name[7:]]
                ),
            )
            return (
                None
                if before is None
                else round((market.price(row, self.now) - before) / before * 100, 2)
            )
        if name in ("year_low", "year_high"):
            return market.year_range(row, self.now)[name == "year_high"]
        if name in ("consensus", "target_price"):
            said = figures.analysts(row, self.now)
            return said and (said.consensus if name == "consensus" else said.target)
        if name in ("beta", "expense_ratio"):
            return row[name]
        if name == "change_percent":
            return market.quote(row, self.now).change_percent
        return getattr(market if name == "price" else figures, name)(row, self.now)

    def _sectors(self) -> dict[str, list[dict[str, Any]]]:
        stocks = market.securities(self, ("stock",))
        return {name: [r for r in stocks if r["sector"] == name] for name in market.SECTORS}

    def _size(self, row: dict[str, Any]) -> int:
        return figures.market_cap(row, self.now) or 0

    def _sector(self, name: str, stocks: list[dict[str, Any]]) -> dict[str, Any]:
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

    def _change(self, stocks: list[dict[str, Any]], day: date) -> float:
        """Return the change of stocks since the close of a day; one listed later counts from its listing on, that is not at all."""
        pairs = [
            (r["shares_outstanding"] or 0, market.price(r, self.now), data.close_by(r, day))
            for r in stocks
        ]
        known = [(count * now, count * then) for count, now, then in pairs if then is not None]
        before = sum(then for _, then in known)
        return round((sum(now for now, _ in known) / before - 1) * 100, 2) if before else 0.0


def _article(article_id: str, article: news.Article) -> dict[str, Any]:
    shown = {"article_id": article_id, "title": article.title, "source": article.source}
    return shown | {"timestamp": iso(article.at), "summary": article.summary}
