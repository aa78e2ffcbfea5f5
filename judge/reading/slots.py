"""Whether the values around a claim's words agree with its slots."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.reading.claims import Claim, vocabulary
from judge.reading.content import SMALL, words_match
from judge.reading.texts import Text, Unit, stems_of
from judge.reading.values import Value, aliases, who

State = Literal["agrees", "part", "absent", "differs"]
"""`part`: some of the people of a slot are named."""

VALUES: dict[str, tuple[str, ...]] = {
    "person": ("person",),
    "people": ("person",),
    "money": ("money", "number"),
    "number": ("number",),
    "value": ("money", "number", "percent", "temp"),
    "day": ("day",),
    "time": ("time",),
    "provider": ("provider",),
}
"""The types of value that a slot's type reads."""

_AUX = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "am",
        "will",
        "has",
        "have",
        "had",
        "did",
        "do",
        "does",
        "can",
        "could",
    ]
)
_CUTS = frozenset(
    [
        "and",
        "but",
        "then",
        "so",
        "while",
        "because",
        "since",
        "although",
        "though",
        "however",
        "which",
        "where",
    ]
)
_PRONOUNS = frozenset(
    {"it", "that", "them", "this", "these", "those", "both", "everything", "they", "all", "1"}
)
_TURNS = frozenset(["but", "because", "although", "though", "while", "however", "whereas"])
_ALL = frozenset(["everyone", "everybody", "all", "each", "both"])
_HE_ALL = ("them", "they")


@dataclass(frozen=True)
class Group:
    """Values that belong to one instance of a claim, and the stems of the words around them."""

    values: tuple[tuple[int, Value], ...]
    stems: tuple[frozenset[str], ...]

    def of(self, types: Sequence[str]) -> list[Value]:
        """Return the values of some types."""
        return [value for _, value in self.values if value.type in types]


_PRESENT = frozenset(
    re.findall(
        r"\w+",
        """
        takes says wants knows gets goes comes needs keeps sees stands refuses allows lets gives
        arrives settles leaves begins starts ends lasts runs costs repeats works pays
        """,
    )
)
"""Verbs of the present that are hardly ever nouns."""
_LABELS = frozenset(
    re.findall(
        r"\w+",
        """
        invoice table flight room gate page field number no option step item route version chapter
        line size ending ends terminal floor platform seat car bus building unit suite apartment
        level
        """,
    )
)
"""Words after which a number is a name, not an amount."""
_COUNTED = frozenset(["all", "both", "other", "these", "those", "exactly", "only"])
_AFTER_AMOUNT = frozenset(
    re.findall(
        r"\w+",
        """
        to for from via on by with through at in each apiece once twice again and or but so as is
        was are has went goes were will that which into of out back instead too now today tomorrow
        per a every this more less altogether total right straight only then because since after
        before between over under about due late early immediately
        instantly
        """,
    )
)
"""Words before which a bare number may be an amount: `sent Ben 40 for gas`, not `40 minutes`."""


def is_amount(unit: Unit, place: int) -> bool:
    """Return whether a value is money, or a bare number that can stand for it."""
    value = unit.values[place]
    if value.type == "money":
        return True
    if value.type != "number":
        return False
    words = unit.sentence.words
    if value.raw.isdigit() and len(value.raw) == 4:  # a year, or the end of a card's number
        return False
    if place and words[place - 1].text in _LABELS:
        return False
    if place and words[place - 1].text in _COUNTED and value.means[0] < 13:
        return False
    if not any(c.isdigit() for c in value.raw) and value.means[0] < 13:
        return False
    after = place + 1
    if after >= len(words) or after in unit.sentence.breaks or after in unit.values:
        return True
    return words[after].text in _AFTER_AMOUNT or words[after].form == "ed"


def segment(unit: Unit, places: Sequence[int]) -> tuple[int, int]:
    """Return where the clause around some places begins and ends."""
    words = unit.sentence.words
    breaks = unit.sentence.breaks
    matched = set(places)
    joints = sorted({at for at, word in enumerate(words) if word.text in _CUTS} | breaks)
    before = [at for at in joints if 0 < at <= places[0]]
    start = next((at for at in reversed(before) if _cut(unit, at, matched)), 0)
    after = [at for at in joints if places[-1] < at < len(words)]
    end = next((at for at in after if _cut(unit, at, matched)), len(words))
    return start, end


def between_commas(unit: Unit, place: int) -> tuple[int, int]:
    """Return where the words between the two commas around a place begin and end."""
    start = max((b for b in unit.sentence.breaks if b <= place), default=0)
    stop = min((b for b in unit.sentence.breaks if b > place), default=len(unit.sentence.words))
    return start, stop


