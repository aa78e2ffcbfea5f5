"""A write is delivered more than once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from fault_profiles.model import Acting, Fault
from fault_profiles.worlds import watched
from servers.kit.call import Call, Journal, Next, Reply


class DuplicateDelivery(Fault):
    """A write runs `times` times, each with its own ids, and the agent sees only the first reply.

    A service that takes an idempotency key replies to the second delivery from the first; that is
    how an agent protects itself, and it is not a firing. A call that the service refuses is passed
    on.

    Example:
        - duplicate_delivery: {on: venmo.send_money, first: 1}
    """

    kind: ClassVar[str] = "duplicate_delivery"
    promises: ClassVar[tuple[str, ...]] = ("honest",)
    effects: ClassVar[tuple[str, ...]] = ("write",)
    times: Annotated[int, Field(ge=2, le=10)] = 2

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call repeatedly; return the first reply."""
        if acting.shadow:
            return await self._repeated(call, call_next, acting)
        journal = call.journal
        detail = acting.firing.detail
        starts = [len(journal.firings)]
        reply = await call_next(call)
        if reply.is_error:
            return acting.decline(reply)
        if watched(self, call, acting):
            journal.others[self.name] = call.world.scratch()
        mark = call.world.last_change()
        detail["again"] = []
        for _ in range(self.times - 1):
            starts.append(len(journal.firings))
            second = Journal(others=journal.others)
            await call_next(replace(call, journal=second))
            journal.firings += second.firings
            detail["again"].append([made for _, made in second.ids])
        fired_inside = len(journal.firings) > starts[0]
        if not self.on.open and call.world.last_change() == mark and not fired_inside:
            # The repetition changed nothing, say because the call carries an idempotency key.
            return acting.decline(reply)
        if fired_inside:
            ends = [*starts[1:], len(journal.firings)]
            detail["inside"] = [[start, end] for start, end in zip(starts, ends, strict=True)]
        return reply

    async def _repeated(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Repeat the same deliveries in another world, each with its own ids and inner firings."""
        journal = call.journal
        detail = acting.firing.detail
        first, *others = detail.get("inside", [[0, 0]] * self.times)
        inside = journal.firings[slice(*first)]
        firsts = Journal(inside, ids=journal.ids, others=journal.others)
        reply = await call_next(replace(call, journal=firsts))
        for span, ids in zip(others, detail["again"], strict=True):
            if reply.is_error:
                continue
            tape = [(made.rpartition("_")[0], made) for made in ids]
            inside = journal.firings[slice(*span)]
            again = Journal(inside, ids=tape, others=journal.others)
            await call_next(replace(call, journal=again))
        return reply
