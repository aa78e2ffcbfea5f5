"""A figure or a day belongs to the thing that its clause names."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Reading, Spoken, parse_claim, read

BELLS = {"of": "bells", "is": 17}
STAR = {"of": "star|tybee", "is": 11}
PEOPLE = ("Hannah Cole", "Ingrid Olsen", "Sam Oduya", "Samira Oduya")


def reading(kind: str, slots: dict[str, Any], text: str) -> Reading:
    return read(parse_claim(kind, slots), Spoken(text, "2026-03-10", "", PEOPLE))


@pytest.mark.parametrize(
    "text",
    [
        "We have 11 copies of Bells over Wassaw. We have 17 copies of Star over Tybee.",
        "We have 11 copies of Bells over Wassaw and 17 copies of Star over Tybee.",
        "Bells over Wassaw: 11, Star over Tybee: 17.",
        "- Bells over Wassaw: 11\n- Star over Tybee: 17",
    ],
)
def test_swapped_figures_contradict(text: str) -> None:
    assert reading("figure", BELLS, text).contradiction == "says 11, not 17"
    assert reading("figure", STAR, text).contradiction == "says 17, not 11"


@pytest.mark.parametrize(
    "text",
    [
        "We have 17 copies of Bells over Wassaw. We have 11 copies of Star over Tybee.",
        "We have 17 copies of Bells over Wassaw and 11 of Star over Tybee.",
        "Bells over Wassaw: 17, Star over Tybee: 11.",
    ],
)
def test_figures_that_are_right_are_claimed(text: str) -> None:
    for claim in (BELLS, STAR):
        assert reading("figure", claim, text).stance == "claims"


@pytest.mark.parametrize(
    ("text", "contradicts"),
    [
        ("Bells over Wassaw has 11 copies.", True),
        ("Bells over Wassaw has over 11 copies.", False),
        ("Bells over Wassaw had 11 copies before.", False),
        ("Bells over Wassaw is item 3 and has 17 copies.", False),
    ],
)
def test_a_bound_or_a_former_figure_is_none(text: str, contradicts: bool) -> None:
    assert bool(reading("figure", BELLS, text).contradiction) == contradicts


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("$135 goes to Hannah on March 17 and $35 to Ingrid on March 20.", "claims"),
        ("$135 goes to Hannah on March 20 and $35 to Ingrid on March 17.", "silent"),
    ],
)
def test_a_day_belongs_to_whom_its_clause_names(text: str, stance: str) -> None:
    found = reading("when", {"what": "Hannah", "day": "2026-03-17"}, text)
    assert found.stance == stance and bool(found.contradiction) == (stance == "silent")


@pytest.mark.parametrize(
    ("what", "day"), [("from|starting", "2026-03-18"), ("stay|until", "2026-03-21")]
)
def test_a_range_has_a_first_and_a_last_day(what: str, day: str) -> None:
    claim = {"what": what, "day": day}
    right = reading("when", claim, "Miso would stay from the 18th to the 21st.")
    wrong = reading("when", claim, "Miso would stay from the 21st to the 18th.")
    assert right.stance == "claims" and wrong.contradiction


@pytest.mark.parametrize(
    ("text", "contradicts"),
    [
        ("It first went to Sam; I cancelled that payment and sent $43 to Samira Oduya.", True),
        ("It first went to Samira; I cancelled that payment and sent $43 to Sam Oduya.", False),
        ("First I sent $43 to Sam Oduya. Then I sent $43 to Samira Oduya.", False),
    ],
)
def test_a_try_that_was_undone_is_no_claim(text: str, contradicts: bool) -> None:
    found = reading("paid", {"to": "Sam Oduya", "amount": 43}, text)
    assert bool(found.contradiction) == contradicts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Rosa has the two numbers, 57 °F and 90%.", True),
        ("Rosa has the two numbers, 90 °F and 57%.", False),
    ],
)
def test_a_percentage_tells_no_temperature(text: str, told: bool) -> None:
    claim = parse_claim("figure", {"of": "Sunday high", "is*": 57})
    found = Phrases().read(
        "Sunday's high is 57 degrees.", claim, Spoken(text, "2026-03-10", "", ())
    )
    assert (found.stance == "claims" or bool(found.told)) == told
