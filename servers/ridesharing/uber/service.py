"""The Uber provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.kit.types import Json, Row
from servers.ridesharing import _mail as mail
from servers.ridesharing._roads import SHARED
from servers.ridesharing.uber._model import ANSWERS, TABLES, WORDS, letter
from servers.ridesharing.uber.account import Account
from servers.ridesharing.uber.afterwards import Afterwards
from servers.ridesharing.uber.parcels import Parcels
from servers.ridesharing.uber.rides import Rides


class Uber(Account, Rides, Afterwards, Parcels):
    """Rides now and reserved, with stops, fare splits and package deliveries."""

    name = "uber"
    title = "Uber"
    category = "ridesharing"
    domain = "mobility"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_REQUEST",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="UNAUTHORIZED",
        internal="INTERNAL_SERVER_ERROR",
    )

    def when_due(self, post: Row) -> Json | None:
        """Return what a letter says now; rides and packages that were canceled bring none."""
        if post["template"] == "package_delivered":
            package = self.db.get("uber_deliveries", post["about"])
            gone = package is None or package["cancelled_at"] is not None
            return None if gone else post["data"]
        if post["template"] in ANSWERS:
            invitation = self.db.get("uber_splits", post["about"])
            row = invitation and self.db.get("uber_rides", invitation["ride_id"])
            return post["data"] if mail.may_come(self, WORDS, row, post) else None
        row = self.db.get("uber_rides", post["about"])
        if row is None or not mail.may_come(self, WORDS, row, post):
            return None
        return letter(self, row)
