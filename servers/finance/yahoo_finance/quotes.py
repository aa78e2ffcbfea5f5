"""Ticker search, live quotes, price history by interval, and options."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _options as options
from servers.finance._data import Symbol
from servers.finance.yahoo_finance._model import WORDS, Exchange, QuoteType, ticker_json
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, iso, page, parse_time
from servers.kit.zones import months_later

Range = Annotated[
    Literal["1d", "5d", "1mo", "3mo", "6mo", "1y"],
    Field(description="How far back from the latest trading day."),
]
Interval = Annotated[
    Literal["15m", "30m", "1h", "1d", "1wk", "1mo"],
    Field(
        description="Length of a bar: 15m and 30m for ranges of 1d and 5d, 1h up to 1mo, "
        "1d for any range, 1wk from 1mo up, 1mo from 3mo up."
    ),
]
OnlyType = Annotated[QuoteType, Field(description="Only securities of this type.")]
NEXT_ONE = "An expiration date from get_yahoo_options_expirations; defaults to the next one."
Expiration = Annotated[Date, Field(description=NEXT_ONE)]
FITTING: dict[str, tuple[str, ...]] = {
    "1d": ("15m", "30m", "1h", "1d"),
    "5d": ("15m", "30m", "1h", "1d"),
    "1mo": ("1h", "1d", "1wk"),
    "3mo": ("1d", "1wk", "1mo"),
    "6mo": ("1d", "1wk", "1mo"),
    "1y": ("1d", "1wk", "1mo"),
}
MINUTES = {"15m": 15, "30m": 30, "1h": 60}
LONGER: dict[str, market.Interval] = {"1d": "daily", "1wk": "weekly", "1mo": "monthly"}
MONTHS = {"1mo": 1, "3mo": 3, "6mo": 6, "1y": 12}
HALF_HOUR = 1800


class Quotes(Service):
    """Securities, their prices, and options on them."""

    @reads(example={"query": "summit"})
    def search_yahoo_tickers(
        self,
        query: data.Query | None = None,
        quote_type: OnlyType | None = None,
        exchange: Exchange | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Find tickers by symbol or by words of the name, best match first, delisted ones last.

        The filters also work without a query.
        """
        rows = data.search(self, WORDS, query, quote_type, exchange)
        return page(rows, "quotes", limit, cursor, lambda r: ticker_json(self, r))

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_live_quote(self, symbol: Symbol) -> Json:
        """Return the live quote of a security in dollars.

        It has the price, bid and ask (null while the security does not trade), the day's range,
        the 52-week range of closes, volume, and valuation figures.
        """
        row = data.find_security(self, WORDS, symbol)
        quote = market.quote(row, self.now)
        low, high = market.year_range(row, self.now)
        coming = next((e for e in figures.earnings(row, self.now) if e.reported is None), None)
        return {
            **ticker_json(self, row),
            "currency": "USD",
            "regular_market_time": iso(quote.as_of),
            "regular_market_open": quote.open,
            "regular_market_day_high": quote.high,
            "regular_market_day_low": quote.low,
            "regular_market_previous_close": quote.previous_close,
            "regular_market_volume": quote.volume,
            "bid": quote.bid,
            "ask": quote.ask,
            "fifty_two_week_high": high,
            "fifty_two_week_low": low,
            "market_cap": figures.market_cap(row, self.now),
            "trailing_pe": figures.pe_ratio(row, self.now),
            "trailing_eps": figures.eps(row, self.now),
            "trailing_annual_dividend_rate": figures.yearly_dividend(row, self.now),
            "dividend_yield": figures.dividend_yield(row, self.now),
            "earnings_date": coming and coming.date.isoformat(),
        }

    @reads(example={"symbol": "SMPK", "range": "5d", "interval": "1h"})
    def get_yahoo_price_history(
        self,
        symbol: Symbol,
        range: Range = "1mo",
        interval: Interval = "1d",
        limit: Limit = 100,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return price bars in dollars, newest first, and the dividends in the range.

        The latest bar may be incomplete; dividends count by their ex-date. A range of months goes
        back to the same day of the month. Funds have no bars shorter than a day.
        """
        row = data.find_security(self, WORDS, symbol)
        self._check_interval(row, range, interval)
        end = market.trading_date(row, self.now)
        days = market.days(row, self._since(row, range, end), end, self.now)
        if interval in LONGER:
            prices = self._long_bars(row, days, LONGER[interval], limit, cursor)
        else:
            prices = self._short_bars(row, days, MINUTES[interval] * 60, limit, cursor)
        paid = figures.dividends(row, days[0], end) if days else []
        about = {"symbol": row["symbol"], "currency": "USD", "range": range, "interval": interval}
        dividends = [
            {"ex_date": d.ex_date.isoformat(), "amount": d.amount / market.PIP} for d in paid
        ]
        return about | prices | {"dividends": dividends}

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_options_expirations(self, symbol: Symbol) -> Json:
        """Return the expiration dates of options on a stock or ETF, and its strikes in dollars."""
        row = self._optioned(symbol)
        return {
            "symbol": row["symbol"],
            "expiration_dates": [day.isoformat() for day in options.expirations(self.now)],
            "strikes": options.strikes(row, self.now),
        }

    @reads(example={"symbol": "SMPK", "expiration_date": "2026-04-17"})
    def get_yahoo_options_chain(
        self, symbol: Symbol, expiration_date: Expiration | None = None
    ) -> Json:
        """Return the calls and puts of one expiration date, by strike.

        Premium, bid and ask are in dollars per share (a contract covers 100 shares); implied
        volatility is a fraction.
        """
        row = self._optioned(symbol)
        dates = options.expirations(self.now)
        chosen = dates[0] if expiration_date is None else date.fromisoformat(expiration_date)
        if chosen not in dates:
            message = f"No options on {row['symbol']} expire on {chosen}."
            hint = f"Expiration dates: {', '.join(map(str, dates))}."
            self.fail("EXPIRATION_NOT_FOUND", message, hint, expiration_date=str(chosen))
        reply = {
            "symbol": row["symbol"],
            "expiration_date": str(chosen),
            "underlying_price": market.price(row, self.now),
        }
        listed = options.chain(row, self.now, chosen)
        for right in options.RIGHTS:
            reply[f"{right}s"] = [_contract(row, c) for c in listed if c.right == right]
        return reply

    # -- bars --------------------------------------------------------------------------------------
    def _check_interval(self, row: Row, span: str, interval: str) -> None:
        """Refuse an interval that does not fit a range; a fund has no bars shorter than a day."""
        fund = row["kind"] == "mutual_fund"
        fitting = list(FITTING[span])
        if fund:
            fitting = [i for i in fitting if i in LONGER]
        if interval in fitting:
            return
        of_fund = " of a fund" if fund else ""
        message = f"Interval {interval} is not available for range {span}{of_fund}."
        hint = f"Choose one of {', '.join(fitting)}."
        self.fail("INTERVAL_NOT_AVAILABLE", message, hint, range=span, interval=interval)

    def _since(self, row: Row, span: str, end: date) -> date:
        if span in MONTHS:
            return months_later(end, -MONTHS[span]) + timedelta(days=1)
        days = market.days(row, end - timedelta(days=14), end, self.now)
        latest = days[-1:] if span == "1d" else days[-5:]
        return latest[0] if latest else end

    def _long_bars(
        self,
        row: Row,
        days: list[date],
        interval: market.Interval,
        limit: int,
        cursor: str | None,
    ) -> Json:
        spans = {last.isoformat(): (first, last) for first, last in data.spans(days, interval)}
        newest = list(reversed(spans))
        return page(newest, "prices", limit, cursor, lambda d: self._bar(row, interval, *spans[d]))

    def _short_bars(
        self, row: Row, days: list[date], length: int, limit: int, cursor: str | None
    ) -> Json:
        parts: dict[str, tuple[int, int]] = {}
        for day in reversed(days):
            for start, end in self._parts(row, day, length):
                parts[iso(start)] = (start, end)
        return page(list(parts), "prices", limit, cursor, lambda s: self._part(row, *parts[s]))

    def _bar(self, row: Row, interval: market.Interval, first: date, last: date) -> Json:
        bar = market.bars(row, interval, first, last, self.now)[0]
        return {
            "date": bar.date,
            "open": bar.open,
            "high": bar.high,
            "low": bar.low,
            "close": bar.close,
            "volume": bar.volume,
        }

    def _parts(self, row: Row, day: date, length: int) -> list[tuple[int, int]]:
        """Return (start, end) of a day's bars that have begun, newest first."""
        end = market.closed(row, day)
        first = market.intraday(row, day, self.now)[0][0]
        ends = [parse_time(row[c]) for c in ("halted_at", "delisted_at") if row[c]]
        last = min(self.now // 60 * 60, end, *ends)
        # At the opening itself, before a minute has passed, the day already has its first bar.
        until = max(last, first + 1)
        starts = [start for start in range(first, end, length) if start < until]
        return [(start, min(start + length, last)) for start in reversed(starts)]

    def _part(self, row: Row, start: int, end: int) -> Json:
        """Return a bar within a day.

        A price only rises or only falls within a half hour, so the high and low are among the ends
        of the bar and the half hours between them.
        """
        inner = range(start // HALF_HOUR * HALF_HOUR + HALF_HOUR, end, HALF_HOUR)
        day = market.trading_date(row, start)
        closed = market.closed(row, day)
        prices = [market.price(row, moment) for moment in (start, *inner)]
        prices.append(market.closing(row, day) if end == closed else market.price(row, end))
        volumes = [market.daily_bar(row, day, m).volume for m in (start, min(end, closed))]
        return {
            "time": iso(start),
            "open": prices[0],
            "high": max(prices),
            "low": min(prices),
            "close": prices[-1],
            "volume": volumes[1] - volumes[0],
        }

    def _optioned(self, symbol: str) -> dict[str, Any]:
        row = data.find_security(self, WORDS, symbol)
        if not options.has_options(row):
            message = f"There are no options on {row['symbol']}."
            hint = "Options exist only on heavily traded stocks and ETFs."
            self.fail("OPTIONS_NOT_FOUND", message, hint, symbol=row["symbol"])
        return row


def _contract(row: Row, c: options.Contract) -> Json:
    expiry = date.fromisoformat(c.expiry)
    strike = int(c.strike * 1000 + 0.5)
    return {
        "contract_symbol": f"{row['symbol']}{expiry:%y%m%d}{c.right[0].upper()}{strike:08d}",
        "strike": c.strike,
        "premium": c.premium,
        "bid": c.bid,
        "ask": c.ask,
        "volume": c.volume,
        "open_interest": c.open_interest,
        "implied_volatility": c.implied_volatility,
    }
