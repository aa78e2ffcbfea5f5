"""The account, spaces, search, comments, and access to single pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.errors import did_you_mean
from servers.kit.fields import Email
from servers.kit.service import Service, Setup, reads, writes
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


class Spaces(Service):
    """Spaces and what people say and see there."""

    @reads()
    def retrieve_profile(self) -> dict[str, Any]:
        """Return the signed-in person: user_id, display_name, email, avatar_url, role, and the spaces with your permission in each."""
        row = model.me(self)
        spaces = [
            {"space_id": s["id"], "name": s["name"], "permission": s["permission"]}
            for s in self._all()
        ]
        shown = {
            "user_id": row["id"],
            "display_name": row["display_name"],
            "email": row["email"],
            "role": row["job_role"],
        }
        return shown | {
            "avatar_url": f"https://avatars.atlassian.net/{row['id']}.png",
            "spaces": spaces,
        }

    @reads()
    def list_spaces(self, limit: Limit = 50, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return the spaces you may read: space_id, name, type (global or personal), page_count, your_permission, created_at."""
        return page(self._all(), "spaces", limit, cursor, self._space)

    @reads(example={"space_id": TEAM})
    def get_space(self, space_id: SpaceId) -> dict[str, Any]:
        """Return one space with its description and homepage_id."""
        row = model.find_space(self, space_id)
        home = self.db.get("confluence_content", row["homepage_id"]) if row["homepage_id"] else None
        address = f"{model.url(self, home).rpartition('/pages/')[0]}" if home else None
        return self._space(row) | {
            "description": row["description"],
            "homepage_id": row["homepage_id"],
            "url": address,
        }

    def _all(self) -> list[dict[str, Any]]:
        return self.db.rows("confluence_spaces", order="type, name, id")

    def _space(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = {
            "space_id": row["id"],
            "name": row["name"],
            "type": row["type"],
            "page_count": len(model.contents(self, row["id"], "page")),
        }
        return shown | {"your_permission": row["permission"], "created_at": row["created_at"]}

    @reads(example={"query": "workshop agenda"})
    def search_content(
        self,
        query: rules.Query,
        space_id: SpaceId | None = None,
        type: Found | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Search all spaces, or one, for content that holds every word: pages and blog posts first, then comments, each by relevance.

        content_id is a page_id, or a comment_id with the page it is on; snippets are without markup.
        """
        only = model.find_space(self, space_id)["id"] if space_id is not None else None
        hits: list[dict[str, Any]] = []
        if type != "comment":
            for row in self.db.search(
                "confluence_content", query, order="bm25(confluence_content_fts, 4.0, 1.0)"
            ):
                if type in (None, row["type"]):
                    hits.append(
                        self._hit(
                            row,
                            row["type"],
                            row["id"],
                            row["title"],
                            row["text"],
                            row["updated_at"],
                            query,
                        )
                    )
        if type in (None, "comment"):
            for comment in self.db.search("confluence_comments", query):
                row = self.db.get("confluence_content", comment["content_id"]) or {}
                title = f"Comment on {row['title']}"
                found = self._hit(
                    row,
                    "comment",
                    comment["id"],
                    title,
                    comment["text"],
                    comment["created_at"],
                    query,
                )
                hits.append(found | {"page_id": row["id"]})
        seen = {h["content_id"]: self._on(h) for h in hits}
        kept = [h for h in hits if seen[h["content_id"]] and only in (None, h["space_id"])]
        return page(kept, "results", limit, cursor)

    def _on(self, hit: dict[str, Any]) -> bool:
        row = self.db.get("confluence_content", hit.get("page_id", hit["content_id"]))
        return row is not None and row["trashed_at"] is None and model.level(self, row) is not None

    def _hit(
        self, row: dict[str, Any], kind: str, made: str, title: str, text: str, at: str, query: str
    ) -> dict[str, Any]:
        space = self.db.get("confluence_spaces", row["space_id"]) or {"name": "Shared with you"}
        shown = {
            "content_id": made,
            "content_type": kind,
            "title": title,
            "snippet": rules.snippet(text, query),
        }
        return shown | {
            "space_id": row["space_id"],
            "space_name": space["name"],
            "updated_at": at,
            "url": model.url(self, row),
        }

    # -- comments -----------------------------------------------------------------------------------------------------
    @writes(example=NOTE.args)
    def add_comment(self, page_id: ContentId, body: Remark) -> dict[str, Any]:
        """Comment on a page or blog post that you may see."""
        row = model.find(self, page_id)
        made = {
            "id": self.new_id("cfc"),
            "content_id": row["id"],
            "body": body,
            "text": model.plain(body),
            "created_at": self.time,
        }
        return self._comment(
            self.db.insert(
                "confluence_comments", made | {"created_by": model.me(self)["display_name"]}
            )
        )

    @reads(example=PAGE)
    def list_comments(
        self, page_id: ContentId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return the comments on a page or blog post, oldest first: comment_id, body, created_at, created_by."""
        rows = self.db.rows(
            "confluence_comments",
            "content_id=?",
            model.find(self, page_id)["id"],
            order="created_at, id",
        )
        return page(rows, "comments", limit, cursor, self._comment)

    @writes(example={"comment_id": "${note.comment_id}"}, setup=(NOTE,), destructive=True)
    def delete_comment(self, comment_id: CommentId) -> dict[str, Any]:
        """Delete a comment of your own, or any in a space that you administer."""
        row = self.db.get("confluence_comments", comment_id)
        if row is None:
            self.fail(
                "COMMENT_NOT_FOUND",
                f"There is no comment {comment_id!r}.",
                "See list_comments.",
                comment_id=comment_id,
            )
        on = model.find(self, row["content_id"])
        if row["created_by"] != model.me(self)["display_name"] and model.level(self, on) != "admin":
            self.fail(
                "PERMISSION_DENIED",
                f"The comment is by {row['created_by']}.",
                "Only your own can be deleted.",
                comment_id=comment_id,
            )
        self.db.delete("confluence_comments", comment_id)
        return {"comment_id": comment_id, "status": "deleted"}

    def _comment(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"comment_id": row["id"], "page_id": row["content_id"]} | {
            k: row[k] for k in ("body", "created_at", "created_by")
        }

    # -- access -------------------------------------------------------------------------------------------------------
    @writes(example=GRANT.args, idempotent=True)
    def grant_content_access(
        self, page_id: ContentId, email: Email, permission: Access = "view"
    ) -> dict[str, Any]:
        """Let someone view or edit a page or blog post that you may edit, whatever they may do in its space."""
        row = model.find(self, page_id, "edit")
        address = email.lower()
        if address == model.me(self)["email"]:
            self.fail(
                "CANNOT_GRANT_TO_SELF",
                "You cannot grant access to yourself.",
                "Name somebody else.",
                email=email,
            )
        given = next((g for g in self._granted(row["id"]) if g["email"] == address), None)
        if given is None:
            given = {
                "id": self.new_id("cfa"),
                "content_id": row["id"],
                "email": address,
                "permission": permission,
                "granted_at": self.time,
            }
            self.db.insert("confluence_access", given)
        elif given["permission"] != permission:
            given = given | {"permission": permission, "granted_at": self.time}
            self.db.update(
                "confluence_access", given["id"], permission=permission, granted_at=self.time
            )
        return {
            "page_id": page_id,
            "shared_with_email": address,
            "permission": permission,
            "shared_at": given["granted_at"],
        }

    @reads(example=PAGE)
    def list_content_access(
        self, page_id: ContentId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return to whom a page or blog post was opened beside its space: email, permission, shared_at; and whether it is restricted."""
        row = model.find(self, page_id)
        people = [
            {"email": g["email"], "permission": g["permission"], "shared_at": g["granted_at"]}
            for g in self._granted(row["id"])
        ]
        return {"page_id": page_id, "restricted": row["restricted"]} | page(
            people, "access", limit, cursor
        )

    @writes(example=PAGE | {"email": "paul.okafor@acmeretail.com"}, setup=(GRANT,))
    def revoke_content_access(self, page_id: ContentId, email: Email) -> dict[str, Any]:
        """Take back what was granted to someone on a page or blog post."""
        row = model.find(self, page_id, "edit")
        known = {g["email"]: g["id"] for g in self._granted(row["id"])}
        if email.lower() not in known:
            message = f"Nothing on '{row['title']}' was granted to {email}{did_you_mean(email.lower(), known)}"
            self.fail(
                "ACCESS_NOT_FOUND", message, "list_content_access shows what was.", email=email
            )
        self.db.delete("confluence_access", known[email.lower()])
        return {"page_id": page_id, "email": email.lower(), "status": "revoked"}

    def _granted(self, content_id: str) -> list[dict[str, Any]]:
        return self.db.rows("confluence_access", "content_id=?", content_id, order="granted_at, id")
