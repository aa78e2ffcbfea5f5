"""Which words of a sentence belong to a value: what is nearest to it, and what it is said of."""

from __future__ import annotations

from collections.abc import Sequence

from judge.reading.content import share
from judge.reading.texts import Unit, stems_of


def chunk(unit: Unit, place: int, types: Sequence[str]) -> list[frozenset[str]]:
    """Return the stems around a value that are nearer to it than to any other of its type.

    A stretch without words of its own, such as the `5%` of `Bend: 5%`, takes in its label, unless
    other values of the sentence share that label.
    """
    start, stop = stretch(unit, place)
    labels = {p: _label(unit, p, types) for p, v in unit.values.items() if v.type in types}
    own = labels.get(place)
    if own is not None and -1 not in labels.values():
        start = own
    return list(unit.stems[max(start, place - 5) : min(stop, place + 5)])


def stretch(unit: Unit, place: int) -> tuple[int, int]:
    """Return where the words between two commas or joining words begin and end."""
    words = unit.sentence.words
    ends = _ends(unit)
    start = max((e for e in ends if e <= place), default=0)
    return start, min((e for e in ends if e > place), default=len(words))


def _ends(unit: Unit) -> list[int]:
    joints = {i for i, word in enumerate(unit.sentence.words) if word.text in _JOINTS}
    return sorted(unit.sentence.breaks | joints)


def _label(unit: Unit, place: int, types: Sequence[str]) -> int | None:
    """Return where the label of a value begins, None if it needs none, -1 if it has none."""
    start, stop = stretch(unit, place)
    if unit.columns or _says_much(unit, start, stop):
        return None
    before = _before(_ends(unit), start)
    taken = any(v.type in types and before <= p < start for p, v in unit.values.items())
    return -1 if taken or before == start else before


def _says_much(unit: Unit, start: int, stop: int) -> bool:
    """Return whether a stretch holds a content word beside its values."""
    for place in range(start, stop):
        word = unit.sentence.words[place]
        if place not in unit.values and word.text.isalpha() and word.text not in _LITTLE:
            return True
    return False


_LITTLE = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "at",
        "for",
        "in",
        "on",
        "is",
        "are",
        "was",
        "be",
        "it",
        "its",
        "to",
        "about",
        "around",
        "now",
        "then",
        "and",
        "so",
        "percent",
        "degrees",
        "f",
        "c",
        "per",
        "that",
        "there",
        "will",
        "your",
        "you",
        "has",
        "have",
        "with",
        "up",
        "down",
        "only",
        "just",
        "total",
    ]
)
_JOINTS = frozenset(["and", "but", "while", "with", "versus", "vs", "whereas"])


def _before(ends: Sequence[int], at: int) -> int:
    return max((e for e in ends if e < at), default=0)


def bound(unit: Unit, place: int, of: str, types: Sequence[str]) -> bool:
    """Return whether a number shares its clause with its thing, and each other number has a thing
    of its own: "11 copies of Bells and 17 copies of Star".
    """
    if share(of, chunk(unit, place, types)) < 1.0:
        return False
    own = stems_of(of.replace("|", " "))
    for other, value in unit.values.items():
        if value.type not in types or other == place:
            continue
        start, stop = stretch(unit, other)
        label = _label(unit, other, types)
        if label is not None and label >= 0:
            start = label
        words = [unit.sentence.words[p] for p in range(start, stop) if p not in unit.values]
        if not any(word.capital and not word.bases & own for word in words):
            return False
    return True


def alone_with(unit: Unit, place: int, of: str, types: Sequence[str]) -> bool:
    """Return whether a number stands in one stretch with the name of its thing, and with no other
    number and no other name: the 50 of "52 there and only 50 in Bend".
    """
    start, stop = stretch(unit, place)
    own = stems_of(of.replace("|", " "))
    names = 0
    for at in range(start, stop):
        value = unit.values.get(at)
        if value is not None and at != place and value.type in types:
            return False
        word = unit.sentence.words[at]
        if value is None and at and word.capital:
            names += 1
            if not word.bases & own:
                return False
    return names > 0


_BEGINS = frozenset(["from", "start", "starting", "begin", "beginning"])
_ENDS = frozenset(["until", "till", "to", "through", "end", "ending"])


def of_range(what: str, unit: Unit, places: list[int]) -> list[int]:
    """Return the place that begins or ends a range: the first day of "from the 18th to the 21st"
    is what something lasts from, the second what it lasts until.
    """
    words = unit.sentence.words
    if len(places) != 2:
        return []
    first, second = places
    before = {word.text for word in words[max(0, first - 2) : first]}
    between = {word.text for word in words[first + 1 : second]}
    if "from" not in before or not between & _ENDS or len(between) > 2:
        return []
    wanted = stems_of(what.replace("|", " "))
    if bool(wanted & _BEGINS) == bool(wanted & _ENDS):
        return []
    return [first] if wanted & _BEGINS else [second]


def of_thing(what: str, unit: Unit, places: list[int]) -> list[int]:
    """Return the places of days or times that are said of a thing, if the sentence gives each of
    them a name: "$135 to Hannah on March 17 and $35 to Ingrid on March 20".
    """
    near = []
    for place in places:
        start, stop = stretch(unit, place)
        if share(what, unit.stems[start:stop]) == 1.0:
            near.append(place)
        elif not (_names_somebody(unit, start, stop) or _has_its_own(unit, start, stop, what)):
            return places
    return near if what and near else places


_OF_TIMES = frozenset(
    {
        "begin",
        "begins",
        "beginning",
        "start",
        "starts",
        "starting",
        "end",
        "ends",
        "ending",
        "close",
    }
    | {"closes", "open", "opens", "leave", "leaves", "arrive", "arrives", "return", "returns"}
)


def _has_its_own(unit: Unit, start: int, stop: int, what: str) -> bool:
    """Return whether a stretch says of what its time is, and it is another thing: "it begins at 7"
    where the end is meant.
    """
    said = {word.text for word in unit.sentence.words[start:stop]} & _OF_TIMES
    return bool(said) and not said & stems_of(what.replace("|", " "))


def ends_or_begins(what: str, unit: Unit, place: int) -> bool:
    """Return whether a time stands with the claim's own word for it: "it ends at 9"."""
    start, stop = stretch(unit, place)
    said = {word.text for word in unit.sentence.words[start:stop]} & _OF_TIMES
    return bool(said & stems_of(what.replace("|", " ")))


def _names_somebody(unit: Unit, start: int, stop: int) -> bool:
    for place in range(start, stop):
        value = unit.values.get(place)
        if value is None and unit.sentence.words[place].capital:
            return True
        if value is not None and value.type == "person" and value.means[0] != "?":
            return True
    return False
