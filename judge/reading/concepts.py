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
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import model_validator

from judge.reading.polarity import Passage, polarity, repeated
from judge.reading.words import Sentence, Word, sentences
from servers.kit.declared import Declared
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
    """One place of a phrase: the words that may stand there, and whether the gap before is wide."""

    options: tuple[Word, ...]
    wide: bool


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


def type_word(text: str) -> str:
    """Return `xmoney` for the word `xmoney3x` of a masked value, any other word as it is."""
    if text[:1] == "x" and text[-1:] == "x":
        return text.rstrip("x").rstrip("0123456789") or text
    return text


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
            if left < 0 or words[place].text in _SEPARATORS:
                return None
        return None

    for start in range(len(words)):
        level = _level(items[0], words, start)
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
        for items, asks in parsed:
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


class Concept(Declared):
    """What a text must, or must not, claim.

    `any`: phrases of which one must be claimed. `all`: groups of phrases, one of each. `none`:
    phrases that must not be claimed. `accepts` and `rejects` are at least three whole texts each,
    which prove the phrases on load.
    """

    any: tuple[str, ...] = ()
    all: tuple[tuple[str, ...], ...] = ()
    none: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _one_phrase_is_a_list(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        for key in ("any", "none"):
            if isinstance(data.get(key), str):
                data = data | {key: [data[key]]}
        if isinstance(data.get("all"), list):
            data = data | {
                "all": [[group] if isinstance(group, str) else group for group in data["all"]]
            }
        return data

    @model_validator(mode="after")
    def _readable(self) -> Concept:
        if not (self.any or self.all or self.none) or () in self.all:
            raise InputError("wants phrases: `any: […]`, `all: [[…], […]]` or `none: […]`")
        for group in (self.any, *self.all, self.none):
            for phrase in group:
                as_phrase(phrase)
        return self

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Groups of phrases of which each must be claimed."""
        return ([self.any] if self.any else []) + list(self.all)

    def judge(self, texts: Sequence[str]) -> tuple[bool, str]:
        """Return whether these texts, read in order as one turn, satisfy the concept, and why in
        one sentence.

        For each group the last text that takes a stance decides.
        """
        shown = []
        for group in self.groups:
            value, where = _last(group, texts)
            if value != "asserted":
                return False, _explain(group, value, where)
            shown.append(_quoted(where))
        for phrase in self.none:
            value, where = _last((phrase,), texts)
            if value == "asserted":
                return False, f"the text claims {phrase!r}: {_quoted(where)}"
        if not self.groups:
            return True, f"the text claims none of {_listed(self.none)}"
        return True, f"the text says {' and '.join(shown)}"

    def problems(self) -> list[str]:
        """Return what is wrong with the proving texts: too few, an accepted one refused, a rejected
        one let through.
        """
        found = []
        for key, wanted in (("accepts", True), ("rejects", False)):
            proofs: tuple[str, ...] = getattr(self, key)
            if len(proofs) < 3:
                found.append(f"`{key}` wants at least 3 texts, has {len(proofs)}")
            for text in proofs:
                value, why = self.judge([text])
                if value is not wanted:
                    found.append(f"`{key}` {text!r}: {why}")
        return found


def _last(group: Sequence[str], texts: Sequence[str]) -> tuple[Stance, str]:
    found: tuple[Stance, str] = ("absent", "")
    for text in texts:
        made = stance(group, text)
        if made[0] != "absent":
            found = made
    return found


def _explain(group: Sequence[str], value: Stance, where: str) -> str:
    if value == "both":
        return f"the text contradicts itself about {_listed(group)}: {_quoted(where)}"
    if value == "denied":
        return f"the text denies {_listed(group)}: {_quoted(where)}"
    return f"the text does not claim {_listed(group)}"


def _listed(phrases: Sequence[str]) -> str:
    return " or ".join(repr(p) for p in phrases[:3]) + (" …" if len(phrases) > 3 else "")


def _quoted(text: str) -> str:
    return f'"{text if len(text) <= 120 else text[:117] + "…"}"'
