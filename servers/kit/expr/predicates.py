"""Predicates: a mapping of paths to conditions, all of which must hold.

A condition is a value (which must be equal), or a mapping of operators: `{gte: 5, lt: 9}`,
`{contains: rent}`, `{any: {sku: A1}}`. A mapping of other keys is a predicate on what is inside the
value; `{has: {…}}` says so where a field is named like an operator, or nearly. In place of a path,
`any_of`, `all_of` and `none_of` take lists of predicates. `${…}` in wanted values is computed over
the scope.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from servers.kit.errors import InputError, UnknownName, did_you_mean, quoted
from servers.kit.expr import operands, paths
from servers.kit.expr.evaluate import names, render
from servers.kit.expr.patterns import check_patterns, found


def _equal(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return abs(value - wanted) < 1e-9
    return value == wanted


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return str(wanted).casefold() in value.casefold()
    return isinstance(value, list) and any(_equal(v, wanted) for v in value)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(value: Any, wanted: Any) -> bool:
        numbers = isinstance(value, int | float) and isinstance(wanted, int | float)
        texts = isinstance(value, str) and isinstance(wanted, str)
        return (numbers or texts) and test(value, wanted)

    return compare


def same_text(text: Any) -> str:
    """Return text with case, punctuation and spacing folded, to compare what people write."""
    return " ".join(re.findall(r"\w+", str(text).casefold()))


TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "list": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}
"""Types of values, by the names that the operator `type` takes."""


def _among(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, list | tuple):
        raise InputError(f"condition: in takes a list, got {quoted(wanted)}")
    return any(_equal(value, one) for one in wanted)


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda v, w: not _equal(v, w),
    "gt": _ordered(lambda v, w: v > w),
    "gte": _ordered(lambda v, w: v >= w),
    "lt": _ordered(lambda v, w: v < w),
    "lte": _ordered(lambda v, w: v <= w),
    "in": _among,
    "not_in": lambda v, w: not _among(v, w),
    "contains": _contains,
    "not_contains": lambda v, w: not _contains(v, w),
    "matches": lambda v, w: isinstance(v, str) and found(w, v),
    "same_text": lambda v, w: same_text(v) == same_text(w),
    "starts": lambda v, w: isinstance(v, str) and v.startswith(str(w)),
    "len": lambda v, w: isinstance(v, list | str | dict) and len(v) == w,
    "type": lambda v, w: TYPES[w](v),
}
"""Operators by name: `(value, wanted) -> bool`.

