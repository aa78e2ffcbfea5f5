"""The Gmail service, put together from its topics."""

from __future__ import annotations

from servers.email import _delivery as delivery
from servers.email._rules import SHARED_TABLES
from servers.email.gmail._model import TABLES
from servers.email.gmail.account import Account
from servers.email.gmail.organising import Organising
from servers.email.gmail.reading import Reading
from servers.email.gmail.sending import Sending
from servers.kit.posts import Letter
from servers.kit.service import Codes, answers
from servers.kit.types import Row


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

    def take_in(self, letter: Letter) -> bool:
        """See `Service.take_in`."""
        return delivery.take_in(self, letter)

    @answers("mail")
    def receive_answer(self, reaction: Row) -> None:
        """Let somebody answer a message that was sent from here."""
        delivery.receive_answer(self, reaction)
