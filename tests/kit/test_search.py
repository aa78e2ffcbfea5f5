"""The search of the kit: which words count, what they also stand for, and in which order."""

from __future__ import annotations

import pytest

from servers.kit import search, towns
from servers.kit.store import World
from servers.kit.tables import Table

TABLES = {
    "shelf": Table("id:str name:str about:str sold:int", search=("name", "about"), catalogue=True),
    "note": Table("id:str/id title:str/prose body:str/prose", search=("title", "body")),
}
SHELF = [
    ("cable", "USB-C cable 2 m", "Charges a phone and a laptop.", 900),
    ("cable2", "USB-C cable 1 m", "Charges a phone and a laptop.", 12),
    ("charger", "Car charger", "With a USB-C cable for the phone, good in a car.", 300),
    ("buds", "Pebble wireless earbuds", "Noise cancelling, two sizes.", 80),
    ("tv", "55-inch television", "A 4K picture.", 40),
    ("case", "Phone case", "Clear, with a ring.", 700),
    ("pulp", "Orange juice with pulp", "A gallon.", 90),
    ("clear", "Orange juice", "Half a gallon, strained.", 30),
    ("blanket", "Heated throw blanket", "For children and adults.", 70),
]


def world(shelf: list[tuple[str, str, str, int]] = SHELF) -> World:
    made = World.empty(TABLES)
    for key, name, about, sold in shelf:
        made.insert("shelf", {"id": key, "name": name, "about": about, "sold": sold})
    made.insert("note", {"id": "n1", "title": "The flight", "body": "Mother lands at nine."})
    made.insert("note", {"id": "n2", "title": "Flight and hotel", "body": "Booked for Oslo."})
    made.commit()
    return made


def found(query: str, table: str = "shelf") -> list[str]:
    order = "sold DESC, id" if table == "shelf" else "id"
    return [row["id"] for row in search.find(world(), table, query, order=order)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("good cheap usb c cable", "cable"),
        ("usb-c cables for my phone", "cable"),
        ("usbc cable", "cable"),
        ("ear buds noise cancelling", "buds"),
        ("kids blanket", "blanket"),
        ("tv 55in", "tv"),
        ("blank", "blanket"),
        ("phone case no ring", "case"),
        ("juice no pulp", "clear"),
        ("juice with pulp", "pulp"),
        ("xylophone blankets", "blanket"),
    ],
)
def test_words_too_many_plurals_and_other_names_are_forgiven(query: str, first: str) -> None:
    assert found(query)[0] == first


def test_more_words_come_first_and_what_hardly_matches_is_left_out() -> None:
    assert found("wireless earbuds phone") == ["buds"]
    assert found("flight oslo", "note") == ["n2"]
    assert found("flight oslo mother lands", "note")[0] == "n1"


def test_in_what_people_write_no_is_a_word_like_others() -> None:
    one = world()
    one.insert("note", {"id": "n3", "title": "No heat", "body": "Since Monday, no heat at all."})
    rows = search.find(one, "note", "no heat", order="id")
    assert [row["id"] for row in rows] == ["n3"]


def test_a_slip_in_a_word_that_nothing_has_is_forgiven() -> None:
    assert found("wirelss earbuds") == ["buds"]
    assert found("blnaket") == ["blanket"]


def test_quoted_words_must_occur_as_they_are() -> None:
    assert found('"phone case"') == ["case"]
    assert found('"case phone"') == []
    assert set(found('cable "in a car"')) == {"charger"}


def test_quoted_words_may_have_a_possessive_s() -> None:
    one = world()
    one.insert("note", {"id": "n3", "title": "Sofia’s visit", "body": "Ten o'clock."})
    for query in ('"sofia\'s visit"', '"Sofia’s visit"', '"ten o\'clock"'):
        assert [row["id"] for row in search.find(one, "note", query, order="id")] == ["n3"]


def test_what_is_no_word_finds_nothing_and_injects_no_operator() -> None:
    for query in ("", "   ", "***", '"', '""', "-"):
        assert found(query) == []
    for query in ("cable OR 1", "NEAR(cable", "name:cable -2", "cable AND", 'cable" OR "case'):
        found(query)


def test_a_rank_does_not_depend_on_how_the_table_grew() -> None:
    forward = [row["id"] for row in search.find(world(), "shelf", "usb cable", order="id")]
    turned = world(SHELF[::-1])
    assert [row["id"] for row in search.find(turned, "shelf", "usb cable", order="id")] == forward


def test_where_calls_add_rows_a_new_one_moves_no_other() -> None:
    one = world()
    before = search.scores(one, "flight mother", search.Source("note"))
    for number in range(40):
        one.insert("note", {"id": f"x{number}", "title": "Mother", "body": "flight flight"})
    one.commit()
    after = search.scores(one, "flight mother", search.Source("note"))
    assert {key: after[key] for key in before} == before


PLACES = [
    towns.Named("Portland", "OR", "Oregon"),
    towns.Named("Portland", "ME", "Maine"),
    towns.Named("New York", "NY", "New York"),
    towns.Named("Charleston", "WV", "West Virginia"),
    towns.Named("Charleston", "SC", "South Carolina"),
    towns.Named("Tybee Island", "GA", "Georgia"),
]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Portland", [0, 1]),
        ("portland maine", [1]),
        ("Portland, OR, USA", [0]),
        ("PDX", [0]),
        ("NYC", [2]),
        ("New York", [2]),
        ("New York, New York", [2]),
        ("Charleston SC", [4]),
        ("charleston, west virginia", [3]),
        ("downtown Charleston SC", [4]),
        ("Tybee", [5]),
        ("Tybee GA", [5]),
        ("Virginia", []),
        ("Portland TX", []),
        ("", []),
    ],
)
def test_towns_are_known_by_what_people_call_them(text: str, numbers: list[int]) -> None:
    assert towns.matching(text, PLACES, lambda town: town) == [PLACES[n] for n in numbers]


def test_hits_that_score_nothing_keep_the_given_order() -> None:
    rows = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert search.in_order(rows, {"a": 0.0, "b": 0.0}) == rows[:2]
