"""Scripts: what a scripted agent does, as data.

Steps call tools, save replies, branch on them and speak. A step is one of

- `call: gmail.get_email` with `args`, `save` (a name for the reply; an error is `{error: …}`),
  `id` (for violations), and `refused: true` where the arguments miss the tool's schema on purpose,
- `batch: [calls]` (one step of the agent),
- `say: text` (ends the turn),
- `if: expression` with `then` and `else`,
- `repeat: n` with `do` and `until: expression`.

Values may contain `${…}` expressions over saved replies, `today` (a date) and `now` (ISO).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, placing
from servers.kit.expr import names
from servers.kit.service import tool

BUILT_IN = frozenset({"now", "today", "user", "true", "false", "null"})


class Step(Declared):
    """One step of a script.

    Exactly one of `call`, `batch`, `say`, `if` and `repeat` says what it does.
    """

    id: str | None = None
    call: str | None = None
    args: dict[str, Any] = {}
    refused: bool = False
    save: str | None = None
    batch: list[Step] | None = None
    say: str | None = None
    test: str | None = Field(None, alias="if")
    then: list[Step] = []
    otherwise: list[Step] = Field([], alias="else")
    repeat: int | None = Field(None, ge=1, le=20)
    until: str | None = None
    do: list[Step] = []

    @model_validator(mode="after")
    def _one(self) -> Step:
        does = ("call", "batch", "say", "test", "repeat")
        given = [name for name in does if getattr(self, name) is not None]
        if len(given) != 1:
            has = " and ".join(given).replace("test", "if") or "none"
            raise InputError(f"a step does one of call, batch, say, if, repeat; this one has {has}")
        if self.call is not None:
            tool(self.call)
        if self.batch is not None and any(s.call is None for s in self.batch):
            raise InputError("a batch may only hold calls")
        return self

    def inner(self) -> Iterator[Step]:
        """Yield the steps inside this one, at every depth."""
        for step in (*(self.batch or ()), *self.then, *self.otherwise, *self.do):
            yield step
            yield from step.inner()


def flat(steps: list[Step]) -> list[Step]:
    """Return all steps at every depth, in order."""
    every: list[Step] = []
    for step in steps:
        every += [step, *step.inner()]
    return every


def located(steps: list[Step], where: str) -> Iterator[tuple[str, Step]]:
    """Yield all steps at every depth with their places: `scripts.oracle[3].then[0]`."""
    for number, step in enumerate(steps):
        place = f"{where}[{number}]"
        yield place, step
        yield from located(step.batch or [], f"{place}.batch")
        yield from located(step.then, f"{place}.then")
        yield from located(step.otherwise, f"{place}.else")
        yield from located(step.do, f"{place}.do")


def written(step: Step) -> dict[str, Any]:
    """Return the parts of a step that hold expressions, by key; bare ones get their `${}`."""
    parts: dict[str, Any] = {"args": step.args, "say": step.say or ""}
    for key, expression in (("if", step.test), ("until", step.until)):
        if expression is not None:
            parts[key] = expression if "${" in expression else "${" + expression + "}"
    return parts


def check_names(steps: list[Step], where: str, saving: list[Step] | None = None) -> None:
    """Refuse a script that uses a reply it never saves.

    `saving` is the whole script, where `steps` are only a part of it. Raises `InputError`.
    """
    whole = steps if saving is None else saving
    saved = {s.save for s in flat(whole) if s.save} | BUILT_IN
    for place, step in located(steps, where):
        for key, value in written(step).items():
            with placing(f"{place}.{key}"):
                for name in sorted(names(value) - saved):
                    raise UnknownName("name", name, saved)


class Insert(Declared):
    """Steps that come before or after a step of the oracle."""

    before: str | None = None
    after: str | None = None
    steps: Annotated[list[Step], Field(min_length=1)]

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.before is None) == (self.after is None):
            raise InputError("insert is {before|after: id, steps: […]}")
        return self


class Edit(Declared):
    """One edit of the oracle: `omit: id`, `replace: {id: steps, …}`, `insert: {before|after: id,
    steps: […]}`, or other `steps` altogether.
    """

    omit: str | None = None
    replace: Annotated[dict[str, list[Step]] | None, Field(min_length=1)] = None
    insert: Insert | None = None
    steps: Annotated[list[Step] | None, Field(min_length=1)] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        edits = [self.omit, self.replace, self.insert, self.steps]
        if len([edit for edit in edits if edit is not None]) != 1:
            raise InputError("wants one edit of the oracle: omit, replace, insert or steps")
        return self

    def own(self, where: str) -> list[tuple[str, list[Step]]]:
        """Return the steps that the edit itself holds, with their places."""
        if self.replace is not None:
            return [(f"{where}.replace.{name}", steps) for name, steps in self.replace.items()]
        if self.insert is not None:
            return [(f"{where}.insert.steps", self.insert.steps)]
        return [(f"{where}.steps", self.steps)] if self.steps is not None else []

    def edit(self, steps: list[Step]) -> list[Step]:
        """Return the oracle's steps after the edit.

        Raises `UnknownName` if the edit names no step.
        """
        if self.omit is not None:
            return _edit(steps, self.omit, lambda s: [])
        if self.steps is not None:
            return self.steps
        if self.replace is not None:
            for target, new in self.replace.items():
                steps = _edit(steps, target, lambda s, new=new: new)
            return steps
        assert self.insert is not None
        new = self.insert.steps
        if self.insert.before is not None:
            return _edit(steps, self.insert.before, lambda s: [*new, s])
        return _edit(steps, self.insert.after or "", lambda s: [s, *new])


class Violation(Edit):
    """An edit of the oracle after which `fails` is the only gate that fails."""

    fails: str


class Route(Edit):
    """Another right way, as an edit of the oracle. `about` says in words what is different."""

    about: str


def _edit(steps: list[Step], target: str, change: Any) -> list[Step]:
    known = {s.id for s in flat(steps) if s.id}
    if target not in known:
        raise UnknownName("step", target, known)

    def walk(part: list[Step]) -> list[Step]:
        edited: list[Step] = []
        for step in part:
            if step.id == target:
                edited.extend(change(step))
                continue
            inner = {}
            for part_name in ("batch", "then", "otherwise", "do"):
                if getattr(step, part_name):
                    inner[part_name] = walk(getattr(step, part_name))
            edited.append(step.model_copy(update=inner) if inner else step)
        return [step for step in edited if step.batch != []]

    return walk(steps)
