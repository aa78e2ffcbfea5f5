"""Expressions: `${amount * 2}` inside strings.

A string that is one whole `${…}` becomes the value itself, with its type; inside other text the
value is inserted. Names come from the scope. A missing field of a known name is None; an unknown
name is an error. The language has arithmetic, comparison, `and`/`or`/`not`, `a if b else c`,
indexing and the functions in `FUNCTIONS`, and nothing else: no comprehensions, for example. How
much an expression may be and may make is bounded (`bounds`).
"""

from __future__ import annotations

import ast
import functools
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from servers.kit import plain
from servers.kit.errors import cut, did_you_mean, quoted
from servers.kit.expr import bounds
from servers.kit.expr.bounds import ExpressionError
from servers.kit.values import iso, parse_time

_HOLE = re.compile(r"\$\{(.+?)\}(?!\})", re.DOTALL)

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: bounds.plus,
    ast.Sub: operator.sub,
    ast.Mult: bounds.times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: bounds.modulo,
}
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: b is not None and a in b,
    ast.NotIn: lambda a, b: b is None or a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Load,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.USub, ast.Compare,
    ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple, *_BINARY, *_COMPARE,
)  # fmt: skip


_CONSTANTS = {"true": True, "false": False, "null": None}
_FAILURES = (TypeError, ValueError, ArithmeticError, AttributeError, LookupError, OSError)
"""Exceptions that an expression may raise when the data does not fit it.

`OSError` is what the system says of a moment that it cannot compute.
"""
_ELSEWHERE = {
    "Pow": "`**` is not part of the language; write a product",
    "Dict": "a mapping is not part of the language; write it in YAML, with ${…} in its values",
    "JoinedStr": "an f-text is not part of the language; put values into a text with ${…}",
    "Lambda": "`lambda` is not part of the language; filter with where(items, field=value)",
    "ListComp": "a comprehension is not part of the language; use where(…) and pluck(…)",
    "GeneratorExp": "a comprehension is not part of the language; use where(…) and pluck(…)",
}
"""What to write in place of what people bring along from Python."""


def _where(items: Any, **wanted: Any) -> list[Any]:
    return [i for i in items or [] if _meets(i, wanted)]


def _meets(item: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    # A condition on a field named like a Python keyword has an underscore added; see `_quoted`.
    return all(_same(item.get(name.removesuffix("_")), value) for name, value in wanted.items())


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return value == wanted


def _having(items: Any, field: str, text: str) -> list[Any]:
    return [i for i in items or [] if text.casefold() in str(i.get(field) or "").casefold()]


def _first(items: Any, **wanted: Any) -> Any:
    matching = _where(items, **wanted) if wanted else items or []
    return next(iter(matching), None)


def _last(items: Any, **wanted: Any) -> Any:
    matching = _where(items, **wanted) if wanted else list(items or [])
    return matching[-1] if matching else None


def _sort(items: Any, field: str, reverse: bool = False) -> list[Any]:
    return sorted(items or [], key=lambda i: (i.get(field) is None, i.get(field)), reverse=reverse)


def _days_between(a: str, b: str) -> int:
    start, end = (parse_time(moment[:10] + "T00:00:00Z") for moment in (a, b))
    return (end - start) // 86_400


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
    "round": bounds.rounded,
    "int": int,
    "float": float,
    "str": bounds.as_text,
    "lower": lambda x: bounds.as_text(x).lower(),
    "upper": lambda x: bounds.as_text(x).upper(),
    "join": bounds.joined,
    "sort": _sort,
    "default": lambda value, other: other if value is None else value,
    "shift": lambda moment, seconds: iso(parse_time(moment) + int(seconds)),
    "seconds_between": lambda a, b: parse_time(b) - parse_time(a),
    "days_between": _days_between,
    "money": lambda amount: f"{amount:,.2f}",
    "date": lambda moment: moment[:10],
}
"""Functions that expressions may call.

`where(items, name="Ana")` filters; `first(items, …)` takes the first match or None.
"""


_WORDS = "|".join(keyword.kwlist)
_KEYWORD = re.compile(rf"\.({_WORDS})\b|\b({_WORDS})(?=\s*=[^=])")
"""A field whose name is a Python keyword, such as `mail.from`, or a condition on such a field.

An example of a condition is `first(mails, from="…")`.
"""


def _quoted(word: re.Match[str]) -> str:
    return f"['{word[1]}']" if word[1] else f"{word[2]}_"


