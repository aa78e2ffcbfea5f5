"""How long an agent may take.

Only time counts in which this process attended to the agent. While an agent waits for its turn with
a provider, or this process is busy with another trial, its time stands still.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

import anyio

TICK = 0.25
"""How often the time is counted, in seconds."""
SLACK = 0.1
"""How many seconds late a tick may come; what is beyond is not the agent's."""
MOST_FORGIVEN = 3600.0
"""How many seconds of waiting an agent may ask for in one turn."""

_Answer = TypeVar("_Answer")


class Patience:
    """The seconds that an agent has left."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._pauses = 0
        self._forgiven = 0.0

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let time stand still, while something is awaited that the agent cannot speed up."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    def forgive(self, seconds: float) -> None:
        """Give seconds back that the agent says it had to wait."""
        given = max(0.0, min(seconds, MOST_FORGIVEN - self._forgiven))
        self._forgiven += given
        self.left += given

    async def limit(self, work: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Return what the work returns.

        Raises `TimeoutError` once no time is left; with none to begin with, the work is not begun.
        """
        if self.left <= 0:
            raise TimeoutError
        answers: list[_Answer] = []
        problem: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            try:
                answers.append(await work())
            except Exception as raised:
                # Raised again outside, where no task group can wrap it.
                problem = raised
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        if not answers:
            raise TimeoutError
        return answers[0]

    async def _watch(self, scope: anyio.CancelScope) -> None:
        while self.left > 0:
            tick = min(TICK, self.left)
            before = time.monotonic()
            await anyio.sleep(tick)
            if not self._pauses:
                self.left -= min(time.monotonic() - before, tick + SLACK)
        scope.cancel()
