"""Faults where agent and server meet: what the four kinds share that a response can meet on its
way.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class Wire(Fault):
    """A fault of the transport. Over HTTP it happens for real; other agents see `error`, and the
    trace keeps that as what was seen.

    `when: before` and the call never ran; `after` and it ran and was committed, so that a blind
    retry does it twice. Either way the agent cannot tell which. `seconds` of simulated time pass.
    """

    promises: ClassVar[tuple[str, ...]] = ("refused", "altered", "waits")
    when: Literal["before", "after"] = "before"
    seconds: Positive = 1
    error: Refusal = Refusal()

    @property
    def shuts_out(self) -> bool:
        """Whether no call ever comes to what stands inside it."""
        return self.when == "before" and self.always

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call or not, and lose its answer."""
        if self.when == "after":
            await call_next(call)
        reply = self.in_band(acting)
        if not acting.shadow:
            call.journal.extra_time += self.seconds
            reply.wire = self.on_the_wire()
            acting.firing.detail.update(when=self.when, wire=reply.wire)
        return reply

    def in_band(self, acting: Acting) -> Reply:
        """Return what an agent sees that has no HTTP between it and the server."""
        raise NotImplementedError

    def on_the_wire(self) -> dict[str, Any]:
        """Return what befalls the response over HTTP (see `servers.kit.wire`)."""
        raise NotImplementedError
