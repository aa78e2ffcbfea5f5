"""Several copies of the data that disagree."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.sample import Example
from fault_profiles.state import State
from fault_profiles.worlds import check_tables, own_tables
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError


class ReplicaDisagreement(Fault):
    """Read replicas that disagree: each read is served by one of several copies that lag behind.

    `lags` is the lag of each copy in simulated seconds; 0 is the truth. The copies take turns in
    the order given, or one is drawn from the seed (`by: draw`), so reading again may give a
    different reply. `tables` are the ones that lag (default: all of the provider's); `keep_own`
    spares what the agent itself wrote. A copy that agrees with the truth is not a firing.

    Example:
        - replica_disagreement: {on: "reads:venmo.*", lags: [0, 3600]}
    """

    kind: ClassVar[str] = "replica_disagreement"
    needs_world: ClassVar[bool] = True
    effects: ClassVar[tuple[str, ...]] = ("read",)
    promises: ClassVar[tuple[str, ...]] = ("altered", "unchanged")
    lags: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = [0, 3_600]
    by: Literal["turns", "draw"] = "turns"
    tables: list[str] | None = None
    keep_own: bool = False

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return one copy that is a month old."""
        return {"lags": [30 * 86_400]}

    @model_validator(mode="after")
    def _known(self) -> ReplicaDisagreement:
        if not any(self.lags):
            raise InputError(
                "lags: copies that do not lag agree; give at least one a lag in seconds"
            )
        check_tables(self, self.tables)
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply from the copy whose turn it is."""
        if acting.shadow:
            return await self._answer(call, call_next, acting, acting.firing.detail["lag"])
        state = State.load(acting.session.control, self.name)
        turn = state.memory["turn"] = state.memory.get("turn", 0) + 1
        state.save()
        copy = turn - 1
        if self.by == "draw":
            copy = int(acting.session.control.draw(self.name, "copy", turn) * len(self.lags))
        lag = self.lags[copy % len(self.lags)]
        if lag == 0:
            return acting.decline(await call_next(call))
        honest = await acting.session.peek(call)
        reply = await self._answer(call, call_next, acting, lag)
        if call.journal.truth is None:
            call.journal.truth = honest
        acting.firing.detail["lag"] = lag
        return acting.decline(reply) if reply.data == honest.data else reply

    async def _answer(self, call: Call, call_next: Next, acting: Acting, lag: int) -> Reply:
        moment = call.now - lag
        tables = own_tables(acting.session.classes[call.service], self.tables)
        past = call.world.as_of(moment, tables, keep_own=self.keep_own)
        reply = await call_next(call.on(past, now=moment))
        past.close()
        return reply
