"""Operations: a list of one-key items that edit JSON in place.

Examples are `- scale: {amount: 2}`, `- drop: [hint]` and `- truncate: {items: 3}`. Values may hold
`${…}` over the scope, which also has `value` (the present value of the place), `item` (the object
or list that holds it) and `whole` (all of the data).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from servers.kit.errors import InputError, did_you_mean
from servers.kit.expr import paths
from servers.kit.expr.evaluate import names, render
from servers.kit.expr.predicates import check_predicate, matches

Scope = Mapping[str, Any]


def _existing(data: Any, path: str) -> list[tuple[Any, Any]]:
    """Return the places of a path that exist; in a dict, the last key of a path may be missing."""
    return [(c, k) for c, k in paths.places(data, path) if _exists(c, k)]


def _exists(container: Any, key: Any) -> bool:
    return not isinstance(container, dict) or key in container


def _lists(data: Any, path: str) -> list[list[Any]]:
    return [value for value in paths.values(data, path) if isinstance(value, list)]


def _each(
    data: Any,
    spec: Mapping[str, Any],
    scope: Scope,
    change: Callable[[Any, Any], Any],
    *,
    new: bool = False,
) -> int:
    done = 0
    for path, operand in spec.items():
        targets = list(paths.places(data, path)) if new else _existing(data, path)
        for container, key in targets:
            value = container.get(key) if isinstance(container, dict) else container[key]
            local = {**scope, "value": value, "item": container, "whole": data}
            container[key] = change(value, render(operand, local))
            done += 1
    return done


def _set(data: Any, spec: Any, scope: Scope) -> int:
    return _each(data, spec, scope, lambda value, wanted: copy.deepcopy(wanted), new=True)


def _drop(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path in _paths(spec):
        for container, key in reversed(_existing(data, path)):
            del container[key]
            done += 1
    return done


def _rename(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, new in spec.items():
        for container, key in _existing(data, path):
            if isinstance(container, dict):
                items = [(new if k == key else k, v) for k, v in container.items()]
                container.clear()
                container.update(items)
                done += 1
    return done


def _nest(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, under in spec.items():
        for container, key in _existing(data, path):
            if isinstance(container, dict):
                container[under] = {**(container.get(under) or {}), key: container.pop(key)}
                done += 1
    return done


_RETYPE: dict[str, Callable[[Any], Any]] = {
    "string": str,
    "integer": lambda v: int(float(v)),
    "number": float,
    "boolean": bool,
    "list": lambda v: [v],
    "minor_units": lambda v: round(v * 100),
}


def _retype(data: Any, spec: Any, scope: Scope) -> int:
    return _each(data, spec, scope, lambda value, kind: _RETYPE[kind](value))


def _number(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Scope], int]:
    def run(data: Any, spec: Any, scope: Scope) -> int:
        def edit(value: Any, operand: Any) -> Any:
            if not isinstance(value, int | float) or isinstance(value, bool):
                return value
            changed = change(value, operand)
            return round(changed) if isinstance(value, int) else round(changed, 4)

        return _each(data, spec, scope, edit)

    return run


def _negate(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, operand: None) -> Any:
        return (not value) if isinstance(value, bool) else -value

    return _each(data, dict.fromkeys(_paths(spec)), scope, edit)


def _swap(data: Any, spec: Any, scope: Scope) -> int:
    left, right = (_existing(data, path) for path in spec)
    for (a, i), (b, j) in zip(left, right, strict=False):
        a[i], b[j] = b[j], a[i]
    return min(len(left), len(right))


def _truncate(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, count: int) -> Any:
        return value[:count] if isinstance(value, list | str) else value

    return _each(data, spec, scope, edit)


def _substitute(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, pairs: Mapping[str, Any]) -> Any:
        if not isinstance(value, str):
            return pairs.get(value, value)
        for old, new in pairs.items():
            value = value.replace(old, str(new))
        return value

    return _each(data, spec, scope, edit)


def _filter(data: Any, spec: Any, scope: Scope, *, keep: bool = True) -> int:
    done = 0
    for path, predicate in spec.items():
        for items in _lists(data, path):
            remaining = [i for i in items if matches(predicate, i, scope) is keep]
            done += len(items) - len(remaining)
            items[:] = remaining
    return done


def _remove(data: Any, spec: Any, scope: Scope) -> int:
    return _filter(data, spec, scope, keep=False)


def _insert(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, insertion in spec.items():
        for items in _lists(data, path):
            value = render(insertion.get("value", {}), {**scope, "whole": data})
            like_first = insertion.get("like_first") and items and isinstance(items[0], dict)
            if isinstance(value, dict):
                value = {**copy.deepcopy(items[0]), **value} if like_first else {**value}
            items.insert(insertion.get("at", 0), value)
            done += 1
    return done


def _duplicate(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, predicate in spec.items():
        for items in _lists(data, path):
            indexes = [i for i, x in enumerate(items) if matches(predicate or {}, x, scope)]
            for index in reversed(indexes):
                items.insert(index + 1, copy.deepcopy(items[index]))
            done += len(indexes)
    return done


def _copy(data: Any, spec: Any, scope: Scope) -> int:
    taken = {to: copy.deepcopy(paths.get(data, source)) for source, to in spec.items()}
    done = 0
    for to, value in taken.items():
        done += _each(data, {to: None}, scope, lambda old, operand, new=value: new, new=True)
    return done


def _reorder(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, by: str) -> Any:
        if not isinstance(value, list):
            return value
        if by == "reverse":
            return value[::-1]
        if by == "rotate":
            return value[1:] + value[:1]
        return sorted(value, key=lambda i: (paths.get(i, by) is None, paths.get(i, by)))

    return _each(data, spec, scope, edit)


def _invert(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, pairs: Mapping[Any, Any]) -> Any:
        both = {**{v: k for k, v in pairs.items()}, **pairs}
        return both.get(value, value)

    return _each(data, spec, scope, edit)


def _slice(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, ends: Sequence[int]) -> Any:
        return value[slice(*ends)] if isinstance(value, list | str) else value

    return _each(data, spec, scope, edit)


_ZERO: dict[type, Any] = {int: 0, float: 0.0, str: "", list: [], dict: {}, bool: False}


def _zero(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, operand: None) -> Any:
        return copy.copy(_ZERO.get(type(value)))

    return _each(data, dict.fromkeys(_paths(spec)), scope, edit)


def _project(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, fields: Sequence[str]) -> Any:
        if isinstance(value, list):
            return [edit(item, fields) for item in value]
        if isinstance(value, dict):
            return {k: v for k, v in value.items() if k in fields}
        return value

    return _each(data, spec, scope, edit)


def _fill(data: Any, spec: Any, scope: Scope) -> int:
    def edit(value: Any, over: Mapping[str, Any]) -> Any:
        if not isinstance(value, list) or not value:
            return value
        first = over.get("from", 0)
        low, high = over.get("range", (0, len(value)))
        keep = over.get("keep", ())
        items = []
        for place, item in enumerate(value):
            if low <= place < high and isinstance(item, dict):
                own = {k: item[k] for k in keep if k in item}
                items.append({**copy.deepcopy(value[first]), **own})
            else:
                items.append(item)
        return items

    return _each(data, spec, scope, edit)


def _paths(spec: Any) -> Sequence[str]:
    return [spec] if isinstance(spec, str) else spec


_BY_PATH = "a mapping of paths"
OPERATIONS: dict[str, tuple[Callable[[Any, Any, Scope], int], str]] = {
    "set": (_set, _BY_PATH),
    "recompute": (_set, _BY_PATH),
    "drop": (_drop, "paths"),
    "rename": (_rename, _BY_PATH),
    "nest": (_nest, _BY_PATH),
    "retype": (_retype, _BY_PATH),
    "scale": (_number(lambda value, by: value * by), _BY_PATH),
    "add": (_number(lambda value, by: value + by), _BY_PATH),
    "negate": (_negate, "paths"),
    "swap": (_swap, "paths"),
    "truncate": (_truncate, _BY_PATH),
    "substitute": (_substitute, _BY_PATH),
    "filter": (_filter, _BY_PATH),
    "remove": (_remove, _BY_PATH),
    "insert": (_insert, _BY_PATH),
    "duplicate": (_duplicate, _BY_PATH),
    "copy": (_copy, _BY_PATH),
    "reorder": (_reorder, _BY_PATH),
    "map": (_set, _BY_PATH),
    "invert": (_invert, _BY_PATH),
    "slice": (_slice, _BY_PATH),
    "zero": (_zero, "paths"),
    "project": (_project, _BY_PATH),
    "fill": (_fill, _BY_PATH),
}
"""Operations by name, each with the required shape of its spec.

