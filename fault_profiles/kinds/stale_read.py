"""A read of the past: it runs on the world as of an earlier moment, with that moment's clock."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.worlds import check_tables, own_tables, tell_truth
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.expr import apply
from servers.kit.expr.paths import parse as parse_path


class StaleRead(Fault):
    """Data staleness: a read shows the state of `age` simulated seconds ago, timestamps included.

    `tables` are the ones set back (default: all of the provider's, but never the sign-ins);
    `keep_own` spares what the agent itself wrote. `fresh_times` are paths of timestamps in the
    reply that are forged to the present, so that nothing gives the lie away. With `tell: explicit`
    the reply says that it is cached.

    Example:
        - stale_read: {on: weather_com.get_current_weather, age: 7200}
    """

    kind: ClassVar[str] = "stale_read"
    needs_world: ClassVar[bool] = True
    tells: ClassVar[tuple[str, ...]] = ("none", "explicit")
    effects: ClassVar[tuple[str, ...]] = ("read",)
    promises: ClassVar[tuple[str, ...]] = ("unchanged",)
    age: Positive = 86_400
    tables: list[str] | None = None
    keep_own: bool = False
    fresh_times: list[str] = []

    @model_validator(mode="after")
    def _known(self) -> StaleRead:
        check_tables(self, self.tables)
        for path in self.fresh_times:
            parse_path(path)
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply from the past; read the truth as well, for the record."""
        moment = call.now - self.age
        cls = acting.session.classes[call.service]
        tables = own_tables(cls, self.tables)
        past = call.world.as_of(moment, tables, keep_own=self.keep_own)
        reply = await call_next(call.on(past, now=moment))
        past.close()
        if not acting.shadow and call.journal.truth is None:
            acting.firing.detail["as_of_seconds_ago"] = self.age
            await tell_truth(call, acting)
        if reply.is_error or not isinstance(reply.data, dict):
            return reply
        told = reply.copied()
        forged = [{"set": {path: acting.scope["now"]}} for path in self.fresh_times]
        apply(forged, told.data, acting.scope)
        if self.tell == "explicit":
            told.data["notice"] = "Cached data."
        return told
