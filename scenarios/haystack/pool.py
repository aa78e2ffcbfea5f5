"""Pools of past errands, from which histories of any length are woven.

An errand is a conversation that a person could have had on almost any day. It is written with
several openings and as many values for each of its slots, so that it may be used as often, each
time on a day of its own. A pool is `sessions/<person>/<topic>.yaml`; the folder is the registry.
"""

from __future__ import annotations

import functools
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from scenarios.haystack.model import PastSession, PastTurn
from scenarios.worlds import build
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.noise import share
from servers.kit.service import tool
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read
from servers.kit.zones import local, local_moment

HERE = Path(__file__).parent / "sessions"
OLDEST = 360
"""Days before the start on which the first errands happen, unless they say since when."""
NEWEST = 3
"""Days before the start on which the last ones do."""


class Errand(Declared):
    """A conversation that a person could have had on almost any day.

    Use number k begins with the opening number k, and `${slot}` in its texts and arguments is the
    value number k of a slot. It takes place on a day from `since` to `until`, at a local hour from
    `hours[0]` until before `hours[1]`. `goes_on` is as in `PastSession`.
    """

    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    openings: list[str] = Field(min_length=1)
    turns: list[PastTurn] = Field(min_length=1)
    slots: dict[str, list[Any]] = {}
    since: date | None = None
    until: date | None = None
    hours: tuple[int, int] = (8, 21)
    goes_on: list[str] = []

    @model_validator(mode="after")
    def _whole(self) -> Errand:
        for name, values in self.slots.items():
            if len(values) != len(self.openings):
                raise InputError(
                    f"slot {name} has {len(values)} values, but there are {len(self.openings)} "
                    "openings; every use of an errand takes one of each"
                )
        if not 0 <= self.hours[0] < self.hours[1] <= 24:
            raise InputError(f"hours {list(self.hours)} are no part of a day, e.g. [8, 21]")
        return self

    @functools.cached_property
    def writes(self) -> set[str]:
        """The services that it writes to."""
        called = [turn.call for turn in self.turns if turn.call is not None]
        return {name.partition(".")[0] for name in called if tool(name)[1].effect == "write"}

    @functools.cached_property
    def services(self) -> set[str]:
        """The services that it calls."""
        return {turn.call.partition(".")[0] for turn in self.turns if turn.call is not None}

    def session(self, person: str, use: int) -> PastSession:
        """Return one of its uses as a session, which falls on the same moment in every weave."""
        given = {name: values[use] for name, values in self.slots.items()}
        return PastSession(
            at=iso(self.moment(person, use)),
            key=self.name_of(use),
            turns=[PastTurn(user=self.openings[use]), *self.turns],
            goes_on=self.goes_on,
            given=given,
        )

    def name_of(self, use: int) -> str:
        """Return the name by which messages and ids refer to a use."""
        return f"{self.key}-{use + 1}"

    def moment(self, person: str, use: int) -> int:
        """Return when a use begins; the uses share the window, each in a part of its own."""
        life = build.person(person)
        zone = ZoneInfo(life["timezone"])
        start = local(parse_time(life["start"]), zone).date()
        since = self.since or start - timedelta(days=OLDEST)
        until = min(self.until or start, start - timedelta(days=NEWEST))
        if until < since:
            raise InputError(
                f"errand {self.key}: there is no day from {since} to {until}; the world of "
                f"{person} begins on {start}"
            )
        days = (until - since).days + 1
        share_of_use = (use + share("day", person, self.key, use)) / len(self.openings)
        first, last = self.hours
        minute = int((last - first) * 60 * share("minute", person, self.key, use))
        day = since + timedelta(days=int(days * share_of_use))
        return local_moment(day, time(first + minute // 60, minute % 60), zone)


@functools.cache
def errands(person: str) -> dict[str, Errand]:
    """Return a person's errands by key. Raises `InputError`, which names the file."""
    if person not in build.names():
        raise UnknownName("world", person, build.names())
    found: dict[str, Errand] = {}
    several = TypeAdapter(list[Errand])
    for path in sorted((HERE / person).glob("*.yaml")):
        try:
            listed = several.validate_python(build.with_ids(read(path), person))
        except ValidationError as wrong:
            raise InputError(f"{path}: {explain(wrong, Errand)}") from None
        except InputError as wrong:
            raise InputError(f"{path}: {wrong}") from None
        for errand in listed:
            if errand.key in found:
                raise InputError(f"{path}: there is already an errand {errand.key}")
            found[errand.key] = errand
    return found


def uses(person: str) -> list[tuple[Errand, int]]:
    """Return every use of every errand of a person."""
    every = []
    for errand in errands(person).values():
        every += [(errand, use) for use in range(len(errand.openings))]
    return every


@functools.cache
def text(person: str) -> str:
    """Return everything that a person's pool is made of, for fingerprints."""
    return "".join(path.read_text() for path in sorted((HERE / person).glob("*.yaml")))
