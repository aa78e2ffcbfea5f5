"""Closed at fixed hours."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError
from servers.kit.values import iso

_DAY = 86_400


def _seconds(value: str | int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1440:
        return value * 60  # YAML reads an unquoted 22:30 as minutes
    time = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", str(value))
    if not time:
        raise InputError(f"a time of day is written like 22:30; got {value!r}")
    return int(time[1]) * 3_600 + int(time[2]) * 60


Hour = Annotated[int, BeforeValidator(_seconds)]


class MaintenanceWindow(Fault):
    """Planned downtime: calls between `from` and `to` (times of day, UTC) are refused.

    The refusal says how long the window lasts. A window that ends before it begins spans midnight.
    Instead of both, the schedule's `window: [a, b]` closes the provider from a to b simulated
    seconds after the start.

    Example:
        - maintenance_window: {on: zelle.*, from: "16:00", to: "16:20"}
    """

    kind: ClassVar[str] = "maintenance_window"
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    start: Hour | None = Field(default=None, alias="from")
    end: Hour | None = Field(default=None, alias="to")
    error: Refusal = Refusal()

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return a window of nearly the whole day."""
        return {"from": "00:00", "to": "23:59"}

    @model_validator(mode="after")
    def _some(self) -> MaintenanceWindow:
        by_the_clock = self.start is not None and self.end is not None
        half = (self.start is None) != (self.end is None)
        if half or by_the_clock == (self.window is not None):
            raise InputError(
                "needs `from` and `to` (times of day), "
                "or `window: [a, b]` (seconds since the start)"
            )
        if self.start is not None and self.start == self.end:
            raise InputError("from: the window must not begin at the moment when it ends")
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Refuse calls during the window."""
        left = self._left(call, acting)
        if left is None:
            return acting.decline(await call_next(call))
        until = iso(call.now + left)
        message = f"{acting.title} is closed for planned maintenance until {until}."
        return self.error.reply(
            acting.scope,
            acting.codes.unavailable,
            message,
            f"Try again after {until}.",
            retryable=True,
            status=503,
            retry_after=left,
        )

    def _left(self, call: Call, acting: Acting) -> int | None:
        if self.window is not None:
            return acting.session.control.start + self.window[1] - call.now
        assert self.start is not None and self.end is not None
        since = (call.now - self.start) % _DAY
        lasts = (self.end - self.start) % _DAY
        return lasts - since if since < lasts else None
