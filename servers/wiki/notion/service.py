"""The Notion provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.wiki.notion._model import TABLES
from servers.wiki.notion.databases import Databases
from servers.wiki.notion.pages import Pages
from servers.wiki.notion.sharing import Sharing


class Notion(Pages, Sharing, Databases):
    """Pages in Markdown and typed databases, shared page by page."""

    name = "notion"
    title = "Notion"
    category = "wiki"
    domain = "communication"
    tables = TABLES
    codes = Codes(
        invalid="VALIDATION_ERROR",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="RATE_LIMITED",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="UNAUTHORIZED",
        internal="INTERNAL_SERVER_ERROR",
    )
