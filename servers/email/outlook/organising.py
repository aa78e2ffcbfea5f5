"""Outlook: flags, folders, two-stage delete, pins, categories and people."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.email import _rules as rules
from servers.email._rules import Address
from servers.email.outlook._model import (
    CategoryName,
    EmailId,
    FolderName,
    categories,
    categorise,
    find_category,
    find_item,
    item_json,
    move,
    set_flag,
)
from servers.kit.control import seeded
from servers.kit.fields import PersonName
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page

_MAIL = {"email_id": seeded("oem", "chicago_agenda_1")}
_CATEGORISED = _MAIL | {"category_name": "Admin"}

Color = Annotated[
    Literal["red", "orange", "yellow", "green", "blue", "purple"],
    Field(description="Color of the category."),
]
Username = Annotated[
    str,
    Field(description="username or email_address of an account, from list_profiles."),
]


class Organising(Service):
    """Tools that organise mail items."""

    # -- flags --------------------------------------------------------------------------------
    @writes(example={"email_id": seeded("oem", "expenses_4")}, idempotent=True)
    def set_as_read(self, email_id: EmailId) -> Json:
        """Mark a mail item as read."""
        return set_flag(self, email_id, "read", True)

    @writes(example=_MAIL, idempotent=True)
    def set_as_unread(self, email_id: EmailId) -> Json:
        """Mark a mail item as unread."""
        return set_flag(self, email_id, "read", False)

    @writes(example={"email_id": seeded("oem", "award_1")}, idempotent=True)
    def flag_email(self, email_id: EmailId) -> Json:
        """Flag a mail item for follow-up. It then appears as starred."""
        return set_flag(self, email_id, "starred", True)

    @writes(example=_MAIL, idempotent=True)
    def unflag_email(self, email_id: EmailId) -> Json:
        """Remove the follow-up flag from a mail item."""
        return set_flag(self, email_id, "starred", False)

    @writes(example=_MAIL, idempotent=True)
    def mark_as_important(self, email_id: EmailId) -> Json:
        """Mark a mail item as important."""
        return set_flag(self, email_id, "important", True)

    @writes(example={"email_id": seeded("oem", "chicago_agenda_4")}, idempotent=True)
    def mark_as_not_important(self, email_id: EmailId) -> Json:
        """Mark a mail item as not important."""
        return set_flag(self, email_id, "important", False)

    @writes(example=_MAIL, idempotent=True)
    def pin_email(self, email_id: EmailId) -> Json:
        """Pin a mail item, so that list_pinned_emails lists it."""
        return set_flag(self, email_id, "pinned", True) | {"status": "pinned"}

    @writes(example=_MAIL, setup=(Setup("pin_email", _MAIL),), idempotent=True)
    def unpin_email(self, email_id: EmailId) -> Json:
        """Unpin a mail item."""
        return set_flag(self, email_id, "pinned", False) | {"status": "unpinned"}

    # -- folders ------------------------------------------------------------------------------
    @writes(example=_MAIL | {"folder": "archive"})
    def move_to_folder(self, email_id: EmailId, folder: FolderName) -> Json:
        """Move a mail item to another folder. This also restores items from 'deleted' or 'junk'."""
        return move(self, email_id, folder)

    @writes(example=_MAIL, destructive=True)
    def delete_email(self, email_id: EmailId) -> Json:
        """Delete a mail item in two stages.

        The first call moves it to the folder 'deleted'; deleting it again there removes it
        permanently.
        """
        if find_item(self, email_id)["folder"] == "deleted":
            self.db.delete("outlook_emails", email_id)
            return {"email_id": email_id, "status": "permanently_deleted"}
        self.db.update("outlook_emails", email_id, folder="deleted")
        return {"email_id": email_id, "status": "moved_to_deleted"}

    # -- categories ---------------------------------------------------------------------------
    @writes(example={"name": "Research", "color": "purple"})
    def create_category(self, name: CategoryName, color: Color) -> Json:
        """Create a color category."""
        taken = {c["name"].lower() for c in categories(self)}
        if name.strip().lower() in taken:
            self.fail(
                "CATEGORY_EXISTS",
                f"There is already a category called {name!r}.",
                "Call list_categories to see all categories.",
            )
        row = {
            "id": self.new_id("oca"),
            "account": rules.own_address(self),
            "name": name.strip(),
            "color": color,
        }
        self.db.insert("outlook_categories", row)
        return {"name": name.strip(), "color": color, "status": "created"}

    @reads()
    def list_categories(self, max_results: Limit = 50, cursor: Cursor | None = None) -> Json:
        """List all color categories, by name."""
        items = [{"name": c["name"], "color": c["color"]} for c in categories(self)]
        return page(items, "categories", max_results, cursor)

    @writes(example=_CATEGORISED, idempotent=True)
    def assign_category(self, email_id: EmailId, category_name: CategoryName) -> Json:
        """Assign a category to a mail item. An item can have several."""
        names = categorise(self, email_id, category_name)
        return {"email_id": email_id, "categories": names, "status": "assigned"}

    @writes(example=_CATEGORISED, setup=(Setup("assign_category", _CATEGORISED),), idempotent=True)
    def remove_category(self, email_id: EmailId, category_name: CategoryName) -> Json:
        """Remove a category from a mail item. If the item does not have it, nothing changes."""
        row = find_item(self, email_id)
        name = find_category(self, category_name)
        names = [n for n in row["categories"] if n != name]
        self.db.update("outlook_emails", email_id, categories=names)
        return {"email_id": email_id, "categories": names, "status": "removed"}

    @reads(example={"category_name": "Acme"})
    def get_emails_by_category(
        self,
        category_name: CategoryName,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 12,
        cursor: Cursor | None = None,
    ) -> Json:
        """List the mail items of a category in all folders, newest first."""
        name = find_category(self, category_name)
        rows = rules.listed(self, since, until).keep(lambda row: name in row["categories"])
        return page(rows, "emails", limit, cursor, item_json)

    # -- people -------------------------------------------------------------------------------
    @writes(example={"name": "Jo Marsh", "email_address": "jo.marsh@fastmail.com"})
    def add_person(self, name: PersonName, email_address: Address) -> Json:
        """Add someone to the account's people. Each address can be added only once."""
        bare = rules.address(email_address)
        own = rules.own_address(self)
        same = self.db.rows("outlook_people", "account=? AND email_address=?", own, bare)
        if same:
            self.fail(
                "PERSON_EXISTS",
                f"{bare} is already saved under the name {same[0]['name']}.",
                "Call list_people to see everyone.",
            )
        row = {
            "id": self.new_id("ope"),
            "account": own,
            "name": name.strip(),
            "email_address": bare,
        }
        self.db.insert("outlook_people", row)
        return {"name": name.strip(), "email_address": bare}

    @reads()
    def list_people(self, max_results: Limit = 50, cursor: Cursor | None = None) -> Json:
        """List the account's people, by name."""
        own = rules.own_address(self)
        rows = self.db.rows("outlook_people", "account=?", own, order="name, email_address")
        items = [{"name": r["name"], "email_address": r["email_address"]} for r in rows]
        return page(items, "people", max_results, cursor)

    # -- accounts -----------------------------------------------------------------------------
    @writes(example={"username": "hello"}, idempotent=True)
    def set_active_user(self, username: Username) -> Json:
        """Sign in to one of the user's accounts. All tools then work on that mailbox."""
        return rules.sign_in(self, username, "list_profiles")
