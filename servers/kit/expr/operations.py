"""Operations: a list of one-key items that edit JSON in place, e.g. `- scale: {amount: 2}`, `-
drop: [hint]`, `- truncate: {items: 3}`.

Values may hold `${…}` over the scope, to which `value` (what stands there now), `item` (what holds
it) and `whole` (the data) are added.
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
    return [(c, k) for c, k in paths.places(data, path) if not isinstance(c, dict) or k in c]


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
        for container, key in list(paths.places(data, path)) if new else _existing(data, path):
            now = container.get(key) if isinstance(container, dict) else container[key]
            container[key] = change(
                now, render(operand, {**scope, "value": now, "item": container, "whole": data})
            )
            done += 1
    return done


def _set(data: Any, spec: Any, scope: Scope) -> int:
    return _each(data, spec, scope, lambda now, wanted: copy.deepcopy(wanted), new=True)


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
    return _each(data, spec, scope, lambda now, kind: _RETYPE[kind](now))


def _number(change: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Scope], int]:
    def run(data: Any, spec: Any, scope: Scope) -> int:
        def edit(now: Any, operand: Any) -> Any:
            if not isinstance(now, int | float) or isinstance(now, bool):
                return now
            changed = change(now, operand)
            return round(changed) if isinstance(now, int) else round(changed, 4)

        return _each(data, spec, scope, edit)

    return run


def _negate(data: Any, spec: Any, scope: Scope) -> int:
    return _each(
        data,
        dict.fromkeys(_paths(spec)),
        scope,
        lambda now, _: (not now) if isinstance(now, bool) else -now,
    )


def _swap(data: Any, spec: Any, scope: Scope) -> int:
    left, right = (list(_existing(data, path)) for path in spec)
    for (a, i), (b, j) in zip(left, right, strict=False):
        a[i], b[j] = b[j], a[i]
    return min(len(left), len(right))


def _truncate(data: Any, spec: Any, scope: Scope) -> int:
    return _each(
        data, spec, scope, lambda now, count: now[:count] if isinstance(now, list | str) else now
    )


def _substitute(data: Any, spec: Any, scope: Scope) -> int:
    def edit(now: Any, pairs: Mapping[str, Any]) -> Any:
        if not isinstance(now, str):
            return pairs.get(now, now)
        for old, new in pairs.items():
            now = now.replace(old, str(new))
        return now

    return _each(data, spec, scope, edit)


def _filter(data: Any, spec: Any, scope: Scope, *, keep: bool = True) -> int:
    done = 0
    for path, predicate in spec.items():
        for found in paths.values(data, path):
            if isinstance(found, list):
                kept = [i for i in found if matches(predicate, i, scope) is keep]
                done += len(found) - len(kept)
                found[:] = kept
    return done


def _remove(data: Any, spec: Any, scope: Scope) -> int:
    return _filter(data, spec, scope, keep=False)


def _insert(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, item in spec.items():
        for found in paths.values(data, path):
            if isinstance(found, list):
                base = (
                    copy.deepcopy(found[0])
                    if found and isinstance(found[0], dict) and item.get("like_first")
                    else {}
                )
                made = render(item.get("value", {}), {**scope, "whole": data})
                found.insert(
                    item.get("at", 0), {**base, **made} if isinstance(made, dict) else made
                )
                done += 1
    return done


def _duplicate(data: Any, spec: Any, scope: Scope) -> int:
    done = 0
    for path, predicate in spec.items():
        for found in paths.values(data, path):
            if isinstance(found, list):
                twins = [
                    (i, copy.deepcopy(x))
                    for i, x in enumerate(found)
                    if matches(predicate or {}, x, scope)
                ]
                for index, twin in reversed(twins):
                    found.insert(index + 1, twin)
                done += len(twins)
    return done


def _copy(data: Any, spec: Any, scope: Scope) -> int:
    taken = {to: copy.deepcopy(paths.get(data, source)) for source, to in spec.items()}
    return sum(
        _each(data, {to: None}, scope, lambda now, _, value=value: value, new=True)
        for to, value in taken.items()
    )


def _reorder(data: Any, spec: Any, scope: Scope) -> int:
    def edit(now: Any, by: str) -> Any:
        if not isinstance(now, list):
            return now
        if by == "reverse":
            return now[::-1]
        if by == "rotate":
            return now[1:] + now[:1]
        return sorted(now, key=lambda i: (paths.get(i, by) is None, paths.get(i, by)))

    return _each(data, spec, scope, edit)


def _invert(data: Any, spec: Any, scope: Scope) -> int:
    def edit(now: Any, pairs: Mapping[Any, Any]) -> Any:
        both = {**{v: k for k, v in pairs.items()}, **pairs}
        return both.get(now, now)

    return _each(data, spec, scope, edit)


def _slice(data: Any, spec: Any, scope: Scope) -> int:
    return _each(
        data,
        spec,
        scope,
        lambda now, ends: now[slice(*ends)] if isinstance(now, list | str) else now,
    )


_ZERO: dict[type, Any] = {int: 0, float: 0.0, str: "", list: [], dict: {}, bool: False}


def _zero(data: Any, spec: Any, scope: Scope) -> int:
    return _each(
        data, dict.fromkeys(_paths(spec)), scope, lambda now, _: copy.copy(_ZERO.get(type(now)))
    )


def _project(data: Any, spec: Any, scope: Scope) -> int:
    def edit(now: Any, kept: Sequence[str]) -> Any:
        if isinstance(now, list):
            return [edit(i, kept) for i in now]
        return {k: v for k, v in now.items() if k in kept} if isinstance(now, dict) else now

    return _each(data, spec, scope, edit)


def _fill(data: Any, spec: Any, scope: Scope) -> int:
    def edit(now: Any, over: Mapping[str, Any]) -> Any:
        if not isinstance(now, list) or not now:
            return now
        source = over.get("from", 0)
        (low, high) = over.get("range", (0, len(now)))
        kept = set(over.get("keep", ()))
        return [
            {**copy.deepcopy(now[source]), **{k: i[k] for k in kept if k in i}}
            if low <= n < high and isinstance(i, dict)
            else i
            for n, i in enumerate(now)
        ]

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
    "scale": (_number(lambda now, by: now * by), _BY_PATH),
    "add": (_number(lambda now, by: now + by), _BY_PATH),
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
"""Operations by name: the function `(data, spec, scope) -> places changed` and the shape of its
spec.
"""


def apply(operations: Sequence[Mapping[str, Any]], data: Any, scope: Scope | None = None) -> int:
    """Edit `data` in place and return how many places were touched (0: nothing there to edit)."""
    return sum(
        OPERATIONS[name][0](data, spec, scope or {})
        for item in operations
        for name, spec in item.items()
    )


def heads(operations: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the first names of the paths that operations edit, which in a stored row are columns."""
    found: set[str] = set()
    for item in operations:
        for name, spec in item.items():
            targets = [*spec, *spec.values()] if name == "copy" else _paths(spec)
            found |= {
                first for first in (paths.parse(p)[0] for p in targets) if isinstance(first, str)
            }
    return found


