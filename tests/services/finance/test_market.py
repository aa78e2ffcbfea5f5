"""The market: sessions, prices as functions of the moment, dividends, options, and fills."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from scenarios.worlds.fill.finance._securities import rows
from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _options as options
from servers.finance._clockwork import next_run, occurrence
from servers.finance._orders import PIP, UNIT, Wish, crossing, plan, units_for, value
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_moment

ROWS = {row["symbol"]: row for row in rows()}
SATURDAY = parse_time("2026-03-14T16:00:00Z")
FRIDAY_CLOSE = parse_time("2026-03-13T20:00:00Z")
MONDAY_OPEN = parse_time("2026-03-16T13:30:00Z")
STOCKS = [r for r in ROWS.values() if r["kind"] == "stock"]


def on_exchange(row: dict[str, Any]) -> bool:
    stopped = row["halted_at"] or row["delisted_at"]
    return row["kind"] in ("stock", "etf") and not stopped


TRADED = [r for r in ROWS.values() if on_exchange(r)]


def at(text: str) -> int:
    return parse_time(text)


# -- sessions --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("year", "closed"),
    [
        (2025, "01-01 01-09 01-20 02-17 04-18 05-26 06-19 07-04 09-01 11-27 12-25"),
        (2026, "01-01 01-19 02-16 04-03 05-25 06-19 07-03 09-07 11-26 12-25"),
        (2027, "01-01 01-18 02-15 03-26 05-31 06-18 07-05 09-06 11-25 12-24"),
    ],
)
def test_the_exchanges_keep_their_holidays(year: int, closed: str) -> None:
    days = sorted(day.isoformat() for day in calendar.holidays(year))
    assert days == [f"{year}-{day}" for day in closed.split()]


def test_sessions_follow_new_york_through_daylight_saving_and_half_days() -> None:
    winter = tuple(map(iso, calendar.session(date(2026, 3, 6))))
    assert winter == ("2026-03-06T14:30:00Z", "2026-03-06T21:00:00Z")
    summer = tuple(map(iso, calendar.session(date(2026, 3, 9))))
    assert summer == ("2026-03-09T13:30:00Z", "2026-03-09T20:00:00Z")
    _, early = calendar.session(date(2026, 11, 27))
    assert iso(early) == "2026-11-27T18:00:00Z", "the exchanges close at 1 p.m. after Thanksgiving"
    assert not calendar.is_open(SATURDAY) and calendar.next_open(SATURDAY) == MONDAY_OPEN
    assert calendar.is_open(MONDAY_OPEN)
    assert calendar.is_open(FRIDAY_CLOSE - 1) and not calendar.is_open(FRIDAY_CLOSE)
    opening = iso(calendar.next_open(at("2026-06-18T21:00:00Z")))
    assert opening == "2026-06-22T13:30:00Z", "Juneteenth and the weekend are skipped"
    assert calendar.next_close(FRIDAY_CLOSE - 1) == FRIDAY_CLOSE < calendar.next_close(FRIDAY_CLOSE)


def test_trading_days_can_be_counted_and_counted_back() -> None:
    assert calendar.day_number(date(2026, 1, 1)) == calendar.day_number(date(2026, 1, 2))
    for day in (date(1999, 12, 31), date(2026, 3, 13), date(2026, 12, 24), date(2199, 7, 3)):
        assert calendar.trading_day(calendar.day_number(day)) == calendar.on_or_after(day)
    assert calendar.add_days(date(2026, 4, 2), 1) == date(2026, 4, 6), "Good Friday lies between"
    assert iso(calendar.settles(at("2026-04-02T15:00:00Z"))) == "2026-04-06T13:30:00Z"


# -- prices ----------------------------------------------------------------------------------------
def test_prices_are_the_same_on_every_machine() -> None:
    prices = {
        "SMPK": 70.14,
        "NVLT": 429.78,
        "TMKT": 283.47,
        "MTMAX": 137.71,
        "BTCR": 53294.68,
        "DGGN": 0.1174,
        "MMKTX": 1.0,
    }
    assert {symbol: market.price(ROWS[symbol], SATURDAY) for symbol in prices} == prices


def test_outside_the_session_the_last_close_holds() -> None:
    for row in TRADED:
        quote = market.quote(row, SATURDAY)
        assert quote.price == market.price(row, FRIDAY_CLOSE) == market.price(row, MONDAY_OPEN - 1)
        assert quote.price == market.closing(row, date(2026, 3, 13))
        assert (quote.state, quote.as_of) == ("closed", FRIDAY_CLOSE)
        assert quote.bid is None and quote.ask is None
    moved = [r for r in TRADED if market.price(r, MONDAY_OPEN) != market.price(r, FRIDAY_CLOSE)]
    assert len(moved) > len(TRADED) / 2, "most prices move between close and opening"


def test_highs_and_lows_cover_every_minute_and_closes_carry_over() -> None:
    row = ROWS["NVLT"]
    day = date(2026, 3, 12)
    opened, closed = calendar.session(day)
    prices = [market.price(row, m) for m in range(opened, closed + 1, 60)]
    bar = market.daily_bar(row, day, SATURDAY)
    assert (bar.open, bar.close) == (prices[0], prices[-1])
    assert (bar.high, bar.low) == (max(prices), min(prices))
    noon = market.quote(row, opened + 9000)
    assert noon.low == min(prices[:151]) and noon.high == max(prices[:151])
    assert 0 < noon.volume < bar.volume
    assert noon.previous_close == market.daily_bar(row, date(2026, 3, 11), SATURDAY).close
    assert noon.change == pytest.approx(noon.price - noon.previous_close)
    assert noon.bid is not None and noon.ask is not None and noon.bid < noon.price < noon.ask


def test_daily_moves_have_an_ordinary_size() -> None:
    for row in TRADED:
        bars = market.bars(row, "daily", date(2025, 6, 1), date(2025, 12, 31), SATURDAY)
        moves = [abs(b.close / a.close - 1) * 100 for a, b in itertools.pairwise(bars)]
        assert 0.01 < sum(moves) / len(moves) < 3.5 and max(moves) < 15, row["symbol"]


def test_weekly_and_monthly_bars_agree_with_daily_bars() -> None:
    row = ROWS["CSPL"]
    first = date(2026, 1, 1)
    last = date(2026, 3, 14)
    daily = market.bars(row, "daily", first, last, SATURDAY)
    wanted: list[tuple[market.Interval, int]] = [("weekly", 11), ("monthly", 3)]
    for interval, expected in wanted:
        bars = market.bars(row, interval, first, last, SATURDAY)
        assert len(bars) == expected and sum(b.volume for b in bars) == sum(b.volume for b in daily)
        assert (bars[0].open, bars[-1].close) == (daily[0].open, daily[-1].close)
        assert max(b.high for b in bars) == max(b.high for b in daily)
    newcomer = market.bars(ROWS["KYRA"], "daily", date(2025, 9, 1), date(2025, 9, 30), SATURDAY)
    assert newcomer[0].date == "2025-09-17", "the day of its listing"


def test_a_fund_is_priced_once_a_day_at_the_close() -> None:
    row = ROWS["MTMAX"]
    before = market.price(row, MONDAY_OPEN)
    close = calendar.next_close(MONDAY_OPEN)
    assert market.price(row, close - 1) == before == market.price(row, SATURDAY)
    assert market.price(row, close) == market.closing(row, date(2026, 3, 16))
    day = market.daily_bar(row, date(2026, 3, 12), SATURDAY)
    assert day.open == day.high == day.low == day.close and day.volume == 0


def test_share_classes_move_together_and_the_cheaper_one_gets_ahead() -> None:
    admiral = ROWS["MFHAX"]
    investor = ROWS["MFHIX"]
    early = at("2025-03-14T21:00:00Z")
    late = SATURDAY
    gains = [market.price(r, late) / market.price(r, early) for r in (admiral, investor)]
    assert 0 < gains[0] - gains[1] < 0.003


def test_coins_trade_on_weekends_with_days_in_utc() -> None:
    row = ROWS["BTCR"]
    assert market.price(row, SATURDAY) != market.price(row, SATURDAY + 3600)
    quote = market.quote(row, SATURDAY)
    assert quote.state == "open" and quote.bid is not None and quote.ask is not None
    assert quote.bid < quote.price < quote.ask
    assert quote.previous_close == market.price(row, at("2026-03-14T00:00:00Z"))


def test_a_halted_or_delisted_security_keeps_its_price() -> None:
    halted = ROWS["HLXA"]
    gone = ROWS["NWSP"]
    stop = at("2026-03-12T15:00:00Z")
    assert market.state(halted, stop - 1) == "open" and market.state(halted, stop) == "halted"
    assert market.price(halted, SATURDAY) == market.price(halted, stop)
    assert market.quote(halted, SATURDAY).as_of == stop
    assert market.state(gone, SATURDAY) == "delisted"
    assert market.quote(gone, SATURDAY).as_of == at("2025-11-14T21:00:00Z")
    days = market.days(gone, date(2025, 11, 10), date(2025, 12, 1), SATURDAY)
    assert days[-1] == date(2025, 11, 14)
    filled = crossing(halted, stop + 60, stop + 90 * 86_400, lambda _: True)
    assert filled is None, "nothing fills during a halt"


# -- figures ---------------------------------------------------------------------------------------
def test_dividends_come_on_trading_days_ex_date_first() -> None:
    paid = figures.dividends(ROWS["PLCR"], date(2025, 3, 15), date(2026, 3, 14))
    assert len(paid) == 4 and all(d.declared < d.ex_date < d.pay_date for d in paid)
    assert all(calendar.is_trading_day(d.ex_date) for d in paid)
    assert all(calendar.is_trading_day(d.pay_date) for d in paid)
    assert paid[-1].pay_date == date(2026, 2, 12) and paid[-1].amount == 5200
    assert figures.yearly_dividend(ROWS["PLCR"], SATURDAY) == sum(d.amount for d in paid) / PIP
    assert figures.dividends(ROWS["SMPK"], date(2025, 1, 1), date(2026, 12, 31)) == []
    assert len(figures.dividends(ROWS["MTBAX"], date(2025, 3, 15), date(2026, 3, 14))) == 12


def test_valuation_agrees_with_the_price() -> None:
    for row in ROWS.values():
        last = market.price(row, SATURDAY)
        earned = figures.eps(row, SATURDAY)
        ratio = figures.pe_ratio(row, SATURDAY)
        if row["kind"] == "stock":
            assert figures.market_cap(row, SATURDAY) == int(row["shares_outstanding"] * last)
            assert (ratio is None) == (earned is None or earned <= 0)
            assert ratio is None or ratio == pytest.approx(last / (earned or 1), abs=0.01)
        else:
            assert earned is None and ratio is None and figures.analysts(row, SATURDAY) is None


def test_analysts_and_earnings_are_complete() -> None:
    for row in STOCKS:
        analysts = figures.analysts(row, SATURDAY)
        assert analysts is not None
        counts = analysts.counts.values()
        assert min(counts) >= 0 and sum(counts) >= 8
        assert analysts.target_low < analysts.target < analysts.target_high
        assert 1 <= analysts.score <= 5
        tomorrow = figures.analysts(row, SATURDAY + 86_400)
        assert analysts == tomorrow, "ratings do not change within a month"
        ahead, *past = figures.earnings(row, SATURDAY)
        assert ahead.reported is None and ahead.date > date(2026, 3, 14) and len(past) == 4
        assert all(e.reported is not None and e.date <= date(2026, 3, 14) for e in past)


def test_results_come_out_before_the_opening_and_the_estimate_stays() -> None:
    for row in STOCKS:
        ahead, *past = figures.earnings(row, SATURDAY)
        seven = local_moment(ahead.date, figures.PUBLISHED, calendar.NEW_YORK)
        assert figures.earnings(row, seven - 60) == [ahead, *past]
        _, latest, *_ = figures.earnings(row, seven)
        assert latest == replace(ahead, reported=latest.reported) and latest.reported is not None


def test_a_halted_security_keeps_its_last_trade_as_every_later_close() -> None:
    halt = at("2026-03-10T15:00:00Z")
    for symbol in ("SMPK", next(r["symbol"] for r in ROWS.values() if r["kind"] == "crypto")):
        row = ROWS[symbol] | {"halted_at": "2026-03-10T15:00:00Z"}
        last = market.price(ROWS[symbol], halt)
        closes = {market.closing(row, date(2026, 3, day)) for day in (10, 11, 12)}
        assert closes == {last} == {market.price(row, SATURDAY)}
        before = date(2026, 3, 9)
        assert market.closing(row, before) == market.closing(ROWS[symbol], before)


# -- options ---------------------------------------------------------------------------------------
def test_options_end_on_fridays_or_the_day_before_a_holiday() -> None:
    dates = options.expirations(SATURDAY)
    assert date(2026, 4, 2) in dates and date(2026, 4, 3) not in dates
    assert dates == sorted(set(dates))
    for day in dates:
        assert day.weekday() == 4 or day + timedelta(days=1) in calendar.holidays(day.year)
    last_minute = options.expirations(at("2026-03-20T19:59:00Z"))[0]
    after = options.expirations(at("2026-03-20T20:00:00Z"))[0]
    assert last_minute == date(2026, 3, 20) < after


def test_premiums_and_greeks_are_consistent() -> None:
    row = ROWS["SMPK"]
    expiry = date(2026, 5, 15)
    spot = market.price(row, SATURDAY)
    strikes = options.strikes(row, SATURDAY)
    calls = [options.contract(row, SATURDAY, expiry, "call", s) for s in strikes]
    puts = [options.contract(row, SATURDAY, expiry, "put", s) for s in strikes]
    assert [c.premium for c in calls] == sorted((c.premium for c in calls), reverse=True)
    assert [p.premium for p in puts] == sorted(p.premium for p in puts)
    for call, put in zip(calls, puts, strict=True):
        assert call.bid <= call.premium <= call.ask
        assert 0 <= call.delta <= 1 and -1 <= put.delta <= 0 and call.gamma >= 0
        assert call.premium >= round(spot - call.strike, 2)
        assert put.premium >= round(put.strike - spot, 2)
        if abs(call.strike / spot - 1) < 0.05:
            # Put-call parity, within the cents that early exercise of a put is worth.
            forward = spot - call.strike * (1 - options.RATE * 63 / 365)
            assert call.premium - put.premium == pytest.approx(forward, abs=0.06)
    later = options.contract(row, SATURDAY, date(2026, 8, 21), "call", calls[8].strike)
    assert later.premium > calls[8].premium, "a later expiration costs more"


def test_at_its_end_an_option_is_worth_its_exercise() -> None:
    row = ROWS["SMPK"]
    expiry = date(2026, 4, 17)
    end = calendar.session(expiry)[1]
    spot = market.price(row, end)
    for strike in (spot - 5, spot + 5):
        premium = options.contract(row, end, expiry, "call", strike).premium
        assert premium == options.exercise_value(row, expiry, "call", strike)
        assert premium == pytest.approx(max(spot - strike, 0), abs=0.005)


# -- fills -----------------------------------------------------------------------------------------
def test_money_is_rounded_once_half_to_even_and_amounts_are_never_exceeded() -> None:
    assert value(UNIT, 123_450) == 1234, "half a cent rounds to even"
    assert value(UNIT, 123_550) == 1236, "half a cent rounds to even"
    assert value(3 * UNIT // 2, 100_100) == 1502
    assert value(UNIT * 1_000_000, 10_000_000_000) == 10**14
    for amount, price in ((2_500, 2_834_700), (100, 532_946_800), (1_999, 1_174)):
        units = units_for(amount, price, 6)
        assert 0 <= amount - value(units, price) <= value(UNIT // 10**6, price) + 1


def brute(row: dict[str, Any], start: int, days: int, below: float) -> int | None:
    for number in range(days):
        day = calendar.add_days(calendar.last_session(start), number)
        opened, closed = calendar.session(day)
        for moment in range(max(opened, start), closed + 1, 60):
            if market.price(row, moment) <= below:
                return moment
    return None


@pytest.mark.parametrize("symbol", ["SMPK", "LUMR", "TMKT"])
def test_a_crossing_is_found_to_the_minute(symbol: str) -> None:
    row = ROWS[symbol]
    closed = calendar.session(date(2026, 3, 18))[1]
    target = min(market.price(row, m) for m in range(MONDAY_OPEN, closed, 1800))
    moment = crossing(row, MONDAY_OPEN, closed, lambda p: p <= target)
    assert moment == brute(row, MONDAY_OPEN, 3, target) and moment is not None
    assert crossing(row, MONDAY_OPEN, closed, lambda p: p <= target / 2) is None


def test_orders_fill_by_their_kind() -> None:
    row = ROWS["SMPK"]
    noon = MONDAY_OPEN + 9000
    bid, ask = market.spread(row, market.price(row, noon))
    assert plan(row, Wish("buy", UNIT), noon).fills == [(iso(noon), UNIT, market.pips(ask))]
    assert plan(row, Wish("sell", UNIT), noon).fills == [(iso(noon), UNIT, market.pips(bid))]
    queued = plan(row, Wish("sell", UNIT), SATURDAY)
    assert queued.fills[0][0] == iso(MONDAY_OPEN) and queued.expires_at == "2026-03-16T20:00:00Z"
    fund = plan(ROWS["MTMAX"], Wish("buy", amount=50_000), noon)
    day, units, *_ = fund.fills[0]
    assert day == "2026-03-16T20:00:00Z" and units % (UNIT // 1000) == 0
    assert fund.hold == 50_000
    never = plan(row, Wish("buy", UNIT, order_type="limit", limit=10_000), noon)
    assert never.fills == [] and never.hold == 100
    large = plan(ROWS["BWTR"], Wish("buy", 400 * UNIT, order_type="limit", limit=2_000_000), noon)
    assert [units // UNIT for _, units, _ in large.fills] == [200, 200]
    assert large.fills[0][0] < large.fills[1][0]


def test_recurring_days_keep_their_day_of_the_month() -> None:
    days = [occurrence(date(2026, 1, 31), "monthly", n, every_day=True) for n in range(4)]
    assert days == [date(2026, 1, 31), date(2026, 2, 28), date(2026, 3, 31), date(2026, 4, 30)]
    assert occurrence(date(2026, 4, 3), "weekly", 0) == date(2026, 4, 6), "Good Friday is skipped"
    assert occurrence(date(2026, 4, 2), "daily", 1) == date(2026, 4, 6)
    assert iso(next_run(date(2026, 3, 15), "quarterly", SATURDAY)) == "2026-03-16T14:00:00Z"
