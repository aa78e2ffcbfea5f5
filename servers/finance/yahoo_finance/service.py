"""The Yahoo Finance provider, assembled from its topics."""

from __future__ import annotations

from servers.finance._data import SHARED
from servers.finance.yahoo_finance._model import TABLES
from servers.finance.yahoo_finance.community import Community
from servers.finance.yahoo_finance.quotes import Quotes
from servers.finance.yahoo_finance.research import Research
from servers.kit.service import Codes


class YahooFinance(Quotes, Research, Community):
    """Live quotes, bars down to 15 minutes, options chains, and public message boards."""

    name = "yahoo_finance"
    title = "Yahoo Finance"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="BAD_REQUEST",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="UNAUTHORIZED",
        internal="INTERNAL_SERVER_ERROR",
    )
