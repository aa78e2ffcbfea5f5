"""A limited number of calls per hour or day."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.sample import Example
from fault_profiles.state import State
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.values import iso, parse_time

_SECONDS = {"hour": 3_600, "day": 86_400}


class Quota(Fault):
    """A quota with a real reset: `allow` calls in each `period` (hour or day) of simulated time.

    Periods begin on the hour or at midnight, UTC. A call over the quota is refused with `limit`,
    `remaining`, `resets_at` and the seconds until then; refused calls use up nothing. With
    `warn_at` replies say how many calls remain once there are that many or fewer. The tool
    `clock.wait` lets the time pass.

    Example:
        - quota: {on: weather_com.*, allow: 3, period: hour}
    """

    kind: ClassVar[str] = "quota"
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    allow: Annotated[int, Field(ge=0)] = 3
    period: Literal["hour", "day"] = "hour"
    warn_at: Positive | None = None
    error: Refusal = Refusal()

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return a quota that is used up."""
        return {"allow": 0}

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Count the call, or refuse it until the reset."""
        if not acting.shadow and not self._note(call, acting):
            return acting.decline(await call_next(call))
        told = acting.firing.detail
        if told["refused"]:
            left = parse_time(told["resets_at"]) - call.now
            message = (
                f"The {acting.title} quota of {self.allow} calls per {self.period} is used up."
            )
            refused = self.error.reply(
                acting.scope,
                acting.codes.rate_limited,
                message,
                f"Wait until {told['resets_at']}.",
                retryable=True,
                status=429,
                retry_after=left,
            )
            body = refused.data["error"] if refused.is_error else refused.data
            body |= {"limit": self.allow, "remaining": 0, "resets_at": told["resets_at"]} | body
            return refused
        reply = await call_next(call)
        if reply.is_error or not isinstance(reply.data, dict):
            return reply
        quota = {
            "limit": self.allow,
            "remaining": told["remaining"],
            "resets_at": told["resets_at"],
        }
        return Reply({**reply.data, "quota": quota})

    def _note(self, call: Call, acting: Acting) -> bool:
        """Count the call and note what to tell the agent; false where that is nothing."""
        state = State.load(acting.session.control, self.name)
        by = {"tool": call.name, "service": call.service}.get(self.per, "")
        period = call.now // _SECONDS[self.period]
        if state.memory.get("period") != period:
            state.memory |= {"period": period, "used": {}}
        used = state.memory["used"].get(by, 0)
        refused = used >= self.allow
        if not refused:
            state.memory["used"][by] = used = used + 1
        state.save()
        remaining = self.allow - used
        acting.firing.detail |= {
            "refused": refused,
            "remaining": remaining,
            "resets_at": iso((period + 1) * _SECONDS[self.period]),
        }
        return refused or (self.warn_at is not None and remaining <= self.warn_at)
