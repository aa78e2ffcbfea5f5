"""Gmail: flags, archive, trash, labels and snooze."""

from __future__ import annotations

from typing import Annotated, Any

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
from servers.kit.values import Timestamp

_MAIL = {"email_id": seeded("gem", "cabin_cost")}
_SNOOZE = _MAIL | {"snooze_until": "2026-06-01T15:00:00Z"}

_DISPLACED = {"inbox": ("spam", "trash"), "spam": ("inbox",)}
"""Labels that a message loses when it gets another one."""

_ADD_INSTEAD = {
    "trash": "Use trash_email.",
    "snoozed": "Use snooze_email.",
    "archive": "Use archive_email.",
}
_REMOVE_INSTEAD = {"snoozed": "Use unsnooze_email.", "archive": "Use add_label with 'inbox'."}

SnoozeUntil = Annotated[
    Timestamp,
    Field(
        description="When it returns to the inbox, a future moment, e.g. 2026-03-20T15:00:00Z; "
        "UTC when no zone is given."
    ),
]


class Organising(Service):
    """Tools that sort mail."""

    # -- flags --------------------------------------------------------------------------------
    def _flag(self, email_id: str, column: str, value: bool) -> dict[str, Any]:
        find_email(self, email_id)
        self.db.update("gmail_emails", email_id, **{column: value})
        return {"email_id": email_id, column: value}

    @writes(example={"email_id": seeded("gem", "cabin_checkin")}, idempotent=True)
    def mark_as_read(self, email_id: EmailId) -> dict[str, Any]:
        """Mark a message as read."""
        return self._flag(email_id, "read", True)

    @writes(example=_MAIL, idempotent=True)
    def mark_as_unread(self, email_id: EmailId) -> dict[str, Any]:
        """Mark a message as unread."""
        return self._flag(email_id, "read", False)

    @writes(example=_MAIL, idempotent=True)
    def star_email(self, email_id: EmailId) -> dict[str, Any]:
        """Star a message."""
        return self._flag(email_id, "starred", True)

    @writes(example={"email_id": seeded("gem", "cabin_address")}, idempotent=True)
    def unstar_email(self, email_id: EmailId) -> dict[str, Any]:
        """Take the star off a message."""
        return self._flag(email_id, "starred", False)

    # -- archive and trash --------------------------------------------------------------------
    def _refuse_trashed(self, row: dict[str, Any]) -> None:
        if "trash" in row["labels"]:
            self.fail(
                "EMAIL_IN_TRASH",
                "The message is in the trash.",
                "Take it out first: remove_label with label 'trash'.",
                email_id=row["id"],
            )

    @writes(example=_MAIL, idempotent=True)
    def archive_email(self, email_id: EmailId) -> dict[str, Any]:
        """Take a message out of the inbox and keep it in 'all'. Ends a snooze."""
        row = find_email(self, email_id)
        self._refuse_trashed(row)
        labels = [name for name in row["labels"] if name != "inbox"]
        self.db.update("gmail_emails", email_id, labels=labels, snooze_until=None)
        return {"email_id": email_id, "status": "archived", "labels": labels}

    @writes(example=_MAIL, idempotent=True)
    def trash_email(self, email_id: EmailId) -> dict[str, Any]:
        """Move a message to the trash. remove_label with label 'trash' takes it out again."""
        row = find_email(self, email_id)
        labels = [name for name in row["labels"] if name not in ("inbox", "spam", "trash")]
        self.db.update("gmail_emails", email_id, labels=[*labels, "trash"], snooze_until=None)
        return {"email_id": email_id, "status": "trashed"}

    # -- labels -------------------------------------------------------------------------------
    def _set_flag_label(self, row: dict[str, Any], label: str, present: bool) -> dict[str, Any]:
        """Put a label that stands for a flag on a message, or take it off."""
        changes = {"read": not present} if label == "unread" else {label: present}
        self.db.update("gmail_emails", row["id"], **changes)
        return {"email_id": row["id"], "labels": row["labels"]}

    @writes(example=_MAIL | {"label": "receipts"}, idempotent=True)
    def add_label(self, email_id: EmailId, label: LabelName) -> dict[str, Any]:
        """Put a label on a message. 'inbox' moves it back to the inbox (also from archive, spam or trash), 'spam' reports it as spam."""
        row = find_email(self, email_id)
        name = find_label(self, label)
        if name in FLAGS:
            return self._set_flag_label(row, name, True)
        if name in ("trash", "sent", *DERIVED):
            self.fail(
                "LABEL_NOT_ASSIGNABLE",
                f"The label {name!r} cannot be put on a message by hand.",
                _ADD_INSTEAD.get(name, "Use a label of your own."),
            )
        displaced = _DISPLACED.get(name, ())
        labels = [n for n in row["labels"] if n not in displaced]
        if name not in labels:
            labels.append(name)
        self.db.update("gmail_emails", email_id, labels=labels)
        return {"email_id": email_id, "labels": labels}

    @writes(example={"email_id": seeded("gem", "rent_march_1"), "label": "home"}, idempotent=True)
    def remove_label(self, email_id: EmailId, label: LabelName) -> dict[str, Any]:
        """Take a label off a message; without it already, nothing changes. Removing 'trash' or 'spam' keeps the message in 'all'."""
        row = find_email(self, email_id)
        name = find_label(self, label)
        if name in FLAGS:
            return self._set_flag_label(row, name, False)
        if name in ("sent", *DERIVED):
            self.fail(
                "LABEL_NOT_REMOVABLE",
                f"The label {name!r} cannot be taken off by hand.",
                _REMOVE_INSTEAD.get(name, ""),
            )
        labels = [n for n in row["labels"] if n != name]
        self.db.update("gmail_emails", email_id, labels=labels)
        return {"email_id": email_id, "labels": labels}

    @writes(example={"label": "garden"})
    def create_label(self, label: LabelName) -> dict[str, Any]:
        """Make a new label of your own in the signed-in account."""
        name = label.strip()
        taken = {n.lower() for n in (*SYSTEM, *LISTED_APART, *user_labels(self))}
        if not name or name.lower() in taken:
            self.fail(
                "LABEL_EXISTS",
                f"There is already a label {name!r}.",
                "list_labels shows all labels.",
            )
        row = {"id": self.new_id("glb"), "account": rules.own_address(self), "name": name}
        self.db.insert("gmail_labels", row)
        return {"label": name, "status": "created"}

    # -- snooze -------------------------------------------------------------------------------
    @writes(example=_SNOOZE, idempotent=True)
    def snooze_email(self, email_id: EmailId, snooze_until: SnoozeUntil) -> dict[str, Any]:
        """Hide a message from the inbox until a future moment; then it is back by itself. Snoozing again moves the moment."""
        row = find_email(self, email_id)
        self._refuse_trashed(row)
        if snooze_until <= self.time:
            self.fail(
                "SNOOZE_IN_PAST",
                f"{snooze_until} is not in the future; it is {self.time}.",
                "Choose a later snooze_until.",
            )
        labels = [name for name in row["labels"] if name != "spam"]
        if "inbox" not in labels:
            labels.append("inbox")
        self.db.update("gmail_emails", email_id, labels=labels, snooze_until=snooze_until)
        return {"email_id": email_id, "snooze_until": snooze_until, "status": "snoozed"}

    @writes(example=_MAIL, setup=(Setup("snooze_email", _SNOOZE),))
    def unsnooze_email(self, email_id: EmailId) -> dict[str, Any]:
        """Bring a snoozed message back to the inbox now."""
        if not is_snoozed(self, find_email(self, email_id)):
            self.fail(
                "EMAIL_NOT_SNOOZED",
                "The message is not snoozed.",
                "list_snoozed_emails shows what is.",
                email_id=email_id,
            )
        self.db.update("gmail_emails", email_id, snooze_until=None)
        return {"email_id": email_id, "status": "unsnoozed"}
