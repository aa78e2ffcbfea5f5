"""Operations of faults whose paths are in no reply: a fault that fires and touches nothing.

An operation edits places that exist. Where a path is misspelt, nothing in the reply changes and no
exception says so, or a field is added beside the one that was meant. So each operation is tried,
in order, on copies of the honest replies that its fault met.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fault_profiles.model import Fault
from servers.kit.errors import did_you_mean
from servers.kit.events import Attempt
from servers.kit.expr import apply, paths

_NEW = ("set", "map", "recompute", "copy", "insert")
"""Operations that may make what is not there yet."""

Scope = dict[str, Any]


@dataclass(frozen=True)
class Met:
    """Data that a fault's operations may edit: a reply or arguments, with the call's scope."""

    tool: str
    data: Any
    scope: Scope


def honest(attempts: Iterable[Attempt]) -> Iterator[Met]:
    """Yield the honest replies of calls, those that a fault answered in place of left out."""
    for attempt in attempts:
        truth = attempt.truth
        if truth is None and not any(firing.kind != "dropped_write" for firing in attempt.firings):
            truth = attempt.seen
        if isinstance(truth, dict) and "error" not in truth:
            yield Met(attempt.name, truth, _scope(attempt, truth))


def _scope(attempt: Attempt, reply: Any) -> Scope:
    return {
        "args": attempt.args,
        "service": attempt.service,
        "tool": attempt.tool,
        "now": attempt.at,
        "start": attempt.at,
        "number": 1,
        "reply": reply,
    }


def edits(fault: Fault) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Return a fault's lists of operations on replies, each with the name of its field."""
    found: list[tuple[str, Sequence[Mapping[str, Any]]]] = []
    reply = getattr(fault, "reply", None)
    if isinstance(reply, list) and reply:
        found.append(("reply", reply))
    if fault.kind == "dropped_write":
        found.append(("edit", getattr(fault, "edit", [])))
    times = getattr(fault, "fresh_times", [])
    if times:
        found.append(("fresh_times", [{"set": {path: ""}} for path in times]))
    return found


def untouched(fault: Fault, met: Sequence[Met]) -> list[str]:
    """Return what is wrong with a fault's paths, one line each; none if it met no reply at all."""
    own = [one for one in met if one.tool in fault.acts_on]
    if not own:
        return []
    problems = []
    for field, operations in edits(fault):
        for place, problem in _tried(operations, own).items():
            problems.append(f"fault {fault.name}: {field}[{place}]: {problem}")
    return problems


def _tried(operations: Sequence[Mapping[str, Any]], met: Sequence[Met]) -> dict[int, str]:
    """Return the problems of operations by their places in the list."""
    wrong: dict[int, dict[str, str]] = {}
    for one in met:
        found = _on(operations, one)
        for place, problems in found.items():
            if place not in wrong:
                wrong[place] = problems
            # A path is wrong only if no reply has it.
            wrong[place] = {p: why for p, why in wrong[place].items() if p in problems}
    return {place: next(iter(by_path.values())) for place, by_path in wrong.items() if by_path}


def _on(operations: Sequence[Mapping[str, Any]], one: Met) -> dict[int, dict[str, str]]:
    data = copy.deepcopy(one.data)
    found: dict[int, dict[str, str]] = {}
    for place, operation in enumerate(operations):
        ((name, spec),) = operation.items()
        problems = {}
        for path in _paths(spec):
            why = _missing(data, path, _taken_away(operations) if name in _NEW else None)
            if why:
                problems[path] = f"{name}: {why}"
        try:
            touched = apply([operation], data, {**one.scope, "reply": one.data})
        except Exception:  # it rests on what only the episode knows, such as captured values
            touched = 1
        if not touched and not problems:
            problems[""] = f"{name} {spec}: it matches nothing in any reply that the fault met"
        found[place] = problems
    return found


def _paths(spec: Any) -> list[str]:
    if isinstance(spec, str):
        return [spec]
    return [str(path) for path in spec]


def _taken_away(operations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths that operations edit or take away where they are."""
    listed: list[str] = []
    for operation in operations:
        for name, spec in operation.items():
            if name not in _NEW or name == "copy":
                listed += _paths(spec)
    return listed


def _missing(data: Any, path: str, making: Sequence[str] | None) -> str:
    """Return why a path leads nowhere, or "".

    `making` holds the paths of the other operations if this one may make the last part of its path.
    Then only a name that looks like a field beside it is taken for a misspelling, unless another
    operation renames or drops that field.
    """
    if not path or paths.values(data, path):
        return ""
    known = sorted(set(_names(data)))
    last = str(path).rpartition(".")[2]
    stem = path[: -len(last)].rstrip(".")
    if making is not None and (not stem or paths.values(data, stem)):
        holders = [data] if not stem else paths.values(data, stem)
        beside: set[str] = set()
        for holder in holders:
            beside |= set(holder) if isinstance(holder, dict) else set()
        near = difflib.get_close_matches(last, sorted(beside), n=1, cutoff=0.75)
        if not near or (f"{stem}.{near[0]}" if stem else near[0]) in making:
            return ""
        return f"no reply that the fault met has {path!r}; did you mean {near[0]!r}?"
    return f"no reply that the fault met has {path!r}{did_you_mean(last, known)}"


def _names(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, inner in data.items():
            yield str(key)
            yield from _names(inner)
    elif isinstance(data, list):
        for inner in data[:3]:
            yield from _names(inner)


def notes(faults: Sequence[Fault], attempt: Attempt) -> list[str]:
    """Return what is wrong with the paths of the faults that fired on a call."""
    from client_harness.proof.taken import Replies

    fired = {firing.fault for firing in attempt.firings}
    met = list(honest([attempt]))
    replies = Replies()
    for one in met:
        replies.learn(one.tool, one.data)
        replies.saw(one.tool, attempt.seen)
    lines = []
    for fault in faults:
        if fault.name in fired:
            lines += untouched(fault, met)
            lines += replies.lost_by(fault, f"fault {fault.name}")
    return lines
