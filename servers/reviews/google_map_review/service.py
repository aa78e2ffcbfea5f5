"""The Google Maps reviews service, put together from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.reviews._rules import SHARED
from servers.reviews.google_map_review._model import TABLES
from servers.reviews.google_map_review.contributions import Contributions
from servers.reviews.google_map_review.places import Places


class GoogleMapReview(Places, Contributions):
    """Places on the map, reviews and photos of them, lists, and Local Guide points."""

    name = "google_map_review"
    title = "Google Maps Reviews"
    category = "reviews"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_REQUEST",
        unavailable="UNAVAILABLE",
        rate_limited="OVER_QUERY_LIMIT",
        timeout="DEADLINE_EXCEEDED",
        unauthorized="REQUEST_DENIED",
        internal="UNKNOWN_ERROR",
    )
