"""What is computed once, however many ask for it at the same time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Once(Generic[_K, _V]):
    """Values by key. Who asks while a value is computed waits for it, instead of computing it too.

    If a computation fails, its exception goes to the one who asked for it, and the next computes.
    """

    def __init__(self) -> None:
        self._made: dict[_K, _V] = {}
        self._making: dict[_K, anyio.Lock] = {}

    async def get(self, key: _K, make: Callable[[], Awaitable[_V]]) -> _V:
        """Return the value of a key, which `make` computes if nobody has done so."""
        if key in self._made:
            return self._made[key]
        lock = self._making.setdefault(key, anyio.Lock())
        async with lock:
            if key not in self._made:
                self._made[key] = await make()
                self._making.pop(key, None)
        return self._made[key]
