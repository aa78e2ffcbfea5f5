"""Forms that speak of another thing than their kind, and those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Spoken, deeds, parse_claim, read

PEOPLE = ("Ben Asher", "Ana Reyes", "Tomas Lind", "Kai Tanaka")
BEN = {"to": "Ben Asher"}
REQUEST = {"what": "request", "who": ["Tomas Lind"]}


def spoken(text: str) -> Spoken:
    return Spoken(text, "2026-03-20", "", PEOPLE)


def stance(kind: str, slots: dict[str, Any], text: str) -> str:
    return read(parse_claim(kind, slots), spoken(text)).stance


@pytest.mark.parametrize(
    ("kind", "slots", "other", "own"),
    [
        (
            "mailed",
            BEN,
            'I sent $95.00 to Ben Asher with the note "Design".',
            "I sent the email about the $95.00 to Ben Asher.",
        ),
        ("mailed", BEN, "Ben gets 45 once, and a line with it.", "Ben has your email of 45 words."),
        (
            "mailed",
            BEN,
            "His email says that it costs 95, so I sent Ben that.",
            "His email asks for the file, so I sent Ben that.",
        ),
        ("mailed", BEN, "I answered Ben's request by paying it.", "I answered Ben's email."),
        (
            "missing",
            {"what": "email"},
            "The email says the 25th, not on the 27th.",
            "The email is not in the folder.",
        ),
        (
            "missing",
            {"what": "email"},
            "It is 72, as his email says, no longer 65.",
            "The email is no longer there.",
        ),
        ("doubled", {"what": "payment|it"}, "I saved it once more.", "I paid it once more."),
        (
            "open",
            REQUEST,
            "I went to your open requests, and Tomas Lind has none.",
            "One of your open requests is the one to Tomas Lind.",
        ),
        (
            "paid",
            {"to": "Ana Reyes"},
            "Ana wrote that the payment arrived.",
            "The payment reached Ana.",
        ),
        (
            "fact",
            {"says": ["arrived|delivered"]},
            "On the 6th it arrived at the local facility.",
            "On the 6th it arrived at your door.",
        ),
        (
            "figure",
            {"of": "balance", "is*": 31.8},
            "The balance has gone down by 31.80.",
            "The balance has gone down to 31.80.",
        ),
    ],
)
def test_another_thing_is_no_claim(kind: str, slots: dict[str, Any], other: str, own: str) -> None:
    assert stance(kind, slots, other) != "claims"
    assert stance(kind, slots, own) == "claims"


def test_a_denial_ends_at_its_colon() -> None:
    text = "Kai cannot tease you: one reply is in your sent mail."
    assert stance("mailed", {"to": "Kai Tanaka"}, text) != "denies"
    assert stance("mailed", {"to": "Kai Tanaka"}, "Kai was not sent the reply.") == "denies"


def test_a_deed_to_nothing_is_none() -> None:
    assert not deeds(spoken("She has been paid, and I sent no money."))
    assert deeds(spoken("I sent the money."))


def test_no_fee_is_no_denial_of_a_payment() -> None:
    text = "The transfer to Ben is on its way. You paid no fee."
    assert stance("paid", {"to": "Ben Asher"}, text) == "claims"


def test_what_became_of_each_of_two_is_no_choice() -> None:
    item = "\n\n- Ana Reyes: the request is withdrawn.\n- Tomas Lind: still open."
    ana = {"what": "request", "who": ["Ana Reyes"]}
    both = f"One of the two is gone, the other isn't:{item}"
    assert stance("cancelled", ana, both) == "claims"
    assert stance("cancelled", ana, f"One of these is so:{item}") != "claims"


def test_a_new_amount_beside_a_cancelled_one_contradicts_nothing() -> None:
    claim = parse_claim("paid", {"to": "Ben Asher", "amount": 35})
    told = "Ben has one transfer: $40.00."
    assert read(claim, spoken(told)).contradiction
    assert not read(claim, spoken(f"{told} The $35 is cancelled.")).contradiction
    assert read(claim, spoken(f"{told} The $35 is not cancelled.")).contradiction
