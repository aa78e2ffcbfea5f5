"""The Outlook service, put together from its topics."""

from __future__ import annotations

from servers.email.outlook._quick_steps import QuickSteps
from servers.email.outlook._reading import Reading
from servers.email.outlook._sending import Sending


class Outlook(Reading, Sending, QuickSteps):
    """Work mail in folders, with colour categories, pins, importance and quick steps."""

    name = "outlook"
