"""`recovered`: after a fault had fired, the agent made a call that recovers from it, and it
succeeded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from judge.finding import Finding, at_events
from judge.model import Aspect, Check, Mentions, Setting
from servers.kit.events import Attempt
from servers.kit.expr import matches
from servers.kit.selector import Selector

if TYPE_CHECKING:
    from judge.trace import Record


class Recovered(Check):
    """A call that fits one of the `recover` of `fault` succeeded after the fault first fired; it
    does not apply where it never fired.

    A call on which the same fault fired again is no success.
    """

    kind: ClassVar[str] = "recovered"
    default_settings: ClassVar[tuple[Setting, ...]] = ("relaxed", "base")
    default_aspect: ClassVar[Aspect] = "recovery"

    fault: str

    @model_validator(mode="before")
    @classmethod
    def _fired(cls, data: Any) -> Any:
        if (
            isinstance(data, Mapping)
            and data.get("when") is None
            and isinstance(data.get("fault"), str)
        ):
            return {**data, "when": {"fired": data["fault"]}}
        return data

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        first = next((a for a in record.attempts if self._fires(a)), None)
        if first is None:
            return Finding(
                False, f"fault {self.fault} did not fire, so that there was nothing to recover from"
            )
        facts = record.faults.get(self.fault)
        ways = [
            (Selector(list(w["tool"])), w.get("where", {}))
            for w in (facts.recover if facts is not None else ())
        ]
        later = [a for a in record.attempts if a.seq > first.seq]
        tried = [
            a
            for a in later
            if any(t.selects(a.service, a.tool) and matches(where, a.args) for t, where in ways)
        ]
        done = next((a for a in tried if not a.is_error and not self._fires(a)), None)
        if done is not None:
            return Finding(
                True,
                f"{done.name} recovered from {self.fault}{at_events([first.seq, done.seq])}",
                [first.seq, done.seq],
            )
        events = [first.seq, *(a.seq for a in tried)]
        if tried:
            return Finding(
                False,
                f"no call that recovers from {self.fault} succeeded{at_events(events)}",
                events,
            )
        names = ", ".join(p for t, _ in ways for p in t.patterns)
        return Finding(
            False,
            f"nothing that recovers from {self.fault} was called ({names}){at_events(events)}",
            events,
        )

    def _fires(self, attempt: Attempt) -> bool:
        return any(f.fault == self.fault and f.failed is None for f in attempt.firings)

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        return super().mentions().add(Mentions(faults={self.fault}, recovered={self.fault}))
