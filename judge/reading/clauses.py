"""The clause of a long sentence that was taken for a claim, so that a finding can quote it."""

from __future__ import annotations

import re

from judge.reading.slots import segment
from judge.reading.texts import Unit

LONG = 110
"""A sentence with fewer letters is quoted whole."""
_PIECES = re.compile(r"(?<=[,;:)])\s+|\s+(?=(?:and|but|so|because|since|which|while)\s)")


def clause_of(unit: Unit, place: int) -> str:
    """Return the clause of a sentence around one of its words, as it is written."""
    if len(unit.raw) <= LONG or unit.row or not 0 <= place < len(unit.sentence.words):
        return unit.raw
    start, stop = segment(unit, [place])
    wanted: set[str] = set()
    for at in range(start, stop):
        value = unit.values.get(at)
        written = unit.sentence.words[at].text if value is None else value.raw
        wanted |= set(re.findall(r"\w+", written.casefold()))
    pieces = _PIECES.split(unit.raw)
    shares = [_share(piece, wanted) for piece in pieces]
    best = max(range(len(pieces)), key=lambda number: shares[number])
    first = best
    while first and shares[first - 1] >= 0.75:
        first -= 1
    last = best
    while last + 1 < len(pieces) and shares[last + 1] >= 0.75:
        last += 1
    return " ".join(pieces[first : last + 1]).strip(" ,;:")


def _share(piece: str, wanted: set[str]) -> float:
    words = set(re.findall(r"\w+", piece.casefold()))
    return len(words & wanted) / len(words) if words else 0.0
