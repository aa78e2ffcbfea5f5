"""News about securities, made from what happens in the market: results, dividends, ratings, large moves, and rumours that prove wrong.

An article is a function of a security's row and its own moment, so that it reads the same whenever it is looked up, and no sooner.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from typing import Any, Literal

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance._data import spans
from servers.kit.noise import draws, share
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
    """One article. `key` names it for good; `mood` runs from -1 (bad for holders) to 1; `at` is epoch seconds.

    `corrected` is (moment, what is right) of one that proves wrong; nobody knows of it before that moment.
    """

    key: str
    at: int
    source: str
    title: str
    summary: str
    topic: Topic
    mood: float
    corrected: tuple[int, str] | None = None


def articles(row: dict[str, Any], at: int) -> list[Article]:
    """Return what was published about a security in the past 150 days, newest first."""
    today = local_day(at, calendar.NEW_YORK)
    since = local_moment(today - timedelta(days=DAYS), time(), calendar.NEW_YORK)
    made = [
        *_results(row, at),
        *_payments(row, today),
        *_ratings(row, today),
        *_moves(row, today, at),
        *_rumours(row, today),
        *_listing(row),
    ]
    listed = parse_time(row["listed_at"])
    gone = parse_time(row["delisted_at"]) + 3600 if row["delisted_at"] else at
    seen = [_unknowing(a, at) for a in made if max(since, listed) <= a.at <= min(at, gone)]
    return sorted(seen, key=lambda a: (a.at, a.key), reverse=True)


def _unknowing(article: Article, at: int) -> Article:
    return (
        replace(article, corrected=None)
        if article.corrected is not None and article.corrected[0] > at
        else article
    )


def _new_york(day: date, hour: int, minute: int) -> int:
    return local_moment(day, time(hour, minute), calendar.NEW_YORK)


def _key(row: dict[str, Any], what: str, when: object) -> str:
    return f"{row['symbol']} {what} {when}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"


def _chosen(options: tuple[str, ...], key: str) -> str:
    return options[int(share("words", key) * len(options))]


# -- results ----------------------------------------------------------------------------------------------------------
def _results(row: dict[str, Any], at: int) -> Iterator[Article]:
    for report in figures.earnings(row, at, past=3):
        ahead = calendar.add_days(calendar.on_or_after(report.date), -3)
        moment = _new_york(ahead, 9, 10)
        coming = next(
            (e for e in figures.earnings(row, moment, past=0) if e.reported is None), None
        )
        if coming is not None and coming.quarter == report.quarter:
            text = f"{row['name']} reports {coming.quarter} on {_day(coming.date)}, before the market opens."
            yield Article(
                _key(row, "preview", ahead),
                moment,
                JOURNAL,
                f"What to expect from {row['name']}",
                text,
                "earnings",
                0.05,
            )
        if report.reported is not None:
            yield from _reported(row, report, report.reported)


def _reported(row: dict[str, Any], report: figures.Earnings, earned: float) -> Iterator[Article]:
    name = row["name"]
    moment = _new_york(report.date, 7, 5)
    surprise = earned - report.estimate
    how = "beats" if surprise > 0.005 else "misses" if surprise < -0.005 else "meets"
    mood = max(-0.8, min(0.8, surprise / max(abs(report.estimate), 0.05) * 3))
    text = f"{name} reported {_share(earned)} for {report.quarter}; analysts had expected {_share(report.estimate)}."
    yield Article(
        _key(row, "results", report.date),
        moment,
        WIRE,
        f"{name} {how} estimates for {report.quarter}",
        text,
        "earnings",
        mood,
    )
    if share("misprint", row["symbol"], report.quarter) >= 0.35:
        return
    wrong = round(earned + (0.10 if surprise < 0 else -0.10), 2)
    fixed = _new_york(report.date, 12, 20)
    right = f"{report.quarter} brought {_share(earned)}, not {_share(wrong)}."
    title = f"{name}: {_share(wrong)} for {report.quarter}"
    text = f"{name} reported {_share(wrong)} for {report.quarter} against an estimate of {_share(report.estimate)}."
    key = _key(row, "misprint", report.date)
    yield Article(
        key, moment + 2100, COURIER, title, text, "earnings", -mood, corrected=(fixed, right)
    )
    yield Article(
        key + " fixed",
        fixed,
        COURIER,
        f"Correction: {name} results",
        f"An earlier article was wrong. {right}",
        "correction",
        mood,
    )


def _share(earned: float) -> str:
    return f"{'a loss of ' if earned < 0 else ''}${abs(earned):.2f} a share"


# -- dividends and ratings --------------------------------------------------------------------------------------------
def _payments(row: dict[str, Any], today: date) -> Iterator[Article]:
    for paid in figures.dividends(row, today - timedelta(days=DAYS), today + timedelta(days=60)):
        amount = _amount(paid)
        noun = "dividend" if row["kind"] == "stock" else "distribution"
        text = f"{row['name']} pays {amount} a share on {_day(paid.pay_date)} to whoever holds it before {_day(paid.ex_date)}."
        title = f"{row['name']} declares {noun} of {amount}"
        yield Article(
            _key(row, "dividend", paid.declared),
            _new_york(paid.declared, 16, 30),
            WIRE,
            title,
            text,
            "dividends",
            0.2,
        )


def _amount(paid: figures.Dividend) -> str:
    return f"${paid.amount / market.PIP:.4f}".removesuffix("0").removesuffix("0")


def _months(today: date) -> Iterator[date]:
    """Yield the first trading days of this month and of those that news reach back to, newest first."""
    first = today.replace(day=1)
    for _ in range(DAYS // 30 + 1):
        yield calendar.on_or_after(first)
        first = (first - timedelta(days=1)).replace(day=1)


def _ratings(row: dict[str, Any], today: date) -> Iterator[Article]:
    for first in _months(today):
        moment = _new_york(first, 8, 15)
        now = figures.analysts(row, moment)
        before = figures.analysts(row, moment - 15 * 86_400)
        if now is None or before is None or now.consensus == before.consensus:
            continue
        better = now.score < before.score
        rating = now.consensus.replace("_", " ")
        title = f"Analysts {'raise' if better else 'lower'} {row['name']} to {rating}"
        text = f"The consensus moved from {before.consensus.replace('_', ' ')} to {rating}; the average target is ${now.target:,.2f}."
        yield Article(
            _key(row, "rating", first),
            moment,
            COURIER,
            title,
            text,
            "ratings",
            0.4 if better else -0.4,
        )


# -- moves ------------------------------------------------------------------------------------------------------------
def large_move(row: dict[str, Any]) -> float:
    """Return from how many percent on a day's move is news."""
    return 1.3 * row["volatility"] + (2.6 if row["kind"] == "crypto" else 0.8) * row["beta"]


