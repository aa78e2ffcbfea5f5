"""Operations: a list of one-key items that edit JSON in place.

Examples are `- scale: {amount: 2}`, `- drop: [hint]` and `- truncate: {items: 3}`. Values may hold
`${…}` over the scope, which also has `value` (the present value of the place), `item` (the object
or list that holds it) and `whole` (all of the data). What is taken from the data is copied.

Each operation is one class, here or in `operations_of_lists`: what it takes and what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from servers.kit.errors import InputError, did_you_mean, quoted
from servers.kit.expr import bounds, operands, paths
from servers.kit.expr.operation import (
    NUMBERS,
    SKIP,
    WHOLE,
    ByPath,
    Listed,
    Operation,
    OperationError,
    Scope,
    existing,
    put,
)
from servers.kit.expr.operations_of_lists import OF_LISTS, only
from servers.kit.values import fresh


class Set(ByPath):
    """Put a value into each place, which need not exist yet."""

    name = "set"
    whole = True
    makes = True

    operand = staticmethod(operands.anything)

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path; the whole can only become another object."""
        used = super().check(spec, where)
        if "" in spec:
            operands.check(operands.fields, spec[""], f"{where}: the whole")
        return used

    def change(self, value: Any, operand: Any) -> Any:
        """Return the value to set."""
        return operand

    def stores(self, operand: Any) -> Sequence[Any]:
        """Return the value itself."""
        return (operand,)


class Recompute(Set):
    """Put a value that follows from the rest of the data into each place."""

    name = "recompute"


class Map(Set):
    """Put a value that follows from the present one into each place."""

    name = "map"


class Drop(Listed):
    """Take each place out of what holds it."""

    name = "drop"
    removes = True

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Delete the places, the last ones first."""
        done = 0
        for path, _ in self.targets(spec):
            for container, key in reversed(existing(data, path)):
                del container[key]
                done += 1
        return done


class Rename(ByPath):
    """Give a field another name, in its old place."""

    name = "rename"
    removes = True
    operand = staticmethod(operands.text)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Rename each field that exists."""
        done = 0
        for path, new in spec.items():
            for container, key in existing(data, path):
                if isinstance(container, dict):
                    items = [(new if k == key else k, v) for k, v in container.items()]
                    container.clear()
                    container.update(items)
                    done += 1
        return done


class Nest(ByPath):
    """Move a field into an object beside it; the whole moves into a field of a new object."""

    name = "nest"
    whole = True
    removes = True
    operand = staticmethod(operands.text)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Move each field that exists."""
        done = 0
        for path, under in spec.items():
            if not path:
                put(data, WHOLE, {under: fresh(data)})
                done += 1
                continue
            for container, key in existing(data, path):
                if isinstance(container, dict):
                    beside = container.get(under)
                    if beside is not None and not isinstance(beside, dict):
                        raise OperationError(f"nest: {under!r} is there already and is no object")
                    container[under] = {**(beside or {}), key: container.pop(key)}
                    done += 1
        return done


class Retype(ByPath):
    """Turn values into another type."""

    name = "retype"
    computes = False
    makers: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "string": str,
        "integer": lambda v: int(float(v)),
        "number": float,
        "boolean": bool,
        "list": lambda v: [v],
        "minor_units": lambda v: round(v * 100),
    }
    operand = staticmethod(operands.one_of(tuple(makers), "type"))
    _samples: ClassVar[dict[str, Any]] = {
        "string": "",
        "integer": 0,
        "number": 0.5,
        "boolean": True,
        "list": [],
        "minor_units": 0,
    }

    def change(self, value: Any, operand: str) -> Any:
        """Convert a value; one that is missing stays so."""
        if value is None:
            return SKIP
        try:
            return self.makers[operand](value)
        except (TypeError, ValueError, OverflowError):
            raise OperationError(f"{quoted(value)} cannot become {operand}") from None

    def stores(self, operand: str) -> Sequence[Any]:
        """Return a value of the type."""
        return (self._samples[operand],)


class _Arithmetic(ByPath):
    kinds = NUMBERS
    operand = staticmethod(operands.number)

    def change(self, value: Any, operand: Any) -> Any:
        """Change a number; whole numbers stay whole."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return SKIP
        changed = bounds.number(self.of(value, operand))
        return round(changed) if isinstance(value, int) else round(changed, 4)

    def of(self, value: float, operand: float) -> float:
        """Return the changed number."""
        raise NotImplementedError


