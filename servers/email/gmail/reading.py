"""Gmail: listing, opening and searching mail."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _rules as rules
from servers.email import _search as search
from servers.email.gmail._model import SYSTEM, EmailId, LabelName, Mailbox
from servers.kit.control import seeded
from servers.kit.service import reads
from servers.kit.values import Cursor, Limit, page


class Reading(Mailbox):
    """Tools that look at mail."""

    @reads(example={"folder": "inbox", "max_results": 5})
    def list_emails(
        self, folder: LabelName = "inbox", max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List the messages under a label, newest first. Labels serve as folders: inbox, sent, starred, important, unread,
        snoozed, archive, spam, trash, all, and your own (see list_labels).
        """
        label = self.label(folder)
        return page(
            [r for r in rules.arrived(self) if self.holds(label, r)],
            "emails",
            max_results,
            cursor,
            self.view,
        )

    @reads(example={"email_id": seeded("gem", "rent_march_1")})
    def get_email(self, email_id: EmailId) -> dict[str, Any]:
        """Return one message in full. Opening it does not mark it as read."""
        return self.view(self.mine(email_id))

    @reads(example={"thread_id": seeded("gth", "cabin")})
    def get_thread(
        self,
        thread_id: Annotated[
            str, Field(description="thread_id of any message of the conversation.")
        ],
    ) -> dict[str, Any]:
        """Return a conversation with all its messages in this account, oldest first."""
        rows = rules.arrived(self, "thread_id=?", thread_id)[::-1]
        if not rows:
            self.fail(
                "THREAD_NOT_FOUND",
                f"There is no thread {thread_id!r} in {self.own}.",
                "Take thread_id from a message of list_emails or search_emails.",
                thread_id=thread_id,
            )
        return {
            "thread_id": thread_id,
            "subject": rows[0]["subject"],
            "emails": [self.view(r) for r in rows],
        }

    @reads(example={"query": "from:ana.reyes rent", "max_results": 10})
    def search_emails(
        self,
        query: Annotated[
            str,
            Field(
                min_length=1,
                description='Words (all must occur), "quoted phrases", -exclusions, and operators from: to: subject: label: has:attachment '
                "is:unread|read|starred|important|snoozed before:YYYY-MM-DD after:YYYY-MM-DD.",
            ),
        ],
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Search the mail of the signed-in account, best match first, newest first among equals. Spam and trash are searched
        only when label: names them.
        """
        named: list[str] = []

        def label(value: str) -> search.Test:
            found = self.label(value)
            named.append(found)
            return lambda row: self.holds(found, row)

        flags: dict[str, search.Test] = {
            "unread": lambda r: not r["read"],
            "read": lambda r: r["read"],
            "starred": lambda r: r["starred"],
            "important": lambda r: r["important"],
            "snoozed": self.snoozed,
        }
        own = self.own
        known = search.operators(own, flags) | {"label": label, "in": label}
        rows = search.find(
            self,
            "gmail_emails",
            own,
            query,
            known,
            lambda r: self.holds("all", r) or bool({"spam", "trash"} & set(named)),
        )
        return page(rows, "emails", max_results, cursor, self.view)

    @reads()
    def list_snoozed_emails(
        self, max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List snoozed messages with the moment at which each returns to the inbox, the next one first."""
        rows = sorted(
            (
                r
                for r in rules.arrived(self, "snooze_until IS NOT NULL")
                if self.holds("snoozed", r)
            ),
            key=lambda r: r["snooze_until"],
        )
        return page(rows, "emails", max_results, cursor, self.view)

    @reads()
    def list_labels(self, max_results: Limit = 50, cursor: Cursor | None = None) -> dict[str, Any]:
        """List all labels, system and your own, with how many messages each holds and how many of them are unread."""
        rows = rules.arrived(self)
        found = []
        for name in (*SYSTEM, *self.user_labels()):
            held = [r for r in rows if self.holds(name, r)]
            kind = "system" if name in SYSTEM else "user"
            found.append(
                {
                    "name": name,
                    "type": kind,
                    "total": len(held),
                    "unread": sum(not r["read"] for r in held),
                }
            )
        return page(found, "labels", max_results, cursor)

    @reads()
    def list_accounts(self) -> dict[str, Any]:
        """List the accounts that switch_user can sign in to, and which one is active."""
        return {"accounts": rules.accounts(self)}