def day_change(row: dict[str, Any], day: date) -> float:
    """Return a trading day's change from close to close in percent."""
    before = day - timedelta(days=1) if row["kind"] == "crypto" else calendar.add_days(day, -1)
    last = market.closing(row, before)
    return (market.closing(row, day) - last) / last * 100


def _moves(row: dict[str, Any], today: date, at: int) -> Iterator[Article]:
    traded = market.days(row, today - timedelta(days=DAYS), today, at)
    days = [
        d
        for d in traded
        if market.closed(row, d) <= at
        and market.state(row, market.closed(row, d)) in ("open", "closed")
    ]
    if row["kind"] != "mutual_fund":
        for day in days:
            change = day_change(row, day)
            if abs(change) >= large_move(row) > 0.5:
                yield from _moved(row, day, change)
    weeks = spans(days, "weekly")
    for (_, last), (first, end) in itertools.pairwise(weeks):
        ends = (
            end.weekday() == 6
            if row["kind"] == "crypto"
            else calendar.add_days(end, 1).isocalendar()[:2] != end.isocalendar()[:2]
        )
        before = market.closing(row, last)
        after = market.closing(row, end)
        change = (after - before) / before * 100
        if ends and (row["kind"] != "stock" or abs(change) > 1.3 * large_move(row)):
            how = "up" if change > 0.05 else "down" if change < -0.05 else "flat"
            text = f"{row['name']} ended the week that began on {_day(first)} at ${after:,.2f}, {change:+.1f} percent."
            title = f"{row['name']}: the week ends {how}"
            mood = max(-0.3, min(0.3, change / 20))
            yield Article(
                _key(row, "week", end),
                market.closed(row, end) + 7200,
                JOURNAL,
                title,
                text,
                "market_wrap",
                mood,
            )