@functools.cache
def _parse(source: str) -> ast.expr:
    shown = f"expression {quoted(source)}"
    if len(source) > bounds.MOST_SOURCE:
        raise ExpressionError(
            f"{shown}: has {len(source):,} characters; {bounds.MOST_SOURCE:,} are the most"
        )
    try:
        tree = ast.parse(_KEYWORD.sub(_quoted, source.strip()), mode="eval")
    except SyntaxError as wrong:
        what = f"{wrong.msg}; write it like `first(items, name='Ana').id` or `len(items) > 0`"
        raise ExpressionError(f"{shown}: {what}") from None
    except (ValueError, MemoryError, RecursionError) as wrong:
        raise ExpressionError(f"{shown}: {wrong or 'is nested too deeply'}") from None
    if bounds.tree_depth(tree) > bounds.MOST_TREE:
        raise ExpressionError(f"{shown}: is nested more than {bounds.MOST_TREE} deep")
    for node in ast.walk(tree):
        problem = _problem(node)
        if problem:
            raise ExpressionError(f"{shown}: {problem}")
    return tree.body


def _problem(node: ast.AST) -> str | None:
    """Return why a node is not part of the language, or None if it is."""
    if not isinstance(node, _NODES):
        kind = type(node).__name__
        return _ELSEWHERE.get(kind, f"{kind} is not part of the language")
    if isinstance(node, ast.Constant):
        return _constant_problem(node)
    if isinstance(node, ast.BinOp):
        return _too_much(node)
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return "names must not start with an underscore"
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant):
        return f"{ast.unparse(node.value)} has no fields such as {node.attr!r}"
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if not isinstance(node.func, ast.Name) or called not in FUNCTIONS:
            return f"unknown function {quoted(called)}{did_you_mean(called, FUNCTIONS)}"
    return None


def _constant_problem(node: ast.Constant) -> str | None:
    if isinstance(node.value, int | float):
        return plain.problem(node.value)
    if node.value is None:
        return None
    if isinstance(node.value, str):
        alone = any("\ud800" <= letter <= "\udfff" for letter in node.value)
        return "half a surrogate pair is no character" if alone else None
    return f"{ast.unparse(node)} is not part of the language; write a text or a number"


def _too_much(node: ast.BinOp) -> str | None:
    """Return what is wrong with an operation on constants, as far as it shows before it is run."""
    try:
        _BINARY[type(node.op)](ast.literal_eval(node.left), ast.literal_eval(node.right))
    except ExpressionError as wrong:
        return str(wrong)
    except KeyError:
        return None  # an operator of another language, which is refused by itself
    except (*_FAILURES, RecursionError, MemoryError):
        return None
    return None


def holes(text: str) -> list[str]:
    """Return the expressions in a text.

    Raises `ExpressionError` if there are too many; the pattern takes quadratic time to find that
    not one of them is closed.
    """
    if text.count("${") > bounds.MOST_HOLES:
        raise ExpressionError(
            f"{quoted(text)}: holds {text.count('${'):,} `${{`; {bounds.MOST_HOLES} are the most"
        )
    return _HOLE.findall(text)


def expressions(text: str) -> list[ast.expr]:
    """Return the parsed `${…}` of a text. Raises `ExpressionError`."""
    return [_parse(hole) for hole in holes(text)]


def outcomes(text: str) -> list[Any]:
    """Return the values that a text with `${a if … else b}` may become, as far as they are written.

    That is nothing if the text does not consist of one expression.
    """
    whole = _HOLE.fullmatch(text)
    if whole is None or len(holes(text)) != 1:
        return []
    values = []
    pending = [_parse(whole[1])]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.IfExp):
            pending += [node.body, node.orelse]
        elif isinstance(node, ast.Constant):
            values.append(node.value)
    return values


def names(value: Any) -> set[str]:
    """Return the names that the expressions in a value refer to.

    Raises `ExpressionError` if an expression cannot be parsed.
    """
    if isinstance(value, str):
        used: set[str] = set()
        if value.count("${") > len(holes(value)):
            raise ExpressionError(f"{quoted(value)}: a `${{` is not closed; write ${{args.amount}}")
        for hole in holes(value):
            nodes = list(ast.walk(_parse(hole)))
            functions = [node.func for node in nodes if isinstance(node, ast.Call)]
            read = [node for node in nodes if isinstance(node, ast.Name)]
            used |= {name.id for name in read if name not in functions}
        return used
    if isinstance(value, Mapping):
        return set().union(*(names(v) for v in value.values()), *(names(k) for k in value))
    if isinstance(value, list | tuple):
        return set().union(*(names(v) for v in value))
    return set()


