"""The call never reaches the service; the agent waits in simulated time and gets a timeout."""

from __future__ import annotations

from typing import ClassVar

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal, timed_out
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class Timeout(Fault):
    """Nothing runs, `seconds` of simulated time pass, and the error leaves the outcome open.

    Its twin is `lost_reply`, which gives the same error after the call was committed.

    Example:
        - timeout: {on: venmo.send_money, seconds: 45, first: 1}
    """

    kind: ClassVar[str] = "timeout"
    denies: ClassVar[bool] = True
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged", "waits")
    seconds: Positive = 30
    error: Refusal = Refusal()

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Let time pass and reply with the timeout."""
        if not acting.shadow:
            call.journal.extra_time += self.seconds
        return timed_out(self.error, acting, self.seconds)
