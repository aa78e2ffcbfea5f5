"""The Google Finance provider, assembled from its topics."""

from __future__ import annotations

from servers.finance._data import SHARED
from servers.finance.google_finance._model import TABLES
from servers.finance.google_finance.portfolios import Portfolios
from servers.finance.google_finance.quotes import Quotes
from servers.finance.google_finance.research import Research
from servers.kit.service import Codes


class GoogleFinance(Quotes, Research, Portfolios):
    """Quotes and charts at a glance, sector comparisons, and portfolios that track holdings."""

    name = "google_finance"
    title = "Google Finance"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_ARGUMENT",
        unavailable="UNAVAILABLE",
        rate_limited="RESOURCE_EXHAUSTED",
        timeout="DEADLINE_EXCEEDED",
        unauthorized="UNAUTHENTICATED",
        internal="INTERNAL",
    )
