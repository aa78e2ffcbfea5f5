"""Whether two neighbouring sentences hold all of a statement: values, names, half of its words.

This is a sign of a third kind. It knows no forms and no claims, only what stands where, so it errs
in other places than the vocabulary and the plain words. It never makes a text tell or deny; where
it holds, it is unclear whether a text leaves a statement out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from judge.reading.claims import Claim, vocabulary
from judge.reading.hedges import opens_supposing
from judge.reading.marks import marked
from judge.reading.plain import (
    EITHER,
    NEGATIVE,
    SUPPOSED,
    has_figures,
    has_words,
    is_said,
    share,
    taken_back,
    with_headings,
)
from judge.reading.slots import VALUES
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart

_FIGURES = ("money", "number", "value", "day", "time")
_MOST_WORDS = 0.5
_NO_FEE = re.compile(
    r"\b(?:no|without(?: a| any)?) (?:fees?|charges?|bounces?|doubles?|duplicates?|errors?)\b"
)
"""What is denied beside a deed that was done."""


def nearby(sentence: str, claim: Claim, spoken: Spoken, other: str = "") -> str:
    """Return a sentence of a text that, with its heading and the next one, holds every value and
    name of a statement and half of its words, or "".

    It has to deny as often as the statement does, and neither asks nor supposes. A sentence that
    gives an `other` value counts only if it names the claim's figures, too, and not all else.
    """
    text = taken_apart(spoken.text, spoken.today, spoken.people)
    denials = len(NEGATIVE.findall(sentence.lower()))
    standing = _standing(sentence, claim, spoken, text)
    if other:
        standing = [u for u in standing if u.raw != other or _gives_both(claim, u, spoken)]
    for units in _neighbours(text, standing):
        near = with_headings(units, text)
        whole = _has_all_values(claim, near, spoken) and has_words(claim, near)
        whole = whole and has_figures(sentence, near, spoken)
        if not whole or not _has_names(sentence, spoken, near):
            continue
        if share(sentence, claim, spoken, near) < _MOST_WORDS:
            continue
        best = max(units, key=lambda unit: (_weight(sentence, claim, spoken, unit), -unit.number))
        asks = best.sentence.question or opens_supposing(best) or SUPPOSED.search(best.low)
        if not asks and len(NEGATIVE.findall(_NO_FEE.sub("", best.low))) == denials:
            return best.raw
    return ""


def _standing(sentence: str, claim: Claim, spoken: Spoken, text: Text) -> list[Unit]:
    """Return the units of a text that are not taken back, disowned or one of two."""
    marks = marked(spoken.text, spoken.today, spoken.people)
    gone = taken_back(sentence, claim, spoken, text) | marks.disowned
    if EITHER.search(spoken.text):
        gone = gone | marks.either
    return [unit for unit in text.units if unit.number not in gone]


def _neighbours(text: Text, units: Sequence[Unit]) -> Iterator[list[Unit]]:
    numbers = {unit.number for unit in units}
    for unit in units:
        after = unit.number + 1
        yield [unit, text.units[after]] if after in numbers else [unit]


def _has_all_values(claim: Claim, units: Sequence[Unit], spoken: Spoken) -> bool:
    """Return whether some units name every value of a claim; a first name is enough."""
    types = vocabulary()[claim.kind].slots
    values = [value for unit in units for value in unit.values.values()]
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
