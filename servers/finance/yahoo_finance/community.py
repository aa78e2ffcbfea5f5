"""The message board, what it talks about, and watchlists."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any

from pydantic import Field

from servers.finance import _data as data
from servers.finance import _market as market
from servers.finance._data import Symbol
from servers.finance.yahoo_finance import _board as board
from servers.finance.yahoo_finance._model import WORDS, ticker_json
from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.values import Cursor, Limit, iso, page, parse_time

Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        description="What to say, in plain words; everybody can read it.",
    ),
]
Feeling = Annotated[
    board.Sentiment,
    Field(description="Tag of the post: whether the user expects the price to rise or to fall."),
]
PostId = Annotated[
    str, Field(description="post_id of one of the user's own posts, from list_yahoo_posts.")
]
DAY = 86_400
MOST_LIKES = 6


class Community(Service):
    """What people write and watch."""

    @reads(example={"symbol": "PXGV"})
    def get_yahoo_conversations(
        self, symbol: Symbol, limit: Limit = 10, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the posts of the past 30 days on a security's board, newest first, with author, sentiment (null where none was tagged) and
        likes; mine marks the user's own. Nobody checks what is said there."""
        row = data.find_security(self, WORDS, symbol)
        crowd = board.posts(row, self._peers(row), 0, self.now)
        since = iso(self.now - board.DAYS * DAY)
        written = self.db.rows(
            "yahoo_finance_posts",
            "symbol=? AND created_at>=? AND deleted_at IS NULL",
            row["symbol"],
            since,
        )
        found: dict[str, Any] = {p.id: p for p in crowd} | {r["id"]: r for r in written}
        order = sorted(found, key=lambda i: (_moment(found[i]), i), reverse=True)
        return {"symbol": row["symbol"]} | page(
            order, "posts", limit, cursor, lambda i: self._post(row, found[i])
        )

    @writes(example={"symbol": "VNTA", "text": "Does anybody know how the new wind park is doing?"})
    def post_yahoo_comment(
        self, symbol: Symbol, text: Text, sentiment: Feeling | None = None
    ) -> dict[str, Any]:
        """Post on a security's board in the user's name and return the post. The same text cannot be posted there twice within a day."""
        row = data.find_security(self, WORDS, symbol)
        said = text.strip()
        if not said:
            self.fail(self.codes.invalid, "A post needs some text.", "Say something.", field="text")
        if market.state(row, self.now) == "delisted":
            message = f"The board of {row['symbol']} is closed since it was delisted."
            self.fail(
                "CONVERSATION_CLOSED", message, "Choose another symbol.", symbol=row["symbol"]
            )
        recent = "symbol=? AND mine=1 AND text=? AND deleted_at IS NULL AND created_at>?"
        twin = self.db.rows("yahoo_finance_posts", recent, row["symbol"], said, iso(self.now - DAY))
        if twin:
            hint = "See list_yahoo_posts; say it in other words, or leave it."
            self.fail(
                "DUPLICATE_POST",
                "The user posted just this here within a day.",
                hint,
                post_id=twin[0]["id"],
            )
        profile = self.db.rows("yahoo_finance_profile")
        made = {
            "id": self.new_id("yfp"),
            "symbol": row["symbol"],
            "author": profile[0]["handle"] if profile else "guest",
            "mine": True,
        }
        kept = made | {
            "text": said,
            "sentiment": sentiment,
            "created_at": self.time,
            "deleted_at": None,
        }
        return self._post(row, self.db.insert("yahoo_finance_posts", kept))

    @reads()
    def list_yahoo_posts(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return the user's own posts on all boards, newest first."""
        rows = self.db.rows(
            "yahoo_finance_posts",
            "mine=1 AND deleted_at IS NULL",
            order="created_at DESC, rowid DESC",
        )
        return page(
            rows,
            "posts",
            limit,
            cursor,
            lambda r: self._post(market.security(self, r["symbol"]) or {}, r),
        )

    @writes(example={"post_id": seeded("yfp", "vnta-question")}, destructive=True)
    def delete_yahoo_comment(self, post_id: PostId) -> dict[str, Any]:
        """Take one of the user's own posts off its board."""
        row = self.db.get("yahoo_finance_posts", post_id)
        if row is None or row["deleted_at"] is not None:
            if self._crowd_wrote(post_id):
                self._not_own(post_id)
            self.fail(
                "POST_NOT_FOUND",
                f"There is no post {post_id!r}.",
                "Take a post_id from list_yahoo_posts.",
                post_id=post_id,
            )
        if not row["mine"]:
            self._not_own(post_id)
        self.db.update("yahoo_finance_posts", post_id, deleted_at=self.time)
        return {"post_id": post_id, "symbol": row["symbol"], "status": "deleted"}

    @reads()
    def get_yahoo_trending_tickers(
        self, limit: Limit = 10, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the tickers that the boards name most in the past 24 hours: mentions (posts on the board, and $SYMBOL elsewhere), those of
        the 24 hours before, and sentiment from -1 (all tagged posts bearish) to 1, null where none is tagged."""
        now = self._mentions(self.now - DAY, self.now)
        before = self._mentions(self.now - 2 * DAY, self.now - DAY)
        counts = Counter(s for s, _ in now)
        earlier = Counter(s for s, _ in before)
        feelings: dict[str, list[int]] = {}
        for symbol, feeling in now:
            feelings.setdefault(symbol, []).extend(
                [] if feeling is None else [1 if feeling == "bullish" else -1]
            )
        found = sorted(counts, key=lambda s: (-counts[s], s))

        def shown(symbol: str) -> dict[str, Any]:
            row = market.security(self, symbol) or {}
            tagged = feelings[symbol]
            mood = round(sum(tagged) / len(tagged), 2) if tagged else None
            told = {
                "rank": found.index(symbol) + 1,
                "mentions": counts[symbol],
                "mentions_day_before": earlier[symbol],
                "sentiment": mood,
            }
            return ticker_json(self, row) | told

        return page(found, "tickers", limit, cursor, shown)

    # -- watchlists ---------------------------------------------------------------------------------------------------
    @reads()
    def list_yahoo_watchlists(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the watchlists, oldest first; get_yahoo_watchlist has their quotes."""
        return page(data.watchlists(self, WORDS), "watchlists", limit, cursor, _list)

    @reads(example={"watchlist_id": seeded("yfw", "main")})
    def get_yahoo_watchlist(self, watchlist_id: data.WatchlistId) -> dict[str, Any]:
        """Return one watchlist with live prices of its symbols."""
        row = data.find_watchlist(self, WORDS, watchlist_id)
        return _list(row) | {"quotes": data.watched(self, row, lambda r: ticker_json(self, r))}

    @writes(example={"name": "Streaming", "symbols": ["STMK", "PXGV"]}, idempotent=True)
    def save_yahoo_watchlist(self, name: data.ListName, symbols: data.Symbols) -> dict[str, Any]:
        """Save a watchlist under a name; a list of that name is overwritten with these symbols. Returns the list."""
        return _list(data.save_watchlist(self, WORDS, name, symbols, self.codes.invalid))

    @writes(example={"watchlist_id": seeded("yfw", "main")}, destructive=True)
    def delete_yahoo_watchlist(self, watchlist_id: data.WatchlistId) -> dict[str, Any]:
        """Remove a watchlist."""
        return {
            "watchlist_id": data.drop_watchlist(self, WORDS, watchlist_id)["id"],
            "status": "removed",
        }

    # -- posts --------------------------------------------------------------------------------------------------------
    def _peers(self, row: dict[str, Any]) -> list[str]:
        return [
            r["symbol"]
            for r in market.securities(self, (row["kind"],))
            if r["sector"] == row["sector"]
        ]

    def _mentions(self, since: int, until: int) -> list[tuple[str, str | None]]:
        """Return (symbol, sentiment) of each time that a post names a listed symbol; a symbol named beside another has no sentiment."""
        rows = {r["symbol"]: r for r in market.securities(self)}
        groups: dict[Any, list[str]] = {}
        for row in rows.values():
            groups.setdefault((row["kind"], row["sector"]), []).append(row["symbol"])
        found: list[tuple[str, str | None]] = []
        for row in rows.values():
            for post in board.posts(row, groups[row["kind"], row["sector"]], since + 1, until):
                found += [(post.symbol, post.sentiment)] + (
                    [(post.peer, None)] if post.peer else []
                )
        written = "created_at>? AND created_at<=? AND deleted_at IS NULL"
        for said in self.db.rows("yahoo_finance_posts", written, iso(since), iso(until)):
            tagged = set(re.findall(r"\$([A-Z]{2,6})\b", said["text"])) - {said["symbol"]}
            found += [(said["symbol"], said["sentiment"]), *((s, None) for s in sorted(tagged))]
        return [(symbol, feeling) for symbol, feeling in found if symbol in rows]

    def _crowd_wrote(self, post_id: str) -> bool:
        return any(
            post_id == p.id
            for row in market.securities(self)
            for p in board.posts(row, (), 0, self.now)
        )

    def _not_own(self, post_id: str) -> None:
        hint = "Only the user's own posts can be deleted; see list_yahoo_posts."
        self.fail("NOT_YOUR_POST", "Somebody else wrote this post.", hint, post_id=post_id)

    def _post(self, row: dict[str, Any], post: board.Post | dict[str, Any]) -> dict[str, Any]:
        if isinstance(post, board.Post):
            most = post.most_likes
            mine = False
            said = board.text(row, post)
            key = post.id
            author = post.author
            feeling = post.sentiment
        else:
            most = MOST_LIKES
            mine = post["mine"]
            said = post["text"]
            key = post["id"]
            author = post["author"]
            feeling = post["sentiment"]
        written = _moment(post)
        shown = {
            "post_id": key,
            "symbol": row["symbol"],
            "author": author,
            "text": said,
            "sentiment": feeling,
        }
        return shown | {
            "likes": board.likes(key, most, written, self.now),
            "mine": mine,
            "posted_at": iso(written),
        }


def _moment(post: board.Post | dict[str, Any]) -> int:
    return post.at if isinstance(post, board.Post) else parse_time(post["created_at"])


def _list(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "watchlist_id": row["id"],
        "name": row["name"],
        "symbols": row["symbols"],
        "last_modified": row["updated_at"],
    }
