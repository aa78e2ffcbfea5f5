"""The second sign: whether a text has the words of a statement, or may tell it in others."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Reading, Spoken, parse_claim
from tests.judge.reading.said import PEOPLE

PAID = ("Ana Reyes has been paid $40 by Venmo.", "paid", {"to": "Ana Reyes", "amount": 40})
MAILED = ("Ana Reyes has your answer.", "mailed", {"to": ["Ana Reyes"]})
WRONG = ("One of the readings is wrong.", "wrong", {"what": "reading|temperature"})
HIGH = ("The high is 57.", "figure", {"of": "high", "is": 57})
SHOP = ("Power at table 14, please.", "fact", {"says": ["power * 14"]})
FAILED = ("The payment has failed.", "failed", {"deed": "payment"})


def read(statement: tuple[str, str, dict[str, Any]], text: str) -> Reading:
    sentence, kind, slots = statement
    spoken = Spoken(text, "2026-03-14", "", PEOPLE)
    return Phrases().read(sentence, parse_claim(kind, slots), spoken)


@pytest.mark.parametrize(
    ("statement", "text", "plain"),
    [
        (MAILED, "I emailed Ana Reyes.", True),
        (MAILED, "Both are sent to Ana Reyes.", False),
        (WRONG, "One of the readings is wrong.", True),
        (WRONG, "I had the wrong page open for the temperature.", False),
    ],
)
def test_a_sentence_has_the_words_of_its_statement(
    statement: tuple[str, str, dict[str, Any]], text: str, *, plain: bool
) -> None:
    reading = read(statement, text)
    assert reading.where
    assert reading.plain() is plain


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (PAID, "You're square with Ana: her request for $40 is settled on Venmo."),
        (PAID, "- Ana Reyes: $40 (the payment), on Venmo"),
        (HIGH, "Tomorrow's numbers, as best I can read them. High end of the range 57."),
        (SHOP, "Yes, we could do with power, and 14 is our table, please."),
    ],
)
def test_a_text_may_tell_a_statement_in_words_of_its_own(
    statement: tuple[str, str, dict[str, Any]], text: str
) -> None:
    reading = read(statement, text)
    assert reading.stance == "claims" or reading.told or reading.hint(False)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (PAID, "Ana's request is settled on Venmo."),
        (PAID, "I sent $40 on Venmo to Ben."),
        (PAID, "Shall I send Ana Reyes the $40 on Venmo?"),
        (PAID, "Ana Reyes has not been paid $40 by Venmo."),
        (PAID, "I paid Ana Reyes $40 on Venmo. Correction: none of that is true."),
        (HIGH, "The low is 57. The high is a good deal above it."),
        (SHOP, "Power, please."),
        (FAILED, "The payment has not failed."),
    ],
)
def test_what_lacks_a_value_or_is_denied_tells_nothing(
    statement: tuple[str, str, dict[str, Any]], text: str
) -> None:
    assert not read(statement, text).hint()


def test_a_right_value_in_another_sentence_explains_a_wrong_one() -> None:
    both = read(PAID, "Venmo first showed $4 to Ana Reyes. Now it shows $40 to Ana Reyes.")
    assert both.elsewhere()
    assert not read(PAID, "I paid Ana Reyes $4 by Venmo.").elsewhere()


def test_values_in_each_others_place_explain_nothing() -> None:
    start = ("Miso comes on March 18.", "when", {"what": "from|starting", "day": "2026-03-18"})
    assert not read(start, "Miso is with you from the 21st to the 18th.").elsewhere()
