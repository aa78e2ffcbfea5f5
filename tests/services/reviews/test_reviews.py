"""What makes Yelp and Google Maps unlike each other, and the rules that they share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scenarios.worlds.build import Builder, names, person, shared
from servers.kit.control import make_id
from servers.kit.geo import miles
from servers.kit.session import Session
from servers.kit.values import iso, parse_time
from tests.support import call_ok, call_refused, new_session, session_of

pytestmark = pytest.mark.anyio
HOUR = 3600
DAY = 86_400
PORTLAND = "Portland, OR"


@pytest.fixture
def session() -> Session:
    return new_session("yelp", "google_map_review")


def yelp_id(key: str) -> str:
    return make_id("ybz", "maya", key)


def map_id(key: str) -> str:
    return make_id("gpl", "maya", key)


async def yelp(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "yelp", tool, **args)


async def maps(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "google_map_review", tool, **args)


async def refusal(session: Session, service: str, tool: str, **args: Any) -> str:
    return (await call_refused(session, service, tool, **args))["code"]


async def google_refusal(session: Session, tool: str, **args: Any) -> str:
    return await refusal(session, "google_map_review", tool, **args)


async def yelp_refusal(session: Session, tool: str, **args: Any) -> str:
    return await refusal(session, "yelp", tool, **args)


async def business(session: Session, key: str) -> dict[str, Any]:
    """Return a business of Yelp's."""
    return await yelp(session, "get_business", business_id=yelp_id(key))


async def place(session: Session, key: str) -> dict[str, Any]:
    """Return a place of Google's."""
    return await maps(session, "get_place_details", business_id=map_id(key))


async def businesses(session: Session, **args: Any) -> list[dict[str, Any]]:
    """Return what a search on Yelp finds."""
    return (await yelp(session, "search_businesses", **args))["businesses"]


async def places(session: Session, **args: Any) -> list[dict[str, Any]]:
    """Return what a search on Google finds."""
    return (await maps(session, "search_places", **args))["places"]


async def yelp_reviews(session: Session, key: str, **args: Any) -> list[dict[str, Any]]:
    business_id = yelp_id(key)
    reply = await yelp(session, "get_reviews_for_business", business_id=business_id, **args)
    return reply["reviews"]


async def google_reviews(session: Session, key: str, **args: Any) -> list[dict[str, Any]]:
    reply = await maps(session, "get_place_reviews", business_id=map_id(key), **args)
    return reply["reviews"]


def latest_by_place(name: str) -> dict[tuple[str, str], str]:
    """Return the texts of life's reviews by site and place.

    Of two reviews of one place, the later one edited the first.
    """
    texts = {}
    for happening in Builder(name, person(name)).life:
        review = happening.get("review")
        if review is not None:
            reviewed = review.get("place") or happening["place"]
            for site in review["on"]:
                texts[site, reviewed] = review["text"]
    return texts


def go_to(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)


# -- the world --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
async def test_reviews_in_life_are_on_the_sites_where_they_were_written(name: str) -> None:
    session = session_of(name, "yelp", "google_map_review")
    on_yelp = (await yelp(session, "get_my_yelp_reviews", limit=100))["reviews"]
    on_google = (await maps(session, "get_my_reviews", limit=100))["reviews"]
    mine = {
        "yelp": [review["text"] for review in on_yelp],
        "google_map_review": [review["text"] for review in on_google],
    }
    told = latest_by_place(name)
    assert len(told) >= 10
    assert [(site, text) for (site, _), text in told.items() if text not in mine[site]] == []
    for site, texts in mine.items():
        assert len(texts) >= 8
        for table, least in (("places", 100), ("reviews", 600), ("questions", 30)):
            count = session.world.sql(f"SELECT count(*) FROM {site}_{table}")[0][0]
            assert count >= least, (site, table)


async def test_ratings_and_counts_follow_from_the_reviews(session: Session) -> None:
    before = await business(session, "pho_hoa_mai")
    counts = {int(stars): count for stars, count in before["reviews_by_rating"].items()}
    total = sum(stars * count for stars, count in counts.items())
    assert before["review_count"] == sum(counts.values())
    assert before["rating"] == pytest.approx(total / sum(counts.values()), abs=0.051)
    review = {"business_id": yelp_id("pho_hoa_mai"), "rating": 1, "text": "Cold."}
    review_id = (await yelp(session, "compose_review", **review))["review_id"]
    after = await business(session, "pho_hoa_mai")
    assert after["review_count"] == before["review_count"] + 1
    assert after["rating"] < before["rating"]
    await yelp(session, "remove_review", review_id=review_id)
    assert await business(session, "pho_hoa_mai") == before


