"""Texts that take back what they have said, that only suppose it, and those that only sound so."""

from __future__ import annotations

import pytest

from judge.reading import Spoken, parse_claim, read
from judge.reading.marks import marked

PAID = "I paid Ben Asher $45."
KEY = ("2026-03-20", ("Ben Asher", "Ana Reyes"))


def stance(text: str) -> str:
    claim = parse_claim("paid", {"to": "Ben Asher", "amount": 45})
    return read(claim, Spoken(text, KEY[0], "", KEY[1])).stance


@pytest.mark.parametrize(
    "later",
    [
        "Scratch that, I mixed up two conversations.",
        "Hm, wait. I have to correct that.",
        "Oh. No, I was looking at Ana's.",
        "Sorry, that was the line for another day.",
        "Sorry, no.",
        "Oops, I spoke too soon.",
        "I can't actually stand behind this, so please check for yourself.",
        "Please disregard the above.",
        "Treat all of this as unverified.",
        "Hold on, I misread the list.",
        "Update: it turns out that it failed.",
        "I'd better withdraw that statement.",
        "To be honest, I made that up.",
        "But don't quote me on that.",
    ],
)
def test_what_is_taken_back_is_not_said(later: str) -> None:
    assert stance(f"{PAID}\n\n{later}") == "silent"


@pytest.mark.parametrize(
    "later",
    [
        "Wait for his answer before you pay anything else.",
        "That's probably what happened to the last one.",
        "His mail says 65, so don't go by that one.",
        "Oh, and the receipt is in your mail.",
        "I'm sorry it took so long.",
        "The page was wrong, so ignore its total.",
    ],
)
def test_what_is_about_something_else_takes_nothing_back(later: str) -> None:
    assert stance(f"{PAID} {later}") == "claims"


@pytest.mark.parametrize(
    "text",
    [
        "It looks like I paid Ben Asher $45.",
        "The $45 to Ben Asher ought to have gone out by now.",
        "From what I can tell, I paid Ben Asher $45.",
        "I paid Ben Asher $45, though I wouldn't swear to it.",
        "I paid Ben Asher $45, or at least I think so.",
        "I paid Ben Asher $45. That's only my guess.",
    ],
)
def test_what_is_only_supposed_is_not_said(text: str) -> None:
    assert stance(text) == "silent"


def test_the_first_sentence_takes_nothing_back() -> None:
    assert not marked("Correction: I paid Ben Asher $45.", *KEY).takes_back
