"""Whether a text tells a true statement in words of its own.

The statement's plain sentence says what has to be told: its people, figures, days and services, and
the words that matter. A text tells them if its people and figures stand near each other (in one
sentence, in neighbours, in a list with its heading), the words anywhere, and nothing denies, asks
or hedges them: `Venmo it was: $920 to Ana`, `Ben has that`. It is enough where a statement has to
be told and is true, and never enough to call a text false.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from judge.reading.claims import Claim, Parts, vocabulary
from judge.reading.content import SMALL, content, known_words, topic_of
from judge.reading.hedges import opens_supposing
from judge.reading.hits import Key, passage
from judge.reading.marks import is_belief, marked, reported
from judge.reading.polarity import polarity
from judge.reading.slots import VALUES, agrees, between_commas, is_verb
from judge.reading.texts import Spoken, Text, Unit, stems_of, taken_apart
from judge.reading.values import Value, aliases

_FIGURES = ("money", "number", "percent", "temp")
_TELLING = ("person", "day", "time", "provider", *_FIGURES)
_OPEN = frozenset(
    re.findall(
        r"\w+",
        """
        if unless whether perhaps maybe might may probably presumably possibly supposedly hopefully
        guess suppose assume tried try trying attempted
        """,
    )
)
"""Words after which a clause tells nothing."""
_NOT = frozenset(
    re.findall(
        r"\w+",
        """
        not no never nothing nobody none neither nor without unable failed fails cannot
        """,
    )
)
"""Words that a text needs to tell a sentence that denies."""
_PLANNED = frozenset(["could", "would", "shall", "should", "can"])
_DONE = frozenset(["paid", "mailed", "requested", "reminded", "posted", "ordered", "traded"])
_ON_YOUR_WORD = re.compile(r"\b(?:say the word|on your (?:word|ok|okay|go)|say so and)\b")
_ENOUGH = 0.65


@dataclass(frozen=True)
class _Wanted:
    """One thing that a sentence tells: a value, or a word with its synonyms."""

    weight: float
    value: Value | None = None
    words: frozenset[str] = frozenset()
    must: bool = False
    name: bool = False
    topic: bool = False


@dataclass(frozen=True)
class _Sought:
    """All that a statement tells, and whether it denies something."""

    wanted: tuple[_Wanted, ...]
    denies: bool


def gist(sentence: str, claim: Claim, spoken: Spoken, after: int = -1) -> str:
    """Return the sentence of a text, beyond a number, that tells a statement, or ""."""
    return _gist(sentence, claim.parts, spoken, after)


@functools.lru_cache(maxsize=2048)
def _gist(sentence: str, parts: Parts, spoken: Spoken, after: int) -> str:
    key = (spoken.text, spoken.today, spoken.people)
    text = taken_apart(*key)
    sought = _sought(sentence, parts, spoken.today, spoken.people)
    if not sought.wanted:
        return ""
    out = _silent(parts[0], key)
    asked = taken_apart(spoken.asked, spoken.today, spoken.people)
    best = ""
    most = 0.0
    out |= {unit.number for unit in text.units if _conflicts(sought, unit)}
    told = [unit for unit in text.units if unit.number not in out]
    words = _words_told(sought, told, key)
    for unit in told:
        if unit.number <= after:
            continue
        near = [unit, *(other for other in _window(text, unit) if other in told)]
        score = _score(sought, near, words, text, key, asked)
        if score > most:
            most = score
            best = unit.raw
    return best if most >= _ENOUGH else ""


def _silent(kind: str, key: Key) -> frozenset[int]:
    """Return the units of a text that tell nothing."""
    marks = marked(*key)
    deed = vocabulary()[kind].deed is not None
    out = set(marks.taken_back | marks.either | marks.unsure)
    for unit in taken_apart(*key).units:
        planned = kind in _DONE and any(word.text in _PLANNED for word in unit.sentence.words)
        hearsay = deed and reported(unit, len(unit.sentence.words) - 1)
        asks = unit.sentence.question or _ON_YOUR_WORD.search(unit.low)
        if asks or hearsay or planned or opens_supposing(unit):
            out.add(unit.number)
        first = unit.sentence.words[0].text
        if unit.number and first in ("it", "they", "that", "both") and is_belief(unit.low):
            out.add(unit.number - 1)  # "They should both have gone out by now."
    return frozenset(out)


def _is_hedged(unit: Unit, place: int) -> bool:
    """Return whether the words between two colons that hold a place are believed or supposed."""
    start = max((colon for colon in unit.sentence.colons if colon <= place), default=0)
    words = unit.low.split()
    stop = min((colon for colon in unit.sentence.colons if colon > place), default=len(words))
    hedges = _OPEN.intersection(words[start:stop]) & unit.outside  # the note "May" is none
    return bool(hedges) or is_belief(" ".join(words[start:stop]))


@functools.lru_cache(maxsize=1024)
def _sought(sentence: str, parts: Parts, today: str, people: tuple[str, ...]) -> _Sought:
    """Return what a statement tells: the values of its sentence, and its words."""
    kind, pairs, needed = parts
    slots = dict(pairs)
    entry = vocabulary()[kind]
    known = known_words(kind)
    musts = {entry.slots[slot] for slot in needed}
    told: list[Value] = []
    rest: list[str] = []
    denies = False
    on_topic: set[str] = set()
    for unit in taken_apart(sentence, today, people).units:
        for place, word in enumerate(unit.sentence.words):
            value = unit.values.get(place)
            if value is not None and value.type in _TELLING:
                told.append(_exact(value, slots, entry.slots))
            elif word.text in _NOT:
                denies = True
            elif word.bases & known:
                on_topic |= word.bases
            elif word.text.isalpha() and not (word.bases | {word.text}) & SMALL:
                rest.append(word.text.title() if word.capital and place else word.text)
    if not _up_to_date(slots, entry.slots, told, people):
        return _Sought((), denies)
    wanted = []
    for value in told:
        must = entry.frame in ("figure", "when") or _must(value, musts)
        wanted.append(_Wanted(1.0 if value.type == "provider" else 2.0, value, must=must))
    for weight, options in content(" ".join(rest)) if rest else ():
        wanted.append(_Wanted(weight, words=options, name=weight > 1))
    wanted += _of_slots(slots, entry.frame)
    topic = topic_of(kind)
    if entry.frame == "state" or kind in _UNDOING:
        things = stems_of(str(slots.get("what", "")).replace("|", " "))
        wanted.append(_Wanted(1.0, words=topic | (on_topic - SMALL - things), must=True))
    elif known and (on_topic or len(told) < 2):
        words = known - _FUNCTION | _HAS
        wanted.append(_Wanted(1.0, words=words, must=len(told) < 2, topic=True))
    return _Sought(tuple(wanted), denies)


def _of_slots(slots: dict[str, Any], frame: str) -> list[_Wanted]:
    """Return the words of a claim that must be told: of its thing, or of one of its phrases."""
    wanted = []
    for slot in ("what", "deed"):
        if slot in slots and frame in ("deed", "state"):
            options = [words for _, words in content(slots[slot])]
            words = frozenset[str]().union(*options)
            wanted.append(_Wanted(1.0, words=words, must=not words & SMALL))
    if isinstance(slots.get("to"), str) and "what" in slots:
        wanted.append(_Wanted(1.0, words=stems_of(slots["to"].replace("|", " ")), must=True))
    if frame == "fact":
        phrases = " ".join(slots.get("says") or ())
        words = stems_of(re.sub(r"[|*]", " ", phrases)) - SMALL
        wanted.append(_Wanted(0.0, words=words, must=True))
    return wanted


_UNDOING = frozenset(["cancelled", "deleted", "returned"])
"""Kinds of which the figures alone do not tell: "$212 to Ana" may be cancelled or sent."""
_FUNCTION = frozenset(
    re.findall(
        r"\w+",
        """
        is are was were be been am as it its they that this out up in on at to of for from by with
        via and or a an the all both each now your you
        """,
    )
)
"""Words of many kinds' forms, by which none of them is meant."""
_HAS = frozenset(["same", "has", "have", "got", "get", "knows", "gone", "done"])


