"""The published protocol: one request, one call, and call accuracy instead of verdicts.

An instance needs one call here. It is right if it is a call of the needed tool, and each piece that
the calls take stands in its arguments: as the value, as the name of it, or as an id that stands for
it in the world. A lookup that takes everything that the last message left out is right, too,
because nothing can follow it. What was never said is right as MISSING, or if the text asks for it
and nothing was called in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from client_harness.haystack import labels
from client_harness.haystack.labels import Story
from client_harness.telling import Told
from fault_profiles.profiles import Profile
from judge.checks.graph import Graph
from judge.graph.task import holds
from judge.trace import Record
from scenarios.haystack import history, pieces
from scenarios.haystack.instances import Instance
from scenarios.haystack.targets import Target, target
from scenarios.model import Scenario
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.expr import matches, names
from servers.kit.store import World

_MISSING = re.compile(
    r"(?:value |is )?(?:missing|unknown|unspecified|not (?:said|given|specified|provided|mentioned|"
    r"stated|known|available)|n/?a|none given|to be (?:asked|confirmed|determined)|tbd)",
    re.IGNORECASE,
)
"""What counts as MISSING, within brackets, quotes and the like."""
_TOLD = "situation"
"""The part of a piece that only texts hold."""


@dataclass(frozen=True)
class _Wanted:
    """A call that would be right: one of some tools, with these pieces in its arguments."""

    tools: frozenset[str]
    takes: frozenset[str]


def plays(made: Instance) -> bool:
    """Return whether a call takes any of what the last message leaves out.

    Where only the answer depends on it, one call cannot show whether an agent knows it.
    """
    facts = made.facts
    taken: set[str] = set()
    for wanted in _steps(target(facts.target)):
        taken |= wanted.takes
    return bool(taken & set(facts.hidden))


def check(debrief: bool, told: Told, faults: Profile | None) -> None:
    """Refuse what the protocol has no place for. Raises `InputError`."""
    if told != Told():
        raise InputError(
            "--protocol published has its own instruction; leave out --instructions and --guide"
        )
    if debrief:
        raise InputError("--protocol published ends after one request; leave out --debrief")
    if faults is not None:
        raise InputError("--protocol published plays without faults; leave out --faults")


def played(scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Return the instances that the protocol can judge.

    Raises `InputError` for scenarios that are no instances, or if it can judge none.
    """
    kept: dict[str, Scenario] = {}
    for name, made in scenarios.items():
        if not isinstance(made, Instance):
            raise InputError(
                f"--protocol published plays instances only, and {name} is none; "
                "name the suite haystack, or instances of it"
            )
        if plays(made):
            kept[name] = made
    if scenarios and not kept:
        raise InputError(
            f"--protocol published cannot judge {', '.join(list(scenarios)[:3])}: "
            "no call takes what the last message leaves out"
        )
    return kept


def judged(made: Instance, record: Record, *, ended: bool = True) -> tuple[Story, dict[str, Any]]:
    """Return the story and the verdict of a trial; `ended` is false if its agent failed."""
    right = is_right(made, record)
    story = labels.story(made, record, passed=True)
    story["needed"] = 1
    story["right"] = int(right)
    story["abstained"] = None
    story["completed"] = None
    if not right and ended:
        story["label"], story["sources"] = _error(made, record)
    why = "the call is right" if right else f"the call is not right: {story['label'] or 'none'}"
    verdict = {"value": "pass" if right else "fail", "score": float(right), "why": why}
    return story, {**verdict, "findings": []}


def is_right(made: Instance, record: Record) -> bool:
    """Return whether the one call is right, or the question that takes its place."""
    missing = made.facts.missing
    asked = missing is not None and missing in record.asked_about
    if not record.attempts:
        return asked
    call = record.attempts[0]
    if any(_fulfils(made, call, wanted, record.world) for wanted in _wanted(made)):
        return True
    return asked and call.effect == "read" and not _is_wanted(made, call)


# -- what is wanted --------------------------------------------------------------------------------
def _wanted(made: Instance) -> list[_Wanted]:
    """Return the calls of which one is needed: the last one that the task takes, or a lookup."""
    steps = list(_steps(target(made.facts.target)))
    taken = frozenset().union(*(step.takes for step in steps))
    hidden = taken & set(made.facts.hidden)
    last = [step for step in steps if step.tools & _needed_tools(made)] or steps[-1:]
    wanted = [_Wanted(_needed_tools(made) | last[-1].tools, last[-1].takes)]
    if hidden:
        wanted += [step for step in steps if hidden <= step.takes]
    return wanted


def _is_wanted(made: Instance, call: Attempt) -> bool:
    return any(call.name in wanted.tools for wanted in _wanted(made))


def _needed_tools(made: Instance) -> frozenset[str]:
    tools: set[str] = set()
    for check in made.checks:
        if isinstance(check, Graph):
            for node in check.nodes.values():
                for pattern in node.calls:
                    tools |= pattern.tool.tools
    return frozenset(tools)


