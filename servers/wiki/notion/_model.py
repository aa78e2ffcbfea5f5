"""Notion's tables and argument types, permissions, and what pages look like.

Access applies to a page and everything beneath it, and so does the trash; neither is stored twice.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import parse_time
from servers.wiki import _rules as rules

TABLES = {
    "notion_profile": Table("id:str name:str email:str plan:str", identity=True, catalogue=True),
    # `role` is that of the signed-in person: owner, member or guest.
    "notion_workspaces": Table("id:str name:str icon:str plan:str role:str", catalogue=True),
    "notion_members": Table(
        "id:str workspace_id:str email:str name:str role:str",
        index=("workspace_id",),
        catalogue=True,
    ),
    "notion_pages": Table(
        "id:str workspace_id:str/ref parent_id:str?/ref title:str/prose content:str/prose "
        "created_at:str/stamp created_by:str/derived updated_at:str/derived edited_by:str/derived "
        "trashed_at:str?/stamp",
        search=("title", "content"),
        index=("workspace_id, updated_at", "workspace_id, trashed_at", "parent_id, updated_at"),
        noun="the page {title}",
    ),
    "notion_shares": Table(
        "id:str page_id:str/ref email:str/matter permission:str/matter shared_at:str/stamp",
        index=("page_id", "email"),
        outward={},
        noun="the access of {email} to the page {page_id} ({permission})",
    ),
    "notion_comments": Table(
        "id:str page_id:str/ref author:str/derived body:str/prose created_at:str/stamp "
        "resolved_at:str?/stamp",
        index=("page_id",),
        outward={},
        noun="a comment on the page {page_id}",
    ),
    # `properties` are {name, type, options}. `fields` of an entry map names to values; `text` holds
    # the same values for search.
    "notion_databases": Table(
        "id:str workspace_id:str/ref parent_id:str?/ref title:str/prose properties:list/matter "
        "created_at:str/stamp created_by:str/derived",
        search=("title",),
        index=("workspace_id",),
        noun="the database {title}",
    ),
    "notion_entries": Table(
        "id:str database_id:str/ref fields:dict/matter text:str/derived created_at:str/stamp "
        "created_by:str/derived updated_at:str/derived edited_by:str/derived "
        "trashed_at:str?/stamp",
        search=("text",),
        weights=(2,),
        index=("database_id",),
        noun="the entry {text} in the database {database_id}",
    ),
}
LEVELS = ("view", "comment", "edit", "full")
KEPT = 30 * 86_400
"""Seconds after which a page in the trash is gone for good."""

WorkspaceId = Annotated[str, Field(description="workspace_id, from list_workspaces.")]
PageId = Annotated[str, Field(description="page_id, from list_pages or search_workspace.")]
DatabaseId = Annotated[
    str, Field(description="database_id, from list_databases or search_workspace.")
]
Markdown = Annotated[str, Field(max_length=100_000, description="The page's text as Markdown.")]
Permission = Annotated[
    Literal["view", "comment", "edit"],
    Field(
        description=(
            "What they may do with the page and pages under it; each level includes the previous."
        )
    ),
]


def page_id(key: str) -> str:
    """Return the ID of a page of the default world, for examples."""
    return seeded("npg", key)


HOME = seeded("nwk", "personal")


def me(svc: Service) -> Row:
    """Return the signed-in person."""
    return svc.db.rows("notion_profile")[0]


def workspace(svc: Service, workspace_id: str) -> Row:
    """Return a workspace that the person belongs to, or refuse."""
    row = svc.db.get("notion_workspaces", workspace_id)
    if row is None:
        svc.fail(
            "WORKSPACE_NOT_FOUND",
            f"There is no workspace {workspace_id!r}.",
            "Use a workspace_id from list_workspaces.",
            workspace_id=workspace_id,
        )
    return row


def above(svc: Service, page: Row) -> list[dict[str, Any]]:
    """Return a page and the pages above it, from the page upwards."""
    pages = [page]
    while pages[-1]["parent_id"] is not None:
        parent = svc.db.get("notion_pages", pages[-1]["parent_id"])
        if parent is None:
            break
        pages.append(parent)
    return pages


def level(svc: Service, page: Row) -> str | None:
    """Return the person's access level for a page, or None.

    A member of its workspace has full access; a guest has what was shared here or further up.
    """
    home = svc.db.get("notion_workspaces", page["workspace_id"]) or {"role": "guest"}
    if home["role"] != "guest":
        return "full"
    shares = svc.db.rows("notion_shares", "email=?", me(svc)["email"])
    mine = {share["page_id"]: share["permission"] for share in shares}
    return rules.best([mine[p["id"]] for p in above(svc, page) if p["id"] in mine], LEVELS)


def trashed_at(svc: Service, page: Row) -> str | None:
    """Return when a page, or one above it, was moved to the trash, or None."""
    return next((p["trashed_at"] for p in above(svc, page) if p["trashed_at"] is not None), None)


def visible(svc: Service, page: Row) -> bool:
    """Return whether the person can see a page and it is not in the trash."""
    return trashed_at(svc, page) is None and level(svc, page) is not None


def find_page(svc: Service, page_id: str, needs: str = "view", *, trash: bool = False) -> Row:
    """Return a page that the person may use as needed, or refuse.

    A page in the trash is returned only with `trash`.
    """
    row = svc.db.get("notion_pages", page_id)
    has = level(svc, row) if row is not None else None
    deleted_at = trashed_at(svc, row) if row is not None else None
    purged = deleted_at is not None and svc.now - parse_time(deleted_at) > KEPT
    if row is None or has is None or purged:
        svc.fail(
            "PAGE_NOT_FOUND",
            f"There is no page {page_id!r}.",
            "Use a page_id from list_pages or search_workspace.",
            page_id=page_id,
        )
    if deleted_at is not None and not trash:
        svc.fail(
            "PAGE_IN_TRASH",
            f"'{row['title']}' was moved to the trash at {deleted_at}.",
            "Restore it with restore_page; list_trash shows what can be restored.",
            page_id=page_id,
        )
    if not rules.allows(has, needs, LEVELS):
        svc.fail(
            "RESTRICTED_RESOURCE",
            f"'{row['title']}' is shared with you with {has} permission; this requires {needs}.",
            "Ask the page's owner for access, or use a page of your own.",
            page_id=page_id,
            permission=has,
        )
    return row


def url(row: Row) -> str:
    """Return the address of a page, database or entry."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", row.get("title") or "").strip("-")
    path = f"{slug}-{row['id']}" if slug else row["id"]
    return f"https://www.notion.so/{path}"


