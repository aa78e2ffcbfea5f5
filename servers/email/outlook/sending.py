"""Outlook: sending, replying, forwarding and drafts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.email import _delivery as delivery
from servers.email import _rules as rules
from servers.email._rules import Addresses, Attachments, Body, Note, ReplyAll, ReplyBody, Subject
from servers.email.outlook._model import EmailId, find_item
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

_MAIL = {
    "to": ["lucas.weber@fernhill.design"],
    "subject": "Workshop slides",
    "body": "The deck is ready for your eyes.",
}
_DRAFT = (Setup("compose_draft", _MAIL, "made"),)

DraftId = Annotated[str, Field(description="draft_id, from list_composed_drafts.")]


class Sending(Service):
    """Tools that write mail."""

    @writes(example=_MAIL, destructive=True)
    def send_mail_item(
        self,
        to: Addresses,
        subject: Subject,
        body: Body,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
        attachments: Attachments | None = None,
    ) -> Json:
        """Send a new message immediately.

        For each address that cannot be reached, an 'Undeliverable' message arrives in the inbox
        about a minute later.
        """
        mail = rules.complete(rules.drafted(to, cc, bcc, subject, body, attachments))
        return delivery.post(self, mail)

    @writes(
        example={"email_id": seeded("oem", "chicago_agenda_1"), "body": "Noted, thank you."},
        destructive=True,
    )
    def reply_to_conversation(
        self, email_id: EmailId, body: ReplyBody, reply_all: ReplyAll = False
    ) -> Json:
        """Reply to a mail item: to its sender, and with reply_all to everyone on To and Cc.

        The reply joins the conversation. A reply to your own message goes to its recipients.
        """
        original = find_item(self, email_id)
        reply = rules.reply_to(original, rules.own_address(self), body, reply_all)
        return delivery.post(self, reply, original)

    @writes(
        example={"email_id": seeded("oem", "chicago_agenda_1"), "to": ["mei.chen@fernhill.design"]},
        destructive=True,
    )
    def forward_mail_item(
        self, email_id: EmailId, to: Addresses, additional_message: Note | None = None
    ) -> Json:
        """Forward a mail item with its text quoted and its attachments."""
        original = find_item(self, email_id)
        forward = rules.forward_of(original, to, additional_message)
        return delivery.post(self, forward, original)

    # -- drafts -------------------------------------------------------------------------------
    @writes(example=_MAIL)
    def compose_draft(
        self,
        to: Addresses | None = None,
        subject: Subject | None = None,
        body: Body | None = None,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
    ) -> Json:
        """Save a message without sending it. Any part can be left out for now."""
        return delivery.save_draft(self, rules.drafted(to, cc, bcc, subject, body))

    def _find_draft(self, draft_id: str) -> Row:
        row = self.db.get("outlook_drafts", draft_id)
        if row is None or row["account"] != rules.own_address(self):
            self.fail(
                "DRAFT_NOT_FOUND",
                f"The draft {draft_id!r} was not found.",
                "Call list_composed_drafts to see all drafts.",
                draft_id=draft_id,
            )
        return row

    @writes(
        example={"draft_id": "${made.draft_id}", "subject": "Workshop slides, v2"},
        setup=_DRAFT,
        idempotent=True,
    )
    def update_composed_draft(
        self,
        draft_id: DraftId,
        to: Addresses | None = None,
        subject: Subject | None = None,
        body: Body | None = None,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
        attachments: Attachments | None = None,
    ) -> Json:
        """Change parts of a draft and return it.

        Parts that are left out stay as they are; an empty list or text clears a part.
        """
        given = {
            "to": to,
            "cc": cc,
            "bcc": bcc,
            "subject": subject,
            "body": body,
            "attachments": attachments,
        }
        return delivery.change_draft(self, self._find_draft(draft_id), given)

    @writes(example={"draft_id": "${made.draft_id}"}, setup=_DRAFT, destructive=True)
    def send_composed_draft(self, draft_id: DraftId) -> Json:
        """Send a draft as it is. It is removed from the drafts."""
        return delivery.send_draft(self, self._find_draft(draft_id))

    @reads()
    def list_composed_drafts(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List drafts, newest first."""
        return page(delivery.drafts(self), "drafts", max_results, cursor, delivery.draft_json)
