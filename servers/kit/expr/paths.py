"""Paths into JSON: `a.b[0].c`, `items[-1]`, `items[*].amount`, `items[sku=A1].price`.

`hours[2:]`, `hours[:3]`, `hours[1:4]` and `hours[-2:]` stand for a range of items. The empty path
stands for the whole.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from servers.kit.errors import InputError, quoted

_PART = re.compile(r"([^.\[\]]+)|\[(\*|-?\d*:-?\d*|-?\d+|[^=\[\]]+=[^\[\]]*)\]")
_RANGE = re.compile(r"\[(-?\d+)?:(-?\d+)?")
_MISSING = object()
MOST_PATH = 500
"""The most characters of a path."""


class PathError(InputError):
    """A path that cannot be parsed, or that leads nowhere although a place is needed."""


@functools.cache
def parse(path: str) -> tuple[str | int, ...]:
    """Return the path's parts: names, indexes, and texts such as `[*`, `[1:4` and `[id=7`.

    Raises `PathError`.
    """
    if not isinstance(path, str):
        raise PathError(f"a path is text such as a.b[0].c; got {quoted(path)}")
    if len(path) > MOST_PATH:
        raise PathError(
            f"path {quoted(path)}: has {len(path):,} characters; {MOST_PATH:,} are the most"
        )
    parts: list[str | int] = []
    rest = path
    while rest:
        part = _PART.match(rest)
        if not part:
            raise PathError(
                f"path {quoted(path)}: cannot read {quoted(rest)}; "
                "write a.b[0].c, items[*].x, items[2:].x or items[id=7].x"
            )
        name, inner = part.groups()
        if name is not None:
            parts.append(name)
        elif inner.lstrip("-").isdigit():
            parts.append(int(inner))
        else:
            parts.append(f"[{inner}")
        rest = rest[part.end() :]
        if rest.startswith("."):
            rest = rest[1:]
            if not rest:
                raise PathError(f"path {quoted(path)} ends in a dot; write a.b")
    return tuple(parts)


def places(data: Any, path: str) -> Iterator[tuple[Any, str | int]]:
    """Yield `(container, key)` for every place that the path names.

    The last key need not exist yet in a dict.
    """
    parts = parse(path)
    if not parts:
        raise PathError("an empty path stands for the whole, but a place in it is needed")
    for container in _walk(data, parts[:-1]):
        yield from keys_of(container, parts[-1])


def values(data: Any, path: str) -> list[Any]:
    """Return every value that exists at the path."""
    if isinstance(data, dict) and path in data and "." not in path and "[" not in path:
        return [data[path]]
    return list(_walk(data, parse(path)))


def get(data: Any, path: str, default: Any = None) -> Any:
    """Return the value at the path, or `default`.

    If the path holds `[*]` or a range, that is a list of values.
    """
    matches = values(data, path)
    if is_many(path):
        return matches
    return matches[0] if matches else default


@functools.cache
def is_many(path: str) -> bool:
    """Return whether a path holds `[*]` or a range, and so stands for several values."""
    texts = [part for part in parse(path) if isinstance(part, str)]
    return any(part == "[*" or _RANGE.fullmatch(part) for part in texts)


def _walk(data: Any, parts: tuple[str | int, ...]) -> Iterator[Any]:
    if not parts:
        yield data
        return
    for container, key in keys_of(data, parts[0]):
        inner = container.get(key, _MISSING) if isinstance(container, dict) else container[key]
        if inner is not _MISSING:
            yield from _walk(inner, parts[1:])


def keys_of(container: Any, part: str | int) -> Iterator[tuple[Any, str | int]]:
    """Yield `(container, key)` for every place that one part of a path names."""
    if isinstance(part, str) and not part.startswith("["):
        if isinstance(container, dict):
            yield container, part
        return
    if not isinstance(container, list):
        return
    if isinstance(part, int):
        if -len(container) <= part < len(container):
            yield container, part
    elif part == "[*":
        for index in range(len(container)):
            yield container, index
    elif between := _RANGE.fullmatch(part):
        ends = [None if end is None else int(end) for end in between.groups()]
        for index in range(len(container))[slice(*ends)]:
            yield container, index
    else:
        field, _, wanted = part[1:].partition("=")
        for index, item in enumerate(container):
            if isinstance(item, dict) and str(item.get(field)) == wanted:
                yield container, index
