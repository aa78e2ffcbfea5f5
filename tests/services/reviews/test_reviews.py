"""What makes Yelp and Google Maps unlike each other, and the rules of reviews, lists and questions that they share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scenarios.worlds.build import Builder, names, parsed, person, shared
from scenarios.worlds.fill.reviews._site import PHRASES
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


def go_to(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)


# -- the world ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
async def test_what_the_person_wrote_in_life_stands_where_it_was_written(name: str) -> None:
    session = session_of(name, "yelp", "google_map_review")
    mine = {
        "yelp": [
            r["text"] for r in (await yelp(session, "get_my_yelp_reviews", limit=100))["reviews"]
        ],
        "google_map_review": [
            r["text"] for r in (await maps(session, "get_my_reviews", limit=100))["reviews"]
        ],
    }
    told = {}  # of two reviews of one place, the later one edited the first
    for happening in (h for h in Builder(name, person(name)).life if "review" in h):
        said = happening["review"]
        told |= {
            (site, said.get("place") or happening["place"]): said["text"] for site in said["on"]
        }
    assert len(told) >= 10
    assert [(site, text) for (site, _), text in told.items() if text not in mine[site]] == []
    for site, texts in mine.items():
        assert len(texts) >= 8
        for table, least in (("places", 100), ("reviews", 600), ("questions", 30)):
            assert session.world.sql(f"SELECT count(*) FROM {site}_{table}")[0][0] >= least, (
                site,
                table,
            )


async def test_ratings_and_counts_follow_from_the_reviews_that_stand(session: Session) -> None:
    before = await yelp(session, "get_business", business_id=yelp_id("pho_hoa_mai"))
    stars = {int(s): n for s, n in before["reviews_by_rating"].items()}
    assert before["review_count"] == sum(stars.values())
    assert before["rating"] == pytest.approx(
        sum(s * n for s, n in stars.items()) / sum(stars.values()), abs=0.051
    )
    made = await yelp(
        session, "compose_review", business_id=yelp_id("pho_hoa_mai"), rating=1, text="Cold."
    )
    after = await yelp(session, "get_business", business_id=yelp_id("pho_hoa_mai"))
    assert (
        after["review_count"] == before["review_count"] + 1 and after["rating"] < before["rating"]
    )
    await yelp(session, "remove_review", review_id=made["review_id"])
    assert await yelp(session, "get_business", business_id=yelp_id("pho_hoa_mai")) == before


async def test_yelp_hides_a_burst_of_praise_and_google_counts_it(session: Session) -> None:
    listed = await yelp(session, "get_business", business_id=yelp_id("noodle_post"))
    hidden = (
        await yelp(
            session,
            "get_reviews_for_business",
            business_id=yelp_id("noodle_post"),
            not_recommended=True,
        )
    )["reviews"]
    burst = [
        r for r in hidden if r["created_at"][:10] in ("2026-02-21", "2026-02-22", "2026-02-23")
    ]
    assert (
        len(burst) >= 6
        and {r["rating"] for r in burst} == {5}
        and listed["not_recommended_count"] == len(hidden)
    )
    counted = await maps(session, "get_place_details", business_id=map_id("noodle_post"))
    assert counted["rating"] > listed["rating"] + 0.4 and counted["ratings"]["5"] >= 11


async def test_a_place_that_changed_hands_reads_worse_since(session: Session) -> None:
    found = (
        await maps(
            session, "get_place_reviews", business_id=map_id("saffron_gate"), max_results=100
        )
    )["reviews"]
    old = [r["rating"] for r in found if r["published_at"] < "2025-09-15"]
    new = [r["rating"] for r in found if r["published_at"] >= "2025-09-15"]
    assert old and new and sum(new) / len(new) + 1 < sum(old) / len(old)
    about = (
        await maps(
            session,
            "get_place_reviews",
            business_id=map_id("saffron_gate"),
            keywords="sold september",
        )
    )["reviews"]
    assert [r["rating"] for r in about] == [2]


async def test_a_move_is_known_to_google_alone_and_a_closure_to_yelp_alone(
    session: Session,
) -> None:
    moved = await maps(session, "get_place_details", business_id=map_id("slabtown_old"))
    assert moved["business_status"] == "CLOSED_PERMANENTLY"
    new = await maps(session, "get_place_details", business_id=moved["new_place_id"])
    assert (
        new["formatted_address"].startswith("2012 NW Thurman Street")
        and new["business_status"] == "OPERATIONAL"
    )
    assert not (await yelp(session, "get_business", business_id=yelp_id("slabtown_old")))[
        "is_closed"
    ]
    assert (await yelp(session, "get_business", business_id=yelp_id("rosas_cantina")))["is_closed"]
    assert (await maps(session, "get_place_details", business_id=map_id("rosas_cantina")))[
        "business_status"
    ] == "OPERATIONAL"
    old = (
        await maps(
            session, "get_place_reviews", business_id=moved["new_place_id"], sort_by="oldest"
        )
    )["reviews"][0]
    assert old["published_at"] < "2025-10-12" and "23rd" in old["text"]


# -- finding places -------------------------------------------------------------------------------------------------


async def test_words_find_kinds_and_names_and_closed_places_only_on_request(
    session: Session,
) -> None:
    names_found = [
        b["name"] for b in (await yelp(session, "search_businesses", query="rosa"))["businesses"]
    ]
    assert names_found == ["Rosa's Kitchen"]
    both = (await yelp(session, "search_businesses", query="rosa", include_closed=True))[
        "businesses"
    ]
    assert {b["name"]: b["is_closed"] for b in both} == {
        "Rosa's Kitchen": False,
        "Rosas Cantina": True,
    }
    coffee = (
        await maps(session, "search_places", category="coffee", query="hazel", location=PORTLAND)
    )["places"]
    assert len(coffee) == 3 and len({p["formatted_address"] for p in coffee}) == 3
    assert (await yelp(session, "search_businesses", query="ethiopian"))[
        "businesses"
    ] == []  # none in the home city
    assert len((await maps(session, "search_places", query="ethiopian"))["places"]) == 2
    assert (
        await refusal(session, "yelp", "search_businesses", location="Portlant")
        == "LOCATION_NOT_FOUND"
    )


async def test_prices_are_signs_on_yelp_and_numbers_on_google(session: Session) -> None:
    cheap = (
        await yelp(
            session, "search_businesses", price_level="$", location=PORTLAND, max_results=100
        )
    )["businesses"]
    assert cheap and {b["price_level"] for b in cheap} == {"$"}
    dear = (
        await maps(session, "search_places", price_level=3, location=PORTLAND, max_results=100)
    )["places"]
    assert dear and {p["price_level"] for p in dear} == {3}


async def test_a_search_around_a_point_measures_miles(session: Session) -> None:
    around = {
        "latitude": 45.5181,
        "longitude": -122.6431,
        "radius_miles": 1.0,
        "sort_by": "distance",
        "max_results": 100,
    }
    found = (await yelp(session, "search_businesses", **around))["businesses"]
    away = [b["distance_miles"] for b in found]
    assert away == sorted(away) and max(away) <= 1.0 and len(found) > 5
    details = await yelp(session, "get_business", business_id=found[-1]["business_id"])
    assert miles(45.5181, -122.6431, details["latitude"], details["longitude"]) == away[-1]
    near = (
        await maps(
            session,
            "search_places",
            near_place=map_id("afuri"),
            sort_by="distance",
            radius_miles=0.5,
        )
    )["places"]
    assert near[0]["name"] == "Afuri" and near[0]["distance_miles"] == 0
    assert await refusal(session, "yelp", "search_businesses", latitude=45.5) == "VALIDATION_ERROR"
    assert (
        await refusal(session, "google_map_review", "search_places", sort_by="distance")
        == "INVALID_REQUEST"
    )


async def test_open_now_follows_the_clock_and_the_citys_zone(session: Session) -> None:
    async def is_open(key: str) -> bool:
        return (await yelp(session, "get_business", business_id=yelp_id(key)))["is_open_now"]

    assert await is_open("stumptown") and not await is_open(
        "etxe_txiki"
    )  # Saturday, nine in the morning
    go_to(session, "2026-03-14T23:29:30Z")
    assert await is_open("stumptown")
    go_to(session, "2026-03-14T23:30:30Z")  # it closes at 16:30 in Portland
    assert not await is_open("stumptown")
    go_to(session, "2026-03-15T00:00:30Z")
    assert await is_open("etxe_txiki")
    shut = (
        await maps(session, "search_places", query="etxe", open_at="2026-03-16T20:00:00-07:00")
    )["places"]  # a Monday
    opened = (
        await maps(session, "search_places", query="etxe", open_at="2026-03-18T20:00:00-07:00")
    )["places"]
    assert (len(shut), len(opened)) == (0, 1)


async def test_a_bar_that_closes_after_midnight_is_open_after_midnight(session: Session) -> None:
    found = session.world.sql(
        "SELECT id, hours FROM yelp_places WHERE hours LIKE '%-02:00%' AND closed_at IS NULL ORDER BY id"
    )
    assert found
    go_to(session, "2026-03-15T08:30:00Z")  # 1:30 on Sunday morning: Saturday's opening
    assert (await yelp(session, "get_business", business_id=found[0][0]))["is_open_now"]
    go_to(session, "2026-03-15T10:30:00Z")
    assert not (await yelp(session, "get_business", business_id=found[0][0]))["is_open_now"]


async def test_a_pause_ends_by_the_clock(session: Session) -> None:
    place = await maps(session, "get_place_details", business_id=map_id("kumo_sushi"))
    assert (
        place["business_status"] == "CLOSED_TEMPORARILY"
        and place["reopens_at"] == "2026-03-24T15:00:00Z"
    )
    go_to(session, "2026-03-25T01:00:00Z")
    place = await maps(session, "get_place_details", business_id=map_id("kumo_sushi"))
    assert place["business_status"] == "OPERATIONAL" and place["open_now"]


# -- reviews --------------------------------------------------------------------------------------------------------


async def test_one_review_of_a_place_and_only_ones_own_is_changed(session: Session) -> None:
    assert (
        await refusal(
            session, "yelp", "compose_review", business_id=yelp_id("afuri"), rating=5, text="Again"
        )
        == "ALREADY_REVIEWED"
    )
    other = (await yelp(session, "get_reviews_for_business", business_id=yelp_id("tabor_vet")))[
        "reviews"
    ][0]
    assert (
        await refusal(session, "yelp", "update_review", review_id=other["review_id"], rating=1)
        == "NOT_REVIEW_OWNER"
    )
    namesake = (
        await maps(
            session, "get_place_reviews", business_id=map_id("tabor_vet"), keywords="nail trim"
        )
    )["reviews"][0]
    assert namesake["author_name"] == "Maya L." and not namesake["own"]
    assert (
        await refusal(
            session, "google_map_review", "delete_review", review_id=namesake["review_id"]
        )
        == "PERMISSION_DENIED"
    )
    mine = (await yelp(session, "get_my_yelp_reviews"))["reviews"][0]
    edited = await yelp(
        session, "update_review", review_id=mine["review_id"], text=f"{mine['text']} Twice."
    )
    assert (
        edited["updated_at"] is not None
        and edited["created_at"] == mine["created_at"]
        and edited["rating"] == mine["rating"]
    )
    assert (
        await refusal(session, "yelp", "update_review", review_id=mine["review_id"])
        == "VALIDATION_ERROR"
    )


async def test_a_vote_counts_once_and_not_for_oneself(session: Session) -> None:
    review = (await yelp(session, "get_reviews_for_business", business_id=yelp_id("tabor_vet")))[
        "reviews"
    ][0]
    for _ in range(2):
        voted = await yelp(session, "mark_review_useful", review_id=review["review_id"])
        assert voted["helpful_count"] == review["useful_count"] + 1
    mine = (await maps(session, "get_my_reviews"))["reviews"][0]
    assert (
        await refusal(
            session, "google_map_review", "mark_review_helpful", review_id=mine["review_id"]
        )
        == "CANNOT_VOTE_OWN_REVIEW"
    )


async def test_google_takes_no_review_of_a_closed_place_and_yelp_does(session: Session) -> None:
    said = {"rating": 4, "text": "It was good while it lasted."}
    assert (
        await refusal(
            session, "google_map_review", "add_review", business_id=map_id("slabtown_old"), **said
        )
        == "PLACE_CLOSED"
    )
    assert (await yelp(session, "compose_review", business_id=yelp_id("rosas_cantina"), **said))[
        "status"
    ] == "published"


# -- what is kept and asked -----------------------------------------------------------------------------------------


async def test_a_note_is_renewed_on_yelp_and_refused_on_google(session: Session) -> None:
    one = (await yelp(session, "list_collections"))["collections"][0]["collection_id"]
    held = (await yelp(session, "get_collection", collection_id=one))["businesses"][0]
    again = await yelp(
        session,
        "add_to_collection",
        collection_id=one,
        business_id=held["business_id"],
        note="Another note",
    )
    assert again["status"] == "already_in_collection"
    assert (await yelp(session, "get_collection", collection_id=one))["businesses"][0][
        "note"
    ] == "Another note"
    two = (await maps(session, "get_all_lists"))["lists"][0]["list_id"]
    place = (await maps(session, "get_list", list_id=two))["places"][0]["business_id"]
    assert (
        await refusal(session, "google_map_review", "add_to_list", list_id=two, business_id=place)
        == "ALREADY_IN_LIST"
    )
    await maps(session, "remove_from_list", list_id=two, business_id=place)
    assert (
        await refusal(
            session, "google_map_review", "remove_from_list", list_id=two, business_id=place
        )
        == "NOT_IN_LIST"
    )
    assert (
        await refusal(session, "yelp", "create_collection", name="chicago") == "COLLECTION_EXISTS"
    )


async def test_an_answer_is_given_once_and_read_with_its_question(session: Session) -> None:
    asked = await maps(
        session,
        "ask_place_question",
        business_id=map_id("powells"),
        question_text="Is the map room open on Sunday?",
    )
    again = {"business_id": map_id("powells"), "question_text": "is the map room open on sunday?"}
    assert (
        await refusal(session, "google_map_review", "ask_place_question", **again)
        == "DUPLICATE_QUESTION"
    )
    key = asked["question_id"]
    await maps(session, "answer_place_question", question_id=key, answer_text="From noon.")
    assert (
        await refusal(
            session, "google_map_review", "answer_place_question", question_id=key, answer_text="x"
        )
        == "ALREADY_ANSWERED"
    )
    shown = (await maps(session, "get_place_questions", business_id=map_id("powells")))[
        "questions"
    ][0]
    assert shown["question_id"] == key and [a["text"] for a in shown["answers"]] == ["From noon."]


async def test_saved_places_are_saved_once(session: Session) -> None:
    before = (await yelp(session, "list_saved_businesses"))["businesses"]
    for _ in range(2):
        await yelp(session, "save_business", business_id=yelp_id("powells"))
    after = (await yelp(session, "list_saved_businesses"))["businesses"]
    assert [b["business_id"] for b in after] == [
        yelp_id("powells"),
        *(b["business_id"] for b in before),
    ]
    assert "Rosas Cantina" in [b["name"] for b in after if b["is_closed"]]
    await yelp(session, "unsave_business", business_id=yelp_id("powells"))
    assert (
        await refusal(session, "yelp", "unsave_business", business_id=yelp_id("powells"))
        == "NOT_SAVED"
    )


# -- what only one of them has --------------------------------------------------------------------------------------


async def test_check_ins_at_one_place_are_an_hour_apart(session: Session) -> None:
    key = yelp_id("powells")
    before = (await yelp(session, "get_check_in_count", business_id=key))["total_check_ins"]
    await yelp(session, "check_in", business_id=key)
    session.control.advance(HOUR - 60)
    assert await refusal(session, "yelp", "check_in", business_id=key) == "ALREADY_CHECKED_IN"
    assert (await yelp(session, "check_in", business_id=yelp_id("stumptown")))[
        "status"
    ] == "checked_in"
    session.control.advance(60)
    await yelp(session, "check_in", business_id=key)
    assert (await yelp(session, "get_check_in_count", business_id=key))[
        "total_check_ins"
    ] == before + 2
    assert (await yelp(session, "get_check_in_history"))["check_ins"][0][
        "business_name"
    ] == "Powell's Books"
    assert (
        await refusal(session, "yelp", "check_in", business_id=yelp_id("rosas_cantina"))
        == "BUSINESS_CLOSED"
    )


async def test_points_and_level_follow_from_what_was_contributed(session: Session) -> None:
    async def points() -> int:
        return (await maps(session, "get_local_guide_status"))["points"]

    start = await points()
    photo = {
        "business_id": map_id("powells"),
        "photo_url": "https://photos.example.com/maya/new.jpg",
    }
    assert (await maps(session, "add_photo", **photo))["points_awarded"] == 5
    assert await refusal(session, "google_map_review", "add_photo", **photo) == "DUPLICATE_PHOTO"
    long = await maps(
        session, "add_review", business_id=map_id("kumo_sushi"), rating=5, text="Worth it. " * 25
    )
    assert long["points_awarded"] == 20 and await points() == start + 25
    lost = await maps(session, "delete_review", review_id=long["review_id"])
    assert lost["points_lost"] == 20 and await points() == start + 5
    history = (await maps(session, "get_contribution_history", limit=100))["contributions"]
    assert sum(c["points"] for c in history) == start + 5 and history[0]["type"] == "photos"
    status = await maps(session, "get_local_guide_status")
    assert status["level"] == 3 and status["points_to_next_level"] == 250 - status["points"]


async def test_hours_are_written_as_each_writes_them(session: Session) -> None:
    here = (await yelp(session, "get_business", business_id=yelp_id("stumptown")))["opening_hours"]
    there = (await maps(session, "get_place_details", business_id=map_id("stumptown")))[
        "weekday_text"
    ]
    assert (
        here[0] == {"day": "Monday", "hours": "07:00-16:30"}
        and there[0] == "Monday: 7:00 AM – 4:30 PM"
    )
    assert (await maps(session, "get_place_details", business_id=map_id("etxe_txiki")))[
        "weekday_text"
    ][0] == "Monday: Closed"


@pytest.mark.parametrize("service", ["yelp", "google_map_review"])
@pytest.mark.parametrize("name", names())
async def test_others_do_not_write_word_for_word_the_same(name: str, service: str) -> None:
    world = shared(name)
    parts = parsed(PHRASES)
    paid = {text for kind in ("burst", "closed") for text in parts[kind]}
    told = Counter(r["body"] for r in world.rows(f"{service}_reviews") if r["body"] not in paid)
    assert [text for text, times in told.items() if times > 1] == []
    days = Counter(r["closed_at"] for r in world.rows(f"{service}_places") if r["closed_at"])
    assert max(days.values()) <= 2, "not all go out of business on one day"


async def test_a_place_that_reopens_is_open_then(session: Session) -> None:
    row = next(
        r
        for r in session.world.rows("google_map_review_places")
        if r["reopens_at"] and r["reopens_at"] > iso(session.control.now)
    )
    back = parse_time(row["reopens_at"]) + DAY
    shown = await maps(session, "get_place_details", business_id=row["id"])
    assert shown["business_status"] == "CLOSED_TEMPORARILY" and shown["open_now"] is False
    found = []
    for hour in range(0, 7 * 24, 3):
        listed = await maps(
            session,
            "search_places",
            query=row["name"],
            open_at=iso(back + hour * HOUR),
            max_results=100,
        )
        found += [p for p in listed["places"] if p["business_id"] == row["id"]]
    assert found, "it says that it is open after it reopens"


async def test_a_kind_of_place_is_meant_in_whole_words() -> None:
    session = session_of("rafael", "yelp", "google_map_review")
    kinds = {
        b["category"]
        for b in (await yelp(session, "search_businesses", category="Bars", max_results=100))[
            "businesses"
        ]
    }
    assert "Cocktail bar" in kinds and not kinds & {"Barber", "Barbecue restaurant"}


async def test_one_photo_given_twice_counts_once(session: Session) -> None:
    url = "https://photos.example.com/maya/twice.jpg"
    made = await maps(
        session,
        "add_review",
        business_id=map_id("kumo_sushi"),
        rating=5,
        text="Go.",
        photos=[url, url],
    )
    assert made["points_awarded"] == 15
    edited = await maps(session, "edit_review", review_id=made["review_id"], photos=[url, url])
    assert edited["photos"] == [url] and edited["edited_at"] is None, "nothing changed"
