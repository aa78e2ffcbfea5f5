"""JSON for people, in as few lines as fit a width: what fits stays on one line.

Long lists and texts are cut, and say what was left out.
"""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from client_harness.authoring.trying import Tried, differs
from servers.kit.store import Change

NARROWEST = 40
_WIDEST = 100
_ITEMS = 3


def width() -> int:
    """Return how many columns to write in: those of the terminal, from 40 to 100."""
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns
    return min(max(columns, NARROWEST), _WIDEST)


def lines(value: Any, room: int, *, full: bool = False) -> list[str]:
    """Return JSON data as lines of at most `room` columns."""
    line = flat(value)
    if len(line) <= room:
        return [line]
    if isinstance(value, dict):
        return _of_mapping(value, room, full)
    if isinstance(value, list):
        return _of_list(value, room, full)
    if not full:
        return [line[: max(room - 1, 1)] + "…"]
    return [line[start : start + room] for start in range(0, len(line), room)]


def _of_mapping(value: Mapping[str, Any], room: int, full: bool) -> list[str]:
    made = []
    for key, inner in value.items():
        head = f"{key}: "
        short = flat(inner)
        if len(head) + len(short) <= room:
            made.append(head + short)
        elif isinstance(inner, dict | list):
            made.append(head.rstrip())
            made += [f"  {line}" for line in lines(inner, room - 2, full=full)]
        else:
            first, *rest = lines(inner, max(room - len(head), 8), full=full)
            made.append(head + first)
            made += [" " * len(head) + line for line in rest]
    return made


def _of_list(value: list[Any], room: int, full: bool) -> list[str]:
    made = []
    shown = value if full else value[:_ITEMS]
    for item in shown:
        first, *rest = lines(item, room - 2, full=full)
        made.append(f"- {first}")
        made += [f"  {line}" for line in rest]
    if len(shown) < len(value):
        made.append(f"… {len(value) - len(shown)} more, {len(value)} in all")
    return made


def flat(value: Any) -> str:
    """Return data on one line, in YAML's short form without needless quotation marks."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flat(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flat, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def tried_lines(number: int, tried: Tried, *, full: bool = False) -> Iterator[str]:
    """Yield what one call did, for people."""
    one = tried.attempt
    room = width()
    name = f"{tried.saved} = " if tried.saved else ""
    yield from _labelled(f"{number}  ", f"{name}{one.name} {flat(one.args)}", room)
    inner = room - 8
    yield from _block("error" if one.is_error else "saw", lines(one.seen, inner, full=full))
    if differs(one):
        if one.truth is None:
            truth = ["the call was never performed"]
        else:
            truth = lines(_difference(one.truth, one.seen), inner, full=full)
        yield from _block("true", truth)
    for change in one.effects:
        yield from _block("row", _change(change, inner))
    for firing in one.firings:
        why = f"; could not act: {firing.failed}" if firing.failed else ""
        kind = "" if firing.kind == firing.fault else f" ({firing.kind})"
        yield from _block("fault", wrapped(f"{firing.fault}{kind} fired{why}", inner))
    for miss in tried.misses:
        yield from _block("fault", wrapped(f"{miss.fault} did not fire: {miss.why}", inner))
    for note in tried.notes:
        yield from _block("note", wrapped(note, inner))
    if one.bug is not None:
        yield from _block("bug", wrapped(f"in Haywire: {one.bug}", inner))


def _labelled(label: str, text: str, room: int) -> Iterator[str]:
    for place, line in enumerate(wrapped(text, room - len(label))):
        yield (label if place == 0 else " " * len(label)) + line


def _block(label: str, inner: list[str]) -> Iterator[str]:
    for place, line in enumerate(inner):
        yield f"{label if place == 0 else '':>6}  {line}"


def wrapped(text: str, room: int) -> list[str]:
    """Return a text in lines of at most `room` columns, or of one long word."""
    return textwrap.wrap(text, room, break_on_hyphens=False) or [""]


def _difference(truth: Any, seen: Any) -> Any:
    """Return the parts of the truth that are not as seen; all of it where the shapes differ."""
    if isinstance(truth, dict) and isinstance(seen, dict):
        parts = {}
        for key, value in truth.items():
            if key not in seen:
                parts[key] = value
            elif seen[key] != value:
                parts[key] = _difference(value, seen[key])
        for key in seen:
            if key not in truth:
                parts[f"{key} (not in the truth)"] = None
        return parts
    return truth


def _change(change: Change, room: int) -> list[str]:
    old = change["old"]
    new = change["new"]
    what = f"{change['table']} {change['key']}"
    cause = "" if change["cause"] == "agent" else f" by {change['cause']}"
    if old is None or new is None:
        done = "added" if old is None else "deleted"
        row = {}
        for column, value in (new or old or {}).items():
            if value is not None and value != change["key"]:
                row[column] = value
        made = wrapped(f"{done} {what}{cause}", room)
        return [*made, *(f"  {line}" for line in lines(row, room - 2))]
    made = wrapped(f"changed {what}{cause}", room)
    for column, value in new.items():
        if old.get(column) != value:
            made += wrapped(f"  {column}: {flat(old.get(column))} → {flat(value)}", room)
    return made
