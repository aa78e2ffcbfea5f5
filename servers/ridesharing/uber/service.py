"""The Uber provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.ridesharing._roads import SHARED
from servers.ridesharing.uber._model import TABLES
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
