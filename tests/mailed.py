"""What services have mailed in a session, as it arrived in the person's mailboxes."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.store import POST


def mailed(session: Session, sender: str, about: str = "") -> list[dict[str, Any]]:
    """Return the mails from an address that have arrived since the world began, oldest first.

    `about` is something that they must contain, such as the id of an order.
    """
    arrived: list[dict[str, Any]] = []
    for entry in session.world.log():
        mail = entry["new"] if entry["old"] is None else None
        if mail is None or entry["cause"] != POST or not entry["table"].endswith("_emails"):
            continue
        if mail["sender"] == sender and about in mail["body"]:
            arrived.append(dict(mail))
    return arrived


def subjects(session: Session, sender: str) -> list[str]:
    """Return the subjects of the mails from an address, oldest first."""
    return [mail["subject"] for mail in mailed(session, sender)]
