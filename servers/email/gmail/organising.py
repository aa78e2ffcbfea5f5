"""Gmail: flags, archive, trash, labels and snooze."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.email import _rules as rules
from servers.email.gmail._model import (
    DERIVED,
    FLAGS,
    LISTED_APART,
    SYSTEM,
    EmailId,
    LabelName,
    find_email,
    find_label,
    is_snoozed,
    user_labels,
)
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, writes
from servers.kit.types import Json, Row
from servers.kit.values import Timestamp

_MAIL = {"email_id": seeded("gem", "cabin_cost")}
_SNOOZE = _MAIL | {"snooze_until": "2026-06-01T15:00:00Z"}

_DISPLACED = {"inbox": ("spam", "trash"), "spam": ("inbox",)}
"""Labels that a message loses when it gets the label that is the key."""

_ADD_INSTEAD = {
    "trash": "Use trash_email.",
    "snoozed": "Use snooze_email.",
    "archive": "Use archive_email.",
}
_REMOVE_INSTEAD = {"snoozed": "Use unsnooze_email.", "archive": "Use add_label with 'inbox'."}

SnoozeUntil = Annotated[
    Timestamp,
    Field(
        description="When the message returns to the inbox: a future time such as "
        "2026-03-20T08:00:00-07:00; without an offset, in the account's time zone."
    ),
]


class Organising(Service):
    """Tools that organise mail."""

    # -- flags --------------------------------------------------------------------------------
    def _flag(self, email_id: str, column: str, value: bool) -> Json:
        find_email(self, email_id)
        self.db.update("gmail_emails", email_id, **{column: value})
        return {"email_id": email_id, column: value}

    @writes(example={"email_id": seeded("gem", "cabin_checkin")}, idempotent=True)
    def mark_as_read(self, email_id: EmailId) -> Json:
        """Mark a message as read."""
        return self._flag(email_id, "read", True)

    @writes(example=_MAIL, idempotent=True)
    def mark_as_unread(self, email_id: EmailId) -> Json:
        """Mark a message as unread."""
        return self._flag(email_id, "read", False)

    @writes(example=_MAIL, idempotent=True)
    def star_email(self, email_id: EmailId) -> Json:
        """Star a message."""
        return self._flag(email_id, "starred", True)

    @writes(example={"email_id": seeded("gem", "cabin_address")}, idempotent=True)
    def unstar_email(self, email_id: EmailId) -> Json:
        """Remove the star from a message."""
        return self._flag(email_id, "starred", False)

    # -- archive and trash --------------------------------------------------------------------
    def _refuse_trashed(self, row: Row) -> None:
        if "trash" in row["labels"]:
            self.fail(
                "EMAIL_IN_TRASH",
                "The message is in the trash.",
                "Restore it first: call remove_label with the label 'trash'.",
                email_id=row["id"],
            )

    @writes(example=_MAIL, idempotent=True)
    def archive_email(self, email_id: EmailId) -> Json:
        """Move a message out of the inbox; it stays under 'all'. This also ends a snooze."""
        row = find_email(self, email_id)
        self._refuse_trashed(row)
        labels = [name for name in row["labels"] if name != "inbox"]
        self.db.update("gmail_emails", email_id, labels=labels, snooze_until=None)
        return {"email_id": email_id, "status": "archived", "labels": labels}

    @writes(example=_MAIL, idempotent=True)
    def trash_email(self, email_id: EmailId) -> Json:
        """Move a message to the trash. To restore it, call remove_label with the label 'trash'."""
        row = find_email(self, email_id)
        labels = [name for name in row["labels"] if name not in ("inbox", "spam", "trash")]
        self.db.update("gmail_emails", email_id, labels=[*labels, "trash"], snooze_until=None)
        return {"email_id": email_id, "status": "trashed"}

    # -- labels -------------------------------------------------------------------------------
    def _set_flag_label(self, row: Row, label: str, present: bool) -> Json:
        """Set or clear the flag that a label stands for."""
        changes = {"read": not present} if label == "unread" else {label: present}
        self.db.update("gmail_emails", row["id"], **changes)
        return {"email_id": row["id"], "labels": row["labels"]}

    @writes(example=_MAIL | {"label": "receipts"}, idempotent=True)
    def add_label(self, email_id: EmailId, label: LabelName) -> Json:
        """Add a label to a message.

        The label 'inbox' moves it back to the inbox, even from the archive, spam or the trash;
        'spam' reports it as spam.
        """
        row = find_email(self, email_id)
        name = find_label(self, label)
        if name in FLAGS:
            return self._set_flag_label(row, name, True)
        if name in ("trash", "sent", *DERIVED):
            self.fail(
                "LABEL_NOT_ASSIGNABLE",
                f"The label {name!r} cannot be added directly.",
                _ADD_INSTEAD.get(name, "Use one of your own labels."),
            )
        displaced = _DISPLACED.get(name, ())
        labels = [n for n in row["labels"] if n not in displaced]
        if name not in labels:
            labels.append(name)
        self.db.update("gmail_emails", email_id, labels=labels)
        return {"email_id": email_id, "labels": labels}

    @writes(example={"email_id": seeded("gem", "rent_march_1"), "label": "home"}, idempotent=True)
    def remove_label(self, email_id: EmailId, label: LabelName) -> Json:
        """Remove a label from a message. If the message does not have it, nothing changes.

        A message without 'trash' or 'spam' is listed under 'all' again.
        """
        row = find_email(self, email_id)
        name = find_label(self, label)
        if name in FLAGS:
            return self._set_flag_label(row, name, False)
        if name in ("sent", *DERIVED):
            self.fail(
                "LABEL_NOT_REMOVABLE",
                f"The label {name!r} cannot be removed directly.",
                _REMOVE_INSTEAD.get(name, ""),
            )
        labels = [n for n in row["labels"] if n != name]
        self.db.update("gmail_emails", email_id, labels=labels)
        return {"email_id": email_id, "labels": labels}

    @writes(example={"label": "garden"})
    def create_label(self, label: LabelName) -> Json:
        """Create a label in the signed-in account."""
        name = label.strip()
        taken = {n.lower() for n in (*SYSTEM, *LISTED_APART, *user_labels(self))}
        if not name or name.lower() in taken:
            self.fail(
                "LABEL_EXISTS",
                f"There is already a label called {name!r}.",
                "Call list_labels to see all labels.",
            )
        row = {"id": self.new_id("glb"), "account": rules.own_address(self), "name": name}
        self.db.insert("gmail_labels", row)
        return {"label": name, "status": "created"}

    # -- snooze -------------------------------------------------------------------------------
    @writes(example=_SNOOZE, idempotent=True)
    def snooze_email(self, email_id: EmailId, snooze_until: SnoozeUntil) -> Json:
        """Hide a message from the inbox until a future time, when it returns on its own.

        Snoozing it again changes the time.
        """
        row = find_email(self, email_id)
        self._refuse_trashed(row)
        snooze_until = rules.moment(self, snooze_until)
        if snooze_until <= self.time:
            self.fail(
                "SNOOZE_IN_PAST",
                f"{snooze_until} is not in the future: the time is now {self.time}.",
                "Choose a later snooze_until.",
            )
        labels = [name for name in row["labels"] if name != "spam"]
        if "inbox" not in labels:
            labels.append("inbox")
        self.db.update("gmail_emails", email_id, labels=labels, snooze_until=snooze_until)
        return {"email_id": email_id, "snooze_until": snooze_until, "status": "snoozed"}

    @writes(example=_MAIL, setup=(Setup("snooze_email", _SNOOZE),))
    def unsnooze_email(self, email_id: EmailId) -> Json:
        """Return a snoozed message to the inbox now."""
        if not is_snoozed(self, find_email(self, email_id)):
            self.fail(
                "EMAIL_NOT_SNOOZED",
                "The message is not snoozed.",
                "Call list_snoozed_emails to see which messages are.",
                email_id=email_id,
            )
        self.db.update("gmail_emails", email_id, snooze_until=None)
        return {"email_id": email_id, "status": "unsnoozed"}
