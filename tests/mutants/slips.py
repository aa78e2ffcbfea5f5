"""Slips of the pen: typos, values of a wrong type, broken syntax."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.mutants.places import At, Place

_WRONG: dict[type, tuple[Any, ...]] = {
    str: (["x"], {"x": 1}, 7, True),
    int: ("many", [1], {"x": 1}),
    float: ("many", [1.5], {"x": 1}),
    bool: ("maybe", [True], 7),
    list: ({"x": 1}, 7, True),
    dict: (["x"], 7, "words"),
    type(None): (["x"],),
}


@dataclass(frozen=True)
class Mutant:
    """A scenario's data with one slip: `old` became `new` at a place."""

    scenario: str
    place: Place
    old: str
    new: str
    raw: Any


_LETTERS = "abcdefghiklmnoprstuw"


def typo(word: str, chance: random.Random) -> str:
    """Return a word with one letter left out, doubled, changed, or swapped with the next one."""
    letters = [place for place, letter in enumerate(word) if letter.isalnum()]
    while True:
        spot = chance.choice(letters or [0])
        how = chance.choice(["drop", "double", "swap", "other", "end"])
        made = word
        if how == "drop" and len(word) > 2:
            made = word[:spot] + word[spot + 1 :]
        elif how == "double":
            made = word[:spot] + word[spot] + word[spot:]
        elif how == "swap" and spot + 1 < len(word):
            made = word[:spot] + word[spot + 1] + word[spot] + word[spot + 2 :]
        elif how == "other":
            made = word[:spot] + chance.choice(_LETTERS) + word[spot + 1 :]
        elif how == "end":
            made = word[:-1] if word.endswith("s") else word + "s"
        if made != word and len(made) > 1:
            return made


def mutant(name: str, raw: Mapping[str, Any], place: Place, seed: str) -> Mutant:
    """Return the mutant of a scenario's data with a slip at a place; `seed` decides which."""
    chance = random.Random(seed)
    made = copy.deepcopy(raw)  # what aliases share stays shared, as in the file
    holder = at(made, place.at[:-1])
    last = place.at[-1]
    if place.how == "key":
        slip, old, new = _typo_in(str(last), place, chance)
        _rename(holder, last, slip)
        return Mutant(name, place, old, new, made)
    if place.how == "syntax" and place.span is None and isinstance(last, str):
        broken = _broken(last, place, chance)
        _rename(holder, last, broken)
        return Mutant(name, place, last, broken, made)
    value: Any = holder[last]
    if place.how == "word":
        slip, old, new = _typo_in(value, place, chance)
        holder[last] = slip
        return Mutant(name, place, old, new, made)
    if place.how == "syntax":
        wrong: Any = _broken(value, place, chance)
    elif place.how == "number":
        wrong = chance.choice([0, -1, value + 7, "second", [1]])
    else:
        wrong = _other(value, place, chance)
    holder[last] = wrong
    return Mutant(name, place, repr(value), repr(wrong), made)


def _typo_in(text: str, place: Place, chance: random.Random) -> tuple[str, str, str]:
    """Return a text with a typo at a place, and the part that changed, before and after."""
    low, high = place.span or (0, len(text))
    made = text[:low] + typo(text[low:high], chance) + text[high:]
    return made, text[low:high], made[low : high + len(made) - len(text)]


def at(data: Any, path: At) -> Any:
    """Return what stands at a place of parsed YAML."""
    for part in path:
        data = data[part]
    return data


def _rename(holder: dict[Any, Any], old: Any, new: Any) -> None:
    items = [(new if key == old else key, value) for key, value in holder.items()]
    holder.clear()
    holder.update(items)


_WRONG_SLOTS: dict[str, tuple[Any, ...]] = {
    "words": ({"x": 1}, True),
    "items": ({"x": 1}, 7),
    "people": ({"x": 1}, 7),
    "phrases": ({"x": 1}, 7),
    "value": ("many", [1.5], {"x": 1}),
    "money": ("many", [1.5], {"x": 1}),
    "number": ("many", [1.5], {"x": 1}),
    "time": ("noon", ["x"], {"x": 1}),
    "day": ("Ana Ruiz", ["x"], 7),
}
"""Wrong values for the slots of claims, of which some take several types."""


def _other(value: Any, place: Place, chance: random.Random) -> Any:
    if place.sort == "type of a truth value":
        return copy.deepcopy(chance.choice(_WRONG[bool]))
    if place.sort in ("operand of matches", "operand of contains"):  # a text may hold a number
        return {"x": 1}
    slot = place.sort.removeprefix("value of a ").removesuffix(" slot")
    return copy.deepcopy(chance.choice(_WRONG_SLOTS.get(slot, _WRONG[type(value)])))


def _broken(text: str, place: Place, chance: random.Random) -> str:
    if place.span is None:
        return chance.choice([text + "[", text + ".", text + "]", text + "[1", text + "[x=1"])
    low, high = place.span
    source = text[low:high]
    signs = [spot for spot, sign in enumerate(source) if sign in "()[]\"'"]
    unclosed = [source[:spot] + source[spot + 1 :] for spot in signs]
    unclosed = [made for made in unclosed if not _parses(made)]
    if unclosed and chance.random() < 0.7:
        source = chance.choice(unclosed)
    else:
        source += chance.choice([" +", " ==", ")", " if", "..x", "["])
    return text[:low] + source + text[high:]


def _parses(source: str) -> bool:
    try:
        ast.parse(f"({source})", mode="eval")
    except SyntaxError:
        return False
    return True
