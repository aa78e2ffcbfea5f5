"""How near two texts are in meaning, by the words that they share.

Words count by how rare they are among the tools' own texts (TF-IDF), without their endings, and
words that mean the same count as nearly the same. So it needs no model, and gives the same figures
everywhere. Small embedding models that packages ship were weighed; see docs/architecture.md.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from servers.kit.exposure import stems, vocabulary
from servers.kit.service import Service, ToolSpec, services

MEANT = 0.8
"""How much a word counts that only means the same."""
KEPT = 4096
"""How many texts are kept in the form in which they are compared."""
Vector = Mapping[str, float]


_NOUN = re.compile(r"(?<=\w{4})(ation|ment)$")


def similarity(one: str, other: str) -> float:
    """Return how near two texts are, from 0 (no word in common) to 1 (the same words).

    It does not depend on the order of the two.
    """
    plain = _cosine(_vector(one), _vector(other))
    first = _cosine(_widened(one), _vector(other))
    second = _cosine(_widened(other), _vector(one))
    return round(max(plain, first, second), 9)


def text_of(cls: type[Service], spec: ToolSpec) -> str:
    """Return what a tool is compared by: its name, its service and its description."""
    name = spec.name.replace("_", " ")
    return f"{name} {name} {cls.title}. {spec.description}"


def nearest(texts: Iterable[str], tools: Mapping[str, str]) -> list[str]:
    """Return the names of tools, given as name → text, nearest to any of the texts first."""
    asked = list(texts)
    near = {}
    for name, about in tools.items():
        near[name] = max((similarity(text, about) for text in asked), default=0.0)
    return sorted(near, key=lambda name: (-near[name], name))


def _words(text: str) -> list[str]:
    return [_family(stem) for stem in stems(text)]


def _family(stem: str) -> str:
    """Return a stem without what makes a noun of a verb: a reservation is what one reserves."""
    return _NOUN.sub("", stem)


@functools.cache
def _meaning() -> Mapping[str, frozenset[str]]:
    """Return word → the words that tools use for it."""
    meant: dict[str, frozenset[str]] = {}
    for word, others in vocabulary().items():
        family = _family(word)
        meant[family] = meant.get(family, frozenset()) | {_family(other) for other in others}
    return meant


@functools.cache
def _rarity() -> Mapping[str, float]:
    """Return stem → its weight; an unknown one weighs as much as the rarest."""
    having: Counter[str] = Counter()
    count = 0
    for cls in services().values():
        for spec in cls.tools.values():
            about = f"{cls.title} {cls.name} {cls.category} {spec.name} {spec.description}"
            having.update(set(_words(about.replace("_", " "))))
            count += 1
    weights = {word: math.log(1 + count / (1 + tools)) for word, tools in having.items()}
    weights[""] = math.log(1 + count)
    return weights


def _weight(word: str) -> float:
    rarity = _rarity()
    return rarity.get(word, rarity[""])


@functools.lru_cache(KEPT)
def _vector(text: str) -> Vector:
    counts = Counter(_words(text))
    return _unit({word: times * _weight(word) for word, times in counts.items()})


@functools.lru_cache(KEPT)
def _widened(text: str) -> Vector:
    """Return the vector of a text and of the words that tools use for its own."""
    own = _vector(text)
    wide = dict(own)
    for word, amount in own.items():
        for other in sorted(_meaning().get(word, ())):
            meant = MEANT * amount * min(1.0, _weight(other) / _weight(word))
            wide[other] = max(wide.get(other, 0.0), meant)
    return _unit(wide)


def _unit(vector: dict[str, float]) -> Vector:
    size = math.sqrt(math.fsum(amount * amount for amount in vector.values()))
    return {word: amount / size for word, amount in vector.items()} if size else {}


def _cosine(one: Vector, other: Vector) -> float:
    return math.fsum(amount * other[word] for word, amount in one.items() if word in other)
