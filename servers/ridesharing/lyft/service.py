"""The Lyft provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.kit.types import Json, Row
from servers.ridesharing import _mail as mail
from servers.ridesharing._roads import SHARED
from servers.ridesharing.lyft._model import TABLES, WORDS, letter
from servers.ridesharing.lyft.account import Account
from servers.ridesharing.lyft.rewards import Rewards
from servers.ridesharing.lyft.rides import Rides


class Lyft(Account, Rides, Rewards):
    """Rides now and scheduled, with savings for waiting, donations and rewards."""

    tables = TABLES
    shared_tables = SHARED
    name = "lyft"
    title = "Lyft"
    category = "ridesharing"
    domain = "mobility"
    codes = Codes(
        "BAD_REQUEST",
        "SERVICE_DOWN",
        "RATE_LIMIT_REACHED",
        "UPSTREAM_TIMEOUT",
        "TOKEN_INVALID",
        "SERVER_ERROR",
    )

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says now; a ride that was canceled brings none."""
        row = self.db.get("lyft_rides", post["about"])
        if row is None or not mail.may_come(self, WORDS, row, post):
            return None
        return letter(self, row)
