"""The account, spaces, search, comments, and access to individual pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit import search
from servers.kit.errors import did_you_mean
from servers.kit.fields import Email
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.wiki import _rules as rules
from servers.wiki.confluence import _model as model
from servers.wiki.confluence._model import TEAM, WORKSHOP, Access, ContentId, Remark, SpaceId

Found = Annotated[
    Literal["page", "blogpost", "comment"], Field(description="Only pages, blog posts or comments.")
]
CommentId = Annotated[str, Field(description="comment_id, from list_comments.")]
PAGE = {"page_id": WORKSHOP}
NOTE = Setup("add_comment", PAGE | {"body": "<p>Is this still the plan?</p>"}, "note")
GRANT = Setup(
    "grant_content_access", PAGE | {"email": "paul.okafor@acmeretail.com", "permission": "view"}
)


def _comment_json(row: Row) -> Json:
    return {
        "comment_id": row["id"],
        "page_id": row["content_id"],
        "body": row["body"],
        "created_at": row["created_at"],
        "created_by": row["created_by"],
    }


def _space_json(row: Row, page_counts: dict[str, int]) -> Json:
    return {
        "space_id": row["id"],
        "name": row["name"],
        "type": row["type"],
        "page_count": page_counts.get(row["id"], 0),
        "your_permission": row["permission"],
        "created_at": row["created_at"],
    }


class Spaces(Service):
    """Spaces, search, comments and access."""

    @reads()
    def retrieve_profile(self) -> Json:
        """Return the signed-in person, and the spaces with your permission in each.

        Fields: user_id, display_name, email, avatar_url, role, spaces.
        """
        me = model.me(self)
        spaces = [
            {"space_id": s["id"], "name": s["name"], "permission": s["permission"]}
            for s in self._spaces()
        ]
        return {
            "user_id": me["id"],
            "display_name": me["display_name"],
            "email": me["email"],
            "role": me["job_role"],
            "avatar_url": f"https://avatars.atlassian.net/{me['id']}.png",
            "spaces": spaces,
        }

    @reads()
    def list_spaces(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the spaces you can read.

        Fields: space_id, name, type (global or personal), page_count, your_permission, created_at.
        """
        counts = model.page_counts(self)
        rows = self._spaces()
        return page(rows, "spaces", limit, cursor, lambda row: _space_json(row, counts))

    @reads(example={"space_id": TEAM})
    def get_space(self, space_id: SpaceId) -> Json:
        """Return one space with its description and homepage_id."""
        row = model.find_space(self, space_id)
        home = self.db.get("confluence_content", row["homepage_id"]) if row["homepage_id"] else None
        return _space_json(row, model.page_counts(self)) | {
            "description": row["description"],
            "homepage_id": row["homepage_id"],
            "url": model.url(self, home).rpartition("/pages/")[0] if home else None,
        }

    def _spaces(self) -> list[Row]:
        return self.db.rows("confluence_spaces", order="type, name, id")

    @reads(example={"query": "workshop agenda"})
    def search_content(
        self,
        query: rules.Query,
        space_id: SpaceId | None = None,
        type: Found | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search all spaces, or one, for pages, blog posts and comments.

        What matches more words comes first; a word counts more in a title. content_id is a page_id,
        or a comment_id together with the page_id that it is on. Snippets have no markup.
        """
        only = model.find_space(self, space_id)["id"] if space_id is not None else None
        hits: list[tuple[float, dict[str, Any]]] = []
        if type != "comment":
            hits += self._content_hits(query, type, only)
        if type in (None, "comment"):
            hits += self._comment_hits(query, only)
        return page(search.merged(hits, query), "results", limit, cursor)

    def _content_hits(
        self, query: str, kind: str | None, space_id: str | None
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        latest = "updated_at DESC, id"
        for score, row in search.scored(self.db, "confluence_content", query, order=latest):
            if kind in (None, row["type"]) and self._is_hit(row, space_id):
                shown = {
                    "content_id": row["id"],
                    "content_type": row["type"],
                    "title": row["title"],
                    "snippet": rules.snippet(row["text"], query),
                }
                yield score, shown | self._origin(row, row["updated_at"])

    def _comment_hits(
        self, query: str, space_id: str | None
    ) -> Iterator[tuple[float, dict[str, Any]]]:
        latest = "created_at DESC, id"
        for score, comment in search.scored(self.db, "confluence_comments", query, order=latest):
            row = self.db.get("confluence_content", comment["content_id"])
            if row is not None and self._is_hit(row, space_id):
                shown = {
                    "content_id": comment["id"],
                    "content_type": "comment",
                    "title": f"Comment on {row['title']}",
                    "snippet": rules.snippet(comment["text"], query),
                }
                origin = self._origin(row, comment["created_at"])
                yield score, shown | origin | {"page_id": row["id"]}

    def _is_hit(self, row: Row, space_id: str | None) -> bool:
        """Return whether a search result is in the searched space and visible to the person."""
        if row["trashed_at"] is not None or space_id not in (None, row["space_id"]):
            return False
        return model.level(self, row) is not None

    def _origin(self, row: Row, updated_at: str) -> Json:
        """Return the fields of a search result that say where it is."""
        space = self.db.get("confluence_spaces", row["space_id"]) or {"name": "Shared with you"}
        return {
            "space_id": row["space_id"],
            "space_name": space["name"],
            "updated_at": updated_at,
            "url": model.url(self, row),
        }

    # -- comments ----------------------------------------------------------------------------------
    @writes(example=NOTE.args)
    def add_comment(self, page_id: ContentId, body: Remark) -> Json:
        """Comment on a page or blog post that you can see."""
        row = model.find(self, page_id)
        comment = {
            "id": self.new_id("cfc"),
            "content_id": row["id"],
            "body": body,
            "text": model.plain(body),
            "created_at": self.time,
            "created_by": model.me(self)["display_name"],
        }
        made = self.db.insert("confluence_comments", comment)
        said = {
            "who": comment["created_by"],
            "page": row["title"],
            "body": " ".join(comment["text"].split()),
            "link": model.url(self, row),
        }
        for grant in self._granted(row["id"]):
            if grant["email"] != model.me(self)["email"]:
                self.post("commented", grant["email"], said, about=comment["id"])
        return _comment_json(made)

    @reads(example=PAGE)
    def list_comments(
        self, page_id: ContentId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return the comments on a page or blog post, oldest first.

        Fields: comment_id, body, created_at, created_by.
        """
        row = model.find(self, page_id)
        comments = self.db.rows(
            "confluence_comments", "content_id=?", row["id"], order="created_at, id"
        )
        return page(comments, "comments", limit, cursor, _comment_json)

    @writes(example={"comment_id": "${note.comment_id}"}, setup=(NOTE,), destructive=True)
    def delete_comment(self, comment_id: CommentId) -> Json:
        """Delete one of your own comments, or any comment in a space that you administer."""
        comment = self.db.get("confluence_comments", comment_id)
        if comment is None:
            self.fail(
                "COMMENT_NOT_FOUND",
                f"There is no comment {comment_id!r}.",
                "Use a comment_id from list_comments.",
                comment_id=comment_id,
            )
        content = model.find(self, comment["content_id"])
        is_mine = comment["created_by"] == model.me(self)["display_name"]
        if not is_mine and model.level(self, content) != "admin":
            self.fail(
                "PERMISSION_DENIED",
                f"The comment was written by {comment['created_by']}.",
                "You can delete only your own comments.",
                comment_id=comment_id,
            )
        self.db.delete("confluence_comments", comment_id)
        return {"comment_id": comment_id, "status": "deleted"}

    # -- access ------------------------------------------------------------------------------------
    @writes(example=GRANT.args, idempotent=True)
    def grant_content_access(
        self, page_id: ContentId, email: Email, permission: Access = "view"
    ) -> Json:
        """Let someone view or edit a page or blog post that you can edit.

        This applies in addition to their permission in its space.
        """
        row = model.find(self, page_id, "edit")
        address = email.lower()
        if address == model.me(self)["email"]:
            self.fail(
                "CANNOT_GRANT_TO_SELF",
                "You cannot grant access to yourself.",
                "Give someone else's email.",
                email=email,
            )
        granted_at = self.time
        earlier = next((g for g in self._granted(row["id"]) if g["email"] == address), None)
        if earlier is None:
            grant = {
                "id": self.new_id("cfa"),
                "content_id": row["id"],
                "email": address,
                "permission": permission,
                "granted_at": granted_at,
            }
            self._tell_granted(row, self.db.insert("confluence_access", grant))
        elif earlier["permission"] != permission:
            self.db.update(
                "confluence_access", earlier["id"], permission=permission, granted_at=granted_at
            )
            self._tell_granted(row, earlier | {"permission": permission})
        else:
            granted_at = earlier["granted_at"]
        return {
            "page_id": page_id,
            "shared_with_email": address,
            "permission": permission,
            "shared_at": granted_at,
        }

    @reads(example=PAGE)
    def list_content_access(
        self, page_id: ContentId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return who was given access to a page or blog post in addition to its space.

        Fields: email, permission, shared_at; `restricted` says whether the content is restricted.
        """
        row = model.find(self, page_id)
        people = [
            {"email": g["email"], "permission": g["permission"], "shared_at": g["granted_at"]}
            for g in self._granted(row["id"])
        ]
        shown = {"page_id": page_id, "restricted": row["restricted"]}
        return shown | page(people, "access", limit, cursor)

    @writes(example=PAGE | {"email": "paul.okafor@acmeretail.com"}, setup=(GRANT,))
    def revoke_content_access(self, page_id: ContentId, email: Email) -> Json:
        """Revoke the access that was granted to someone on a page or blog post."""
        row = model.find(self, page_id, "edit")
        known = {g["email"]: g["id"] for g in self._granted(row["id"])}
        if email.lower() not in known:
            self.fail(
                "ACCESS_NOT_FOUND",
                f"Access to '{row['title']}' was never granted to "
                f"{email}{did_you_mean(email.lower(), known)}",
                "list_content_access shows who has access.",
                email=email,
            )
        self.db.delete("confluence_access", known[email.lower()])
        return {"page_id": page_id, "email": email.lower(), "status": "revoked"}

    def _tell_granted(self, content: Row, grant: Row) -> None:
        said = {
            "who": model.me(self)["display_name"],
            "page": content["title"],
            "kind": "blog post" if content["type"] == "blogpost" else "page",
            "may": grant["permission"],
            "link": model.url(self, content),
        }
        self.post("shared", grant["email"], said, about=grant["id"])

    def _granted(self, content_id: str) -> list[Row]:
        return self.db.rows("confluence_access", "content_id=?", content_id, order="granted_at, id")
