"""The call runs and is committed, but the reply is lost."""

from __future__ import annotations

from typing import ClassVar

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal, timed_out
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class LostReply(Fault):
    """A write takes effect, but the agent gets a timeout: a blind retry does it twice.

    If the service itself refuses the call, there is nothing to lose, and its refusal is passed on.

    Example:
        - lost_reply: {on: venmo.send_money, first: 1}
    """

    kind: ClassVar[str] = "lost_reply"
    effects: ClassVar[tuple[str, ...]] = ("write",)
    promises: ClassVar[tuple[str, ...]] = ("refused", "committed", "waits")
    seconds: Positive = 30
    error: Refusal = Refusal()

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call, then reply with a timeout."""
        reply = await call_next(call)
        if reply.is_error:
            return reply if acting.shadow else acting.decline(reply)
        if not acting.shadow:
            call.journal.extra_time += self.seconds
            acting.firing.detail["lost"] = reply.data
        return timed_out(self.error, acting, self.seconds)
