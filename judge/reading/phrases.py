"""The phrases reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from judge.reading.claims import Claim
from judge.reading.texts import Spoken

Stance = Literal["claims", "denies", "silent"]


@dataclass(frozen=True)
class Reading:
    """What a text makes of a claim."""

    stance: Stance
    where: str = ""
    contradiction: str = ""
    unconfirmed: bool = False


class Reader(Protocol):
    """What reads a text."""

    name: ClassVar[str]

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading: ...


class Phrases:
    name: ClassVar[str] = "phrases"

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        return read(claim, spoken)


def read(claim: Claim, spoken: Spoken) -> Reading:
    return Reading("silent")
