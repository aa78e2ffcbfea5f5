"""How Notion and Confluence differ: shares, typed databases, versions, trash, search."""

from __future__ import annotations

import json
import re

import pytest

from scenarios.worlds.build import names, shared
from servers.kit.control import make_id
from servers.kit.session import Session
from tests.services.wiki.support import DAY, WORKSHOP, confluence, notion
from tests.support import at, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("notion", "confluence")


def values(**fields: str) -> list[dict[str, str]]:
    return [{"property": name, "value": value} for name, value in fields.items()]


STOCK = at("ndb", "stock")
TEAM = at("cfs", "team")


# -- the worlds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", names())
def test_both_wikis_of_every_person_are_full(person: str) -> None:
    world = shared(person)
    for table in ("notion_pages", "notion_entries", "confluence_content"):
        assert len(world.rows(table)) >= 40
    for table in ("notion_pages", "confluence_content"):
        assert world.rows(table, "trashed_at IS NOT NULL")
    assert len(world.rows("confluence_versions")) >= 4


@pytest.mark.parametrize("person", names())
def test_there_are_notes_only_of_meetings_that_took_place(person: str) -> None:
    world = shared(person)
    key, title = {
        "maya": ("critique_series", "Critique 20__-__-__"),
        "eleanor": ("board", "Minutes %"),
        "rafael": ("stonebridge_weekly", "Stonebridge site 20%"),
    }[person]
    series = make_id("oev", person, key)
    called_off = world.rows(
        "outlook_calendar_events", "series_id=? AND cancelled_at IS NOT NULL", series
    )
    cancelled = {event["original_at"][:10] for event in called_off}
    minutes = world.rows("confluence_content", "title LIKE ?", title)
    dates = {re.sub(r"\D*(\d{4}-\d\d-\d\d)$", r"\1", page["title"]) for page in minutes}
    assert len(dates) >= 8 and cancelled
    assert not dates & cancelled, "there are no minutes of a cancelled meeting"


async def test_an_outdated_page_contradicts_its_comments_and_the_handbook(session: Session) -> None:
    page = await confluence(session, "fetch_content", page_id=WORKSHOP)
    comments = json.dumps(await confluence(session, "list_comments", page_id=WORKSHOP))
    assert "room 4B" in page["body"] and "Lakeview" not in page["body"]
    assert "Lakeview room" in comments


# -- Notion: who may do what -----------------------------------------------------------------------


async def test_shared_pages_allow_what_was_shared_and_no_more(session: Session) -> None:
    cabin = at("npg", "priya_cabin")
    menu = at("npg", "priya_menu")
    assert (await notion(session, "get_page", page_id=cabin))["your_permission"] == "comment"
    error = await call_refused(session, "notion", "update_page", page_id=cabin, title="Mine")
    assert error["code"] == "RESTRICTED_RESOURCE" and error["permission"] == "comment"
    await notion(session, "add_page_comment", page_id=cabin, body="We bring charcoal.")
    await notion(session, "append_to_page", page_id=menu, content="- Monday: nothing")
    error = await call_refused(session, "notion", "share_page", page_id=menu, email="a@b.co")
    assert error["code"] == "RESTRICTED_RESOURCE"
    error = await call_refused(session, "notion", "get_page", page_id=at("npg", "priya_private"))
    assert error["code"] == "PAGE_NOT_FOUND"
    view_only = await call_refused(
        session, "notion", "add_page_comment", page_id=at("npg", "circle_list"), body="x"
    )
    assert view_only["code"] == "RESTRICTED_RESOURCE"


async def test_a_share_includes_everything_beneath_the_page(session: Session) -> None:
    table = at("ndb", "cabin_share")
    assert len((await notion(session, "list_database_entries", database_id=table))["entries"]) == 9
    error = await call_refused(
        session, "notion", "add_database_entry", database_id=table, fields=values(Thing="Salt")
    )
    assert error["code"] == "RESTRICTED_RESOURCE"
    listed = await notion(session, "list_pages", workspace_id=at("nwk", "priya"))
    assert {p["title"] for p in listed["pages"]} == {"Cabin 2026", "What we eat"}, (
        "a guest sees only shared pages"
    )
    top = await call_refused(
        session, "notion", "create_page", workspace_id=at("nwk", "priya"), title="x"
    )
    assert top["code"] == "RESTRICTED_RESOURCE"
    under = await notion(
        session,
        "create_page",
        workspace_id=at("nwk", "priya"),
        title="Sauces",
        parent_page_id=at("npg", "priya_menu"),
    )
    assert under["your_permission"] == "edit"


