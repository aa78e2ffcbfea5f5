"""Deeds that a sentence names and that are not done: they wait, are still to come, or broke off."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from judge.reading.slots import is_verb, segment
from judge.reading.texts import Unit


def undone(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether the deed of a form has not been done, or is only what one would like less."""
    if _PREFERS.search(" ".join(unit.low.split()[: places[-1]])):
        return True
    if _CAME_TO_NOTHING.search(" ".join(unit.low.split()[places[0] :])):
        return True
    return _awaits(unit.low) or _to_come(unit, places) or _only_begun(unit, places)


_PREFERS = re.compile(r"\b(?:better|rather|sooner) (?:he|she|it|they|i|we|that|to)\b.*\bthan\b")
"""What one would like less is no deed: "better he waits than gets it twice"."""
_CAME_TO_NOTHING = re.compile(
    r"\b(?:but|yet|and then|and) (?:\w+ ){0,4}?(?:did not (?:keep|save|stick|take)|kept nothing"
    r"|never (?:kept|saved|stuck|took)|refused (?:it|both)|kept (?:none|neither))\b"
)
"""What became of a deed in the end: "Zelle accepted it but didn't keep it"."""
_AWAITS = re.compile(
    r"\b(?:pending|awaiting|waiting for|waiting on|needs?|subject to|requires?) your\b"
    r"|\bready (?:to (?:send|go|be sent|submit)|for your)\b|\bonce you (?:confirm|approve|say)\b"
)


@functools.lru_cache(maxsize=1024)
def _awaits(low: str) -> bool:
    """Return whether a sentence says that a deed waits for the user."""
    return _AWAITS.search(low) is not None


def _to_come(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a clause speaks of the future, and the form does not."""
    if unit.texts.isdisjoint(("will", "shall")):
        return False
    start, _ = segment(unit, places)
    words = unit.sentence.words
    return any(
        words[place].text in ("will", "shall") and place not in places
        for place in range(start, places[-1])
    )


_TO_BE = re.compile(r"\b(?:is|are|remains?) (?:still |yet )?to be$")
_WHEN_I = re.compile(r"\b(?:when|as) (?:i|we)(?: \w+)?$")
_BROKE_OFF = re.compile(
    r"^.{0,60}? (?:timed out|failed|(?:gave|returned|showed) an error"
    r"|(?:did not|never) answer\w*)\b"
)


def _only_begun(unit: Unit, places: Sequence[int]) -> bool:
    """Return whether a deed is still to be done, or broke off: "when I cancelled it, Zelle timed
    out".
    """
    if unit.texts.isdisjoint(("be", "when", "as")):
        return False
    verb = next((place for place in places if is_verb(unit, place)), places[0])
    words = unit.low.split()
    before = " ".join(words[:verb])
    if _TO_BE.search(before):
        return True
    return bool(_WHEN_I.search(before) and _BROKE_OFF.match(" ".join(words[verb:])))
