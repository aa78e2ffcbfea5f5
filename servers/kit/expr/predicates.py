"""Predicates: a mapping of paths to conditions, all of which must hold.

A condition is a value (which must be equal), or a mapping of operators: `{gte: 5, lt: 9}`,
`{contains: rent}`, `{any: {sku: A1}}`. In place of a path, `any_of`, `all_of` and `none_of` take
lists of predicates. `${…}` in wanted values is computed over the scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from servers.kit.errors import InputError, did_you_mean
from servers.kit.expr import paths
from servers.kit.expr.evaluate import names, render


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


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda v, w: not _equal(v, w),
    "gt": _ordered(lambda v, w: v > w),
    "gte": _ordered(lambda v, w: v >= w),
    "lt": _ordered(lambda v, w: v < w),
    "lte": _ordered(lambda v, w: v <= w),
    "in": lambda v, w: any(_equal(v, x) for x in w),
    "not_in": lambda v, w: not any(_equal(v, x) for x in w),
    "contains": _contains,
    "not_contains": lambda v, w: not _contains(v, w),
    "matches": lambda v, w: isinstance(v, str) and re.search(w, v, re.IGNORECASE) is not None,
    "same_text": lambda v, w: same_text(v) == same_text(w),
    "starts": lambda v, w: isinstance(v, str) and v.startswith(w),
    "len": lambda v, w: isinstance(v, list | str | dict) and len(v) == w,
}
"""Operators by name: `(value, wanted) -> bool`.

In addition there are `exists`, `not`, and `any`, `all` and `none` (over the items of a list).
"""

_NESTED = {"exists", "not", "any", "all", "none"}
_KNOWN = _NESTED | OPERATORS.keys()
_NEGATIVE = {"ne", "not_in", "not_contains", "not", "none"}
"""Operators that hold if there is no value."""
_GROUPS = {"any_of", "all_of", "none_of"}


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
        elif path in _GROUPS:
            hits = [matches(p, data, scope) for p in wanted]
            if not {"any_of": any(hits), "all_of": all(hits), "none_of": not any(hits)}[path]:
                return False
        else:
            many = "[*" in paths.parse(path)
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
    if name == "not":
        return not _condition(operand, value, scope)
    if name in ("any", "all", "none"):
        items = value if isinstance(value, list) else []
        hits = [_condition(operand, item, scope) for item in items]
        return {"any": any(hits), "all": bool(hits) and all(hits), "none": not any(hits)}[name]
    return OPERATORS[name](value, render(operand, scope))


def is_operators(wanted: Mapping[str, Any]) -> bool:
    """Return whether a mapping consists of operators; otherwise it is a nested predicate.

    Raises `InputError` if it mixes the two.
    """
    strays = [key for key in wanted if key not in _KNOWN]
    if strays and len(strays) < len(wanted):
        near = did_you_mean(strays[0], _KNOWN)
        raise InputError(f"condition: unknown operator {strays[0]!r}{near}")
    return len(strays) < len(wanted)


def check_predicate(predicate: Mapping[str, Any], where: str = "condition") -> set[str]:
    """Check paths, operators and expressions without data, and return the scope names in use.

    Raises `InputError`.
    """
    if not isinstance(predicate, Mapping):
        raise InputError(f"{where}: expected a mapping of paths to conditions, got {predicate!r}")
    used: set[str] = set()
    for path, wanted in predicate.items():
        if path in _GROUPS:
            for inner in wanted:
                used |= check_predicate(inner, where)
            continue
        paths.parse(path)
        used |= _check(wanted, where)
    return used


def _check(wanted: Any, where: str) -> set[str]:
    if not isinstance(wanted, Mapping):
        return names(wanted)
    if not is_operators(wanted):
        return check_predicate(wanted, where)
    used: set[str] = set()
    for name, operand in wanted.items():
        used |= _check(operand, where) if name in ("not", "any", "all", "none") else names(operand)
        if name == "matches":
            try:
                re.compile(operand)
            except (re.error, TypeError) as wrong:
                # YAML may have read the pattern as a number, which raises `TypeError`.
                raise InputError(f"{where}: pattern {operand!r}: {wrong}") from None
    return used