class Scale(_Arithmetic):
    """Multiply numbers."""

    name = "scale"

    def of(self, value: float, operand: float) -> float:
        """Multiply."""
        return value * operand


class Add(_Arithmetic):
    """Add to numbers."""

    name = "add"

    def of(self, value: float, operand: float) -> float:
        """Add."""
        return value + operand


class Negate(Listed):
    """Change the sign of numbers, and turn true into false and false into true."""

    name = "negate"
    kinds = ("int", "float", "bool")

    def change(self, value: Any, operand: None) -> Any:
        """Return the opposite of a number or a truth value."""
        if isinstance(value, bool):
            return not value
        return -value if isinstance(value, int | float) else SKIP


class Zero(Listed):
    """Empty values: 0, "", [], {} or false, by their type."""

    name = "zero"
    whole = True
    _of: ClassVar[dict[type, Callable[[], Any]]] = {
        int: int,
        float: float,
        str: str,
        list: list,
        dict: dict,
        bool: bool,
    }

    def change(self, value: Any, operand: None) -> Any:
        """Return the empty value of the same type."""
        empty = self._of.get(type(value))
        return SKIP if empty is None else empty()


class Substitute(ByPath):
    """Replace parts of texts, or whole values of other types."""

    name = "substitute"
    operand = staticmethod(operands.pairs)

    def change(self, value: Any, operand: Mapping[Any, Any]) -> Any:
        """Replace what is there; a value that holds none of it is left alone."""
        if not isinstance(value, str):
            plain = not isinstance(value, list | dict)
            return operand[value] if plain and value in operand else SKIP
        changed = value
        for old, new in operand.items():
            changed = changed.replace(str(old), str(new))
        return SKIP if changed == value else changed


class Invert(ByPath):
    """Turn values into their opposites, which are given in pairs; either turns into the other."""

    name = "invert"
    operand = staticmethod(operands.pairs)

    def change(self, value: Any, operand: Mapping[Any, Any]) -> Any:
        """Return the opposite of a value that has one."""
        if isinstance(value, list | dict):
            return SKIP
        both = {**{new: old for old, new in operand.items()}, **operand}
        return both.get(value, SKIP)

    def stores(self, operand: Mapping[Any, Any]) -> Sequence[Any]:
        """Return every value that it may put in."""
        return [*operand, *operand.values()]


class Swap(Listed):
    """Exchange the values of two paths."""

    name = "swap"
    takes = "two paths, e.g. [days[*].low, days[*].high]"

    def check(self, spec: Any, where: str) -> set[str]:
        """Check that there are two paths."""
        if not isinstance(spec, list) or len(spec) != 2:
            raise InputError(f"{where}: takes {self.takes}; got {quoted(spec)}")
        return super().check(spec, where)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Exchange the values, place by place."""
        left, right = (existing(data, path) for path in spec)
        for (a, i), (b, j) in zip(left, right, strict=False):
            a[i], b[j] = b[j], a[i]
        return min(len(left), len(right))


class Copy(ByPath):
    """Copy the value of one path to another path."""

    name = "copy"
    whole = True
    operand = staticmethod(operands.path)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Copy what exists."""
        taken: dict[str, Any] = {}
        for source, to in spec.items():
            if paths.is_many(source) or paths.values(data, source):
                taken[to] = fresh(paths.get(data, source))
        done = 0
        for to, value in taken.items():
            for container, key in paths.places(data, to) if to else [(data, WHOLE)]:
                put(container, key, fresh(value))
                done += 1
        return done


