"""Forecasts and alerts: of which place and moment a sentence about the weather speaks."""

from __future__ import annotations

import re

from judge.reading.claims import Claim
from judge.reading.content import words_match
from judge.reading.hits import Hit, Key
from judge.reading.slots import Group, state_of
from judge.reading.texts import stems_of
from judge.reading.words import type_word

WEATHER = frozenset(["alert", "rains", "dry"])
"""The kinds of claims that are about the weather."""
_PLACE = re.compile(r"\b(?:[Ii]n|[Aa]t|[Ff]or|[Oo]ver) ([A-Z][a-z]+)")
_AT_FIRST = re.compile(
    r"\b(?:at first|initially|originally|first (?:answered|said|gave|showed|returned|told|had"
    r"|listed|reported|put))\b"
)
_FOUND_NONE = re.compile(r"\b(?:i|we) (?:have )?(?:found|saw|seen|got|could find) (?:no|none)\b")
_NOW = re.compile(r"\b(?:right now|currently|at the moment|at present)\b")


def of_another_place(claim: Claim, hit: Hit, group: Group, key: Key) -> bool:
    """Return whether a forecast is of another place or day, or a denial only what one service
    says or what one found: "The Weather Channel lists no alert", "I found no alert".
    """
    unit = hit.unit
    if hit.value == "no" and (group.of(("provider",)) or _FOUND_NONE.search(unit.low)):
        return True
    day = claim.slots.get("day")
    if day is not None and day != key[1] and _NOW.search(unit.low) and not group.of(("day",)):
        return True
    if "where" not in claim.slots or hit.value == "open":
        return False
    if state_of("words", claim.slots["where"], group, key[2])[0] == "agrees":
        return False
    known = " ".join(value.raw for value in unit.values.values())
    others = [place for place in _PLACE.findall(unit.raw) if place not in known]
    where = claim.slots["where"]
    return any(not words_match(where, [stems_of(place)]) for place in others)


def of_another_moment(claim: Claim, hit: Hit) -> bool:
    """Return whether a sentence tells what a service said at first, or how it will be later."""
    return _AT_FIRST.search(hit.unit.low) is not None or _clears_later(claim, hit)


def _clears_later(claim: Claim, hit: Hit) -> bool:
    """Return whether a forecast without rain begins only later: "it drizzles, and is dry from
    5 p.m. on".
    """
    if hit.value != "no" or "time" in claim.slots:
        return False
    words = hit.unit.sentence.words
    after = [type_word(word.text) for word in words[hit.places[-1] + 1 : hit.places[-1] + 3]]
    return after in (["from", "xtime"], ["after", "xtime"])