async def test_sharing_again_only_changes_the_permission(session: Session) -> None:
    page = at("npg", "price_list")
    await notion(
        session, "share_page", page_id=page, email="Samira.Oduya@gmail.com", permission="edit"
    )
    shares = (await notion(session, "get_page", page_id=page))["shared_with"]
    assert [(s["email"], s["permission"]) for s in shares] == [("samira.oduya@gmail.com", "edit")]
    await notion(session, "unshare_page", page_id=page, email="samira.oduya@gmail.com")
    error = await call_refused(
        session, "notion", "unshare_page", page_id=page, email="samira.oduya@gmail.com"
    )
    assert error["code"] == "SHARE_NOT_FOUND"


# -- Notion: trash ---------------------------------------------------------------------------------


async def test_a_page_takes_everything_beneath_it_to_the_trash_and_back(session: Session) -> None:
    home = at("npg", "studio_home")
    kit = at("npg", "market_kit")
    await notion(session, "delete_page", page_id=home)
    assert (await notion(session, "get_page", page_id=kit))["in_trash"]
    error = await call_refused(session, "notion", "update_page", page_id=kit, title="x")
    assert error["code"] == "PAGE_IN_TRASH"
    error = await call_refused(session, "notion", "get_database", database_id=STOCK)
    assert error["code"] == "DATABASE_NOT_FOUND"
    alone = await call_refused(session, "notion", "restore_page", page_id=kit)
    assert alone["code"] == "NOT_IN_TRASH" and "list_trash" in alone["hint"]
    await notion(session, "restore_page", page_id=home)
    assert not (await notion(session, "get_page", page_id=kit))["in_trash"]
    assert (await notion(session, "get_database", database_id=STOCK))["entry_count"] == 20


async def test_the_trash_is_purged_after_thirty_days(session: Session) -> None:
    personal = {"workspace_id": at("nwk", "personal")}
    reply = await notion(session, "list_trash", **personal)
    assert {p["title"] for p in reply["pages"]} == {
        "To do",
        "Newsletter, first try",
    }
    session.control.advance(10 * DAY)
    reply = await notion(session, "list_trash", **personal)
    assert {p["title"] for p in reply["pages"]} == {"To do"}
    gone = await call_refused(
        session, "notion", "restore_page", page_id=at("npg", "newsletter_draft")
    )
    assert gone["code"] == "PAGE_NOT_FOUND"
    await notion(session, "restore_page", page_id=at("npg", "old_todo"))


# -- Notion: databases -----------------------------------------------------------------------------


async def test_entries_are_typed_queried_sorted_changed_and_deleted(session: Session) -> None:
    low = [
        {"property": "Left", "op": "less_than", "value": "3"},
        {"property": "Retired", "op": "equals", "value": "false"},
    ]
    low_stock = await notion(
        session, "query_database", database_id=STOCK, filters=low, sort_by="left"
    )
    left = [e["fields"]["Left"] for e in low_stock["entries"]]
    assert left == sorted(left) and max(left) == 2 and len(left) == 8
    either = await notion(
        session, "query_database", database_id=STOCK, filters=low, match="any", limit=100
    )
    assert len(either["entries"]) == 18
    entry = low_stock["entries"][0]["entry_id"]
    changed = await notion(
        session, "update_database_entry", entry_id=entry, fields=values(Left="12", Where="home")
    )
    assert changed["fields"]["Left"] == 12 and changed["fields"]["Where"] == "Home"
    reply = await notion(session, "query_database", database_id=STOCK, filters=low)
    assert len(reply["entries"]) == 7
    await notion(session, "delete_database_entry", entry_id=entry)
    assert (await notion(session, "get_database", database_id=STOCK))["entry_count"] == 19
    error = await call_refused(
        session, "notion", "update_database_entry", entry_id=entry, fields=values(Left="1")
    )
    assert error["code"] == "ENTRY_IN_TRASH"
    await notion(session, "restore_database_entry", entry_id=entry)
    assert (await notion(session, "get_database_entry", entry_id=entry))["fields"]["Left"] == 12


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (values(Piece="Jug", Left="many"), "INVALID_PROPERTY_VALUE"),
        (values(Piece="Jug", Glaze="Pink"), "INVALID_PROPERTY_VALUE"),
        (values(Piece="Jug", Retired="perhaps"), "INVALID_PROPERTY_VALUE"),
        (values(Piece="Jug", Weight="3"), "PROPERTY_NOT_FOUND"),
        (values(Left="3"), "TITLE_REQUIRED"),
        (values(Piece="Jug") + values(piece="Jar"), "DUPLICATE_PROPERTY"),
    ],
)
async def test_a_value_that_does_not_fit_its_property_is_refused(
    session: Session, fields: list[dict[str, str]], code: str
) -> None:
    error = await call_refused(
        session, "notion", "add_database_entry", database_id=STOCK, fields=fields
    )
    assert error["code"] == code


