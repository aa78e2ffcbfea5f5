"""Outlook: listing, opening and querying mail items."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _rules as rules
from servers.email import _search as search
from servers.email.outlook._model import FOLDERS, EmailId, FolderName, Mailbox
from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.values import Cursor, Limit, page


class Reading(Mailbox):
    """Tools that look at mail items."""

    @reads(example={"folder": "inbox", "max_results": 5})
    def list_mail_items(
        self, folder: FolderName = "inbox", max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List the mail items of a folder, newest first: inbox, sent, archive, junk, deleted, or a folder
        of your own (see list_folders).
        """
        return page(
            rules.arrived(self, "folder=?", self.folder(folder)),
            "emails",
            max_results,
            cursor,
            self.view,
        )

    @reads(example={"email_id": seeded("oem", "chicago_agenda_1")})
    def get_mail_item(self, email_id: EmailId) -> dict[str, Any]:
        """Return one mail item in full. Opening it does not set it as read."""
        return self.view(self.item(email_id))

    @reads(example={"thread_id": seeded("oth", "chicago_agenda")})
    def get_conversation(
        self,
        thread_id: Annotated[str, Field(description="thread_id of any item of the conversation.")],
    ) -> dict[str, Any]:
        """Return a conversation with all its mail items whatever their folder, oldest first."""
        rows = rules.arrived(self, "thread_id=?", thread_id)[::-1]
        if not rows:
            self.fail(
                "CONVERSATION_NOT_FOUND",
                f"The conversation {thread_id!r} was not found in the mailbox {self.own}.",
                "Take thread_id from an item of list_mail_items or query_mail_items.",
                thread_id=thread_id,
            )
        return {
            "thread_id": thread_id,
            "subject": rows[0]["subject"],
            "emails": [self.view(r) for r in rows],
        }

    @reads(example={"query": "workshop agenda", "max_results": 10})
    def query_mail_items(
        self,
        query: Annotated[
            str,
            Field(
                min_length=1,
                description='Words (all must occur), "quoted phrases", -exclusions, and operators from: to: subject: folder: category: '
                "has:attachment is:unread|read|starred|flagged|important|pinned before:YYYY-MM-DD after:YYYY-MM-DD.",
            ),
        ],
        folder: FolderName | None = None,
        max_results: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Search all folders, also junk and deleted, or only the one given; best match first, newest first among equals."""

        def in_folder(value: str) -> search.Test:
            found = self.folder(value)
            return lambda row: row["folder"] == found

        def in_category(value: str) -> search.Test:
            found = self.category_name(value)
            return lambda row: found in row["categories"]

        flags: dict[str, search.Test] = {
            "unread": lambda r: not r["read"],
            "read": lambda r: r["read"],
            "starred": lambda r: r["starred"],
            "flagged": lambda r: r["starred"],
            "important": lambda r: r["important"],
            "pinned": lambda r: r["pinned"],
        }
        own = self.own
        known = search.operators(own, flags) | {"folder": in_folder, "category": in_category}
        scope: search.Test = in_folder(folder) if folder is not None else (lambda row: True)
        rows = search.find(self, "outlook_emails", own, query, known, scope)
        return page(rows, "emails", max_results, cursor, self.view)

    @reads()
    def list_folders(self, max_results: Limit = 50, cursor: Cursor | None = None) -> dict[str, Any]:
        """List all folders with how many mail items each holds and how many of them are unread."""
        rows = rules.arrived(self)
        found = []
        for name in (*FOLDERS, *self.own_folders()):
            held = [r for r in rows if r["folder"] == name]
            kind = "system" if name in FOLDERS else "user"
            found.append(
                {
                    "name": name,
                    "type": kind,
                    "total": len(held),
                    "unread": sum(not r["read"] for r in held),
                }
            )
        return page(found, "folders", max_results, cursor)

    @writes(example={"folder": "Reading"})
    def create_folder(self, folder: FolderName) -> dict[str, Any]:
        """Make a new folder of your own."""
        name = folder.strip()
        if not name or name.lower() in {
            n.lower() for n in (*FOLDERS, "drafts", *self.own_folders())
        }:
            self.fail(
                "FOLDER_EXISTS",
                f"There is already a folder {name!r}.",
                "list_folders shows all folders.",
            )
        self.db.insert(
            "outlook_folders", {"id": self.new_id("ofl"), "account": self.own, "name": name}
        )
        return {"folder": name, "status": "created"}

    @reads(setup=(Setup("pin_email", {"email_id": seeded("oem", "chicago_agenda_1")}),))
    def list_pinned_emails(
        self, max_results: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """List pinned mail items, newest first; deleted ones are not among them."""
        rows = [r for r in rules.arrived(self, "pinned=1") if r["folder"] != "deleted"]
        return page(rows, "emails", max_results, cursor, self.view)

    @reads()
    def list_profiles(self) -> dict[str, Any]:
        """List the accounts that set_active_user can sign in to, and which one is active."""
        return {"accounts": rules.accounts(self)}