def _cut(unit: Unit, at: int, places: set[int]) -> bool:
    """Return whether a clause begins at a comma or a joining word."""
    words = unit.sentence.words
    breaks = unit.sentence.breaks
    joins = words[at].text in _CUTS
    if words[at].text in _TURNS or (words[at].text == "so" and at in breaks):
        return True
    first = at + joins
    for place in range(first, min(first + 7, len(words))):
        if place > first and (place in breaks or words[place].text in _CUTS):
            if words[place - 1].text in ("yes", "no", "indeed"):
                continue  # "and yes, the old one is gone"
            return False
        if place in places:
            return _has_verb(unit, at, places)
        if is_verb(unit, place) or words[place].text in _PRESENT:
            return True
    return False


def is_verb(unit: Unit, place: int) -> bool:
    """Return whether a word is a past form or an auxiliary."""
    word = unit.sentence.words[place]
    return (word.form == "ed" and word.text.isalpha()) or word.text in _AUX


def _has_verb(unit: Unit, at: int, places: set[int]) -> bool:
    """Return whether what stands before a joint has a verb of its own."""
    if any(place < at for place in places):
        return False
    before = range(at - 1, max(-1, at - 10), -1)
    words = unit.sentence.words
    return any(is_verb(unit, place) or words[place].text in _PRESENT for place in before)


def groups(unit: Unit, span: tuple[int, int], types: frozenset[str]) -> list[Group]:
    """Return the values of a clause as the instances that they make up.

    "Ben $55 and Jordan $27.50" are two instances, "Ben and Jordan $27.50 each" is one.
    """
    start, end = span
    pairs: list[list[tuple[int, Value]]] = [[]]
    for place, value in sorted(unit.values.items()):
        if not start <= place < end or _excluded(unit, place):
            continue
        kind = _sort(unit, place, types)
        before = [_sort(unit, p, types) for p, _ in pairs[-1]]
        breaks = kind in ("person", "money", "value", "percent", "temp", "day", "time")
        if breaks and kind in types and kind in before:
            later = before[len(before) - 1 - before[::-1].index(kind) :]
            if set(later) & types - {kind, "provider"}:
                pairs.append([])
        pairs[-1].append((place, value))
    stems = unit.stems[start:end]
    return [Group(tuple(pair), stems) for pair in pairs]


def _without_own_address(unit: Unit, group: Group) -> Group:
    """Return a group without the address that something was sent from."""
    words = unit.sentence.words
    kept = []
    for place, value in group.values:
        sender = "@" in value.raw and place > 0 and words[place - 1].text == "from"
        if not sender:
            kept.append((place, value))
    return Group(tuple(kept), group.stems)


def without_senders(kind: str, unit: Unit, group: Group) -> Group:
    """Return the group of a mail without those from whom it comes, "sent from studio@…", whom it is
    about, or whom it did not get to: "the limit stopped me before Callum's".
    """
    if kind != "mailed":
        return _without_own_address(unit, group)
    words = unit.sentence.words
    kept = []
    for place, value in group.values:
        before = [word.text for word in words[max(0, place - 2) : place]]
        other = before[-1:] == ["about"] and any(v.type == "person" for _, v in kept)
        if "@" in value.raw:  # "from your own address, maya@…"
            wide = [word.text for word in words[max(0, place - 5) : place]]
            before += ["from"] if "from" in wide and "to" not in wide else []
            beside = unit.values.get(place - 1)  # "out via Gmail (maya@gmail.com)"
            before += ["from"] if beside is not None and beside.type == "provider" else []
        ends = place + 1 in (len(words), *unit.sentence.breaks)
        missed = before[-1:] == ["before"] and ends
        if value.type != "person" or not ("from" in before or other or missed):
            kept.append((place, value))
    return Group(tuple(kept), group.stems)


def _sort(unit: Unit, place: int, types: frozenset[str]) -> str:
    if "money" in types and is_amount(unit, place):
        return "money"
    return unit.values[place].type


def _excluded(unit: Unit, place: int) -> bool:
    """Return whether a value is named only to be ruled out: "not on Expedia"."""
    words = [word.text for word in unit.sentence.words[max(0, place - 3) : place]]
    while words and words[-1] in _OF_PLACE:
        words.pop()
    if not words:
        return False
    if words[-1] == "not":
        return place - 1 not in unit.sentence.colons
    return words[-2:] in (["instead", "of"], ["rather", "than"])


_OF_PLACE = frozenset(["on", "to", "by", "from", "via", "through", "with", "at", "the", "for"])


@functools.lru_cache(maxsize=256)
def types_of(kind: str) -> frozenset[str]:
    """Return the types of value that a kind's slots read."""
    found: set[str] = set()
    for type_ in vocabulary()[kind].slots.values():
        found |= set(VALUES.get(type_, ()))
    return frozenset(found)


