"""The operations that act on lists, and on texts as lists of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from servers.kit.errors import InputError, quoted
from servers.kit.expr import operands, paths
from servers.kit.expr.evaluate import names, render
from servers.kit.expr.operation import LISTS, SKIP, TEXTS, ByPath, Operation, Scope, lists
from servers.kit.expr.predicates import check_predicate, matches
from servers.kit.values import fresh


class Truncate(ByPath):
    """Keep the first items of a list, or the first characters of a text."""

    name = "truncate"
    kinds = (*LISTS, *TEXTS)
    operand = staticmethod(operands.count)

    def change(self, value: Any, operand: int) -> Any:
        """Cut a list or a text."""
        return value[:operand] if isinstance(value, list | str) else SKIP


class Slice(ByPath):
    """Keep the items (or characters) between two ends."""

    name = "slice"
    kinds = (*LISTS, *TEXTS)
    operand = staticmethod(operands.ends)

    def change(self, value: Any, operand: Sequence[int | None]) -> Any:
        """Cut a list or a text at both ends."""
        return value[slice(*operand)] if isinstance(value, list | str) else SKIP


class Reorder(ByPath):
    """Put a list into another order: `reverse`, `rotate`, or by a field of its items.

    `{by: field, descending: true}` says the same in full.
    """

    name = "reorder"
    kinds = LISTS
    words: ClassVar[tuple[str, ...]] = ("reverse", "rotate")
    _full = staticmethod(
        operands.keys({"by": operands.path, "descending": operands.boolean}, ("by",))
    )

    def operand(self, operand: Any, where: str, /) -> None:
        """Take a word, a field, or both in full."""
        if isinstance(operand, Mapping):
            self._full(operand, where)
            return
        operands.path(operand, where)
        if not operand:
            raise InputError(f"{where}: takes reverse, rotate or a field")
        if operand not in self.words and operands.is_near(operand, self.words):
            raise InputError(
                f"{where}: {operand!r} is neither reverse nor rotate; "
                f"a field of that name is written {{by: {operand}}}"
            )

    def change(self, value: Any, operand: Any) -> Any:
        """Return the list in its new order; one whose items lack the field is left alone."""
        if not isinstance(value, list):
            return SKIP
        if operand == "reverse":
            return value[::-1]
        if operand == "rotate":
            return value[1:] + value[:1]
        full = operand if isinstance(operand, Mapping) else {"by": operand}
        by = full["by"]
        if not any(paths.values(item, by) for item in value):
            return SKIP
        return sorted(
            value,
            key=lambda item: (paths.get(item, by) is None, paths.get(item, by)),
            reverse=full.get("descending", False),
        )


class Fill(ByPath):
    """Pad a list: items get the content of one of them, the one at `from`.

    `range` says which ones, `keep` which fields stay their own.
    """

    name = "fill"
    kinds = LISTS
    operand = staticmethod(
        operands.keys(
            {
                "from": operands.whole_number,
                "range": operands.ends,
                "keep": operands.path_list,
            }
        )
    )

    def change(self, value: Any, operand: Mapping[str, Any]) -> Any:
        """Return the padded list; one without the item, or without the range, is left alone."""
        first = operand.get("from", 0)
        if not isinstance(value, list) or not -len(value) <= first < len(value):
            return SKIP
        filled = range(len(value))[slice(*operand.get("range", (0, None)))]
        if not filled or not isinstance(value[first], dict):
            return SKIP
        items = list(value)
        for place in filled:
            if isinstance(value[place], dict):
                own = {k: value[place][k] for k in operand.get("keep", ()) if k in value[place]}
                items[place] = {**fresh(value[first]), **own}
        return items


class _Chosen(Operation):
    kinds = LISTS

    def targets(self, spec: Any) -> Any:
        """Yield each path with its condition."""
        yield from spec.items()

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path and every condition."""
        if not isinstance(spec, Mapping) or not spec:
            raise InputError(f"{where}: takes a mapping of paths, got {quoted(spec)}")
        used: set[str] = set()
        for path, predicate in spec.items():
            self.check_path(path, where)
            used |= self.condition(predicate, f"{where}: {path}")
        return used

    def condition(self, predicate: Any, where: str) -> set[str]:
        """Check a condition on items and return the scope names in use."""
        return check_predicate(predicate, where)


