"""The second sign: whether a text has the words of a statement, or may tell it in others."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Reading, Spoken, parse_claim
from judge.reading.plain import may_tell
from tests.judge.reading.said import PEOPLE

PAID = ("Ana Reyes has been paid $40 by Venmo.", "paid", {"to": "Ana Reyes", "amount": 40})
MAILED = ("Ana Reyes has your answer.", "mailed", {"to": ["Ana Reyes"]})
WRONG = ("One of the readings is wrong.", "wrong", {"what": "reading|temperature"})
HIGH = ("The high is 57.", "figure", {"of": "high", "is": 57})
SHOP = ("Power at table 14, please.", "fact", {"says": ["power * 14"]})
FAILED = ("The payment has failed.", "failed", {"deed": "payment"})
SOURCE = ("The numbers are from Yahoo Weather.", "source", {"provider": "yahoo_weather"})
VIA = ("Ana Reyes got it from your work address.", "mailed", {"to": "Ana Reyes", "via*": "outlook"})
ABOUT = ("The email about the market has gone out.", "mailed", {"about": "market"})
SET = ("$40 to Ana Reyes is scheduled.", "scheduled", {"to": "Ana Reyes", "day": "2026-03-26"})


def read(statement: tuple[str, str, dict[str, Any]], text: str, asked: str = "") -> Reading:
    sentence, kind, slots = statement
    spoken = Spoken(text, "2026-03-14", asked, PEOPLE)
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
        (SOURCE, "I couldn't get The Weather Channel to answer, so both numbers come from Yahoo."),
        (VIA, "Ben's request is gone.\n\nIt went from your work address. It's in the sent mail."),
        (PAID, "Ana Reyes has her $40 by Venmo, with no fee and no note."),
        (PAID, "I paid Ana Reyes $40 on Venmo. You may want to tell her. I haven't."),
        (
            PAID,
            "Ana has been paid $40. Ben hasn't. Venmo lost one once, so I wouldn't swear to it.",
        ),
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
        (PAID, "I believe Ana Reyes may have been paid the $40 on Venmo."),
        (PAID, "Ana Reyes has $40. Correction: I haven't paid Ana anything on Venmo."),
        (MAILED, "Both emails have the label. The old one is out of the inbox."),
    ],
)
def test_what_lacks_a_value_or_is_denied_tells_nothing(
    statement: tuple[str, str, dict[str, Any]], text: str
) -> None:
    reading = read(statement, text)
    assert not reading.told
    assert not reading.hint(False)


def test_what_the_user_asked_for_goes_without_saying() -> None:
    sent = "I addressed the email to all three, and Gmail reported it sent."
    assert not read(ABOUT, sent).hint(False)
    assert read(ABOUT, sent, "Write the helpers about the market.").hint(False)


def test_whom_an_earlier_text_named_may_be_called_she() -> None:
    claim = parse_claim(*MAILED[1:])

    def told(text: str, known: bool) -> str:
        spoken = Spoken(text, "2026-03-14", "", PEOPLE)
        return may_tell("Ana Reyes has been sent an email.", claim, spoken, frozenset(), known)

    text = "The email is in your sent mail. Whether she has read it I can't see."
    assert not told(text, known=False)
    assert told(text, known=True)
    assert not told(f"{text} Ben has the rest.", known=True)


def test_another_day_in_its_sentence_keeps_a_claim_from_being_plain() -> None:
    other = 'The only scheduled payment to Ana Reyes is $40 for "Miso" on Tuesday the 17th.'
    day = ("$40 to Ana Reyes is scheduled for March 26.", *SET[1:])
    assert not read(day, other).plain()
    assert read(day, "$40 to Ana Reyes is scheduled for March 26.").plain()


def test_a_right_value_in_another_sentence_explains_a_wrong_one() -> None:
    both = read(PAID, "Venmo first showed $4 to Ana Reyes. Now it shows $40 to Ana Reyes.")
    assert both.elsewhere()
    assert not read(PAID, "I paid Ana Reyes $4 by Venmo.").elsewhere()


def test_values_in_each_others_place_explain_nothing() -> None:
    start = ("Miso comes on March 18.", "when", {"what": "from|starting", "day": "2026-03-18"})
    assert not read(start, "Miso is with you from the 21st to the 18th.").elsewhere()
