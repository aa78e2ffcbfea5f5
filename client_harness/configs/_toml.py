"""TOML, edited by its tables: an entry is the table `[section.name]` with the tables below it."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from client_harness.configs import NotEditable

_HEADER = re.compile(r"\s*\[.*\]\s*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> Any:
    """Return the data of a text. Raises `ValueError`."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def put(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text with an entry of a section, which goes to the end if it is new."""
    written = _table((section, name), entry)
    lines = text.splitlines(keepends=True)
    places = _places(lines, (section, name))
    if places:
        first, _ = places[0]
        left = _without(lines, places)
        return "".join([*left[:first], written, *left[first:]])
    if text and not text.endswith("\n"):
        text += "\n"
    return f"{text}\n{written}" if text else written


def take(text: str, section: str, name: str) -> str:
    """Return the text without an entry of a section."""
    lines = text.splitlines(keepends=True)
    places = _places(lines, (section, name))
    if not places:
        raise NotEditable
    first, _ = places[0]
    left = _without(lines, places)
    # The blank line before it was its own, unless something follows at once.
    following = left[first] if first < len(left) else ""
    if first and not left[first - 1].strip() and not following.strip():
        del left[first - 1]
    return "".join(left)


def _without(lines: list[str], places: list[tuple[int, int]]) -> list[str]:
    left = list(lines)
    for start, end in reversed(places):
        del left[start:end]
    return left


def _places(lines: list[str], path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where the tables of an entry begin and end; comments ahead of the next are its own."""
    headers = []
    for number, line in enumerate(lines):
        table = _named(line)
        if table is not None:
            headers.append((number, table))
    places = []
    for place, (start, table) in enumerate(headers):
        if table[: len(path)] != path:
            continue
        following = headers[place + 1 : place + 2]
        end = following[0][0] if following else len(lines)
        while end > start + 1 and _is_between(lines[end - 1]):
            end -= 1
        places.append((start, end))
    return places


def _is_between(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _named(line: str) -> tuple[str, ...] | None:
    """Return the table that a line opens, or None if it is no header."""
    if _HEADER.fullmatch(line.rstrip("\r\n")) is None:
        return None
    try:
        inner: Any = tomllib.loads(line)
    except ValueError:
        return None
    keys = []
    while inner:
        if isinstance(inner, list):
            (inner,) = inner
            continue
        ((key, inner),) = inner.items()
        keys.append(key)
    return tuple(keys)


def _table(path: tuple[str, ...], values: dict[str, Any]) -> str:
    """Return a table, and after its values those below it.

    Values are texts, numbers, truths and lists of them.
    """
    lines = [f"[{'.'.join(map(_key, path))}]\n"]
    below = []
    for key, value in values.items():
        if isinstance(value, dict):
            below.append("\n" + _table((*path, key), value))
        else:
            lines.append(f"{_key(key)} = {_value(value)}\n")
    return "".join([*lines, *below])


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    # What JSON makes of these is TOML, too.
    return json.dumps(value, ensure_ascii=False)
