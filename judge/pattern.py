"""Which calls a check means: call patterns, and conditions that values must meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, model_validator

from servers.kit.call import Call
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName
from servers.kit.events import Attempt
from servers.kit.expr import check_predicate, matches
from servers.kit.expr.paths import parse
from servers.kit.selector import Selector, arguments_of

_GROUPS = ("any_of", "all_of", "none_of")


def _readable(predicate: dict[str, Any]) -> dict[str, Any]:
    used = check_predicate(predicate)
    if used:
        raise InputError(
            f"condition: expressions in checks cannot use names; got {', '.join(sorted(used))}"
        )
    return predicate


Predicate = Annotated[dict[str, Any], AfterValidator(_readable)]
"""Paths and the conditions that their values must meet (`servers.kit.expr`)."""


def heads(predicate: Mapping[str, Any]) -> Iterator[str]:
    """Yield the first name of each path in a predicate, except inside `any_of` and the like."""
    for path in predicate:
        if path and path not in _GROUPS and isinstance(parse(path)[0], str):
            yield str(parse(path)[0])


class CallPattern(Declared):
    """Which calls are meant: `venmo.send_money`, or a mapping with conditions.

    The conditions are on the arguments (`where`), on the reply that was seen (`result`) and on
    success (`ok`). An argument that no tool of the target takes is an error, except inside `any_of`
    and the like, since a fault may rename arguments.
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
        known = arguments_of(self.tool)
        for name in heads(self.where or {}):
            if name not in known:
                place = f"where, for {', '.join(self.tool.patterns)}"
                raise UnknownName("argument", name, known, place)
        return self

    def __str__(self) -> str:
        return ", ".join(self.tool.patterns) + (f" {self.where}" if self.where else "")

    def selects(self, service: str, name: str, args: Mapping[str, Any]) -> bool:
        """Return whether a call matches, as far as that can be told before its reply."""
        if not self.tool.selects(service, name):
            return False
        return self.where is None or matches(self.where, args)

    def opens(self, call: Call) -> bool:
        """Return whether a call that is about to run matches."""
        return self.selects(call.service, call.tool, call.args)

    def matches(self, attempt: Attempt) -> bool:
        """Return whether an attempt matches."""
        if not self.selects(attempt.service, attempt.tool, attempt.args):
            return False
        if self.ok is not None and self.ok == attempt.is_error:
            return False
        return self.result is None or matches(self.result, attempt.seen)

    def before_reply(self, what: str) -> None:
        """Raise `InputError` if the pattern depends on the reply."""
        if self.result is not None or self.ok is not None:
            raise InputError(
                f"{what} is decided before the reply, so it cannot use `result` or `ok`"
            )


def patterns_in(part: Any, place: str) -> Iterator[tuple[str, CallPattern]]:
    """Yield every call pattern inside a check, with its place."""
    if isinstance(part, CallPattern):
        yield place, part
    elif isinstance(part, BaseModel):
        for name, inner in part:
            yield from patterns_in(inner, f"{place}.{name}")
    elif isinstance(part, list | tuple):
        for number, inner in enumerate(part):
            yield from patterns_in(inner, f"{place}[{number}]")
