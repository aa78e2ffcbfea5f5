"""How a text is read in these tests: on one day, among a few people."""

from __future__ import annotations

from typing import Any

from judge.reading import Reading, Spoken, parse_claim, read

PEOPLE = (
    "Hannah Cole",
    "Lucas Weber",
    "Ana Reyes",
    "Ben Asher",
    "Jordan Park",
    "Mei Chen",
)


def reading(kind: str, slots: dict[str, Any], text: str) -> Reading:
    """Return how a text of 14 March 2026 stands to a claim."""
    return read(parse_claim(kind, slots), Spoken(text, "2026-03-14", "", PEOPLE))
