"""Pieces: what an agent has to know for a target, and texts that hold them.

A piece has two values or more. In a text, `${amount}` is the value that is right in this weave,
`${other.amount}` the one that is not: what was said first, or what stands there for something else.
A value may have parts (`${day.date}`, `${day.said}`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from servers.kit.expr import names, render
from servers.kit.expr.evaluate import fields

OTHER = "other"
_HOLE = re.compile(r"\$\{([^{}]+)\}")


def scope(pieces: Mapping[str, list[Any]], value: int) -> dict[str, Any]:
    """Return what the pieces stand for if value number `value` is the right one."""
    right = {name: values[value % len(values)] for name, values in pieces.items()}
    wrong = {name: values[(value + 1) % len(values)] for name, values in pieces.items()}
    return {**right, OTHER: wrong}


def filled(value: Any, given: Mapping[str, Any]) -> Any:
    """Return parsed YAML with the pieces in its expressions replaced by what they stand for.

    Expressions that also use other names (saved replies) keep those. Raises `InputError`.
    """
    if isinstance(value, dict):
        return {filled(key, given): filled(part, given) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, given) for part in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    whole = _HOLE.fullmatch(value)
    if whole is not None:
        used = names(value)
        if used and used <= given.keys():
            return render(value, given)
    return _HOLE.sub(lambda hole: _hole(hole[0], given), value)


def _hole(hole: str, given: Mapping[str, Any]) -> str:
    used = names(hole)
    if not used or used.isdisjoint(given):
        return hole
    if used <= given.keys():
        return str(render(f"{hole}\u200b", given)).rstrip("\u200b")
    for name in used & given.keys():
        chain = re.compile(rf"(?<![\w.\"']){name}((?:\.\w+)*)(?!\w|\s*=[^=])")
        hole = chain.sub(lambda found: _literal(found[0], given), hole)
    return hole


def _literal(chain: str, given: Mapping[str, Any]) -> str:
    return json.dumps(render(f"${{{chain}}}", given), ensure_ascii=False)


def told(value: Any, pieces: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the pieces whose right value texts hold, and those of which they hold another."""
    used = names(value)
    others = {field for owner, field in fields(value) if owner == OTHER}
    return used & pieces.keys(), others & pieces.keys()


def leaves(value: Any) -> list[Any]:
    """Return the plain values in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        found = []
        for part in value:
            found += leaves(part)
        return found
    return [value]


def parts(value: Any, piece: str) -> set[str]:
    """Return the parts of a piece that expressions use (`is` in `${amount.is}`)."""
    return {field for owner, field in fields(value) if owner == piece}


def only(value: Any, taken: set[str]) -> Any:
    """Return a piece's value with only those of its parts that are taken (all, if none is)."""
    if not isinstance(value, dict) or not taken:
        return value
    return {part: value[part] for part in value if part in taken}
