"""Whether what scripts and conditions take from replies is in some reply that the proof has met.

A missing field is null, so a mistyped one breaks nothing: a branch is never taken, a figure is
missing in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fault_profiles.model import Fault
from judge.pattern import patterns_in
from scenarios.model import Scenario
from scenarios.script import BUILT_IN, Edit, Step, flat, located, written
from servers.kit.errors import did_you_mean
from servers.kit.events import Attempt, Event
from servers.kit.expr.paths import parse
from servers.kit.expr.predicates import is_operators
from servers.kit.expr.shapes import ANYTHING, PLAIN, Shape, check_path, walk

_GROUPS = ("any_of", "all_of", "none_of")
_ERROR = ("code", "message", "hint", "retryable", "retry_after_seconds", "status", "field")


class Replies:
    """The shapes of the replies that plays of a scenario have met, by tool."""

    def __init__(self) -> None:
        self._seen: dict[str, Shape] = {}
        self._true: dict[str, Shape] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Add the replies of a play."""
        for event in events:
            if isinstance(event, Attempt):
                self._seen.setdefault(event.name, Shape()).add(event.seen)
                self._true.setdefault(event.name, Shape()).add(event.truth)

    def learn(self, name: str, reply: Any) -> None:
        """Add an honest reply of a tool, which an agent may have seen as well."""
        self._true.setdefault(name, Shape()).add(reply)
        self.saw(name, reply)

    def saw(self, name: str, reply: Any) -> None:
        """Add a reply of a tool as an agent saw it."""
        self._seen.setdefault(name, Shape()).add(reply)

    def lost_by(self, fault: Fault, place: str) -> list[str]:
        """Return a line for each path that a fault takes from replies and that none of them has."""
        found: dict[str, None] = {}
        self._fault(fault, place, found)
        return list(found)

    def problems(self, scenario: Scenario) -> list[str]:
        """Return a line for each path of scripts and conditions that is in none of the replies."""
        found: dict[str, None] = {}
        for where, steps, whole in _scripts(scenario):
            scope = self._scope(whole)
            for place, step in located(steps, where):
                for key, value in written(step).items():
                    walk(value, scope, _noting(found, f"{place}.{key}"))
        for number, check in enumerate(scenario.checks):
            for place, pattern in patterns_in(check, f"checks[{number}]: {check.kind}"):
                shape = self._of(sorted(pattern.tool.tools), self._seen)
                _conditions(pattern.result or {}, shape, f"{place}.result", found)
        for number, fault in enumerate(scenario.faults):
            self._fault(fault, f"faults[{number}]: {fault.kind}", found)
        return list(found)

    def _fault(self, fault: Fault, place: str, found: dict[str, None]) -> None:
        shape = self._of(sorted(fault.acts_on), self._true)
        _conditions(fault.result, shape, f"{place}: result", found)
        scope = {"reply": shape, "seen": self._of(sorted(fault.acts_on), self._seen)}
        for field, value in fault.model_dump(by_alias=True, exclude={"on", "result"}).items():
            walk(value, scope, _noting(found, f"{place}: {field}"))
        operations = getattr(fault, "reply", None)
        if isinstance(operations, list):
            self._operations(operations, shape, f"{place}: reply", found)
        first = getattr(fault, "top_of", None)
        if first is not None:
            check_path(shape, parse(first), _noting(found, f"{place}: top_of"), first)

    def _operations(
        self, operations: Sequence[Any], shape: Shape, place: str, found: dict[str, None]
    ) -> None:
        """Check what expressions in operations take from the value, its item and the whole."""
        for number, operation in enumerate(operations):
            for name, spec in operation.items():
                for path, operand in spec.items() if isinstance(spec, Mapping) else ():
                    parts = parse(path)
                    item = check_path(shape, parts[:-1], _unnoted, path)
                    scope = {"whole": shape, "item": item}
                    scope["value"] = check_path(item, parts[-1:], _unnoted, path)
                    walk(operand, scope, _noting(found, f"{place}[{number}].{name}.{path}"))

    def _scope(self, steps: list[Step]) -> dict[str, Shape]:
        saved: dict[str, list[str]] = {}
        for step in flat(steps):
            if step.save and step.call:
                saved.setdefault(step.save, []).append(step.call)
        scope = dict.fromkeys(BUILT_IN, PLAIN)
        for name, tools in saved.items():
            scope[name] = self._of(tools, self._seen)
        return scope

    def _of(self, tools: Sequence[str], met: Mapping[str, Shape]) -> Shape:
        """Return the joined shape of what tools replied; anything, if no play has called one."""
        shape = Shape()
        for name in tools:
            shape = shape.join(met.get(name, Shape()))
        if not any(name in met for name in tools):
            return ANYTHING
        error = Shape({"error": Shape(dict.fromkeys(_ERROR, PLAIN))})
        return shape.join(error)


def _scripts(scenario: Scenario) -> Iterator[tuple[str, list[Step], list[Step]]]:
    """Yield each script with its place, and the whole script whose names it uses."""
    scripts = scenario.scripts
    yield "scripts.oracle", scripts.oracle, scripts.oracle
    yield "scripts.naive", scripts.naive, scripts.naive
    edits: list[tuple[str, Edit]] = []
    edits += [(f"routes[{n}]", route) for n, route in enumerate(scenario.routes)]
    edits += [(f"violations[{n}]", edit) for n, edit in enumerate(scenario.violations)]
    for where, edit in edits:
        whole = [*scripts.oracle, *edit.edit(scripts.oracle)]
        for place, steps in edit.own(where):
            yield place, steps, whole


def _conditions(
    predicate: Mapping[str, Any], shape: Shape, place: str, found: dict[str, None]
) -> None:
    for path, wanted in predicate.items():
        if path in _GROUPS:
            for inner in wanted:
                _conditions(inner, shape, place, found)
            continue
        inner = check_path(shape, parse(path), _noting(found, place), path)
        _condition(wanted, inner, f"{place}.{path}", found)


def _condition(wanted: Any, shape: Shape, place: str, found: dict[str, None]) -> None:
    if not isinstance(wanted, Mapping):
        return
    if not is_operators(wanted):
        _conditions(wanted, shape, place, found)
        return
    for name, operand in wanted.items():
        if name in ("any", "all", "none"):
            _condition(operand, shape.items or Shape(open=shape.open), place, found)
        elif name == "not":
            _condition(operand, shape, place, found)


def _unnoted(taken: str, field: str, known: Iterable[str]) -> None:
    """Pass over a path that is in no reply; another part of the proof tells of it."""


def _noting(found: dict[str, None], place: str) -> Callable[[str, str, Iterable[str]], None]:
    """Return what notes a path that is in no reply."""

    def lost(taken: str, field: str, known: Iterable[str]) -> None:
        near = did_you_mean(field, known) or "; there is nothing in it"
        found[f"{place}: {taken}: no reply so far has {field!r} there{near}"] = None

    return lost
