"""Helpers for the music tests: sessions with a person's players, and ids of songs and albums."""

from __future__ import annotations

from servers.kit.control import make_id
from servers.kit.session import Session
from tests.support import session_of

MINUTE = 60
HOUR = 3600
DAY = 86_400


def world_of(name: str) -> Session:
    return session_of(name, "spotify", "apple_music")


def track(service: str, key: str, world: str = "maya") -> str:
    return make_id("spt" if service == "spotify" else "apt", world, key)


def album(service: str, key: str, world: str = "maya") -> str:
    return make_id("spal" if service == "spotify" else "apal", world, key)
