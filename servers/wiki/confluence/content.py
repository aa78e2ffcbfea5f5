"""Pages and blog posts: publishing, versions, the trash, labels."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.wiki._rules import PageTitle
from servers.wiki.confluence import _model as model
from servers.wiki.confluence._model import TEAM, WORKSHOP, ContentId, SpaceId, Xhtml

Above = Annotated[
    str,
    Field(description="page_id of the parent page; defaults to the space's home page."),
]
Version = Annotated[
    int, Field(ge=1, le=100_000, description="The version_number that you read and are changing.")
]
OldVersion = Annotated[
    int, Field(ge=1, le=100_000, description="A version_number from list_content_versions.")
]
Why = Annotated[
    str, Field(min_length=1, max_length=200, description="What changed, for the version history.")
]
Kind = Annotated[Literal["page", "blogpost"], Field(description="Only pages, or only blog posts.")]
Labels = Annotated[
    list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,49}$")]],
    Field(
        max_length=20,
        description="All labels, lowercase without spaces, e.g. meeting-notes; "
        "an empty list removes them.",
    ),
]
DRAFT = Setup(
    "publish_content",
    {"space_id": TEAM, "title": "Voucher field, options", "body": "<p>Three options to try.</p>"},
    "made",
)
MADE = {"page_id": "${made.page_id}"}


def _version_json(version: Row) -> Json:
    fields = ("title", "body", "message", "edited_at", "edited_by")
    return {"version_number": version["number"]} | {k: version[k] for k in fields}


class Content(Service):
    """Pages and blog posts."""

    @writes(example=DRAFT.args)
    def publish_content(
        self,
        space_id: SpaceId,
        title: PageTitle,
        body: Xhtml = "",
        parent_page_id: Above | None = None,
    ) -> Json:
        """Publish a new page in a space where you can write, and return it at version 1.

        Titles of pages are unique in a space.
        """
        space = model.find_space(self, space_id, "edit")
        parent_id = space["homepage_id"]
        if parent_page_id is not None:
            parent = model.find(self, parent_page_id)
            if parent["space_id"] != space_id or parent["type"] != "page":
                self.fail(
                    "INVALID_PARENT",
                    f"'{parent['title']}' cannot be the parent.",
                    "Choose a page in the same space, from list_space_content.",
                    parent_page_id=parent_page_id,
                )
            parent_id = parent["id"]
        self._check_title(space_id, title)
        return self._publish(space_id, "page", title, body, parent_id)

    @writes(
        example={
            "space_id": TEAM,
            "title": "What we learned in Chicago",
            "body": "<p>Three things.</p>",
        }
    )
    def publish_blog_post(self, space_id: SpaceId, title: PageTitle, body: Xhtml = "") -> Json:
        """Publish a blog post in a space where you can write.

        Posts have no parent page. Other tools accept their page_id like that of a page.
        """
        space = model.find_space(self, space_id, "edit")
        return self._publish(space["id"], "blogpost", title, body, None)

    def _publish(
        self, space_id: str, kind: str, title: str, body: str, parent_id: str | None
    ) -> Json:
        author = model.me(self)["display_name"]
        row = {
            "id": self.new_id("cfp"),
            "space_id": space_id,
            "type": kind,
            "parent_id": parent_id,
            "title": title,
            "body": body,
            "labels": [],
            "text": model.plain(body),
            "version_number": 1,
            "restricted": False,
            "created_at": self.time,
            "created_by": author,
            "updated_at": self.time,
            "edited_by": author,
        }
        return model.content_json(self, self.db.insert("confluence_content", row))

    def _check_title(self, space_id: str, title: str, page_id: str = "") -> None:
        """Refuse a title that another page of the space has; `page_id` is the page itself."""
        others = self.db.rows(
            "confluence_content",
            "space_id=? AND type='page' AND trashed_at IS NULL AND id<>?",
            space_id,
            page_id,
        )
        for other in others:
            if other["title"].strip().lower() == title.strip().lower():
                visible = model.level(self, other) is not None
                self.fail(
                    "TITLE_ALREADY_EXISTS",
                    f"The space already has a page named '{other['title']}'.",
                    "Revise that page, or choose another title.",
                    **({"page_id": other["id"]} if visible else {}),
                )

    @reads(example={"page_id": WORKSHOP})
    def fetch_content(self, page_id: ContentId) -> Json:
        """Return a page or blog post with its XHTML body and labels.

        It includes version_number, status (current or trashed) and your_permission.
        """
        return model.content_json(self, model.find(self, page_id, trash=True))

    @reads(example={"space_id": TEAM})
    def list_space_content(
        self,
        space_id: SpaceId,
        type: Kind | None = None,
        updated_since: Since | None = None,
        updated_until: Until | None = None,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the pages and blog posts of a space that you can see, without their text.

        The last edited come first.
        """
        rows = model.contents(self, model.find_space(self, space_id)["id"], type)
        rows = rows.days(updated_since, updated_until, self.person["timezone"])
        return page(rows, "content", limit, cursor, lambda r: model.summary(self, r))

    @writes(
        example=MADE | {"version_number": 1, "body": "<p>Two options to try.</p>"}, setup=(DRAFT,)
    )
    def revise_content(
        self,
        page_id: ContentId,
        version_number: Version,
        title: PageTitle | None = None,
        body: Xhtml | None = None,
        message: Why | None = None,
    ) -> Json:
        """Replace the title, the body or both, and return the next version.

        version_number must be the current one, so that nobody's change is lost. VERSION_CONFLICT
        means that someone else was faster: fetch the content again and apply your change to it.
        """
        row = model.find(self, page_id, "edit")
        if title is None and body is None:
            self.fail(
                "NOTHING_TO_REVISE",
                "Neither title nor body was given.",
                "Give at least one of them.",
                page_id=page_id,
            )
        current = row["version_number"]
        if version_number != current:
            self.fail(
                "VERSION_CONFLICT",
                f"The content is at version {current}, "
                f"last edited by {row['edited_by']} at {row['updated_at']}.",
                "Read it again with fetch_content, then revise that version.",
                page_id=page_id,
                current_version=current,
                given_version=version_number,
            )
        if title is not None and row["type"] == "page":
            self._check_title(row["space_id"], title, row["id"])
        version = {
            "id": self.new_id("cfv"),
            "edited_at": row["updated_at"],
            "edited_by": row["edited_by"],
            "content_id": row["id"],
            "number": current,
            "title": row["title"],
            "body": row["body"],
            "message": row["version_message"],
        }
        self.db.insert("confluence_versions", version)
        new_title = row["title"] if title is None else title
        new_body = row["body"] if body is None else body
        editor = model.me(self)["display_name"]
        self.db.update(
            "confluence_content",
            row["id"],
            version_number=current + 1,
            version_message=message,
            title=new_title,
            body=new_body,
            updated_at=self.time,
            edited_by=editor,
            text=model.plain(new_body),
        )
        return {
            "page_id": row["id"],
            "title": new_title,
            "body": new_body,
            "version_number": current + 1,
            "updated_at": self.time,
            "last_edited_by": editor,
        }

    @reads(example={"page_id": WORKSHOP})
    def list_content_versions(
        self, page_id: ContentId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return the versions of a page or blog post, the current one first.

        Fields: version_number, title, message, edited_at, edited_by.
        """
        row = model.find(self, page_id)
        versions = self._versions(row)
        for version in versions:
            del version["body"]
        return {"page_id": row["id"]} | page(versions, "versions", limit, cursor)

    @reads(example={"page_id": WORKSHOP, "version_number": 1})
    def fetch_content_version(self, page_id: ContentId, version_number: OldVersion) -> Json:
        """Return the title and body of one version of a page or blog post."""
        row = model.find(self, page_id)
        for version in self._versions(row):
            if version["version_number"] == version_number:
                return {"page_id": row["id"]} | version
        self.fail(
            "VERSION_NOT_FOUND",
            f"There is no version {version_number}; the latest is {row['version_number']}.",
            "list_content_versions shows all versions.",
            page_id=page_id,
        )

    def _versions(self, row: Row) -> list[Json]:
        """Return all versions of content as agents see them, the current one first."""
        present = {
            "number": row["version_number"],
            "title": row["title"],
            "body": row["body"],
            "message": row["version_message"],
            "edited_at": row["updated_at"],
            "edited_by": row["edited_by"],
        }
        old = self.db.rows("confluence_versions", "content_id=?", row["id"], order="number DESC")
        return [_version_json(version) for version in (present, *old)]

    @writes(example=MADE, setup=(DRAFT,))
    def trash_content(self, page_id: ContentId) -> Json:
        """Move a page or blog post to the trash; pages under it move up to the page above.

        The home page of a space cannot be moved to the trash.
        """
        row = model.find(self, page_id, "edit")
        if self.db.rows("confluence_spaces", "homepage_id=?", row["id"]):
            self.fail(
                "CANNOT_TRASH_HOMEPAGE",
                f"'{row['title']}' is a home page.",
                "Change it with revise_content instead.",
                page_id=page_id,
            )
        self.db.update("confluence_content", row["id"], trashed_at=self.time)
        return {"page_id": page_id, "status": "trashed", "deleted_at": self.time}

    @writes(example=MADE, setup=(DRAFT, Setup("trash_content", MADE)))
    def restore_content(self, page_id: ContentId) -> Json:
        """Restore content from the trash with its versions, labels and comments."""
        row = model.find(self, page_id, "edit", trash=True)
        if row["trashed_at"] is None:
            self.fail(
                "NOT_IN_TRASH",
                f"'{row['title']}' is not in the trash.",
                "list_trashed_content shows what is in the trash.",
                page_id=page_id,
            )
        if row["type"] == "page":
            self._check_title(row["space_id"], row["title"], row["id"])
        self.db.update("confluence_content", row["id"], trashed_at=None)
        return {"page_id": page_id, "status": "current", "version_number": row["version_number"]}

    @reads(example={"space_id": TEAM})
    def list_trashed_content(
        self, space_id: SpaceId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return what you can see in the trash of a space, latest first, with deleted_at."""
        space = model.find_space(self, space_id)
        return page(model.trashed(self, space["id"]), "content", limit, cursor, self._trashed_json)

    def _trashed_json(self, row: Row) -> dict[str, Any]:
        return model.summary(self, row) | {"deleted_at": row["trashed_at"]}

    @writes(
        example={"page_id": WORKSHOP, "labels": ["acme", "workshop", "chicago"]}, idempotent=True
    )
    def set_labels(self, page_id: ContentId, labels: Labels) -> Json:
        """Replace the labels of a page or blog post; the version stays the same."""
        row = model.find(self, page_id, "edit")
        unique = sorted(set(labels))
        if unique != row["labels"]:
            self.db.update("confluence_content", row["id"], labels=unique)
        return {"page_id": page_id, "labels": unique}
