"""When a fault acts: among which calls (schedule), from when (`after`) and until when (`until`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from servers.kit.declared import Declared, NonNegative, Positive
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Attempt
from servers.kit.expr import check_predicate, matches
from servers.kit.selector import Selector

ASKED = frozenset({"args", "service", "tool", "now", "start", "faults"})
"""Names that a condition on a call may use, before anything has replied to it."""
CONSTANTS = frozenset({"true", "false", "null"})


def check_names(used: set[str], known: frozenset[str], where: str) -> None:
    """Refuse names that an expression cannot use in its place. Raises `UnknownName`."""
    for name in sorted(used - known - CONSTANTS):
        raise UnknownName("name", name, known, f"{where}: expression")


class Moment(Declared):
    """An event that arms or clears a fault: the first of its parts that comes true.

    - `calls`: for `after`, that many due calls have come; for `until`, the fault has acted on that
      many.
    - `seconds`: for `after`, simulated seconds since the start; for `until`, since the first
      firing.
    - `called`: a tool was called, `times` times; `where` is a condition on its arguments, `ok`
      whether it must have succeeded.
    - `fired`: another fault fired, `times` times.
    - `corrected` (for `until`): a call of the fault's own tools has arguments that meet the
      condition; that call goes through.

    Expressions in `where` and `corrected` are about that call: `args`, `service`, `tool`, `now`,
    `start` and `faults`.
    """

    calls: Positive | None = None
    seconds: Positive | None = None
    called: Selector | None = None
    where: dict[str, Any] = {}
    ok: bool | None = None
    fired: str | None = None
    times: Positive = 1
    corrected: dict[str, Any] = {}

    @model_validator(mode="after")
    def _some(self) -> Moment:
        counted = self.calls is not None or self.seconds is not None
        if not (counted or self.listens or self.corrected):
            raise InputError(
                "an event needs at least one of calls, seconds, called, fired, corrected"
            )
        check_names(check_predicate(self.where, "where"), ASKED, "where")
        check_names(check_predicate(self.corrected, "corrected"), ASKED, "corrected")
        if self.called is None and (self.where or self.ok is not None):
            raise InputError("`where` and `ok` are about a call; say which one: `called`")
        return self

    @property
    def listens(self) -> bool:
        """Whether it waits for a call or for a firing."""
        return self.called is not None or self.fired is not None

    def hears(self, attempt: Attempt, scope: Mapping[str, Any] | None = None) -> bool:
        """Return whether an attempt is the call that this moment waits for.

        `scope` is for expressions. Raises `ExpressionError` if one cannot be computed.
        """
        if self.called is None:
            return False
        effect = attempt.effect if self.called.open else None
        if not self.called.selects(attempt.service, attempt.tool, effect):
            return False
        if self.ok is not None and self.ok is attempt.is_error:
            return False
        return matches(self.where, attempt.args, scope)

    def times_in(self, attempt: Attempt, scope: Mapping[str, Any] | None = None) -> int:
        """Return how many awaited events an attempt holds: the call itself, and firings.

        `scope` is for expressions. Raises `ExpressionError` if one cannot be computed.
        """
        firings = 0 if self.fired is None else len(attempt.fired(self.fired))
        return firings + (1 if self.hears(attempt, scope) else 0)


class Schedule(Declared):
    """Which of the due calls a fault acts on: at most one of these fields; without any, all calls.

    `first: n`; `calls: [a, b]` (from the a-th to the b-th; null for no end); `every: k`;
    `probability: p` (drawn from the episode's seed); `sequence: [true, false, …]` (the last value
    repeats); `window: [a, b]` (in simulated seconds since the start).
    """

    first: Positive | None = None
    calls: tuple[Positive, Positive | None] | None = None
    every: Positive | None = None
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    sequence: Annotated[list[bool], Field(min_length=1)] | None = None
    window: tuple[NonNegative, NonNegative] | None = None

    @model_validator(mode="after")
    def _one(self) -> Schedule:
        given = [f for f in Schedule.model_fields if getattr(self, f) is not None]
        if len(given) > 1:
            raise InputError(f"a fault has at most one schedule; got {' and '.join(given)}")
        for field, ends in (("calls", self.calls), ("window", self.window)):
            if ends is not None and ends[1] is not None and ends[0] > ends[1]:
                raise InputError(f"{field}: [{ends[0]}, {ends[1]}] ends before it begins")
        return self

    def due(self, number: int, elapsed: int, draw: float) -> bool:
        """Return whether the fault acts on the `number`-th due call.

        `elapsed` is in seconds since the start; `draw` is in [0, 1).
        """
        if self.first is not None:
            return number <= self.first
        if self.calls is not None:
            begin, end = self.calls
            return begin <= number and (end is None or number <= end)
        if self.every is not None:
            return number % self.every == 0
        if self.probability is not None:
            return draw < self.probability
        if self.sequence is not None:
            return self.sequence[min(number, len(self.sequence)) - 1]
        return self.window is None or self.window[0] <= elapsed < self.window[1]

    @property
    def duration(self) -> str:
        """`permanent`, `transient` or `intermittent`, judged by the schedule alone."""
        if self.every or self.probability is not None or self.sequence:
            return "intermittent"
        if self.calls is not None and self.calls[1] is None:
            return "permanent"
        return "transient" if self.first or self.calls or self.window else "permanent"
