"""The Venmo provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.payments._rules import SHARED
from servers.payments.venmo._model import TABLES
from servers.payments.venmo.account import Account
from servers.payments.venmo.card import Card
from servers.payments.venmo.groups import Groups
from servers.payments.venmo.payments import Payments


class Venmo(Account, Payments, Groups, Card):
    """Payments between friends from a wallet, bank accounts and cards."""

    name = "venmo"
    title = "Venmo"
    category = "payments"
    domain = "money"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="VALIDATION_ERROR",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="RATE_LIMIT_EXCEEDED",
        timeout="REQUEST_TIMEOUT",
        unauthorized="ACCESS_TOKEN_EXPIRED",
        internal="INTERNAL_ERROR",
    )