In addition there are `exists`, `not`, `has`, and `any`, `all` and `none` (over the items of a
list). `len` also takes operators, e.g. `len: {gte: 2}`.
"""


def _length(operand: Any, where: str) -> None:
    if isinstance(operand, Mapping):
        if not set(operand) <= _ORDER:
            unknown = sorted(set(map(str, operand)) - _ORDER)[0]
            raise UnknownName("operator", unknown, _ORDER, where)
        for name, inner in operand.items():
            shape = operands.values if name in ("in", "not_in") else operands.number
            operands.check(shape, inner, f"{where}: {name}")
        return
    operands.check(operands.count, operand, where)


_ORDER = {"eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in"}
_SHAPES: dict[str, operands.Shape] = {
    "gt": operands.comparable,
    "gte": operands.comparable,
    "lt": operands.comparable,
    "lte": operands.comparable,
    "in": operands.values,
    "not_in": operands.values,
    "same_text": operands.comparable,
    "starts": operands.text,
    "len": _length,
    "exists": operands.boolean,
    "type": operands.one_of(tuple(TYPES), "type"),
    "eq": operands.anything,
    "ne": operands.anything,
}
"""The operands that operators take; others take any."""

_NESTED = {"exists", "not", "any", "all", "none", "has"}
KNOWN = _NESTED | OPERATORS.keys()
"""Every operator."""
_NEGATIVE = {"ne", "not_in", "not_contains", "not", "none"}
"""Operators that hold if there is no value."""
GROUPS = frozenset({"any_of", "all_of", "none_of"})
"""Keys that combine predicates, in place of a path."""


def matches(
    predicate: Mapping[str, Any], data: Any, scope: Mapping[str, Any] | None = None
) -> bool:
    """Return whether `data` satisfies the predicate.

    Raises `InputError` for an unknown operator.
    """
    for path, wanted in predicate.items():
        # The common case needs no walk along the path.
        quick = _quick(wanted) if isinstance(data, dict) and path in data else None
        if quick is not None:
            if not quick(data[path]):
                return False
        elif path in GROUPS:
            hits = [matches(p, data, scope) for p in wanted]
            if not {"any_of": any(hits), "all_of": all(hits), "none_of": not any(hits)}[path]:
                return False
        else:
            many = paths.is_many(path)
            if not _holds(wanted, paths.values(data, path), many, scope or {}):
                return False
    return True


def _quick(wanted: Any) -> Callable[[Any], bool] | None:
    """Return a test for a plain value, or for one operator on a plain value."""
    if isinstance(wanted, dict) and len(wanted) == 1:
        ((name, operand),) = wanted.items()
        test = OPERATORS.get(name)
        if test is None or not _plain(operand):
            return None
        return lambda value: test(value, operand)
    return (lambda value: _equal(value, wanted)) if _plain(wanted) else None


def _plain(wanted: Any) -> bool:
    if isinstance(wanted, str):
        return "${" not in wanted
    return isinstance(wanted, int | float)


def _holds(wanted: Any, values: list[Any], many: bool, scope: Mapping[str, Any]) -> bool:
    if isinstance(wanted, Mapping) and wanted.get("exists") is False:
        return all(value is None for value in values)
    if not values:
        return isinstance(wanted, Mapping) and set(wanted) <= _NEGATIVE
    if many:
        return any(_condition(wanted, value, scope) for value in values)
    return _condition(wanted, values[0], scope)


def _condition(wanted: Any, value: Any, scope: Mapping[str, Any]) -> bool:
    if not isinstance(wanted, Mapping):
        return _equal(value, render(wanted, scope))
    if not is_operators(wanted):
        return matches(wanted, value, scope)
    return all(_operator(name, value, operand, scope) for name, operand in wanted.items())


def _operator(name: str, value: Any, operand: Any, scope: Mapping[str, Any]) -> bool:
    if name == "exists":
        return (value is not None) == operand
    if name == "has":
        return matches(operand, value, scope)
    if name == "len" and isinstance(operand, Mapping):
        sized = isinstance(value, list | str | dict)
        return sized and _condition(operand, len(value), scope)
    if name == "not":
        return not _condition(operand, value, scope)
    if name in ("any", "all", "none"):
        items = value if isinstance(value, list) else []
        hits = [_condition(operand, item, scope) for item in items]
        return {"any": any(hits), "all": bool(hits) and all(hits), "none": not any(hits)}[name]
    return OPERATORS[name](value, render(operand, scope))


def is_operators(wanted: Mapping[str, Any], where: str = "condition") -> bool:
    """Return whether a mapping consists of operators; otherwise it is a nested predicate.

    Raises `InputError` if it mixes the two.
    """
    strays = [str(key) for key in wanted if key not in KNOWN]
    if strays and len(strays) < len(wanted):
        raise UnknownName("operator", strays[0], KNOWN, where)
    return len(strays) < len(wanted)


def check_predicate(predicate: Mapping[str, Any], where: str = "condition") -> set[str]:
    """Check paths, operators and expressions without data, and return the scope names in use.

    Raises `InputError`.
    """
    if not isinstance(predicate, Mapping):
        raise InputError(
            f"{where}: expected a mapping of paths to conditions, got {quoted(predicate)}"
        )
    used: set[str] = set()
    for path, wanted in predicate.items():
        if path in GROUPS:
            if not isinstance(wanted, list) or not wanted:
                raise InputError(
                    f"{where}: {path} takes a list of conditions, e.g. "
                    f"{path}: [{{amount: 5}}]; got {quoted(wanted)}"
                )
            for inner in wanted:
                used |= check_predicate(inner, f"{where}: {path}")
            continue
        operands.path(path, where)
        used |= _check(wanted, f"{where}: {path}" if path else where)
    return used


def _check(wanted: Any, where: str) -> set[str]:
    if not isinstance(wanted, Mapping):
        return names(wanted)
    if not wanted:
        raise InputError(f"{where}: an empty condition says nothing; write {{exists: true}}")
    if not is_operators(wanted, where):
        for key in wanted:
            _check_field(str(key), where)
        return check_predicate(wanted, where)
    used: set[str] = set()
    for name, operand in wanted.items():
        place = f"{where}: {name}"
        if name == "has":
            used |= check_predicate(operand, place)
        elif name in ("not", "any", "all", "none"):
            used |= _check(operand, place)
        else:
            used |= names(operand)
            if name in _SHAPES:
                operands.check(_SHAPES[name], operand, place)
        if name == "matches":
            check_patterns(operand, where)
    return used


def _check_field(key: str, where: str) -> None:
    """Refuse a field that looks like a mistyped operator.

    It may be one if it is known as an argument or a column.
    """
    if key in GROUPS or not operands.is_near(key, KNOWN) or key in _known_fields():
        return
    raise InputError(
        f"{where}: unknown operator {key!r}{did_you_mean(key, KNOWN)} "
        f"A field of that name is written {{has: {{{key}: …}}}}"
    )


@functools.cache
def _known_fields() -> frozenset[str]:
    """Return the names of all arguments and columns of our services; this imports all of them."""
    from servers.kit.service import services

    known: set[str] = set()
    for cls in services().values():
        for table in cls.known_tables().values():
            known |= table.columns.keys()
        for spec in cls.tools.values():
            known |= _properties(spec.schema)
    return frozenset(known)


def _properties(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_properties, schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("properties")
    found = set(own) if isinstance(own, dict) else set()
    return found.union(*map(_properties, schema.values()))
