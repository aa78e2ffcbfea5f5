"""Expressions: `${amount * 2}` inside strings. A whole `${…}` keeps its type; within text it is
inserted.

Names come from the scope; a missing field of a known name is None, an unknown name an error.
Arithmetic, comparison, `and`/`or`/`not`, `a if b else c`, indexing, list comprehension-free
functions (`FUNCTIONS`), and nothing else.
"""

from __future__ import annotations

import ast
import functools
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from servers.kit.errors import InputError, did_you_mean
from servers.kit.values import iso, parse_time

_HOLE = re.compile(r"\$\{(.+?)\}(?!\})", re.DOTALL)

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: b is not None and a in b, ast.NotIn: lambda a, b: b is None or a not in b,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Load, ast.And, ast.Or, ast.Not, ast.USub, *_BINARY, *_COMPARE,
)  # fmt: skip


class ExpressionError(InputError):
    """An expression that cannot be read or computed."""


def _where(items: Any, **wanted: Any) -> list[Any]:
    return [
        i
        for i in items or []
        if all(_same(i.get(k.removesuffix("_")), v) for k, v in wanted.items())
    ]


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return value == wanted


def _having(items: Any, field: str, text: str) -> list[Any]:
    return [i for i in items or [] if text.casefold() in str(i.get(field) or "").casefold()]


def _first(items: Any, **wanted: Any) -> Any:
    return next(iter(_where(items, **wanted) if wanted else items or []), None)


def _last(items: Any, **wanted: Any) -> Any:
    found = _where(items, **wanted) if wanted else list(items or [])
    return found[-1] if found else None


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": lambda x: len(x or []),
    "first": _first,
    "last": _last,
    "where": _where,
    "having": _having,
    "pluck": lambda items, field: [i.get(field) for i in items or []],
    "sum": lambda items: sum(i for i in items or [] if i is not None),
    "min": lambda *x: min(*x),
    "max": lambda *x: max(*x),
    "abs": abs,
    "round": round,
    "int": int,
    "float": float,
    "str": str,
    "lower": lambda x: str(x).lower(),
    "upper": lambda x: str(x).upper(),
    "join": lambda items, by=", ": by.join(str(i) for i in items or []),
    "sort": lambda items, field, reverse=False: sorted(
        items or [], key=lambda i: (i.get(field) is None, i.get(field)), reverse=reverse
    ),
    "default": lambda value, other: other if value is None else value,
    "shift": lambda moment, seconds: iso(parse_time(moment) + int(seconds)),
    "seconds_between": lambda a, b: parse_time(b) - parse_time(a),
    "days_between": lambda a, b: (
        (parse_time(b[:10] + "T00:00:00Z") - parse_time(a[:10] + "T00:00:00Z")) // 86_400
    ),
    "money": lambda amount: f"{amount:,.2f}",
    "date": lambda moment: moment[:10],
}
"""Functions that expressions may call.

`where(items, name="Ana")` filters, `first(items, …)` takes the first match or None.
"""


_KEYWORD = re.compile(
    rf"\.({'|'.join(keyword.kwlist)})\b|\b({'|'.join(keyword.kwlist)})(?=\s*=[^=])"
)
"""A field that Python keeps for itself, such as `mail.from`, or a condition on one, such as
`first(mails, from="…")`.
"""


def _quoted(found: re.Match[str]) -> str:
    return f"['{found[1]}']" if found[1] else f"{found[2]}_"


@functools.cache
def _parse(source: str) -> ast.expr:
    try:
        tree = ast.parse(_KEYWORD.sub(_quoted, source.strip()), mode="eval")
    except SyntaxError as wrong:
        raise ExpressionError(f"expression {source!r}: {wrong.msg}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ExpressionError(
                f"expression {source!r}: {type(node).__name__} is not part of the language"
            )
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise ExpressionError(f"expression {source!r}: names do not start with an underscore")
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        ):
            called = ast.unparse(node.func)
            raise ExpressionError(
                f"expression {source!r}: unknown function {called!r}{did_you_mean(called, FUNCTIONS)}"
            )
    return tree.body


