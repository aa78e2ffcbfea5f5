"""What a check is: its finding, its trigger, the call patterns it is written with, and what it mentions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from servers.kit.call import Call
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.expr import check_predicate, matches
from servers.kit.expr.paths import parse
from servers.kit.selector import Selector
from servers.kit.service import tool

if TYPE_CHECKING:
    from judge.trace import Record

Setting = Literal["clean", "relaxed", "base"]
Aspect = Literal["outcome", "evidence", "safety", "recovery", "honesty"]
ALL: tuple[Setting, ...] = ("clean", "relaxed", "base")
_GROUPS = ("any_of", "all_of", "none_of")


@dataclass(frozen=True, slots=True)
class FaultFacts:
    """What became of one fault: how often it fired, was due and failed, and how many calls matched its target (`near`).

    Besides what its declaration gives: whether anything repairs it, and the calls that recover from it or expose it, each as
    `{tool: [patterns], where: conditions on arguments}`.
    """

    name: str
    kind: str
    required: bool = False
    fired: int = 0
    failed: int = 0
    near: int = 0
    repairable: bool = True
    recover: Sequence[Mapping[str, Any]] = ()
    exposed_by: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: true, false or unknown (None), one sentence why, and the events that show it."""

    value: bool | None
    why: str
    events: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Mentions:
    """What a check names, for the loader to cross-check: targets, tables with columns, faults, answers and other checks.

    `recovered` are faults of which it asks whether the agent recovered, so that they must say how one does.
    """

    targets: list[Selector] = field(default_factory=list)
    tables: dict[str, set[str]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    recovered: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    checks: set[str] = field(default_factory=set)

    def add(self, *others: Mentions) -> Mentions:
        """Take in what others mention and return this."""
        for other in others:
            self.targets += other.targets
            self.faults |= other.faults
            self.recovered |= other.recovered
            self.answers |= other.answers
            self.checks |= other.checks
            for table, columns in other.tables.items():
                self.tables.setdefault(table, set()).update(columns)
        return self


class Strict(BaseModel):
    """A model read from YAML: frozen, and an unknown key is an error that offers the nearest."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = {f.alias or name for name, f in cls.model_fields.items()}
            for key in data:
                if key not in known and key not in cls.model_fields:
                    raise UnknownName("key", str(key), known)
        return data


def _readable(predicate: dict[str, Any]) -> dict[str, Any]:
    used = check_predicate(predicate)
    if used:
        raise InputError(
            f"condition: checks know no names, but `${{…}}` uses {', '.join(sorted(used))}"
        )
    return predicate


Predicate = Annotated[dict[str, Any], AfterValidator(_readable)]
"""Paths and the conditions that their values must meet (`servers.kit.expr`)."""


def heads(predicate: Mapping[str, Any], *, groups: bool = True) -> Iterator[str]:
    """Yield the first names of a predicate's paths; with `groups`, those inside `any_of` and its like too."""
    for path, wanted in predicate.items():
        if path in _GROUPS:
            if groups:
                for inner in wanted:
                    yield from heads(inner)
        elif path and isinstance(parse(path)[0], str):
            yield str(parse(path)[0])


class CallPattern(Strict):
    """Which calls are meant: `venmo.send_money`, or a mapping with conditions on arguments, on the seen reply, and on success.

    An argument that no tool of the target takes is an error, except inside `any_of` and its like (a fault may rename arguments).
    """

    tool: Selector
    where: Predicate | None = None
    result: Predicate | None = None
    ok: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        return {"tool": data} if isinstance(data, str | list | Selector) else data

    @model_validator(mode="after")
    def _arguments(self) -> Self:
        known = {a for name in self.tool.tools for a in tool(name)[1].model.model_fields}
        for name in heads(self.where or {}, groups=False):
            if name not in known:
                raise UnknownName(
                    "argument", name, known, f"where, for {', '.join(self.tool.patterns)}"
                )
        return self

    def __str__(self) -> str:
        return ", ".join(self.tool.patterns) + (f" {self.where}" if self.where else "")

    def selects(self, service: str, name: str, args: Mapping[str, Any]) -> bool:
        """Return whether a call is meant, as far as can be told before its reply."""
        return self.tool.selects(service, name) and (
            self.where is None or matches(self.where, args)
        )

    def opens(self, call: Call) -> bool:
        """Return whether a call that is about to run is meant."""
        return self.selects(call.service, call.tool, call.args)

    def matches(self, attempt: Attempt) -> bool:
        """Return whether an attempt is meant."""
        if not self.selects(attempt.service, attempt.tool, attempt.args):
            return False
        if self.ok is not None and self.ok == attempt.is_error:
            return False
        return self.result is None or matches(self.result, attempt.seen)

    def before_reply(self, what: str) -> None:
        """Raise `InputError` where the pattern asks for what only a reply can tell."""
        if self.result is not None or self.ok is not None:
            raise InputError(
                f"{what} is decided before the reply: `result` and `ok` have no place here"
            )


class Condition(Strict):
    """A trigger: exactly one of `fired`, `not_fired` (a fault), `asked` (an answer's key) and `called` (a call pattern)."""

    fired: str | None = None
    not_fired: str | None = None
    asked: str | None = None
    called: CallPattern | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.fired, self.not_fired, self.asked, self.called)) != 1:
            raise InputError("when: wants exactly one of fired, not_fired, asked, called")
        return self

    def holds(self, record: Record) -> bool:
        """Return whether the trigger holds in a trace."""
        if self.called is not None:
            return bool(record.matching(self.called))
        if self.asked is not None:
            return self.asked in record.asked_about
        if self.fired is not None:
            return record.fired(self.fired)
        return not record.fired(self.not_fired or "")

    def __str__(self) -> str:
        return next(f"{k}: {v}" for k, v in self if v is not None)

    def mentions(self) -> Mentions:
        """Return what the trigger names."""
        faults = {f for f in (self.fired, self.not_fired) if f}
        targets = [self.called.tool] if self.called else []
        return Mentions(
            targets=targets, faults=faults, answers={self.asked} if self.asked else set()
        )


