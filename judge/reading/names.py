"""Claims that all of some things or people are named."""

from __future__ import annotations

import re

from judge.reading.claims import Claim
from judge.reading.content import content, share, words_match
from judge.reading.hits import Key, passage
from judge.reading.marks import marked
from judge.reading.outcome import Instance
from judge.reading.polarity import polarity
from judge.reading.slots import segment
from judge.reading.texts import Spoken, Unit, stems_of, taken_apart


def named(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    """Return the place that completes a list of things or people that are all to be named."""
    text = taken_apart(*key)
    marks = marked(*key)
    last: tuple[Unit, int] | None = None
    what = claim.slots.get("what", "")
    if what and not words_match(what, [*text.stems, stems_of(spoken.asked)]):
        return []
    for item in claim.slots.get("items", ()):
        found = None
        for unit in text.units:
            if unit.number in marks.either or unit.number in marks.taken_back:
                continue
            if unit.sentence.question:
                continue
            person = _person_at(item, unit)
            if person is None and not _stands(item, unit):
                continue
            place = _place_of(item, unit) if person is None else person
            if person is not None and _has_paid(unit, place):
                continue
            value, _ = polarity(passage(key), unit.number, [place])
            open_still = person is not None and _NOT_YET.search(unit.low) is not None
            if value == "no" and open_still and not _ruled_out(unit, place):
                value = "yes"
            if value != "no":
                found = (unit, place)
                break
        if found is None:
            return []
        if last is None or found[0].number > last[0].number:
            last = found
    return [Instance(last[0], last[1], "claims")] if last else []


_NOT_YET = re.compile(
    r"\bnot (?:yet |been |even )*(?:paid|settled|answered|reimbursed|read|opened|replied|responded"
    r"|reacted|written|signed|confirmed)\b"
)


def _person_at(item: str, unit: Unit) -> int | None:
    """Return where a person is named, by the full name or by a first name of nobody else."""
    for place, value in unit.values.items():
        if value.type == "person" and value.means == (item,):
            return place
    return None


def _has_paid(unit: Unit, place: int) -> bool:
    """Return whether a person's clause tells that nothing is open any more: "Ben has paid"."""
    start, stop = segment(unit, [place])
    words = [word.text for word in unit.sentence.words[start:stop]]
    return "paid" in words and not {"not", "nor", "neither", "never", "no", "i"} & set(words)


def _ruled_out(unit: Unit, place: int) -> bool:
    near = {word.text for word in unit.sentence.words[max(0, place - 2) : place]}
    return bool(near & {"not", "nor", "without", "except", "never", "no", "neither", "instead"})


def _stands(item: str, unit: Unit) -> bool:
    """Return whether the words of a name stand together."""
    if share(item, unit.stems) < 1.0:
        return False
    if item.casefold() in unit.raw.casefold():
        return True
    size = len(item.split()) + 2
    return any(share(item, unit.stems[at : at + size]) == 1.0 for at in range(len(unit.stems)))


def _place_of(item: str, unit: Unit) -> int:
    wanted = content(item)
    for place, stem in enumerate(unit.stems):
        if any(options & stem for _, options in wanted):
            return place
    return 0
