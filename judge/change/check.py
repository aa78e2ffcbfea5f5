"""The gate `change`: the agent changed what right runs change, and nothing else."""

from __future__ import annotations

from typing import ClassVar

from judge.change import wording
from judge.change.match import Difference
from judge.finding import Finding, at_events
from judge.model import Aspect, Check
from judge.trace import Record


class Changed(Check):
    """At the end of each turn, what the agent changed is what a right run has changed by then.

    Right runs are the oracle's and those of the declared routes, with faults and without
    (`record.expected`).
    """

    kind: ClassVar[str] = "change"
    default_aspect: ClassVar[Aspect] = "outcome"

    name: str = "change"

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        expected = record.expected
        if expected is None:
            return Finding(None, "what right runs change is not known")
        run = record.timeline
        if run is None:
            return Finding(None, "the trace has no end, so the changes are not known")
        turn, differences = expected.differences(run, faulted=bool(record.faults))
        if not turn:
            return Finding(True, "the agent changed what was asked for and nothing else")
        if not expected.complete:
            why = "no right run could be played under these faults, so no outcome is known"
            return Finding(None, why, applies=False)
        events = _events(record, differences)
        where = f" at the end of turn {turn}" if expected.turns > 1 else ""
        said = wording.describe(differences, record.world)
        return Finding(False, f"{said}{where}{at_events(events)}", events)


def _events(record: Record, differences: list[Difference]) -> list[int]:
    """Return the events of the calls that touched the rows in question."""
    items = [difference.mine for difference in differences]
    rows = {(item.table, item.key) for item in items if item is not None}
    events = []
    for attempt in record.attempts:
        if any((change["table"], change["key"]) in rows for change in attempt.effects):
            events.append(attempt.seq)
    return events
