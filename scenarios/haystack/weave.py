"""Weaves: histories that are put together from a person's pool by a few numbers.

A weave is written as numbers, `sessions=40,seed=3`, and is the same for the same numbers. Sessions
that write to a service of the scenario are left out, so that they do not touch what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from scenarios.haystack import pool
from scenarios.haystack.model import HistoryFile, PastSession
from scenarios.model import Scenario
from servers.kit.errors import InputError, UnknownName
from servers.kit.noise import share

MARK = ":"
"""What stands between the person and the numbers in the name of a woven history."""


@dataclass(frozen=True)
class Weave:
    """A woven history: how many sessions, what chooses them, and which services they spare."""

    person: str
    sessions: int
    seed: int = 0
    spared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name under which it is known as a history; `named` reads it again."""
        numbers = f"sessions={self.sessions},seed={self.seed}"
        return f"{self.person}{MARK}{numbers}{MARK}{'+'.join(self.spared)}"

    def written(self) -> HistoryFile:
        """Return its sessions, in order of time. Raises `InputError` if there are too few."""
        fitting = [
            (errand, use)
            for errand, use in pool.uses(self.person)
            if errand.writes.isdisjoint(self.spared)
        ]
        if len(fitting) < self.sessions:
            spared = f" that do not write to {', '.join(self.spared)}" if self.spared else ""
            raise InputError(
                f"sessions={self.sessions}: {self.person} has {len(fitting)} past "
                f"sessions{spared}; ask for at most as many"
            )
        fitting.sort(key=lambda chosen: share("weave", self.seed, chosen[0].key, chosen[1]))
        chosen = fitting[: self.sessions]
        sessions = [errand.session(self.person, use) for errand, use in chosen]
        return HistoryFile(world=self.person, sessions=sorted(sessions, key=_place))


def _place(session: PastSession) -> tuple[str, str]:
    return session.at, session.named


def is_woven(name: str) -> bool:
    """Return whether the name of a history is that of a weave."""
    return MARK in name


def named(name: str) -> Weave:
    """Return the weave that a name stands for. Raises `InputError`."""
    person, numbers, spared = (*name.split(MARK), "", "")[:3]
    read = _numbers(numbers)
    return Weave(person, spared=tuple(filter(None, spared.split("+"))), **read)


def crossed(scenario: Scenario, numbers: str) -> Scenario:
    """Return a scenario that begins after a woven history.

    `numbers` are as in `sessions=40,seed=3`. Raises `InputError` if they are wrong, if there are
    too few sessions, or if the scenario has a history already.
    """
    if scenario.history is not None:
        raise InputError(
            f"{scenario.id} has a history of its own ({scenario.history}); run it without --history"
        )
    weave = Weave(scenario.world, spared=tuple(sorted(scenario.services)), **_numbers(numbers))
    weave.written()
    return scenario.model_copy(update={"history": weave.name})


def _numbers(text: str) -> dict[str, int]:
    """Read `sessions=40,seed=3`; only the number of sessions is needed."""
    read: dict[str, int] = {}
    for part in text.split(","):
        name, is_there, value = (side.strip() for side in part.partition("="))
        if name not in ("sessions", "seed"):
            raise UnknownName("number of a history", name, ("sessions", "seed"))
        if not is_there or not value.isdigit() or (name == "sessions" and int(value) == 0):
            least = "1" if name == "sessions" else "0"
            raise InputError(f"{name} is a whole number from {least} on, as in sessions=40,seed=3")
        read[name] = int(value)
    if "sessions" not in read:
        raise InputError(f"{text!r} does not say how many sessions, as in sessions=40,seed=3")
    return read