class Check(Strict):
    """One check. Kinds set `kind`, `default_settings` and `default_aspect` and judge a record.

    `in` lists the settings in which it counts; a `gate` must be true for a pass; `weight` is its share of the score; `when` is a trigger
    without which it does not apply.
    """

    kind: ClassVar[str]
    default_settings: ClassVar[tuple[Setting, ...]] = ALL
    default_aspect: ClassVar[Aspect] = "outcome"

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    settings: Annotated[tuple[Setting, ...], Field(alias="in", min_length=1)] = ALL
    aspect: Aspect = "outcome"
    gate: bool = True
    weight: Annotated[float, Field(gt=0)] = 1
    when: Condition | None = None

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        settings = {} if "settings" in data else {"in": list(cls.default_settings)}
        return {**settings, "aspect": cls.default_aspect, **data}

    def judge(self, record: Record) -> Finding:
        """Return what the check finds in a trace."""
        raise NotImplementedError

    def watches(self) -> list[Watch]:
        """Return the obligations that the session must keep for it."""
        return []

    def mentions(self) -> Mentions:
        """Return all names that the check mentions."""
        return self.when.mentions() if self.when else Mentions()

    def problems(self) -> list[str]:
        """Return what is wrong with it that reading alone does not show, a sentence each."""
        return []


def within(count: int, at_least: int | None, at_most: int | None) -> bool:
    """Return whether a count lies between two bounds, None being open."""
    return (at_least is None or count >= at_least) and (at_most is None or count <= at_most)


def wanted(at_least: int | None, at_most: int | None) -> str:
    """Return bounds in words: `exactly 1`, `at least 2`, `at most 1`, `1 to 3`."""
    if at_least == at_most:
        return f"exactly {at_least}"
    if at_most is None:
        return f"at least {at_least}"
    return f"at most {at_most}" if not at_least else f"{at_least} to {at_most}"


def times(count: int) -> str:
    """Return a number of times in words."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def at_events(events: list[int]) -> str:
    """Return ` (event 7)` or ` (events 7, 9)`, or nothing."""
    if not events:
        return ""
    return f" (event{'s' if len(events) > 1 else ''} {', '.join(map(str, events[:8]))}{', …' if len(events) > 8 else ''})"
