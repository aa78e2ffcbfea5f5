"""The events of a trace: a discriminated union, one JSON object per line.

Events contain no wall-clock time, port or token.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from servers.kit.errors import InputError, cut, quoted
from servers.kit.plain import from_json as from_plain_json
from servers.kit.plain import text_of
from servers.kit.store import Change
from servers.kit.types import Json


@dataclass(slots=True)
class Firing:
    """One act of one fault on one call.

    `detail` says what the fault did; `failed` says why it could not act although it was due.
    """

    fault: str
    kind: str
    number: int
    detail: Json = field(default_factory=dict)
    failed: str | None = None


@dataclass(slots=True)
class Attempt:
    """One call as it happened: the truth, what the agent saw, and what the call changed.

    `arrived` is the last event whose reply was out when the call came in. `step` is the agent's
    step, or None if its adapter does not report steps. `at` and `until` are simulated moments
    (ISO). `truth` is the honest reply, or None if the call was never performed. `effects` are
    entries of the world's log. `opened` names the obligations that this call opens, `evidence`
    those that its reply could settle, and `tried` those that it asked about in vain. `bug` holds
    the text of an exception of ours; such a trace is judged *unknown*.
    """

    seq: int
    turn: int
    step: int | None
    arrived: int
    at: str
    until: str
    service: str
    tool: str
    effect: str
    args: Json
    seen: Any
    is_error: bool
    truth: Any = None
    firings: list[Firing] = field(default_factory=list)
    effects: list[Change] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    bug: str | None = None
    event: Literal["attempt"] = "attempt"

    @property
    def name(self) -> str:
        """`service.tool`."""
        return f"{self.service}.{self.tool}"

    def fired(self, fault: str) -> list[Firing]:
        """Return the firings of a fault on this call, without those that were due and failed."""
        firings = (firing for firing in self.firings if firing.fault == fault)
        return [firing for firing in firings if firing.failed is None]


@dataclass(slots=True)
class Message:
    """A text between user and agent.

    `about` is the key of the user's answer to a question, several joined by "+", or "default".
    """

    seq: int
    turn: int
    role: Literal["user", "assistant"]
    text: str
    at: str
    about: str | None = None
    event: Literal["message"] = "message"

    @property
    def answered(self) -> tuple[str, ...]:
        """The keys of the answers that the user gave with this text."""
        if self.role != "user" or self.about in (None, "default"):
            return ()
        return tuple((self.about or "").split("+"))


@dataclass(slots=True)
class Notice:
    """Something that the episode did by itself: it disclosed services or reached a limit."""

    seq: int
    turn: int
    at: str
    what: str
    detail: Json = field(default_factory=dict)
    event: Literal["notice"] = "notice"


@dataclass(slots=True)
class End:
    """The last event: how the episode ended, every change since it began, and each fault's facts.

    `status` is done, limit, error, late, hung or crash; `reason` explains any status but done.
    `faults` are facts by the fault's name (see `judge.finding.FaultFacts`). `changes` is None if
    the trace does not have them. In JSON it is a notice whose `what` is "end" and whose `detail`
    holds these four fields.
    """

    seq: int
    turn: int
    at: str
    status: str
    faults: dict[str, Json] = field(default_factory=dict)
    changes: list[Change] | None = None
    reason: str | None = None

    def as_notice(self) -> Json:
        """Return the event as JSON data."""
        detail: Json = {
            "status": self.status,
            "faults": self.faults,
            "changes": self.changes,
        }
        if self.reason is not None:
            detail["reason"] = self.reason
        notice = Notice(self.seq, self.turn, self.at, "end", detail)
        return {name: getattr(notice, name) for name in notice.__slots__}

    @classmethod
    def from_notice(cls, notice: Json) -> End:
        """Return the event from which `as_notice` made this data."""
        detail = notice["detail"]
        return cls(
            notice["seq"],
            notice["turn"],
            notice["at"],
            detail.get("status", ""),
            detail.get("faults", {}),
            detail.get("changes"),
            detail.get("reason"),
        )


Event = Attempt | Message | Notice | End
_KINDS: dict[str, type[Any]] = {"attempt": Attempt, "message": Message, "notice": Notice}


MOST_TRACE = 200_000_000
"""How many bytes a trace may have."""

encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Return JSON data as compact text, the form of traces and of replies on the wire."""


def fields_of(made: Any) -> dict[str, Any]:
    """Return the fields of a dataclass with slots; what they hold is not copied, as by `asdict`."""
    return {name: getattr(made, name) for name in made.__slots__}


def to_json(event: Event) -> str:
    """Return the event as one line of canonical JSON."""
    if isinstance(event, End):
        return encode(event.as_notice())
    fields = fields_of(event)
    if isinstance(event, Attempt):
        fields["firings"] = [fields_of(firing) for firing in event.firings]
        # Most replies are the truth; writing them only once halves the size of a trace.
        if event.truth is event.seen:
            del fields["truth"]
    return encode(fields)


def from_json(line: str) -> Event:
    """Return the event that `to_json` wrote.

    Raises `InputError` if the line is not an event.
    """
    try:
        fields = from_plain_json(line)
        if fields["event"] == "attempt":
            fields.setdefault("truth", fields["seen"])
        if fields["event"] == "notice" and fields["what"] == "end":
            return End.from_notice(fields)
        event = _KINDS[fields["event"]](**fields)
        if isinstance(event, Attempt):
            event.firings = [Firing(**f) for f in fields["firings"]]
    except (ValueError, KeyError, TypeError) as broken:
        raise InputError(
            f"not an event of a trace: {quoted(line)} ({cut(str(broken), 200)})"
        ) from None
    return event


def read_trace(path: Path) -> list[Event]:
    """Return the events of a trace's file.

    Raises `InputError` with the line that is not an event, or if the file cannot be read.
    """
    events: list[Event] = []
    for number, line in enumerate(text_of(path, MOST_TRACE).splitlines(), 1):
        try:
            events.append(from_json(line))
        except InputError as wrong:
            raise InputError(f"{path}: line {number}: {wrong}") from None
    return events


def end_of(events: Sequence[Event]) -> End | None:
    """Return the event that ended a trace, or None if the trace was cut off."""
    return next((e for e in reversed(events) if isinstance(e, End)), None)
