"""Concepts: what a text claims, told from what it denies, asks, supposes or intends.

A phrase is a run of words that must stand in one sentence in this order, with at most 3 words
between neighbours (`not yet` and its like aside). `*` allows 8, `sent|paid` is either word. A base
form (`send`) matches every form; a past form (`sent`, `transferred`) only past forms, so that a
plan is no claim of a deed. A phrase that ends in `?` matches questions alone. A phrase that holds a
negator (`could not confirm`) is claimed by saying just that. A word of the phrase is never a
marker: `will arrive` claims what `arrived` leaves open.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judge.reading.polarity import Passage, polarity, repeated
from judge.reading.words import Sentence, Word, sentences, type_word
from servers.kit.errors import InputError

GAP = 3
WIDE_GAP = 8
PLACEHOLDER = "place"
"""The form of a word that stands for any value of a type: `<money>`, `<person>`, …"""

PLACES = {
    "money": ("xmoney", "xnumber"),
    "value": ("xmoney", "xnumber", "xpercent", "xtemp"),
    "percent": ("xpercent",),
    "temp": ("xtemp",),
    "number": ("xnumber",),
    "person": ("xperson", "he", "she"),
    "day": ("xday",),
    "time": ("xtime",),
    "provider": ("xprovider",),
}
"""Beginnings of the words that stand for values in a text (`judge/reading/texts.py`)."""

_FREE = {"not", "yet", "never", "no"}
_STATES = {"gone", "done"}
"""Words for a state, which other forms of their verb do not tell: `is gone`, not `went`."""
_SEPARATORS = {"but", "however", "although", "though", "whereas"}

Stance = Literal["asserted", "denied", "both", "absent"]


@dataclass(frozen=True, slots=True)
class Item:
    """One place of a phrase: the words that may stand there, and whether the gap before is wide.

    A word that matches has one of `needs` among its keys.
    """

    options: tuple[Word, ...]
    wide: bool
    needs: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        needs: set[str] = set()
        for option in self.options:
            if option.form == PLACEHOLDER:
                needs.update(PLACES.get(option.text, (option.text,)))
            else:
                needs |= option.keys
        object.__setattr__(self, "needs", frozenset(needs))


def _words(text: str) -> list[Word]:
    words: list[Word] = []
    for sentence in sentences(text):
        words += sentence.words
    return words


def _option(text: str) -> list[Word]:
    if text.startswith("<"):
        return [Word(text[1:].rstrip(">"), frozenset(), PLACEHOLDER)]
    return _words(text)


@functools.lru_cache(maxsize=4096)
def as_phrase(text: str) -> tuple[tuple[Item, ...], bool]:
    """Return a phrase's items, and whether it asks. Raises `InputError` if it cannot be read."""
    items: list[Item] = []
    wide = False
    plain: list[str] = []

    def flush() -> None:
        nonlocal wide
        for found in sentences(" ".join(plain)):
            for word in found.words:
                items.append(Item((word,), wide))
                wide = False
        plain.clear()

    for part in text.rstrip("? ").split():
        if part == "*":
            flush()
            wide = True
        elif "|" in part or part.startswith("<"):
            flush()
            options = [_option(option) for option in part.split("|") if option]
            if any(len(words) != 1 for words in options):
                raise InputError(
                    f"phrase {text!r}: each side of `|` must be one word (`can not` is two)"
                )
            items.append(Item(tuple(words[0] for words in options), wide))
            wide = False
        else:
            plain.append(part)
    flush()
    if not items or wide or items[0].wide:
        raise InputError(f"phrase {text!r}: wants words, with `*` only between them")
    return tuple(items), text.rstrip().endswith("?")


def _did(words: Sequence[Word], place: int) -> bool:
    """Return whether `did` stands before a word, which makes it past: `it did go through`, `I did
    indeed send it`.
    """
    return any(w.text == "did" for w in words[max(0, place - 2) : place]) and not any(
        w.text in _FREE for w in words[max(0, place - 2) : place]
    )


