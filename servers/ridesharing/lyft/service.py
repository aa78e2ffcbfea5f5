"""The Lyft provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.ridesharing._roads import SHARED
from servers.ridesharing.lyft._model import TABLES
from servers.ridesharing.lyft.account import Account
from servers.ridesharing.lyft.rewards import Rewards
from servers.ridesharing.lyft.rides import Rides


class Lyft(Account, Rides, Rewards):
    """Rides now and scheduled, with savings for waiting, donations and rewards."""

    tables = TABLES
    shared_tables = SHARED
    name = "lyft"
    title = "Lyft"
    category = "ridesharing"
    domain = "mobility"
    codes = Codes(
        "BAD_REQUEST",
        "SERVICE_DOWN",
        "RATE_LIMIT_REACHED",
        "UPSTREAM_TIMEOUT",
        "TOKEN_INVALID",
        "SERVER_ERROR",
    )
