"""The worlds' texts hardly repeat themselves, and the measure counts what it says."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.texture import AIM, own_words, prose, sentences, share, texts
from scenarios.worlds.build import names
from scenarios.worlds.fill._prose import Prose, filled
from scenarios.worlds.fill.shopping._opinions import called


@pytest.mark.parametrize("name", names())
def test_hardly_a_sentence_of_reviews_and_newsletters_comes_twice(name: str) -> None:
    found = texts(name)
    for written in (found.reviews, found.newsletters):
        counted = share(written)
        assert counted.count > 1000
        assert counted.share <= AIM, counted.worst


@pytest.mark.parametrize("name", ["maya", "rafael"])
def test_people_hardly_write_a_sentence_twice_and_at_length(name: str) -> None:
    found = texts(name).people
    counted = share(found)
    assert counted.count > 1000
    assert counted.share <= AIM, counted.worst
    words = sorted(len(text.split()) for text in found)
    assert words[len(words) // 2] >= 35


@pytest.mark.parametrize("name", names())
def test_newsletters_are_long(name: str) -> None:
    words = [len(text.split()) for text in texts(name).newsletters]
    assert min(words) >= 200 and sorted(words)[len(words) // 2] >= 280 and max(words) <= 650


@pytest.mark.parametrize("name", names())
def test_no_text_has_an_open_slot(name: str) -> None:
    found = texts(name)
    for text in (*found.reviews, *found.newsletters):
        assert not {"{", "}", "[", "|"} & set(text), text


def test_sentences_are_compared_without_digits_case_and_marks() -> None:
    assert sentences("We saw 12 dogs there. WE SAW 7 DOGS THERE!\nDear Ana,") == [
        "we saw # dogs there",
        "we saw # dogs there",
    ]
    assert sentences("Ask for Dr. Osei at the desk.") == ["ask for dr. osei at the desk"]
    assert share(["It rains here every day.", "It rains here every day!", "Other words are new."])[
        :2
    ] == (3, 2)


def test_quotations_signatures_and_headings_are_no_own_words() -> None:
    mail = "Yes, gladly.\n> Shall we?\nOn Tuesday, Ana wrote:\n> Shall we go?"
    assert own_words(mail) == "Yes, gladly.\n"
    assert own_words("See you.\n--\nMaya Lindqvist") == "See you."
    assert own_words("Look at this.\n---------- Forwarded message\nOld words.") == "Look at this.\n"
    assert prose("ON STAGE\nIt opens soon.\n--\nUnsubscribe") == "It opens soon."


def test_a_form_is_never_said_twice_in_the_same_words() -> None:
    said = Prose()
    form = "The {dish} came [cold|late]."
    facts = {"dish": ["soup", "bread"]}
    chance = Random(1)
    told = [said.say([form], facts, chance) for _ in range(40)]
    given = [each[1] for each in told if each is not None]
    assert len(given) == len(set(given)) <= 4
    assert said.say(["The {color} one."], facts, chance) is None


def test_a_slot_that_occurs_twice_is_filled_differently() -> None:
    facts = {"dish": ["soup", "bread"]}
    for seed in range(8):
        text = filled("{dish_cap} and {dish}", facts, Random(seed))
        assert text in ("Soup and bread", "Bread and soup")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("20 V cordless drill kit", "cordless drill kit"),
        ("AA batteries 24-pack", "AA batteries"),
        ("Air fryer 8 qt with window", "air fryer"),
        ("French press 1 l", "French press"),
        ("Wool blanket", "wool blanket"),
    ],
)
def test_products_are_called_by_their_names_without_sizes(name: str, short: str) -> None:
    assert called(name) == short
