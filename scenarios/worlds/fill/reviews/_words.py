"""The words of reviews, questions and answers, by kind of place (`say/`).

A review opens, makes points and closes; how many depends on the reviewer. A point has a subject
(the dish, the wait, the bill), and a review has at most one point about each. Slots of forms:

- the place's own: `place`, `town`, `street`, `opens`, `closes`, `price`, `who` and `who2` (people
  who work there), `doctor`, `dish`, `dish2` and `dish3` (what is sold there) with `was` and `is`,
  which agree with `dish`;
- the visit's: `when`, `day`, `month`, `month2` (a month to come), `with`, `count`, `occasion`;
- numbers in words: `n`, `mins`, `years`, `row`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder, parsed
from scenarios.worlds.fill._prose import Prose, filled, forms, is_plural, slots
from servers.kit.zones import local_day

HERE = Path(__file__).parent / "say"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PRICES = {1: (6, 14), 2: (14, 28), 3: (30, 58), 4: (70, 120)}
"""Dollars a head, by price level."""
_LENGTHS = ((0.13, 0), (0.34, 1), (0.62, 2), (0.83, 3), (0.94, 4), (1.0, 6))
"""How many points reviews make: (cumulated share, points). 0 is a short remark."""
_BRIDGES = {
    "good": ("That said, ", "On the bright side, ", "In their favor: ", "Still, ", "To be fair, "),
    "mixed": (
        "That said, ",
        "Then again, ",
        "My one complaint: ",
        "On the other hand, ",
        "Still, ",
    ),
    "bad": ("What spoiled it: ", "And then: ", "Worse, ", "The trouble is this: ", "Sadly, "),
}
_LOWERED = ("The ", "They ", "We ", "It ", "Our ", "My ", "There ", "You ")
"""How sentences begin that may follow a bridge in lower case."""


class Visit(NamedTuple):
    """A place as one reviewer met it: its sets of sentences, facts, and what was used there."""

    sets: tuple[str, ...]
    facts: dict[str, str | Sequence[str]]
    used: set[str]


class Words:
    """Writes what others say about the places of one person's world, on both sites."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.prose = Prose()
        self._used: dict[str, set[str]] = {}

    def review(
        self, place: dict[str, Any], stars: int, at: int, chance: Random, about: str = ""
    ) -> str:
        """Return the text of a review with so many stars, written at a moment.

        `about` is a form that it begins with, such as one about a new owner.
        """
        visit = self._visit(place, at, chance)
        parts: list[str] = []
        if about:
            parts += self._said(visit, forms(about), chance)
        share = chance.random()
        count = next(points for most, points in _LENGTHS if share <= most)
        tone = _tone(stars)
        if count == 0 and not parts:
            parts += self._said(visit, _lines(visit.sets, "short", tone), chance)
        else:
            if count > 1 and not parts and chance.random() < 0.5:
                parts += self._said(visit, _lines(visit.sets, "open"), chance)
            parts += self._points(visit, stars, max(count, 1), chance)
            if count > 1 and chance.random() < 0.4:
                parts += self._said(visit, _lines(visit.sets, "close", tone), chance)
        if not parts:
            # Everything that suits has been said about this place.
            parts += self._points(visit._replace(used=set()), stars, 1, chance)
        if not parts:
            parts += self._remark(visit, tone, chance)
        return _voice(parts, stars, chance)

    def phrase(self, place: dict[str, Any], at: int, text: str, chance: Random) -> str:
        """Return one thing from a block of forms, said about a place."""
        visit = self._visit(place, at, chance)
        lines = forms(text)
        said = self._said(visit, lines, chance) or self._said(
            visit._replace(used=set()), lines, chance
        )
        return said[0] if said else filled(chance.choice(lines), visit.facts, chance)

    def asked(
        self, place: dict[str, Any], count: int, at: int, chance: Random, *, first: bool
    ) -> list[list[str]]:
        """Return questions about a place, each with possible answers behind it.

        With `first`, the first question is the usual one of that kind of place.
        """
        visit = self._visit(place, at, chance)
        lines = _lines(visit.sets, "asks")
        chosen = []
        if first and count:
            usual = lines[0]
            chosen.append([filled(part, visit.facts, chance) for part in usual.split(" | ")])
            visit.used.update(part for part in usual.split(" | "))
        questions = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines}
        while len(chosen) < count:
            said = self.prose.say(list(questions), visit.facts, chance, visit.used)
            if said is None:
                break
            form, question = said
            visit.used.add(form)
            given = [question]
            for answer in questions[form]:
                reply = self.prose.say([answer], visit.facts, chance)
                if reply is not None:
                    given.append(reply[1])
            chosen.append(given)
        return chosen

    def _remark(self, visit: Visit, tone: str, chance: Random) -> list[str]:
        """Return a short remark for a place about which every other one has been made."""
        every = [*_lines(visit.sets, "short", tone), *_lines(visit.sets, "close", tone)]
        said = self._said(visit._replace(used=set()), every, chance)
        if said:
            return said
        possible = [form for form in every if slots(form) <= visit.facts.keys()]
        text = filled(chance.choice(possible), visit.facts, chance)
        return [f"{visit.facts['place']}, {visit.facts['month']}. {text}"]

    # -- parts of a review ----------------------------------------------------------------------
    def _points(self, visit: Visit, stars: int, count: int, chance: Random) -> list[str]:
        """Return points whose tones add up to the stars, each about something else."""
        subjects = _subjects(visit.sets)
        names = list(subjects)
        chance.shuffle(names)
        # What the place is about usually comes first.
        if chance.random() < 0.6:
            names.sort(key=lambda name: name not in ("dish", "cup", "work", "doctor", "room"))
        parts: list[str] = []
        tones = _tones(stars, count, chance)
        before = tones[0]
        for name in names:
            if not tones:
                break
            lines = subjects[name].get(tones[0], ())
            said = self._said(visit, lines, chance)
            if not said:
                continue
            tone = tones.pop(0)
            turns = parts and tone != before and said[0].startswith(_LOWERED)
            if turns and chance.random() < 0.6:
                said[0] = chance.choice(_BRIDGES[tone]) + said[0][0].lower() + said[0][1:]
            before = tone
            parts += said
        return parts

    def _said(self, visit: Visit, lines: Sequence[str], chance: Random) -> list[str]:
        said = self.prose.say(lines, visit.facts, chance, visit.used)
        if said is None:
            return []
        visit.used.add(said[0])
        return [said[1]]

    # -- facts ----------------------------------------------------------------------------------
    def _visit(self, place: dict[str, Any], at: int, chance: Random) -> Visit:
        kind = _kind(place["category"].lower(), place["kind"])
        facts = self._facts(place, kind, at, chance)
        used = self._used.setdefault(place["key"], set())
        return Visit(tuple(kind["say"]), facts, used)

    def _facts(
        self, place: dict[str, Any], kind: dict[str, Any], at: int, chance: Random
    ) -> dict[str, str | Sequence[str]]:
        """Return the facts of one visit; who works at a place stays the same."""
        shared = _kinds()
        facts: dict[str, str | Sequence[str]] = dict(shared["facts"])
        cities = {city["key"]: city["name"] for city in self.builder.person["cities"]}
        staff = self.builder.chance("staff", place["key"]).sample(shared["staff"], 2)
        names = self.builder.seeds("reviews").get("staff", {}).get(place["key"])
        if isinstance(names, list):
            staff = [*names, *staff][:2]
        doctor = self.builder.chance("doctor", place["key"]).choice(shared["doctors"])
        doctors = self.builder.seeds("reviews").get("doctors", {})
        items = chance.sample(kind["items"], min(3, len(kind["items"])))
        facts |= {
            "place": place["name"].partition(",")[0],
            "town": cities[place["city"]],
            "street": place["street"].partition(" ")[2],
            "who": staff[0],
            "who2": staff[1],
            "doctor": f"Dr. {doctors.get(place['key'], doctor)}",
            "with": chance.choice(shared["facts"]["partner"]),
        }
        facts |= dict(zip(("dish", "dish2", "dish3"), items, strict=False))
        facts |= _agreement(items)
        facts |= self._times(place, at, chance)
        least, most = kind.get("price") or _PRICES[place.get("price", 2)]
        facts["price"] = [f"${amount}" for amount in range(least, most + 1)]
        return facts

    def _times(self, place: dict[str, Any], at: int, chance: Random) -> dict[str, Any]:
        """Return the facts about when the visit was, a few days before the review."""
        hours = place["hours"] if isinstance(place.get("hours"), list) else []
        day = local_day(at, self.builder.zone) - timedelta(days=chance.randrange(1, 6))
        for _ in range(6):
            if hours and not hours[day.weekday()]:
                day -= timedelta(days=1)
        weekday = _DAYS[day.weekday()]
        month = _MONTHS[day.month - 1]
        third = ("early", "mid", "late")[min(2, (day.day - 1) // 10)]
        facts: dict[str, Any] = {
            "day": weekday,
            "month": month,
            "month2": _MONTHS[(day.month + chance.choice((0, 1))) % 12],
            "when": [
                f"on a {weekday}",
                f"on {weekday}",
                f"last {weekday}",
                f"on a {weekday} in {month}",
                f"in {third} {month}" if third != "mid" else f"in mid-{month}",
                f"one {weekday} in {month}",
                f"this past {weekday}",
                f"the first week of {month}" if day.day < 8 else f"in {month}",
            ],
        }
        opening = hours[day.weekday()] if hours else ""
        if "-" in opening:
            opens, closes = opening.split("-")
            facts["opens"] = _clock(opens)
            facts["closes"] = _clock(closes)
        return facts


def _tone(stars: int) -> str:
    return ("bad", "bad", "mixed", "good", "good")[stars - 1]


def _tones(stars: int, count: int, chance: Random) -> list[str]:
    """Return the tones of a review's points, in order."""
    if stars == 5:
        return ["good"] * count
    if stars == 4:
        ends = chance.random() < 0.6 and count > 1
        return ["good"] * (count - 1) + ["mixed" if ends else "good"]
    if stars == 3:
        tones = ["mixed"] + [chance.choice(("good", "mixed", "bad")) for _ in range(count - 1)]
        return tones
    begins = stars == 2 and count > 1 and chance.random() < 0.5
    return ["good" if begins else "bad"] + ["bad"] * (count - 1)


def _voice(parts: list[str], stars: int, chance: Random) -> str:
    """Return the parts of a review in the reviewer's manner."""
    manner = chance.random()
    if manner < 0.05:
        return " ".join(parts).replace(" I ", " i ").lower().rstrip(".")
    if manner < 0.14 and stars == 5:
        parts = [*parts[:-1], parts[-1].rstrip(".") + "!"]
    if len(parts) > 4:
        half = len(parts) // 2
        return f"{' '.join(parts[:half])}\n\n{' '.join(parts[half:])}"
    return " ".join(parts)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return what is said about kinds of places."""
    return parsed(HERE / "kinds.yaml")


@functools.cache
def _all_sets() -> dict[str, dict[str, Any]]:
    """Return all sets of sentences by name."""
    sets: dict[str, dict[str, Any]] = {}
    for path in sorted(HERE.glob("*.yaml")):
        if path.stem not in ("kinds", "stories"):
            sets |= parsed(path)
    return sets


@functools.cache
def _kind(category: str, kind: str) -> dict[str, Any]:
    """Return the sets and items of a category of place."""
    told = _kinds()
    for entry in told["kinds"]:
        if all(f" {word} " in f" {category} " for word in entry["words"]):
            return entry
    return {"say": told["others"][kind], "items": ["visit"]}


@functools.cache
def _lines(sets: tuple[str, ...], part: str, tone: str | None = None) -> list[str]:
    """Return the forms of a part of reviews from all sets of a place."""
    lines: list[str] = []
    for name in sets:
        block = _all_sets()[name].get(part, {})
        text = block if isinstance(block, str) else block.get(tone, "")
        lines += forms(text)
    return lines


@functools.cache
def _subjects(sets: tuple[str, ...]) -> dict[str, dict[str, list[str]]]:
    """Return the forms of points by subject and tone."""
    subjects: dict[str, dict[str, list[str]]] = {}
    for name in sets:
        for subject, tones in _all_sets()[name].get("points", {}).items():
            known = subjects.setdefault(subject, {})
            for tone, text in tones.items():
                known.setdefault(tone, []).extend(forms(text))
    return subjects


def _agreement(items: Sequence[str]) -> dict[str, str]:
    """Return the verbs that agree with what is talked about."""
    many = is_plural(items[0])
    third = items[2] if len(items) > 2 else items[0]
    return {
        "was": "were" if many else "was",
        "is": "are" if many else "is",
        "isnt": "is not",
        "was2": "were" if len(items) > 1 and is_plural(items[1]) else "was",
        "is3": "are" if is_plural(third) else "is",
    }


def _clock(text: str) -> str:
    """Return a time of day as people write it: "4:30" or "9"."""
    hour = int(text[:2])
    minute = text[3:]
    shown = str((hour - 1) % 12 + 1)
    if hour in (0, 12) and minute == "00":
        return "noon" if hour else "midnight"
    return shown if minute == "00" else f"{shown}:{minute}"
