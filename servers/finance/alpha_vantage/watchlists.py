"""Watchlists of symbols."""

from __future__ import annotations

from servers.finance import _data as data
from servers.finance.alpha_vantage._model import DELAY, WORDS, quote_json
from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page


class Watchlists(Service):
    """Named lists of symbols."""

    @reads()
    def list_alpha_watchlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the watchlists with their symbols, oldest first."""
        return page(data.watchlists(self, WORDS), "watchlists", limit, cursor, _about)

    @reads(example={"watchlist_id": seeded("avw", "screens")})
    def get_alpha_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Return a watchlist with a delayed quote of each symbol, in the list's order."""
        row = data.find_watchlist(self, WORDS, watchlist_id)
        return _about(row) | {
            "delay_minutes": DELAY // 60,
            "quotes": data.watched(self, row, lambda r: quote_json(self, r)),
        }

    @writes(example={"name": "Rate watch", "symbols": ["BNDT", "STRY", "HRSQ"]}, idempotent=True)
    def save_alpha_watchlist(self, name: data.ListName, symbols: data.Symbols) -> Json:
        """Save symbols as a watchlist and return it; an existing list of that name is replaced."""
        return _about(data.save_watchlist(self, WORDS, name, symbols, self.codes.invalid))

    @writes(example={"watchlist_id": seeded("avw", "screens")}, destructive=True)
    def delete_alpha_watchlist(self, watchlist_id: data.WatchlistId) -> Json:
        """Delete a watchlist permanently."""
        row = data.drop_watchlist(self, WORDS, watchlist_id)
        return {"watchlist_id": row["id"], "status": "deleted"}


def _about(row: Row) -> Json:
    shown = {"watchlist_id": row["id"], "name": row["name"], "symbols": row["symbols"]}
    return shown | {"created_at": row["created_at"], "last_updated": row["updated_at"]}
