"""Confluence's tables and argument types, permissions, and what pages look like.

The current text is in the content's row; earlier texts are in the versions. If the parent of a page
is in the trash, the page appears under the next page above that is not.
"""

from __future__ import annotations

import html
import re
from typing import Annotated, Any, Literal
from xml.etree import ElementTree

from pydantic import AfterValidator, Field

from servers.kit.control import seeded
from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.wiki import _rules as rules

TABLES = {
    "confluence_profile": Table(
        "id:str display_name:str email:str job_role:str", identity=True, catalogue=True
    ),
    # `permission` is that of the signed-in person in the space: admin, write or read.
    "confluence_spaces": Table(
        "id:str name:str description:str type:str homepage_id:str? permission:str created_at:str",
        catalogue=True,
    ),
    # `type` is page or blogpost. `restricted` content is visible only to its author and to those
    # who were granted access.
    "confluence_content": Table(
        "id:str space_id:str/ref type:str/matter parent_id:str?/ref title:str/prose "
        "body:str/prose text:str/derived labels:list/matter version_number:int/derived "
        "version_message:str?/prose restricted:bool/matter created_at:str/stamp "
        "created_by:str/derived updated_at:str/derived edited_by:str/derived "
        "trashed_at:str?/stamp",
        search=("title", "text"),
        index=(
            "space_id, updated_at",
            "space_id, type, updated_at",
            "space_id, trashed_at",
            "parent_id",
        ),
        outward={"type": "blogpost"},
        noun="the {type} {title}",
    ),
    # Every version follows from the content that a revision replaced.
    "confluence_versions": Table(
        "id:str content_id:str/derived number:int/derived title:str/derived body:str/derived "
        "message:str?/derived edited_at:str/derived edited_by:str/derived",
        index=("content_id",),
        noun="the version {number} of {title}",
    ),
    "confluence_comments": Table(
        "id:str content_id:str/ref body:str/prose text:str/derived created_at:str/stamp "
        "created_by:str/derived",
        search=("text",),
        weights=(1,),
        index=("content_id",),
        outward={},
        noun="a comment on {content_id}",
    ),
    "confluence_access": Table(
        "id:str content_id:str/ref email:str/matter permission:str/matter granted_at:str/stamp",
        index=("content_id", "email"),
        outward={},
        noun="the access of {email} to {content_id} ({permission})",
    ),
}
VISIBLE = (
    "(NOT restricted OR created_by=? OR EXISTS (SELECT 1 "
    "FROM confluence_access WHERE content_id=confluence_content.id AND email=?))"
)
"""What `level` says about content of a space that the person may read, for a name and an email."""
LEVELS = ("view", "edit", "admin")
_SPACE = {"read": "view", "write": "edit", "admin": "admin"}
_MARKUP = re.compile(r"<[^>]*>")
_HTML_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)[A-Za-z][A-Za-z0-9]*;")


def _storage(text: str) -> str:
    """Return the text if it is well-formed; HTML entities that XML does not know are accepted."""
    xml = _HTML_ENTITY.sub(lambda m: m[0] if html.unescape(m[0]) == m[0] else " ", text)
    try:
        ElementTree.fromstring(f'<body xmlns:ac="ac" xmlns:ri="ri">{xml}</body>')
    except (ElementTree.ParseError, ValueError):
        raise ValueError(
            "must be well-formed XHTML, e.g. <p>Text</p>; write &lt; and &amp; for < and &"
        ) from None
    return text


SpaceId = Annotated[str, Field(description="space_id, from list_spaces.")]
ContentId = Annotated[
    str,
    Field(
        description=(
            "page_id of a page or blog post, from list_space_content or "
            "search_content (its content_id)."
        )
    ),
]
Xhtml = Annotated[
    str,
    Field(
        max_length=100_000,
        description="XHTML, e.g. <h2>Plan</h2><p>Text</p>; plain text works too.",
    ),
    AfterValidator(_storage),
]
Remark = Annotated[
    str,
    Field(min_length=1, max_length=5000, pattern=r"\S", description="XHTML or plain text."),
    AfterValidator(_storage),
]
Access = Annotated[
    Literal["view", "edit"], Field(description="What they may do; edit includes view.")
]
TEAM = seeded("cfs", "team")
WORKSHOP = seeded("cfp", "workshop_march")


def me(svc: Service) -> Row:
    """Return the signed-in person."""
    return svc.db.rows("confluence_profile")[0]


def plain(body: str) -> str:
    """Return the text of a body without its markup."""
    return html.unescape(_MARKUP.sub(" ", body))


def find_space(svc: Service, space_id: str, needs: str = "view") -> Row:
    """Return a space in which the person may do something, or refuse."""
    row = svc.db.get("confluence_spaces", space_id)
    if row is None:
        svc.fail(
            "SPACE_NOT_FOUND",
            f"There is no space with the ID {space_id!r} that you can see.",
            "Use a space_id from list_spaces.",
            space_id=space_id,
        )
    if not rules.allows(_SPACE[row["permission"]], needs, LEVELS):
        svc.fail(
            "PERMISSION_DENIED",
            f"You have {row['permission']} permission in '{row['name']}'; this requires more.",
            "Choose a space where list_spaces shows write or admin permission.",
            space_id=space_id,
        )
    return row


