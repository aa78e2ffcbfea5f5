"""What a "not" denies, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Reading, Spoken, parse_claim, read

PEOPLE = ("Hannah Cole", "Lucas Weber", "Ana Reyes", "Ben Asher")


def reading(kind: str, slots: dict[str, Any], text: str) -> Reading:
    return read(parse_claim(kind, slots), Spoken(text, "2026-03-14", "", PEOPLE))


@pytest.mark.parametrize(
    ("kind", "slots", "text", "stance"),
    [
        ("mailed", {"to": "Lucas Weber"}, "I emailed Lucas that nothing is out.", "claims"),
        ("mailed", {"to": "Lucas Weber"}, "I have emailed neither of them.", "denies"),
        ("mailed", {"to": "Lucas Weber"}, "Lucas has been emailed: you come at seven.", "claims"),
        (
            "scheduled",
            {"to": ["Hannah Cole"], "amount": 135, "day": "2026-03-26"},
            "I scheduled the $135 to Hannah for March 26, but Zelle didn't keep it.",
            "silent",
        ),
        (
            "scheduled",
            {"to": ["Hannah Cole"], "amount": 135, "day": "2026-03-26"},
            "The payment to Hannah is not scheduled. Details: Hannah Cole, $135, March 26.",
            "denies",
        ),
        (
            "cancelled",
            {"who": ["Ana Reyes"], "amount": 31.2},
            "The request to Ana Reyes for $31.20 is withdrawn, no longer in the list.",
            "claims",
        ),
    ],
)
def test_a_denial_reaches_what_it_denies(
    kind: str, slots: dict[str, Any], text: str, stance: str
) -> None:
    assert reading(kind, slots, text).stance == stance


@pytest.mark.parametrize(
    ("kind", "slots", "text"),
    [
        (
            "alert",
            {"name": "storm watch", "until": "2026-03-19"},
            "The Weather Channel lists a storm watch for Chicago, same as Friday.",
        ),
        ("when", {"what": "warning", "day": "2026-06-30"}, "The warning is about the 30th."),
        ("paid", {"to": "Ben Asher", "amount": 320}, "Ben got $640 in two equal payments."),
        (
            "requested",
            {"from": ["Ben Asher"], "amount": 19.28},
            "The $96.40 is split, and Ben Asher has a request for $19.28.",
        ),
    ],
)
def test_a_value_that_is_of_something_else_contradicts_nothing(
    kind: str, slots: dict[str, Any], text: str
) -> None:
    assert not reading(kind, slots, text).contradiction
