"""Eventual consistency: reads show the world before the agent's latest writes, for a while."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.state import State
from fault_profiles.worlds import check_tables, own_tables, tell_truth
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.store import AGENT
from servers.kit.values import iso, parse_time


class DelayedVisibility(Fault):
    """The agent's writes become visible to reads only after `seconds` of simulated time.

    Or after `reads` of the targeted reads, if that comes sooner. Only the provider's own tables lag
    behind; `writes_of` narrows that to the named ones. The writes themselves are real all along.

    Example:
        - delayed_visibility: {on: "reads:venmo.*", seconds: 120}
    """

    kind: ClassVar[str] = "delayed_visibility"
    needs_world: ClassVar[bool] = True
    effects: ClassVar[tuple[str, ...]] = ("read",)
    promises: ClassVar[tuple[str, ...]] = ("unchanged",)
    seconds: Positive = 300
    reads: Positive = 5
    writes_of: list[str] = []

    @model_validator(mode="after")
    def _known(self) -> DelayedVisibility:
        check_tables(self, self.writes_of, "writes_of")
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply from a copy in which the agent's recent writes are undone."""
        if acting.shadow:
            hidden = set(acting.firing.detail["hidden"])
        else:
            hidden = self._hidden(call, acting)
            if not hidden:
                return acting.decline(await call_next(call))
            acting.firing.detail["hidden"] = sorted(hidden)
        tables = self._tables(call, acting)
        before = call.world.scratch()
        before.undo(
            lambda e: e["cause"] == AGENT and e["table"] in tables and e["at"] in hidden,
            after=min(hidden),
        )
        reply = await call_next(call.on(before))
        before.close()
        await tell_truth(call, acting)
        return reply

    def _tables(self, call: Call, acting: Acting) -> set[str]:
        return set(own_tables(acting.session.classes[call.service], self.writes_of))

    def _hidden(self, call: Call, acting: Acting) -> set[str]:
        state = State.load(acting.session.control, self.name)
        seen: dict[str, int] = state.memory.setdefault("reads", {})
        tables = self._tables(call, acting)
        since = iso(call.now - self.seconds)
        fresh = [change for change in call.world.log_since(since) if change["table"] in tables]
        moments = {change["at"] for change in fresh if change["cause"] == AGENT}
        hidden = set()
        for moment in moments:
            reads = seen.get(moment, 0)
            if call.now - parse_time(moment) < self.seconds and reads < self.reads:
                hidden.add(moment)
                seen[moment] = reads + 1
        state.save()
        return hidden
