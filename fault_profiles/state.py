"""A fault's state in the control record of an episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fault_profiles.schedule import Moment
from servers.kit.control import Control
from servers.kit.events import Attempt
from servers.kit.values import iso

ALL = "all"
"""The name under which expressions find what every firing of a fault kept."""


class Captured(Mapping[str, Any]):
    """The values that faults captured, by fault name, read when an expression uses them.

    `faults.<name>.<value>` is what the latest firing kept, and `faults.<name>.all` the list of what
    every firing kept, oldest first.
    """

    def __init__(self, control: Control) -> None:
        self._control = control

    def __getitem__(self, name: str) -> dict[str, Any]:
        kept = State.load(self._control, name).captured
        return {**(kept[-1] if kept else {}), ALL: kept}

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def scope_of(control: Control, attempt: Attempt) -> dict[str, Any]:
    """Return the scope of conditions on a call that was made."""
    return {
        "args": attempt.args,
        "service": attempt.service,
        "tool": attempt.tool,
        "now": attempt.at,
        "start": iso(control.start),
        "faults": Captured(control),
    }


@dataclass
class State:
    """A fault's state: due calls counted, firings, events heard of, values captured.

    `fired` counts all firings, `before` those of earlier rounds (a fault with `rearm` has several),
    and `first` is the moment of the current round's first firing. `captured` is what each firing
    kept.
    """

    control: Control
    name: str
    start: int
    near: int = 0
    fired: int = 0
    before: int = 0
    failed: int = 0
    first: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    heard: dict[str, int] = field(default_factory=dict)
    captured: list[dict[str, Any]] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, control: Control, name: str) -> State:
        """Return the state of a fault, a new one where none is stored."""
        if name in control.live:
            return control.live[name]
        kept = control.get_json("fault:" + name)
        made = cls(control, name, control.start) if kept is None else cls(control, name, **kept)
        if not control.shared:
            control.live[name] = made
        return made

    def save(self) -> None:
        """Store the state; while only one process holds the record, this object is the state."""
        if not self.control.shared:
            return
        fields = {k: v for k, v in vars(self).items() if k not in ("control", "name")}
        self.control.put_json("fault:" + self.name, fields)

    def reached(self, moment: Moment, now: int) -> bool:
        """Return whether enough calls (before this one) or seconds have passed to arm the fault."""
        if moment.calls is not None and self.near > moment.calls:
            return True
        return moment.seconds is not None and now - self.start >= moment.seconds
