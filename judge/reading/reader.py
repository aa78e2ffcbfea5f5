"""The readers' protocol, and the reader that works by rules alone."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import ClassVar, Protocol

from judge.reading.claims import Claim, Parts, vocabulary
from judge.reading.gist import gist
from judge.reading.mentions import mentions
from judge.reading.nearby import nearby
from judge.reading.outcome import Reading
from judge.reading.phrases import read
from judge.reading.plain import may_tell, names_all, says
from judge.reading.texts import Spoken


class Reader(Protocol):
    """What reads a text: the phrases of the vocabulary, or a model."""

    @property
    def name(self) -> str:
        """What reports call the reader."""
        ...

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        """Return what a text makes of a claim; `sentence` is the claim in plain words."""
        ...


class Phrases:
    """The reader that works by rules alone."""

    name: ClassVar[str] = "phrases"

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        """See `Reader.read`."""
        return _read(sentence, claim.parts, spoken)


def _is_of_people(claim: Claim, slot: str) -> bool:
    return vocabulary()[claim.kind].slots.get(slot) in ("person", "people")


@functools.lru_cache(maxsize=4096)
def _read(sentence: str, parts: Parts, spoken: Spoken) -> Reading:
    kind, slots, needed = parts
    claim = Claim(kind, dict(slots), needed)
    reading = read(claim, spoken)
    plain = functools.partial(says, sentence, claim, spoken, reading.where)
    elsewhere = functools.partial(names_all, claim, spoken, reading.where)
    other = reading.where if reading.contradiction else ""
    near = functools.partial(nearby, sentence, claim, spoken, other)
    if reading.contradiction and _is_of_people(claim, reading.slot):
        near = str
    if reading.stance == "claims":
        return replace(reading, plain=plain, elsewhere=elsewhere, near=near)
    return replace(
        reading,
        mention=functools.partial(mentions, claim, spoken),
        gist=functools.partial(gist, sentence, claim, spoken),
        plain=plain,
        elsewhere=elsewhere,
        near=near,
        hint=functools.partial(
            may_tell,
            sentence,
            claim,
            spoken,
            reading.conflict.against,
            other=bool(reading.contradiction),
        ),
    )