def level(svc: Service, row: Row) -> str | None:
    """Return the person's access level for content, or None.

    It is the permission in the space, unless the content is restricted, or what was granted on the
    content itself, whichever is stronger.
    """
    who = me(svc)
    space = svc.db.get("confluence_spaces", row["space_id"])
    granted = svc.db.rows("confluence_access", "content_id=? AND email=?", row["id"], who["email"])
    levels = [g["permission"] for g in granted]
    if space is not None and (not row["restricted"] or row["created_by"] == who["display_name"]):
        levels.append(_SPACE[space["permission"]])
    return rules.best(levels, LEVELS)


def find(svc: Service, page_id: str, needs: str = "view", *, trash: bool = False) -> Row:
    """Return a page or blog post, or refuse.

    Content that the person may not see is treated as missing. Content in the trash is returned only
    with `trash`.
    """
    row = svc.db.get("confluence_content", page_id)
    has = level(svc, row) if row is not None else None
    if row is None or has is None:
        svc.fail(
            "CONTENT_NOT_FOUND",
            f"There is no content with the ID {page_id!r} that you can see.",
            "Use a page_id from list_space_content or search_content.",
            page_id=page_id,
        )
    if row["trashed_at"] is not None and not trash:
        svc.fail(
            "CONTENT_TRASHED",
            f"'{row['title']}' has been in the trash since {row['trashed_at']}.",
            "Restore it with restore_content.",
            page_id=page_id,
        )
    if not rules.allows(has, needs, LEVELS):
        svc.fail(
            "PERMISSION_DENIED",
            f"You can {has} '{row['title']}', but not {needs} it.",
            "Add a comment with add_comment, or ask its author.",
            page_id=page_id,
            permission=has,
        )
    return row


def parent(svc: Service, row: Row) -> str | None:
    """Return the ID of the nearest page above that is visible and not in the trash, or None."""
    above = _parent_row(svc, row)
    while above is not None and (above["trashed_at"] is not None or level(svc, above) is None):
        above = _parent_row(svc, above)
    return above["id"] if above is not None else None


def _parent_row(svc: Service, row: Row) -> Row | None:
    return svc.db.get("confluence_content", row["parent_id"]) if row["parent_id"] else None


def contents(svc: Service, space_id: str, kind: str | None = None) -> Listing:
    """Return the list of the visible content of a space, the last edited first."""
    rows = _visible(svc, space_id, "updated_at").only("trashed_at IS NULL")
    return rows if kind is None else rows.only("type=?", kind)


def trashed(svc: Service, space_id: str) -> Listing:
    """Return the list of what is visible in the trash of a space, the last deleted first."""
    return _visible(svc, space_id, "trashed_at").only("trashed_at IS NOT NULL")


def _visible(svc: Service, space_id: str, by: str) -> Listing:
    rows = Listing(svc.db, "confluence_content", by, tied="id").only("space_id=?", space_id)
    return rows.only(VISIBLE, *_who(svc))


def page_counts(svc: Service) -> dict[str, int]:
    """Return how many pages are visible in each space that has any."""
    who = _who(svc)
    query = (
        "SELECT space_id, count(*) FROM confluence_content "
        f"WHERE type='page' AND trashed_at IS NULL AND {VISIBLE} GROUP BY space_id"
    )

    def count() -> dict[str, int]:
        return dict(svc.db.sql(query, *who))

    tables = ("confluence_content", "confluence_access")
    return svc.db.kept(("visible pages", who), tables, count)


def _who(svc: Service) -> tuple[str, str]:
    who = me(svc)
    return who["display_name"], who["email"]


def url(svc: Service, row: Row) -> str:
    """Return the address of content."""
    return url_in(me(svc)["email"], row)


def url_in(email: str, row: Row) -> str:
    """Return the address of content in the company that somebody's email is of."""
    company = email.partition("@")[2].partition(".")[0]
    space = f"https://{company}.atlassian.net/wiki/spaces/{row['space_id']}"
    return f"{space}/{row['type']}s/{row['id']}"


def summary(svc: Service, row: Row) -> Json:
    """Return content as agents see it, without its text."""
    return {
        "page_id": row["id"],
        "space_id": row["space_id"],
        "type": row["type"],
        "title": row["title"],
        "parent_page_id": parent(svc, row),
        "version_number": row["version_number"],
        "updated_at": row["updated_at"],
        "last_edited_by": row["edited_by"],
        "url": url(svc, row),
    }


def content_json(svc: Service, row: Row) -> dict[str, Any]:
    """Return content as agents see it, with its text and labels."""
    return summary(svc, row) | {
        "body": row["body"],
        "labels": row["labels"],
        "status": "current" if row["trashed_at"] is None else "trashed",
        "restricted": row["restricted"],
        "your_permission": level(svc, row),
        "version_message": row["version_message"],
        "created_at": row["created_at"],
        "created_by": row["created_by"],
    }
