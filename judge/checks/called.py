"""`called`: a call was made so many times, or before another one."""

from __future__ import annotations

from typing import ClassVar

from judge.finding import Finding, at_events, times, wanted, within
from judge.model import Check, Mentions
from judge.pattern import CallPattern
from judge.trace import Record
from servers.kit.declared import NonNegative


class Called(Check):
    """There are `at_least` to `at_most` calls that match `call`.

    The first of them came in before the first that matches `before`, if there is one.
    """

    kind: ClassVar[str] = "called"

    call: CallPattern
    at_least: NonNegative = 1
    at_most: NonNegative | None = None
    before: CallPattern | None = None

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        events = [attempt.seq for attempt in record.matching(self.call)]
        what = f"{self.call} was called {times(len(events))}{at_events(events)}"
        if not within(len(events), self.at_least, self.at_most):
            right = wanted(self.at_least, self.at_most)
            return Finding(False, f"{what}; expected {right}", events)
        if self.before is not None and events:
            later = record.matching(self.before)
            if later and later[0].seq < events[0]:
                order = [later[0].seq, events[0]]
                why = f"{self.call} was first called after {self.before}{at_events(order)}"
                return Finding(False, why, order)
            what += f", before {self.before}"
        return Finding(True, what, events)

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        patterns = [self.call, self.before] if self.before else [self.call]
        return super().mentions().add(Mentions(targets=[p.tool for p in patterns]))

    def problems(self) -> list[str]:
        """See `Check.problems`."""
        if self.at_most is not None and self.at_most < self.at_least:
            bounds = f"at_most {self.at_most} is less than at_least {self.at_least}"
            return [f"{bounds} (which is 1 by default)"]
        if self.at_least == 0 and self.at_most is None and self.before is None:
            return ["at_least 0 without at_most or before is always true"]
        return []
