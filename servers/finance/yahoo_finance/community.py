"""The message boards, trending tickers, and watchlists."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance import _data as data
from servers.finance import _market as market
from servers.finance._data import Symbol
from servers.finance.yahoo_finance import _board as board
from servers.finance.yahoo_finance._model import WORDS, ticker_json
from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time

Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        description="Text of the post in plain words; it is public.",
    ),
]
Feeling = Annotated[
    board.Sentiment,
    Field(description="Tag of the post: whether the user expects the price to rise or fall."),
]
PostId = Annotated[
    str, Field(description="post_id of one of the user's own posts, from list_yahoo_posts.")
]
DAY = 86_400
MOST_LIKES = 6


class Mention(NamedTuple):
    """One mention of a symbol in a post; a symbol other than the board's own has no sentiment."""

    symbol: str
    sentiment: str | None


class Community(Service):
    """Posts, trending tickers and watchlists."""

    @reads(example={"symbol": "PXGV"})
    def get_yahoo_conversations(
        self, symbol: Symbol, limit: Limit = 10, cursor: Cursor | None = None
    ) -> Json:
        """Return the posts of the past 30 days on a security's board, newest first.

        Each has its author, likes and sentiment (null if untagged); mine marks the user's own
        posts. Nobody verifies what people post.
        """
        row = data.find_security(self, WORDS, symbol)
        crowd = board.posts(row, self._peers(row), 0, self.now)
        written = self.db.rows(
            "yahoo_finance_posts",
            "symbol=? AND created_at>=? AND deleted_at IS NULL",
            row["symbol"],
            iso(self.now - board.DAYS * DAY),
        )
        posts: dict[str, Any] = {p.id: p for p in crowd} | {r["id"]: r for r in written}
        order = sorted(posts, key=lambda i: (_moment(posts[i]), i), reverse=True)
        return {"symbol": row["symbol"]} | page(
            order, "posts", limit, cursor, lambda i: self._post(row, posts[i])
        )

    @writes(example={"symbol": "VNTA", "text": "Does anybody know how the new wind park is doing?"})
    def post_yahoo_comment(
        self, symbol: Symbol, text: Text, sentiment: Feeling | None = None
    ) -> Json:
        """Post on a security's board in the user's name and return the post.

        The same text cannot be posted on a board twice within a day.
        """
        row = data.find_security(self, WORDS, symbol)
        words = text.strip()
        if not words:
            self.fail(self.codes.invalid, "The post is empty.", "Give it some text.", field="text")
        if market.state(row, self.now) == "delisted":
            message = f"The board of {row['symbol']} is closed because the stock was delisted."
            hint = "Choose another symbol."
            self.fail("CONVERSATION_CLOSED", message, hint, symbol=row["symbol"])
        same = "symbol=? AND mine=1 AND text=? AND deleted_at IS NULL AND created_at>?"
        since = iso(self.now - DAY)
        twins = self.db.rows("yahoo_finance_posts", same, row["symbol"], words, since)
        if twins:
            message = "The user already posted this text here within the past day."
            hint = "See list_yahoo_posts; change the text, or do not post it again."
            self.fail("DUPLICATE_POST", message, hint, post_id=twins[0]["id"])
        profile = self.db.rows("yahoo_finance_profile")
        post = {
            "id": self.new_id("yfp"),
            "symbol": row["symbol"],
            "author": profile[0]["handle"] if profile else "guest",
            "mine": True,
            "text": words,
            "sentiment": sentiment,
            "created_at": self.time,
            "deleted_at": None,
        }
        return self._post(row, self.db.insert("yahoo_finance_posts", post))

    @reads()
    def list_yahoo_posts(
        self,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the user's own posts on all boards, newest first."""
        rows = Listing(self.db, "yahoo_finance_posts", by="created_at")
        rows = rows.only("mine=1 AND deleted_at IS NULL")
        rows = rows.days(since, until, calendar.NEW_YORK)
        return page(rows, "posts", limit, cursor, self._own_post)

    @writes(example={"post_id": seeded("yfp", "vnta-question")}, destructive=True)
    def delete_yahoo_comment(self, post_id: PostId) -> Json:
        """Delete one of the user's own posts."""
        row = self.db.get("yahoo_finance_posts", post_id)
        if row is None or row["deleted_at"] is not None:
            if self._crowd_wrote(post_id):
                self._not_own(post_id)
            message = f"There is no post {post_id!r}."
            self.fail(
                "POST_NOT_FOUND", message, "Use a post_id from list_yahoo_posts.", post_id=post_id
            )
        if not row["mine"]:
            self._not_own(post_id)
        self.db.update("yahoo_finance_posts", post_id, deleted_at=self.time)
        return {"post_id": post_id, "symbol": row["symbol"], "status": "deleted"}

    @reads()
    def get_yahoo_trending_tickers(self, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Return the tickers mentioned most on the boards in the past 24 hours.

        Mentions are posts on the ticker's board and $SYMBOL elsewhere; mentions_day_before counts
        the 24 hours before. sentiment runs from -1 (all tagged posts bearish) to 1, or is null if
        no post is tagged.
        """
        latest = self._mentions(self.now - DAY, self.now)
        before = self._mentions(self.now - 2 * DAY, self.now - DAY)
        sentiments: dict[str, list[str | None]] = {}
        for mention in latest:
            sentiments.setdefault(mention.symbol, []).append(mention.sentiment)
        counts = {symbol: len(of_symbol) for symbol, of_symbol in sentiments.items()}
        earlier = Counter(mention.symbol for mention in before)
        ranking = sorted(counts, key=lambda s: (-counts[s], s))

        def shown(symbol: str) -> Json:
            return ticker_json(self, market.security(self, symbol) or {}) | {
                "rank": ranking.index(symbol) + 1,
                "mentions": counts[symbol],
                "mentions_day_before": earlier[symbol],
                "sentiment": _mood(sentiments[symbol]),
            }

        return page(ranking, "tickers", limit, cursor, shown)

    # -- watchlists --------------------------------------------------------------------------------
    @reads()
    def list_yahoo_watchlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the watchlists, oldest first; get_yahoo_watchlist returns their quotes."""
        return page(data.watchlists(self, WORDS), "watchlists", limit, cursor, _list)

    @reads(example={"watchlist_id": seeded("yfw", "main")})
    def get_yahoo_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Return a watchlist with live prices of its symbols."""
        row = data.find_watchlist(self, WORDS, watchlist_id)
        return _list(row) | {"quotes": data.watched(self, row, lambda r: ticker_json(self, r))}

    @writes(example={"name": "Streaming", "symbols": ["STMK", "PXGV"]}, idempotent=True)
    def save_yahoo_watchlist(self, name: data.ListName, symbols: data.Symbols) -> Json:
        """Save a watchlist and return it; an existing list of that name is replaced."""
        return _list(data.save_watchlist(self, WORDS, name, symbols, self.codes.invalid))

    @writes(example={"watchlist_id": seeded("yfw", "main")}, destructive=True)
    def delete_yahoo_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Delete a watchlist."""
        row = data.drop_watchlist(self, WORDS, watchlist_id)
        return {"watchlist_id": row["id"], "status": "removed"}

    # -- posts -------------------------------------------------------------------------------------
    def _peers(self, row: Row) -> list[str]:
        alike = market.securities(self, (row["kind"],))
        return [r["symbol"] for r in alike if r["sector"] == row["sector"]]

    def _mentions(self, since: int, until: int) -> list[Mention]:
        """Return the mentions of listed symbols after one moment and up to another."""
        rows = {r["symbol"]: r for r in market.securities(self)}
        groups: dict[Any, list[str]] = {}
        for row in rows.values():
            groups.setdefault((row["kind"], row["sector"]), []).append(row["symbol"])
        mentions: list[Mention] = []
        for row in rows.values():
            for post in board.posts(row, groups[row["kind"], row["sector"]], since + 1, until):
                mentions.append(Mention(post.symbol, post.sentiment))
                if post.peer:
                    mentions.append(Mention(post.peer, None))
        written = "created_at>? AND created_at<=? AND deleted_at IS NULL"
        for post in self.db.rows("yahoo_finance_posts", written, iso(since), iso(until)):
            mentions.append(Mention(post["symbol"], post["sentiment"]))
            others = set(re.findall(r"\$([A-Z]{2,6})\b", post["text"])) - {post["symbol"]}
            mentions += [Mention(symbol, None) for symbol in sorted(others)]
        return [mention for mention in mentions if mention.symbol in rows]

    def _crowd_wrote(self, post_id: str) -> bool:
        boards = [row for row in market.securities(self) if board.may_be_on(row["symbol"], post_id)]
        for row in boards:
            if any(post.id == post_id for post in board.posts(row, (), 0, self.now)):
                return True
        return False

    def _not_own(self, post_id: str) -> None:
        hint = "Only the user's own posts can be deleted; see list_yahoo_posts."
        self.fail("NOT_YOUR_POST", "Somebody else wrote this post.", hint, post_id=post_id)

    def _own_post(self, row: Row) -> dict[str, Any]:
        return self._post(market.security(self, row["symbol"]) or {}, row)

    def _post(self, row: Row, post: board.Post | Row) -> Json:
        """Format a post on a security's board, by the crowd or from a row."""
        written = _moment(post)
        if isinstance(post, board.Post):
            shown = {
                "post_id": post.id,
                "symbol": row["symbol"],
                "author": post.author,
                "text": board.text(row, post),
                "sentiment": post.sentiment,
                "likes": board.likes(post.id, post.most_likes, written, self.now),
                "mine": False,
            }
        else:
            shown = {
                "post_id": post["id"],
                "symbol": row["symbol"],
                "author": post["author"],
                "text": post["text"],
                "sentiment": post["sentiment"],
                "likes": board.likes(post["id"], MOST_LIKES, written, self.now),
                "mine": post["mine"],
            }
        return shown | {"posted_at": iso(written)}


def _mood(sentiments: list[str | None]) -> float | None:
    """Return the mean of the tagged sentiments from -1 (all bearish) to 1, or None if untagged."""
    tagged = [1 if sentiment == "bullish" else -1 for sentiment in sentiments if sentiment]
    return round(sum(tagged) / len(tagged), 2) if tagged else None


def _moment(post: board.Post | Row) -> int:
    return post.at if isinstance(post, board.Post) else parse_time(post["created_at"])


def _list(row: Row) -> Json:
    return {
        "watchlist_id": row["id"],
        "name": row["name"],
        "symbols": row["symbols"],
        "last_modified": row["updated_at"],
    }
