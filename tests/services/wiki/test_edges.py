"""Edge cases of wikis: trash within trash, unticked checkboxes, text behind markup."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import names, shared
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.zones import local
from tests.services.wiki.support import DAY, WORKSHOP, confluence, notion
from tests.support import assert_error, at, new_session

pytestmark = pytest.mark.anyio
HOME = at("nwk", "personal")


@pytest.fixture
def session() -> Session:
    return new_session("notion", "confluence")


async def new_page(
    session: Session, title: str, parent: str | None = None, workspace: str = HOME
) -> str:
    where = {"parent_page_id": parent} if parent else {}
    page = await notion(session, "create_page", workspace_id=workspace, title=title, **where)
    return page["page_id"]


async def chores(session: Session) -> str:
    """Make a database whose title is not its first property, with one entry."""
    kinds = [("Done", "checkbox"), ("Chore", "title"), ("Room", "multi_select")]
    columns = [{"name": name, "type": kind} for name, kind in kinds]
    reply = await notion(
        session, "create_database", workspace_id=HOME, title="Chores", properties=columns
    )
    database = reply["database_id"]
    await notion(
        session,
        "add_database_entry",
        database_id=database,
        fields=[{"property": "Chore", "value": "Wipe the xylophone"}],
    )
    return database


# -- the worlds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", names())
def test_notes_are_written_in_the_daytime_by_someone_who_was_present(person: str) -> None:
    world = shared(person)
    zone = ZoneInfo(world.rows("google_calendar_profile")[0]["timezone"])
    me = world.rows("notion_profile")[0]["name"]
    texts = [(p, p["content"]) for p in world.rows("notion_pages")]
    texts += [(p, p["text"]) for p in world.rows("confluence_content")]
    notes = [(page, text) for page, text in texts if "Present:" in text]
    assert len(notes) >= 20
    for page, text in notes:
        note = re.match(r"\W*Present: ([^.]*)\.(.*)", text, re.DOTALL)
        assert note is not None, page
        present, rest = note.groups()
        assert 7 <= local(parse_time(page["created_at"]), zone).hour < 23, page
        assert page["created_by"] == me or page["created_by"] in present, page
        sang = re.search(r"(\w+) sang alone", rest)
        assert sang is None or sang[1] in present or sang[1] == "nobody", page


# -- Notion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [1, 20])
async def test_a_page_can_be_restored_even_if_its_parent_is_in_the_trash_or_purged(
    session: Session, days: int
) -> None:
    top = await new_page(session, "Top")
    middle = await new_page(session, "Middle", top)
    leaf = await new_page(session, "Leaf", middle)
    await notion(session, "delete_page", page_id=middle)
    await notion(session, "restore_page", page_id=middle)
    await notion(session, "delete_page", page_id=leaf)
    await notion(session, "delete_page", page_id=middle)
    session.control.advance(days * DAY)
    restored = await notion(session, "restore_page", page_id=leaf)
    assert restored["parent_page_id"] == top
    assert not (await notion(session, "get_page", page_id=leaf))["in_trash"]
    below = await notion(session, "list_pages", workspace_id=HOME, parent_page_id=top)
    assert [p["page_id"] for p in below["pages"]] == [leaf]


async def test_a_guest_sees_the_pages_that_the_guest_deleted_in_the_trash(session: Session) -> None:
    workspace = make_id("nwk", "maya", "priya")
    menu = make_id("npg", "maya", "priya_menu")
    await notion(session, "delete_page", page_id=menu)
    trash = await notion(session, "list_trash", workspace_id=workspace)
    assert [p["page_id"] for p in trash["pages"]] == [menu]
    await notion(session, "restore_page", page_id=menu)
    reply = await notion(session, "get_page", page_id=menu)
    assert reply["parent_page_id"] == make_id("npg", "maya", "priya_cabin")


async def test_an_unticked_checkbox_is_false(session: Session) -> None:
    database = await chores(session)
    undone = [{"property": "Done", "op": "equals", "value": "false"}]
    entries = (await notion(session, "query_database", database_id=database, filters=undone))[
        "entries"
    ]
    assert [e["fields"]["Done"] for e in entries] == [False]
    done = [{"property": "Done", "op": "not_equals", "value": "false"}]
    reply = await notion(session, "query_database", database_id=database, filters=done)
    assert reply["entries"] == []


async def test_an_entry_is_found_under_its_title_and_not_by_its_checkbox(session: Session) -> None:
    await chores(session)
    reply = await notion(session, "search_workspace", workspace_id=HOME, query="xylophone")
    hits = reply["results"]
    assert [(h["object_type"], h["title"]) for h in hits] == [("entry", "Wipe the xylophone")]
    ticks = await notion(
        session,
        "search_workspace",
        workspace_id=make_id("nwk", "maya", "studio"),
        query="false",
        object_type="entry",
    )
    assert ticks["results"] == []


async def test_deleted_entries_can_be_listed_and_restored(session: Session) -> None:
    database = await chores(session)
    reply = await notion(session, "list_database_entries", database_id=database)
    entry = reply["entries"][0]["entry_id"]
    await notion(session, "delete_database_entry", entry_id=entry)
    assert (await notion(session, "list_database_entries", database_id=database))["entries"] == []
    reply = await notion(session, "list_database_entries", database_id=database, in_trash=True)
    trash = reply["entries"]
    assert [(e["entry_id"], e["in_trash"]) for e in trash] == [(entry, True)]
    await notion(session, "restore_database_entry", entry_id=entry)
    reply = await notion(session, "list_database_entries", database_id=database, in_trash=True)
    assert reply["entries"] == []


@pytest.mark.parametrize(
    "columns",
    [
        [{"name": " Chore", "type": "title"}],
        [{"name": " ", "type": "title"}],
        [
            {"name": "Chore", "type": "title"},
            {"name": "Room", "type": "multi_select", "options": ["Bath, kitchen"]},
        ],
    ],
)
async def test_property_names_that_no_value_can_refer_to_are_refused(
    session: Session, columns: list[dict[str, Any]]
) -> None:
    args = {"workspace_id": HOME, "title": "Chores", "properties": columns}
    assert (
        assert_error(await session.call("notion", "create_database", args))["code"]
        == "VALIDATION_ERROR"
    )


# -- Confluence ------------------------------------------------------------------------------------


async def test_comments_are_found_by_their_text_and_not_by_their_markup(session: Session) -> None:
    body = "<p>Ask the <strong>caf&eacute;</strong> &mdash; it&#8217;s ours</p>"
    comment = (await confluence(session, "add_comment", page_id=WORKSHOP, body=body))["comment_id"]
    reply = await confluence(session, "search_content", query="strong", type="comment")
    assert reply["results"] == []
    reply = await confluence(session, "search_content", query="café ours", type="comment")
    hits = reply["results"]
    assert [h["content_id"] for h in hits] == [comment]
    assert hits[0]["snippet"] == "Ask the café — it’s ours"
    assert len((await confluence(session, "list_comments", page_id=WORKSHOP))["comments"]) == 3


async def test_entities_that_html_does_not_know_are_refused(session: Session) -> None:
    error = assert_error(
        await session.call(
            "confluence", "add_comment", {"page_id": WORKSHOP, "body": "a &nosuchmark; b"}
        )
    )
    assert "XHTML" in error["message"]
