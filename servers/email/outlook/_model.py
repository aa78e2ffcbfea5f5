"""What Outlook's topics stand on: tables, argument types, folders and categories."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.email import _rules as rules
from servers.kit.errors import did_you_mean
from servers.kit.service import Codes, Service
from servers.kit.store import Table

EmailId = Annotated[
    str,
    Field(description="email_id of a mail item, as list_mail_items and query_mail_items give it."),
]
FolderName = Annotated[
    str,
    Field(min_length=1, max_length=60, description="Name of a folder, as list_folders gives it."),
]
CategoryName = Annotated[
    str,
    Field(
        min_length=1, max_length=60, description="Name of a category, as list_categories gives it."
    ),
]

FOLDERS = ("inbox", "sent", "archive", "junk", "deleted")
"""Folders that every account has. An item is in exactly one folder."""

_ALSO = {
    "sent items": "sent",
    "deleted items": "deleted",
    "trash": "deleted",
    "junk email": "junk",
    "spam": "junk",
}


class Mailbox(Service):
    """The signed-in account's mail: finding rows and showing them."""

    title = "Outlook"
    category = "email"
    domain = "communication"
    tables = {
        "outlook_emails": Table(
            f"{rules.MAIL} folder:str categories:list pinned:bool",
            index=("account", "thread_id", "conversation", "folder"),
            search=rules.SEARCH,
        ),
        "outlook_drafts": Table(rules.DRAFT),
        "outlook_people": Table(
            "id:str account:str name:str email_address:str", index=("account",)
        ),
        "outlook_folders": Table("id:str account:str name:str"),
        "outlook_categories": Table("id:str account:str name:str color:str"),
        "outlook_quick_steps": Table("id:str account:str name:str actions:list created_at:str"),
    }
    shared_tables = rules.SHARED_TABLES
    codes = Codes(
        invalid="INVALID_REQUEST",
        rate_limited="APPLICATION_THROTTLED",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="INVALID_AUTHENTICATION_TOKEN",
        internal="INTERNAL_SERVER_ERROR",
    )

    @property
    def own(self) -> str:
        """Address of the signed-in account."""
        return rules.active(self)["address"]

    def item(self, email_id: str) -> dict[str, Any]:
        """Return a mail item of the signed-in account that has arrived."""
        row = self.db.get("outlook_emails", email_id)
        own = self.own
        if row is None or row["account"] != own or row["created_at"] > self.time:
            self.fail(
                "ITEM_NOT_FOUND",
                f"The mail item {email_id!r} was not found in the mailbox {own}.",
                "Take email_id from list_mail_items or query_mail_items.",
                email_id=email_id,
            )
        return row

    def view(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a mail item as the agent sees it."""
        return rules.shown(row) | {
            "folder": row["folder"],
            "categories": row["categories"],
            "pinned": row["pinned"],
        }

    def own_folders(self) -> list[str]:
        """Return the folders that the account made itself, sorted."""
        return sorted(r["name"] for r in self.db.rows("outlook_folders", "account=?", self.own))

    def folder(self, name: str) -> str:
        """Return the folder that a name means, whatever its case. Raises FOLDER_NOT_FOUND."""
        wanted = name.strip().lower()
        wanted = _ALSO.get(wanted, wanted)
        if wanted == "drafts":
            self.fail(
                "FOLDER_NOT_FOUND",
                "Drafts are kept apart from mail items.",
                "list_composed_drafts shows them.",
            )
        known = {n.lower(): n for n in (*FOLDERS, *self.own_folders())}
        if wanted not in known:
            hint = "list_folders shows all folders; create_folder makes a new one."
            self.fail(
                "FOLDER_NOT_FOUND",
                f"There is no folder {name!r}{did_you_mean(wanted, known)}",
                hint,
                folder=name,
            )
        return known[wanted]

    def categories(self) -> list[dict[str, Any]]:
        """Return the account's categories by name."""
        return self.db.rows("outlook_categories", "account=?", self.own, order="name")

    def category_name(self, name: str) -> str:
        """Return the category that a name means, whatever its case. Raises CATEGORY_NOT_FOUND."""
        known = {c["name"].lower(): c["name"] for c in self.categories()}
        if name.strip().lower() not in known:
            hint = "list_categories shows all categories; create_category makes a new one."
            self.fail(
                "CATEGORY_NOT_FOUND",
                f"There is no category {name!r}{did_you_mean(name.lower(), known)}",
                hint,
                category_name=name,
            )
        return known[name.strip().lower()]
