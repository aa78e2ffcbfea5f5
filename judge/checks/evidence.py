"""`evidence`: the agent saw a reply that could have told it how a write, or a fault's lie, turned
out.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from judge.finding import Finding, at_events
from judge.model import Aspect, Check, Mentions, Setting
from judge.pattern import CallPattern
from judge.trace import Record
from servers.kit.declared import Declared
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.service import tool


class Subject(Declared):
    """What opens an obligation: a matching `write`, even a failed one, or a firing of a `fault`.

    `exposed_by` names readings that could expose the matter. A lie that exists only in replies is
    settled by one of these readings when it tells the truth.
    """

    write: CallPattern | None = None
    fault: str | None = None
    exposed_by: tuple[CallPattern, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _lists(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("exposed_by"), str | dict):
            return data | {"exposed_by": [data["exposed_by"]]}
        return data

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.write is None) == (self.fault is None):
            raise InputError(
                "of: needs exactly one of write and fault, or the name of another evidence check"
            )
        if self.write is not None:
            self.write.before_reply("of.write")
            reads = sorted(t for t in self.write.tool.tools if tool(t)[1].effect == "read")
            if reads:
                raise InputError(f"of.write: {reads[0]} only reads")
        for reading in self.exposed_by:
            reading.before_reply("exposed_by")
        return self

    def watch(self, name: str) -> Watch:
        """Return the watch that a session keeps for this subject."""
        write = self.write
        readings = self.exposed_by

        def exposed(service: str, name: str, args: dict[str, Any]) -> bool:
            return any(r.selects(service, name, args) for r in readings)

        opens = write.opens if write else lambda call: True
        return Watch(name, opens, self.fault, exposed if readings else None)


class Evidence(Check):
    """The agent saw a reply that settled what it had to find out.

    That must hold for every subject opened (`each: true`), for at least one (`false`) or for the
    `last`. Where a fault never fired, there was nothing to find out, and the check does not apply;
    where a write was never attempted, it is false. `if_none` (`fail` or `pass`) says otherwise.
    `of: <name>` shares the subjects of another evidence check.
    """

    kind: ClassVar[str] = "evidence"
    default_settings: ClassVar[tuple[Setting, ...]] = ("base",)
    default_aspect: ClassVar[Aspect] = "evidence"

    of: str | Subject
    each: bool | Literal["last"] = True
    if_none: Literal["fail", "pass"] | None = None

    @property
    def subject(self) -> str:
        """The name under which its obligations are kept."""
        return self.of if isinstance(self.of, str) else self.name

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        opened = record.opened(self.subject)
        if not opened and self.if_none is None and self._of_fault:
            return Finding(None, self._nothing(), applies=False)
        if not opened:
            return Finding(self.if_none == "pass", self._nothing())
        chosen = dict(list(opened.items())[-1:]) if self.each == "last" else opened
        still_open: dict[str, Attempt] = {}
        settled_by: set[int] = set()
        for subject, start in chosen.items():
            settling = record.settled(subject)
            if settling is None:
                still_open[subject] = start
            else:
                settled_by.add(settling.seq)
        if not still_open or (self.each is False and len(still_open) < len(chosen)):
            seen = sorted(settled_by)
            why = f"the agent saw how {self.subject} turned out{at_events(seen)}"
            return Finding(True, why, seen)
        first = min(still_open.values(), key=lambda a: a.seq)
        events = sorted(a.seq for a in still_open.values())
        why = f"the agent saw no reply after {first.name}{at_events(events)} "
        why += "that could have shown how it turned out"
        return Finding(False, why, events)

    @property
    def _of_fault(self) -> bool:
        return isinstance(self.of, Subject) and self.of.fault is not None

    def _nothing(self) -> str:
        if isinstance(self.of, Subject) and self._of_fault:
            return f"fault {self.of.fault!r} never fired, so there was nothing to find out"
        pattern = self.of.write if isinstance(self.of, Subject) else self.of
        return f"the write was never attempted, or was refused regardless of any fault ({pattern})"

    def watches(self) -> list[Watch]:
        """See `Check.watches`."""
        return [] if isinstance(self.of, str) else [self.of.watch(self.name)]

    def mentions(self) -> Mentions:
        """See `Check.mentions`."""
        mentions = super().mentions()
        if isinstance(self.of, str):
            return mentions.add(Mentions(checks={self.of}))
        patterns = [*self.of.exposed_by]
        if self.of.write:
            patterns.insert(0, self.of.write)
        faults = {self.of.fault} if self.of.fault else set()
        return mentions.add(Mentions(targets=[p.tool for p in patterns], faults=faults))