def _moved(row: dict[str, Any], day: date, change: float) -> Iterator[Article]:
    key = _key(row, "move", day)
    up = change > 0
    size = f"{abs(change):.1f} percent"
    moment = market.closed(row, day) + 1500
    verb = _chosen(("climbs", "jumps", "gains") if up else ("slides", "drops", "loses"), key)
    reported = [
        e
        for e in figures.earnings(row, moment)
        if e.reported is not None and 0 <= (day - e.date).days <= 1
    ]
    why = (
        " after its results"
        if reported
        else _chosen(
            (" with no news of its own", " with the market", " in heavy trading"), key + " why"
        )
    )
    text = f"{row['name']} closed at ${market.closing(row, day):,.2f}, {change:+.1f} percent on the day{why}."
    mood = max(-0.7, min(0.7, change / 8))
    yield Article(key, moment, WIRE, f"{row['name']} {verb} {size}", text, "price_move", mood)
    if share("column", key) < 0.4:
        title = f"Is {row['name']} {'too expensive' if up else 'a bargain'} now?"
        text = f"After a move of {size} in a day, {_chosen(('patience may pay', 'we would wait', 'the case is the same as last week'), key)}."
        yield Article(
            key + " column", moment + 16 * 3600, GOSSIP, title, text, "price_move", -mood / 3
        )


# -- rumours ----------------------------------------------------------------------------------------------------------
def _rumours(row: dict[str, Any], today: date) -> Iterator[Article]:
    for first in _months(today):
        month = f"{first:%Y-%m}"
        luck = draws("rumour", row["symbol"], month)
        day = calendar.on_or_after(first + timedelta(days=int((luck[1] + 1) * 12)))
        moment = _new_york(day, 10, 12 + int((luck[2] + 1) * 20))
        if (
            row["kind"] != "stock"
            or luck[0] > -0.4
            or market.state(row, moment) not in ("open", "closed")
        ):
            continue
        denied = _new_york(calendar.add_days(day, 1 + int((luck[3] + 1) * 1.2)), 8, 40)
        title, text, right, mood = _story(row, day, moment, luck[4])
        key = _key(row, "rumour", day)
        yield Article(key, moment, GOSSIP, title, text, "rumour", mood, corrected=(denied, right))
        heading = f"{row['name']} answers reports"
        yield Article(
            key + " denied",
            denied,
            WIRE,
            heading,
            f"In a statement to the exchange: {right}",
            "correction",
            -mood / 2,
        )


def _story(row: dict[str, Any], day: date, moment: int, luck: float) -> tuple[str, str, str, float]:
    """Return title and text of a rumour, what is true, and its mood."""
    name = row["name"]
    due = figures.dividends(row, day, day + timedelta(days=120))
    report = next((e for e in figures.earnings(row, moment) if e.reported is None), None)
    if due and luck < -0.1:
        right = f"{name} leaves its dividend at {_amount(due[0])} a share, payable on {_day(due[0].pay_date)}."
        return (
            f"{name} said to weigh a dividend cut",
            f"The board may halve the payment, two people say. {name} did not comment.",
            right,
            -0.6,
        )
    if report is not None and 6 < (report.date - day).days < 60 and luck < 0.4:
        wrong = calendar.on_or_after(report.date - timedelta(days=6))
        right = (
            f"{name} publishes its results for {report.quarter} on {_day(report.date)}, as planned."
        )
        return (
            f"{name} to bring results forward",
            f"Results for {report.quarter} are now expected on {_day(wrong)}.",
            right,
            0.2,
        )
    offer = f"${market.price(row, moment) * 1.3:,.0f}"
    text = f"{name} is said to be in talks to be bought at about {offer} a share, a third above the price."
    return (
        f"{name} in takeover talks, sources say",
        text,
        f"{name} is in no talks about a sale and has received no offer.",
        0.7,
    )


def _listing(row: dict[str, Any]) -> Iterator[Article]:
    name = row["name"]
    for column, title, text, mood in (
        (
            "listed_at",
            f"{name} begins trading",
            f"{name} is now listed under the symbol {row['symbol']}.",
            0.2,
        ),
        (
            "halted_at",
            f"Trading in {name} halted",
            f"The exchange halted {row['symbol']} pending news and gave no time of resumption.",
            -0.5,
        ),
        (
            "delisted_at",
            f"{name} leaves the exchange",
            f"{row['symbol']} traded for the last time; the company was delisted.",
            -0.7,
        ),
    ):
        if row[column] is not None:
            moment = parse_time(row[column])
            yield Article(
                _key(row, column, iso(moment)), moment + 600, WIRE, title, text, "listing", mood
            )
