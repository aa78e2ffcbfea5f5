"""The provider denies the call: nothing runs."""

from __future__ import annotations

from typing import ClassVar

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from servers.kit.call import Call, Next, Reply


class Outage(Fault):
    """Availability denial: the call does not run and the provider's own error comes back.

    `error` changes how it reads: code, message, hint, retryable (which may lie), retry_after in
    seconds, status, context. Set `until` for a transient outage.

    Example:
        - outage: {on: "venmo.*", error: {retry_after: 60}, until: {seconds: 60}}
    """

    kind: ClassVar[str] = "outage"
    denies: ClassVar[bool] = True
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    error: Refusal = Refusal()

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply with the error."""
        lasting = self.duration == "permanent" and self.until is None
        state = "unavailable" if lasting else "temporarily unavailable"
        message = f"{acting.title} is {state}."
        return self.error.reply(
            acting.scope,
            acting.codes.unavailable,
            message,
            "Try again later.",
            retryable=not lasting,
            status=503,
        )
