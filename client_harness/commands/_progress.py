"""How far a run is, where nobody looks at a terminal: a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY = 60.0
"""Seconds between two lines."""


class Lines:
    """Says how far a run is, at most once in `every` seconds.

    `spent` returns what has been spent so far, and `say` takes a line.
    """

    def __init__(
        self,
        what: str,
        spent: Callable[[], str],
        say: Callable[[str], None],
        every: float = EVERY,
    ) -> None:
        self._what = what
        self._spent = spent
        self._say = say
        self._every = every
        self._began = time.monotonic()
        self._last = self._began

    def tell(self, done: int, total: int, trial: object) -> None:
        """Take how many trials of how many are stored."""
        now = time.monotonic()
        if now - self._last < self._every or done == total:
            return
        self._last = now
        minutes, seconds = divmod(round(now - self._began), 60)
        spent = self._spent()
        price = f", {spent}" if spent else ""
        line = f"{self._what}: {done} of {total} trials, {minutes}:{seconds:02} min{price}"
        self._say(line)
