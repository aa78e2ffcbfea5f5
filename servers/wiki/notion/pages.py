"""Workspaces, pages, search and the trash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import search
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.wiki import _rules as rules
from servers.wiki._rules import PageTitle, Query
from servers.wiki.notion import _fields as typed
from servers.wiki.notion._model import (
    HOME,
    KEPT,
    Markdown,
    PageId,
    WorkspaceId,
    above,
    find_page,
    level,
    me,
    page_id,
    page_json,
    parent_of,
    summary,
    trashed_at,
    url,
    visible,
    workspace,
)

Parent = Annotated[
    str,
    Field(description=("page_id of the parent page; defaults to the top of the workspace.")),
]
Kind = Annotated[
    Literal["page", "database", "entry"],
    Field(description="Only pages, databases or entries of databases."),
]
PLANTS = Setup(
    "create_page",
    {"workspace_id": HOME, "title": "Plants to water", "content": "- fern: twice a week"},
    "made",
)
MADE = {"page_id": "${made.page_id}"}


class Pages(Service):
    """Pages in all workspaces."""

    @reads()
    def get_user_profile(self) -> Json:
        """Return the signed-in person, and the workspaces with your role in each.

        Fields: user_id, name, email, avatar_url, plan, workspaces.
        """
        row = me(self)
        workspaces = [
            {"workspace_id": w["id"], "name": w["name"], "role": w["role"]}
            for w in self.db.rows("notion_workspaces", order="rowid")
        ]
        return {
            "user_id": row["id"],
            "name": row["name"],
            "email": row["email"],
            "plan": row["plan"],
            "avatar_url": f"https://www.notion.so/avatars/{row['id']}.png",
            "workspaces": workspaces,
        }

    @reads()
    def list_workspaces(self) -> Json:
        """Return the workspaces you belong to.

        Fields: workspace_id, name, icon, member_count, plan, and your_role (owner, member or
        guest).
        """
        rows = self.db.rows("notion_workspaces", order="rowid")
        return {"workspaces": [self._workspace_json(row) for row in rows]}

    def _workspace_json(self, row: Row) -> Json:
        counted = self.db.sql(
            "SELECT count(*) FROM notion_members WHERE workspace_id=? AND role<>'guest'", row["id"]
        )
        return {
            "workspace_id": row["id"],
            "name": row["name"],
            "icon": row["icon"],
            "member_count": counted[0][0],
            "plan": row["plan"],
            "your_role": row["role"],
        }

    @reads(example={"workspace_id": HOME})
    def list_workspace_members(
        self, workspace_id: WorkspaceId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return who belongs to a workspace: email, name, role.

        Guests see only the pages that are shared with them.
        """
        home = workspace(self, workspace_id)
        rows = self.db.rows("notion_members", "workspace_id=?", home["id"], order="name, id")
        return page(rows, "members", limit, cursor, _member_json)

    @writes(example=PLANTS.args)
    def create_page(
        self,
        workspace_id: WorkspaceId,
        title: PageTitle,
        content: Markdown = "",
        parent_page_id: Parent | None = None,
    ) -> Json:
        """Create a page and return it in full.

        It goes to the top of a workspace or under a page that you can edit.
        """
        home = workspace(self, workspace_id)
        if parent_page_id is not None:
            parent = find_page(self, parent_page_id, "edit")
            if parent["workspace_id"] != home["id"]:
                self.fail(
                    "PARENT_IN_OTHER_WORKSPACE",
                    "The parent page is in another workspace.",
                    f"Use workspace_id {parent['workspace_id']}, or choose another parent page.",
                    parent_page_id=parent_page_id,
                )
        elif home["role"] == "guest":
            self.fail(
                "RESTRICTED_RESOURCE",
                f"You are a guest of '{home['name']}'.",
                "Give the parent_page_id of a page that is shared with you for editing.",
                workspace_id=workspace_id,
            )
        author = me(self)["name"]
        row = {
            "id": self.new_id("npg"),
            "workspace_id": home["id"],
            "parent_id": parent_page_id,
            "title": title,
            "content": content,
            "created_at": self.time,
            "created_by": author,
            "updated_at": self.time,
            "edited_by": author,
        }
        return page_json(self, self.db.insert("notion_pages", row))

    @reads(example={"page_id": page_id("cabin_packing")})
    def get_page(self, page_id: PageId) -> Json:
        """Return a page with its Markdown, shares, and child pages and databases.

        It includes shared_with, your_permission and in_trash; a page in the trash is returned too.
        """
        return page_json(self, find_page(self, page_id, trash=True))

    @reads(example={"workspace_id": HOME})
    def list_pages(
        self,
        workspace_id: WorkspaceId,
        parent_page_id: Parent | None = None,
        edited_since: Since | None = None,
        edited_until: Until | None = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the pages that you can see in a workspace, without their text.

        The last edited come first. With parent_page_id, only pages directly under that page are
        returned.
        """
        home = workspace(self, workspace_id)
        rows = Listing(self.db, "notion_pages", "updated_at", tied="id")
        if parent_page_id is None:
            rows = rows.only("workspace_id=?", home["id"])
        else:
            # The plus leaves the index on the parent, which has the fewer pages.
            parent_id = find_page(self, parent_page_id)["id"]
            rows = rows.only("+workspace_id=? AND parent_id=?", home["id"], parent_id)
        rows = rows.days(edited_since, edited_until, self.person["timezone"])
        rows = rows.only("trashed_at IS NULL").keep(lambda row: visible(self, row))
        return page(rows, "pages", limit, cursor, lambda r: summary(self, r))

    @writes(
        example=MADE | {"content": "- monstera: Sunday\n- fern: every second day"},
        setup=(PLANTS,),
        idempotent=True,
    )
    def update_page(
        self, page_id: PageId, title: PageTitle | None = None, content: Markdown | None = None
    ) -> Json:
        """Replace a page's title, its whole text, or both.

        Returns page_id, title, content, updated_at, last_edited_by.
        """
        if title is None and content is None:
            self.fail(
                "NOTHING_TO_UPDATE",
                "Neither title nor content was given.",
                "Give at least one of them; append_to_page adds text.",
            )
        row = find_page(self, page_id, "edit")
        return self._edit(row, {"title": title, "content": content})

    @writes(example=MADE | {"content": "- basil: daily"}, setup=(PLANTS,))
    def append_to_page(
        self, page_id: PageId, content: Annotated[Markdown, Field(min_length=1)]
    ) -> Json:
        """Append Markdown to a page, on a new line, and return the page's new text."""
        row = find_page(self, page_id, "edit")
        longer = f"{row['content']}\n{content}" if row["content"] else content
        if len(longer) > 100_000:
            self.fail(
                "PAGE_TOO_LONG",
                "The page would exceed 100,000 characters.",
                "Put the text on a new page.",
                page_id=page_id,
            )
        return self._edit(row, {"content": longer})

    def _edit(self, row: Row, given: dict[str, str | None]) -> Json:
        changes = {}
        for column, value in given.items():
            if value is not None and value != row[column]:
                changes[column] = value
        if changes:
            changes |= {"updated_at": self.time, "edited_by": me(self)["name"]}
            self.db.update("notion_pages", row["id"], **changes)
        row = row | changes
        return {
            "page_id": row["id"],
            "title": row["title"],
            "content": row["content"],
            "updated_at": row["updated_at"],
            "last_edited_by": row["edited_by"],
        }

    @writes(example=MADE, setup=(PLANTS,))
    def delete_page(self, page_id: PageId) -> Json:
        """Move a page to the trash with everything under it.

        It can be restored for 30 days.
        """
        row = find_page(self, page_id, "edit")
        self.db.update("notion_pages", row["id"], trashed_at=self.time)
        return {"page_id": page_id, "status": "deleted", "deleted_at": self.time}

    @writes(example=MADE, setup=(PLANTS, Setup("delete_page", MADE)))
    def restore_page(self, page_id: PageId) -> Json:
        """Restore a page from the trash, with everything that was trashed along with it.

        Returns parent_page_id: the page it was under, or, if that is in the trash itself, the next
        page above; null means the top of the workspace.
        """
        row = find_page(self, page_id, "edit", trash=True)
        if row["trashed_at"] is None:
            hint = "Only pages in list_trash can be restored."
            if trashed_at(self, row) is not None:
                hint = "Restore the page above it; list_trash shows it."
            self.fail(
                "NOT_IN_TRASH",
                f"'{row['title']}' was not itself moved to the trash.",
                hint,
                page_id=page_id,
            )
        parent = next((p for p in above(self, row)[1:] if trashed_at(self, p) is None), None)
        parent_id = parent["id"] if parent else None
        self.db.update("notion_pages", row["id"], trashed_at=None, parent_id=parent_id)
        return {
            "page_id": page_id,
            "parent_page_id": parent_of(self, row | {"parent_id": parent_id}),
            "status": "restored",
        }

    @reads(example={"workspace_id": HOME})
    def list_trash(
        self, workspace_id: WorkspaceId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return pages that were moved to the trash in the last 30 days, latest first.

        Each has deleted_at and purge_at.
        """
        home = workspace(self, workspace_id)
        rows = Listing(self.db, "notion_pages", "trashed_at", tied="id").only(
            "workspace_id=? AND trashed_at>=?", home["id"], iso(self.now - KEPT)
        )
        rows = rows.keep(lambda row: level(self, row) is not None)
        return page(rows, "pages", limit, cursor, self._trashed_json)

    def _trashed_json(self, row: Row) -> dict[str, Any]:
        return summary(self, row) | {
            "deleted_at": row["trashed_at"],
            "purge_at": iso(parse_time(row["trashed_at"]) + KEPT),
        }

    @reads(example={"query": "cabin", "workspace_id": HOME})
    def search_workspace(
        self,
        query: Query,
        workspace_id: WorkspaceId,
        object_type: Kind | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return pages, databases and database entries, those that match more words first.

        A word counts more in a title. object_id is a page_id, database_id or entry_id, depending
        on object_type. Nothing in the trash is returned.
        """
        home = workspace(self, workspace_id)["id"]
        hits: list[tuple[float, dict[str, Any]]] = []
        if object_type in (None, "database"):
            hits += self._database_hits(query, home)
        if object_type in (None, "page"):
            hits += self._page_hits(query, home)
        if object_type in (None, "entry"):
            hits += self._entry_hits(query, home)
        return page(search.merged(hits, query), "results", limit, cursor)

    def _database_hits(
        self, query: str, workspace_id: str
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        for score, table in search.scored(self.db, "notion_databases", query, order="id"):
            if self._database_visible(table, workspace_id):
                columns = ", ".join(p["name"] for p in table["properties"])
                yield score, _hit("database", table, table["title"], columns, query)

    def _page_hits(self, query: str, workspace_id: str) -> Iterator[tuple[float, dict[str, Any]]]:
        latest = "updated_at DESC, id"
        for score, row in search.scored(self.db, "notion_pages", query, order=latest):
            if row["workspace_id"] == workspace_id and visible(self, row):
                yield score, _hit("page", row, row["title"], row["content"], query)

    def _entry_hits(self, query: str, workspace_id: str) -> Iterator[tuple[float, dict[str, Any]]]:
        latest = "updated_at DESC, id"
        for score, entry in search.scored(self.db, "notion_entries", query, order=latest):
            table = self.db.get("notion_databases", entry["database_id"])
            if table is None or entry["trashed_at"] is not None:
                continue
            if self._database_visible(table, workspace_id):
                title = entry["fields"].get(typed.title(table))
                hit = _hit("entry", entry, str(title or ""), entry["text"], query)
                yield score, hit | {"database_id": table["id"]}

    def _database_visible(self, table: Row, workspace_id: str) -> bool:
        """Return whether a database is in a workspace and visible to the person."""
        if table["workspace_id"] != workspace_id:
            return False
        parent = self.db.get("notion_pages", table["parent_id"]) if table["parent_id"] else None
        if parent is not None:
            return visible(self, parent)
        return workspace(self, table["workspace_id"])["role"] != "guest"


def _member_json(row: Row) -> Json:
    return {"email": row["email"], "name": row["name"], "role": row["role"]}


def _hit(kind: str, row: Row, title: str, text: str, query: str) -> Json:
    return {
        "object_id": row["id"],
        "object_type": kind,
        "title": title,
        "snippet": rules.snippet(text, query),
        "updated_at": row.get("updated_at", row["created_at"]),
        "url": url(row),
    }
