"""Gmail: flags, labels, archive, trash, snooze and contacts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _rules as rules
from servers.email._rules import Addresses, Body, Subject
from servers.email.gmail._model import DERIVED, SYSTEM, EmailId, LabelName, Mailbox
from servers.email.gmail.sending import Sending
from servers.kit.control import seeded
from servers.kit.fields import PersonName
from servers.kit.service import Setup, reads, writes
from servers.kit.values import Cursor, Limit, Timestamp, page

_MAIL = {"email_id": seeded("gem", "cabin_cost")}
_SNOOZE = _MAIL | {"snooze_until": "2026-06-01T15:00:00Z"}
_TEMPLATE = {"name": "Kiln thanks", "subject": "Thank you", "body": "Thank you for the firing!"}
_MADE = (Setup("create_template", _TEMPLATE, "made"),)

TemplateId = Annotated[str, Field(description="template_id, as list_templates gives it.")]
TemplateName = Annotated[
    str, Field(min_length=1, max_length=80, description="A name of its own, e.g. 'Late invoice'.")
]
SnoozeUntil = Annotated[
    Timestamp,
    Field(
        description="When it returns to the inbox, a future moment, e.g. 2026-03-20T15:00:00Z; UTC when no zone is given."
    ),
]


class Organising(Mailbox):
    """Tools that sort mail."""

    def _flag(self, email_id: str, column: str, value: bool) -> dict[str, Any]:
        self.mine(email_id)
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

    def _relabel(self, row: dict[str, Any], labels: list[str]) -> None:
        self.db.update("gmail_emails", row["id"], labels=labels)

    def _not_trashed(self, row: dict[str, Any]) -> None:
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
        row = self.mine(email_id)
        self._not_trashed(row)
        labels = [name for name in row["labels"] if name != "inbox"]
        self.db.update("gmail_emails", email_id, labels=labels, snooze_until=None)
        return {"email_id": email_id, "status": "archived", "labels": labels}

    @writes(example=_MAIL, idempotent=True)
    def trash_email(self, email_id: EmailId) -> dict[str, Any]:
        """Move a message to the trash. remove_label with label 'trash' takes it out again."""
        row = self.mine(email_id)
        kept = [name for name in row["labels"] if name not in ("inbox", "spam", "trash")]
        self.db.update("gmail_emails", email_id, labels=[*kept, "trash"], snooze_until=None)
        return {"email_id": email_id, "status": "trashed"}

    # -- labels -----------------------------------------------------------------------------------------------
    @writes(example=_MAIL | {"label": "receipts"}, idempotent=True)
    def add_label(self, email_id: EmailId, label: LabelName) -> dict[str, Any]:
        """Put a label on a message. 'inbox' moves it back to the inbox (also from archive, spam or trash), 'spam' reports it as spam."""
        row = self.mine(email_id)
        name = self.label(label)
        if name in ("starred", "important", "unread"):
            column, value = ("read", False) if name == "unread" else (name, True)
            self.db.update("gmail_emails", email_id, **{column: value})
            return {"email_id": email_id, "labels": row["labels"]}
        if name == "trash" or name == "sent" or name in DERIVED:
            hint = {
                "trash": "Use trash_email.",
                "snoozed": "Use snooze_email.",
                "archive": "Use archive_email.",
            }
            self.fail(
                "LABEL_NOT_ASSIGNABLE",
                f"The label {name!r} cannot be put on a message by hand.",
                hint.get(name, "Use a label of your own."),
            )
        dropped = {"inbox": ("spam", "trash"), "spam": ("inbox",)}.get(name, ())
        labels = [n for n in row["labels"] if n not in dropped]
        self._relabel(row, labels if name in labels else [*labels, name])
        return {"email_id": email_id, "labels": labels if name in labels else [*labels, name]}

    @writes(example={"email_id": seeded("gem", "rent_march_1"), "label": "home"}, idempotent=True)
    def remove_label(self, email_id: EmailId, label: LabelName) -> dict[str, Any]:
        """Take a label off a message; without it already, nothing changes. Removing 'trash' or 'spam' keeps the message in 'all'."""
        row = self.mine(email_id)
        name = self.label(label)
        if name in ("starred", "important", "unread"):
            column, value = ("read", True) if name == "unread" else (name, False)
            self.db.update("gmail_emails", email_id, **{column: value})
            return {"email_id": email_id, "labels": row["labels"]}
        if name == "sent" or name in DERIVED:
            hint = (
                "Use unsnooze_email."
                if name == "snoozed"
                else "Use add_label with 'inbox'."
                if name == "archive"
                else ""
            )
            self.fail(
                "LABEL_NOT_REMOVABLE", f"The label {name!r} cannot be taken off by hand.", hint
            )
        labels = [n for n in row["labels"] if n != name]
        self._relabel(row, labels)
        return {"email_id": email_id, "labels": labels}

    @writes(example={"label": "garden"})
    def create_label(self, label: LabelName) -> dict[str, Any]:
        """Make a new label of your own in the signed-in account."""
        name = label.strip()
        known = {n.lower() for n in (*SYSTEM, "drafts", "scheduled", *self.user_labels())}
        if not name or name.lower() in known:
            self.fail(
                "LABEL_EXISTS",
                f"There is already a label {name!r}.",
                "list_labels shows all labels.",
            )
        self.db.insert(
            "gmail_labels", {"id": self.new_id("glb"), "account": self.own, "name": name}
        )
        return {"label": name, "status": "created"}

    # -- snooze -----------------------------------------------------------------------------------------------
    @writes(example=_SNOOZE, idempotent=True)
    def snooze_email(self, email_id: EmailId, snooze_until: SnoozeUntil) -> dict[str, Any]:
        """Hide a message from the inbox until a future moment; then it is back by itself. Snoozing again moves the moment."""
        row = self.mine(email_id)
        self._not_trashed(row)
        if snooze_until <= self.time:
            self.fail(
                "SNOOZE_IN_PAST",
                f"{snooze_until} is not in the future; it is {self.time}.",
                "Choose a later snooze_until.",
            )
        labels = row["labels"] if "inbox" in row["labels"] else [*row["labels"], "inbox"]
        self.db.update(
            "gmail_emails",
            email_id,
            labels=[n for n in labels if n != "spam"],
            snooze_until=snooze_until,
        )
        return {"email_id": email_id, "snooze_until": snooze_until, "status": "snoozed"}

    @writes(example=_MAIL, setup=(Setup("snooze_email", _SNOOZE),))
    def unsnooze_email(self, email_id: EmailId) -> dict[str, Any]:
        """Bring a snoozed message back to the inbox now."""
        if not self.snoozed(self.mine(email_id)):
            self.fail(
                "EMAIL_NOT_SNOOZED",
                "The message is not snoozed.",
                "list_snoozed_emails shows what is.",
                email_id=email_id,
            )
        self.db.update("gmail_emails", email_id, snooze_until=None)
        return {"email_id": email_id, "status": "unsnoozed"}


class Keeping(Sending):
    """Tools for templates, contacts and accounts."""

    @writes(example=_TEMPLATE)
    def create_template(self, name: TemplateName, subject: Subject, body: Body) -> dict[str, Any]:
        """Save a text to send again later; its name must be new."""
        rows = self.db.rows("gmail_templates", "account=?", self.own)
        if any(r["name"].lower() == name.strip().lower() for r in rows):
            self.fail(
                "TEMPLATE_EXISTS",
                f"There is already a template {name!r}.",
                "list_templates shows all; delete_template removes one.",
            )
        rules.drafted(None, None, None, subject, body)
        row = {
            "id": self.new_id("gtp"),
            "account": self.own,
            "name": name.strip(),
            "subject": subject,
            "body": body,
        }
        self.db.insert("gmail_templates", row)
        return {"template_id": row["id"], "name": row["name"], "status": "created"}

    @reads()
    def list_templates(
        self, max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List the templates of the signed-in account by name."""
        rows = self.db.rows("gmail_templates", "account=?", self.own, order="name, id")
        items = [
            {"template_id": r["id"], "name": r["name"], "subject": r["subject"], "body": r["body"]}
            for r in rows
        ]
        return page(items, "templates", max_results, cursor)

    def _template(self, template_id: str) -> dict[str, Any]:
        return self.owned(
            "gmail_templates", template_id, "TEMPLATE_NOT_FOUND", "template", "list_templates"
        )

    @writes(example={"template_id": "${made.template_id}"}, setup=_MADE, destructive=True)
    def delete_template(self, template_id: TemplateId) -> dict[str, Any]:
        """Delete a template for good."""
        self._template(template_id)
        self.db.delete("gmail_templates", template_id)
        return {"template_id": template_id, "status": "deleted"}

    @writes(
        example={"template_id": "${made.template_id}", "to": ["ana.ruiz@brightkiln.com"]},
        setup=_MADE,
        destructive=True,
    )
    def send_from_template(
        self,
        template_id: TemplateId,
        to: Addresses,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
    ) -> dict[str, Any]:
        """Send a template's subject and body to someone, as they are."""
        row = self._template(template_id)
        return rules.post(
            self, rules.complete(rules.drafted(to, cc, bcc, row["subject"], row["body"]))
        )

    @writes(example={"name": "Jo Marsh", "email_address": "jo.marsh@fastmail.com"})
    def add_contact(self, name: PersonName, email_address: rules.Address) -> dict[str, Any]:
        """Add someone to the contacts of the signed-in account; an address stands there once."""
        bare = rules.address(email_address)
        held = self.db.rows("gmail_contacts", "account=? AND email_address=?", self.own, bare)
        if held:
            self.fail(
                "CONTACT_EXISTS",
                f"{bare} is already a contact: {held[0]['name']}.",
                "list_contacts shows all.",
            )
        row = {
            "id": self.new_id("gct"),
            "account": self.own,
            "name": name.strip(),
            "email_address": bare,
        }
        self.db.insert("gmail_contacts", row)
        return {"name": row["name"], "email_address": bare}

    @reads()
    def list_contacts(
        self, max_results: Limit = 50, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List the contacts of the signed-in account by name."""
        rows = self.db.rows("gmail_contacts", "account=?", self.own, order="name, email_address")
        return page(
            [{"name": r["name"], "email_address": r["email_address"]} for r in rows],
            "contacts",
            max_results,
            cursor,
        )

    @writes(example={"username": "studio"}, idempotent=True)
    def switch_user(
        self,
        username: Annotated[
            str,
            Field(
                description="username or email_address of an account, as list_accounts gives it."
            ),
        ],
    ) -> dict[str, Any]:
        """Sign in to another of the person's accounts; from then on every tool sees that account's mail."""
        return rules.sign_in(self, username, "list_accounts")
