"""Decides whether a fault acts on a call, and makes it act: the running part of the envelope.

Most calls meet faults that do not act on them. So everything that follows from the declaration
alone is computed once per session, and a call on which no fault acts costs one counter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fault_profiles.rows import Stored
from fault_profiles.schedule import Moment
from fault_profiles.state import Captured, State
from servers.kit.call import Call, Next, Reply
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Firing
from servers.kit.evidence import fired
from servers.kit.expr import get, matches, names, render, taken
from servers.kit.plain import is_plain, made_plain
from servers.kit.service import Codes
from servers.kit.session import Session
from servers.kit.values import fresh, iso

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
    repeats: bool = False

    def decline(self, reply: Reply, *, repeats: bool = False) -> Reply:
        """Pass a reply on and do not count this call: there was nothing to act on.

        For example, the service itself refused the call. With `repeats`, the fault passed on
        another call than it got, and does so in other worlds, too.
        """
        self.declined = True
        self.repeats = repeats
        return reply

    def fail(self, reply: Reply, why: str) -> Reply:
        """Pass a reply on and record that the fault was due but could not act.

        The verdict is then unknown.
        """
        if not self.shadow:
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
        self._keeps_reply = "reply" in names(fault.capture)
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
            return self._act(call, _Kept(call_next), acting)
        if self._where:
            scope = self._scope(call) if self._computes else None
            if not self._meets(self._where, call.args, call, scope):
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
        corrected = bool(self._corrected) and self._meets(
            self._corrected, call.args, call, self._scope(call)
        )
        state = self._live or self._state()
        state.near += 1
        until = self._fault.until
        if corrected and until is not None:
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
        inner = _Kept(call_next)
        reply = await self._act(call, inner, acting)
        if not (is_plain(reply.data) and is_plain(firing.detail)):
            # Python would write NaN and the infinities as if they were JSON.
            reply = replace(reply, data=made_plain(reply.data))
            firing.detail = made_plain(firing.detail)
            acting.fail(reply, "it makes a number that JSON cannot hold")
        state = self._state()
        if acting.declined:
            state.counts[by] -= 1
            call.journal.quiet += [firing] if acting.repeats else []
        else:
            call.journal.firings.append(firing)
            if fault.capture and firing.failed is None:
                kept = await self._capture(call, inner, reply, acting)
                state.captured += [] if kept is None else [kept]
            if firing.failed is None:
                state.fired += 1
            else:
                state.failed += 1
            if state.first is None:
                state.first = self._control.now
        state.save()
        return reply

    async def _act(self, call: Call, inner: _Kept, acting: Acting) -> Reply:
        """Let the fault act.

        What does not fit the data that it meets is a fault that could not act, never a crash.
        """
        try:
            return await self._fault.act(call, inner, acting)
        except InputError as wrong:
            if wrong is inner.crash:
                raise
            call.world.rollback()
            reply = inner.reply if inner.reply is not None else await inner(call)
            return acting.fail(reply, str(wrong))

    async def _capture(
        self, call: Call, inner: _Kept, reply: Reply, acting: Acting
    ) -> dict[str, Any] | None:
        """Return the values that a firing keeps, or None if they cannot be computed.

        `reply` is what the service honestly said or would have said.
        """
        scope = {**acting.scope, "seen": reply.data}
        if self._keeps_reply:
            honest = call.journal.truth or inner.reply
            if honest is None and not self._fault.on.open:
                honest = await self._session.peek(call)
            scope["reply"] = None if honest is None else honest.data
        try:
            return fresh(render(self._fault.capture, scope))
        except InputError as wrong:
            acting.fail(reply, f"capture: {wrong}")
            return None

    def _counted_by(self, call: Call) -> str:
        per = self._fault.per
        if per == "record":
            return f"record={call.record()!r}"
        known = {"fault": "fault", "tool": call.name, "service": call.service}
        return known[per] if per in known else f"{per}={get(call.args, per)!r}"

    async def _conditions_hold(self, call: Call) -> bool:
        scope = self._scope(call)
        stored = self._fault.stored
        try:
            if stored is not None and stored.find(call.world, scope) is None:
                return False
        except InputError as wrong:
            return self._unmet(call, stored, wrong)
        if not self._fault.result:
            return True
        honest = await self._session.peek(call)
        scope["reply"] = honest.data
        return self._meets(self._fault.result, honest.data, call, scope)

    def _meets(
        self, predicate: Mapping[str, Any], data: Any, call: Call, scope: dict[str, Any] | None
    ) -> bool:
        """Return whether data meets a condition; one that cannot be computed does not hold."""
        try:
            return matches(predicate, data, scope)
        except InputError as wrong:
            return self._unmet(call, predicate, wrong)

    def _unmet(self, call: Call, condition: Any, wrong: InputError) -> bool:
        """Take note of a condition that could not be computed, unless it waits for a firing."""
        if isinstance(condition, Stored):
            condition = condition.model_dump()
        if not waits(condition, self._control):
            fault = self._fault
            state = self._state()
            number = state.fired + 1
            call.journal.firings.append(Firing(fault.name, fault.kind, number, failed=str(wrong)))
            state.failed += 1
            state.save()
        return False

    def _scope(self, call: Call) -> dict[str, Any]:
        return {
            "args": call.args,
            "service": call.service,
            "tool": call.tool,
            "now": iso(call.now),
            "start": iso(self._control.start),
            "faults": Captured(self._control),
        }


class _Kept:
    """Everything further in, with the last reply that came from there or the error that it was."""

    def __init__(self, call_next: Next) -> None:
        self._next = call_next
        self.reply: Reply | None = None
        self.crash: InputError | None = None

    async def __call__(self, call: Call) -> Reply:
        try:
            self.reply = await self._next(call)
        except InputError as wrong:
            self.crash = wrong
            raise
        return self.reply


def waits(condition: Any, control: Control) -> bool:
    """Return whether a condition uses values of a fault that has kept none yet."""
    return any(not State.load(control, name).captured for name in taken(condition, "faults"))


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
