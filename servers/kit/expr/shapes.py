"""What expressions take from values of which only the shape is known: fields, items, no values.

A mistyped field is no error when an expression is computed, since a field may be missing. So the
fields are compared here with those that rows have (their columns) or that replies had.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from servers.kit.expr.evaluate import _CONSTANTS, expressions

_SAME = frozenset({"where", "having", "sort"})
_ITEM = frozenset({"first", "last"})
_FILTERS = frozenset({"where", "first", "last"})
_FIELD_NEXT = frozenset({"having", "pluck", "sort"})
"""Functions whose second argument names a field of the items."""


@dataclass
class Shape:
    """The shape of a value: `fields` of objects, `items` of lists; `open` may hold anything.

    Several values share one shape, so a field may be missing in some of them. A shape of nothing
    but nulls has neither fields nor items.
    """

    fields: dict[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    open: bool = False

    def add(self, value: Any) -> Shape:
        """Add the shape of a JSON value and return this."""
        if isinstance(value, Mapping):
            for name, inner in value.items():
                self.fields.setdefault(str(name), Shape()).add(inner)
        elif isinstance(value, list | tuple):
            self.items = self.items or Shape()
            for inner in value:
                self.items.add(inner)
        return self

    def join(self, other: Shape) -> Shape:
        """Return the shape of a value that has either shape."""
        fields = dict(self.fields)
        for name, inner in other.fields.items():
            fields[name] = fields[name].join(inner) if name in fields else inner
        items = self.items
        if other.items is not None:
            items = other.items if items is None else items.join(other.items)
        return Shape(fields, items, self.open or other.open)


PLAIN = Shape()
"""A number, a text, a truth value."""
ANYTHING = Shape(open=True)

Lost = Callable[[str, str, Iterable[str]], None]
"""Gets what an expression takes from a value that has no such field: the path as it is written, the
field, and the fields that there are.
"""


def walk(value: Any, scope: Mapping[str, Shape], lost: Lost) -> None:
    """Call `lost` for every field that the `${…}` in a value take and that no value has.

    Names that are not in the scope may be anything.
    """
    if isinstance(value, str):
        for tree in expressions(value):
            _Walk(scope, lost).of(tree)
    elif isinstance(value, Mapping):
        for inner in value.values():
            walk(inner, scope, lost)
    elif isinstance(value, list | tuple):
        for inner in value:
            walk(inner, scope, lost)


class _Walk:
    def __init__(self, scope: Mapping[str, Shape], lost: Lost) -> None:
        self._scope = scope
        self._lost = lost

    def of(self, node: ast.expr) -> Shape:
        """Return the shape of an expression's value."""
        match node:
            case ast.Name():
                if node.id in _CONSTANTS:
                    return PLAIN
                return self._scope.get(node.id, ANYTHING)
            case ast.Attribute():
                return self._taken(self.of(node.value), node.attr, node)
            case ast.Subscript():
                return self._item(node)
            case ast.IfExp():
                self.of(node.test)
                return self.of(node.body).join(self.of(node.orelse))
            case ast.BoolOp():
                joined = Shape()
                for part in node.values:
                    joined = joined.join(self.of(part))
                return joined
            case ast.BinOp():
                return self.of(node.left).join(self.of(node.right))
            case ast.List() | ast.Tuple():
                items = Shape()
                for part in node.elts:
                    items = items.join(self.of(part))
                return Shape(items=items)
            case ast.Call():
                return self._called(node)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.of(part)
        return PLAIN

    def _taken(self, owner: Shape, name: str, node: ast.AST) -> Shape:
        if name in owner.fields:
            return owner.fields[name]
        if not owner.open:
            self._lost(ast.unparse(node), name, owner.fields)
        return ANYTHING

    def _item(self, node: ast.Subscript) -> Shape:
        owner = self.of(node.value)
        if isinstance(node.slice, ast.Slice):
            return owner
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._taken(owner, node.slice.value, node)
        self.of(node.slice)
        if owner.items is not None:
            return owner.items
        joined = Shape(open=owner.open or not owner.fields)
        for inner in owner.fields.values():
            joined = joined.join(inner)
        return joined

    def _called(self, node: ast.Call) -> Shape:
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        given = [self.of(part) for part in node.args]
        for keyword in node.keywords:
            self.of(keyword.value)
        if called == "default":
            return given[0].join(given[-1]) if given else ANYTHING
        if not given or called not in _SAME | _ITEM | {"pluck"}:
            return PLAIN
        items = given[0].items or Shape(open=given[0].open)
        if called in _FILTERS:
            for keyword in node.keywords:
                if keyword.arg:
                    name = keyword.arg.removesuffix("_")
                    self._taken(items, keyword.arg if keyword.arg in items.fields else name, node)
        if called in _FIELD_NEXT and len(node.args) > 1:
            by = node.args[1]
            if isinstance(by, ast.Constant) and isinstance(by.value, str):
                taken = self._taken(items, by.value, node)
                if called == "pluck":
                    return Shape(items=taken)
        if called == "pluck":
            return Shape(items=ANYTHING)
        return items if called in _ITEM else Shape(items=items)


def check_path(shape: Shape, parts: Iterable[str | int], lost: Lost, written: str) -> Shape:
    """Return the shape at a parsed path; call `lost` where no value has the field."""
    for part in parts:
        if shape.open:
            return shape
        if isinstance(part, str) and not part.startswith("["):
            if part not in shape.fields:
                lost(written, part, shape.fields)
                return ANYTHING
            shape = shape.fields[part]
            continue
        if shape.items is None:
            lost(written, f"[{part}]" if isinstance(part, int) else f"{part}]", shape.fields)
            return ANYTHING
        if isinstance(part, str) and "=" in part:
            name = part[1:].partition("=")[0]
            if name not in shape.items.fields and not shape.items.open:
                lost(written, name, shape.items.fields)
        shape = shape.items
    return shape
