"""Numbers that look random but depend only on a key, for prices, weather, surges and waiting times.

They use no state and none of the episode's draws, so that a repeated read gets the same answer.
"""

from __future__ import annotations

import functools
import hashlib


@functools.lru_cache(8192)
def draws(*key: object) -> tuple[float, ...]:
    """Return eight numbers in [-1, 1) that depend only on the key."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=32).digest()
    return tuple(int.from_bytes(digest[i : i + 4]) / 2**31 - 1 for i in range(0, 32, 4))


def share(*key: object) -> float:
    """Return one number in [0, 1) that depends only on the key."""
    return (draws(*key)[0] + 1) / 2


def smooth(key: str, at: int, step: int) -> tuple[float, ...]:
    """Return eight slowly changing numbers in [-1, 1) for a moment (epoch seconds).

    They are `draws` every `step` seconds, with an eased transition in between.
    """
    knot, rest = divmod(at, step)
    part = rest / step
    part = part * part * (3 - 2 * part)
    ends = zip(draws(key, knot), draws(key, knot + 1), strict=True)
    return tuple(a + (b - a) * part for a, b in ends)