def parent_of(svc: Service, row: Row) -> str | None:
    """Return the ID of the page above; None at the top or if the person cannot see it."""
    parent = svc.db.get("notion_pages", row["parent_id"]) if row["parent_id"] else None
    return parent["id"] if parent is not None and level(svc, parent) is not None else None


def summary(svc: Service, row: Row) -> Json:
    """Return a page as agents see it, without its text."""
    return {
        "page_id": row["id"],
        "workspace_id": row["workspace_id"],
        "title": row["title"],
        "parent_page_id": parent_of(svc, row),
        "created_by": row["created_by"],
        "updated_at": row["updated_at"],
        "last_edited_by": row["edited_by"],
        "url": url(row),
    }


def page_json(svc: Service, row: Row) -> Json:
    """Return a page as agents see it, with its text, its shares and what is beneath it."""
    below = svc.db.rows(
        "notion_pages", "parent_id=? AND trashed_at IS NULL", row["id"], order="created_at, id"
    )
    tables = svc.db.rows("notion_databases", "parent_id=?", row["id"], order="created_at, id")
    shares = svc.db.rows("notion_shares", "page_id=?", row["id"], order="shared_at, email")
    comments = svc.db.sql(
        "SELECT count(*) FROM notion_comments WHERE page_id=? AND resolved_at IS NULL", row["id"]
    )
    return {
        "page_id": row["id"],
        "workspace_id": row["workspace_id"],
        "title": row["title"],
        "content": row["content"],
        "parent_page_id": parent_of(svc, row),
        "created_at": row["created_at"],
        "created_by": row["created_by"],
        "updated_at": row["updated_at"],
        "last_edited_by": row["edited_by"],
        "in_trash": trashed_at(svc, row) is not None,
        "your_permission": level(svc, row),
        "shared_with": [
            {"email": s["email"], "permission": s["permission"], "shared_at": s["shared_at"]}
            for s in shares
        ],
        "child_pages": [{"page_id": p["id"], "title": p["title"]} for p in below],
        "child_databases": [{"database_id": d["id"], "title": d["title"]} for d in tables],
        "open_comments": comments[0][0],
        "url": url(row),
    }
