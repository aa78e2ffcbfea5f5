"""Make mutants by the thousand, in several processes, and count what became of them."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from client_harness.workers import workers
from scenarios.load import parse, written
from servers.kit.yaml import read
from tests.mutants.fate import fate
from tests.mutants.met import paths_of
from tests.mutants.places import Place, places
from tests.mutants.slips import mutant

Job = tuple[str, int, int]
"""A scenario, the number of a place in it, and the number of the slip there."""


@dataclass(frozen=True)
class Result:
    """What became of one mutant."""

    scenario: str
    place: Place
    old: str
    new: str
    what: str
    line: str
    flaws: tuple[str, ...]

    @property
    def told(self) -> str:
        """The mutant and what became of it, as a line."""
        where = ".".join(str(part) for part in self.place.at)
        slip = f"{where}: {self.old} → {self.new}"
        return f"{self.what} [{self.sort}] {self.scenario}: {slip}: {self.line}"

    def concerns(self, part: str) -> bool:
        """Whether a word picks the result: `all`, what became of it, or a part of its sort."""
        return part in (self.what, "all") or part in self.sort

    @property
    def sort(self) -> str:
        """The sort of thing that was mistaken, with what stands around it."""
        how = "" if self.place.how in ("key", "word") else f" ({self.place.how})"
        return f"{self.place.context}: {self.place.sort}{how}"


@functools.cache
def scenario(name: str) -> tuple[Any, list[Place], Any]:
    """Return a scenario's parsed YAML, its places, and its model."""
    raw = read(written()[name])
    return raw, places(raw), parse(raw, name, "FILE")


def jobs_of(
    names: Sequence[str], count: int, seed: int, played: Sequence[str] | None = None
) -> list[Job]:
    """Return `count` different mutants to make, spread evenly over all places of all files.

    What only `check` can refuse is mutated in the scenarios of `played`, if they are given, since
    the scenario has to be played for it.
    """
    chance = random.Random(seed)
    every = []
    for name in names:
        left_out = played is not None and name not in played
        for number, place in enumerate(scenario(name)[1]):
            if not (left_out and place.of_replies):
                every.append((name, number))
    chosen: list[Job] = []
    round_ = 0
    while len(chosen) < count:
        chance.shuffle(every)
        chosen += [(name, number, round_) for name, number in every[: count - len(chosen)]]
        round_ += 1
    return sorted(chosen)


def one(job: Job, seed: int, check: bool) -> Result:
    """Make one mutant and return what became of it."""
    name, number, round_ = job
    raw, known, original = scenario(name)
    made = mutant(name, raw, known[number], f"{seed}/{name}/{number}/{round_}")
    found = fate(made, original, paths_of(name) if check and made.place.of_replies else None)
    return Result(name, made.place, made.old, made.new, found.what, found.line, found.faults)


def _many(work: tuple[list[Job], int, bool]) -> list[Result]:
    listed, seed, check = work
    return [one(job, seed, check) for job in listed]


def counted(count: int, seed: int, jobs: int = 1, *, check: bool = True) -> list[Result]:
    """Make mutants of all shipped scenarios and return what became of each."""
    listed = jobs_of(list(written()), count, seed)
    if jobs < 2:
        return _many((listed, seed, check))
    parts = []
    for name in written():
        part = [job for job in listed if job[0] == name]
        parts.append((part, seed, check))
    results: list[Result] = []
    with workers(jobs) as pool:
        for part in pool.map(_many, parts):
            results += part
    return results


WHATS = ("load", "check", "excused", "silent", "crash", "slow")


def table(results: Sequence[Result]) -> list[str]:
    """Return the table of sorts and fates, and the excuses by rule, as lines."""
    by_sort: dict[str, Counter[str]] = {}
    for result in results:
        by_sort.setdefault(result.sort, Counter())[result.what] += 1
    lines = [f"{'':52}{'made':>7}" + "".join(f"{what:>9}" for what in WHATS)]
    order = sorted(by_sort, key=lambda s: (-by_sort[s]["silent"], -sum(by_sort[s].values())))
    for sort in order:
        lines.append(_row(sort, by_sort[sort]))
    lines.append(_row("all", Counter(result.what for result in results)))
    excuses = Counter(r.line for r in results if r.what == "excused")
    lines += [f"excused: {count:6} {reason}" for reason, count in excuses.most_common()]
    flaws: Counter[str] = Counter()
    for result in results:
        flaws.update(result.flaws)
    lines += [f"lines: {count:6} {flaw}" for flaw, count in flaws.most_common()]
    return lines


def _row(name: str, counts: Counter[str]) -> str:
    made = sum(counts.values())
    return f"{name[:51]:52}{made:7}" + "".join(f"{counts[what] or '':>9}" for what in WHATS)


def silent(results: Sequence[Result], part: str) -> list[str]:
    """Return the mutants that nothing refuses, one line each."""
    return [result.told for result in results if result.concerns(part)]


def flawed(results: Sequence[Result], part: str) -> list[str]:
    """Return the error lines that are not good enough."""
    lines = []
    for r in results:
        for flaw in r.flaws:
            if part in ("flaws", flaw):
                where = ".".join(map(str, r.place.at))
                lines.append(f"{flaw} [{r.sort}] {r.old} → {r.new} @{where}: {r.line}")
    return lines
