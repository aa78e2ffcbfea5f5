"""The Confluence provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.wiki.confluence._model import TABLES
from servers.wiki.confluence.content import Content
from servers.wiki.confluence.spaces import Spaces


class Confluence(Spaces, Content):
    """Spaces of pages and blog posts, each with a history."""

    name = "confluence"
    title = "Confluence"
    category = "wiki"
    domain = "communication"
    tables = TABLES
    codes = Codes(
        invalid="BAD_REQUEST",
        unavailable="SITE_UNAVAILABLE",
        rate_limited="RATE_LIMIT_REACHED",
        timeout="REQUEST_TIMED_OUT",
        unauthorized="AUTHENTICATION_REQUIRED",
        internal="UNEXPECTED_ERROR",
    )
