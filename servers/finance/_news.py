"""News about securities, generated from what happens in the market.

It covers results, dividends, ratings, large moves, and rumours that prove wrong. An article is a
function of a security's row and the article's own moment, so it reads the same whenever it is
looked up and cannot be read before it is published.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import Literal, NamedTuple

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._data import spans
from servers.kit.noise import draws, share
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day, local_moment

DAYS = 150
"""How many days back news can be read."""
WIRE = "Northwire"
COURIER = "Market Courier"
GOSSIP = "The Trading Post"
JOURNAL = "Harbor Business Journal"
Topic = Literal[
    "earnings",
    "dividends",
    "ratings",
    "price_move",
    "market_wrap",
    "rumour",
    "correction",
    "listing",
]


@dataclass(frozen=True)
class Article:
    """One article, published at `at` (epoch seconds).

    `key` is its permanent identity; `mood` runs from -1 (bad for holders) to 1. An article that
    proves wrong has `corrected`: (moment, the facts). Nobody knows of it before that moment.
    """

    key: str
    at: int
    source: str
    title: str
    summary: str
    topic: Topic
    mood: float
    corrected: tuple[int, str] | None = None


def articles(row: Row, at: int) -> list[Article]:
    """Return the articles about a security from the past 150 days, newest first."""
    today = local_day(at, calendar.NEW_YORK)
    since = local_moment(today - timedelta(days=DAYS), time(), calendar.NEW_YORK)
    written = [
        *_results(row, at),
        *_payments(row, today),
        *_ratings(row, today),
        *_moves(row, today, at),
        *_rumours(row, today),
        *_listing(row),
    ]
    listed = parse_time(row["listed_at"])
    gone = parse_time(row["delisted_at"]) + 3600 if row["delisted_at"] else at
    first = max(since, listed)
    last = min(at, gone)
    published = [_as_known(a, at) for a in written if first <= a.at <= last]
    return sorted(published, key=lambda a: (a.at, a.key), reverse=True)


def _as_known(article: Article, at: int) -> Article:
    """Return an article as readers know it at a moment: without a correction yet to come."""
    if article.corrected is not None and article.corrected[0] > at:
        return replace(article, corrected=None)
    return article


def _new_york(day: date, hour: int, minute: int) -> int:
    return local_moment(day, time(hour, minute), calendar.NEW_YORK)


def _key(row: Row, what: str, when: object) -> str:
    return f"{row['symbol']} {what} {when}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"


def _clamped(mood: float, most: float) -> float:
    return max(-most, min(most, mood))


def _chosen(options: tuple[str, ...], key: str) -> str:
    return options[int(share("words", key) * len(options))]


# -- results ---------------------------------------------------------------------------------------
def _results(row: Row, at: int) -> Iterator[Article]:
    for report in figures.earnings(row, at, past=3):
        ahead = calendar.add_days(calendar.on_or_after(report.date), -3)
        yield from _preview(row, report, ahead)
        if report.reported is not None:
            yield from _reported(row, report, report.reported)


def _next_report(row: Row, at: int) -> figures.Earnings | None:
    """Return the next report, as seen at a moment."""
    reports = figures.earnings(row, at, past=0)
    return next((e for e in reports if e.reported is None), None)


def _preview(row: Row, report: figures.Earnings, ahead: date) -> Iterator[Article]:
    moment = _new_york(ahead, 9, 10)
    coming = _next_report(row, moment)
    if coming is None or coming.quarter != report.quarter:
        return
    name = row["name"]
    title = f"What to expect from {name}"
    when = f"{_day(coming.date)}, before the market opens"
    text = f"{name} reports {coming.quarter} on {when}."
    yield Article(_key(row, "preview", ahead), moment, JOURNAL, title, text, "earnings", 0.05)


def _reported(row: Row, report: figures.Earnings, earned: float) -> Iterator[Article]:
    name = row["name"]
    quarter = report.quarter
    moment = _new_york(report.date, 7, 5)
    surprise = earned - report.estimate
    verb = "meets"
    if surprise > 0.005:
        verb = "beats"
    elif surprise < -0.005:
        verb = "misses"
    mood = _clamped(surprise / max(abs(report.estimate), 0.05) * 3, 0.8)
    title = f"{name} {verb} estimates for {quarter}"
    text = (
        f"{name} reported {_share(earned)} for {quarter}; "
        f"analysts had expected {_share(report.estimate)}."
    )
    key = _key(row, "results", report.date)
    yield Article(key, moment, WIRE, title, text, "earnings", mood)
    if share("misprint", row["symbol"], quarter) < 0.35:
        yield from _misprint(row, report, earned, mood)


def _misprint(row: Row, report: figures.Earnings, earned: float, mood: float) -> Iterator[Article]:
    """Yield an article that misreports a result, and its correction at noon."""
    name = row["name"]
    quarter = report.quarter
    wrong = round(earned + (0.10 if earned - report.estimate < 0 else -0.10), 2)
    moment = _new_york(report.date, 7, 5) + 2100
    fixed = _new_york(report.date, 12, 20)
    right = f"{quarter} brought {_share(earned)}, not {_share(wrong)}."
    title = f"{name}: {_share(wrong)} for {quarter}"
    text = (
        f"{name} reported {_share(wrong)} for {quarter} "
        f"against an estimate of {_share(report.estimate)}."
    )
    key = _key(row, "misprint", report.date)
    yield Article(key, moment, COURIER, title, text, "earnings", -mood, corrected=(fixed, right))
    heading = f"Correction: {name} results"
    note = f"An earlier article was wrong. {right}"
    yield Article(f"{key} fixed", fixed, COURIER, heading, note, "correction", mood)


def _share(earned: float) -> str:
    return f"{'a loss of ' if earned < 0 else ''}${abs(earned):.2f} a share"


# -- dividends and ratings -------------------------------------------------------------------------
def _payments(row: Row, today: date) -> Iterator[Article]:
    noun = "dividend" if row["kind"] == "stock" else "distribution"
    for paid in figures.dividends(row, today - timedelta(days=DAYS), today + timedelta(days=60)):
        amount = _amount(paid)
        key = _key(row, "dividend", paid.declared)
        moment = _new_york(paid.declared, 16, 30)
        title = f"{row['name']} declares {noun} of {amount}"
        text = (
            f"{row['name']} pays {amount} a share on {_day(paid.pay_date)} "
            f"to whoever holds it before {_day(paid.ex_date)}."
        )
        yield Article(key, moment, WIRE, title, text, "dividends", 0.2)


def _amount(paid: figures.Dividend) -> str:
    return f"${paid.amount / market.PIP:.4f}".removesuffix("0").removesuffix("0")


def _months(today: date) -> Iterator[date]:
    """Yield the first trading day of each month that news covers, latest month first."""
    first = today.replace(day=1)
    for _ in range(DAYS // 30 + 1):
        yield calendar.on_or_after(first)
        first = (first - timedelta(days=1)).replace(day=1)


def _ratings(row: Row, today: date) -> Iterator[Article]:
    for first in _months(today):
        moment = _new_york(first, 8, 15)
        current = figures.analysts(row, moment)
        before = figures.analysts(row, moment - 15 * 86_400)
        if current is None or before is None or current.consensus == before.consensus:
            continue
        better = current.score < before.score
        rating = current.consensus.replace("_", " ")
        title = f"Analysts {'raise' if better else 'lower'} {row['name']} to {rating}"
        text = (
            f"The consensus moved from {before.consensus.replace('_', ' ')} to {rating}; "
            f"the average target is ${current.target:,.2f}."
        )
        mood = 0.4 if better else -0.4
        yield Article(_key(row, "rating", first), moment, COURIER, title, text, "ratings", mood)


# -- moves -----------------------------------------------------------------------------------------
def large_move(row: Row) -> float:
    """Return the size, in percent, from which a day's move is news."""
    return 1.3 * row["volatility"] + (2.6 if row["kind"] == "crypto" else 0.8) * row["beta"]