# -- one slot ------------------------------------------------------------------------------------
def state_of(type_: str, want: Any, group: Group, people: tuple[str, ...]) -> tuple[State, str]:
    """Return how a group stands to a slot, and the value that differs as it is written."""
    if type_ == "words":
        return ("agrees" if words_match(want, group.stems) else "absent"), ""
    if type_ == "provider" and provider_names(want) == ():
        return ("agrees" if words_match(want, group.stems) else "absent"), ""
    if type_ in ("items", "phrases"):
        return "absent", ""
    values = group.of(VALUES[type_])
    if type_ == "people":
        return _people(want, values, group, people)
    if not values:
        return "absent", ""
    if any(agrees(type_, want, value, people) for value in values):
        return "agrees", ""
    sure = [value for value in values if _sure(type_, value)]
    return ("differs", sure[0].raw) if sure else ("absent", "")


def agrees(type_: str, want: Any, value: Value, people: tuple[str, ...]) -> bool:
    """Return whether a value is that of a slot."""
    if type_ == "money":
        cents = round(want * 100)
        if value.type == "number":
            return round(value.means[0] * 100) == cents
        return cents in value.means
    if type_ == "value":
        number = value.means[0] / 100 if value.type == "money" else value.means[0]
        return abs(number - want) < 1e-6
    if type_ in ("person", "people"):
        return _is_person(want, value, people)
    if type_ == "provider":
        return bool(set(provider_names(want)) & set(value.means))
    return want in value.means


def _sure(type_: str, value: Value) -> bool:
    """Return whether a value that does not agree contradicts."""
    if type_ == "money":
        return value.type == "money" or "." in value.raw
    if type_ == "person":
        return value.means[0] != "?" and not value.raw.startswith("@")
    return True


def _is_person(want: str, value: Value, people: tuple[str, ...]) -> bool:
    wanted = set(who(want, people)) | {want, want.lower()}
    means = set(value.means)
    return bool(wanted & means) or value.raw.lower() == want.lower()


def _people(
    want: Sequence[str], values: Sequence[Value], group: Group, people: tuple[str, ...]
) -> tuple[State, str]:
    found = covered(want, values, group, people)
    if len(found) == len(want):
        return "agrees", ""
    named = [v for v in values if v.means[0] != "?"]
    if named and not found:
        return "differs", named[0].raw
    return ("part" if found else "absent"), ""


def _is_among(name: str, values: Sequence[Value], people: tuple[str, ...]) -> bool:
    return any(_is_person(name, value, people) for value in values)


def covered(
    want: Sequence[str], values: Sequence[Value], group: Group, people: tuple[str, ...]
) -> frozenset[str]:
    """Return which of some people are named, all for "everyone", "both" and "them"."""
    found = frozenset(name for name in want if _is_among(name, values, people))
    if len(want) > 1 and len(found) < len(want):
        some = _names_all(group.stems) and not found
        if some or any(v.raw.lower() in _HE_ALL for v in values):
            return frozenset(want)
    kin = {v.raw.lower() for v in values if v.means[1:] == ("kin",)}
    if found and len(want) > 1 and len(found) + len(kin) >= len(want):
        return frozenset(want)
    if not found and any(v.means[0] == "?" for v in values) and len(want) == 1:
        return frozenset(want) if all(v.means[0] == "?" for v in values) else found
    return found


def _names_all(stems: Sequence[frozenset[str]]) -> bool:
    """Return whether words name everybody; "after all" and "at all" do not."""
    for place, stem in enumerate(stems):
        idiom = place and "all" in stem and stems[place - 1] & {"after", "at", "above"}
        if stem & _ALL and not idiom:
            return True
    return False


@functools.lru_cache(maxsize=256)
def provider_names(want: str) -> tuple[str, ...]:
    """Return the services that a slot's value may mean: a service's name, title or nickname."""
    low = want.lower()
    for names in aliases().values():
        if low in names:
            return (low,)
    return aliases().get(low, ())


def foreign(
    unit: Unit, span: tuple[int, int], places: Sequence[int], known: frozenset[str]
) -> bool:
    """Return whether a clause names a thing of its own: content words not among those known."""
    start, end = span
    words = unit.sentence.words
    next_ = places[-1] + 1
    after = words[next_].text if next_ < len(words) and next_ not in unit.sentence.breaks else ""
    if stands_for(unit, span):
        return False
    opens = words[start].text in _PRONOUNS
    if opens and words[start].text in ("all", "both") and start + 1 < len(words):
        opens = words[start + 1].text != "of" and start + 1 not in unit.values
    if after in _PRONOUNS or opens:
        return False
    for place in range(start, end):
        word = words[place]
        if place in places or place in unit.values or not word.text.isalpha():
            continue
        if len(word.text) < 3 or word.text.endswith("ly"):
            continue
        if (word.bases | {word.text}) & (SMALL | known):
            continue
        return True
    return False


