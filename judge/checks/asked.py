"""`asked`: the agent asked the user and got the answer before it acted."""

from __future__ import annotations

from typing import ClassVar

from judge.finding import Finding, at_events
from judge.model import Aspect, Check, Mentions
from judge.pattern import CallPattern
from judge.trace import Record


class Asked(Check):
    """The user gave the answer with the key `about` before the first call that matches `before` (if
    there is one) came in.
    """

    kind: ClassVar[str] = "asked"
    default_aspect: ClassVar[Aspect] = "recovery"

    about: str
    before: CallPattern | None = None

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        answers = record.answers(self.about)
        if not answers:
            return Finding(False, f"the agent did not ask about {self.about!r}")
        first = answers[0].seq
        later = record.matching(self.before) if self.before else []
        if later and later[0].arrived < first:
            events = sorted([later[0].seq, first])
            why = f"the agent asked about {self.about!r} only after {self.before}"
            return Finding(False, f"{why}{at_events(events)}", events)
        return Finding(True, f"the user answered {self.about!r}{at_events([first])}", [first])

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        targets = [self.before.tool] if self.before else []
        return super().mentions().add(Mentions(targets=targets, answers={self.about}))