def _level(item: Item, words: Sequence[Word], place: int) -> int:
    """Return 2 for a match, 1 where only the form differs (enough for a denial: `did not send`
    denies `sent`), 0 for none.
    """
    word = words[place]
    level = 0
    if item.needs.isdisjoint(word.keys):
        return 0
    for wanted in item.options:
        if wanted.form == PLACEHOLDER:
            if type_word(word.text) in PLACES[wanted.text]:
                return 2
            continue
        if wanted.text == word.text:
            return 2
        if wanted.text in _STATES:
            continue
        if wanted.bases & word.bases:
            if wanted.form in ("base", word.form) or (
                (wanted.form, word.form) == ("ed", "base") and _did(words, place)
            ):
                return 2
            level = 1
    return level


def _begins_what_else(words: Sequence[Word], place: int) -> bool:
    """Return whether another clause of what is told begins: "… for Hood River, and that Bend …"."""
    if words[place].text != "that" or not place or words[place - 1].text != "and":
        return False
    return place + 1 < len(words) and words[place + 1].text not in ("is", "was", "makes")


def matches(items: Sequence[Item], sentence: Sentence) -> Iterable[tuple[list[int], bool]]:
    """Yield `(positions, exact)` of the tightest match at each end."""
    words = sentence.words
    found: dict[int, tuple[list[int], bool]] = {}

    def search(
        at: int, number: int, taken: list[int], exact: bool
    ) -> tuple[list[int], bool] | None:
        if number == len(items):
            return taken, exact
        item = items[number]
        left = WIDE_GAP if item.wide else GAP
        for place in range(at, len(words)):
            level = _level(item, words, place)
            if level:
                rest = search(place + 1, number + 1, [*taken, place], exact and level == 2)
                if rest is not None:
                    return rest
            left -= words[place].text not in _FREE
            if left < 0 or words[place].text in _SEPARATORS or _begins_what_else(words, place):
                return None
            if words[place].text == "so" and place in sentence.breaks:
                return None  # "50 °F in Hood River, so Bend is warmer"
        return None

    first = items[0]
    for start, word in enumerate(words):
        level = 0 if first.needs.isdisjoint(word.keys) else _level(first, words, start)
        if level:
            made = search(start + 1, 1, [start], level == 2)
            if made is None:
                continue
            before = found.get(made[0][-1])
            if before is None or made[1] or not before[1]:
                found[made[0][-1]] = made
    return found.values()


def stance(phrases: Iterable[str], text: str) -> tuple[Stance, str]:
    """Return what a text makes of a concept given by phrases, and the sentence that shows it (""
    when absent).

    What a text says of an earlier try ("at first it did not go through") gives way to what it says
    outside, and how things had stood ("it had not gone out, so I sent it") to a claim that comes
    later. That nothing was repeated ("I did not send it again") denies no deed.
    """
    said: dict[tuple[str, bool], str] = {}
    stood: list[tuple[tuple[int, int], str]] = []
    claimed = (-1, -1)
    parsed = [as_phrase(p) for p in phrases]
    reading = Passage(sentences(text))
    for number, sentence in enumerate(reading.sentences):
        keys = sentence.keys
        for items, asks in parsed:
            if any(item.needs.isdisjoint(keys) for item in items):
                continue
            for positions, exact in matches(items, sentence):
                if asks:
                    if sentence.question and exact:
                        said.setdefault(("yes", False), sentence.text)
                    continue
                value, earlier = polarity(reading, number, positions)
                if value == "no" and repeated(sentence, positions):
                    continue
                place = (number, positions[-1])
                if value == "no" and any(
                    w.text == "had" for w in sentence.words[max(0, positions[0] - 4) : place[1]]
                ):
                    stood.append((place, sentence.text))
                elif value == "no" or (value == "yes" and exact):
                    said.setdefault((value, earlier), sentence.text)
                    claimed = max(claimed, place) if value == "yes" else claimed
    for place, sentence_text in stood:
        said.setdefault(("no", place < claimed), sentence_text)
    yes = said.get(("yes", False))
    no = said.get(("no", False))
    if yes is None and no is None:
        yes = said.get(("yes", True))
        no = said.get(("no", True))
    if yes is not None and no is not None:
        return "both", no
    if yes is not None:
        return "asserted", yes
    return ("denied", no) if no is not None else ("absent", "")
