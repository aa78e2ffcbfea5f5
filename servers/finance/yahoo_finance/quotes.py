"""Finding tickers, live quotes, price history by interval, and options."""

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
from servers.kit.values import Cursor, Date, Limit, iso, page, parse_time
from servers.kit.zones import months_later

Range = Annotated[
    Literal["1d", "5d", "1mo", "3mo", "6mo", "1y"],
    Field(description="How far back, counted from the latest trading day."),
]
Interval = Annotated[
    Literal["15m", "30m", "1h", "1d", "1wk", "1mo"],
    Field(
        description="Length of a bar: 15m, 30m and 1h within ranges of 1d and 5d (1h within 1mo, too), 1wk from 1mo on, 1mo from 3mo on."
    ),
]
Expiration = Annotated[
    Date,
    Field(
        description="An expiration of get_yahoo_options_expirations; the next one when left out."
    ),
]
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
        quote_type: Annotated[QuoteType, Field(description="Only this kind of security.")]
        | None = None,
        exchange: Exchange | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Find tickers by symbol or by words of the name, best match first; filters work without a query, too. Delisted ones come last."""
        rows = data.search(self, WORDS, query, quote_type, exchange)
        return page(rows, "quotes", limit, cursor, lambda r: ticker_json(self, r))

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_live_quote(self, symbol: Symbol) -> dict[str, Any]:
        """Return the live quote of a security: price, bid and ask (null while nothing trades), the day's range, that of 52 weeks of closes,
        volume, and figures of valuation, in dollars."""
        row = data.find_security(self, WORDS, symbol)
        now = market.quote(row, self.now)
        low, high = market.year_range(row, self.now)
        coming = next((e for e in figures.earnings(row, self.now) if e.reported is None), None)
        return {
            **ticker_json(self, row),
            "currency": "USD",
            "regular_market_time": iso(now.as_of),
            "regular_market_open": now.open,
            "regular_market_day_high": now.high,
            "regular_market_day_low": now.low,
            "regular_market_previous_close": now.previous_close,
            "regular_market_volume": now.volume,
            "bid": now.bid,
            "ask": now.ask,
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
    ) -> dict[str, Any]:
        """Return bars in dollars, newest first, the latest as far as it has come, and dividends with an ex-date in the range. A range of
        months goes back to the same day of the month; funds have no bars within a day."""
        row = data.find_security(self, WORDS, symbol)
        fitting = (
            FITTING[range]
            if row["kind"] != "mutual_fund"
            else tuple(i for i in FITTING[range] if i in LONGER)
        )
        if interval not in fitting:
            message = f"Interval {interval} is not available for range {range}{' of a fund' if row['kind'] == 'mutual_fund' else ''}."
            self.fail(
                "INTERVAL_NOT_AVAILABLE",
                message,
                f"Choose one of {', '.join(fitting)}.",
                range=range,
                interval=interval,
            )
        end = market.trading_date(row, self.now)
        days = market.days(row, self._since(row, range, end), end, self.now)
        if interval in LONGER:
            spans = {
                last.isoformat(): (first, last)
                for first, last in reversed(data.spans(days, LONGER[interval]))
            }
            prices = page(
                list(spans),
                "prices",
                limit,
                cursor,
                lambda d: self._bar(row, LONGER[interval], *spans[d]),
            )
        else:
            starts = {
                iso(start): (start, close)
                for day in reversed(days)
                for start, close in self._parts(row, day, MINUTES[interval] * 60)
            }
            prices = page(
                list(starts), "prices", limit, cursor, lambda s: self._part(row, *starts[s])
            )
        paid = figures.dividends(row, days[0], end) if days else []
        about = {"symbol": row["symbol"], "currency": "USD", "range": range, "interval": interval}
        return (
            about
            | prices
            | {
                "dividends": [
                    {"ex_date": d.ex_date.isoformat(), "amount": d.amount / market.PIP}
                    for d in paid
                ]
            }
        )

    @reads(example={"symbol": "SMPK"})
    def get_yahoo_options_expirations(self, symbol: Symbol) -> dict[str, Any]:
        """Return the dates on which options on a stock or ETF expire, and its listed strikes in dollars."""
        row = self._optioned(symbol)
        dates = [day.isoformat() for day in options.expirations(self.now)]
        return {
            "symbol": row["symbol"],
            "expiration_dates": dates,
            "strikes": options.strikes(row, self.now),
        }

    @reads(example={"symbol": "SMPK", "expiration_date": "2026-04-17"})
    def get_yahoo_options_chain(
        self, symbol: Symbol, expiration_date: Expiration | None = None
    ) -> dict[str, Any]:
        """Return calls and puts of one expiration by strike: premium, bid and ask in dollars a share (a contract is for 100), volume, open
        interest, implied volatility as a fraction."""
        row = self._optioned(symbol)
        dates = options.expirations(self.now)
        chosen = dates[0] if expiration_date is None else date.fromisoformat(expiration_date)
        if chosen not in dates:
            near = ", ".join(map(str, dates))
            message = f"No options on {row['symbol']} expire on {chosen}."
            self.fail(
                "EXPIRATION_NOT_FOUND",
                message,
                f"They expire on {near}.",
                expiration_date=str(chosen),
            )
        listed = options.chain(row, self.now, chosen)
        sides = {
            f"{right}s": [_contract(row, c) for c in listed if c.right == right]
            for right in options.RIGHTS
        }
        return {
            "symbol": row["symbol"],
            "expiration_date": str(chosen),
            "underlying_price": market.price(row, self.now),
        } | sides

    # -- bars ---------------------------------------------------------------------------------------------------------
    def _since(self, row: dict[str, Any], span: str, end: date) -> date:
        if span in MONTHS:
            return months_later(end, -MONTHS[span]) + timedelta(days=1)
        days = market.days(row, end - timedelta(days=14), end, self.now)
        return days[-(1 if span == "1d" else 5) :][0] if days else end

    def _bar(
        self, row: dict[str, Any], interval: market.Interval, first: date, last: date
    ) -> dict[str, Any]:
        bar = market.bars(row, interval, first, last, self.now)[0]
        return {
            "date": bar.date,
            "open": bar.open,
            "high": bar.high,
            "low": bar.low,
            "close": bar.close,
            "volume": bar.volume,
        }

    def _parts(self, row: dict[str, Any], day: date, length: int) -> list[tuple[int, int]]:
        """Return (start, end) of the bars of a day that have begun, newest first."""
        end = market.closed(row, day)
        first = market.intraday(row, day, self.now)[0][0]
        ends = [parse_time(row[c]) for c in ("halted_at", "delisted_at") if row[c]]
        last = min(self.now // 60 * 60, end, *ends)
        return [
            (s, min(s + length, last)) for s in range(first, end, length) if s < last or s == first
        ][::-1]

    def _part(self, row: dict[str, Any], start: int, end: int) -> dict[str, Any]:
        """Return a bar within a day; prices only rise or only fall within a half hour, so that its ends and the half hours tell all."""
        inner = range(start // HALF_HOUR * HALF_HOUR + HALF_HOUR, end, HALF_HOUR)
        day = market.trading_date(row, start)
        seen = [market.price(row, moment) for moment in (start, *inner)] + [
            self._closing(row, day, end)
        ]
        total = (
            [market.daily_bar(row, day, moment).volume for moment in (start, end)]
            if end < market.closed(row, day)
            else []
        )
        volume = total[1] - total[0] if total else self._rest(row, day, start)
        return {
            "time": iso(start),
            "open": seen[0],
            "high": max(seen),
            "low": min(seen),
            "close": seen[-1],
            "volume": volume,
        }

    def _closing(self, row: dict[str, Any], day: date, end: int) -> float:
        return (
            market.closing(row, day) if end == market.closed(row, day) else market.price(row, end)
        )

    def _rest(self, row: dict[str, Any], day: date, start: int) -> int:
        return (
            market.daily_bar(row, day, market.closed(row, day)).volume
            - market.daily_bar(row, day, start).volume
        )

    def _optioned(self, symbol: str) -> dict[str, Any]:
        row = data.find_security(self, WORDS, symbol)
        if not options.has_options(row):
            message = f"No options are traded on {row['symbol']}."
            hint = "Options exist on much-traded stocks and ETFs alone."
            self.fail("OPTIONS_NOT_FOUND", message, hint, symbol=row["symbol"])
        return row


def _contract(row: dict[str, Any], c: options.Contract) -> dict[str, Any]:
    expiry = date.fromisoformat(c.expiry)
    right = c.right[0].upper()
    return {
        "contract_symbol": f"{row['symbol']}{expiry:%y%m%d}{right}{int(c.strike * 1000 + 0.5):08d}",
        "strike": c.strike,
        "premium": c.premium,
        "bid": c.bid,
        "ask": c.ask,
        "volume": c.volume,
        "open_interest": c.open_interest,
        "implied_volatility": c.implied_volatility,
    }
