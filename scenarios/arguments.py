"""Whether the calls of scripts fit the tools: the names of arguments and the types of literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from fault_profiles.arguments import Schema, misfit
from fault_profiles.model import Fault
from scenarios.script import Step
from servers.kit.errors import InputError, UnknownName, placed, problem
from servers.kit.service import Service, ToolSpec


def check_arguments(
    step: Step, where: str, offered: Mapping[str, type[Service]], faults: Sequence[Fault]
) -> None:
    """Refuse a call with an argument that its tool does not take, or one of the wrong type.

    What an expression becomes is not known yet, and is taken to fit. An argument may have the new
    name that a fault gives it. With `refused: true` the call may miss the schema on purpose.

    Raises `UnknownName` for an unknown tool or argument, and `InputError`.
    """
    owner, _, short = (step.call or "").partition(".")
    if owner not in offered:
        raise UnknownName("service", owner, offered, f"{where}.call")
    if short not in offered[owner].tools:
        raise UnknownName("tool", short, offered[owner].tools, f"{where}.call: {owner}")
    spec = offered[owner].tools[short]
    added: dict[str, Schema] = {}
    for fault in faults:
        if step.call in fault.acts_on:
            added |= fault.new_arguments()
    wrong = _wrong(step, spec, where, _renamed(step.call or "", faults), added)
    if wrong is not None and not step.refused:
        raise wrong
    if wrong is None and step.refused:
        raise InputError(f"{where}.refused: the arguments fit {step.call}; leave `refused` out")


def _renamed(name: str, faults: Iterable[Fault]) -> dict[str, str]:
    """Return the arguments of a tool that faults rename: new name → old name."""
    old: dict[str, str] = {}
    for fault in faults:
        if name in fault.acts_on:
            renamed = getattr(fault, "rename", {})
            old |= dict(zip(renamed.values(), renamed.keys(), strict=True))
    return old


def _wrong(
    step: Step,
    spec: ToolSpec,
    where: str,
    renamed: Mapping[str, str],
    added: Mapping[str, Schema],
) -> InputError | None:
    known = spec.model.model_fields
    given = {}
    for name, value in step.args.items():
        if name in known or name in renamed:
            given[renamed.get(name, name)] = value
        elif name not in added:
            place = f"{where}.args: {step.call}"
            return UnknownName("argument", name, [*known, *added], place)
        elif (unfit := misfit(added[name], value)) is not None:
            return InputError(f"{where}.args: {step.call}: {name}: {unfit}")
    optional = {name for name, declared in known.items() if not declared.is_required()}
    left_out = {name for name in optional if given.get(name, 0) is None}
    raw = {name: value for name, value in given.items() if name not in left_out}
    try:
        spec.model.__pydantic_validator__.validate_python(raw)
    except ValidationError as wrong:
        for found in wrong.errors(include_url=False):
            if not _computed(raw, found["loc"]):
                return InputError(f"{where}.args: {step.call}: {_line(found, known)}")
    return None


def _line(found: Any, known: Iterable[str]) -> str:
    if found["type"] == "missing":
        return f"missing argument {placed(found['loc'])!r}; it is required"
    return problem(found)


def _computed(raw: Any, loc: Sequence[str | int]) -> bool:
    """Return whether the value at a place holds an expression, or lies within one that does."""
    value = raw
    for part in loc:
        if (isinstance(value, Mapping) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value = value[part]
    return value is not raw and "${" in str(value)
