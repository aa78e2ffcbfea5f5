"""What Gmail's topics stand on: tables, argument types, and the rules of labels."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _rules as rules
from servers.kit.errors import did_you_mean
from servers.kit.service import Codes, Service
from servers.kit.store import Table

EmailId = Annotated[
    str, Field(description="email_id of a message, as list_emails and search_emails give it.")
]
DraftId = Annotated[str, Field(description="draft_id, as list_drafts gives it.")]
LabelName = Annotated[
    str, Field(min_length=1, max_length=60, description="Name of a label, as list_labels gives it.")
]

STORED = ("inbox", "sent", "spam", "trash", "promotions", "updates")
"""System labels that rows hold; the other system labels follow from a message's flags."""

FLAGS = ("starred", "important", "unread")
DERIVED = ("snoozed", "archive", "all")
APART = {"drafts": "list_drafts", "scheduled": "list_scheduled_emails"}
"""What other mail programs show as folders and Gmail lists on its own."""

SYSTEM = (*STORED, *FLAGS, *DERIVED)


class Mailbox(Service):
    """The signed-in account's mail: finding rows and showing them."""

    title = "Gmail"
    category = "email"
    domain = "communication"
    tables = {
        "gmail_emails": Table(
            f"{rules.MAIL} labels:list snooze_until:str?",
            index=("account", "thread_id", "conversation"),
            search=rules.SEARCH,
        ),
        "gmail_drafts": Table(rules.DRAFT),
        "gmail_scheduled": Table(f"{rules.DRAFT} send_at:str", index=("send_at",)),
        "gmail_templates": Table("id:str account:str name:str subject:str body:str"),
        "gmail_contacts": Table(
            "id:str account:str name:str email_address:str", index=("account",)
        ),
        "gmail_labels": Table("id:str account:str name:str"),
    }
    shared_tables = rules.SHARED_TABLES
    codes = Codes(
        unavailable="BACKEND_ERROR",
        rate_limited="USER_RATE_LIMIT_EXCEEDED",
        timeout="DEADLINE_EXCEEDED",
        unauthorized="AUTH_TOKEN_EXPIRED",
    )

    @property
    def own(self) -> str:
        """Address of the signed-in account."""
        return rules.active(self)["address"]

    def mine(self, email_id: str) -> dict[str, Any]:
        """Return a message of the signed-in account that has arrived."""
        row = self.db.get("gmail_emails", email_id)
        own = self.own
        if row is None or row["account"] != own or row["created_at"] > self.time:
            self.fail(
                "EMAIL_NOT_FOUND",
                f"There is no message {email_id!r} in {own}.",
                "Take email_id from list_emails or search_emails; switch_user signs in to another account.",
                email_id=email_id,
            )
        return row

    def owned(self, table: str, key: str, code: str, what: str, listing: str) -> dict[str, Any]:
        """Return a draft, template or scheduled message of the signed-in account."""
        row = self.db.get(table, key)
        if row is None or row["account"] != self.own:
            self.fail(
                code,
                f"There is no {what} {key!r} in {self.own}.",
                f"{listing} shows what there is.",
                id=key,
            )
        return row

    def snoozed(self, row: dict[str, Any]) -> bool:
        """Whether a message is hidden from the inbox now."""
        return row["snooze_until"] is not None and row["snooze_until"] > self.time

    def view(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a message as the agent sees it."""
        labels = [
            "snoozed" if name == "inbox" and self.snoozed(row) else name for name in row["labels"]
        ]
        found = rules.shown(row) | {"labels": labels}
        return found | {"snooze_until": row["snooze_until"]} if self.snoozed(row) else found

    def holds(self, label: str, row: dict[str, Any]) -> bool:
        """Whether a message is listed under a label. Spam and trash are listed under their own name only."""
        labels = row["labels"]
        if label in ("spam", "trash"):
            return label in labels
        if "spam" in labels or "trash" in labels:
            return False
        if label == "inbox":
            return "inbox" in labels and not self.snoozed(row)
        if label == "snoozed":
            return self.snoozed(row)
        if label == "archive":
            return "inbox" not in labels and "sent" not in labels
        if label == "all":
            return True
        if label in FLAGS:
            return not row["read"] if label == "unread" else row[label]
        return label in labels

    def user_labels(self) -> list[str]:
        """Return the account's own labels, sorted."""
        return sorted(r["name"] for r in self.db.rows("gmail_labels", "account=?", self.own))

    def label(self, name: str) -> str:
        """Return the label that a name means, whatever its case. Raises LABEL_NOT_FOUND."""
        wanted = name.strip().lower()
        if wanted in APART:
            self.fail(
                "LABEL_NOT_FOUND",
                f"{wanted.capitalize()} messages carry no label.",
                f"{APART[wanted]} shows them.",
            )
        known = {n.lower(): n for n in (*SYSTEM, *self.user_labels())}
        if wanted not in known:
            self.fail(
                "LABEL_NOT_FOUND",
                f"There is no label {name!r}{did_you_mean(wanted, known)}",
                "list_labels shows all labels; create_label makes a new one.",
                label=name,
            )
        return known[wanted]
