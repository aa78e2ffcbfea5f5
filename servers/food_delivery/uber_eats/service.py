"""The Uber Eats provider, assembled from its topics."""

from __future__ import annotations

from servers.food_delivery._rules import SHARED
from servers.food_delivery.uber_eats._model import TABLES
from servers.food_delivery.uber_eats.account import Account
from servers.food_delivery.uber_eats.groceries import Groceries
from servers.food_delivery.uber_eats.group_orders import GroupOrders
from servers.kit.service import Codes


class UberEats(Account, Groceries, GroupOrders):
    """Meals and groceries delivered by courier, for one person or a group."""

    name = "uber_eats"
    title = "Uber Eats"
    category = "food_delivery"
    domain = "commerce"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_PARAMS",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="REQUEST_TIMEOUT",
        unauthorized="UNAUTHENTICATED",
        internal="INTERNAL_SERVER_ERROR",
    )
