"""Faults of the transport: what the four kinds that spoil a response have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class Wire(Fault):
    """A fault of the transport: real over HTTP, an error reply everywhere else.

    The trace records the error reply as what was seen in either case. With `when: before` the call
    never runs; with `when: after` it runs and is committed, so that a blind retry does it twice.
    The agent cannot tell which. `seconds` of simulated time pass.
    """

    promises: ClassVar[tuple[str, ...]] = ("refused", "altered", "waits")
    when: Literal["before", "after"] = "before"
    seconds: Positive = 1
    error: Refusal = Refusal()

    @property
    def shuts_out(self) -> bool:
        """Whether no call ever gets past it to the layers inside."""
        return self.when == "before" and self.always

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call or not, and lose its reply."""
        if self.when == "after":
            await call_next(call)
        reply = self.in_band(acting)
        if not acting.shadow:
            call.journal.extra_time += self.seconds
            reply.wire = self.on_the_wire()
            acting.firing.detail.update(when=self.when, wire=reply.wire)
        return reply

    def in_band(self, acting: Acting) -> Reply:
        """Return the reply for an agent that does not use HTTP."""
        raise NotImplementedError

    def on_the_wire(self) -> dict[str, Any]:
        """Return what happens to the response over HTTP (see `servers.kit.wire`)."""
        raise NotImplementedError
