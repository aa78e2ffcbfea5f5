"""Whether a text speaks of a deed as done without any of the deed's usual words.

`Priya: one email, bring the chains.` tells that Priya was written to, although no verb says so. It
is enough where a deed has to be told, and never enough to call a text false.
"""

from __future__ import annotations

import functools
import re

from judge.reading.claims import Claim, vocabulary
from judge.reading.marks import marked
from judge.reading.phrases import Parts
from judge.reading.slots import groups, share, state_of, types_of
from judge.reading.texts import Spoken, Unit, stems_of, taken_apart

_OPEN = frozenset(
    re.findall(
        r"\w+",
        """
        not no never nothing nobody none cannot without unable failed fail refused if unless whether
        will would could should shall may might must perhaps maybe probably plan going try want once
        until before lost missing vanished
        """,
    )
)
"""Words that keep a unit from telling that anything was done."""
_TELLING = ("person", "people", "money", "number", "day", "words")


def mentions(claim: Claim, spoken: Spoken) -> str:
    """Return the sentence that speaks of the claim's deed as done, or ""."""
    return _mentions(claim.parts, spoken)


@functools.lru_cache(maxsize=2048)
def _mentions(parts: Parts, spoken: Spoken) -> str:
    kind, slots, needed = parts
    entry = vocabulary()[kind]
    if entry.deed is None:
        return ""
    key = (spoken.text, spoken.today, spoken.people)
    text = taken_apart(*key)
    marks = marked(*key)
    out = marks.taken_back | marks.either | marks.unsure
    topic = stems_of(entry.topic.replace("|", " "))
    for unit in text.units:
        if unit.number in out or unit.sentence.question or _is_open(unit):
            continue
        agreed, differs = _agreed(kind, dict(slots), unit, spoken.people)
        told = any(entry.slots[slot] in _TELLING for slot in agreed)
        on_topic = any(stems & topic for stems in unit.stems)
        if told and on_topic and not differs and needed <= agreed:
            return unit.raw
    return ""


def _is_open(unit: Unit) -> bool:
    return any(word.text in _OPEN for word in unit.sentence.words)


def _agreed(
    kind: str, slots: dict[str, object], unit: Unit, people: tuple[str, ...]
) -> tuple[set[str], bool]:
    """Return the slots whose value a unit names, and whether it names another value of one."""
    types = vocabulary()[kind].slots
    agreed: set[str] = set()
    differing: set[str] = set()
    for group in groups(unit, (0, len(unit.sentence.words)), types_of(kind)):
        for slot, want in slots.items():
            state, _ = state_of(types[slot], want, group, people)
            if state in ("agrees", "part"):
                agreed.add(slot)
            elif state == "differs":
                differing.add(slot)
            elif types[slot] == "words" and share(str(want), unit.stems) > 0.6:
                agreed.add(slot)
    return agreed, bool(differing - agreed)