async def test_empty_values_come_last_in_either_sort_order(session: Session) -> None:
    for descending in (False, True):
        args = {"database_id": at("ndb", "customers"), "sort_by": "Due", "descending": descending}
        reply = await notion(session, "query_database", **args)
        due = [e["fields"]["Due"] for e in reply["entries"]]
        full = [d for d in due if d]
        assert due == [*sorted(full, reverse=descending), None] and len(full) == 8
    wrong = [{"property": "Customer", "op": "greater_than", "value": "A"}]
    error = await call_refused(
        session, "notion", "query_database", database_id=at("ndb", "customers"), filters=wrong
    )
    assert error["code"] == "INVALID_FILTER"


async def test_a_database_has_one_title(session: Session) -> None:
    for properties in (
        [{"name": "A", "type": "text"}],
        [{"name": "A", "type": "title"}, {"name": "a", "type": "text"}],
    ):
        error = await call_refused(
            session,
            "notion",
            "create_database",
            workspace_id=at("nwk", "personal"),
            title="x",
            properties=properties,
        )
        assert error["code"] == "INVALID_PROPERTIES"


async def test_a_search_finds_pages_databases_and_entries(session: Session) -> None:
    args = {"query": "harriet bowls", "workspace_id": at("nwk", "studio")}
    hits = (await notion(session, "search_workspace", **args))["results"]
    kinds = {(r["object_type"], r["title"]) for r in hits}
    assert ("page", "Harriet's bowls") in kinds and ("entry", "Ten ramen bowls") in kinds
    assert "bowls" in hits[0]["snippet"].lower()
    only = (await notion(session, "search_workspace", **args, object_type="entry"))["results"]
    assert {r["object_type"] for r in only} == {"entry"} and len(only) == 2


# -- Confluence: versions --------------------------------------------------------------------------


async def test_revising_an_old_version_is_refused_and_loses_nothing(session: Session) -> None:
    now = (await confluence(session, "fetch_content", page_id=WORKSHOP))["version_number"]
    await confluence(
        session,
        "revise_content",
        page_id=WORKSHOP,
        version_number=now,
        body="<p>Lakeview room, 13:30</p>",
        message="v3",
    )
    late = await call_refused(
        session,
        "confluence",
        "revise_content",
        page_id=WORKSHOP,
        version_number=now,
        body="<p>Room 4B</p>",
    )
    assert late["code"] == "VERSION_CONFLICT" and late["current_version"] == now + 1
    assert "Lakeview" in (await confluence(session, "fetch_content", page_id=WORKSHOP))["body"]


async def test_every_version_can_be_read(session: Session) -> None:
    listed = (await confluence(session, "list_content_versions", page_id=WORKSHOP))["versions"]
    assert [(v["version_number"], v["message"]) for v in listed] == [
        (3, "agenda v2"),
        (2, "goals"),
        (1, None),
    ]
    bodies = []
    for number in (1, 2, 3):
        version = await confluence(
            session, "fetch_content_version", page_id=WORKSHOP, version_number=number
        )
        bodies.append(version["body"])
    assert ["14:00" in b for b in bodies] == [True, True, False]
    assert bodies[1].startswith(bodies[0])
    assert bodies[2] == (await confluence(session, "fetch_content", page_id=WORKSHOP))["body"]
    none = await call_refused(
        session, "confluence", "fetch_content_version", page_id=WORKSHOP, version_number=9
    )
    assert none["code"] == "VERSION_NOT_FOUND"


@pytest.mark.parametrize("body", ["<p>open", "a < b", "<b><i>x</b></i>", "Q&A"])
async def test_a_body_must_be_well_formed(session: Session, body: str) -> None:
    error = await call_refused(
        session, "confluence", "publish_content", space_id=TEAM, title="x", body=body
    )
    assert error["code"] == "BAD_REQUEST" and "XHTML" in error["message"]


async def test_titles_of_pages_but_not_of_blog_posts_are_unique_in_a_space(
    session: Session,
) -> None:
    error = await call_refused(
        session, "confluence", "publish_content", space_id=TEAM, title=" first week of a DESIGNER"
    )
    assert error["code"] == "TITLE_ALREADY_EXISTS" and error["page_id"] == at("cfp", "onboarding")
    post = await confluence(
        session,
        "publish_blog_post",
        space_id=TEAM,
        title="First week of a designer",
        body="<p>Again</p>",
    )
    assert post["type"] == "blogpost" and post["parent_page_id"] is None
    page = await confluence(session, "publish_content", space_id=TEAM, title="Second week")
    assert page["parent_page_id"] == at("cfp", "team_home"), "under the home page by default"