def _exact(value: Value, slots: dict[str, Any], types: Mapping[str, str]) -> Value:
    """Return a value of a sentence as its claim means it: the day of "Monday", whom "Mamma" is."""
    if value.type == "person" and value.means[0] == "?":
        names: list[str] = []
        for slot, want in slots.items():
            if types[slot] in ("person", "people"):
                names += [want] if isinstance(want, str) else want
        return Value("person", (*value.means[1:], *names), value.raw)
    for slot, want in slots.items():
        if types[slot] == value.type == "day" and want in value.means:
            return Value("day", (want,), value.raw)
    return value


def _up_to_date(
    slots: dict[str, Any], types: Mapping[str, str], told: Sequence[Value], people: tuple[str, ...]
) -> bool:
    """Return whether a sentence names the figures of its claim, which may be computed."""
    for slot, want in slots.items():
        type_ = types[slot]
        if type_ not in ("money", "value", "number", "day", "time"):
            continue
        near = [value for value in told if value.type in VALUES[type_]]
        if near and not any(agrees(type_, want, value, people) for value in near):
            return False
    return True


def _must(value: Value, needed: Set[str]) -> bool:
    if value.type == "person":
        return True
    if value.type in ("money", "number"):
        return bool(needed & {"money", "number", "value"})
    if value.type in ("percent", "temp"):
        return "value" in needed
    return value.type in needed


