"""The Outlook service, put together from its topics."""

from __future__ import annotations

from servers.email import _delivery as delivery
from servers.email._rules import SHARED_TABLES
from servers.email.outlook._model import TABLES
from servers.email.outlook.organising import Organising
from servers.email.outlook.quick_steps import QuickSteps
from servers.email.outlook.reading import Reading
from servers.email.outlook.sending import Sending
from servers.kit.posts import Letter
from servers.kit.service import Codes, answers
from servers.kit.types import Row


class Outlook(Reading, Sending, QuickSteps, Organising):
    """Work mail in folders, with color categories, pins, importance and quick steps."""

    name = "outlook"
    title = "Outlook"
    category = "email"
    domain = "communication"
    tables = TABLES
    shared_tables = SHARED_TABLES
    codes = Codes(
        invalid="INVALID_REQUEST",
        rate_limited="APPLICATION_THROTTLED",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="INVALID_AUTHENTICATION_TOKEN",
        internal="INTERNAL_SERVER_ERROR",
    )

    def take_in(self, letter: Letter) -> bool:
        """See `Service.take_in`."""
        return delivery.take_in(self, letter)

    @answers("mail")
    def receive_answer(self, reaction: Row) -> None:
        """Let somebody answer a message that was sent from here."""
        delivery.receive_answer(self, reaction)