An operation is a function `(data, spec, scope) -> number of places changed`.
"""


def apply(operations: Sequence[Mapping[str, Any]], data: Any, scope: Scope | None = None) -> int:
    """Edit `data` in place and return the number of places touched (0 if no place exists)."""
    touched = 0
    for item in operations:
        for name, spec in item.items():
            touched += OPERATIONS[name][0](data, spec, scope or {})
    return touched


def heads(operations: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the first names of the paths that operations edit; in a stored row, its columns."""
    firsts: set[str | int] = set()
    for item in operations:
        for name, spec in item.items():
            targets = [*spec, *spec.values()] if name == "copy" else _paths(spec)
            firsts |= {paths.parse(path)[0] for path in targets}
    return {first for first in firsts if isinstance(first, str)}


def check_operations(operations: Any, where: str = "operations") -> set[str]:
    """Check names, shapes, paths and expressions without data, and return the scope names in use.

    Raises `InputError`.
    """
    if not isinstance(operations, list):
        raise InputError(f"{where}: expected a list of operations, got {operations!r}")
    used: set[str] = set()
    for item in operations:
        used |= _check_operation(item, where)
    return used - {"value", "item", "whole"}


def _check_operation(item: Any, where: str) -> set[str]:
    if not isinstance(item, Mapping) or len(item) != 1:
        raise InputError(
            f"{where}: write an operation as one key, e.g. `set: {{amount: 5}}`; got {item!r}"
        )
    ((name, spec),) = item.items()
    if name not in OPERATIONS:
        raise InputError(f"{where}: unknown operation {name!r}{did_you_mean(name, OPERATIONS)}")
    shape = OPERATIONS[name][1]
    wants_mapping = shape == _BY_PATH
    if wants_mapping != isinstance(spec, Mapping):
        raise InputError(f"{where}: {name} takes {shape}, got {spec!r}")
    for path in spec if wants_mapping else _paths(spec):
        paths.parse(path)
    if name in ("filter", "remove", "duplicate"):
        used: set[str] = set()
        for predicate in spec.values():
            used |= check_predicate(predicate or {}, where)
        return used
    if name == "retype":
        for kind in spec.values():
            if kind not in _RETYPE:
                near = did_you_mean(str(kind), _RETYPE)
                raise InputError(f"{where}: retype: unknown type {kind!r}{near}")
    return names(spec)
