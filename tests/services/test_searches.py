"""The searches of all services: the bench of everyday queries, and what each of them forgives."""

from __future__ import annotations

import pytest

from benchmarks import searches
from tests.support import call_ok, call_refused, session_of

pytestmark = pytest.mark.anyio


async def test_nearly_all_everyday_queries_find_what_people_look_for() -> None:
    asked = searches.queries()
    assert len(asked) >= 150
    wrong = await searches.missed(asked)
    assert len(wrong) <= (1 - searches.AIM) * len(asked), [str(query) for query, _ in wrong]


@pytest.mark.parametrize(
    ("service", "tool", "args", "code", "near"),
    [
        ("amazon", "search_products", {"category": "headphone"}, "CATEGORY", "Headphones"),
        ("walmart", "browse_products", {"department": "Electronic"}, "DEPARTMENT", "Electronics"),
        ("target", "search_merchandise", {"category": "Beding"}, "CATEGORY", "Bedding"),
        ("yelp", "search_businesses", {"category": "cofee shop"}, "CATEGORY", "Coffee shop"),
        ("google_map_review", "search_places", {"category": "dentits"}, "CATEGORY", "Dentist"),
        ("doordash", "search_stores", {"category": "Piza"}, "CATEGORY", "Pizza"),
        ("uber_eats", "search_restaurants", {"category": "Thia"}, "CATEGORY", "Thai"),
    ],
)
async def test_an_unknown_category_is_refused_and_the_nearest_is_offered(
    service: str, tool: str, args: dict[str, str], code: str, near: str
) -> None:
    session = session_of("maya", service)
    error = await call_refused(session, service, tool, **args)
    assert error["code"] == f"{code}_NOT_FOUND"
    assert "did you mean" in error["message"] and near in error["message"]


async def test_the_categories_that_are_listed_can_be_searched() -> None:
    session = session_of("eleanor", "google_map_review", "target", "doordash")
    listed = await call_ok(session, "google_map_review", "list_place_categories")
    for kind in listed["categories"][::7]:
        args = {"category": kind["category"], "max_results": 100}
        found = await call_ok(session, "google_map_review", "search_places", **args)
        assert len(found["places"]) >= kind["places"]
    shelves = (await call_ok(session, "target", "list_departments"))["departments"]
    shelf = shelves[0]
    args = {"department": shelf["department"], "category": shelf["categories"][0]}
    found = await call_ok(session, "target", "search_merchandise", **args)
    assert {p["category"] for p in found["products"]} == {shelf["categories"][0]}
    foods = (await call_ok(session, "doordash", "list_cuisines"))["cuisines"]
    first = foods[0]["category"]
    stores = await call_ok(session, "doordash", "search_stores", category=first, limit=100)
    assert len(stores["stores"]) == foods[0]["restaurants"]


@pytest.mark.parametrize(
    ("query", "subjects"),
    [
        ("from:jordan.park OR from:ben.archer subject:(dinner OR market)", {"Friday dinner"}),
        ("{from:jordan.park from:ben.archer} subject:dinner", {"Friday dinner"}),
        ("filename:pdf from:dmitri", {"Lease on Alder Street"}),
        ("subject:(lease alder) newer_than:2w -subject:re", {"Lease on Alder Street"}),
        ("subject:(lease alder) older_than:2w", set()),
        ("lease -from:dmitri older:2025-03-01", set()),
    ],
)
async def test_gmail_knows_or_groups_ages_and_names_of_files(
    query: str, subjects: set[str]
) -> None:
    session = session_of("maya", "gmail")
    found = await call_ok(session, "gmail", "search_emails", query=query)
    assert {email["subject"] for email in found["emails"]} == subjects


@pytest.mark.parametrize(
    "query",
    [
        "agenda hasattachments:yes received:2026-03-11 from:olivia",
        "agenda attachment:v3 from:olivia NOT from:lucas",
        "agenda received:>=2026-03-10 received:<=2026-03-11 from:olivia",
        "agenda received:2026-03-11..2026-03-12 from:olivia",
        'agenda received:"this week" hasattachment:true from:olivia',
    ],
)
async def test_outlook_knows_its_own_operators(query: str) -> None:
    session = session_of("maya", "outlook")
    found = await call_ok(session, "outlook", "query_mail_items", query=query)
    assert [email["attachments"] for email in found["emails"]] == [["workshop-agenda-v3.pdf"]]


async def test_an_unknown_operator_is_refused_with_those_that_are_known() -> None:
    session = session_of("maya", "gmail", "outlook")
    error = await call_refused(session, "gmail", "search_emails", query="fliename:pdf rent")
    assert "did you mean 'filename'" in error["message"] and "newer_than:" in error["hint"]
    error = await call_refused(session, "outlook", "query_mail_items", query="larger:5mb")
    assert "received:" in error["hint"]
