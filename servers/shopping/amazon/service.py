"""The Amazon provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.shopping._rules import SHARED
from servers.shopping.amazon._model import TABLES
from servers.shopping.amazon.account import Account
from servers.shopping.amazon.lists import Lists
from servers.shopping.amazon.orders import Orders
from servers.shopping.amazon.products import Products
from servers.shopping.amazon.subscriptions import Subscriptions


class Amazon(Products, Orders, Lists, Subscriptions, Account):
    """A marketplace of many sellers with wish lists, price alerts and subscriptions."""

    name = "amazon"
    title = "Amazon"
    category = "shopping"
    domain = "commerce"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_PARAMETER_VALUE",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="REQUEST_THROTTLED",
        timeout="REQUEST_TIMEOUT",
        unauthorized="ACCESS_DENIED",
        internal="INTERNAL_FAILURE",
    )
