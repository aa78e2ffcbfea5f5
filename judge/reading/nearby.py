"""Whether two neighbouring sentences hold all of a statement: values, names, half of its words.

This is a sign of a third kind. It knows no forms and no claims, only what stands where, so it errs
in other places than the vocabulary and the plain words. It never makes a text tell or deny; where
it holds, it is unclear whether a text leaves a statement out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence, Set

from judge.reading.claims import Claim, vocabulary
from judge.reading.content import topic_of
from judge.reading.plain import (
    NEGATIVE,
    SUPPOSED,
    denies,
    has_figures,
    has_words,
    is_said,
    share,
    taken_back,
    telling,
    with_headings,
)
from judge.reading.slots import VALUES
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart

_FIGURES = ("money", "number", "value", "day", "time")
_MOST_WORDS = 0.5
_UNDONE = re.compile(r"\b(?:un(?:sent|paid|saved|scheduled|filed|booked)|drafts?)\b")
_NO_FEE = re.compile(
    r"\b(?:no|without(?: a| any)?) (?:fees?|charges?|bounces?|doubles?|duplicates?|errors?)\b"
)
"""What is denied beside a deed that was done."""


def nearby(sentence: str, claim: Claim, spoken: Spoken, other: str = "") -> str:
    """Return a sentence of a text that, with its heading and the next one, holds every value and
    name of a statement and half of its words, or "".

    It has to deny as often as the statement does, neither asks nor supposes, and the next sentence
    does not turn against it. A sentence that gives an `other` value counts only if it names the
    claim's figures, too, and not all else.
    """
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    denials = len(NEGATIVE.findall(sentence.lower()))
    about = topic_of(claim.kind) | stems_of(sentence)
    standing = _standing(sentence, claim, spoken, text)
    if other:
        standing = [unit for unit in standing if _is_free(unit, other, claim, spoken)]
    for units in _neighbours(claim, standing, spoken):
        near = with_headings(units, text)
        whole = _has_all_values(claim, near, spoken) and has_words(claim, near)
        whole = whole and has_figures(sentence, near, spoken)
        if not whole or not _has_names(sentence, spoken, near):
            continue
        if share(sentence, claim, spoken, near) < _MOST_WORDS:
            continue
        best = max(units, key=lambda unit: (_weight(sentence, claim, spoken, unit), -unit.number))
        denied = len(NEGATIVE.findall(_NO_FEE.sub("", best.low)))
        if denied == denials and not SUPPOSED.search(best.low) and not _turned(best, about, text):
            return best.raw
    return ""


def _turned(unit: Unit, about: Set[str], text: Text) -> bool:
    """Return whether the unit after one denies something of what a statement is `about`: "I sent
    it. It's still unsent in your drafts."
    """
    after = unit.number + 1
    if after == len(text.units):
        return False
    following = text.units[after]
    return denies(following, about) or _UNDONE.search(following.low) is not None


def _standing(sentence: str, claim: Claim, spoken: Spoken, text: Text) -> list[Unit]:
    """Return the units of a text that assert something and are not taken back."""
    back = taken_back(sentence, claim, spoken, text)
    return [unit for unit in telling(text, spoken) if unit.number not in back]


def _neighbours(claim: Claim, units: Sequence[Unit], spoken: Spoken) -> Iterator[list[Unit]]:
    """Yield each unit alone, and with the next one, unless one of the two gives another figure in
    place of the claim's own.
    """
    for unit in units:
        yield [unit]
    for unit, after in itertools.pairwise(units):
        apart = after.number != unit.number + 1
        if not apart and not any(_gives_another(claim, one, spoken) for one in (unit, after)):
            yield [unit, after]


def _gives_another(claim: Claim, unit: Unit, spoken: Spoken) -> bool:
    """Return whether a unit gives a figure of a type that a claim wants, and not the claim's."""
    types = vocabulary()[claim.kind].slots
    values = list(unit.values.values())
    for slot, want in claim.slots.items():
        type_ = types[slot]
        if type_ not in _FIGURES or is_said(type_, want, values, spoken):
            continue
        if any(value.type in VALUES[type_] for value in values):
            return True
    return False


def _has_all_values(claim: Claim, units: Sequence[Unit], spoken: Spoken) -> bool:
    """Return whether some units name every value of a claim; a first name is enough."""
    types = vocabulary()[claim.kind].slots
    values = list(itertools.chain.from_iterable(unit.values.values() for unit in units))
    here = _stems(units)
    for slot, want in claim.slots.items():
        type_ = types[slot]
        if type_ not in VALUES:
            continue
        single = "person" if type_ == "people" else type_
        for one in want if isinstance(want, tuple) else (want,):
            called = single == "person" and not stems_of(one.split()[0]).isdisjoint(here)
            if not called and not is_said(single, one, values, spoken):
                return False
    return True


def _is_free(unit: Unit, other: str, claim: Claim, spoken: Spoken) -> bool:
    """Return whether a unit counts beside the sentence that gives another value."""
    return unit.raw != other or _gives_both(claim, unit, spoken)


def _gives_both(claim: Claim, unit: Unit, spoken: Spoken) -> bool:
    """Return whether a unit that gives another value gives the claim's figures, days and times as
    well, but not what they are of: "it has 5 percent there, against 55 in Hood River".
    """
    if _has_all_values(claim, [unit], spoken) and has_words(claim, [unit]):
        return False
    types = vocabulary()[claim.kind].slots
    values = list(unit.values.values())
    counted = [slot for slot in claim.slots if types[slot] in _FIGURES]
    return all(is_said(types[slot], claim.slots[slot], values, spoken) for slot in counted)


def _has_names(sentence: str, spoken: Spoken, units: Sequence[Unit]) -> bool:
    """Return whether some units have the names among a statement's words: "Lakeview"."""
    here = _stems(units)
    for unit in taken_apart(sentence, spoken.today, spoken.people).units:
        for place, word in enumerate(unit.sentence.words):
            name = place > 0 and place not in unit.values and word.capital and word.text.isalpha()
            if name and len(word.text) > 1 and (word.bases | {word.text}).isdisjoint(here):
                return False
    return True


def _stems(units: Sequence[Unit]) -> Set[str]:
    found: set[str] = set()
    for unit in units:
        found.update(*unit.stems)
    return found


def _weight(sentence: str, claim: Claim, spoken: Spoken, unit: Unit) -> float:
    """Return how much of a statement stands in one unit."""
    types = vocabulary()[claim.kind].slots
    values = list(unit.values.values())
    found = 0
    whole = 0
    for slot, want in claim.slots.items():
        if types[slot] in VALUES:
            single = "person" if types[slot] == "people" else types[slot]
            wanted = want if isinstance(want, tuple) else (want,)
            whole += len(wanted)
            found += sum(is_said(single, one, values, spoken) for one in wanted)
    return 2 * found / (whole or 1) + share(sentence, claim, spoken, [unit])
