"""What the tests of music share: a person's players, and the ids of songs and albums."""

from __future__ import annotations

from scenarios.worlds.build import person, shared
from servers.kit.control import Control, make_id
from servers.kit.session import Session
from servers.kit.values import parse_time

MINUTE, HOUR, DAY = 60, 3600, 86_400


def world_of(name: str) -> Session:
    return Session(("spotify", "apple_music"), shared(name).share(), Control(parse_time(person(name)["start"])))


def track(service: str, key: str, world: str = "maya") -> str:
    return make_id("spt" if service == "spotify" else "apt", world, key)


def album(service: str, key: str, world: str = "maya") -> str:
    return make_id("spal" if service == "spotify" else "apal", world, key)
