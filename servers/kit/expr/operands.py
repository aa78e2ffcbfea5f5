"""Shapes of operands: what an operation or an operator takes, checked at loading and once computed.

A shape is a function `(operand, where)` that raises `InputError` with one line. An operand that is
one whole `${…}` is not known before it is computed, so `check` passes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from servers.kit.errors import InputError, UnknownName, quoted
from servers.kit.expr import paths

Shape = Callable[[Any, str], None]


def is_computed(operand: Any) -> bool:
    """Return whether an operand is one whole expression."""
    return isinstance(operand, str) and operand.startswith("${") and operand.endswith("}")


def check(shape: Shape, operand: Any, where: str) -> None:
    """Check an operand that may be an expression. Raises `InputError`."""
    if not is_computed(operand):
        shape(operand, where)


def anything(operand: Any, where: str) -> None:
    """Accept every operand."""


def number(operand: Any, where: str) -> None:
    """Accept a number."""
    if not isinstance(operand, int | float) or isinstance(operand, bool):
        raise InputError(f"{where}: takes a number, got {quoted(operand)}")


def comparable(operand: Any, where: str) -> None:
    """Accept a number or a text."""
    if not isinstance(operand, int | float | str) or isinstance(operand, bool):
        raise InputError(f"{where}: takes a number or a text, got {quoted(operand)}")


def text(operand: Any, where: str) -> None:
    """Accept a text that is not empty."""
    if not isinstance(operand, str) or not operand:
        raise InputError(f"{where}: takes a text, got {quoted(operand)}")


def boolean(operand: Any, where: str) -> None:
    """Accept true or false."""
    if not isinstance(operand, bool):
        raise InputError(f"{where}: takes true or false, got {quoted(operand)}")


def whole_number(operand: Any, where: str) -> None:
    """Accept an integer."""
    if not isinstance(operand, int) or isinstance(operand, bool):
        raise InputError(f"{where}: takes a whole number, got {quoted(operand)}")


def count(operand: Any, where: str) -> None:
    """Accept an integer from 0."""
    whole_number(operand, where)
    if operand < 0:
        raise InputError(f"{where}: takes a number from 0, got {operand}")


def values(operand: Any, where: str) -> None:
    """Accept a list."""
    if not isinstance(operand, list | tuple):
        raise InputError(f"{where}: takes a list, got {quoted(operand)}; write [{quoted(operand)}]")
    if not operand:
        raise InputError(f"{where}: takes a list with at least one value")


def path(operand: Any, where: str) -> None:
    """Accept a path."""
    if not isinstance(operand, str):
        raise InputError(f"{where}: takes a path such as items[0].name, got {quoted(operand)}")
    try:
        paths.parse(operand)
    except paths.PathError as wrong:
        raise InputError(f"{where}: {wrong}") from None


def path_list(operand: Any, where: str) -> None:
    """Accept a list of paths."""
    values(operand, where)
    for inner in operand:
        path(inner, where)
        if not inner:
            raise InputError(f"{where}: a path in a list must not be empty")


def ends(operand: Any, where: str) -> None:
    """Accept the two ends of a range, `[1, 4]`; null leaves an end open."""
    if not isinstance(operand, list | tuple) or len(operand) != 2:
        raise InputError(f"{where}: takes two ends such as [1, 4] or [2, null]; got {operand!r}")
    for end in operand:
        if end is not None:
            check(whole_number, end, where)


def pairs(operand: Any, where: str) -> None:
    """Accept a mapping of old values to new ones."""
    if not isinstance(operand, Mapping) or not operand:
        raise InputError(
            f"{where}: takes a mapping of old values to new ones, e.g. {{rain: sun}}; "
            f"got {quoted(operand)}"
        )
    for old, new in operand.items():
        if isinstance(old, list | dict | tuple) or isinstance(new, list | dict):
            raise InputError(f"{where}: maps single values to single values, got {quoted(operand)}")


def one_of(known: Sequence[str], what: str) -> Shape:
    """Return the shape of one of some words."""

    def shape(operand: Any, where: str) -> None:
        if operand not in known:
            raise UnknownName(what, str(operand), known, where)

    return shape


def keys(shapes: Mapping[str, Shape], required: Sequence[str] = ()) -> Shape:
    """Return the shape of a mapping with these keys; one of `required` has to be there."""

    def shape(operand: Any, where: str) -> None:
        if not isinstance(operand, Mapping):
            raise InputError(
                f"{where}: takes a mapping with {', '.join(shapes)}; got {quoted(operand)}"
            )
        for key, inner in operand.items():
            if key not in shapes:
                raise UnknownName("key", str(key), shapes, where)
            check(shapes[key], inner, f"{where}: {key}")
        if required and not any(key in operand for key in required):
            raise InputError(f"{where}: needs {' or '.join(required)}")

    return shape


def fields(operand: Any, where: str) -> None:
    """Accept a mapping of fields to values."""
    if not isinstance(operand, Mapping):
        raise InputError(f"{where}: takes a mapping of fields to values, got {quoted(operand)}")


def is_near(word: str, known: Iterable[str]) -> bool:
    """Return whether a word is one slip of the keyboard away from a known one.

    In longer words, two slips count as well.
    """
    return any(_slips(word, other) <= (2 if len(other) > 5 else 1) for other in known)


def _slips(one: str, other: str) -> int:
    """Return how many letters to add, leave out, change or exchange turn one word into another."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older = before
        before = row
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + int(letter != wanted))
            crossed = i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted
            row.append(min(cost, older[j - 2] + 1) if crossed else cost)
    return row[-1]