def day_change(row: Row, day: date) -> float:
    """Return the change from the previous close to a trading day's close, in percent."""
    before = day - timedelta(days=1) if row["kind"] == "crypto" else calendar.add_days(day, -1)
    last = market.closing(row, before)
    return (market.closing(row, day) - last) / last * 100


def _moves(row: Row, today: date, at: int) -> Iterator[Article]:
    days = _days_over(row, today, at)
    if row["kind"] != "mutual_fund":
        for day in days:
            change = day_change(row, day)
            if abs(change) >= large_move(row) > 0.5:
                yield from _moved(row, day, change)
    for (_, last), (first, end) in itertools.pairwise(spans(days, "weekly")):
        yield from _week(row, last, first, end)


def _days_over(row: Row, today: date, at: int) -> list[date]:
    """Return the days covered by news on which a security traded until the close."""
    days = []
    for day in market.days(row, today - timedelta(days=DAYS), today, at):
        closed = market.closed(row, day)
        if closed <= at and market.state(row, closed) in ("open", "closed"):
            days.append(day)
    return days


def _week(row: Row, last: date, first: date, end: date) -> Iterator[Article]:
    """Yield the wrap of the week from `first` to `end`; `last` is the previous week's last day."""
    if row["kind"] == "crypto":
        is_over = end.weekday() == 6
    else:
        is_over = calendar.add_days(end, 1).isocalendar()[:2] != end.isocalendar()[:2]
    before = market.closing(row, last)
    after = market.closing(row, end)
    change = (after - before) / before * 100
    is_news = row["kind"] != "stock" or abs(change) > 1.3 * large_move(row)
    if not is_over or not is_news:
        return
    direction = "flat"
    if change > 0.05:
        direction = "up"
    elif change < -0.05:
        direction = "down"
    title = f"{row['name']}: the week ends {direction}"
    text = (
        f"{row['name']} ended the week that began on {_day(first)} "
        f"at ${after:,.2f}, {change:+.1f} percent."
    )
    moment = market.closed(row, end) + 7200
    mood = _clamped(change / 20, 0.3)
    yield Article(_key(row, "week", end), moment, JOURNAL, title, text, "market_wrap", mood)


