"""The Walmart provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.shopping._rules import SHARED
from servers.shopping.walmart._model import TABLES
from servers.shopping.walmart.account import Account
from servers.shopping.walmart.basket import Basket
from servers.shopping.walmart.orders import Orders
from servers.shopping.walmart.price_match import PriceMatch
from servers.shopping.walmart.products import Products
from servers.shopping.walmart.reorders import Reorders


class Walmart(Products, Basket, Orders, PriceMatch, Reorders, Account):
    """A chain of stores with pickup slots, substitutions, price match and auto reorder."""

    name = "walmart"
    title = "Walmart"
    category = "shopping"
    domain = "commerce"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_REQUEST",
        unavailable="SERVICE_TEMPORARILY_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="UNAUTHORIZED",
        internal="SYSTEM_ERROR",
    )