async def test_yelp_hides_a_burst_of_praise_and_google_counts_it(session: Session) -> None:
    listed = await business(session, "noodle_post")
    hidden = await yelp_reviews(session, "noodle_post", not_recommended=True)
    days = ("2026-02-21", "2026-02-22", "2026-02-23")
    burst = [review["rating"] for review in hidden if review["created_at"][:10] in days]
    assert len(burst) >= 6 and set(burst) == {5}
    assert listed["not_recommended_count"] == len(hidden)
    counted = await place(session, "noodle_post")
    assert counted["rating"] > listed["rating"] + 0.4 and counted["ratings"]["5"] >= 11


async def test_a_place_has_worse_reviews_since_it_changed_hands(session: Session) -> None:
    reviews = await google_reviews(session, "saffron_gate", max_results=100)
    old = [review["rating"] for review in reviews if review["published_at"] < "2025-09-15"]
    new = [review["rating"] for review in reviews if review["published_at"] >= "2025-09-15"]
    assert old and new and sum(new) / len(new) + 1 < sum(old) / len(old)
    about = await google_reviews(session, "saffron_gate", keywords="sold september")
    assert [review["rating"] for review in about] == [2]


async def test_only_google_knows_of_a_move_and_only_yelp_of_a_closure(
    session: Session,
) -> None:
    moved = await place(session, "slabtown_old")
    new_id = moved["new_place_id"]
    assert moved["business_status"] == "CLOSED_PERMANENTLY"
    new = await maps(session, "get_place_details", business_id=new_id)
    assert new["formatted_address"].startswith("2012 NW Thurman Street")
    assert new["business_status"] == "OPERATIONAL"
    assert not (await business(session, "slabtown_old"))["is_closed"]
    assert (await business(session, "rosas_cantina"))["is_closed"]
    assert (await place(session, "rosas_cantina"))["business_status"] == "OPERATIONAL"
    listed = await maps(session, "get_place_reviews", business_id=new_id, sort_by="oldest")
    oldest = listed["reviews"][0]
    assert oldest["published_at"] < "2025-10-12" and "23rd" in oldest["text"]


# -- finding places ---------------------------------------------------------------------------


async def test_words_find_kinds_and_names_and_closed_places_only_on_request(
    session: Session,
) -> None:
    open_ones = await businesses(session, query="rosa")
    assert [item["name"] for item in open_ones] == ["Rosa's Kitchen"]
    both = await businesses(session, query="rosa", include_closed=True)
    closed = {item["name"]: item["is_closed"] for item in both}
    assert closed == {"Rosa's Kitchen": False, "Rosas Cantina": True}
    coffee = await places(session, category="coffee", query="hazel", location=PORTLAND)
    assert len(coffee) == 3 and len({item["formatted_address"] for item in coffee}) == 3
    assert await businesses(session, query="ethiopian") == []  # none in the home city
    assert len(await places(session, query="ethiopian")) == 2
    misspelt = {"location": "Portlant"}
    assert await yelp_refusal(session, "search_businesses", **misspelt) == "LOCATION_NOT_FOUND"


async def test_prices_are_dollar_signs_on_yelp_and_numbers_on_google(session: Session) -> None:
    in_portland = {"location": PORTLAND, "max_results": 100}
    cheap = await businesses(session, price_level="$", **in_portland)
    assert cheap and {item["price_level"] for item in cheap} == {"$"}
    dear = await places(session, price_level=3, **in_portland)
    assert dear and {item["price_level"] for item in dear} == {3}


async def test_a_search_around_a_point_measures_miles(session: Session) -> None:
    around = {
        "latitude": 45.5181,
        "longitude": -122.6431,
        "radius_miles": 1.0,
        "sort_by": "distance",
        "max_results": 100,
    }
    listed = await businesses(session, **around)
    away = [item["distance_miles"] for item in listed]
    assert away == sorted(away) and max(away) <= 1.0 and len(listed) > 5
    details = await yelp(session, "get_business", business_id=listed[-1]["business_id"])
    assert miles(45.5181, -122.6431, details["latitude"], details["longitude"]) == away[-1]
    near_afuri = {"near_place": map_id("afuri"), "sort_by": "distance", "radius_miles": 0.5}
    nearest = (await places(session, **near_afuri))[0]
    assert nearest["name"] == "Afuri" and nearest["distance_miles"] == 0
    half = {"latitude": 45.5}
    assert await yelp_refusal(session, "search_businesses", **half) == "VALIDATION_ERROR"
    pointless = {"sort_by": "distance"}
    assert await google_refusal(session, "search_places", **pointless) == "INVALID_REQUEST"


