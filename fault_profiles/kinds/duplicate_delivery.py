"""A write is delivered more than once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from fault_profiles.model import Acting, Fault
from fault_profiles.worlds import watched
from servers.kit.call import Call, Journal, Next, Reply


class DuplicateDelivery(Fault):
    """A write runs `times` times, each with ids of its own, and the agent hears of the first: two
    payments, two messages.

    A service that takes an idempotency key answers the second delivery from the first, which is how
    an agent guards itself: that is no firing. A call that the service refuses is passed on.

    Example:
        - duplicate_delivery: {on: venmo.send_money, first: 1}
    """

    kind: ClassVar[str] = "duplicate_delivery"
    promises: ClassVar[tuple[str, ...]] = ("honest",)
    effects: ClassVar[tuple[str, ...]] = ("write",)
    times: Annotated[int, Field(ge=2, le=10)] = 2

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run the call, then again; answer the first reply."""
        journal = call.journal
        own = acting.firing.detail
        if acting.shadow:
            spans = own.get("inside", [[0, 0]] * self.times)
            reply = await call_next(
                _with(
                    call,
                    Journal(
                        journal.firings[slice(*spans[0])], ids=journal.ids, others=journal.others
                    ),
                )
            )
            for span, ids in zip(spans[1:], own["again"], strict=True):
                tape = [(made.rpartition("_")[0], made) for made in ids]
                if not reply.is_error:
                    await call_next(
                        _with(
                            call,
                            Journal(journal.firings[slice(*span)], ids=tape, others=journal.others),
                        )
                    )
            return reply
        spans = [[len(journal.firings)]]
        reply = await call_next(call)
        if reply.is_error:
            return acting.decline(reply)
        if watched(self, call, acting):
            journal.others[self.name] = call.world.scratch()
        own["again"], mark = [], call.world.last_change()
        for _ in range(self.times - 1):
            spans.append([len(journal.firings)])
            second = Journal(others=journal.others)
            await call_next(_with(call, second))
            journal.firings += second.firings
            own["again"].append([made for _, made in second.ids])
        if (
            not self.on.open
            and call.world.last_change() == mark
            and len(journal.firings) == spans[0][0]
        ):
            return acting.decline(
                reply
            )  # nothing came of it twice, say by the service's idempotency key
        if len(journal.firings) > spans[0][0]:
            own["inside"] = [
                [a[0], b[0]]
                for a, b in zip(spans, [*spans[1:], [len(journal.firings)]], strict=True)
            ]
        return reply


def _with(call: Call, journal: Journal) -> Call:
    return replace(call, journal=journal)
