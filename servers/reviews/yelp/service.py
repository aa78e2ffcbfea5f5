"""The Yelp service, put together from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.reviews._rules import SHARED
from servers.reviews.yelp._model import TABLES
from servers.reviews.yelp.businesses import Businesses
from servers.reviews.yelp.community import Community
from servers.reviews.yelp.opinions import Opinions


class Yelp(Businesses, Opinions, Community):
    """Local businesses, reviews of them, collections and check-ins."""

    name = "yelp"
    title = "Yelp"
    category = "reviews"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="VALIDATION_ERROR",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS_PER_SECOND",
        timeout="TIMED_OUT",
        unauthorized="TOKEN_INVALID",
        internal="INTERNAL_ERROR",
    )
