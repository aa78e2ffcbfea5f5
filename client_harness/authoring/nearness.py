"""Why a fault did not fire on a call that came near it, in words for its author.

Nothing is recorded for this while an episode runs: it follows from the declaration, from the
fault's counters before and after the call, and from the call itself.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fault_profiles.decide import armed
from fault_profiles.model import Fault
from fault_profiles.state import Captured, State
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.expr import matches
from servers.kit.session import Session
from servers.kit.values import parse_time

_SCHEDULE = ("first", "calls", "every", "probability", "sequence", "window")


@dataclass(frozen=True)
class Miss:
    """A fault that a call came near and that did not fire.

    `how` is met (an outer fault answered), conditions, not armed, cleared, not due, or declined.
    """

    fault: str
    kind: str
    how: str
    why: str


def counters(session: Session, faults: Sequence[Fault]) -> dict[str, State]:
    """Return a copy of each fault's state, to compare with after the next call."""
    kept = {}
    for fault in faults:
        state = copy.copy(State.load(session.control, fault.name))
        state.counts = dict(state.counts)
        state.heard = dict(state.heard)
        kept[fault.name] = state
    return kept


def misses(
    session: Session, faults: Sequence[Fault], before: Mapping[str, State], attempt: Attempt
) -> list[Miss]:
    """Return why each fault on the called tool that did not fire did not."""
    missed = []
    cls = session.classes.get(attempt.service)
    spec = cls.tools.get(attempt.tool) if cls is not None else None
    if cls is None or spec is None:
        return []
    fired = {firing.fault for firing in attempt.firings}
    answered = ""
    for fault in faults:
        if not fault.handles(cls, spec):
            continue
        if fault.name in fired:
            answered = fault.name if fault.denies else answered
            continue
        how, why = _why(session, fault, before[fault.name], attempt, answered)
        missed.append(Miss(fault.name, fault.kind, how, why))
    return missed


def _why(
    session: Session, fault: Fault, before: State, attempt: Attempt, answered: str
) -> tuple[str, str]:
    after = State.load(session.control, fault.name)
    if after.near == before.near:
        if answered:
            return "met", f"the fault {answered}, which is further out, answered in its place"
        return "conditions", _unmet(session, fault, attempt)
    then = copy.copy(before)
    then.near = after.near
    now = parse_time(attempt.at)
    if not armed(fault, now, then):
        if _was_armed(fault, now, then):
            return "cleared", f"it has cleared (until {_short(fault.until)})"
        return "not armed", f"it is not armed yet (after {_short(fault.after)})"
    if sum(after.counts.values()) == sum(before.counts.values()):
        return "declined", _declined(fault, attempt)
    given = [f"{name}: {getattr(fault, name)}" for name in _SCHEDULE if getattr(fault, name, None)]
    number = sum(after.counts.values())
    counted = f"this is call {number} that meets it"
    if fault.per != "fault":
        counted = f"calls are counted per {fault.per}"
    return "not due", f"{counted}, and its schedule is {', '.join(given)}"


def _was_armed(fault: Fault, now: int, state: State) -> bool:
    if fault.after is None or state.heard.get("after", 0) >= fault.after.times:
        return True
    return state.reached(fault.after, now)


def _unmet(session: Session, fault: Fault, attempt: Attempt) -> str:
    scope = {
        "args": attempt.args,
        "service": attempt.service,
        "tool": attempt.tool,
        "now": attempt.at,
        "faults": Captured(session.control),
    }
    for path, wanted in fault.where.items():
        try:
            if not matches({path: wanted}, attempt.args, scope):
                return f"its condition `where: {{{path}: {_flat(wanted)}}}` does not hold"
        except InputError as wrong:
            return f"its condition on {path} could not be computed: {wrong}"
    unmet = []
    if fault.stored is not None:
        tables = " or ".join(sorted(fault.stored.tables))
        unmet.append(f"no row of {tables} is as `stored` says")
    if fault.result:
        unmet.append(f"the honest reply is not as `result: {_flat(fault.result)}` says")
    return " or ".join(unmet) or "an inner part of the call was never reached"


def _declined(fault: Fault, attempt: Attempt) -> str:
    refused = attempt.is_error or (isinstance(attempt.truth, dict) and "error" in attempt.truth)
    if refused:
        return "the service itself refused the call, so there was nothing to act on"
    if getattr(fault, "reply", None):
        return "the reply has none of the places that its operations edit"
    return f"the call gave {fault.kind} nothing to act on"


def _short(moment: Any) -> str:
    given = moment.model_dump(mode="json", exclude_defaults=True)
    return ", ".join(f"{name}: {_flat(value)}" for name, value in given.items())


def _flat(value: Any) -> str:
    from client_harness.authoring.shown import flat

    return flat(value)
