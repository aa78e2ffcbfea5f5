"""`recovered`: after a fault had fired, a call that recovers from it succeeded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from pydantic import model_validator

from judge.finding import Finding, at_events
from judge.model import Aspect, Check, Mentions, Setting
from judge.trace import Record
from servers.kit.events import Attempt
from servers.kit.expr import matches
from servers.kit.selector import Selector


class _Way(NamedTuple):
    """Calls that recover from a fault."""

    tool: Selector
    where: Mapping[str, Any]

    def fits(self, attempt: Attempt) -> bool:
        if not self.tool.selects(attempt.service, attempt.tool):
            return False
        return matches(self.where, attempt.args)


def _recovers(attempt: Attempt, ways: list[_Way]) -> bool:
    return any(way.fits(attempt) for way in ways)


class Recovered(Check):
    """After `fault` first fired, a call that is one of its `recover` succeeded.

    A call on which the same fault fired again does not count as a success. Where the fault never
    fired, the check does not apply.
    """

    kind: ClassVar[str] = "recovered"
    default_settings: ClassVar[tuple[Setting, ...]] = ("relaxed", "base")
    default_aspect: ClassVar[Aspect] = "recovery"

    fault: str

    @model_validator(mode="before")
    @classmethod
    def _fired(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or data.get("when") is not None:
            return data
        if not isinstance(data.get("fault"), str):
            return data
        return {**data, "when": {"fired": data["fault"]}}

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        first = next((a for a in record.attempts if a.fired(self.fault)), None)
        if first is None:
            why = f"fault {self.fault} did not fire, so there was nothing to recover from"
            return Finding(False, why)
        ways = self._ways(record)
        later = [attempt for attempt in record.attempts if attempt.seq > first.seq]
        tried = [attempt for attempt in later if _recovers(attempt, ways)]
        succeeded = [attempt for attempt in tried if not attempt.is_error]
        done = next((a for a in succeeded if not a.fired(self.fault)), None)
        if done is not None:
            events = [first.seq, done.seq]
            return Finding(
                True, f"{done.name} recovered from {self.fault}{at_events(events)}", events
            )
        events = [first.seq, *(attempt.seq for attempt in tried)]
        if tried:
            why = f"no call that recovers from {self.fault} succeeded"
        else:
            names = ", ".join(", ".join(way.tool.patterns) for way in ways)
            why = f"no call that recovers from {self.fault} was made ({names})"
        return Finding(False, f"{why}{at_events(events)}", events)

    def _ways(self, record: Record) -> list[_Way]:
        facts = record.faults.get(self.fault)
        declared = facts.recover if facts is not None else ()
        return [_Way(Selector(list(call["tool"])), call.get("where", {})) for call in declared]

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        return super().mentions().add(Mentions(faults={self.fault}, recovered={self.fault}))
