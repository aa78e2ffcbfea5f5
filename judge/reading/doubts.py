"""Doubts: what a text says that it could not confirm, and of which claim it says so."""

from __future__ import annotations

import re

from judge.reading.claims import Claim, vocabulary
from judge.reading.content import topic_of
from judge.reading.hits import Key, hits
from judge.reading.marks import marked, until_later
from judge.reading.outcome import Instance
from judge.reading.slots import Group, state_of
from judge.reading.texts import Spoken, Unit, taken_apart

_IT = re.compile(
    r"\b(?:it|that|this|whether|if|they|both|either|do so|say so|the (?:result|outcome))\b"
)


def doubt_of(claim: Claim, key: Key, spoken: Spoken) -> Unit | None:
    """Return the last sentence that says that it could not confirm just this claim."""
    text = taken_apart(*key)
    marks = marked(*key)
    found = None
    for number in sorted(marks.unsure - marks.taken_back):
        unit = text.units[number]
        if _about(claim, key, unit, spoken):
            found = unit
    return found


def _about(claim: Claim, key: Key, unit: Unit, spoken: Spoken) -> bool:
    kind = vocabulary()[claim.kind]
    text = taken_apart(*key)
    agreed = 0
    differing = 0
    group = Group(tuple(unit.values.items()), unit.stems)
    for slot, want in claim.slots.items():
        state, _ = state_of(kind.slots[slot], want, group, key[2])
        agreed += state == "agrees"
        differing += state == "differs"
    topic = topic_of(claim.kind)
    named = any(stem & topic for stem in unit.stems)
    if differing and not agreed:
        return False
    if named or (agreed and kind.frame not in ("deed",)):
        return True
    if agreed:
        return True
    if not _IT.search(unit.low):
        return False
    if not unit.number:
        return True
    before = text.units[unit.number - 1]
    if any(hit.unit is before for hit in hits(claim.kind, key)):
        return True
    return any(stem & topic for stem in before.stems)


def doubted(instance: Instance, doubt: Unit) -> bool:
    """Return whether a doubt right beside a claim makes it no claim."""
    if instance.kind != "claims":
        return False
    away = doubt.number - instance.unit.number
    return 0 <= away <= 1 and not until_later(doubt)
