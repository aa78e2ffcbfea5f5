"""The Alpha Vantage provider, assembled from its topics."""

from __future__ import annotations

from servers.finance._data import SHARED
from servers.finance.alpha_vantage._model import TABLES
from servers.finance.alpha_vantage.economy import Economy
from servers.finance.alpha_vantage.prices import Prices
from servers.finance.alpha_vantage.research import Research
from servers.finance.alpha_vantage.technicals import Technicals
from servers.finance.alpha_vantage.watchlists import Watchlists
from servers.kit.service import Codes


class AlphaVantage(Prices, Technicals, Economy, Research, Watchlists):
    """Market data for analysts: quotes 15 minutes late, daily bars, indicators, economic data."""

    name = "alpha_vantage"
    title = "Alpha Vantage"
    category = "finance"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_API_CALL",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="RATE_LIMIT_REACHED",
        timeout="REQUEST_TIMEOUT",
        unauthorized="INVALID_API_KEY",
        internal="INTERNAL_ERROR",
    )
