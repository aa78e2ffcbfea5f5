"""What a check is: the settings and aspect in which it counts, its trigger, and the names that it
uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from judge.finding import Finding
from judge.pattern import CallPattern
from judge.trace import Record
from servers.kit.declared import Declared
from servers.kit.errors import InputError
from servers.kit.evidence import Watch
from servers.kit.selector import Selector

Setting = Literal["clean", "relaxed", "base"]
Aspect = Literal["outcome", "evidence", "safety", "recovery", "honesty"]
ALL: tuple[Setting, ...] = ("clean", "relaxed", "base")


@dataclass(slots=True)
class Mentions:
    """The names that a check uses, for the loader to cross-check.

    They are targets, faults, answers and other checks. `recovered` are the faults for which the
    check asks whether the agent recovered; those must say how one does.
    """

    targets: list[Selector] = field(default_factory=list)
    faults: set[str] = field(default_factory=set)
    recovered: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    checks: set[str] = field(default_factory=set)

    def add(self, *others: Mentions) -> Mentions:
        """Add what others mention to this and return it."""
        for other in others:
            self.targets += other.targets
            self.faults |= other.faults
            self.recovered |= other.recovered
            self.answers |= other.answers
            self.checks |= other.checks
        return self


class Trigger(Declared):
    """A trigger: exactly one of `fired`, `not_fired`, `asked` and `called`.

    `fired` and `not_fired` name a fault, `asked` is an answer's key and `called` a call pattern.
    """

    fired: str | None = None
    not_fired: str | None = None
    asked: str | None = None
    called: CallPattern | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.fired, self.not_fired, self.asked, self.called)) != 1:
            raise InputError("when: needs exactly one of fired, not_fired, asked, called")
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
        """Return the names that the trigger uses."""
        faults = {f for f in (self.fired, self.not_fired) if f}
        targets = [self.called.tool] if self.called else []
        answers = {self.asked} if self.asked else set()
        return Mentions(targets=targets, faults=faults, answers=answers)


class Check(Declared):
    """What every check has in common; a kind adds its own fields and `judge`.

    `in` lists the settings in which the check counts; a `gate` must be true for a pass; `weight` is
    its share of the score; without its trigger `when` the check does not apply.
    """

    kind: ClassVar[str]
    default_settings: ClassVar[tuple[Setting, ...]] = ALL
    default_aspect: ClassVar[Aspect] = "outcome"

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    settings: Annotated[tuple[Setting, ...], Field(alias="in", min_length=1)] = ALL
    aspect: Aspect = "outcome"
    gate: bool = True
    weight: Annotated[float, Field(gt=0)] = 1
    when: Trigger | None = None

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
        """Return the watches that a session must keep for this check."""
        return []

    def mentions(self) -> Mentions:
        """Return all names that the check uses."""
        return self.when.mentions() if self.when else Mentions()

    def problems(self) -> list[str]:
        """Return the mistakes that parsing alone does not find, one sentence each."""
        return []
