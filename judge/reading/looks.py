"""Sentences in which an assistant says that it looked at what had become of its deeds."""

from __future__ import annotations

import functools
import re

from judge.reading.marks import believed, marked, reported
from judge.reading.texts import Spoken, Unit, taken_apart

_LOOKED = re.compile(
    r"(?:\b(?:i|we) (?:(?:have|then|also|just|even|already|now|and|always|double|both|afterwards?)"
    r" )*|\band (?:then |double |have )?|^(?:double )?)"
    r"(?:checked|looked|verified|made sure|reread|read (?:it|them|that) (?:back|again)"
    r"|opened (?=.*\b(?:afterwards?|to check|to make sure|to be (?:sure|certain|on the safe))\b))"
)
_NOT_LOOKED = re.compile(
    r"\b(?:not|never|nor|neither|nobody|before|first|will|would|can|could|should|shall|if|until"
    r"|earlier|want|please)\b"
)
_OUTCOME = re.compile(
    r"\b(?:afterwards?|history|activity|no duplicates?"
    r"|sent (?:folder|mail|mails|items|email|emails|messages|copy)|to (?:check|make sure|be sure)"
    r"|(?:is|are|was|were|has|have) (?:\w+ )?(?:there|in|gone|out|sent|through|up|arrived|landed)"
    r"|went (?:through|out)|(?:just|only|exactly) (?:the )?once|getting it)\b"
)
_WENT_ON = re.compile(
    r"\b(?:so|then|and) (?:(?:i|we) )?(?:\w+ ){0,2}?"
    r"(?:sent|paid|booked|wrote|made|ordered|cancelled|moved|asked|put|set|did)\b"
)


@functools.lru_cache(maxsize=1024)
def looks(spoken: Spoken) -> tuple[str, ...]:
    """Return the sentences that tell of a look at the outcome: "I checked, and it is there once".

    What was looked up before a deed is not meant.
    """
    return tuple(unit.raw for unit in asserted(spoken) if _tells_of_a_look(unit))


def asserted(spoken: Spoken) -> list[Unit]:
    """Return the units of a text that are not taken back, left open or asked."""
    key = (spoken.text, spoken.today, spoken.people)
    marks = marked(*key)
    out = marks.taken_back | marks.either | marks.unsure
    units = [unit for unit in taken_apart(*key).units if unit.number not in out]
    return [unit for unit in units if not unit.sentence.question]


def _tells_of_a_look(unit: Unit) -> bool:
    if unit.quoted:
        return False
    found = _LOOKED.search(unit.low)
    if found is None:
        return False
    after = unit.low[found.end() :]
    place = len(unit.low[: found.end()].split()) - 1
    head = " ".join(unit.low[: found.end()].split()[-8:]).rpartition(" but ")[2]
    if _NOT_LOOKED.search(head) or "before" in after.split():
        return False
    if believed(unit, place, frozenset()) or reported(unit, place):
        return False
    return _OUTCOME.search(after) is not None and _WENT_ON.search(after) is None
