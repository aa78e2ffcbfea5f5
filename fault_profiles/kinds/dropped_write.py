"""A silent no-op: the reply is the honest one, but nothing happened."""

from __future__ import annotations

from typing import ClassVar

from fault_profiles.model import Acting, Fault
from fault_profiles.rows import Operations
from servers.kit.call import Call, Next, Reply
from servers.kit.expr import apply

_NOTICES = {
    "indirect": "Request accepted.",
    "explicit": "Request accepted; not confirmed yet.",
}


class DroppedWrite(Fault):
    """A write runs on a copy that is dropped: the reply claims success, but its ids do not exist.

    `edit` changes the reply further (operations). With `tell: indirect` the reply says that the
    request was accepted, with `tell: explicit` that it is not confirmed.

    Example:
        - dropped_write: {on: venmo.send_money, first: 1}
    """

    kind: ClassVar[str] = "dropped_write"
    needs_world: ClassVar[bool] = True
    tells: ClassVar[tuple[str, ...]] = ("none", "indirect", "explicit")
    effects: ClassVar[tuple[str, ...]] = ("write",)
    promises: ClassVar[tuple[str, ...]] = ("honest", "unchanged")
    edits: ClassVar[tuple[str, ...]] = ("edit",)
    edit: Operations = []

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Run on a copy, return its reply, drop the copy."""
        copy = call.world.scratch()
        reply = await call_next(call.on(copy))
        copy.close()
        if reply.is_error:
            return reply if acting.shadow else acting.decline(reply)
        told = reply.copied()
        apply(self.edit, told.data, acting.scope | {"reply": reply.data})
        if isinstance(told.data, dict) and self.tell in _NOTICES:
            told.data["notice"] = _NOTICES[self.tell]
        return told