def stands_for(unit: Unit, span: tuple[int, int]) -> bool:
    """Return whether a clause names a thing only as "the February one"."""
    words = unit.sentence.words
    for place in range(*span):
        if words[place].text not in ("1", "ones"):
            continue
        if any(word.text in ("the", "that") for word in words[max(0, place - 4) : place]):
            return True
    return False


def around(text: Text, unit: Unit) -> list[Unit]:
    """Return a unit, its headings and its neighbours."""
    return [unit, *text.around(unit)]


_NEAREST = frozenset(["person", "money", "number", "provider"])


def _nearest(
    type_: str, want: Any, text: Text, unit: Unit, span: tuple[int, int], people: tuple[str, ...]
) -> tuple[State, str]:
    """Return how the nearest values of a type outside a clause stand to a slot."""
    for values in _outside(VALUES[type_], text, unit, span):
        stems = tuple(stems_of(value.raw) for value in values)
        group = Group(tuple(enumerate(values)), stems)
        state = state_of(type_, want, group, people)
        if state[0] != "absent":
            return state
        if type_ == "money" and values:
            return "differs", values[0].raw
    return "absent", ""


def _outside(
    types: Sequence[str], text: Text, unit: Unit, span: tuple[int, int]
) -> Iterable[list[Value]]:
    """Yield the values of some types before a clause, after it, above it, and beside it."""
    size = len(unit.sentence.words)
    inside = range(*span) if types == VALUES["provider"] else range(0)
    yield _last_of(types, unit, inside)
    yield _last_of(types, unit, range(span[0]))
    near = list(text.around(unit))
    before = [other for other in near if other.number < unit.number]
    for other in before:
        yield _all_of(types, other)
    yield _last_of(types, unit, range(size - 1, span[1] - 1, -1))
    for other in near:
        yield [] if other in before else _all_of(types, other)


def _all_of(types: Sequence[str], unit: Unit) -> list[Value]:
    """Return the values of a sentence; of amounts and services, only those of its last clause with
    one.
    """
    if "money" in types or types == VALUES["provider"]:
        return _last_of(types, unit, range(len(unit.sentence.words)))
    return [value for value in unit.values.values() if value.type in types]


def _last_of(types: Sequence[str], unit: Unit, places: Sequence[int]) -> list[Value]:
    """Return the last values of some types among places, which share a clause."""
    found = [place for place in places if _may_be(unit, place, types)]
    if not found:
        return []
    start, end = segment(unit, found[-1:])
    return [unit.values[place] for place in found if start <= place < end]


def _may_be(unit: Unit, place: int, types: Sequence[str]) -> bool:
    if place not in unit.values or unit.values[place].type not in types:
        return False
    return "money" not in types or is_amount(unit, place)


def elsewhere(
    claim: Claim, text: Text, unit: Unit, span: tuple[int, int], people: tuple[str, ...]
) -> bool:
    """Return whether what stands nearest to a clause that names nothing is about another deed."""
    types = {slot: vocabulary()[claim.kind].slots[slot] for slot in claim.slots}
    telling = {"person", "people", "money"}
    if telling.isdisjoint(types.values()):
        telling = {"provider"}
    for slot, want in claim.slots.items():
        type_ = types[slot]
        if type_ not in telling:
            continue
        if _nearest(type_, want, text, unit, span, people)[0] == "differs":
            return True
    return False


def wide_agrees(
    claim: Claim,
    slot: str,
    text: Text,
    unit: Unit,
    span: tuple[int, int],
    people: tuple[str, ...],
) -> bool:
    """Return whether a slot is in the sentence of a claim, above it or beside it."""
    type_ = vocabulary()[claim.kind].slots[slot]
    want = claim.slots[slot]
    if type_ in _NEAREST:
        return _nearest(type_, want, text, unit, span, people)[0] == "agrees"
    near = around(text, unit)
    if type_ == "people":
        above = text.heading(unit)
        near = [unit] if above is None else [unit, above]
    stems: list[frozenset[str]] = []
    values: list[tuple[int, Value]] = []
    for other in near:
        stems += other.stems
        values += without_senders(claim.kind, other, Group(tuple(other.values.items()), ())).values
        stems += [stems_of(column) for column in other.columns]
    state, _ = state_of(type_, want, Group(tuple(values), tuple(stems)), people)
    return state == "agrees"
