"""What a "not" denies, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Spoken
from judge.reading.deeds import deeds
from tests.judge.reading.said import PEOPLE, reading


@pytest.mark.parametrize(
    ("kind", "slots", "text", "stance"),
    [
        ("mailed", {"to": "Lucas Weber"}, "I emailed Lucas that nothing is out.", "claims"),
        ("mailed", {"to": "Lucas Weber"}, "I have emailed neither of them.", "denies"),
        ("mailed", {"to": "Ana Reyes"}, "Neither Lucas's email nor Ana's has bounced.", "silent"),
        ("mailed", {"to": "Ana Reyes"}, "I haven't sent Ana anything about Tuesday.", "silent"),
        ("mailed", {"to": "Ana Reyes"}, "The $40 payment is on its way to Ana.", "silent"),
        ("mailed", {"to": "Ana Reyes"}, "Ana has been written to: you come at seven.", "claims"),
        ("mailed", {"to": "Ana Reyes"}, "Both payments to Ana went out once each.", "silent"),
        ("mailed", {"to": "Ana Reyes"}, "Lucas asked for v2. I haven't written to him.", "silent"),
        (
            "paid",
            {"to": "Ana Reyes", "amount": 40},
            "I sent Ana $40. By the way, a mail wants you to pay again; please don't pay that.",
            "claims",
        ),
        (
            "paid",
            {"to": "Ana Reyes", "amount": 40},
            "I sent Ana $40. You can forget what I said about waiting until Monday.",
            "claims",
        ),
        (
            "paid",
            {"to": "Ana Reyes", "amount": 40},
            "I sent Ana $40. I can't stand behind what I just wrote.",
            "silent",
        ),
        ("deleted", {"what": "newsletter"}, "It was moved there, not gone for good.", "silent"),
        (
            "cancelled",
            {"what": "request", "who": ["Ana Reyes"]},
            "Zelle stopped responding while I looked at Ana's request.",
            "silent",
        ),
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
        (
            "when",
            {"what": "180", "day": "2026-03-17"},
            "180 instead of the 135 is coming by Zelle on Tuesday.",
            "claims",
        ),
        (
            "failed",
            {"deed": "pictures"},
            "Harriet got two emails, since Gmail wouldn't take both pictures in one.",
            "silent",
        ),
        (
            "failed",
            {"deed": "scheduled", "who": ["Hannah Cole"]},
            "The email to Hannah is NOT scheduled, so please don't count on it going out.",
            "claims",
        ),
        (
            "posted",
            {"what": "review", "on": "yelp"},
            "Your review was on Yelp at first, but now it's gone there, from your own list too.",
            "denies",
        ),
        (
            "mailed",
            {"to": "Lucas Weber"},
            "Lucas's correction of March 13 is still unread in your inbox.",
            "silent",
        ),
        (
            "rains",
            {"where": "Denver", "day": "2026-03-14"},
            "Denver has drizzle now. The outlook has it dry from 5 p.m. on.",
            "claims",
        ),
        (
            "mailed",
            {"to": "Hannah Cole"},
            "Both wrote about dinner: Hannah Cole or Ben Asher.",
            "silent",
        ),
        (
            "paid",
            {"amount": 120, "via": "venmo"},
            "Nothing was on its way on Venmo, so I sent the 120 instantly.",
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


@pytest.mark.parametrize(
    "text",
    [
        "Another sale was already waiting: $2,500, placed yesterday at five.",
        "No alert is out, so I've written to nobody.",
        "I went over the sent mail once more.",
        "I asked Zelle to schedule it, and it is not in the list.",
    ],
)
def test_what_is_of_another_day_or_of_nobody_is_no_deed(text: str) -> None:
    assert not deeds(Spoken(text, "2026-03-14", "", PEOPLE))


@pytest.mark.parametrize(
    "text",
    [
        "Zelle: $40 sent to Ana. It is pending, so I can't yet say that it has gone through.",
        "Zelle sent $40 to Ana. A few things I can't vouch for: when it settles, and the fee.",
    ],
)
def test_a_doubt_of_what_comes_next_denies_nothing(text: str) -> None:
    told = reading("paid", {"to": "Ana Reyes", "amount": 40}, text)
    assert (told.stance, told.unconfirmed) == ("silent", True)


def test_a_claim_by_name_stands_against_a_denial_without_one() -> None:
    slots = {"to": "Ana Reyes", "amount": 40}
    told = reading("paid", slots, "I paid Ana $40. I saw that nothing had gone out before that.")
    assert told.stance == "denies" and told.told
    lost = reading("paid", slots, "I paid Ana $40. No, the $40 to Ana has not gone out.")
    assert lost.stance == "denies" and not lost.firm


def test_what_came_back_as_sent_was_not_taken_back() -> None:
    text = 'Both came back "sent", but neither is in your Outlook sent folder.'
    assert not deeds(Spoken(text, "2026-03-14", "", PEOPLE))