async def test_open_now_follows_the_clock_and_the_citys_zone(session: Session) -> None:
    async def is_open(key: str) -> bool:
        return (await business(session, key))["is_open_now"]

    # It is nine on a Saturday morning.
    assert await is_open("stumptown")
    assert not await is_open("etxe_txiki")
    go_to(session, "2026-03-14T23:29:30Z")
    assert await is_open("stumptown")
    go_to(session, "2026-03-14T23:30:30Z")  # it closes at 16:30 in Portland
    assert not await is_open("stumptown")
    go_to(session, "2026-03-15T00:00:30Z")
    assert await is_open("etxe_txiki")
    monday = await places(session, query="etxe", open_at="2026-03-16T20:00:00-07:00")
    wednesday = await places(session, query="etxe", open_at="2026-03-18T20:00:00-07:00")
    assert (len(monday), len(wednesday)) == (0, 1)


async def test_a_bar_that_closes_after_midnight_is_open_after_midnight(session: Session) -> None:
    bars = session.world.sql(
        "SELECT id FROM yelp_places WHERE hours LIKE '%-02:00%' AND closed_at IS NULL ORDER BY id"
    )
    assert bars
    bar_id = bars[0][0]
    go_to(session, "2026-03-15T08:30:00Z")  # 1:30 on Sunday morning: Saturday's opening
    assert (await yelp(session, "get_business", business_id=bar_id))["is_open_now"]
    go_to(session, "2026-03-15T10:30:00Z")
    assert not (await yelp(session, "get_business", business_id=bar_id))["is_open_now"]


async def test_a_pause_ends_by_the_clock(session: Session) -> None:
    paused = await place(session, "kumo_sushi")
    assert paused["business_status"] == "CLOSED_TEMPORARILY"
    assert paused["reopens_at"] == "2026-03-24T15:00:00Z"
    go_to(session, "2026-03-25T01:00:00Z")
    reopened = await place(session, "kumo_sushi")
    assert reopened["business_status"] == "OPERATIONAL" and reopened["open_now"]


# -- reviews ----------------------------------------------------------------------------------


async def test_users_write_one_review_per_place_and_change_only_their_own(session: Session) -> None:
    again = {"business_id": yelp_id("afuri"), "rating": 5, "text": "Again"}
    assert await yelp_refusal(session, "compose_review", **again) == "ALREADY_REVIEWED"
    other = (await yelp_reviews(session, "tabor_vet"))[0]
    change = {"review_id": other["review_id"], "rating": 1}
    assert await yelp_refusal(session, "update_review", **change) == "NOT_REVIEW_OWNER"
    namesake = (await google_reviews(session, "tabor_vet", keywords="nail trim"))[0]
    assert namesake["author_name"] == "Maya L." and not namesake["own"]
    namesake_id = namesake["review_id"]
    code = await google_refusal(session, "delete_review", review_id=namesake_id)
    assert code == "PERMISSION_DENIED"
    mine = (await yelp(session, "get_my_yelp_reviews"))["reviews"][0]
    mine_id = mine["review_id"]
    text = f"{mine['text']} Twice."
    edited = await yelp(session, "update_review", review_id=mine_id, text=text)
    assert edited["updated_at"] is not None
    assert edited["created_at"] == mine["created_at"]
    assert edited["rating"] == mine["rating"]
    assert await yelp_refusal(session, "update_review", review_id=mine_id) == "VALIDATION_ERROR"


async def test_a_vote_counts_once_and_never_for_ones_own_review(session: Session) -> None:
    review = (await yelp_reviews(session, "tabor_vet"))[0]
    for _ in range(2):
        voted = await yelp(session, "mark_review_useful", review_id=review["review_id"])
        assert voted["helpful_count"] == review["useful_count"] + 1
    mine = (await maps(session, "get_my_reviews"))["reviews"][0]
    code = await google_refusal(session, "mark_review_helpful", review_id=mine["review_id"])
    assert code == "CANNOT_VOTE_OWN_REVIEW"


