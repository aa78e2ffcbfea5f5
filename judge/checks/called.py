"""`called`: a call was made, so many times, and before another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from judge.finding import Finding, at_events, times, wanted, within
from judge.model import Check, Mentions
from judge.pattern import CallPattern
from servers.kit.declared import NonNegative

if TYPE_CHECKING:
    from judge.trace import Record


class Called(Check):
    """Calls that match `call` number `at_least` to `at_most`; the first came in before the first
    that matches `before` (if any does).
    """

    kind: ClassVar[str] = "called"

    call: CallPattern
    at_least: NonNegative = 1
    at_most: NonNegative | None = None
    before: CallPattern | None = None

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        found = record.matching(self.call)
        events = [a.seq for a in found]
        what = f"{self.call} was called {times(len(found))}{at_events(events)}"
        if not within(len(found), self.at_least, self.at_most):
            return Finding(
                False, f"{what}; {wanted(self.at_least, self.at_most)} was right", events
            )
        if self.before is not None and found:
            later = record.matching(self.before)
            if later and later[0].seq < found[0].seq:
                why = f"{self.call} first came in after {self.before}{at_events([later[0].seq, found[0].seq])}"
                return Finding(False, why, [later[0].seq, found[0].seq])
            what += f", before {self.before}"
        return Finding(True, what, events)

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        return (
            super()
            .mentions()
            .add(Mentions(targets=[self.call.tool] + ([self.before.tool] if self.before else [])))
        )

    def problems(self) -> list[str]:
        """See `Check.problems`."""
        if self.at_most is not None and self.at_most < self.at_least:
            return [
                f"at_most {self.at_most} is less than at_least {self.at_least} (1 unless written)"
            ]
        if self.at_least == 0 and self.at_most is None and self.before is None:
            return ["at_least 0 without at_most or before is always true"]
        return []
