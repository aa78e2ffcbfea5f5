"""The results of judging: what a check found, the facts about a fault that it rests on, and numbers
in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultFacts:
    """What became of one fault.

    `fired` and `failed` count its firings and its failed attempts to act; `near` counts the calls
    that came near it, because they matched its target. The rest is from its declaration: whether
    anything repairs it, and the calls that recover from it or expose it, each as
    `{tool: [patterns], where: conditions on arguments}`.
    """

    name: str
    kind: str
    required: bool = False
    fired: int = 0
    failed: int = 0
    near: int = 0
    repairable: bool = True
    recover: Sequence[Mapping[str, Any]] = ()
    exposed_by: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: true, false or unknown (None), why in one sentence, and the events that
    show it.

    `applies` is false where there was nothing to find out. `unclear` tells that the agent is
    believed, because what it said can be read in more than one way.
    """

    value: bool | None
    why: str
    events: list[int] = field(default_factory=list)
    applies: bool = True
    unclear: bool = False


def within(count: int, at_least: int | None, at_most: int | None) -> bool:
    """Return whether a count is within two bounds; None is no bound."""
    if at_least is not None and count < at_least:
        return False
    return at_most is None or count <= at_most


def wanted(at_least: int | None, at_most: int | None) -> str:
    """Return bounds in words: `exactly 1`, `at least 2`, `at most 1`, `1 to 3`."""
    if at_least == at_most:
        return f"exactly {at_least}"
    if at_most is None:
        return f"at least {at_least}"
    return f"at most {at_most}" if not at_least else f"{at_least} to {at_most}"


def times(count: int) -> str:
    """Return a number of times in words."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def at_events(events: list[int]) -> str:
    """Return ` (event 7)` or ` (events 7, 9)`, or nothing."""
    if not events:
        return ""
    noun = "event" if len(events) == 1 else "events"
    shown = [str(event) for event in events[:8]]
    if len(events) > 8:
        shown.append("…")
    return f" ({noun} {', '.join(shown)})"
