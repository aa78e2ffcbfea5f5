"""A tool's example call on a world: its reply, the paths in it, the error codes of the tool."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import anyio

from client_harness.authoring.trying import DEFAULT_WORLD
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from servers.kit.values import parse_time

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "text", type(None): "null"}
_DEEP = 12
"""How many calls deep the search for error codes goes."""


def example(cls: type[Service], spec: ToolSpec, world: str = DEFAULT_WORLD) -> dict[str, Any]:
    """Return a tool's example call as it goes on a world; see `played`."""
    return anyio.run(played, cls, spec, world)


async def played(cls: type[Service], spec: ToolSpec, world: str = DEFAULT_WORLD) -> dict[str, Any]:
    """Return a tool's example call as it goes on a world.

    Shape: `{world, args, reply, is_error, paths: {path: type}}`. Examples succeed in the default
    world. In another one, the example may name ids that it lacks; then the call is that of the
    default world, and `lacking` names the world that has no example.
    """
    made = await _played(cls, spec, world)
    if world != DEFAULT_WORLD and (made is None or made["is_error"]):
        there = await _played(cls, spec, DEFAULT_WORLD)
        assert there is not None, f"the example of {spec.name} fails"
        return {**there, "lacking": world}
    assert made is not None, f"the example of {spec.name} fails"
    return made


async def _played(cls: type[Service], spec: ToolSpec, world: str) -> dict[str, Any] | None:
    """Play an example on a world; return None if a set-up call is refused there."""
    start = parse_time(build.person(world)["start"])
    names = owners(cls, spec)
    session = Session(names, build.shared(world, names).share(), Control(start))
    try:
        try:
            args = await prepared(session, cls, spec)
        except AssertionError:  # it needs rows that only the default world has
            return None
        reply = await session.call(cls.name, spec.name, args)
    finally:
        session.world.close()
        session.control.close()
    return {
        "world": world,
        "args": args,
        "reply": reply.data,
        "is_error": reply.is_error,
        "paths": paths_of(reply.data),
    }


def tool_lines(entry: Mapping[str, Any], room: int) -> list[str]:
    """Return the example, the paths and the error codes of a tool's entry as lines of text."""
    from client_harness.authoring import shown

    one = entry["on"]
    made = [f"On {one['world']}'s world:"]
    if "lacking" in one:
        world = one["lacking"]
        lacks = (
            f"There is no example on {world}'s world; find ids with `list seeds --world {world}`."
        )
        made = [*shown.wrapped(lacks, room), *made]
    call = f"{entry['name']} {shown.flat(one['args'])}"
    made += [f"  {line}" for line in shown.wrapped(call, room - 2)]
    made += [f"    {line}" for line in shown.lines(one["reply"], room - 4)]
    if not one["is_error"]:
        made += ["", "Paths in its reply:"]
        for path, kind in one["paths"].items():
            made += [f"  {line}" for line in shown.wrapped(f"{path}: {kind}", room - 2)]
    own = ", ".join(entry["codes"]) or "none of its own"
    made += ["", *shown.wrapped(f"Its error codes: {own}.", room)]
    usual = ", ".join(entry["usual_codes"])
    made += shown.wrapped(f"Faults and wrong arguments may also bring {usual}.", room)
    return made


def paths_of(value: Any) -> dict[str, str]:
    """Return the paths of a reply with their types, such as `friends[*].name: text`.

    An item of a list stands for all of them; a type that differs between items is named in full
    (`text or null`).
    """
    found: dict[str, dict[str, None]] = {}
    for path, kind in _paths(value, ""):
        found.setdefault(path, {})[kind] = None
    return {path: " or ".join(kinds) for path, kinds in found.items()}


def _paths(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if path and not value:
            yield path, "object"
        for key, inner in value.items():
            yield from _paths(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        yield path, "list" if value else "empty list"
        for inner in value:
            yield from _paths(inner, f"{path}[*]")
    else:
        yield path, _TYPES.get(type(value), type(value).__name__)


def codes(cls: type[Service], spec: ToolSpec) -> list[str]:
    """Return the codes of the errors that a tool's own code may raise, sorted.

    They are read from the source of its method and of what that calls; codes that faults and
    validation use are not among them.
    """
    return sorted(_codes(cls, spec.run, set(), _DEEP))


def _codes(
    cls: type[Service], run: Callable[..., Any], seen: set[Any], depth: int, words: Any = None
) -> set[str]:
    run = inspect.unwrap(run)
    if not isinstance(run, FunctionType) or run in seen or depth == 0:
        return set()
    seen.add(run)
    words = run.__globals__.get("WORDS", words) if words is None else words
    found: set[str] = set()
    for node in ast.walk(_tree(run)):
        if not isinstance(node, ast.Call):
            continue
        name = _last(node.func)
        if name in ("fail", "ServiceError") and node.args:
            code = _constant(node.args[0], cls, run, words)
            found |= {code} if code else set()
            continue
        inner = _called(node.func, cls, run)
        if inner is not None:
            found |= _codes(cls, inner, seen, depth - 1, words)
    return found


@functools.cache
def _tree(run: FunctionType) -> ast.AST:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(run)))
    except (OSError, SyntaxError):
        return ast.Module([], [])


def _last(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _constant(node: ast.expr, cls: type[Service], run: FunctionType, words: Any) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        value = run.__globals__.get(node.id)
        return value if isinstance(value, str) else ""
    if isinstance(node, ast.Attribute):
        holder = _last(node.value)
        source = cls.codes if holder == "codes" else run.__globals__.get(holder)
        if source is None:
            # A category's rules are given the provider's words as an argument.
            source = words if holder.endswith("words") else cls
        value = getattr(source, node.attr, None)
        return value if isinstance(value, str) else ""
    return ""


def _called(func: ast.expr, cls: type[Service], run: FunctionType) -> Callable[..., Any] | None:
    """Return the function that a call of ours calls, if that can be read off the source."""
    if isinstance(func, ast.Name):
        found = run.__globals__.get(func.id)
    elif isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        holder = run.__globals__.get(func.value.id)
        source = holder if isinstance(holder, ModuleType) else cls
        found = getattr(source, func.attr, None)
    else:
        return None
    ours = getattr(found, "__module__", None) or ""
    return found if callable(found) and ours.startswith("servers.") else None
