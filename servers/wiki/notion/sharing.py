"""Who else can use a page, and comments on it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.errors import did_you_mean
from servers.kit.fields import Email
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.wiki._rules import Remark, mentions
from servers.wiki.notion._model import PageId, Permission, above, find_page, me, page_id, url

CommentId = Annotated[str, Field(description="comment_id, from list_page_comments.")]
Resolved = Annotated[bool, Field(description="true also returns resolved comments.")]
MAY = {
    "view": "read it",
    "comment": "read it and comment on it",
    "edit": "read and edit it",
}
"""What somebody may do with a page, by permission."""
PACKING = {"page_id": page_id("cabin_packing")}
SHARED = Setup("share_page", PACKING | {"email": "sam.oduya@gmail.com", "permission": "comment"})
COMMENT = Setup("add_page_comment", PACKING | {"body": "Do we need two head torches?"}, "said")


class Sharing(Service):
    """Shares and comments."""

    @writes(example=SHARED.args, idempotent=True)
    def share_page(self, page_id: PageId, email: Email, permission: Permission = "view") -> Json:
        """Share a page and everything under it, or change someone's permission.

        Only members of the page's workspace can share it.
        """
        row = find_page(self, page_id, "full")
        address = email.lower()
        if address == me(self)["email"]:
            self.fail(
                "CANNOT_SHARE_WITH_SELF",
                "You already have access to the page.",
                "Give someone else's email.",
                email=email,
            )
        shared_at = self.time
        earlier = next((s for s in self._shares(row["id"]) if s["email"] == address), None)
        if earlier is None:
            share = {
                "id": self.new_id("nsh"),
                "page_id": row["id"],
                "email": address,
                "permission": permission,
                "shared_at": shared_at,
            }
            self._tell_shared(row, self.db.insert("notion_shares", share))
        elif earlier["permission"] != permission:
            self.db.update(
                "notion_shares", earlier["id"], permission=permission, shared_at=shared_at
            )
            self._tell_shared(row, earlier | {"permission": permission})
        else:
            shared_at = earlier["shared_at"]
        return {
            "page_id": row["id"],
            "shared_with_email": address,
            "permission": permission,
            "shared_at": shared_at,
        }

    @writes(example=PACKING | {"email": "sam.oduya@gmail.com"}, setup=(SHARED,))
    def unshare_page(self, page_id: PageId, email: Email) -> Json:
        """Stop sharing a page with someone; their access to other pages stays."""
        row = find_page(self, page_id, "full")
        known = {s["email"]: s["id"] for s in self._shares(row["id"])}
        if email.lower() not in known:
            self.fail(
                "SHARE_NOT_FOUND",
                f"'{row['title']}' is not shared with {email}{did_you_mean(email.lower(), known)}",
                "get_page shows who it is shared with.",
                email=email,
            )
        self.db.delete("notion_shares", known[email.lower()])
        return {"page_id": row["id"], "email": email.lower(), "status": "unshared"}

    def _tell_shared(self, page: Row, share: Row) -> None:
        said = {
            "who": me(self)["name"],
            "page": page["title"],
            "may": MAY[share["permission"]],
            "link": url(page),
        }
        self.post("shared", share["email"], said, about=share["id"])

    def _shares(self, page_id: str) -> list[Row]:
        return self.db.rows("notion_shares", "page_id=?", page_id, order="shared_at, id")

    @writes(example=COMMENT.args)
    def add_page_comment(self, page_id: PageId, body: Remark) -> Json:
        """Comment on a page; this requires permission to comment, not to edit."""
        row = find_page(self, page_id, "comment")
        comment = {
            "id": self.new_id("ncm"),
            "page_id": row["id"],
            "author": me(self)["name"],
            "body": body,
            "created_at": self.time,
        }
        earlier = self.db.rows("notion_comments", "page_id=?", row["id"], order="created_at, id")
        made = self.db.insert("notion_comments", comment)
        self._tell_commented(row, comment, [row["created_by"], *(c["author"] for c in earlier)])
        return _comment_json(made)

    def _tell_commented(self, page: Row, comment: Row, names: list[str]) -> None:
        """Mail whoever the comment names, and whoever follows the page.

        Those are who made it or has commented, by name, and people whom it is shared with.
        """
        members = self.db.rows("notion_members", "workspace_id=?", page["workspace_id"], order="id")
        known = {member["email"]: member["name"] for member in members}
        followers = [email for email, name in known.items() if name in names]
        for one in above(self, page):
            followers += [share["email"] for share in self._shares(one["id"])]
        named = [email for email, name in known.items() if mentions(comment["body"], name)]
        said = {
            "who": comment["author"],
            "page": page["title"],
            "body": comment["body"],
            "link": url(page),
        }
        for address in dict.fromkeys([*named, *followers]):
            if address != me(self)["email"]:
                occasion = "mentioned" if address in named else "commented"
                self.post(occasion, address, said, about=comment["id"])

    @reads(example=PACKING)
    def list_page_comments(
        self,
        page_id: PageId,
        include_resolved: Resolved = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the comments on a page, oldest first.

        Fields: comment_id, author, body, created_at, resolved_at.
        """
        row = find_page(self, page_id)
        comments = self.db.rows("notion_comments", "page_id=?", row["id"], order="created_at, id")
        if not include_resolved:
            comments = [comment for comment in comments if comment["resolved_at"] is None]
        return page(comments, "comments", limit, cursor, _comment_json)

    @writes(example={"comment_id": "${said.comment_id}"}, setup=(COMMENT,), idempotent=True)
    def resolve_page_comment(self, comment_id: CommentId) -> Json:
        """Mark a comment as resolved; this requires permission to comment on its page."""
        row = self.db.get("notion_comments", comment_id)
        if row is None:
            self.fail(
                "COMMENT_NOT_FOUND",
                f"There is no comment {comment_id!r}.",
                "Use a comment_id from list_page_comments.",
                comment_id=comment_id,
            )
        find_page(self, row["page_id"], "comment")
        if row["resolved_at"] is None:
            self.db.update("notion_comments", comment_id, resolved_at=self.time)
        return _comment_json(row | {"resolved_at": row["resolved_at"] or self.time})


def _comment_json(row: Row) -> Json:
    return {
        "comment_id": row["id"],
        "page_id": row["page_id"],
        "author": row["author"],
        "body": row["body"],
        "created_at": row["created_at"],
        "resolved_at": row.get("resolved_at"),
    }
