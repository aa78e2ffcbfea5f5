"""The call takes longer, in simulated time or in real time."""

from __future__ import annotations

from typing import ClassVar

import anyio

from fault_profiles.model import Acting, Fault
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class Latency(Fault):
    """`seconds` of simulated time pass in addition to the call's own.

    With `real_seconds` the caller really waits too, for testing clients over HTTP.

    Example:
        - latency: {on: "weather_com.*", seconds: 45, every: 2}
    """

    kind: ClassVar[str] = "latency"
    promises: ClassVar[tuple[str, ...]] = ("honest", "committed", "waits")
    seconds: Positive = 20
    real_seconds: float = 0

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call, then let time pass."""
        reply = await call_next(call)
        if not acting.shadow:
            call.journal.extra_time += self.seconds
            if self.real_seconds:
                await anyio.sleep(self.real_seconds)
        return reply