class Keep(Operation):
    """Keep only the named paths and leave out everything else: the opposite of `drop`.

    A list of paths keeps these of the whole; a mapping keeps, in the object or in each item of the
    list at a path, only the paths under it.
    """

    name = "keep"
    takes = "a list of paths, or a mapping of paths to lists of paths"
    whole = True
    kinds = ("list", "dict")

    def targets(self, spec: Any) -> Any:
        """Yield each path with what is kept there."""
        given = {"": spec} if isinstance(spec, list) else spec
        yield from given.items()

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path."""
        if not isinstance(spec, list | Mapping) or not spec:
            raise InputError(f"{where}: takes {self.takes}; got {quoted(spec)}")
        for path, kept in self.targets(spec):
            self.check_path(path, where)
            operands.path_list(kept, f"{where}: {path}" if path else where)
        return set()

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Leave out everything else."""
        done = 0
        for path, kept in self.targets(spec):
            parts = [paths.parse(inner) for inner in kept]
            for container, key in existing(data, path) if path else [(data, WHOLE)]:
                value = container if key is WHOLE else container[key]
                if isinstance(value, dict | list):
                    put(container, key, only(value, parts))
                    done += 1
        return done


class Project(Keep):
    """Keep only the named fields of an object, or of each item of a list."""

    name = "project"
    takes = "a mapping of paths to lists of fields"

    def check(self, spec: Any, where: str) -> set[str]:
        """Check that it is a mapping of paths."""
        if not isinstance(spec, Mapping):
            raise InputError(f"{where}: takes a mapping of paths, got {quoted(spec)}")
        return super().check(spec, where)


_OWN: tuple[type[Operation], ...] = (
    Set, Drop, Keep, Rename, Nest, Retype, Scale, Add, Negate, Zero, Invert, Swap, Substitute, Map,
    Copy, Project, Recompute,
)  # fmt: skip
OPERATIONS: dict[str, Operation] = {kind.name: kind() for kind in (*_OWN, *OF_LISTS)}
"""Operations by name."""


_MISFITS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""Exceptions that an operation may raise when the data does not fit it."""


def apply(operations: Sequence[Mapping[str, Any]], data: Any, scope: Scope | None = None) -> int:
    """Edit `data` in place and return the number of places touched (0 if no place exists).

    Raises `InputError` if an operation does not fit the data or an expression cannot be computed.
    """
    touched = 0
    for item in operations:
        for name, spec in item.items():
            try:
                touched += OPERATIONS[name].run(data, spec, scope or {})
            except InputError as wrong:
                raise OperationError(f"{name}: {wrong}") from None
            except _MISFITS as wrong:
                raise OperationError(f"{name}: does not fit the data: {wrong}") from None
    return touched


def targets(operations: Sequence[Mapping[str, Any]]) -> list[tuple[Operation, str, Any]]:
    """Return every path that operations edit, with the operation and its operand."""
    found = []
    for item in operations:
        for name, spec in item.items():
            operation = OPERATIONS[name]
            found += [(operation, path, operand) for path, operand in operation.targets(spec)]
            if isinstance(operation, Copy):
                found += [(operation, to, path) for path, to in spec.items()]
    return found


def heads(operations: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the first names of the paths that operations edit; in a stored row, its columns.

    The empty path, which stands for the whole, has the name "".
    """
    firsts: set[str | int] = set()
    for _, path, _ in targets(operations):
        firsts.add(paths.parse(path)[0] if path else "")
    return {first for first in firsts if isinstance(first, str)}


def check_operations(operations: Any, where: str = "operations") -> set[str]:
    """Check names, operands, paths and expressions without data, and return the scope names in use.

    Raises `InputError`.
    """
    if not isinstance(operations, list):
        raise InputError(f"{where}: expected a list of operations, got {quoted(operations)}")
    used: set[str] = set()
    for item in operations:
        used |= _check_operation(item, where)
    return used - {"value", "item", "whole"}


def _check_operation(item: Any, where: str) -> set[str]:
    if not isinstance(item, Mapping) or len(item) != 1:
        raise InputError(
            f"{where}: write an operation as one key, e.g. `set: {{amount: 5}}`; got {quoted(item)}"
        )
    ((name, spec),) = item.items()
    if name not in OPERATIONS:
        raise InputError(
            f"{where}: unknown operation {name!r}{did_you_mean(str(name), OPERATIONS)}"
        )
    return OPERATIONS[name].check(spec, f"{where}: {name}")
