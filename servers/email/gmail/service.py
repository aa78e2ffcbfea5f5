"""The Gmail service, put together from its topics."""

from __future__ import annotations

from servers.email._rules import SHARED_TABLES
from servers.email.gmail._model import TABLES
from servers.email.gmail.account import Account
from servers.email.gmail.organising import Organising
from servers.email.gmail.reading import Reading
from servers.email.gmail.sending import Sending
from servers.kit.service import Codes


class Gmail(Reading, Organising, Account, Sending):
    """Mail for two accounts, with labels as folders, snooze, scheduled sending and templates."""

    name = "gmail"
    title = "Gmail"
    category = "email"
    domain = "communication"
    tables = TABLES
    shared_tables = SHARED_TABLES
    codes = Codes(
        unavailable="BACKEND_ERROR",
        rate_limited="USER_RATE_LIMIT_EXCEEDED",
        timeout="DEADLINE_EXCEEDED",
        unauthorized="AUTH_TOKEN_EXPIRED",
    )
