"""What Outlook's topics share: tables, argument types, and how items are found and changed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.email import _rules as rules
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

TABLES = {
    "outlook_emails": Table(
        f"{rules.MAIL} folder:str/matter categories:list/matter pinned:bool/matter",
        index=(
            "account, created_at",
            "thread_id",
            "conversation",
            "account, folder, created_at",
            "account, pinned, created_at",
        ),
        search=rules.SEARCH,
        weights=rules.WEIGHTS,
        outward={"folder": "sent"},
        noun="a mail from {sender_name} to {recipients} ({subject})",
    ),
    "outlook_drafts": Table(
        rules.DRAFT, tentative={}, noun="a draft of a mail to {recipients} ({subject})"
    ),
    "outlook_people": Table(
        "id:str account:str/ref name:str/matter email_address:str/matter",
        index=("account",),
        noun="the contact {name}, {email_address}",
    ),
    "outlook_folders": Table("id:str account:str/ref name:str/matter", noun="the folder {name}"),
    "outlook_categories": Table(
        "id:str account:str/ref name:str/matter color:str/matter", noun="the category {name}"
    ),
    "outlook_quick_steps": Table(
        "id:str account:str/ref name:str/matter actions:list/matter created_at:str/stamp",
        noun="the quick step {name}",
    ),
}

# -- arguments --------------------------------------------------------------------------------
EmailId = Annotated[
    str,
    Field(description="email_id of a mail item, from list_mail_items or query_mail_items."),
]
FolderName = Annotated[
    str,
    Field(min_length=1, max_length=60, description="Name of a folder (see list_folders)."),
]
CategoryName = Annotated[
    str,
    Field(min_length=1, max_length=60, description="Name of a category (see list_categories)."),
]


# -- mail items -------------------------------------------------------------------------------
def find_item(service: Service, email_id: str) -> Row:
    """Return a mail item of the signed-in account that has arrived. Raises ITEM_NOT_FOUND."""
    row = service.db.get("outlook_emails", email_id)
    own = rules.own_address(service)
    if row is None or row["account"] != own or row["created_at"] > service.time:
        service.fail(
            "ITEM_NOT_FOUND",
            f"The mail item {email_id!r} was not found in the mailbox {own}.",
            "Use an email_id from list_mail_items or query_mail_items.",
            email_id=email_id,
        )
    return row


def item_json(row: Row) -> Json:
    """Return a mail item for the agent."""
    return rules.message_json(row) | {
        "folder": row["folder"],
        "categories": row["categories"],
        "pinned": row["pinned"],
    }


def set_flag(service: Service, email_id: str, column: str, value: bool) -> Json:
    """Set a flag of a mail item and return the tools' reply."""
    find_item(service, email_id)
    service.db.update("outlook_emails", email_id, **{column: value})
    return {"email_id": email_id, column: value}


# -- folders ----------------------------------------------------------------------------------
FOLDERS = ("inbox", "sent", "archive", "junk", "deleted")
"""The folders that every account has. An item is in exactly one folder."""

_ALSO_CALLED = {
    "sent items": "sent",
    "deleted items": "deleted",
    "trash": "deleted",
    "junk email": "junk",
    "spam": "junk",
}


def user_folders(service: Service) -> list[str]:
    """Return the folders that the user created in this account, sorted."""
    rows = service.db.rows("outlook_folders", "account=?", rules.own_address(service))
    return sorted(row["name"] for row in rows)


def find_folder(service: Service, name: str) -> str:
    """Return the folder with a name, ignoring case. Raises FOLDER_NOT_FOUND."""
    wanted = name.strip().lower()
    wanted = _ALSO_CALLED.get(wanted, wanted)
    if wanted == "drafts":
        service.fail(
            "FOLDER_NOT_FOUND",
            "Drafts are not in a mail folder.",
            "Call list_composed_drafts to see them.",
        )
    known = {n.lower(): n for n in (*FOLDERS, *user_folders(service))}
    if wanted not in known:
        service.fail(
            "FOLDER_NOT_FOUND",
            f"There is no folder called {name!r}{did_you_mean(wanted, known)}",
            "Call list_folders to see all folders, or create_folder to add one.",
            folder=name,
        )
    return known[wanted]


def move(service: Service, email_id: str, folder: str) -> Json:
    """Put a mail item into a folder and return the tools' reply."""
    row = find_item(service, email_id)
    name = find_folder(service, folder)
    if name == "sent" and row["sender"] != rules.own_address(service):
        service.fail(
            "INVALID_MOVE",
            "Only messages that you sent can be moved to 'sent'.",
            "Choose another folder; call list_folders to see them all.",
        )
    service.db.update("outlook_emails", email_id, folder=name)
    return {
        "email_id": email_id,
        "folder": name,
        "previous_folder": row["folder"],
        "status": "moved",
    }


# -- categories -------------------------------------------------------------------------------
def categories(service: Service) -> list[Row]:
    """Return the account's categories, by name."""
    own = rules.own_address(service)
    return service.db.rows("outlook_categories", "account=?", own, order="name")


def find_category(service: Service, name: str) -> str:
    """Return the category with a name, ignoring case. Raises CATEGORY_NOT_FOUND."""
    known = {c["name"].lower(): c["name"] for c in categories(service)}
    if name.strip().lower() not in known:
        service.fail(
            "CATEGORY_NOT_FOUND",
            f"There is no category called {name!r}{did_you_mean(name.lower(), known)}",
            "Call list_categories to see all categories, or create_category to add one.",
            category_name=name,
        )
    return known[name.strip().lower()]


def categorise(service: Service, email_id: str, category: str) -> list[str]:
    """Put a category on a mail item and return all of the item's categories."""
    row = find_item(service, email_id)
    name = find_category(service, category)
    names = row["categories"] if name in row["categories"] else [*row["categories"], name]
    service.db.update("outlook_emails", email_id, categories=names)
    return names
