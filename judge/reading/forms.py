"""The forms of all kinds of claim, and which of them a sentence may have by its words alone."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass

from judge.reading.claims import split_phrase, vocabulary
from judge.reading.concepts import Item


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A form or denial of a kind: its items, and the types and words that it passes over.

    `needs` has one bit for each of its items; `_Index.bits` says which words have which bits.
    """

    kind: str
    number: int
    denial: bool
    items: tuple[Item, ...]
    without: frozenset[str]
    needs: int


@dataclass(frozen=True, slots=True)
class _Index:
    """All forms by the words of their rarest item, and for each word the bits of the items that it
    may stand for.
    """

    forms: dict[str, list[Form]]
    bits: dict[str, int]


def possible(keys: frozenset[str], passed: Set[str]) -> list[Form]:
    """Return the forms of which each item has a word among some keys, in their order; without those
    that pass over one of some words or types.
    """
    index = _index()
    missing = ~_bits_of(keys, index)
    found: dict[int, Form] = {}
    for key in index.forms.keys() & keys:
        for form in index.forms[key]:
            if not form.needs & missing and form.without.isdisjoint(passed):
                found[form.number] = form
    return [found[number] for number in sorted(found)]


def _bits_of(keys: frozenset[str], index: _Index) -> int:
    bits = 0
    for key in index.bits.keys() & keys:
        bits |= index.bits[key]
    return bits


@functools.cache
def _index() -> _Index:
    bit_of: dict[frozenset[str], int] = {}
    common = Counter[str]()
    for _, _, items, _ in _phrases():
        for item in items:
            bit_of.setdefault(item.needs, 1 << len(bit_of))
            common.update(item.needs)
    bits: dict[str, int] = {}
    for needs, bit in bit_of.items():
        for word in needs:
            bits[word] = bits.get(word, 0) | bit
    forms: dict[str, list[Form]] = {}
    for number, (kind, denial, items, without) in enumerate(_phrases()):
        wanted = 0
        for item in items:
            wanted |= bit_of[item.needs]
        form = Form(kind, number, denial, items, without, wanted)
        for word in min((item.needs for item in items), key=lambda n: _frequency(n, common)):
            forms.setdefault(word, []).append(form)
    return _Index(forms, bits)


def _frequency(needs: frozenset[str], common: Counter[str]) -> int:
    return sum(common[word] for word in needs)


@functools.cache
def _phrases() -> tuple[tuple[str, bool, tuple[Item, ...], frozenset[str]], ...]:
    """Return the kind, whether it is a denial, and the parts of each form of the vocabulary."""
    found = []
    for kind, entry in vocabulary().items():
        for denial, phrases in ((False, entry.forms), (True, entry.denials)):
            for phrase in entry.phrases(phrases):
                items, without = split_phrase(phrase)
                found.append((kind, denial, items, without))
    return tuple(found)
