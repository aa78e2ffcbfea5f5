"""Where the values of a statement's slots stand in a text, and others of their sort."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations, product
from typing import Any

from judge.reading import Claim
from judge.reading.claims import vocabulary
from servers.kit.service import providers

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER = re.compile(r"(?<![\w.,:/-])\$?(\d[\d,]*(?:\.\d+)?)(?![\w:/]|[.,-]\d)")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?(\s?[ap]\.?m\b\.?)?", re.IGNORECASE)

Sort = str
"""What a token is: figure, name, day, time or provider."""


@dataclass(frozen=True)
class Token:
    """A slot whose value stands in a text. `spans` are the places, `new` what replaces each."""

    slot: str
    sort: Sort
    shown: str
    spans: tuple[tuple[int, int, str], ...]

    def replaced(self, text: str) -> str:
        """Return the text with the value replaced everywhere."""
        for start, end, new in sorted(self.spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def swaps(
    text: str, tokens: Sequence[tuple[str, Claim, Sequence[Token]]]
) -> Iterator[tuple[str, str]]:
    """Yield what is swapped, and the text in which two claims have each other's value.

    `tokens` are the names of statements, with their claims and what stands of them in the text.
    """
    for (name, claim, mine), (other, second, theirs) in combinations(tokens, 2):
        for one, two in product(mine, theirs):
            new = _swapped(text, one, two)
            if new is None or _type(claim, one) != _type(second, two):
                continue
            if not _mean_the_same(claim, one, second, two):
                yield f"{name} and {other}: {one.sort}s swapped", new


def _type(claim: Claim, token: Token) -> str:
    return vocabulary()[claim.kind].slots[token.slot].replace("people", "person")


def _mean_the_same(one: Claim, token: Token, other: Claim, second: Token) -> bool:
    """Return whether two claims differ only in what is swapped: "I wrote to Ana and to Ben"."""
    if (one.kind, token.slot) != (other.kind, second.slot):
        return False
    rest = {slot: value for slot, value in one.slots.items() if slot != token.slot}
    return rest == {slot: value for slot, value in other.slots.items() if slot != second.slot}


def _swapped(text: str, one: Token, two: Token) -> str | None:
    """Return a text with the values of two tokens swapped, or None if they cannot be told apart or
    are not written alike.
    """
    if one.sort != two.sort:
        return None
    places = {span[:2] for span in one.spans} & {span[:2] for span in two.spans}
    if places:
        return None
    edits: list[tuple[int, int, str]] = []
    for token, other in ((one, two), (two, one)):
        written = text[slice(*other.spans[0][:2])]
        for start, end, _ in token.spans:
            old = text[start:end]
            new = _part(old, token, other) if token.sort == "name" else written
            if token.sort in ("day", "time") and _shape(old) != _shape(new):
                return None
            edits.append((start, end, new))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _part(old: str, token: Token, other: Token) -> str:
    """Return the part of another name that stands for a part of a name."""
    name = token.shown.partition(" → ")[0]
    new = other.shown.partition(" → ")[0]
    if old == name:
        return new
    return new.split()[0] if old == name.split()[0] else new.split()[-1]


def _shape(written: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", written))


class Tokens:
    """Finds the tokens of claims in texts of one world; `people` are all names."""

    def __init__(self, people: Sequence[str], today: str) -> None:
        self._people = people
        self._today = today

    def of(self, claim: Claim, text: str) -> list[Token]:
        """Return a token for each slot whose value stands in the text."""
        types = vocabulary()[claim.kind].slots
        tokens = []
        for slot, value in claim.slots.items():
            for one in value if isinstance(value, tuple) else (value,):
                token = self._token(slot, types[slot], one, text)
                if token is not None:
                    tokens.append(token)
        return tokens

    def _token(self, slot: str, type_: str, value: Any, text: str) -> Token | None:
        if type_ in ("money", "number", "value"):
            return _figure(slot, float(value), text)
        if type_ in ("person", "people", "items"):
            return self._name(slot, str(value), text)
        if type_ == "day":
            return self._day(slot, date.fromisoformat(value), text)
        if type_ == "time":
            return _time(slot, int(value), text)
        if type_ == "provider":
            return _provider(slot, str(value), text)
        return None

    def _name(self, slot: str, name: str, text: str) -> Token | None:
        other = self._another(name, text)
        if other is None:
            return None
        parts = [(name, other)]
        if " " in name:
            parts.append((name.split()[0], other.split()[0]))
            parts.append((name.split()[-1], other.split()[-1]))
        taken = self._places_of_others(name, text)
        spans = []
        for part, new in parts:
            for found in re.finditer(rf"(?<![\w@.]){re.escape(part)}(?![\w@])", text):
                if not any(start <= found.start() < end for start, end in taken):
                    taken.append(found.span())
                    spans.append((found.start(), found.end(), new))
        return Token(slot, "name", f"{name} → {other}", tuple(spans)) if spans else None

    def _places_of_others(self, name: str, text: str) -> list[tuple[int, int]]:
        """Return where others who share a part of a name stand with their full names."""
        parts = set(name.split())
        places = []
        for other in self._people:
            if other != name and parts & set(other.split()):
                places += [found.span() for found in re.finditer(re.escape(other), text)]
        return places

    def _another(self, name: str, text: str) -> str | None:
        """Return the full name of a person that the text does not mention."""
        if name not in self._people:
            return None
        taken = {word.casefold() for word in re.findall(r"\w+", f"{text} {name}")}
        for other in self._people:
            words = {word.casefold() for word in re.findall(r"\w+", other)}
            if len(other.split()) == 2 and not words & taken:
                return other
        return None

    def _day(self, slot: str, day: date, text: str) -> Token | None:
        today = date.fromisoformat(self._today)
        following = day + timedelta(days=1)
        spans: list[tuple[int, int, str]] = []
        for write in _WAYS:
            for old in write(day):
                new = write(following)[write(day).index(old)]
                for found in re.finditer(rf"\b{re.escape(old)}\b", text):
                    if not any(start <= found.start() < end for start, end, _ in spans):
                        spans.append((found.start(), found.end(), new))
        relative = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get((day - today).days)
        if relative is not None:
            for found in re.finditer(rf"\b{relative}\b", text, re.IGNORECASE):
                spans.append((found.start(), found.end(), f"on {_DAYS[following.weekday()]}"))
        if not spans:
            return None
        return Token(slot, "day", f"{day.isoformat()} → {following.isoformat()}", tuple(spans))


def _iso(day: date) -> list[str]:
    return [day.isoformat()]


def _written(day: date) -> list[str]:
    month = _MONTHS[day.month - 1]
    names = (month, month[:3], f"{month[:3]}.")
    ways = []
    for name in names:
        for number in (f"{day.day}{_ending(day.day)}", str(day.day)):
            ways += [f"{name} {number}", f"{number} {name}", f"{number} of {name}"]
    return ways


def _slashed(day: date) -> list[str]:
    return [f"{day.month}/{day.day}"]


def _numbered(day: date) -> list[str]:
    return [f"the {day.day}{_ending(day.day)}"]


def _weekday(day: date) -> list[str]:
    name = _DAYS[day.weekday()]
    return [name, name[:3]]


_WAYS: tuple[Callable[[date], list[str]], ...] = (_iso, _written, _slashed, _numbered, _weekday)


def _ending(number: int) -> str:
    if 10 < number < 14:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _figure(slot: str, value: float, text: str) -> Token | None:
    other = value + (4 if value != int(value) or value >= 10 else 1)
    spans = []
    for found in _NUMBER.finditer(text):
        digits = found[1]
        if float(digits.replace(",", "")) != value:
            continue
        places = len(digits.partition(".")[2])
        new = f"{other:,.{places}f}" if "," in digits else f"{other:.{places}f}"
        spans.append((found.start(1), found.end(1), new))
    if not spans:
        return None
    return Token(slot, "figure", f"{value:g} → {other:g}", tuple(spans))


def _time(slot: str, minutes: int, text: str) -> Token | None:
    spans = []
    for found in _CLOCK.finditer(text):
        if found[2] is None and found[3] is None:
            continue
        hour = int(found[1])
        half = (found[3] or "").strip().casefold()
        exact = hour % 12 + (12 if half.startswith("p") else 0) if half else hour
        if 60 * exact + int(found[2] or 0) == minutes:
            later = hour % 12 + 1 if half or hour < 13 else hour + 1
            tail = found[0][len(found[1]) :]
            spans.append((found.start(), found.end(), f"{later}{tail}"))
    if not spans:
        return None
    clock = f"{minutes // 60:02}:{minutes % 60:02}"
    return Token(slot, "time", f"{clock} an hour off", tuple(spans))


def _provider(slot: str, name: str, text: str) -> Token | None:
    known = providers()
    if name not in known:
        return None
    same = [n for n, cls in known.items() if cls.category == known[name].category]
    rivals = [rival for rival in same if rival != name]
    if not rivals:
        return None
    other = known[rivals[0]].title
    spans = []
    for found in re.finditer(rf"(?<!\w){re.escape(known[name].title)}(?!\w)", text, re.IGNORECASE):
        spans.append((found.start(), found.end(), other))
    if not spans:
        return None
    return Token(slot, "provider", f"{known[name].title} → {other}", tuple(spans))


def starts_of(tokens: Iterable[Token]) -> list[int]:
    """Return where tokens stand in their text."""
    starts = []
    for token in tokens:
        starts += [start for start, _, _ in token.spans]
    return starts