def names(value: Any) -> set[str]:
    """Return the names that the expressions in a value refer to.

    Raises `ExpressionError` for what cannot be read.
    """
    if isinstance(value, str):
        found: set[str] = set()
        for hole in _HOLE.findall(value):
            tree = _parse(hole)
            called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
            found |= {
                n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called
            }
        return found
    if isinstance(value, Mapping):
        return set().union(*(names(v) for v in value.values()), *(names(k) for k in value))
    if isinstance(value, list | tuple):
        return set().union(*(names(v) for v in value))
    return set()


def fields(value: Any) -> set[tuple[str, str]]:
    """Return `(name, field)` for every first field that the expressions in a value ask of a name,
    e.g. `("args", "amount")`.
    """
    if isinstance(value, str):
        return {
            (node.value.id, node.attr)
            for hole in _HOLE.findall(value)
            for node in ast.walk(_parse(hole))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
    if isinstance(value, Mapping):
        return set().union(*(fields(v) for v in value.values()))
    return set().union(*(fields(v) for v in value)) if isinstance(value, list | tuple) else set()


def render(value: Any, scope: Mapping[str, Any]) -> Any:
    """Return `value` with every `${…}` in its strings computed over the scope; other values are
    copied. Raises `ExpressionError`.
    """
    if isinstance(value, str):
        if "${" not in value:
            return value
        whole = _HOLE.fullmatch(value)
        if whole and "${" not in whole.group(1):
            return evaluate(whole.group(1), scope)
        return _HOLE.sub(lambda m: _text(evaluate(m.group(1), scope)), value)
    if isinstance(value, Mapping):
        return {k: render(v, scope) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [render(v, scope) for v in value]
    return value


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def evaluate(source: str, scope: Mapping[str, Any]) -> Any:
    """Return the value of one expression (without `${}`). Raises `ExpressionError`."""
    try:
        return _value(_parse(source), scope)
    except ExpressionError:
        raise
    except (
        TypeError,
        ValueError,
        ZeroDivisionError,
        AttributeError,
        IndexError,
        KeyError,
    ) as wrong:
        raise ExpressionError(f"expression {source!r}: {wrong}") from None


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if node.id in scope:
                return scope[node.id]
            if node.id in ("true", "false", "null"):
                return {"true": True, "false": False, "null": None}[node.id]
            raise ExpressionError(
                f"expression: unknown name {node.id!r}{did_you_mean(node.id, scope)}"
            )
        case ast.Attribute():
            owner = _value(node.value, scope)
            return owner.get(node.attr) if isinstance(owner, Mapping) else None
        case ast.Subscript():
            return _item(_value(node.value, scope), node.slice, scope)
        case ast.BinOp():
            return _BINARY[type(node.op)](_value(node.left, scope), _value(node.right, scope))
        case ast.UnaryOp():
            inner = _value(node.operand, scope)
            return (not inner) if isinstance(node.op, ast.Not) else -inner
        case ast.BoolOp():
            result: Any = None
            for part in node.values:
                result = _value(part, scope)
                if bool(result) == isinstance(node.op, ast.Or):
                    return result
            return result
        case ast.Compare():
            left = _value(node.left, scope)
            for op, right_node in zip(node.ops, node.comparators, strict=True):
                right = _value(right_node, scope)
                if not _COMPARE[type(op)](left, right):
                    return False
                left = right
            return True
        case ast.IfExp():
            return _value(node.body if _value(node.test, scope) else node.orelse, scope)
        case ast.List() | ast.Tuple():
            return [_value(e, scope) for e in node.elts]
        case ast.Call():
            arguments = [_value(a, scope) for a in node.args]
            keywords = {k.arg: _value(k.value, scope) for k in node.keywords if k.arg}
            return FUNCTIONS[node.func.id](*arguments, **keywords)  # ty: ignore[missing-attribute]
    raise ExpressionError(f"expression: {type(node).__name__} is not part of the language")


def _item(owner: Any, index: ast.expr, scope: Mapping[str, Any]) -> Any:
    if isinstance(index, ast.Slice):
        low, high = (None if e is None else _value(e, scope) for e in (index.lower, index.upper))
        return owner[low:high]
    key = _value(index, scope)
    if isinstance(owner, Mapping):
        return owner.get(key)
    return owner[key] if owner is not None and -len(owner) <= key < len(owner) else None
