"""Weaves: histories that are put together by a few numbers.

A weave is written as numbers, `sessions=40,seed=3`, and is the same for the same numbers. It draws
past errands from a person's pool, and leaves out those that write to a service of the scenario. For
an instance of a target, its needles stand among them: the last one at a chosen distance from the
end.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from scenarios.haystack import mixture, pieces, pool, targets
from scenarios.haystack.model import HistoryFile, PastSession
from scenarios.haystack.pool import Errand
from scenarios.haystack.targets import Needle
from scenarios.worlds import build
from servers.kit.errors import InputError, UnknownName
from servers.kit.noise import share
from servers.kit.service import service
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment

MARK = ":"
"""What stands between the subject and the numbers in the name of a woven history."""
SHORT = 25
"""Up to how many sessions a weave is short; it then takes place in the last `SHORT_DAYS`."""
SHORT_DAYS = 60
NUMBERS = ("sessions", "distractors", "distance", "near", "seed", "value")
Near = Literal["any", "disjoint", "related"]
NEAR: tuple[Near, ...] = get_args(Near)
"""How near distractors are to the target: disjoint ones use no service of its categories, related
ones do."""
NEEDLE = "needle-"
"""How the keys of needles begin."""
LEAST = {"sessions": 1}
_DAY = 86_400


@dataclass(frozen=True)
class Weave:
    """A woven history.

    `subject` is a person, or an instance of a target (`recall_single/maya/glaze_share`). `sessions`
    counts the needles, too. `distance` is how many sessions follow the last needle, `value` which
    value of each piece is right, `near` how near in meaning the distractors are. `spared` are the
    services of the scenario, to which no errand writes.
    """

    subject: str
    sessions: int
    seed: int = 0
    distance: int = 0
    value: int = 0
    near: Near = "any"
    spared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name under which it is known as a history; `named` reads it again."""
        numbers = f"sessions={self.sessions},seed={self.seed}"
        if self.is_instance:
            numbers += f",distance={self.distance},value={self.value}"
        if self.near != "any":
            numbers += f",near={self.near}"
        return f"{self.subject}{MARK}{numbers}{MARK}{'+'.join(self.spared)}"

    @property
    def is_instance(self) -> bool:
        """Whether it holds the needles of a target's instance."""
        return "/" in self.subject

    @property
    def person(self) -> str:
        """The person whose history it is."""
        return targets.person_of(self.target) if self.target is not None else self.subject

    @property
    def target(self) -> str | None:
        """The name of its target, e.g. `maya/glaze_share`, or None."""
        return self.subject.partition("/")[2] if self.is_instance else None

    @property
    def root(self) -> str:
        """What chance and ids depend on: not on the folder in which a target lies."""
        return f"{self._kind}/{targets.short(self.target)}" if self.target else self.subject

    @property
    def needles(self) -> list[Needle]:
        """The needles, in order of time."""
        if self.target is None:
            return []
        return targets.target(self.target).kinds[self._kind].needles

    @property
    def _kind(self) -> targets.Kind:
        kind = self.subject.partition("/")[0]
        if kind not in targets.KINDS:
            raise UnknownName("kind", kind, targets.KINDS)
        return kind

    @property
    def pieces(self) -> dict[str, Any]:
        """What the pieces of the target stand for."""
        if self.target is None:
            return {}
        return pieces.scope(targets.target(self.target).pieces, self.value)

    def written(self, refused: Sequence[str] = ()) -> HistoryFile:
        """Return its sessions, in order of time. `refused` are keys of sessions to leave out.

        Raises `InputError` if there are too few, or if its numbers cannot be.
        """
        count = self.sessions - len(self.needles)
        if count < self.distance or count < 0:
            raise InputError(
                f"{self.subject}: {self.sessions} sessions hold {max(count, 0)} distractors beside "
                f"{len(self.needles)} needles, so distance={self.distance} cannot be"
            )
        sessions = self._distractors(count, refused)
        return HistoryFile(world=self.person, sessions=[*self._placed(sessions)])

    def _distractors(self, count: int, refused: Sequence[str]) -> list[PastSession]:
        """Return the errands' sessions in order of time; fewer of them are a part of more."""
        earliest = self.window
        fitting: list[PastSession] = []
        for errand, use in sorted(pool.uses(self.person), key=self._rank, reverse=True):
            if len(fitting) == count:
                break
            if errand.name_of(use) in refused or not self._fits(errand, use):
                continue
            if errand.moment(self.person, use) >= earliest:
                fitting.append(errand.session(self.person, use))
        if len(fitting) < count:
            spared = f" that do not write to {', '.join(self.spared)}" if self.spared else ""
            spared += f" and are {self.near}" if self.near != "any" else ""
            raise InputError(
                f"sessions={self.sessions}: {self.person} has {len(fitting)} past "
                f"sessions{spared}; ask for at most as many"
            )
        return sorted(fitting, key=_place)

    def _rank(self, drawn: tuple[Errand, int]) -> float:
        """Return where a use comes in the order of drawing."""
        errand, use = drawn
        chance = share("weave", self.root, self.seed, errand.key, use)
        if self.is_instance:
            return mixture.rank(mixture.TILTS[self._kind], errand, use, chance)
        if self.sessions > SHORT:
            return mixture.rank(mixture.LONG, errand, use, chance)
        return chance

    def _fits(self, errand: Errand, use: int) -> bool:
        spares = errand.writes.isdisjoint(self.spared)
        return spares and self._is_near(errand) and not self._tells(errand, use)

    def _is_near(self, errand: Errand) -> bool:
        if self.near == "any":
            return True
        own = {service(name).category for name in self.spared}
        shared = own & {service(name).category for name in errand.services}
        return bool(shared) == (self.near == "related")

    @property
    def window(self) -> int:
        """The moment before which none of its sessions takes place."""
        start = parse_time(build.person(self.person)["start"])
        days = SHORT_DAYS if self.sessions <= SHORT else pool.OLDEST + 5
        return start - days * _DAY

    def _tells(self, errand: Errand, use: int) -> bool:
        """Return whether an errand's own words hold a value of the target's pieces."""
        if self.target is None:
            return False
        words = [errand.openings[use], *(values[use] for values in errand.slots.values())]
        words += [turn.model_dump_json() for turn in errand.turns]
        return tells(json.dumps(words, ensure_ascii=False), self.odd)

    @functools.cached_property
    def odd(self) -> list[str]:
        """The values of its pieces that no distractor may hold, as text.

        Those are the values that are odd enough to be told from others, and what is missing.
        """
        if self.target is None:
            return []
        target = targets.target(self.target)
        missing = target.missing(self._kind)
        found = []
        for name, values in target.pieces.items():
            taken = target.taken(name)
            for leaf in pieces.leaves([pieces.only(value, taken) for value in values]):
                if _is_odd(leaf) or (name == missing and len(str(leaf)) > 2):
                    found.append(_shown(leaf))
        return found

    def _placed(self, sessions: list[PastSession]) -> Iterator[PastSession]:
        """Yield the distractors with the needles among them."""
        needles = self.needles
        last = len(sessions) - self.distance
        places = sorted(
            int((last + 1) * share("needle", self.seed, self.root, number))
            for number in range(len(needles) - 1)
        )
        places = [*places, last] if needles else []
        ends = [self.window, *(parse_time(session.at) for session in sessions)]
        ends.append(parse_time(build.person(self.person)["start"]) - _DAY // 2)
        given = self.pieces
        for place in range(len(sessions) + 1):
            here = [number for number, at in enumerate(places) if at == place]
            begun = ends[place]
            for left, number in zip(range(len(here), 0, -1), here, strict=True):
                until = begun + (ends[place + 1] - begun) // left
                begun = self._moment(begun, until, number)
                yield PastSession(
                    at=iso(begun),
                    key=f"{NEEDLE}{number + 1}",
                    turns=needles[number].talk,
                    given=given,
                )
            if place < len(sessions):
                yield sessions[place]

    def _moment(self, after: int, before: int, number: int) -> int:
        """Return a moment between two, by day if there is one. Raises `InputError`."""
        needle = self.needles[number]
        zone = ZoneInfo(build.person(self.person)["timezone"])
        first = local_moment(needle.since, time(), zone) if needle.since else after
        until = local_moment(needle.until, time(23, 59), zone) if needle.until else before
        first, until = max(first, after + 60), min(until, before - 60)
        if first > until:
            raise InputError(
                f"{self.subject}: no moment for needle {number + 1} at distance={self.distance}; "
                f"it has to be from {needle.since} to {needle.until}"
            )
        chosen = first
        for attempt in range(12):
            drawn = share("moment", self.root, number, attempt)
            chosen = first + int((until - first) * drawn) // 60 * 60
            if chosen >= first and 8 <= local(chosen, zone).hour < 22:
                break
        return max(chosen, first)


def tells(text: str, odd: Sequence[str]) -> bool:
    """Return whether a text holds one of some values."""
    return any(value in text for value in odd)


def _is_odd(leaf: Any) -> bool:
    if isinstance(leaf, bool) or leaf is None:
        return False
    if isinstance(leaf, int | float):
        return leaf >= 100 or leaf != int(leaf)
    return len(str(leaf)) >= 5 and any(letter.isdigit() for letter in str(leaf))


def _shown(leaf: Any) -> str:
    """Return a value as texts show it: 43.5 is part of 43.50."""
    if isinstance(leaf, float) and leaf.is_integer():
        return str(int(leaf))
    return str(leaf)


def _place(session: PastSession) -> tuple[str, str]:
    return session.at, session.named


def is_woven(name: str) -> bool:
    """Return whether the name of a history is that of a weave."""
    return MARK in name


def named(name: str) -> Weave:
    """Return the weave that a name stands for. Raises `InputError`."""
    subject, written, spared = (*name.split(MARK), "", "")[:3]
    return Weave(subject, spared=tuple(filter(None, spared.split("+"))), **numbers(written))


def numbers(text: str, known: Sequence[str] = NUMBERS) -> dict[str, Any]:
    """Read `sessions=40,seed=3,near=related`. Raises `InputError`."""
    read: dict[str, Any] = {}
    for part in text.split(","):
        name, is_there, value = (side.strip() for side in part.partition("="))
        if name not in known:
            raise UnknownName("number of a history", name, known)
        if name == "near":
            if value == "rival":
                raise InputError("near=rival is what the kind missing_hard is for; choose it")
            if value not in NEAR:
                raise UnknownName("nearness", value, NEAR)
            read[name] = value
            continue
        least = LEAST.get(name, 0)
        if not is_there or not value.isdigit() or int(value) < least:
            raise InputError(f"{name} is a whole number from {least} on, as in sessions=40,seed=3")
        read[name] = int(value)
    return read
