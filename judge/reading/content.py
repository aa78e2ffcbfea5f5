"""The words of a slot: which of them matter, what else may stand for them, and whether they are in
a text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from judge.reading.claims import Claim, vocabulary
from judge.reading.texts import stems_of
from judge.reading.values import aliases

SMALL = frozenset(
    re.findall(
        r"\w+",
        """
        a an the of to for from in on at by with via and or is are was were be been has have had
        it its that this these those my your our their his her him them you i we as so now then
        also just already successfully both all each one two he she they there here new again out
        up over about into within under who whom which what when where not no yes still only once
        exactly right sent done email mail message payment account me us please per same s
        """,
    )
)
"""Words that tell nothing of what a slot is about."""
_SAME = (
    "email mail message reply answer e-mail", "payment transfer money paid pay",
    "booking reservation", "meeting event appointment",
    "total altogether sum everything comes amount all",
    "balance left available remaining", "chance probability likelihood risk odds", "rain showers"
    " wet precipitation raining rainy rains drizzle", "high highs maximum max warmest top",
    "low lows minimum min coldest lowest", "share each pays pay half", "price cost fare costs",
    "review rating", "delete deleted remove", "flight plane", "arrival arrive arrives land lands"
    " landing get in", "start starts begin begins starting", "due deadline", "scheduled standing"
    " recurring planned", "duplicate double second extra", "temperature degrees", "allowance"
    " allowances", "month monthly", "week weekly", "year yearly annually annual", "day daily",
    "photo photos pictures picture images", "fee charge", "owe owes owed",
)  # fmt: skip


@functools.cache
def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _SAME:
        group = stems_of(line)
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return found


@functools.lru_cache(maxsize=2048)
def content(words: str) -> tuple[tuple[float, frozenset[str]], ...]:
    """Return the words of a `words` slot that matter: the weight of each (2 for a name) and its
    base forms, with those of its synonyms (`a|b`).
    """
    found = []
    for part in words.split():
        options = [stems_of(option) for option in part.split("|") if option]
        plain: frozenset[str] = frozenset().union(*options)
        if plain and not plain <= SMALL:
            found.append((2.0 if part[0].isupper() else 1.0, _widened(plain)))
    if not found:
        found = [(1.0, _widened(stems_of(part))) for part in words.split()]
    return tuple(found)


def _widened(stems: frozenset[str]) -> frozenset[str]:
    for stem in stems:
        stems |= _synonyms().get(stem, frozenset())
    return stems


def share(words: str, stems: Iterable[frozenset[str]]) -> float:
    """Return how much of a slot's words is among some stems, from 0 to 1."""
    return _share(words, frozenset[str]().union(*stems))


def _share(words: str, known: frozenset[str]) -> float:
    wanted = content(words)
    whole = 0.0
    hit = 0.0
    for weight, options in wanted:
        whole += weight
        if not options.isdisjoint(known):
            hit += weight
    return hit / whole if whole else 1.0


def words_match(words: str, stems: Iterable[frozenset[str]]) -> bool:
    """Return whether most of a slot's words are among some stems."""
    known = frozenset[str]().union(*stems)
    names = _names_in(words)
    if names and all(option.isdisjoint(known) for option in names):
        return False
    return _share(words, known) >= (0.6 if len(content(words)) > 2 else 0.5)


@functools.lru_cache(maxsize=2048)
def _names_in(words: str) -> tuple[frozenset[str], ...]:
    """Return the names among a slot's words: those with a capital, services aside."""
    parts = [part for part in words.split() if "|" not in part]
    names = [part for part in parts if part[:1].isupper()]
    return tuple(stems_of(name) for name in names if name.lower() not in aliases())


@functools.cache
def topic_of(kind: str) -> frozenset[str]:
    """Return the words that show that a text is about a kind."""
    return stems_of(vocabulary()[kind].topic.replace("|", " "))


@functools.cache
def known_words(kind: str) -> frozenset[str]:
    """Return the words of a kind's forms and topic."""
    entry = vocabulary()[kind]
    words = " ".join(entry.phrases(entry.forms))
    return stems_of(re.sub(r"<\w+>|[|*?]", " ", words)) | topic_of(kind)


def slot_words(claim: Claim) -> frozenset[str]:
    """Return the words that matter of all `words` slots of a claim, with their synonyms."""
    bag: frozenset[str] = frozenset()
    for slot, want in claim.slots.items():
        if vocabulary()[claim.kind].slots[slot] == "words":
            for _, options in content(want):
                bag |= options
    return bag
