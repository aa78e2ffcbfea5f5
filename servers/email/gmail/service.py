"""The Gmail service, put together from its topics."""

from __future__ import annotations

from servers.email.gmail.organising import Keeping, Organising
from servers.email.gmail.reading import Reading


class Gmail(Reading, Organising, Keeping):
    """Mail with labels for folders, snooze, scheduled send and templates; two accounts."""

    name = "gmail"
