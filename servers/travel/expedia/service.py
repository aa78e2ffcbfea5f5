"""The Expedia provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.travel._rules import SHARED
from servers.travel.expedia._model import TABLES
from servers.travel.expedia.account import Account
from servers.travel.expedia.boards import Boards
from servers.travel.expedia.hotels import Hotels


class Expedia(Account, Hotels, Boards):
    """Hotels, with saved travelers, insurance and trip boards."""

    name = "expedia"
    title = "Expedia"
    category = "travel"
    domain = "mobility"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_INPUT",
        unavailable="PARTNER_UNAVAILABLE",
        rate_limited="RATE_LIMITED",
        timeout="REQUEST_TIMED_OUT",
        unauthorized="SESSION_EXPIRED",
        internal="UNKNOWN_ERROR",
    )
