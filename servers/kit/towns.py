"""Towns by the names that people use: "Charleston SC", NYC, PDX, Corpus."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from servers.kit.yaml import read

_T = TypeVar("_T")
_AROUND = frozenset(("downtown", "central", "greater", "metro", "area", "the", "in", "near"))
_COUNTRY = (["us"], ["usa"], ["united", "states"], ["america"])


class Named(NamedTuple):
    """What a town is called: its name, and its state in two letters and written out."""

    name: str
    code: str
    state: str


@functools.cache
def _known() -> Mapping[str, Any]:
    return read(Path(__file__).parent / "towns.yaml")


@functools.cache
def airports() -> Mapping[str, str]:
    """Return the code of an airport (lower case) → its name."""
    return {code.lower(): names[0] for code, names in _known()["airports"].items()}


@functools.cache
def nicknames() -> Mapping[str, str]:
    """Return what people call a town (lower case) → its name, with its state where it needs one."""
    return {str(short): str(name) for short, name in _known()["nicknames"].items()}


@functools.cache
def _usual() -> Mapping[str, str]:
    towns = {code.lower(): names[1] for code, names in _known()["airports"].items()}
    return {**towns, **nicknames()}


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", re.sub(r"['’.]", "", text.casefold()))


def matching(text: str, towns: Iterable[_T], named: Callable[[_T], Named]) -> list[_T]:
    """Return the towns that a text means, in their order.

    The text is a name, perhaps with the state, in two letters or written out, with or without a
    comma; a nickname; the code of an airport; or else the first words of a name.
    """
    said = _words(text)
    told = [word for word in said if word not in _AROUND] or said
    tries = [said, told]
    for short in (" ".join(said), " ".join(told), " ".join(told[:-1])):
        if short in _usual():
            tries.append(_words(_usual()[short]) + (told[-1:] if short != " ".join(told) else []))
    every = list(towns)
    for words in tries:
        found = [town for town in every if _is(words, named(town))]
        if found:
            return found
    return [town for town in every if _begins(told, named(town))]


def _is(said: Sequence[str], town: Named) -> bool:
    name = _words(town.name)
    return list(said[: len(name)]) == name and _is_rest(list(said[len(name) :]), town)


def _begins(said: Sequence[str], town: Named) -> bool:
    name = _words(town.name)
    for length in range(len(name) - 1, 0, -1):
        if list(said[:length]) == name[:length] and _is_rest(list(said[length:]), town):
            return True
    return False


def _is_rest(rest: list[str], town: Named) -> bool:
    """Whether what follows a town's name is its state or its country, or nothing."""
    for country in _COUNTRY:
        if rest[-len(country) :] == country:
            rest = rest[: -len(country)]
    return rest in ([], ["city"], _words(town.code), _words(town.state))
