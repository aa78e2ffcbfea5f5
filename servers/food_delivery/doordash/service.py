"""The DoorDash provider, assembled from its topics."""

from __future__ import annotations

from servers.food_delivery import _mail as mail
from servers.food_delivery._rules import SHARED
from servers.food_delivery.doordash._model import TABLES, WORDS, gift_of
from servers.food_delivery.doordash.account import Account
from servers.food_delivery.doordash.add_ons import AddOns
from servers.food_delivery.doordash.dashes import Dashes
from servers.food_delivery.doordash.gifts import Gifts
from servers.food_delivery.doordash.help import Help
from servers.food_delivery.doordash.stores import Stores
from servers.kit.service import Codes
from servers.kit.types import Json, Row


class DoorDash(Account, Stores, Dashes, Gifts, AddOns, Help):
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

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says now; an order that was cancelled brings none."""
        if post["template"] in mail.DECISIONS:
            return mail.decision(self, WORDS, post)
        row = self.db.get("doordash_orders", post["about"])
        if row is None or not mail.may_come(self, WORDS, row, post):
            return None
        gift = gift_of(self, row)
        return mail.letter(self, WORDS, row) | (mail.of_gift(gift) if gift else {})
