"""The Fidelity provider, assembled from its topics."""

from __future__ import annotations

from servers.finance._brokerage import SHARED
from servers.finance.fidelity._model import TABLES
from servers.finance.fidelity.baskets import Baskets
from servers.finance.fidelity.money import Money
from servers.finance.fidelity.research import Research
from servers.finance.fidelity.trading import Trading
from servers.kit.service import Codes


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