def fields(value: Any) -> set[tuple[str, str]]:
    """Return `(name, field)` for every field that the expressions in a value take from a name.

    For example, `${args.amount}` yields `("args", "amount")`.
    """
    if isinstance(value, str):
        asked: set[tuple[str, str]] = set()
        for hole in holes(value):
            for node in ast.walk(_parse(hole)):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    asked.add((node.value.id, node.attr))
        return asked
    if isinstance(value, Mapping):
        return set().union(*(fields(v) for v in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(fields(v) for v in value))
    return set()


def render(value: Any, scope: Mapping[str, Any]) -> Any:
    """Return `value` with every `${…}` in its strings computed over the scope.

    Other values are copied. Raises `ExpressionError`.
    """
    if isinstance(value, str):
        if "${" not in value:
            return value
        holes(value)
        whole = _HOLE.fullmatch(value)
        if whole and "${" not in whole.group(1):
            return evaluate(whole.group(1), scope)
        filled = _HOLE.sub(lambda m: _text(evaluate(m.group(1), scope)), value)
        bounds.text(len(filled))
        return filled
    if isinstance(value, Mapping):
        return {k: render(v, scope) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [render(v, scope) for v in value]
    return value


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else bounds.as_text(value)


def evaluate(source: str, scope: Mapping[str, Any]) -> Any:
    """Return the value of one expression (without `${}`).

    Raises `ExpressionError`.
    """
    tree = _parse(source)
    try:
        value = _value(tree, scope)
        # A text was bounded as it was made; one that comes from the scope is passed on as it is.
        return value if isinstance(value, str) else bounds.made(value, bounds.MOST_TAKEN)
    except (ExpressionError, *_FAILURES) as wrong:
        said = str(wrong).removeprefix("expression: ")
        raise ExpressionError(f"expression {quoted(source)}: {cut(said, 300)}") from None


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if node.id in scope:
                return scope[node.id]
            if node.id in _CONSTANTS:
                return _CONSTANTS[node.id]
            near = did_you_mean(node.id, scope)
            raise ExpressionError(f"expression: unknown name {quoted(node.id)}{near}")
        case ast.Attribute():
            owner = _value(node.value, scope)
            return owner.get(node.attr) if isinstance(owner, Mapping) else None
        case ast.Subscript():
            return _item(_value(node.value, scope), node.slice, scope)
        case ast.BinOp():
            operate = _BINARY[type(node.op)]
            return bounds.number(operate(_value(node.left, scope), _value(node.right, scope)))
        case ast.UnaryOp():
            inner = _value(node.operand, scope)
            return (not inner) if isinstance(node.op, ast.Not) else -inner
        case ast.BoolOp():
            return _bool_op(node, scope)
        case ast.Compare():
            return _comparison(node, scope)
        case ast.IfExp():
            branch = node.body if _value(node.test, scope) else node.orelse
            return _value(branch, scope)
        case ast.List() | ast.Tuple():
            return bounds.made([_value(e, scope) for e in node.elts])
        case ast.Call():
            arguments = [_value(a, scope) for a in node.args]
            keywords = {k.arg: _value(k.value, scope) for k in node.keywords if k.arg}
            function = FUNCTIONS[node.func.id]  # ty: ignore[missing-attribute]
            return bounds.number(function(*arguments, **keywords))
    raise ExpressionError(f"expression: {type(node).__name__} is not part of the language")


def _bool_op(node: ast.BoolOp, scope: Mapping[str, Any]) -> Any:
    decisive = isinstance(node.op, ast.Or)
    result: Any = None
    for part in node.values:
        result = _value(part, scope)
        if bool(result) == decisive:
            return result
    return result


def _comparison(node: ast.Compare, scope: Mapping[str, Any]) -> bool:
    left = _value(node.left, scope)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, scope)
        if not _COMPARE[type(op)](left, right):
            return False
        left = right
    return True


def _item(owner: Any, index: ast.expr, scope: Mapping[str, Any]) -> Any:
    if isinstance(index, ast.Slice):
        low, high = (None if e is None else _value(e, scope) for e in (index.lower, index.upper))
        return owner[low:high]
    key = _value(index, scope)
    if isinstance(owner, Mapping):
        return owner.get(key)
    if owner is None or not -len(owner) <= key < len(owner):
        return None
    return owner[key]
