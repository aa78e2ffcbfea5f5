"""Gmail: listing, opening and searching mail."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.email import _rules as rules
from servers.email import _search as search
from servers.email.gmail._model import (
    SYSTEM,
    EmailId,
    LabelName,
    all_labels,
    email_json,
    find_email,
    find_label,
    has_label,
    is_snoozed,
    label_counts,
    snoozed_emails,
)
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

ThreadId = Annotated[str, Field(description="thread_id of any message of the conversation.")]
Query = Annotated[
    str,
    Field(
        min_length=1,
        description='Words, "quoted phrases", OR, (groups), -exclusions, and the operators '
        "from: to: cc: subject: label: in: has:attachment filename:pdf "
        "is:unread|read|starred|important|snoozed before:YYYY-MM-DD after:YYYY-MM-DD "
        "older_than:1y newer_than:7d.",
    ),
]


class Reading(Service):
    """Tools that read mail."""

    def _email_json(self, row: Row) -> Json:
        return email_json(self, row)

    @reads(example={"folder": "inbox", "max_results": 5})
    def list_emails(
        self,
        folder: LabelName = "inbox",
        since: Since | None = None,
        until: Until | None = None,
        max_results: Limit = 18,
        cursor: Cursor | None = None,
    ) -> Json:
        """List the messages under a label, newest first.

        Labels serve as folders: inbox, sent, starred, important, unread, snoozed, archive, spam,
        trash, all, and your own labels (see list_labels).
        """
        label = find_label(self, folder)
        rows = rules.listed(self, since, until).keep(lambda row: has_label(self, row, label))
        return page(rows, "emails", max_results, cursor, self._email_json)

    @reads(example={"email_id": seeded("gem", "rent_march_1")})
    def get_email(self, email_id: EmailId) -> Json:
        """Get a message in full. This does not mark it as read."""
        return email_json(self, find_email(self, email_id))

    @reads(example={"thread_id": seeded("gth", "cabin")})
    def get_thread(self, thread_id: ThreadId) -> Json:
        """Get a conversation with all its messages in this account, oldest first."""
        rows = rules.arrived(self, "thread_id=?", thread_id)[::-1]
        if not rows:
            self.fail(
                "THREAD_NOT_FOUND",
                f"There is no thread {thread_id!r} in {rules.own_address(self)}.",
                "Use the thread_id of a message from list_emails or search_emails.",
                thread_id=thread_id,
            )
        return {
            "thread_id": thread_id,
            "subject": rows[0]["subject"],
            "emails": [email_json(self, row) for row in rows],
        }

    @reads(example={"query": "from:ana.reyes rent", "max_results": 10})
    def search_emails(
        self, query: Query, max_results: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Search the mail of the signed-in account; what has more of the words comes first.

        Operators and quoted phrases must hold. Equally good matches come newest first. Spam and
        trash are searched only if label: names them.
        """
        named_labels: set[str] = set()

        def label(value: str) -> search.Test:
            name = find_label(self, value)
            named_labels.add(name)
            return lambda row: has_label(self, row, name)

        def in_scope(row: Row) -> bool:
            return has_label(self, row, "all") or not named_labels.isdisjoint({"spam", "trash"})

        flags: dict[str, search.Test] = {
            "unread": lambda row: not row["read"],
            "read": lambda row: row["read"],
            "starred": lambda row: row["starred"],
            "important": lambda row: row["important"],
            "snoozed": lambda row: is_snoozed(self, row),
        }
        own = rules.own_address(self)
        operators = search.operators(own, flags) | search.ages(self.now)
        operators |= {"older": operators["before"], "newer": operators["after"]}
        operators |= {"label": label, "in": label, "filename": search.attached}
        rows = search.find(self, "gmail_emails", own, query, operators, in_scope)
        return page(rows, "emails", max_results, cursor, self._email_json)

    @reads()
    def list_snoozed_emails(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List snoozed messages, each with the time when it returns to the inbox, soonest first."""
        snoozed = [row for row in snoozed_emails(self) if has_label(self, row, "snoozed")]
        return page(snoozed, "emails", max_results, cursor, self._email_json)

    @reads()
    def list_labels(self, max_results: Limit = 50, cursor: Cursor | None = None) -> Json:
        """List all system labels and your own, with their message and unread counts."""
        counted = label_counts(self)

        def shown(name: str) -> Json:
            return {
                "name": name,
                "type": "system" if name in SYSTEM else "user",
                "total": counted[name, False] + counted[name, True],
                "unread": counted[name, False],
            }

        return page([shown(name) for name in all_labels(self)], "labels", max_results, cursor)

    @reads()
    def list_accounts(self) -> Json:
        """List the accounts that switch_user can sign in to and show which one is active."""
        return {"accounts": rules.accounts(self)}
