"""What an operation is: the shape of its operand and its effect on the data, side by side.

Most operations are `ByPath`: a mapping of paths to operands, each of which changes the value at its
path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from servers.kit.errors import InputError, quoted
from servers.kit.expr import operands, paths
from servers.kit.expr.evaluate import names, render
from servers.kit.values import fresh

Scope = Mapping[str, Any]
SKIP = object()
"""What `change` returns for a value that the operation cannot act on; it stays as it is."""
LISTS = ("list",)
TEXTS = ("str",)
NUMBERS = ("int", "float")


class OperationError(InputError):
    """An operation that does not fit the data that it met."""


class Operation:
    """One operation. `name` is its key in YAML, `takes` says what stands under the key.

    `whole` says whether the empty path, which stands for all of the data, is one of its paths.
    `kinds` are the types of columns that it can edit in a stored row (any, if there are none);
    `removes` says that it takes columns away or renames them, which no stored row allows.
    """

    name: ClassVar[str]
    takes: ClassVar[str] = "a mapping of paths"
    whole: ClassVar[bool] = False
    kinds: ClassVar[tuple[str, ...]] = ()
    removes: ClassVar[bool] = False

    def targets(self, spec: Any) -> Iterator[tuple[str, Any]]:
        """Yield each path that the operation edits, with the operand for it."""
        raise NotImplementedError

    def check(self, spec: Any, where: str) -> set[str]:
        """Check without data; return the scope names that expressions use. Raises `InputError`."""
        raise NotImplementedError

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Edit data in place and return the number of places touched."""
        raise NotImplementedError

    def stores(self, operand: Any) -> Sequence[Any]:
        """Return the values that it puts into a place, as far as they are known beforehand."""
        return ()

    def check_path(self, path: Any, where: str) -> None:
        """Check a path that is edited. Raises `InputError`."""
        operands.path(path, where)
        if not path and not self.whole:
            raise InputError(f"{where}: needs a path; the empty path stands for the whole")


class ByPath(Operation):
    """An operation that changes the value at each of its paths.

    With `makes`, the last name of a path need not exist yet. With `computes`, expressions in the
    operand are computed for each place, where they also know `value`, `item` and `whole`.
    """

    makes: ClassVar[bool] = False
    computes: ClassVar[bool] = True

    def operand(self, operand: Any, where: str, /) -> None:
        """Check one operand. Raises `InputError`."""
        raise NotImplementedError

    def change(self, value: Any, operand: Any) -> Any:
        """Return the new value of a place, or `SKIP`."""
        raise NotImplementedError

    def targets(self, spec: Any) -> Iterator[tuple[str, Any]]:
        """Yield each path with its operand."""
        yield from spec.items()

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path and every operand."""
        if not isinstance(spec, Mapping) or not spec:
            raise InputError(f"{where}: takes a mapping of paths, got {quoted(spec)}")
        for path, operand in spec.items():
            self.check_path(path, where)
            operands.check(self.operand, operand, f"{where}: {path or 'the whole'}")
        return names(spec)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Change each place."""
        done = 0
        for path, operand in self.targets(spec):
            for container, key in self._places(data, path):
                value = value_at(container, key)
                given = operand
                if self.computes:
                    inner = {**scope, "value": value, "item": container, "whole": data}
                    given = fresh(render(operand, inner))
                    self.operand(given, path)
                changed = self.change(value, given)
                if changed is not SKIP:
                    put(container, key, changed)
                    done += 1
        return done

    def _places(self, data: Any, path: str) -> list[tuple[Any, Any]]:
        if not path:
            return [(data, WHOLE)]
        return list(paths.places(data, path)) if self.makes else existing(data, path)


class Listed(ByPath):
    """An operation without operands: a path, or a list of paths."""

    takes = "a path or a list of paths"
    computes = False

    def targets(self, spec: Any) -> Iterator[tuple[str, Any]]:
        """Yield each path."""
        for path in [spec] if isinstance(spec, str) else spec:
            yield path, None

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path."""
        if not isinstance(spec, str | list) or not spec:
            raise InputError(f"{where}: takes {self.takes}, got {quoted(spec)}")
        for path, _ in self.targets(spec):
            self.check_path(path, where)
        return set()


WHOLE = object()
"""The key of the place that the empty path names."""


def existing(data: Any, path: str) -> list[tuple[Any, Any]]:
    """Return the places of a path that exist; in a dict, the last key of a path may be missing."""
    return [(c, k) for c, k in paths.places(data, path) if _exists(c, k)]


def _exists(container: Any, key: Any) -> bool:
    return not isinstance(container, dict) or key in container


def lists(data: Any, path: str) -> list[list[Any]]:
    """Return the lists at a path."""
    return [value for value in paths.values(data, path) if isinstance(value, list)]


def value_at(container: Any, key: Any) -> Any:
    """Return the value of a place."""
    if key is WHOLE:
        return container
    return container.get(key) if isinstance(container, dict) else container[key]


def put(container: Any, key: Any, value: Any) -> None:
    """Put a value into a place. The whole stays the same object, with other content."""
    if key is not WHOLE:
        container[key] = value
    elif isinstance(container, dict) and isinstance(value, dict):
        kept = dict(value)
        container.clear()
        container.update(kept)
    elif isinstance(container, list) and isinstance(value, list):
        container[:] = value
    else:
        raise OperationError(f"the whole must stay an object, got {quoted(value)}")
