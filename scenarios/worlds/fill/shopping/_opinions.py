"""What buyers write about products: forms of `_reviews.yaml`, by the department of a product."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from random import Random
from typing import Any

from scenarios.worlds.build import parsed
from scenarios.worlds.fill._prose import Prose, filled, forms, is_plural

_UNITS = "oz|lb|l|qt|in|ft|W|V|F|mAh|GB|TB|lumen|cans|bottles|bars|bags|reams|count|ct|sheets|pack"
_MORE_UNITS = "tablets|capsules|rolls|loads|gal|ml|g|kg|pods|cup|cups|piece|pieces|pairs|inch|cm|mm"
_SIZES = re.compile(rf"\b\d[\w.:/-]*( ?({_UNITS}|{_MORE_UNITS})\b)*")
_EXTRAS = re.compile(r" (?:with|for|in|without|from) ")
_PROPER = ("French", "English", "Greek", "Italian", "Thai", "Christmas", "Halloween", "Easter")
_TONES = {5: "good", 4: "good", 3: "mixed", 2: "bad", 1: "bad"}
_LENGTHS = ((0.3, 1), (0.65, 2), (0.88, 3), (1.0, 4))
"""How many lines reviews have: (cumulated share, lines)."""


class Opinions:
    """Writes the reviews of a world's shops, so that hardly any sentence comes twice."""

    def __init__(self) -> None:
        self._prose = Prose()

    def review(
        self, product: dict[str, Any], stars: int, titles: set[str], chance: Random
    ) -> tuple[str, str]:
        """Return the title and the text of a review.

        `titles` are those that the product has already; the new one is added to them.
        """
        share = chance.random()
        count = next(lines for most, lines in _LENGTHS if share <= most)
        tone = _TONES[stars]
        facts = _facts(product, chance)
        used: set[str] = set()
        parts: list[str] = []
        if count > 1 and chance.random() < 0.5:
            self._add(parts, _lines("any", "open"), facts, used, chance)
        while len(parts) < count:
            wanted = "mixed" if stars == 4 and parts and len(parts) == count - 1 else tone
            lines = _lines("any", wanted)
            if chance.random() < 0.6:
                own = (product["department"], product["category"])
                lines = _lines(own[0], wanted) + _lines(own[1], wanted) or lines
            if not self._add(parts, lines, facts, used, chance):
                break
        if not parts:
            parts.append(filled(chance.choice(_lines("any", tone)), facts, chance))
        return self._title(tone, titles, chance), " ".join(parts)

    def _add(
        self,
        parts: list[str],
        lines: tuple[str, ...],
        facts: dict[str, Any],
        used: set[str],
        chance: Random,
    ) -> bool:
        said = self._prose.say(lines, facts, chance, used)
        if said is None:
            return False
        used.add(said[0])
        parts.append(said[1])
        if "{p}" in said[0]:
            facts["p"] = facts["again"]
        return True

    def _title(self, tone: str, titles: set[str], chance: Random) -> str:
        """Return a title that the product does not have yet."""
        lines = list(forms(_told()["titles"][tone]))
        chance.shuffle(lines)
        title = filled(lines.pop(), {}, chance)
        while title in titles and lines:
            title = filled(lines.pop(), {}, chance)
        titles.add(title)
        return title


def _facts(product: dict[str, Any], chance: Random) -> dict[str, Any]:
    """Return the facts of one buyer; `who` stays the same in a review."""
    told = _told()["facts"]
    name = called(product["name"])
    many = is_plural(name)
    return told | {
        "p": name,
        "again": name if product["department"] == "Grocery" else name.split()[-1],
        "it": "them" if many else "it",
        "they": "they" if many else "it",
        "is": "are" if many else "is",
        "was": "were" if many else "was",
        "has": "have" if many else "has",
        "s": "" if many else "s",
        "who": chance.choice(told["who"]),
    }


def called(name: str) -> str:
    """Return what people call a product: its name without sizes, counts and what comes with it."""
    bare = _EXTRAS.split(_SIZES.sub(" ", name.partition(",")[0]))[0]
    words = [word for word in bare.split() if word not in ("x", "%")]
    if not words:
        return name
    is_proper = words[0] in _PROPER or any(word[0].isupper() for word in words[1:])
    if not is_proper and not words[0].isupper():
        words[0] = words[0][0].lower() + words[0][1:]
    return " ".join(words)


@functools.cache
def _lines(name: str, part: str) -> tuple[str, ...]:
    """Return the forms of a part of reviews for a department or a category, or of `any`."""
    lines: tuple[str, ...] = ()
    for key, parts in _told().items():
        if name in key.split(", "):
            lines += forms(parts.get(part, ""))
    return lines


@functools.cache
def _told() -> dict[str, Any]:
    return parsed(Path(__file__).with_name("_reviews.yaml"))["opinions"]
