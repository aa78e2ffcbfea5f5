"""How much an expression may be, and how much it may make.

An expression comes from a file that somebody wrote, and what it computes goes into rows, replies
and traces. So its own size is bounded when it is read, and its values as they are made: before a
text is repeated, not after. All of that is decided by size, never by a clock, so that it is the
same on every machine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from servers.kit.errors import InputError
from servers.kit.plain import problem

MOST_SOURCE = 2_000
"""The most characters of an expression."""
MOST_TREE = 40
"""How deeply an expression may be nested; the longest of ours has 9 levels."""
MOST_HOLES = 100
"""The most `${…}` in one text."""
MOST_TEXT = 100_000
"""The most characters of a text that an expression makes."""
MOST_ITEMS = 10_000
"""The most values, at any depth, of a list that an expression makes."""
MOST_TAKEN = 100_000
"""The most values, at any depth, of what an expression takes from its scope and passes on."""


class ExpressionError(InputError):
    """An expression that cannot be parsed or computed."""


def tree_depth(tree: ast.AST) -> int:
    """Return how deeply an expression is nested, without recursion."""
    deepest = 0
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return deepest


def number(value: Any) -> Any:
    """Return a number that JSON and rows can hold. Raises `ExpressionError` for others."""
    wrong = problem(value) if isinstance(value, int | float) else None
    if wrong is not None:
        raise ExpressionError(f"makes a number that nothing can hold ({wrong})")
    return value


def text(letters: int) -> None:
    """Raise `ExpressionError` if a text is too long to be made."""
    if letters > MOST_TEXT:
        raise ExpressionError(
            f"makes a text of {_count(letters)} characters; {MOST_TEXT:,} are the most"
        )


def items(count: int) -> None:
    """Raise `ExpressionError` if a list is too long to be made."""
    if count > MOST_ITEMS:
        raise ExpressionError(
            f"makes a list of {_count(count)} values; {MOST_ITEMS:,} are the most"
        )


def _count(size: int) -> str:
    return f"{size:,}" if size < 10**15 else "over 10^15"


def made(value: Any, most: int = MOST_ITEMS) -> Any:
    """Return a value whose numbers are plain and which is not too large at any depth.

    A list that stands in many places counts as often as it stands there. Raises `ExpressionError`.
    """
    if isinstance(value, str):
        text(len(value))
        return value
    if not isinstance(value, list | tuple | Mapping):
        return number(value)
    count = 0
    letters = 0
    waiting: list[Any] = [value]
    while waiting:
        inner = waiting.pop()
        count += 1
        if isinstance(inner, str):
            letters += len(inner)
        elif isinstance(inner, Mapping):
            waiting += inner.values()
        elif isinstance(inner, list | tuple):
            waiting += inner
        else:
            number(inner)
        if count + len(waiting) > most:
            raise ExpressionError(f"makes more than {most:,} values")
        if letters > MOST_TEXT * 10:
            raise ExpressionError(f"makes more than {MOST_TEXT * 10:,} characters")
    return value


def times(left: Any, right: Any) -> Any:
    """Return a product, or a text or list repeated."""
    for repeated, count in ((left, right), (right, left)):
        if isinstance(repeated, str) and isinstance(count, int):
            text(len(repeated) * max(count, 0))
        elif isinstance(repeated, list | tuple) and isinstance(count, int):
            items(len(repeated) * max(count, 0))
    return made(left * right)


def plus(left: Any, right: Any) -> Any:
    """Return a sum, or two texts or lists joined."""
    if isinstance(left, str) and isinstance(right, str):
        text(len(left) + len(right))
    elif isinstance(left, list) and isinstance(right, list):
        items(len(left) + len(right))
    return made(left + right)


def modulo(left: Any, right: Any) -> Any:
    """Return a remainder. Texts are refused: `'%1000000000d' % 1` makes a text of any length."""
    if isinstance(left, str):
        raise ExpressionError("`%` is the remainder of numbers; put a value into a text with ${…}")
    return number(left % right)


def rounded(value: Any, digits: int | None = None) -> Any:
    """Return a number rounded.

    Raises `ExpressionError` for `round(5, -1000000000)`, which would compute 10^1000000000.
    """
    if digits is not None and not -20 <= digits <= 20:
        raise ExpressionError(f"rounds to {digits} digits; -20 to 20 are possible")
    return round(value, digits)


def joined(values: Iterable[Any] | None, by: str = ", ") -> str:
    """Return values as one text."""
    parts: list[str] = []
    letters = 0
    for value in values or []:
        part = as_text(value)
        letters += len(part) + len(by)
        text(letters - len(by))
        parts.append(part)
    return by.join(parts)


def as_text(value: Any) -> str:
    """Return a value as text."""
    shown = str(made(value))
    text(len(shown))
    return shown