def _conflicts(sought: _Sought, unit: Unit) -> bool:
    """Return whether a unit has another person, amount, day or time where the statement has one."""
    wanted = [want.value for want in sought.wanted if want.value is not None]
    for type_ in ("person", "money", "day", "time"):
        same = [value for value in wanted if value.type == type_]
        places = [at for at, value in unit.values.items() if value.type == type_]
        near = [unit.values[at] for at in places if not _from(unit, at)]
        sure = any(value.means[0] != "?" for value in near)
        if same and sure and not _share(same, near):
            return True
        if type_ == "person" and len(same) > 1 and _swaps(same, near):
            return True
    return False


def _from(unit: Unit, place: int) -> bool:
    """Return whether a value is the address that something was sent from."""
    own = "@" in unit.values[place].raw and place > 0
    return own and unit.sentence.words[place - 1].text == "from"


def _swaps(wanted: Sequence[Value], near: Sequence[Value]) -> bool:
    """Return whether some people stand where others are wanted: "Jordan and Priya" for Ben and
    Priya.
    """
    named = [value for value in near if is_named(value)]
    missing = [value for value in wanted if not _is_among(value, near)]
    strangers = [value for value in named if not _share([value], wanted)]
    return bool(missing and strangers) and len(named) >= len(wanted)


def _share(wanted: Sequence[Value], near: Sequence[Value]) -> bool:
    return any(_is_among(want, near) for want in wanted)


def _is_among(want: Value, near: Sequence[Value]) -> bool:
    return any(same(want, value) for value in near)


def same(want: Value, value: Value) -> bool:
    """Return whether a value of a text is one that is wanted."""
    both = set(want.means) & set(value.means)
    if want.type == "person":
        return value.type == "person" and not both <= {"?"}
    if want.type == "time" and value.type == "number":
        return value.means[0] * 60 in (want.means[0], want.means[0] - 720)
    if want.type == "provider" and value.type == "person":
        return not set(want.means).isdisjoint(_mail_service(value.raw))
    if want.type in _FIGURES and value.type in _FIGURES:
        if want.type != value.type and "number" not in (want.type, value.type):
            return False  # 57% is no temperature
        rounded = want.type in ("temp", "percent")
        return abs(_number(want) - _number(value)) < (0.5 if rounded else 0.005)
    return want.type == value.type and bool(both)


def _number(value: Value) -> float:
    first = float(value.means[0])
    return first / 100 if value.type == "money" else first


def _goes_without_saying(wanted: _Wanted, text: Text, asked: Text) -> bool:
    """Return whether a person or a place need not be named: a text that names nobody else is about
    whom the user named, or about the one whom it names elsewhere.
    """
    if wanted.name:
        return any(stems & wanted.words for stems in asked.stems)
    if wanted.value is None or wanted.value.type != "person":
        return False
    named = [value for value in text.values if is_named(value)]
    if named:
        return all(same(wanted.value, value) for value in named)
    return _is_among(wanted.value, asked.values)


def is_named(value: Value) -> bool:
    """Return whether a value is somebody's name: no pronoun, and no address."""
    return value.type == "person" and value.means[0] != "?" and "@" not in value.raw


def _words_told(sought: _Sought, told: Sequence[Unit], key: Key) -> frozenset[_Wanted]:
    """Return which of the sought words stand anywhere in a text.

    A figure that stands far from its name may be another's; a word is no one's own.
    """
    found = set()
    for wanted in sought.wanted:
        if wanted.value is None and _stands(wanted, told, key, sought.denies):
            found.add(wanted)
    return frozenset(found)