# -- Confluence: permissions, trash, labels --------------------------------------------------------


async def test_permissions_of_spaces_and_pages_are_enforced(session: Session) -> None:
    read_only = await call_refused(
        session, "confluence", "publish_content", space_id=at("cfs", "handbook"), title="x"
    )
    assert read_only["code"] == "PERMISSION_DENIED"
    page = at("cfp", "hb_travel")
    denied = await call_refused(
        session, "confluence", "revise_content", page_id=page, version_number=2, title="x"
    )
    assert denied["code"] == "PERMISSION_DENIED"
    await confluence(session, "add_comment", page_id=page, body="Thank you.")
    granted = await confluence(session, "fetch_content", page_id=at("cfp", "eng_tokens"))
    assert granted["your_permission"] == "edit", "granted on the page, in a read-only space"
    reply = await confluence(session, "fetch_content", page_id=at("cfp", "acme_budget"))
    assert reply["restricted"]
    hidden = await call_refused(
        session, "confluence", "fetch_content", page_id=at("cfp", "acme_rates")
    )
    assert hidden["code"] == "CONTENT_NOT_FOUND"
    reply = await confluence(session, "list_space_content", space_id=at("cfs", "acme"), limit=100)
    listed = reply["content"]
    assert "Day rates" not in {c["title"] for c in listed}
    comment = (await confluence(session, "list_comments", page_id=page))["comments"][0]
    theirs = await call_refused(
        session, "confluence", "delete_comment", comment_id=comment["comment_id"]
    )
    assert theirs["code"] == "PERMISSION_DENIED"


async def test_pages_under_a_trashed_page_move_up_and_return_with_it(session: Session) -> None:
    home = at("cfp", "crit_home")
    reply = await confluence(session, "search_content", query="critique 2026", type="page")
    under = reply["results"][0]["content_id"]
    assert (await confluence(session, "fetch_content", page_id=under))["parent_page_id"] == home
    await confluence(session, "trash_content", page_id=home)
    assert (await confluence(session, "fetch_content", page_id=home))["status"] == "trashed"
    reply = await confluence(session, "fetch_content", page_id=under)
    assert reply["parent_page_id"] == at("cfp", "team_home")
    taken = await confluence(session, "publish_content", space_id=TEAM, title="Critique")
    clash = await call_refused(session, "confluence", "restore_content", page_id=home)
    assert clash["code"] == "TITLE_ALREADY_EXISTS"
    await confluence(
        session, "revise_content", page_id=taken["page_id"], version_number=1, title="Critique, new"
    )
    await confluence(session, "restore_content", page_id=home)
    assert (await confluence(session, "fetch_content", page_id=under))["parent_page_id"] == home
    root = await call_refused(
        session, "confluence", "trash_content", page_id=at("cfp", "team_home")
    )
    assert root["code"] == "CANNOT_TRASH_HOMEPAGE"


async def test_setting_labels_replaces_all_of_them_without_a_new_version(session: Session) -> None:
    before = await confluence(session, "fetch_content", page_id=WORKSHOP)
    await confluence(session, "set_labels", page_id=WORKSHOP, labels=["outdated", "acme", "acme"])
    after = await confluence(session, "fetch_content", page_id=WORKSHOP)
    assert after["labels"] == ["acme", "outdated"]
    assert after["version_number"] == before["version_number"]


async def test_a_search_covers_all_spaces_and_filters_by_type(session: Session) -> None:
    hits = (await confluence(session, "search_content", query="lakeview"))["results"]
    assert [r["content_type"] for r in hits] == ["comment"] and hits[0]["page_id"] == WORKSHOP
    reply = await confluence(session, "search_content", query="quarter closes", type="blogpost")
    posts = reply["results"]
    assert [p["content_id"] for p in posts] == [at("cfp", "blog_wei")]
    assert "<p>" not in posts[0]["snippet"]
    markup = await confluence(
        session,
        "publish_content",
        space_id=TEAM,
        title="Tables",
        body="<table><tr><td>Zinc</td></tr></table>",
    )
    zinc = (await confluence(session, "search_content", query="zinc"))["results"]
    assert [r["content_id"] for r in zinc] == [markup["page_id"]]
    reply = await confluence(session, "search_content", query="td")
    assert reply["results"] == [], "markup is not text"
    reply = await confluence(session, "search_content", query="transit map", limit=50)
    spaces = {r["space_name"] for r in reply["results"]}
    assert {"Design team", "Maya Lindqvist"} <= spaces
    reply = await confluence(
        session, "search_content", query="transit map", space_id=at("cfs", "maya")
    )
    here = reply["results"]
    assert {r["space_id"] for r in here} == {at("cfs", "maya")}
