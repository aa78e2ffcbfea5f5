"""What expressions take from the scope, field by field, without computing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from servers.kit.expr.evaluate import FUNCTIONS, _parse, holes

Chain = tuple[str, ...]
_BY_CONDITION = ("first", "last", "where")
_BY_NAME = ("pluck", "having", "sort")


def chains(value: Any) -> set[Chain]:
    """Return the names and fields that the expressions in a value ask for, one after the other.

    `${faults.lost.id}` yields `("faults", "lost", "id")`. An index is left out, and a field that a
    function looks for in items belongs to the list: `${first(faults.lost.all, id=7).at}` yields
    `("faults", "lost", "all", "id")` and `("faults", "lost", "all", "at")`.
    """
    found: set[Chain] = set()
    for text in _texts(value):
        for hole in holes(text):
            for node in ast.walk(_parse(hole)):
                if isinstance(node, ast.expr):
                    found |= _asked(node)
    functions = {(name,) for name in FUNCTIONS}
    return {chain for chain in found - functions if not _is_begun(chain, found)}


def taken(value: Any, name: str) -> set[str]:
    """Return the fields that the expressions in a value take from a name."""
    asked = [chain[1:] for chain in chains(value) if chain[0] == name]
    return {chain[0] for chain in asked if chain}


def _is_begun(chain: Chain, found: set[Chain]) -> bool:
    """Whether a longer chain begins with this one."""
    return any(len(other) > len(chain) and other[: len(chain)] == chain for other in found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _asked(node: ast.expr) -> set[Chain]:
    asked: set[Chain] = set()
    if chain := _chain(node):
        asked.add(chain)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        items = _chain(node.args[0])
        if items and node.func.id in _BY_CONDITION:
            names = [word.arg.removesuffix("_") for word in node.keywords if word.arg]
            asked |= {(*items, name) for name in names}
        if items and node.func.id in _BY_NAME and len(node.args) > 1:
            field = node.args[1]
            if isinstance(field, ast.Constant) and isinstance(field.value, str):
                asked.add((*items, field.value))
    return asked


def _chain(node: ast.expr) -> Chain:
    """Return the chain that an expression is, or () if it is none."""
    match node:
        case ast.Name():
            return (node.id,)
        case ast.Attribute():
            owner = _chain(node.value)
            return (*owner, node.attr) if owner else ()
        case ast.Subscript():
            owner = _chain(node.value)
            index = node.slice
            if owner and isinstance(index, ast.Constant) and isinstance(index.value, str):
                return (*owner, index.value)
            return owner
        case ast.Call(func=ast.Name(id="first" | "last" | "where" | "having" | "sort")):
            return _chain(node.args[0]) if node.args else ()
    return ()
