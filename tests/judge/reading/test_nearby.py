"""The third sign: whether two neighbouring sentences hold all of a statement."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Spoken, parse_claim
from judge.reading.nearby import nearby
from tests.judge.reading.said import PEOPLE

PAID = ("Ana Reyes has been paid $40 by Venmo.", "paid", {"to": "Ana Reyes", "amount": 40})
RAIN = (
    "The chance of rain in Bend is 5 percent.",
    "figure",
    {"of": "Bend", "is*": 5, "unit": "percent"},
)


def near(statement: tuple[str, str, dict[str, Any]], text: str) -> str:
    sentence, kind, slots = statement
    spoken = Spoken(text, "2026-03-14", "", PEOPLE)
    return nearby(sentence, parse_claim(kind, slots), spoken)


@pytest.mark.parametrize(
    "text",
    [
        "It went by Venmo: $40 to Ana Reyes, paid from checking.",
        "Ana Reyes has it. Venmo shows $40 as paid, with no fee.",
    ],
)
def test_what_two_sentences_hold_in_full_is_near(text: str) -> None:
    assert near(PAID, text)


@pytest.mark.parametrize(
    "text",
    [
        "It went by Venmo: $40, paid from checking.",
        "Ana Reyes has it. I looked at Venmo. It shows $40 as paid.",
        "Venmo refused to pay Ana Reyes $40.",
        "Should I have paid Ana Reyes $40 by Venmo?",
        "Ana Reyes should have been paid $40 by Venmo.",
    ],
)
def test_a_value_away_a_denial_and_a_question_are_not(text: str) -> None:
    assert not near(PAID, text)


def test_another_figure_beside_the_right_one_is_unclear() -> None:
    sentence, kind, slots = RAIN
    claim = parse_claim(kind, slots)

    def read(text: str) -> bool:
        spoken = Spoken(text, "2026-03-14", "", PEOPLE)
        return bool(Phrases().read(sentence, claim, spoken).near())

    assert read("Bend is the drier one. It has a 5 percent chance of rain, Hood River 55 percent.")
    assert not read("The chance of rain is 55 percent in Bend, and 5 percent in Hood River.")
