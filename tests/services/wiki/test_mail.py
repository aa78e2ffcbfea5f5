"""Whom Notion and Confluence mail about shares and comments."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from tests.support import at, call_ok, new_session

pytestmark = pytest.mark.anyio

PAGE = {"page_id": at("npg", "cabin_packing")}


def sent(session: Session, about: str) -> dict[str, str]:
    """Return the templates of letters about a row by recipient."""
    rows = session.world.rows("outbox", "about=?", about)
    return {row["recipient"]: row["template"] for row in rows}


async def test_a_comment_reaches_whoever_the_page_is_shared_with() -> None:
    session = new_session("notion")
    sam = {"email": "sam.oduya@gmail.com", "permission": "comment"}
    await call_ok(session, "notion", "share_page", **PAGE, **sam)
    said = await call_ok(session, "notion", "add_page_comment", **PAGE, body="Two head torches?")
    assert sent(session, said["comment_id"])["sam.oduya@gmail.com"] == "commented"


async def test_somebody_who_is_named_is_told_so() -> None:
    session = new_session("notion")
    found = session.world.rows("notion_members", "name=?", "Ana Reyes", limit=1)[0]
    page = session.world.rows(
        "notion_pages", "workspace_id=? AND trashed_at IS NULL", found["workspace_id"], limit=1
    )[0]
    for body, told in (("@ana, is this right?", "mentioned"), ("Mananas @ Anabel's", None)):
        said = await call_ok(session, "notion", "add_page_comment", page_id=page["id"], body=body)
        if told:
            assert sent(session, said["comment_id"])[found["email"]] == told
        else:
            assert "mentioned" not in sent(session, said["comment_id"]).values()


async def test_sharing_again_with_the_same_permission_mails_nothing_new() -> None:
    session = new_session("confluence")
    page = {"page_id": at("cfp", "workshop_march"), "email": "paul.okafor@acmeretail.com"}
    for permission in ("view", "view", "edit"):
        await call_ok(session, "confluence", "grant_content_access", **page, permission=permission)
    rows = session.world.rows("outbox", "recipient=?", page["email"], order="rowid")
    assert [row["data"]["may"] for row in rows] == ["view", "edit"]
