"""The Uber Eats provider, assembled from its topics."""

from __future__ import annotations

from servers.food_delivery import _mail as mail
from servers.food_delivery._rules import SHARED
from servers.food_delivery.uber_eats._model import TABLES, WORDS, delivered
from servers.food_delivery.uber_eats.account import Account
from servers.food_delivery.uber_eats.groceries import Groceries
from servers.food_delivery.uber_eats.group_orders import GroupOrders
from servers.food_delivery.uber_eats.help import Help
from servers.kit.service import Codes
from servers.kit.types import Json, Row


class UberEats(Account, Groceries, GroupOrders, Help):
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

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says now; an order that was canceled brings none."""
        if post["template"] in mail.DECISIONS:
            return mail.decision(self, WORDS, post)
        row = self.db.get("uber_eats_orders", post["about"])
        if row is None or not mail.may_come(self, WORDS, row, post):
            return None
        return delivered(self, row)
