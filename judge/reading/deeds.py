"""Deeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judge.reading.texts import Spoken


@dataclass(frozen=True)
class Deed:
    """A completed deed that the assistant claims of itself."""

    kind: str
    slots: dict[str, Any]
    where: str


def deeds(spoken: Spoken) -> list[Deed]:
    return []


def done(spoken: Spoken) -> bool:
    return False
