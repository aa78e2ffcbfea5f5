"""Sentences from forms: wordings and slots are chosen so that no sentence comes twice in a world.

A form is a line such as `The {dish} [came|arrived] [cold|late].` Brackets hold wordings to choose
from, and slots are filled with facts: `{dish}`, `{dish_cap}` with a capital, `{dish_caps}` all in
capitals. A slot that occurs twice is filled differently if its fact is a list. A form with a slot
for which there is no fact is left out.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_SPACES = re.compile(r" {2,}")
_ODD = re.compile(r" +([,.!?;:])")
_START = re.compile(r"(?:^|(?<=[.!?] )|(?<=\n))([a-z])")
_END = re.compile(r"(?<=[.!?])\s+")
_DIGITS = re.compile(r"\d+")
_TRIES = 5
"""How often a form is filled anew, if what it says has been said."""

Facts = Mapping[str, str | Sequence[str]]
"""By slot: its text, or the texts from which one is chosen."""


@functools.cache
def slots(form: str) -> frozenset[str]:
    """Return the slots of a form, without `_cap` and `_caps`."""
    return frozenset(_bare(slot) for slot in _SLOT.findall(form))


def _bare(slot: str) -> str:
    return slot.removesuffix("_caps").removesuffix("_cap")


@functools.cache
def forms(text: str) -> tuple[str, ...]:
    """Return the lines of a block of forms."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def is_plural(thing: str) -> bool:
    """Return whether what is named, such as "eggplant in garlic sauce", is several things."""
    word = thing.partition(" in ")[0].partition(" by ")[0].partition(" with ")[0].split()[-1]
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def filled(form: str, facts: Facts, chance: Random) -> str:
    """Return a form with its wordings chosen and its slots filled, each sentence capitalized."""
    chosen = _CHOICE.sub(lambda found: chance.choice(found[1].split("|")), form)
    drawn: dict[str, list[str]] = {}

    def fact(found: re.Match[str]) -> str:
        name = _bare(found[1])
        value = facts[name]
        if not isinstance(value, str):
            earlier = drawn.setdefault(name, [])
            value = chance.choice([each for each in value if each not in earlier] or value)
            earlier.append(value)
        if found[1].endswith("_caps"):
            return value.upper()
        return value[0].upper() + value[1:] if found[1].endswith("_cap") else value

    text = _SLOT.sub(fact, chosen)
    text = _ODD.sub(r"\1", _SPACES.sub(" ", text)).strip()
    return _START.sub(lambda found: found[1].upper(), text)


class Prose:
    """Remembers what has been said in a world."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._times: Counter[str] = Counter()

    def say(
        self, choices: Sequence[str], facts: Facts, chance: Random, used: Collection[str] = ()
    ) -> tuple[str, str] | None:
        """Return a form and what it says, which nobody has said; None if no form is left.

        Forms in `used` are left out, and those that were used least come first.
        """
        unused = [form for form in choices if form not in used]
        possible = [form for form in unused if slots(form) <= facts.keys()]
        chance.shuffle(possible)
        for form in sorted(possible, key=self._times.__getitem__)[:12]:
            for _ in range(_TRIES):
                text = filled(form, facts, chance)
                if self.take(text):
                    self._times[form] += 1
                    return form, text
        return None

    def take(self, text: str) -> bool:
        """Note what a text says, and return whether all of it is new."""
        said = [_masked(sentence) for sentence in _END.split(text)]
        if not self._said.isdisjoint(said):
            return False
        self._said.update(said)
        return True


def _masked(sentence: str) -> str:
    return _DIGITS.sub("#", sentence).strip(" .!?").casefold()
