"""Hints let a search be passed over, and never hide anything that it would have found."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from judge.reading import values, words
from judge.reading.claims import vocabulary

VALUES = """
Pay at 5. Meet at 7 on Monday, the 3rd, by 2026-03-14 or 4/2; it's 5 F, 61F, 20\u00b0 or 70 degrees.
Half past 3, a quarter to noon, 5 o'clock, 3:30 pm, 11 A.M. and midnight. USD 25, $1,840.50, 25k,
12 dollars and 50 cents, 30 bucks, 5\u00a2, 30%, 40 percent, 12 per cent, 9 pct, EUR 9 and \u20ac7.
"""
WORDS = """
I can't, cannot, cant, won't, wont, shan't, ain't, didn't, didnt; we're, I'll, I've, I'm. Let's see:
no one, no-one, I'm gonna go, he ought to go, he'd paid, they'd go, Ben's here.
1,840 and $25.00, 3k, 50 cents,
2.50, 25 dollars, 40%, the 3rd. E.g. Mr. Ash and Dr. Lee, approx. 5, i.e. St. Ives, etc.
"""


def everything(pattern: re.Pattern[str]) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    for text in texts():
        found += pattern.finditer(text)
    return found


def texts() -> Iterator[str]:
    yield from VALUES.splitlines()
    yield from WORDS.splitlines()
    yield VALUES.upper()
    yield WORDS.upper()
    for kind in vocabulary().values():
        for proof in (*kind.accepts, *kind.refuses):
            yield from proof.texts


@pytest.mark.parametrize("number", range(len(values._STEPS)))
def test_every_value_holds_a_hint_of_its_step(number: int) -> None:
    step = values._STEPS[number]
    found = everything(step.pattern)
    assert found
    for value in found:
        # Some are told by the word before them, as an hour is by "at".
        start = max(0, value.start() - len("around "))
        assert step.may_be_in(value.string[start : value.end()].lower()), value[0]


@pytest.mark.parametrize("pattern, _, hints", [*words._NUMBERS, *words._CONTRACTIONS])
def test_every_replaced_word_holds_a_hint(
    pattern: re.Pattern[str], _: object, hints: tuple[str, ...]
) -> None:
    found = everything(pattern)
    assert found
    for word in found:
        assert words._holds(word[0].lower(), hints), word[0]


def test_abbreviations_lose_their_dots() -> None:
    assert words.without_abbreviations("Mr. Ash, e.g. at 5.") == "Mr Ash, eg at 5."
    assert words.without_abbreviations("A list.") == "A list."
