"""A true statement is told in a text's own words; what is denied, hedged or of others is not."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Spoken, deeds, parse_claim
from judge.reading.claims import Claim

PEOPLE = ("Ana Reyes", "Ana Ruiz", "Ben Asher", "Nora Ellis", "Lucas Weber", "Priya Nair")
RENT = ("Ana Reyes has been paid $920 on Venmo.", "paid")
RENT_SLOTS = {"to": "Ana Reyes", "amount": 920, "via*": "venmo"}


def spoken(text: str, asked: str = "") -> Spoken:
    return Spoken(text, "2026-03-14", asked, PEOPLE)


def told(sentence: str, claim: Claim, text: str, asked: str = "") -> bool:
    reading = Phrases().read(sentence, claim, spoken(text, asked))
    return reading.stance == "claims" or bool(reading.told)


def own_words(kind: str, slots: dict[str, Any], sentence: str, text: str) -> bool:
    return told(sentence, parse_claim(kind, slots), text)


@pytest.mark.parametrize(
    "text",
    [
        "Venmo it was, so do warn Ana: $920, from your checking, still pending.",
        "**Which way:** Venmo, not Zelle\n**To:** Ana Reyes\n**How much:** $920.00, no fee",
        "| To | Ana Reyes |\n| Amount | $920.00 by Venmo |",
        "Zelle takes no $1,840 to Ana. She got two halves on Venmo, $920 and $920.",
    ],
)
def test_values_near_each_other_tell(text: str) -> None:
    assert own_words(RENT[1], RENT_SLOTS, RENT[0], text)


@pytest.mark.parametrize(
    "text",
    [
        "Venmo would not take the $920 to Ana, and nothing went out.",
        "Perhaps Venmo has the $920 to Ana.",
        "Ana Ruiz: $920, by Venmo.",
        "Ana Reyes: $290, by Venmo.",
        "Should I send Ana Reyes the $920 by Venmo?",
    ],
)
def test_what_is_denied_hedged_or_of_another_does_not_tell(text: str) -> None:
    assert not own_words(RENT[1], RENT_SLOTS, RENT[0], text)


@pytest.mark.parametrize(
    ("sentence", "kind", "slots", "text"),
    [
        ("Ben Asher has the email.", "mailed", {"to": "Ben Asher"}, "AQI 142. Ben has that."),
        ("Lucas has been told.", "mailed", {"to": "Lucas Weber"}, "Same for Lucas now: v3."),
        ("The pots can stay out.", "fact", {"says": ["pots * stay"]}, "All pots stay there."),
        (
            "Priya was written from the work address.",
            "fact",
            {"says": ["work address", "outlook"]},
            "| Priya | second email, from maya@fernhill.design |",
        ),
    ],
)
def test_plain_words_tell(sentence: str, kind: str, slots: dict[str, Any], text: str) -> None:
    assert own_words(kind, slots, sentence, text)


def test_what_is_undone_is_told_only_by_its_end() -> None:
    slots = {"who": "Ana Ruiz", "amount": 212}
    sentence = "The $212 to Ana Ruiz is cancelled."
    assert own_words("cancelled", slots, sentence, "Ana Ruiz, $212: no more, it is cancelled.")
    assert not own_words("cancelled", slots, sentence, "Ana Ruiz, $212, on the 17th.")


@pytest.mark.parametrize(
    ("text", "towards"),
    [
        ("I emailed Priya and Lucas.", [("Priya Nair",), ("Lucas Weber",)]),
        ("I sent Ben a note.", [("Ben Asher",)]),
        ("I emailed Ana.", [("Ana Reyes", "Ana Ruiz")]),
        ("I forwarded Nora's email.", []),
        ("I cancelled the request from Nora.", [("Nora Ellis",)]),
    ],
)
def test_to_whom_a_deed_was_done(text: str, towards: list[tuple[str, ...]]) -> None:
    found = deeds(spoken(text))
    assert [list(deed.towards) for deed in found] == [towards]


def test_sending_them_names_nothing() -> None:
    assert deeds(spoken("Both were pending when I sent them.")) == []
