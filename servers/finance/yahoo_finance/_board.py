"""What the crowd writes on the message boards.

A post is a function of a security, a day and a number. A large move brings more posts the day
after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Literal

from servers.finance import _calendar as calendar
from servers.finance import _figures as figures
from servers.finance import _market as market
from servers.finance import _news as news
from servers.kit.control import make_id
from servers.kit.noise import draws, share
from servers.kit.types import Row
from servers.kit.zones import local_day, local_moment

DAYS = 30
"""How many days back the boards can be read."""
Sentiment = Literal["bullish", "bearish"]
AUTHORS = (
    "tape_reader", "quiet_compounder", "gapfill_gary", "margin_maven", "dividend_dot",
    "sellthenews", "porchlight", "longhaul77", "nickel_nell", "basispoint", "red_candle",
    "green_apron", "otter_capital", "cold_open", "ex_div_eddie", "lot_by_lot", "thetagang_tess",
    "slowmoney", "bagholder_bo", "cashflowcarl", "tickwatcher", "moat_digger", "paperhands_pat",
    "premarket_pia", "half_position", "old_ledger",
)  # fmt: skip
WORDS: dict[str | None, tuple[str, ...]] = {
    "bullish": (
        "Added more {symbol} at {price}. Not selling below {high}.",
        "{name} is cheap here and nobody wants to say so.",
        "Bought the dip at {price}. We'll see who is right in a year.",
        "{symbol} to {high} by summer, mark my words.",
        "Heard a big fund is loading up on {symbol}. No link, trust me.",
    ),
    "bearish": (
        "Out of {symbol} at {price}. Too many promises.",
        "{name} will see {low} before it sees {high}.",
        "Sold half my {symbol}. I sleep better.",
        "Took my loss at {price}. Lesson learned.",
    ),
    None: (
        "Watching {price}, no position.",
        "Is this the same {name} that was in the news, or the other one?",
        "Volume looks thin.",
        "What did I miss? {symbol} is at {price}.",
    ),
}
OF_COMPANIES: dict[str | None, tuple[str, ...]] = {
    "bullish": (
        "Management keeps doing what it says. Holding {symbol}.",
        "Order books must be full. {high} is fair.",
        "Still a buy after all these years.",
    ),
    "bearish": (
        "Insiders know something. {low} is where I'd look again.",
        "Can anybody explain this valuation? Short from {price}.",
    ),
    None: (
        "Anyone know when {symbol} reports next?",
        "Who runs {name} these days?",
        "Does the analyst with the low target know more than the others?",
    ),
}
OF_PAYERS = "The dividend is next to go, you'll see."
PAIRED = (
    "Moving from {symbol} into ${peer}.",
    "I like ${peer} better than {symbol} here.",
    "{symbol} and ${peer} always move together.",
)
HALTED: dict[str | None, tuple[str, ...]] = {
    "bullish": (
        "Whoever holds {symbol} will be glad when it opens.",
        "Good news takes time to write. {high} when it trades again.",
    ),
    "bearish": ("It opens at {low}, if it opens.", "They would have told us if it were good."),
    None: (
        "Any word on when {symbol} trades again?",
        "Halted and not a line from the company.",
        "My money is stuck in {symbol}.",
    ),
}


@dataclass(frozen=True)
class Post:
    """A post by the crowd: who wrote it, on which board and when, and with what sentiment.

    `text` makes its words when it is shown. `most_likes` limits the likes, which grow for two days.
    """

    id: str
    symbol: str
    author: str
    at: int
    sentiment: Sentiment | None
    peer: str | None
    most_likes: int


def posts(row: Row, peers: Sequence[str], since: int, at: int) -> list[Post]:
    """Return the crowd's posts on a security's board between two moments, newest first.

    They go back at most 30 days. `peers` are symbols of the same sector, which some posts mention.
    """
    since = max(since, at - DAYS * 86_400)
    day = local_day(since, calendar.NEW_YORK)
    last = local_day(at, calendar.NEW_YORK)
    written: list[Post] = []
    while day <= last:
        written += [p for p in _of_day(row, peers, day) if since <= p.at <= at]
        day += timedelta(days=1)
    return sorted(written, key=lambda p: (p.at, p.id), reverse=True)


def _post_id(symbol: str, day: date, number: int) -> str:
    own = make_id("", str(day), number).removeprefix("_")
    return f"yfp_{_mark(symbol)}{own}"


def _mark(symbol: str) -> str:
    """Return the digits that the ids of all posts on a board begin with."""
    return make_id("board", symbol)[-3:]


def may_be_on(symbol: str, post_id: str) -> bool:
    """Return whether an id can be that of a post on a board, so that few boards need a look."""
    return post_id.startswith(f"yfp_{_mark(symbol)}")


def _of_day(row: Row, peers: Sequence[str], day: date) -> list[Post]:
    start = local_moment(day, time(6, 30), calendar.NEW_YORK)
    if row["listed_at"][:10] > day.isoformat() or market.state(row, start) == "delisted":
        return []
    moved = _moved(row, day)
    others = [p for p in peers if p != row["symbol"]]
    written = []
    for number in range(_chatter(row, moved)):
        luck = draws("post", row["symbol"], str(day), number)
        if luck[6] > 0.5:
            continue
        peer = others[int((luck[4] + 1) / 2 * len(others))] if others and luck[3] > 0.6 else None
        feeling = None if peer else _sentiment(luck[1] + 0.25 * max(-1, min(1, moved)))
        post = Post(
            id=_post_id(row["symbol"], day, number),
            symbol=row["symbol"],
            author=AUTHORS[int((luck[2] + 1) / 2 * len(AUTHORS))],
            at=start + int((luck[0] + 1) / 2 * 16.5 * 3600),
            sentiment=feeling,
            peer=peer,
            most_likes=int((luck[5] + 1) * 9),
        )
        written.append(post)
    return written


def _chatter(row: Row, moved: float) -> int:
    """Return the number of posts that a day may bring."""
    if row["kind"] == "mutual_fund":
        return 0
    usual = 1 + int(9 * share("chatter", row["symbol"]) ** 3)
    return usual + min(int(4 * abs(moved)), 9)


def _sentiment(feeling: float) -> Sentiment | None:
    if feeling > 0.1:
        return "bullish"
    return "bearish" if feeling < -0.15 else None


def _moved(row: Row, day: date) -> float:
    """Return the last move before a day, relative to the size from which a move is news."""
    before = day - timedelta(days=1)
    if row["kind"] != "crypto":
        before = calendar.on_or_before(before)
    traded = row["kind"] != "mutual_fund" and row["listed_at"][:10] < before.isoformat()
    if not traded or market.state(row, market.closed(row, before)) == "halted":
        return 0.0
    return news.day_change(row, before) / max(news.large_move(row), 0.5)


def text(row: Row, post: Post) -> str:
    """Return the text of a post, with prices as of its moment."""
    last = market.price(row, post.at)
    steps = {"price": last, "high": last * 1.25, "low": last * 0.8}
    prices = {name: _dollars(amount) for name, amount in steps.items()}
    options = _texts(row, post)
    chosen = options[int(share("text", post.id) * len(options))]
    return chosen.format(symbol=row["symbol"], name=row["name"], peer=post.peer, **prices)


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def _texts(row: Row, post: Post) -> tuple[str, ...]:
    """Return the templates for the text of a post."""
    if post.peer:
        return PAIRED
    if market.state(row, post.at) == "halted":
        return HALTED[post.sentiment]
    if row["kind"] != "stock":
        return WORDS[post.sentiment]
    options = WORDS[post.sentiment] + OF_COMPANIES[post.sentiment]
    if post.sentiment == "bearish" and row["dividend"]:
        options += (OF_PAYERS,)
    report = next((e for e in figures.earnings(row, post.at) if e.reported is not None), None)
    if report is not None:
        age = (local_day(post.at, calendar.NEW_YORK) - report.date).days
        if 0 < age <= 2:
            result = f"${report.reported:.2f} against ${report.estimate:.2f} expected"
            options += (f"{result} for {report.quarter}. Discuss.",)
    return options


def likes(post_id: str, most: int, written: int, at: int) -> int:
    """Return the number of likes of a post at a moment."""
    return int(most * min((at - written) / (2 * 86_400), 1.0) * (0.5 + share("likes", post_id) / 2))