def _steps(of: Target) -> Iterable[_Wanted]:
    """Yield the calls of a target's oracle with the pieces on which their arguments depend."""
    saved: dict[str, frozenset[str]] = {}
    for step in _calls(of.oracle):
        used = names(step.get("args") or {})
        takes = frozenset(used & of.pieces.keys())
        for name in used & saved.keys():
            takes |= saved[name]
        if "save" in step:
            saved[step["save"]] = takes
        yield _Wanted(frozenset({step["call"]}), takes)


def _calls(steps: Iterable[Any]) -> Iterable[dict[str, Any]]:
    for step in steps:
        if "call" in step:
            yield step
        for part in ("batch", "then", "else", "do"):
            yield from _calls(step.get(part) or [])


# -- whether a call is that ------------------------------------------------------------------------
def _fulfils(made: Instance, call: Attempt, wanted: _Wanted, world: World | None) -> bool:
    if call.name not in wanted.tools or not _meets_constants(made, call):
        return False
    missing = made.facts.missing
    for piece in wanted.takes:
        shown = _shown(made, piece, call.args)
        if piece != missing:
            if not (shown or _stands_for(made, piece, call, world)):
                return False
        elif shown or _wrong(made, piece, call.args) or not _says_missing(call.args):
            return False
    return True


def _meets_constants(made: Instance, call: Attempt) -> bool:
    """Return whether the arguments meet those conditions that do not depend on a piece.

    A text where a figure is wanted is the name of what would have to be looked up.
    """
    written = target(made.facts.target)
    for node in written.needed.values():
        for pattern in _patterns(node):
            if call.name not in _tools_of(pattern):
                continue
            for path, wanted in (pattern.get("where") or {}).items():
                free = names(wanted) & written.pieces.keys()
                named = isinstance(wanted, float) and isinstance(call.args.get(path), str)
                if not free and not named and not matches({path: wanted}, call.args):
                    return False
    return True


def _patterns(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    written = node.get("call", [])
    patterns = written if isinstance(written, list) else [written]
    return [pattern for pattern in patterns if isinstance(pattern, dict)]


def _tools_of(pattern: Mapping[str, Any]) -> list[str]:
    tools = pattern["tool"]
    return tools if isinstance(tools, list) else [tools]


def _shown(made: Instance, piece: str, data: Any) -> bool:
    """Return whether data holds the right value of a piece, and not the other one."""
    right = _leaves(made, piece, made.facts.values[piece])
    return any(holds(data, leaf) for leaf in right) and not _wrong(made, piece, data)


def _wrong(made: Instance, piece: str, data: Any) -> bool:
    """Return whether data holds the other value of a piece."""
    right = _leaves(made, piece, made.facts.values[piece])
    other = _leaves(made, piece, made.facts.others[piece])
    return any(holds(data, leaf) for leaf in other if not holds(right, leaf))


def _stands_for(made: Instance, piece: str, call: Attempt, world: World | None) -> bool:
    """Return whether an id in the arguments stands for a piece.

    The reply, the world or what was replied in the past may tell.
    """
    if _wrong(made, piece, call.args):
        return False
    told = [] if call.is_error else [call.seen]
    for leaf in pieces.leaves(call.args):
        if isinstance(leaf, str) and "_" in leaf:
            if world is not None:
                told += [world.get(table, leaf) for table in world.tables]
            told += _entries(leaf, made)
    return any(_shown(made, piece, entry) for entry in told)


def _entries(key: str, made: Instance) -> list[dict[str, Any]]:
    """Return the entries of past replies that have an id."""
    found: list[dict[str, Any]] = []
    for session in history.live(made.history or "").sessions if made.history else []:
        for message in session["messages"]:
            for call in message.get("calls", []):
                found += _with(key, call["reply"])
    return found


def _with(key: str, data: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if isinstance(data, dict):
        found += [data] if key in data.values() else []
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            found += _with(key, part)
    return found


def _leaves(made: Instance, piece: str, value: Any) -> list[Any]:
    """Return the values by which a piece can be told: texts, and the figures that calls take."""
    if not isinstance(value, dict):
        return [value]
    written = target(made.facts.target)
    used = str([written.oracle, written.needed])
    found = []
    for part, leaf in value.items():
        taken = re.search(rf"\b{re.escape(piece)}\.{re.escape(part)}\b", used) is not None
        if part != _TOLD and (taken or isinstance(leaf, str)):
            found += pieces.leaves(leaf)
    return found


def _says_missing(args: Any) -> bool:
    for leaf in pieces.leaves(args):
        if isinstance(leaf, str) and _MISSING.fullmatch(leaf.strip(" \t\n<>[](){}'\"*_?!.:-")):
            return True
    return False


# -- what is wrong ---------------------------------------------------------------------------------
def _error(made: Instance, record: Record) -> tuple[str, list[str]]:
    """Return the label of a trial that is not right, and the sessions that a value comes from."""
    if not record.attempts:
        asked = any(message.about is not None for message in record.messages)
        return (labels.ASKED if asked else labels.NO_CALL), []
    call = record.attempts[0]
    if not _is_wanted(made, call):
        return labels.WRONG_TOOL, []
    label, sources = labels.wrong_value(made, record, [call])
    if label == labels.ELSE and made.facts.missing is not None:
        return labels.FROM_NOWHERE, sources
    return label, sources
