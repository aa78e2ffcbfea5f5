"""Outlook: listing, opening and querying mail items, and folders."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.email import _rules as rules
from servers.email import _search as search
from servers.email.outlook._model import (
    FOLDERS,
    EmailId,
    FolderName,
    find_category,
    find_folder,
    find_item,
    item_json,
    user_folders,
)
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

_PINNED = (Setup("pin_email", {"email_id": seeded("oem", "chicago_agenda_1")}),)

ThreadId = Annotated[str, Field(description="thread_id of any item in the conversation.")]
Query = Annotated[
    str,
    Field(
        min_length=1,
        description='Words, "quoted phrases", OR, NOT, (groups), and the operators '
        "from: to: cc: subject: folder: category: hasattachments:yes attachment:name "
        "is:unread|read|starred|flagged|important|pinned received:>=YYYY-MM-DD "
        "before:YYYY-MM-DD after:YYYY-MM-DD.",
    ),
]


class Reading(Service):
    """Tools that read mail items."""

    @reads(example={"folder": "inbox", "max_results": 5})
    def list_mail_items(
        self,
        folder: FolderName = "inbox",
        since: Since | None = None,
        until: Until | None = None,
        max_results: Limit = 15,
        cursor: Cursor | None = None,
    ) -> Json:
        """List the mail items in a folder, newest first.

        The folders are inbox, sent, archive, junk, deleted, and your own (see list_folders).
        """
        rows = rules.listed(self, since, until).only("folder=?", find_folder(self, folder))
        return page(rows, "emails", max_results, cursor, item_json)

    @reads(example={"email_id": seeded("oem", "chicago_agenda_1")})
    def get_mail_item(self, email_id: EmailId) -> Json:
        """Get a mail item in full. This does not mark it as read."""
        return item_json(find_item(self, email_id))

    @reads(example={"thread_id": seeded("oth", "chicago_agenda")})
    def get_conversation(self, thread_id: ThreadId) -> Json:
        """Get a conversation with all its mail items in any folder, oldest first."""
        rows = rules.arrived(self, "thread_id=?", thread_id)[::-1]
        if not rows:
            own = rules.own_address(self)
            self.fail(
                "CONVERSATION_NOT_FOUND",
                f"The conversation {thread_id!r} was not found in the mailbox {own}.",
                "Use the thread_id of an item from list_mail_items or query_mail_items.",
                thread_id=thread_id,
            )
        return {
            "thread_id": thread_id,
            "subject": rows[0]["subject"],
            "emails": [item_json(row) for row in rows],
        }

    @reads(example={"query": "workshop agenda", "max_results": 10})
    def query_mail_items(
        self,
        query: Query,
        folder: FolderName | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search one folder, or all folders including junk and deleted.

        What has more of the words comes first; operators and quoted phrases must hold. Equally good
        matches come newest first.
        """

        def in_folder(value: str) -> search.Test:
            name = find_folder(self, value)
            return lambda row: row["folder"] == name

        def in_category(value: str) -> search.Test:
            name = find_category(self, value)
            return lambda row: name in row["categories"]

        def anywhere(row: Row) -> bool:
            return True

        flags: dict[str, search.Test] = {
            "unread": lambda row: not row["read"],
            "read": lambda row: row["read"],
            "starred": lambda row: row["starred"],
            "flagged": lambda row: row["starred"],
            "important": lambda row: row["important"],
            "pinned": lambda row: row["pinned"],
        }
        own = rules.own_address(self)
        operators = search.operators(own, flags) | {"folder": in_folder, "category": in_category}
        operators |= {"attachment": search.attached, "received": search.spans(self.now)}
        for name in ("hasattachment", "hasattachments"):
            operators[name] = search.yes_or_no(name, lambda row: bool(row["attachments"]))
        scope = anywhere if folder is None else in_folder(folder)
        rows = search.find(self, "outlook_emails", own, query, operators, scope)
        return page(rows, "emails", max_results, cursor, item_json)

    @reads()
    def list_folders(self, max_results: Limit = 50, cursor: Cursor | None = None) -> Json:
        """List all folders, with their item and unread counts."""
        counted = rules.tally(self, "folder", "read")

        def shown(name: str) -> Json:
            unread = counted[name, False]
            return {
                "name": name,
                "type": "system" if name in FOLDERS else "user",
                "total": unread + counted[name, True],
                "unread": unread,
            }

        folders = [shown(name) for name in (*FOLDERS, *user_folders(self))]
        return page(folders, "folders", max_results, cursor)

    @writes(example={"folder": "Reading"})
    def create_folder(self, folder: FolderName) -> Json:
        """Create a folder."""
        name = folder.strip()
        taken = {n.lower() for n in (*FOLDERS, "drafts", *user_folders(self))}
        if not name or name.lower() in taken:
            self.fail(
                "FOLDER_EXISTS",
                f"There is already a folder called {name!r}.",
                "Call list_folders to see all folders.",
            )
        row = {"id": self.new_id("ofl"), "account": rules.own_address(self), "name": name}
        self.db.insert("outlook_folders", row)
        return {"folder": name, "status": "created"}

    @reads(setup=_PINNED)
    def list_pinned_emails(self, max_results: Limit = 20, cursor: Cursor | None = None) -> Json:
        """List pinned mail items that are not deleted, newest first."""
        rows = rules.listed(self).only("pinned=1 AND folder<>'deleted'")
        return page(rows, "emails", max_results, cursor, item_json)

    @reads()
    def list_profiles(self) -> Json:
        """List the accounts that set_active_user can sign in to and show which one is active."""
        return {"accounts": rules.accounts(self)}
