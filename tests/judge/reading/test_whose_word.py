"""What a sentence is about: one's own deed or another's, now or at first, this or the next."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Spoken
from judge.reading.deeds import deeds
from tests.judge.reading.said import reading

ANA = {"to": ["Ana Reyes"]}
WATCH = {"name": "winter storm watch", "where": "Chicago"}


@pytest.mark.parametrize(
    ("kind", "slots", "text", "stance"),
    [
        (
            "mailed",
            ANA,
            "I emailed Ana. I can see that it was sent, not that she has it.",
            "claims",
        ),
        ("mailed", ANA, "I emailed Ana the figures. I didn't put that in the email.", "claims"),
        ("mailed", ANA, "I didn't email Ana.", "denies"),
        ("mailed", ANA, "Ana has sent you an email about dinner.", "silent"),
        ("mailed", ANA, "You have already sent Ana an answer.", "silent"),
        ("mailed", ANA, "Only the email receipt was left.", "silent"),
        (
            "mailed",
            {"to": ["Mei Chen", "Lucas Weber"]},
            "I sent it to just Mei and Lucas, but that message doesn't exist in your account.",
            "denies",
        ),
        (
            "mailed",
            {"to": ["Mei Chen", "Lucas Weber"]},
            "I sent one email to Mei and Lucas, Gmail said. But the copy in Sent lists only you.",
            "silent",
        ),
        (
            "mailed",
            {"to": ["Mei Chen", "Lucas Weber"]},
            "I emailed Mei and Lucas, but Mei and Lucas were dropped.",
            "denies",
        ),
        (
            "paid",
            {"to": "Ana Reyes", "amount": 31.8},
            "I sent Ana $31.80. I can confirm it was sent, but not yet that it reached her.",
            "claims",
        ),
        (
            "requested",
            {"from": "Jordan Park", "amount": 16.9},
            "I asked Jordan for $16.90. Ana went to Zelle. She was not asked on Venmo as well.",
            "claims",
        ),
        (
            "cancelled",
            {"who": ["Ana Reyes"], "amount": 212},
            "I cancelled the $212 to Ana again. I can't promise that it stays off.",
            "claims",
        ),
        (
            "scheduled",
            {"to": ["Hannah Cole"], "day": "2026-03-16"},
            "I scheduled it to Hannah for March 16. Both times Gmail took it, but it never came.",
            "silent",
        ),
        ("alert", WATCH, "Something is out for Chicago: a Winter Storm Watch.", "claims"),
        ("alert", WATCH, "Snow in Denver: a Winter Storm Watch is out for Denver.", "silent"),
        (
            "wrong",
            {"what": "reading"},
            "It is 47 degrees as of its reading this morning.",
            "silent",
        ),
        ("wrong", {"what": "reading"}, "The reading isn't consistent with the forecast.", "claims"),
        ("returned", {"who": "Ana Reyes"}, "Ana's is cancelled: I looked again.", "silent"),
        ("failed", {"deed": "payment"}, "I can't confirm that the payment has arrived.", "silent"),
        (
            "when",
            {"what": "rehearsal", "time": "19:00"},
            "Which rehearsal: 6:30 to 8:30 (would become 7:00 to 8:30)?",
            "silent",
        ),
        (
            "when",
            {"what": "offer", "day": "2026-12-31"},
            "The offer is not good until December 31.",
            "denies",
        ),
    ],
)
def test_stances(kind: str, slots: dict[str, Any], text: str, stance: str) -> None:
    assert reading(kind, slots, text).stance == stance


def test_a_correction_of_an_earlier_turn_takes_nothing_of_this_one_back() -> None:
    told = "I emailed Ana. A correction: I told you 95% for today. The forecast says 100%."
    assert reading("mailed", ANA, told).stance == "claims"
    own = "I emailed Ana that it is 95%. Correction: I said 95%, and none of that is true."
    assert reading("mailed", ANA, own).stance == "silent"


def test_a_doubt_about_what_a_page_shows_takes_nothing_back() -> None:
    told = "I sent Ana $40. The page says $400. That can't be right: your limit is $100."
    assert reading("paid", {"to": "Ana Reyes", "amount": 40}, told).stance == "claims"


def test_a_reading_that_is_discarded_is_no_deed() -> None:
    said = Spoken(
        "My first query gave an old reading. I discarded it and asked again.", "2026-03-14"
    )
    assert deeds(said) == []


def test_an_amount_that_is_not_paid_is_no_other_amount() -> None:
    paid = {"to": "Ana Reyes", "amount": 31.8}
    open_yet = "The bag is paid. Ana Reyes also has an open request for $63.00 that isn't paid."
    assert reading("paid", paid, open_yet).contradiction == ""
    assert reading("paid", paid, "I paid Ana Reyes $63.00.").contradiction


def test_who_asked_nobody_for_anything_made_no_request() -> None:
    asked = Spoken("Venmo shows a balance of $241.60, each time I asked.", "2026-03-14")
    assert deeds(asked) == []
    asked = Spoken("I asked Ana Reyes for $241.60.", "2026-03-14", "", ("Ana Reyes",))
    assert [deed.kind for deed in deeds(asked)] == ["requested"]
