"""The Outlook service, put together from its topics."""

from __future__ import annotations

from servers.email.outlook.quick_steps import QuickSteps
from servers.email.outlook.reading import Reading
from servers.email.outlook.sending import Sending


class Outlook(Reading, Sending, QuickSteps):
    """Work mail in folders, with colour categories, pins, importance and quick steps."""

    name = "outlook"
