"""The DoorDash provider, assembled from its topics."""

from __future__ import annotations

from servers.food_delivery._rules import SHARED
from servers.food_delivery.doordash._model import TABLES
from servers.food_delivery.doordash.account import Account
from servers.food_delivery.doordash.add_ons import AddOns
from servers.food_delivery.doordash.dashes import Dashes
from servers.food_delivery.doordash.gifts import Gifts
from servers.food_delivery.doordash.stores import Stores
from servers.kit.service import Codes


class DoorDash(Account, Stores, Dashes, Gifts, AddOns):
    """Meals delivered by Dashers, with gifts and add-ons from a second store."""

    name = "doordash"
    title = "DoorDash"
    category = "food_delivery"
    domain = "commerce"
    shared_tables = SHARED
    tables = TABLES
    codes = Codes(
        invalid="VALIDATION_FAILED",
        unavailable="DASH_UNAVAILABLE",
        rate_limited="RATE_LIMITED",
        timeout="UPSTREAM_TIMEOUT",
        unauthorized="SESSION_EXPIRED",
        internal="UNKNOWN_ERROR",
    )