def _moved(row: Row, day: date, change: float) -> Iterator[Article]:
    name = row["name"]
    key = _key(row, "move", day)
    up = change > 0
    size = f"{abs(change):.1f} percent"
    moment = market.closed(row, day) + 1500
    verb = _chosen(("climbs", "jumps", "gains") if up else ("slides", "drops", "loses"), key)
    if _just_reported(row, day, moment):
        why = " after its results"
    else:
        reasons = (" with no news of its own", " with the market", " in heavy trading")
        why = _chosen(reasons, f"{key} why")
    closing = f"${market.closing(row, day):,.2f}"
    text = f"{name} closed at {closing}, {change:+.1f} percent on the day{why}."
    mood = _clamped(change / 8, 0.7)
    yield Article(key, moment, WIRE, f"{name} {verb} {size}", text, "price_move", mood)
    if share("column", key) < 0.4:
        title = f"Is {name} {'too expensive' if up else 'a bargain'} now?"
        views = ("patience may pay", "we would wait", "the case is the same as last week")
        text = f"After a move of {size} in a day, {_chosen(views, key)}."
        later = moment + 16 * 3600
        yield Article(f"{key} column", later, GOSSIP, title, text, "price_move", -mood / 3)


def _just_reported(row: Row, day: date, at: int) -> bool:
    """Return whether a stock published results on a day or the day before."""
    out = [e for e in figures.earnings(row, at) if e.reported is not None]
    return any(0 <= (day - e.date).days <= 1 for e in out)


# -- rumours ---------------------------------------------------------------------------------------
class Story(NamedTuple):
    """A rumour: its title and text, the truth, and its mood."""

    title: str
    text: str
    truth: str
    mood: float


def _rumours(row: Row, today: date) -> Iterator[Article]:
    if row["kind"] != "stock":
        return
    for first in _months(today):
        luck = draws("rumour", row["symbol"], f"{first:%Y-%m}")
        day = calendar.on_or_after(first + timedelta(days=int((luck[1] + 1) * 12)))
        moment = _new_york(day, 10, 12 + int((luck[2] + 1) * 20))
        if luck[0] > -0.4 or market.state(row, moment) not in ("open", "closed"):
            continue
        denied = _new_york(calendar.add_days(day, 1 + int((luck[3] + 1) * 1.2)), 8, 40)
        story = _story(row, day, moment, luck[4])
        key = _key(row, "rumour", day)
        yield Article(
            key,
            moment,
            GOSSIP,
            story.title,
            story.text,
            "rumour",
            story.mood,
            corrected=(denied, story.truth),
        )
        title = f"{row['name']} answers reports"
        text = f"In a statement to the exchange: {story.truth}"
        yield Article(f"{key} denied", denied, WIRE, title, text, "correction", -story.mood / 2)


def _story(row: Row, day: date, moment: int, luck: float) -> Story:
    name = row["name"]
    due = figures.dividends(row, day, day + timedelta(days=120))
    report = _next_report(row, moment)
    if due and luck < -0.1:
        payable = f"{_amount(due[0])} a share, payable on {_day(due[0].pay_date)}"
        return Story(
            f"{name} said to weigh a dividend cut",
            f"The board may halve the payment, two people say. {name} did not comment.",
            f"{name} leaves its dividend at {payable}.",
            -0.6,
        )
    if report is not None and 6 < (report.date - day).days < 60 and luck < 0.4:
        quarter = report.quarter
        wrong = calendar.on_or_after(report.date - timedelta(days=6))
        return Story(
            f"{name} to bring results forward",
            f"Results for {quarter} are now expected on {_day(wrong)}.",
            f"{name} publishes its results for {quarter} on {_day(report.date)}, as planned.",
            0.2,
        )
    offer = f"${market.price(row, moment) * 1.3:,.0f}"
    talks = f"in talks to be bought at about {offer} a share, a third above the price"
    return Story(
        f"{name} in takeover talks, sources say",
        f"{name} is said to be {talks}.",
        f"{name} is in no talks about a sale and has received no offer.",
        0.7,
    )


# -- listing ---------------------------------------------------------------------------------------
def _listing(row: Row) -> Iterator[Article]:
    name = row["name"]
    symbol = row["symbol"]
    listed = f"{name} is now listed under the symbol {symbol}."
    halted = f"The exchange halted {symbol} pending news and gave no time of resumption."
    delisted = f"{symbol} traded for the last time; the company was delisted."
    events = (
        ("listed_at", f"{name} begins trading", listed, 0.2),
        ("halted_at", f"Trading in {name} halted", halted, -0.5),
        ("delisted_at", f"{name} leaves the exchange", delisted, -0.7),
    )
    for column, title, text, mood in events:
        if row[column] is not None:
            moment = parse_time(row[column])
            key = _key(row, column, iso(moment))
            yield Article(key, moment + 600, WIRE, title, text, "listing", mood)
