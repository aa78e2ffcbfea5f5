"""The Robinhood provider, assembled from its topics."""

from __future__ import annotations

from servers.finance import _mail as mail
from servers.finance._brokerage import SHARED
from servers.finance.robinhood._model import TABLES, WORDS
from servers.finance.robinhood.crypto import Crypto
from servers.finance.robinhood.lists import Lists
from servers.finance.robinhood.money import Money
from servers.finance.robinhood.recurring import Recurring
from servers.finance.robinhood.trading import Trading
from servers.kit.service import Codes
from servers.kit.types import Json, Row


class Robinhood(Money, Trading, Crypto, Recurring, Lists):
    """A mobile broker: fractional stocks and ETFs, coins, options, recurring investments."""

    name = "robinhood"
    title = "Robinhood"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_REQUEST",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="THROTTLED",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="NOT_AUTHENTICATED",
        internal="INTERNAL_SERVER_ERROR",
    )

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says at its moment; nothing once its order is cancelled, say."""
        return mail.by_then(self, WORDS, post)
