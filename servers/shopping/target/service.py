"""The Target provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.shopping._rules import SHARED
from servers.shopping.target._model import TABLES
from servers.shopping.target.account import Account
from servers.shopping.target.cart import Cart
from servers.shopping.target.circle import Circle
from servers.shopping.target.orders import Orders
from servers.shopping.target.products import Products
from servers.shopping.target.registry import Registry


class Target(Products, Cart, Circle, Orders, Registry, Account):
    """A chain of stores with drive-up, Circle offers and points, RedCard and gift registries."""

    name = "target"
    title = "Target"
    category = "shopping"
    domain = "commerce"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="VALIDATION_FAILED",
        unavailable="SERVICE_DOWN",
        rate_limited="RATE_LIMITED",
        timeout="UPSTREAM_TIMEOUT",
        unauthorized="NOT_SIGNED_IN",
        internal="UNEXPECTED_ERROR",
    )
