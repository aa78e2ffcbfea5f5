"""The Vanguard provider, assembled from its topics."""

from __future__ import annotations

from servers.finance import _mail as mail
from servers.finance._brokerage import SHARED
from servers.finance.vanguard._model import TABLES, WORDS
from servers.finance.vanguard.accounts import Accounts
from servers.finance.vanguard.funds import Funds
from servers.finance.vanguard.planning import Planning
from servers.kit.service import Codes
from servers.kit.types import Json, Row


class Vanguard(Accounts, Funds, Planning):
    """A fund company: funds in retirement and brokerage accounts, allocation, distributions."""

    name = "vanguard"
    title = "Vanguard"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_PARAMETER",
        unavailable="SITE_UNAVAILABLE",
        rate_limited="RATE_LIMIT_REACHED",
        timeout="TIMED_OUT",
        unauthorized="LOGIN_REQUIRED",
        internal="UNEXPECTED_ERROR",
    )

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says at its moment; nothing once its order is cancelled, say."""
        return mail.by_then(self, WORDS, post)
