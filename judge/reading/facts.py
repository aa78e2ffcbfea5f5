"""Facts that a statement gives in phrases: what of a text asserts them."""

from __future__ import annotations

import functools
import itertools
import re

from judge.reading.claims import Claim
from judge.reading.concepts import stance as stance_of
from judge.reading.hedges import SELF as SUPPOSED
from judge.reading.hits import Key
from judge.reading.marks import marked
from judge.reading.outcome import Instance
from judge.reading.strays import without_transit
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart

_TRANSIT_WORDS = frozenset(["facility", "warehouse", "hub", "depot", "carrier"])
_ASKS = re.compile(
    r"\b(?:[Pp]lease,? |(I|[Ww]e)(?:['\u2019]ll| will|['\u2019]m going to| am going to| plan to))"
)
"""In a mail, a request or a plan is what the mail says."""


def fact(claim: Claim, key: Key, spoken: Spoken) -> list[Instance]:
    """Return the place that asserts or denies a fact given by phrases, if there is one."""
    text = taken_apart(*key)
    marks = marked(*key)
    out = marks.taken_back | marks.takes_back | marks.either
    plain = spoken.text
    held = _held(key)
    if out or any(held[unit.number] != unit.raw for unit in text.units):
        plain = "\n".join(held[unit.number] for unit in text.units if unit.number not in out)
    if not spoken.asked:
        plain = _ASKS.sub(lambda found: found[1] or "", plain)
    says = claim.slots.get("says", ())
    if not _TRANSIT_WORDS & stems_of(" ".join(says)):
        plain = without_transit(plain)
    value, where = stance_of(says, plain)
    if value == "absent":
        return []
    shows = _unit_of(text, where, marks.taken_back)
    if value != "asserted" and _UNSEEN.search(shows.low):
        return []
    return [Instance(shows, 0, "claims" if value == "asserted" else "denies")]


_UNSEEN = re.compile(r"\b(?:did|does|do) not (?:\w+ )?(?:appear|show)\b")
"""What does not show may be there all the same."""


@functools.lru_cache(maxsize=512)
def _held(key: Key) -> tuple[str, ...]:
    """Return what each sentence of a text asserts."""
    return tuple(_asserted(unit) for unit in taken_apart(*key).units)


def _asserted(unit: Unit) -> str:
    """Return what a sentence says before it only supposes, or tells what is so in general: "as for
    the feed, I'd assume you're not in it, since private payments don't show up there".
    """
    words = unit.sentence.words
    if _TO_DO.match(unit.low) or _UNSAID.search(unit.low):
        return ""
    open_ends = (SUPPOSED, _IN_GENERAL, _COULD)
    for found in itertools.chain.from_iterable(p.finditer(unit.low) for p in open_ends):
        start = len(unit.low[: found.start()].split())
        if _ENDS.isdisjoint(word.text for word in words[start:]):
            begins = max((b for b in unit.sentence.breaks if b <= start), default=0)
            return " ".join(_written(unit, place) for place in range(begins)) + "."
    return unit.raw


def _written(unit: Unit, place: int) -> str:
    value = unit.values.get(place)
    return unit.sentence.words[place].text if value is None else value.raw


_UNSAID = re.compile(
    r"\b(?:it|that|they) (?:does|did|do) not (?:spell out|say|mention)\b"
    r"|\b(?:came|went|followed) later\b"
)
"""What a mail does not say may be so all the same, and what came later is there."""
_TO_DO = re.compile(r"(?:what is (?:still )?left|left to do|still to do|to do|next steps?)\b")
_ENDS = frozenset(["but", "however"])
_IN_GENERAL = re.compile(
    r"\b(?:normally|usually|generally|typically|as a rule|in general|tends? to|ordinarily)\b"
)
"""Words that tell of how things go as a rule, which is not how they went."""
_COULD = re.compile(
    r"\b(?:i|we) (?:could|can)(?: \w+ly| also| still| just)? (?!not\b|see\b|confirm\b|tell\b|say\b"
    r"|only\b|report\b|find\b|verify\b|read\b)"
    r"|\b(?:it|this|that|they) would (?:then |now )?(?:begin|start|end|be|run|go|come)\b"
    r"|\b(?:because|otherwise|or|else) then (?:it|that|they|he|she)\b"
)
"""What one offers to do is not done: "I could write from your work address instead"."""


def _unit_of(text: Text, where: str, back: frozenset[int]) -> Unit:
    """Return the unit that a sentence of normalised words is most likely of."""
    wanted = set(where.lower().split())
    left = [unit for unit in text.units if unit.number not in back]
    return max(left, key=lambda u: len(wanted & set(u.raw.lower().split())), default=text.units[0])
