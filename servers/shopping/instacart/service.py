"""The Instacart provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.shopping.instacart._model import TABLES
from servers.shopping.instacart.account import Account
from servers.shopping.instacart.checkout import Checkout
from servers.shopping.instacart.recipes import Recipes


class Instacart(Account, Checkout, Recipes):
    """Groceries from nearby stores, picked by a shopper and delivered to the door."""

    name = "instacart"
    title = "Instacart"
    category = "shopping"
    domain = "commerce"
    tables = TABLES
    codes = Codes(
        invalid="INVALID_PARAMETER",
        unavailable="SERVICE_TEMPORARILY_UNAVAILABLE",
        rate_limited="RATE_LIMITED",
        timeout="REQUEST_TIMED_OUT",
        unauthorized="SESSION_EXPIRED",
        internal="INTERNAL_ERROR",
    )
