"""A reader that remembers what it has read, because most runs of a proof say the same."""

from __future__ import annotations

from typing import Any, ClassVar

from judge.reading import Claim, Phrases, Reader, Reading, Spoken


class Remembering:
    """The phrases reader with a memory."""

    name: ClassVar[str] = Phrases.name

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or Phrases()
        self._read: dict[tuple[Any, Spoken], Reading] = {}

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        """Return what a text makes of a claim."""
        key = (claim.parts, spoken)
        if key not in self._read:
            self._read[key] = self._reader.read(sentence, claim, spoken)
        return self._read[key]