async def test_yelp_accepts_reviews_of_a_closed_place_and_google_does_not(session: Session) -> None:
    review = {"rating": 4, "text": "It was good while it lasted."}
    old_id = map_id("slabtown_old")
    code = await google_refusal(session, "add_review", business_id=old_id, **review)
    assert code == "PLACE_CLOSED"
    closed_id = yelp_id("rosas_cantina")
    published = await yelp(session, "compose_review", business_id=closed_id, **review)
    assert published["status"] == "published"


# -- what is kept and asked -------------------------------------------------------------------


async def test_a_second_note_is_saved_on_yelp_and_refused_on_google(session: Session) -> None:
    collections = (await yelp(session, "list_collections"))["collections"]
    collection = {"collection_id": collections[0]["collection_id"]}
    held = (await yelp(session, "get_collection", **collection))["businesses"][0]
    entry = collection | {"business_id": held["business_id"]}
    again = await yelp(session, "add_to_collection", **entry, note="Another note")
    assert again["status"] == "already_in_collection"
    held = (await yelp(session, "get_collection", **collection))["businesses"][0]
    assert held["note"] == "Another note"
    list_id = (await maps(session, "get_all_lists"))["lists"][0]["list_id"]
    listed = (await maps(session, "get_list", list_id=list_id))["places"][0]
    entry = {"list_id": list_id, "business_id": listed["business_id"]}
    assert await google_refusal(session, "add_to_list", **entry) == "ALREADY_IN_LIST"
    await maps(session, "remove_from_list", **entry)
    assert await google_refusal(session, "remove_from_list", **entry) == "NOT_IN_LIST"
    code = await yelp_refusal(session, "create_collection", name="chicago")
    assert code == "COLLECTION_EXISTS"


async def test_an_answer_is_given_once_and_read_with_its_question(session: Session) -> None:
    powells = {"business_id": map_id("powells")}
    text = "Is the map room open on Sunday?"
    asked = await maps(session, "ask_place_question", **powells, question_text=text)
    again = powells | {"question_text": "is the map room open on sunday?"}
    assert await google_refusal(session, "ask_place_question", **again) == "DUPLICATE_QUESTION"
    answer = {"question_id": asked["question_id"], "answer_text": "From noon."}
    await maps(session, "answer_place_question", **answer)
    second = answer | {"answer_text": "x"}
    assert await google_refusal(session, "answer_place_question", **second) == "ALREADY_ANSWERED"
    newest = (await maps(session, "get_place_questions", **powells))["questions"][0]
    assert newest["question_id"] == asked["question_id"]
    assert [answer["text"] for answer in newest["answers"]] == ["From noon."]


async def test_saved_places_are_saved_once(session: Session) -> None:
    powells = yelp_id("powells")
    before = (await yelp(session, "list_saved_businesses"))["businesses"]
    for _ in range(2):
        await yelp(session, "save_business", business_id=powells)
    after = (await yelp(session, "list_saved_businesses"))["businesses"]
    earlier_ids = [item["business_id"] for item in before]
    assert [item["business_id"] for item in after] == [powells, *earlier_ids]
    assert "Rosas Cantina" in [item["name"] for item in after if item["is_closed"]]
    await yelp(session, "unsave_business", business_id=powells)
    assert await yelp_refusal(session, "unsave_business", business_id=powells) == "NOT_SAVED"


# -- what only one of them has ----------------------------------------------------------------


async def test_check_ins_at_one_place_are_an_hour_apart(session: Session) -> None:
    powells = yelp_id("powells")
    before = await yelp(session, "get_check_in_count", business_id=powells)
    await yelp(session, "check_in", business_id=powells)
    session.control.advance(HOUR - 60)
    assert await yelp_refusal(session, "check_in", business_id=powells) == "ALREADY_CHECKED_IN"
    elsewhere = await yelp(session, "check_in", business_id=yelp_id("stumptown"))
    assert elsewhere["status"] == "checked_in"
    session.control.advance(60)
    await yelp(session, "check_in", business_id=powells)
    after = await yelp(session, "get_check_in_count", business_id=powells)
    assert after["total_check_ins"] == before["total_check_ins"] + 2
    history = (await yelp(session, "get_check_in_history"))["check_ins"]
    assert history[0]["business_name"] == "Powell's Books"
    closed = yelp_id("rosas_cantina")
    assert await yelp_refusal(session, "check_in", business_id=closed) == "BUSINESS_CLOSED"


