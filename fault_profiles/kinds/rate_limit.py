"""Too many calls: they are refused until simulated time has passed."""

from __future__ import annotations

from typing import ClassVar

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.state import State
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive


class RateLimit(Fault):
    """A rate limit with a real reset: at most `allow` calls within `window_seconds`.

    The window is simulated time. Further calls are refused with the time left; they do not use up
    the limit. The tool `clock.wait` (or any call, one second each) lets the window pass.

    Example:
        - rate_limit: {on: "venmo.*", allow: 2, window_seconds: 60}
    """

    kind: ClassVar[str] = "rate_limit"
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    allow: int = 0
    window_seconds: Positive = 60
    error: Refusal = Refusal()

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Refuse the call while the limit is used up, else pass it on."""
        if acting.shadow:
            return self._refuse(acting, acting.firing.detail["retry_after"])
        state = State.load(acting.session.control, self.name)
        now = acting.session.control.now
        opened = state.memory.get("opened")
        if self.allow == 0:
            opened = state.memory["opened"] = [now] if opened is None else opened
            used = bool(now - opened[0] < self.window_seconds)
        else:
            opened = [moment for moment in opened or [] if now - moment < self.window_seconds]
            state.memory["opened"] = opened
            used = len(opened) >= self.allow
        if not used:
            if self.allow:
                opened.append(now)
            state.save()
            return acting.decline(await call_next(call))
        state.save()
        left = self.window_seconds - (now - opened[0])
        acting.firing.detail["retry_after"] = left
        return self._refuse(acting, left)

    def _refuse(self, acting: Acting, left: int) -> Reply:
        message = f"Too many requests to {acting.title}."
        return self.error.reply(
            acting.scope,
            acting.codes.rate_limited,
            message,
            f"Wait {left} seconds.",
            retryable=True,
            status=429,
            retry_after=left,
        )
