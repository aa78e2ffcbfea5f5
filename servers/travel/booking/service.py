"""The Booking.com provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.travel._rules import SHARED
from servers.travel.booking._model import TABLES
from servers.travel.booking.loyalty import Loyalty
from servers.travel.booking.stays import Stays


class Booking(Loyalty, Stays):
    """Places to stay, with Genius membership and price alerts."""

    name = "booking"
    title = "Booking.com"
    category = "travel"
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
