"""Gmail: sending, replying, forwarding, drafts and scheduled mail."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _delivery as delivery
from servers.email import _rules as rules
from servers.email._rules import Addresses, Attachments, Body, Note, ReplyAll, ReplyBody, Subject
from servers.email.gmail._model import DraftId, EmailId, find_email, find_owned
from servers.kit.control import seeded
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, Timestamp, page

_MAIL = {
    "to": ["priya.nair@gmail.com"],
    "subject": "Firewood",
    "body": "Shall I bring two boxes of firewood?",
}
_LATER = _MAIL | {"send_at": "2026-06-01T15:00:00Z"}
_DRAFT = (Setup("create_draft", _MAIL, "made"),)
_SCHEDULED = (Setup("schedule_send", _LATER, "made"),)

SendAt = Annotated[
    Timestamp,
    Field(
        description="When to send the message: a future time such as 2026-03-20T08:00:00-07:00; "
        "without an offset, in the account's time zone."
    ),
]
ScheduledId = Annotated[str, Field(description="scheduled_id, from list_scheduled_emails.")]


class Sending(Service):
    """Tools that write mail."""

    @writes(example=_MAIL, destructive=True)
    def send_email(
        self,
        to: Addresses,
        subject: Subject,
        body: Body,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
        attachments: Attachments | None = None,
    ) -> Json:
        """Send a new message from the signed-in account immediately.

        For each address that cannot be reached, a bounce arrives in the inbox about a minute later.
        """
        mail = rules.complete(rules.drafted(to, cc, bcc, subject, body, attachments))
        return delivery.post(self, mail)

    @writes(
        example={"email_id": seeded("gem", "rent_march_1"), "body": "Thanks, sent!"},
        destructive=True,
    )
    def reply_to_email(
        self, email_id: EmailId, body: ReplyBody, reply_all: ReplyAll = False
    ) -> Json:
        """Reply to a message: to its sender, and with reply_all to everyone on To and Cc.

        The reply joins the thread. A reply to your own message goes to its recipients.
        """
        original = find_email(self, email_id)
        reply = rules.reply_to(original, rules.own_address(self), body, reply_all)
        return delivery.post(self, reply, original)

    @writes(
        example={"email_id": seeded("gem", "cabin_address"), "to": ["ana.reyes@gmail.com"]},
        destructive=True,
    )
    def forward_email(
        self, email_id: EmailId, to: Addresses, additional_message: Note | None = None
    ) -> Json:
        """Forward a message with its text quoted and its attachments."""
        original = find_email(self, email_id)
        forward = rules.forward_of(original, to, additional_message)
        return delivery.post(self, forward, original)

    # -- drafts -------------------------------------------------------------------------------
    @writes(example=_MAIL)
    def create_draft(
        self,
        to: Addresses | None = None,
        subject: Subject | None = None,
        body: Body | None = None,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
    ) -> Json:
        """Save a message without sending it. Any part can be left out for now."""
        return delivery.save_draft(self, rules.drafted(to, cc, bcc, subject, body))

    def _find_draft(self, draft_id: str) -> dict[str, Any]:
        return find_owned(self, "gmail_drafts", draft_id, "DRAFT_NOT_FOUND", "draft", "list_drafts")

    @writes(
        example={"draft_id": "${made.draft_id}", "subject": "Firewood for the cabin"},
        setup=_DRAFT,
        idempotent=True,
    )
    def update_draft(
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
    def send_draft(self, draft_id: DraftId) -> Json:
        """Send a draft as it is. It is removed from the drafts."""
        return delivery.send_draft(self, self._find_draft(draft_id))

    @reads()
    def list_drafts(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List drafts, newest first."""
        return page(delivery.drafts(self), "drafts", max_results, cursor, delivery.draft_json)

    # -- scheduled ----------------------------------------------------------------------------
    @writes(example=_LATER)
    def schedule_send(
        self,
        to: Addresses,
        subject: Subject,
        body: Body,
        send_at: SendAt,
        cc: Addresses | None = None,
        bcc: Addresses | None = None,
        attachments: Attachments | None = None,
    ) -> Json:
        """Schedule a new message to be sent at a future time.

        Until then, cancel_scheduled_email can stop it.
        """
        send_at = rules.moment(self, send_at)
        if send_at <= self.time:
            self.fail(
                "SEND_TIME_IN_PAST",
                f"{send_at} is not in the future: the time is now {self.time}.",
                "Choose a later send_at, or use send_email.",
            )
        mail = rules.complete(rules.drafted(to, cc, bcc, subject, body, attachments))
        row = mail.columns() | {
            "id": self.new_id("gsc"),
            "account": rules.own_address(self),
            "created_at": self.time,
            "send_at": send_at,
        }
        self.db.insert("gmail_scheduled", row)
        return {"scheduled_id": row["id"], "send_at": send_at, "status": "scheduled"}

    @reads()
    def list_scheduled_emails(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List scheduled messages that have not been sent yet, soonest first."""
        own = rules.own_address(self)
        rows = self.db.rows("gmail_scheduled", "account=?", own, order="send_at, id")
        items = [
            delivery.draft_json(row, "scheduled_id") | {"send_at": row["send_at"]} for row in rows
        ]
        return page(items, "scheduled_emails", max_results, cursor)

    @writes(example={"scheduled_id": "${made.scheduled_id}"}, setup=_SCHEDULED)
    def cancel_scheduled_email(self, scheduled_id: ScheduledId) -> Json:
        """Cancel a scheduled message before it is sent and keep it as a draft."""
        row = find_owned(
            self,
            "gmail_scheduled",
            scheduled_id,
            "SCHEDULED_EMAIL_NOT_FOUND",
            "pending scheduled message",
            "list_scheduled_emails",
        )
        mail = rules.Outgoing(**rules.written_json(row))
        self.db.delete("gmail_scheduled", scheduled_id)
        draft = delivery.save_draft(self, mail)
        return {"scheduled_id": scheduled_id, "draft_id": draft["draft_id"], "status": "cancelled"}

    @happens("gmail_scheduled.send_at")
    def send_scheduled(self, row: Row) -> None:
        """Send a scheduled message from the account that it was written in."""
        account = self.db.get("email_accounts", row["account"])
        mail = rules.Outgoing(**rules.written_json(row))
        self.db.delete("gmail_scheduled", row["id"])
        if account is not None:
            delivery.send(self, account, mail)