async def test_points_and_level_follow_from_contributions(session: Session) -> None:
    async def points() -> int:
        return (await maps(session, "get_local_guide_status"))["points"]

    start = await points()
    url = "https://photos.example.com/maya/new.jpg"
    photo = {"business_id": map_id("powells"), "photo_url": url}
    assert (await maps(session, "add_photo", **photo))["points_awarded"] == 5
    assert await google_refusal(session, "add_photo", **photo) == "DUPLICATE_PHOTO"
    review = {"business_id": map_id("kumo_sushi"), "rating": 5, "text": "Worth it. " * 25}
    long = await maps(session, "add_review", **review)
    assert long["points_awarded"] == 20 and await points() == start + 25
    lost = await maps(session, "delete_review", review_id=long["review_id"])
    assert lost["points_lost"] == 20 and await points() == start + 5
    history = (await maps(session, "get_contribution_history", limit=100))["contributions"]
    assert sum(entry["points"] for entry in history) == start + 5
    assert history[0]["type"] == "photos"
    assert {entry["type"] for entry in history} == {"photos", "reviews", "answers"}
    pages: list[dict[str, Any]] = []
    cursor = None
    while cursor is not None or not pages:
        reply = await maps(session, "get_contribution_history", limit=3, cursor=cursor)
        pages += reply["contributions"]
        cursor = reply["next_cursor"]
    assert pages == history
    status = await maps(session, "get_local_guide_status")
    assert status["level"] == 3 and status["points_to_next_level"] == 250 - status["points"]


async def test_each_site_writes_hours_in_its_own_way(session: Session) -> None:
    on_yelp = await business(session, "stumptown")
    assert on_yelp["opening_hours"][0] == {"day": "Monday", "hours": "07:00-16:30"}
    on_google = await place(session, "stumptown")
    assert on_google["weekday_text"][0] == "Monday: 7:00 AM – 4:30 PM"
    closed = await place(session, "etxe_txiki")
    assert closed["weekday_text"][0] == "Monday: Closed"


@pytest.mark.parametrize("service", ["yelp", "google_map_review"])
@pytest.mark.parametrize("name", names())
async def test_no_two_reviews_are_word_for_word_the_same(name: str, service: str) -> None:
    world = shared(name)
    bodies = Counter(row["body"] for row in world.rows(f"{service}_reviews"))
    assert [body for body, times in bodies.items() if times > 1] == []
    closed = world.rows(f"{service}_places", "closed_at IS NOT NULL")
    days = Counter(row["closed_at"] for row in closed)
    assert max(days.values()) <= 2, "too many places close on the same day"


async def test_a_place_is_open_after_it_reopens(session: Session) -> None:
    now = iso(session.control.now)
    row = session.world.rows("google_map_review_places", "reopens_at>?", now)[0]
    back = parse_time(row["reopens_at"]) + DAY
    details = await maps(session, "get_place_details", business_id=row["id"])
    assert details["business_status"] == "CLOSED_TEMPORARILY" and details["open_now"] is False
    open_ids = set()
    for hour in range(0, 7 * 24, 3):
        open_at = iso(back + hour * HOUR)
        listed = await places(session, query=row["name"], open_at=open_at, max_results=100)
        open_ids.update(item["business_id"] for item in listed)
    assert row["id"] in open_ids, "no search finds it open after it has reopened"


async def test_categories_match_whole_words() -> None:
    session = session_of("rafael", "yelp", "google_map_review")
    bars = await businesses(session, category="Bars", max_results=100)
    categories = {item["category"] for item in bars}
    assert "Cocktail bar" in categories
    assert not categories & {"Barber", "Barbecue restaurant"}


async def test_one_photo_given_twice_counts_once(session: Session) -> None:
    url = "https://photos.example.com/maya/twice.jpg"
    photos = {"photos": [url, url]}
    review = {"business_id": map_id("kumo_sushi"), "rating": 5, "text": "Go."} | photos
    published = await maps(session, "add_review", **review)
    assert published["points_awarded"] == 15
    edited = await maps(session, "edit_review", review_id=published["review_id"], **photos)
    assert edited["photos"] == [url] and edited["edited_at"] is None, (
        "an unchanged review counts as edited"
    )
