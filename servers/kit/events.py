"""The trace's events: a discriminated union, one JSON object a line. They carry no wall time, port or token."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from servers.kit.errors import InputError


@dataclass(slots=True)
class Firing:
    """One act of one fault on one call. `detail` says what it did; `failed` that it was due and could not."""

    fault: str
    kind: str
    number: int
    detail: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None


@dataclass(slots=True)
class Attempt:
    """One call as it was: what was true, what the agent saw, what it changed, and what it could learn from it.

    `arrived` is the last event whose reply was out when the call came in; `step` is the agent's step, or None where its adapter does
    not say. `at` and `until` are simulated moments (ISO). `truth` is the honest reply, None where the call was never performed.
    `effects` are log entries. `opened` names the obligations that this call opens, `evidence` those that its reply could settle,
    `tried` those that it might have. `bug` holds the text of an exception of ours; such a trace is judged unknown.
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
    args: dict[str, Any]
    seen: Any
    is_error: bool
    truth: Any = None
    firings: list[Firing] = field(default_factory=list)
    effects: list[dict[str, Any]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    bug: str | None = None
    event: Literal["attempt"] = "attempt"

    @property
    def name(self) -> str:
        """`service.tool`."""
        return f"{self.service}.{self.tool}"


@dataclass(slots=True)
class Message:
    """A text between user and agent. `about` is the key of the answer a user gave to a question, or "default"."""

    seq: int
    turn: int
    role: Literal["user", "assistant"]
    text: str
    at: str
    about: str | None = None
    event: Literal["message"] = "message"


@dataclass(slots=True)
class Notice:
    """Something the episode did by itself: services disclosed, a lifecycle's writes, a limit reached, the end."""

    seq: int
    turn: int
    at: str
    what: str
    detail: dict[str, Any] = field(default_factory=dict)
    event: Literal["notice"] = "notice"


Event = Attempt | Message | Notice
_KINDS: dict[str, type[Any]] = {"attempt": Attempt, "message": Message, "notice": Notice}


encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""JSON data as compact text, the form of traces and of replies on the wire."""


def to_json(event: Event) -> str:
    """Return the event as one line of canonical JSON."""
    fields = {
        name: getattr(event, name) for name in event.__slots__
    }  # asdict would copy every reply deeply
    if isinstance(event, Attempt):
        fields["firings"] = [asdict(f) for f in event.firings]
        if event.truth is event.seen:
            del fields["truth"]  # most replies are the truth; writing them once halves a trace
    return encode(fields)


def from_json(line: str) -> Event:
    """Return the event that `to_json` wrote. Raises `InputError` where the line is not one."""
    try:
        fields = json.loads(line)
        if fields["event"] == "attempt":
            fields.setdefault("truth", fields["seen"])
        made = _KINDS[fields["event"]](**fields)
    except (ValueError, KeyError, TypeError) as broken:
        raise InputError(f"not an event of a trace: {line[:80]!r} ({broken})") from None
    if isinstance(made, Attempt):
        made.firings = [Firing(**f) for f in fields["firings"]]
    return made