def _stands(wanted: _Wanted, units: Sequence[Unit], key: Key, denies: bool) -> bool:
    """Return whether one of some units, of which the first is in question, names what is wanted."""
    return any(_has(wanted, unit, key, denies, unit is not units[0]) for unit in units)


def _score(
    sought: _Sought,
    near: Sequence[Unit],
    words: Set[_Wanted],
    text: Text,
    key: Key,
    asked: Text,
) -> float:
    """Return which share of what is sought stands in a unit, the first of `near`, with its values
    there or around it and its `words` anywhere.
    """
    unit = near[0]
    got = 0.0
    whole = 0.0
    least = 0.0
    meant = not any(wanted.topic for wanted in sought.wanted)
    for wanted in sought.wanted:
        whole += wanted.weight
        figure = wanted.value is not None and wanted.value.type in _FIGURES
        if wanted.value is None:
            here = wanted in words
        else:
            here = _stands(wanted, near, key, sought.denies)
        if here:
            got += wanted.weight
            meant = meant or wanted.topic or figure
        elif _goes_without_saying(wanted, text, asked):
            whole -= wanted.weight
            least = max(least, 1.0 if wanted.name else 2.0)
        elif wanted.must:
            return 0.0
    if got < least or not meant:
        return 0.0  # "the email is out to Priya and Ben" tells of no request to them
    if sought.denies and not _is_negative(unit):
        return 0.0
    return got / whole if whole else 0.0


def _window(text: Text, unit: Unit) -> Sequence[Unit]:
    """Return what stands around a unit: its headings, its neighbours, and the rest of its list."""
    found = list(text.around(unit))
    if unit.item or _labelled(unit):
        for other in text.units:
            block = other.paragraph == unit.paragraph and (other.item or _labelled(other))
            if block and other not in found and abs(other.number - unit.number) <= 8:
                found.append(other)
    return found


def _labelled(unit: Unit) -> bool:
    return any(0 < place <= 4 for place in unit.sentence.colons)


def _is_negative(unit: Unit) -> bool:
    return any(word.text in _NOT for word in unit.sentence.words)


def _places(wanted: _Wanted, unit: Unit) -> Iterator[int]:
    """Yield the places of a unit where something stands."""
    for place, value in unit.values.items():
        found = wanted.value is not None and same(wanted.value, value)
        if found or _mail_words(value) & wanted.words:
            yield place
    for place, stems in enumerate(unit.stems):
        if stems & wanted.words:
            yield place


def _has(wanted: _Wanted, unit: Unit, key: Key, denies: bool, beside: bool) -> bool:
    """Return whether a unit names what is wanted, and does not deny it.

    A person may be named beside it in any way: `Zelle takes no $640 to Nora. She got two halves.`
    """
    places = list(_places(wanted, unit))
    person = wanted.value is not None and wanted.value.type == "person"
    if person and beside:
        return bool(places)
    if not person:
        places = [place for place in places if not _is_hedged(unit, place)]
    if denies:
        return bool(places)
    return not all(_denied(unit, place, key) for place in places)


@functools.lru_cache(maxsize=256)
def _mail_service(address: str) -> tuple[str, ...]:
    """Return the services of an address: Gmail for one at gmail.com."""
    if "@" not in address[1:]:
        return ()
    return aliases().get(address.rpartition("@")[2].split(".")[0].lower(), ())


def _mail_words(value: Value) -> frozenset[str]:
    """Return the words for the service of an address."""
    services = _mail_service(value.raw)
    ways = [way for way, names in aliases().items() if set(names) & set(services)]
    return stems_of(" ".join(ways)) if services else frozenset()


def _denied(unit: Unit, place: int, key: Key) -> bool:
    """Return whether a place of a unit is denied before it, or by the words right around it."""
    if polarity(passage(key), unit.number, [place])[0] == "no":
        return True
    start, stop = between_commas(unit, place)
    while start and start not in unit.sentence.colons and not _has_verb(unit, start, stop):
        # "they are not called Porch 210, Cousin Talk"
        start, stop = between_commas(unit, start - 1)
    if not start <= place < stop and not _has_verb(unit, start, stop):
        return False
    return any(word.text in _NOT for word in unit.sentence.words[start:stop])


def _has_verb(unit: Unit, start: int, stop: int) -> bool:
    return any(is_verb(unit, place) for place in range(start, stop))
