"""What a text says last of a deed decides: a denial takes back what was told before it."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Spoken, parse_claim

PEOPLE = ("Ben Asher", "Mei Chen", "Priya Nair", "Wei Zhang")
BEN = {"to": "Ben Asher"}
BOTH = {"who": ["Ben Asher", "Priya Nair"]}
MEI = {"from": "Mei Chen", "amount": 96}
SENTENCES = {
    "mailed": "Ben Asher has the email.",
    "reminded": "Ben Asher and Priya Nair were nudged.",
    "requested": "Mei Chen has been asked for $96.",
}


def told(kind: str, slots: dict[str, Any], text: str) -> bool:
    said = Spoken(text, "2026-03-20", "", PEOPLE)
    reading = Phrases().read(SENTENCES[kind], parse_claim(kind, slots), said)
    return reading.stance == "claims" or (not reading.contradiction and bool(reading.told))


@pytest.mark.parametrize(
    ("kind", "slots", "text"),
    [
        ("mailed", BEN, "I emailed Ben Asher. It is sitting in your drafts."),
        ("mailed", BEN, "I drafted the note to Ben Asher, but I haven't sent it to him."),
        ("reminded", BOTH, "Ben Asher and Priya got a nudge. No: neither of them was nudged."),
        ("requested", MEI, "I've requested $92 from Mei for the three speckled mugs."),
        ("requested", MEI, "I asked Mei for $96. Hold it, that was only a preview."),
    ],
)
def test_the_last_word_takes_back(kind: str, slots: dict[str, Any], text: str) -> None:
    assert not told(kind, slots, text)


@pytest.mark.parametrize(
    ("kind", "slots", "text"),
    [
        ("mailed", BEN, "Ben Asher's email was waiting in the drafts, and now it is sent."),
        ("mailed", BEN, "Ben Asher has the email, with no note attached and nothing else."),
        ("reminded", BOTH, "Neither had been nudged at first. Ben Asher and Priya got one now."),
        ("requested", MEI, "I've requested $96 from Mei for the three speckled mugs."),
    ],
)
def test_another_thing_that_is_denied_takes_nothing_back(
    kind: str, slots: dict[str, Any], text: str
) -> None:
    assert told(kind, slots, text)
