"""The Fidelity provider, assembled from its topics."""

from __future__ import annotations

from servers.finance import _mail as mail
from servers.finance._brokerage import SHARED
from servers.finance.fidelity._model import TABLES, WORDS
from servers.finance.fidelity.baskets import Baskets
from servers.finance.fidelity.money import Money
from servers.finance.fidelity.research import Research
from servers.finance.fidelity.trading import Trading
from servers.kit.service import Codes
from servers.kit.types import Json, Row


class Fidelity(Trading, Research, Baskets, Money):
    """A full-service broker: stocks, funds and coins, research, tax lots, and baskets."""

    name = "fidelity"
    title = "Fidelity"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_INPUT",
        unavailable="SYSTEM_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="REQUEST_TIMED_OUT",
        unauthorized="SESSION_EXPIRED",
        internal="SYSTEM_ERROR",
    )

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says at its moment; nothing once its order is cancelled, say."""
        return mail.by_then(self, WORDS, post)