class Filter(_Chosen):
    """Leave out the items of a list that do not meet a condition."""

    name = "filter"
    keep = True

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Leave items out."""
        done = 0
        for path, predicate in spec.items():
            for items in lists(data, path):
                remaining = [i for i in items if matches(predicate, i, scope) is self.keep]
                done += len(items) - len(remaining)
                items[:] = remaining
        return done


class Remove(Filter):
    """Leave out the items of a list that meet a condition."""

    name = "remove"
    keep = False


class Duplicate(_Chosen):
    """List the items that meet a condition twice; without a condition, all items."""

    name = "duplicate"

    def condition(self, predicate: Any, where: str) -> set[str]:
        """Check a condition, which may be left out."""
        return check_predicate({} if predicate is None else predicate, where)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Repeat items."""
        done = 0
        for path, predicate in spec.items():
            for items in lists(data, path):
                indexes = [i for i, x in enumerate(items) if matches(predicate or {}, x, scope)]
                for index in reversed(indexes):
                    items.insert(index + 1, fresh(items[index]))
                done += len(indexes)
        return done


class Insert(Operation):
    """Put a new item into a list: `value`, `at` a place (the first, if nothing is said).

    With `like_first` it has everything else from the list's first item.
    """

    name = "insert"
    kinds = LISTS
    operand = staticmethod(
        operands.keys(
            {
                "at": operands.whole_number,
                "value": operands.anything,
                "like_first": operands.boolean,
            },
            ("value", "like_first"),
        )
    )

    def targets(self, spec: Any) -> Any:
        """Yield each path with what is inserted there."""
        yield from spec.items()

    def check(self, spec: Any, where: str) -> set[str]:
        """Check every path and every item."""
        if not isinstance(spec, Mapping) or not spec:
            raise InputError(f"{where}: takes a mapping of paths, got {quoted(spec)}")
        for path, insertion in spec.items():
            self.check_path(path, where)
            self.operand(insertion, f"{where}: {path}")
            like_first = insertion.get("like_first") and "value" in insertion
            if like_first and not operands.is_computed(insertion["value"]):
                operands.fields(insertion["value"], f"{where}: {path}: value")
        return names(spec)

    def run(self, data: Any, spec: Any, scope: Scope) -> int:
        """Insert the item into each list."""
        done = 0
        for path, insertion in spec.items():
            for items in lists(data, path):
                inner = {**scope, "whole": data, "item": items}
                value = fresh(render(insertion.get("value", {}), inner))
                if insertion.get("like_first") and isinstance(value, dict):
                    if not items or not isinstance(items[0], dict):
                        continue
                    value = {**fresh(items[0]), **value}
                items.insert(render(insertion.get("at", 0), inner), value)
                done += 1
        return done


OF_LISTS: tuple[type[Operation], ...] = (
    Truncate,
    Slice,
    Filter,
    Remove,
    Insert,
    Duplicate,
    Fill,
    Reorder,
)


def only(value: Any, kept: Sequence[tuple[str | int, ...]]) -> Any:
    """Return a value with only the parts that some paths name.

    A name that meets a list stands for that field of each item.
    """
    if any(not parts for parts in kept):
        return value
    if isinstance(value, list):
        plain = [parts for parts in kept if _is_name(parts[0])]
        chosen: dict[int, list[tuple[str | int, ...]]] = {}
        for parts in kept:
            for index in _indexes(value, parts[0]):
                chosen.setdefault(index, []).append(parts[1:])
        if plain:
            chosen = {index: [*chosen.get(index, []), *plain] for index in range(len(value))}
        return [only(value[index], chosen[index]) for index in sorted(chosen)]
    if isinstance(value, dict):
        by_name: dict[str, list[tuple[str | int, ...]]] = {}
        for parts in kept:
            if _is_name(parts[0]) and parts[0] in value:
                by_name.setdefault(str(parts[0]), []).append(parts[1:])
        return {k: only(v, by_name[k]) for k, v in value.items() if k in by_name}
    return value


def _is_name(part: str | int) -> bool:
    return isinstance(part, str) and not part.startswith("[")


def _indexes(items: list[Any], part: str | int) -> list[int]:
    if _is_name(part):
        return []
    return [int(index) for _, index in paths.keys_of(items, part)]
