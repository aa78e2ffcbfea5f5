"""The Zelle provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.payments._rules import SHARED
from servers.payments.zelle._model import TABLES
from servers.payments.zelle.account import Account
from servers.payments.zelle.scheduled import Scheduled
from servers.payments.zelle.transfers import Transfers


class Zelle(Account, Transfers, Scheduled):
    """Transfers directly between bank accounts."""

    name = "zelle"
    title = "Zelle"
    category = "payments"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_REQUEST",
        unavailable="TEMPORARILY_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="SESSION_EXPIRED",
        internal="SYSTEM_ERROR",
    )
