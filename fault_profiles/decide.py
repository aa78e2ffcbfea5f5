"""Decides whether a fault acts on a call, and makes it act: the running part of the envelope.

Most calls meet faults that do not act on them. So everything that follows from the declaration
alone is computed once per session, and a call on which no fault acts costs one counter.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fault_profiles.schedule import Moment
from fault_profiles.state import Captured, State
from servers.kit.call import Call, Next, Reply
from servers.kit.events import Firing
from servers.kit.evidence import fired
from servers.kit.expr import get, matches, names, render
from servers.kit.service import Codes
from servers.kit.session import Session
from servers.kit.values import iso

if TYPE_CHECKING:
    from fault_profiles.model import Fault


@dataclass
class Acting:
    """What `act` works with: the firing to describe, the scope of expressions, and the session.

    With `shadow`, `act` repeats an earlier firing in another world and changes no state.
    """

    session: Session
    firing: Firing
    scope: dict[str, Any]
    shadow: bool
    declined: bool = False

    def decline(self, reply: Reply) -> Reply:
        """Pass a reply on and do not count this call: there was nothing to act on.

        For example, the service itself refused the call.
        """
        self.declined = True
        return reply

    def fail(self, reply: Reply, why: str) -> Reply:
        """Pass a reply on and record that the fault was due but could not act.

        The verdict is then unknown.
        """
        self.firing.failed = why
        return reply

    @property
    def codes(self) -> Codes:
        """The provider's error codes."""
        return self.session.classes[self.scope["service"]].codes

    @property
    def title(self) -> str:
        """The provider's display name."""
        return self.session.classes[self.scope["service"]].title


class Decider:
    """One fault in one session.

    `run` is its layer. Where the fault does not act, `run` returns the inner awaitable itself, not
    one more coroutine around it.
    """

    def __init__(self, fault: Fault, session: Session) -> None:
        self._fault = fault
        self._session = session
        self._control = session.control
        self._live = None if session.control.shared else State.load(session.control, fault.name)
        self._where = fault.where
        self._computes = bool(names(fault.where))
        self._asks = fault.stored is not None or bool(fault.result)
        self._always_armed = fault.after is None and fault.until is None
        self._corrected = fault.until.corrected if fault.until is not None else {}
        self._one_count = fault.per == "fault"
        # A certain outcome needs no draw.
        self._rolls = fault.probability is not None and 0 < fault.probability < 1
        self._timed = fault.window is not None
        self._due = fault.due

    def run(self, call: Call, call_next: Next) -> Awaitable[Reply]:
        """Pass a call on, or act on it."""
        if call.shadow:
            firing = fired(call, self._fault.name)
            if firing is None:
                return call_next(call)
            acting = Acting(self._session, firing, self._scope(call), shadow=True)
            return self._fault.act(call, call_next, acting)
        if self._where:
            scope = self._scope(call) if self._computes else None
            if not matches(self._where, call.args, scope):
                return call_next(call)
        if self._asks:
            return self._ask(call, call_next)
        by = self._due_on(call)
        return call_next(call) if by is None else self._fire(call, call_next, by)

    async def _ask(self, call: Call, call_next: Next) -> Reply:
        by = self._due_on(call) if await self._conditions_hold(call) else None
        return await (call_next(call) if by is None else self._fire(call, call_next, by))

    def _state(self) -> State:
        return self._live or State.load(self._control, self._fault.name)

    def _due_on(self, call: Call) -> str | None:
        """Count a call that the conditions match; return its counter if the fault acts on it."""
        state = self._live or self._state()
        state.near += 1
        until = self._fault.until
        if self._corrected and until is not None and matches(self._corrected, call.args):
            state.heard["until"] = until.times
        acts = False
        by = "fault" if self._one_count else self._counted_by(call)
        if self._always_armed or armed(self._fault, self._control.now, state):
            number = state.counts[by] = state.counts.get(by, 0) + 1
            elapsed = self._control.now - state.start if self._timed else 0
            draw = 0.0
            if self._rolls:
                draw = self._control.draw(self._fault.name, call.name, call.args, number)
            acts = self._due(number, elapsed, draw)
        if self._live is None:
            state.save()
        return by if acts else None

    async def _fire(self, call: Call, call_next: Next, by: str) -> Reply:
        fault = self._fault
        firing = Firing(fault.name, fault.kind, self._state().fired + 1)
        scope = self._scope(call) | {"number": firing.number}
        acting = Acting(self._session, firing, scope, shadow=False)
        reply = await fault.act(call, call_next, acting)
        state = self._state()
        if acting.declined:
            state.counts[by] -= 1
        else:
            call.journal.firings.append(firing)
            if firing.failed is None:
                state.fired += 1
            else:
                state.failed += 1
            if state.first is None:
                state.first = self._control.now
            if fault.capture:
                state.captured = render(fault.capture, acting.scope | {"reply": reply.data})
        state.save()
        return reply

    def _counted_by(self, call: Call) -> str:
        per = self._fault.per
        if per == "record":
            return f"record={call.record()!r}"
        known = {"fault": "fault", "tool": call.name, "service": call.service}
        return known[per] if per in known else f"{per}={get(call.args, per)!r}"

    async def _conditions_hold(self, call: Call) -> bool:
        scope = self._scope(call)
        stored = self._fault.stored
        if stored is not None:
            rows = call.world.rows(stored.table)
            if not any(matches(stored.where, row, scope) for row in rows):
                return False
        if not self._fault.result:
            return True
        honest = await self._session.peek(call)
        return matches(self._fault.result, honest.data, scope)

    def _scope(self, call: Call) -> dict[str, Any]:
        return {
            "args": call.args,
            "service": call.service,
            "tool": call.tool,
            "now": iso(call.now),
            "start": iso(self._control.start),
            "faults": Captured(self._control),
        }


def armed(fault: Fault, now: int, state: State) -> bool:
    """Return whether a fault is armed; reset it if it has cleared and may arm again."""
    after = fault.after
    if after is not None:
        heard = state.heard.get("after", 0) >= after.times
        if not heard and not state.reached(after, now):
            return False
    if fault.until is None:
        return True
    cleared = _cleared(fault.until, now, state)
    if cleared and fault.rearm:
        state.before = state.fired
        state.first = None
        state.heard = {}
        state.counts = {}
    return not cleared


def _cleared(until: Moment, now: int, state: State) -> bool:
    if until.calls is not None and state.fired - state.before >= until.calls:
        return True
    since = now if state.first is None else state.first
    if until.seconds is not None and now - since >= until.seconds:
        return True
    return state.heard.get("until", 0) >= until.times
