"""Companies: overview, news with sentiment, ratings, and a screener."""

from __future__ import annotations

from datetime import date, timedelta

from servers.finance import _calendar as calendar
from servers.finance import _data as data
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _news as news
from servers.finance._data import Symbol
from servers.finance.alpha_vantage._model import (
    EXCHANGES,
    TYPES,
    WORDS,
    Exchange,
    delayed,
    trading_days,
)
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import local_day

LABELS = (
    (-0.35, "Bearish"),
    (-0.15, "Somewhat-Bearish"),
    (0.15, "Neutral"),
    (0.35, "Somewhat-Bullish"),
)
OVERALL_DAYS = 30


def label(score: float) -> str:
    """Return the label of a sentiment score from -1 to 1."""
    return next((word for bound, word in LABELS if score < bound), "Bullish")


class Research(Service):
    """Facts and opinions about companies."""

    @reads(example={"symbol": "SMPK"})
    def get_alpha_company_overview(self, symbol: Symbol) -> Json:
        """Return a company's description and its figures at the delayed price.

        Market value, revenue, dividends and moving averages are in dollars, growth and yield in
        percent; the 52-week range is of closes. For funds and coins, company figures are null.
        """
        row = data.find_security(self, WORDS, symbol)
        at = delayed(self)
        analysts = figures.analysts(row, at)
        due = self._dividend_due(row, local_day(at, calendar.NEW_YORK))
        low, high = market.year_range(row, at)
        return {
            "symbol": row["symbol"],
            "asset_type": TYPES[row["kind"]],
            "name": row["name"],
            "description": row["about"],
            "exchange": EXCHANGES[row["exchange"]],
            "currency": "USD",
            "sector": row["sector"],
            "industry": row["industry"],
            "category": row["category"],
            "address": row["headquarters"],
            "market_capitalization": figures.market_cap(row, at),
            "shares_outstanding": row["shares_outstanding"],
            "revenue": row["revenue"],
            "revenue_growth_yoy": row["growth"],
            "eps": figures.eps(row, at),
            "pe_ratio": figures.pe_ratio(row, at),
            "dividend_per_share": figures.yearly_dividend(row, at),
            "dividend_yield": figures.dividend_yield(row, at),
            "ex_dividend_date": due and due.ex_date.isoformat(),
            "dividend_date": due and due.pay_date.isoformat(),
            "expense_ratio": row["expense_ratio"],
            "analyst_target_price": analysts and analysts.target,
            "beta": row["beta"],
            "week_52_high": high,
            "week_52_low": low,
            "moving_average_50_day": self._mean(row, 50),
            "moving_average_200_day": self._mean(row, 200),
        }

    @reads(example={"symbol": "SMPK"})
    def get_alpha_news_sentiment(
        self, symbol: Symbol, limit: Limit = 5, cursor: Cursor | None = None
    ) -> Json:
        """Return news about a security, newest first and 15 minutes late, with sentiment scores.

        Sentiment runs from -1 to 1. overall_score is the mean of the past 30 days, weighted by each
        article's relevance (0 to 1), or null if there is no news.
        """
        row = data.find_security(self, WORDS, symbol)
        published = {make_id("avn", a.key): a for a in news.articles(row, delayed(self))}
        since = delayed(self) - OVERALL_DAYS * 86_400
        recent = [a for a in published.values() if a.at >= since]
        weight = sum(_relevance(a) for a in recent)
        score = round(sum(a.mood * _relevance(a) for a in recent) / weight, 4) if recent else None
        about = {
            "symbol": row["symbol"],
            "overall_score": score,
            "overall_sentiment": None if score is None else label(score),
        }
        return about | page(
            list(published), "feed", limit, cursor, lambda i: _article(i, published[i])
        )

    @reads(example={"symbol": "SMPK"})
    def get_alpha_rating_snapshot(self, symbol: Symbol) -> Json:
        """Return this month's analyst ratings of a stock, with target prices in dollars.

        score runs from 1 (strong buy) to 5 (strong sell); ratings counts the analysts per rating.
        """
        row = data.find_security(self, WORDS, symbol)
        analysts = figures.analysts(row, delayed(self))
        if analysts is None:
            message = f"Analysts do not rate {row['symbol']}."
            hint = "They rate only stocks; find some with screen_alpha_equities."
            self.fail("RATING_NOT_AVAILABLE", message, hint, symbol=row["symbol"])
        return {
            "symbol": row["symbol"],
            "consensus": analysts.consensus,
            "score": analysts.score,
            "target_price": analysts.target,
            "target_low": analysts.target_low,
            "target_high": analysts.target_high,
            "ratings": analysts.counts,
            "as_of": local_day(delayed(self), calendar.NEW_YORK).replace(day=1).isoformat(),
        }

    @reads(example={"sector": "Technology"})
    def screen_alpha_equities(
        self,
        sector: data.Sector | None = None,
        exchange: Exchange | None = None,
        analyst_rating: data.Rating | None = None,
        min_market_cap: data.MarketCap | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return listed stocks that meet every condition, by market value, largest first.

        Each has its delayed price, P/E ratio and analyst consensus.
        """
        passed = {}
        for stock in data.screen(self, delayed(self), sector, analyst_rating, min_market_cap):
            if exchange in (None, EXCHANGES[stock.row["exchange"]]):
                passed[stock.row["symbol"]] = stock
        return page(list(passed), "equities", limit, cursor, lambda s: self._screened(passed[s]))

    def _dividend_due(self, row: Row, today: date) -> figures.Dividend | None:
        """Return the first declared dividend that has not been paid yet."""
        near = figures.dividends(row, today - timedelta(days=200), today + timedelta(days=120))
        declared = [d for d in near if d.declared <= today]
        return next((d for d in declared if d.pay_date >= today), None)

    def _screened(self, passed: data.Screened) -> Json:
        row = passed.row
        return {
            "symbol": row["symbol"],
            "name": row["name"],
            "exchange": EXCHANGES[row["exchange"]],
            "sector": row["sector"],
            "price": market.price(row, delayed(self)),
            "market_capitalization": passed.market_cap,
            "pe_ratio": figures.pe_ratio(row, delayed(self)),
            "consensus": passed.analysts.consensus,
        }

    def _mean(self, row: Row, count: int) -> float | None:
        today = local_day(self.now, calendar.NEW_YORK)
        days = trading_days(self, row, today - timedelta(days=count * 2))[-count:]
        closes = [data.close_by(row, day) or 0.0 for day in days]
        return round(sum(closes) / count, 4) if len(closes) == count else None


def _relevance(article: news.Article) -> float:
    """Return an article's relevance to its security; weekly wraps have little."""
    base = {"market_wrap": 0.2, "price_move": 0.5}.get(article.topic, 0.8)
    return round(base + 0.15 * share("relevance", article.key), 2)


def _article(article_id: str, article: news.Article) -> Json:
    return {
        "article_id": article_id,
        "title": article.title,
        "time_published": iso(article.at),
        "source": article.source,
        "summary": article.summary,
        "topic": article.topic,
        "relevance_score": _relevance(article),
        "sentiment_score": round(article.mood, 4),
        "sentiment_label": label(article.mood),
    }
