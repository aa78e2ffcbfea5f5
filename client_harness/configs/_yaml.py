"""YAML, edited by lines: an entry is a key of a block mapping, with all that is indented below."""

from __future__ import annotations

from typing import Any

import yaml

from client_harness.configs import NotEditable
from servers.kit.yaml import parse as parsed

_UNIT = 2


def parse(text: str) -> Any:
    """Return the data of a text; an empty one is an empty mapping. Raises `InputError`."""
    data = parsed(text, "the file")
    return {} if data is None else data


def put(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text with an entry of a section, which goes to the section's end if it is new."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    held = _member(_root(text), section)
    if held is None:
        return "".join([*lines, _block({section: {name: entry}}, 0)])
    within = held[1]
    if not isinstance(within, yaml.MappingNode) or within.flow_style:
        raise NotEditable
    indent = within.value[0][0].start_mark.column
    known = _member(within, name)
    written = _block({name: entry}, indent)
    if known is None:
        start = end = _last_line(within) + 1
    else:
        start = known[0].start_mark.line
        end = _last_line(known[1]) + 1
    return "".join([*lines[:start], written, *lines[end:]])


def take(text: str, section: str, name: str) -> str:
    """Return the text without an entry of a section, and without a section that is then empty."""
    lines = text.splitlines(keepends=True)
    held = _member(_root(text), section)
    known = _member(held[1], name) if held is not None else None
    if held is None or known is None:
        raise NotEditable
    gone = held if len(held[1].value) == 1 else known
    start = gone[0].start_mark.line
    end = _last_line(gone[1]) + 1
    return "".join([*lines[:start], *lines[end:]])


def _root(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.CSafeLoader)


def _member(within: Any, name: str) -> tuple[Any, Any] | None:
    """Return the nodes of a key and its value in a mapping."""
    if not isinstance(within, yaml.MappingNode):
        return None
    for key, value in within.value:
        if isinstance(key, yaml.ScalarNode) and key.value == name:
            return key, value
    return None


def _last_line(node: Any) -> int:
    """Return the number of the last line that a node has something on, from 0."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style:
        # A block of text ends where the next line begins.
        end = node.end_mark
        return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
    last = node.value[-1]
    return _last_line(last[1] if isinstance(last, tuple) else last)


def _block(data: dict[str, Any], indent: int) -> str:
    """Return data as lines that begin with so many spaces."""
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=4096, indent=_UNIT)
    return "".join(f"{' ' * indent}{line}" for line in text.splitlines(keepends=True))
