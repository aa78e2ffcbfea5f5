"""The simulated clock as a service: read it, or let time pass."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.kit.values import iso


class Clock(Service):
    """Tells the simulated time and lets it pass."""

    name = "clock"
    title = "Clock"
    category = "time"
    domain = "environment"

    @reads()
    def get_time(self) -> Json:
        """Return the current date and time (UTC)."""
        return {"now": self.time}

    @reads(example={"seconds": 60}, cost=0)
    def wait(
        self,
        seconds: Annotated[
            int, Field(ge=1, le=604_800, description="How long to wait, 1 s to 7 days (604800).")
        ],
    ) -> Json:
        """Wait, then return the new date and time.

        Use it before retrying something that needs time.
        """
        self.elapsed = seconds
        return {"waited_seconds": seconds, "now": iso(self.now + seconds)}