def check_operations(operations: Any, where: str = "operations") -> set[str]:
    """Check names, shapes, paths and expressions without data; return the scope names that are
    used. Raises `InputError`.
    """
    if not isinstance(operations, list):
        raise InputError(f"{where}: wants a list of operations, got {operations!r}")
    used: set[str] = set()
    for item in operations:
        if not isinstance(item, Mapping) or len(item) != 1:
            raise InputError(
                f"{where}: each operation is one key, e.g. `set: {{amount: 5}}`; got {item!r}"
            )
        ((name, spec),) = item.items()
        if name not in OPERATIONS:
            raise InputError(f"{where}: unknown operation {name!r}{did_you_mean(name, OPERATIONS)}")
        wants_mapping = OPERATIONS[name][1] == _BY_PATH
        if wants_mapping != isinstance(spec, Mapping):
            raise InputError(f"{where}: {name} wants {OPERATIONS[name][1]}, got {spec!r}")
        for path in _paths(spec) if not wants_mapping else spec:
            paths.parse(path)
        if name in ("filter", "remove", "duplicate"):
            for predicate in spec.values():
                used |= check_predicate(predicate or {}, where)
        elif name == "retype" and not set(spec.values()) <= set(_RETYPE):
            wrong = next(v for v in spec.values() if v not in _RETYPE)
            raise InputError(
                f"{where}: retype: unknown type {wrong!r}{did_you_mean(str(wrong), _RETYPE)}"
            )
        else:
            used |= names(spec)
    return used - {"value", "item", "whole"}
