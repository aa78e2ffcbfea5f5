"""JSON with comments, as editors take it; also what edits JSON without them.

Comments and commas before a closing bracket are blanked out, letter by letter. What is left is JSON
in which everything stands where it stood, so a place found there is a place in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any

from client_harness.configs import NotEditable
from servers.kit.plain import from_json

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])', re.DOTALL)
_SPACE = re.compile(r"\s*")
_UNIT = "  "


def parse(text: str) -> Any:
    """Return the data of a text; an empty one is an empty object. Raises `ValueError`."""
    plain = _without_last_commas(_without_comments(text))
    return from_json(plain) if plain.strip() else {}


def _blank(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


def _without_comments(text: str) -> str:
    return _COMMENT.sub(_blank, text)


def _without_last_commas(text: str) -> str:
    return _LAST_COMMA.sub(_blank, text)


@dataclass(frozen=True)
class _Member:
    """A member of an object: its key, where that begins, and where its value begins and ends."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class _Object:
    """An object in a text: its members, and where its two brackets are."""

    start: int
    members: list[_Member]
    end: int

    def member(self, key: str) -> _Member | None:
        """Return the member that counts if the key is there several times: the last one."""
        return next((one for one in reversed(self.members) if one.key == key), None)


def _space(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found is not None else at


def _object(plain: str, at: int) -> _Object:
    """Return the object that begins at a place of valid JSON."""
    if plain[at] != "{":
        raise NotEditable
    decoder = JSONDecoder()
    members = []
    here = _space(plain, at + 1)
    while plain[here] != "}":
        start = here
        try:
            key, here = decoder.raw_decode(plain, start)
            value = _space(plain, _space(plain, here) + 1)
            _, end = decoder.raw_decode(plain, value)
        except (JSONDecodeError, RecursionError):
            raise NotEditable from None
        members.append(_Member(key, start, value, end))
        here = _space(plain, end)
        if plain[here] == ",":
            here = _space(plain, here + 1)
    return _Object(at, members, here)


def _objects(text: str, section: str) -> tuple[_Object, _Object | None]:
    """Return the whole object and that of a section, or None if there is none."""
    plain = _without_last_commas(_without_comments(text))
    whole = _object(plain, _space(plain, 0))
    held = whole.member(section)
    return whole, _object(plain, held.value) if held is not None else None


def put(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """Return the text with an entry of a section."""
    if not text.strip():
        return _written({section: {name: entry}}, "", _UNIT) + "\n"
    whole, within = _objects(text, section)
    unit = _indent(text, whole.members[0].start) if whole.members else _UNIT
    if within is None:
        return _added(text, whole, section, {name: entry}, unit or _UNIT)
    known = within.member(name)
    if known is None:
        return _added(text, within, name, entry, unit or _UNIT)
    written = _written(entry, _indent(text, known.start), unit or _UNIT)
    return text[: known.value] + written + text[known.end :]


def take(text: str, section: str, name: str) -> str:
    """Return the text without an entry of a section, and without a section that is then empty."""
    whole, within = _objects(text, section)
    held = whole.member(section)
    known = within.member(name) if within is not None else None
    if held is None or within is None or known is None:
        raise NotEditable
    alone = within.members == [known]
    inside = text[within.start + 1 : known.start] + text[known.end : within.end]
    if alone and not inside.replace(",", "").strip():
        return _removed(text, whole, held)
    return _removed(text, within, known)


def _written(value: Any, indent: str, unit: str) -> str:
    """Return a value over several lines, of which the first has no indent."""
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    return f"\n{indent}".join(lines)


def _indent(text: str, at: int) -> str:
    """Return what stands before a place in its line if that is blank, else that line's indent."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    found = _SPACE.match(line)
    return found[0] if found is not None else ""


def _has_last_comma(text: str, within: _Object) -> bool:
    last = within.members[-1].end
    return "," in _without_comments(text)[last : within.end]


def _added(text: str, within: _Object, key: str, value: Any, unit: str) -> str:
    """Return the text with one more member at the end of an object."""
    named = f"{json.dumps(key, ensure_ascii=False)}: "
    outside = _indent(text, within.start)
    line = "\r\n" if "\r\n" in text else "\n"
    if not within.members:
        kept = text[within.start + 1 : within.end].rstrip()
        indent = outside + unit
        written = line.join((named + _written(value, indent, unit)).split("\n"))
        inside = f"{kept}{line}{indent}{written}{line}{outside}"
        return text[: within.start + 1] + inside + text[within.end :]
    last = within.members[-1]
    comma = _has_last_comma(text, within)
    last_comma = "," if comma else ""
    tail = text[last.end : within.end]
    if "\n" not in text[within.start : within.end]:
        return (
            f"{text[: last.end]}{'' if comma else ','}{tail.rstrip()} {named}"
            f"{json.dumps(value, ensure_ascii=False)}{last_comma}{text[within.end :]}"
        )
    indent = _indent(text, last.start)
    written = line.join((named + _written(value, indent, unit)).split("\n"))
    between = tail.rstrip() if comma else f",{tail.rstrip()}"
    end = text[text.rfind("\n", 0, within.end) + 1 : within.end]
    closing = end if not end.strip() else outside
    return (
        f"{text[: last.end]}{between}{line}{indent}{written}{last_comma}{line}{closing}"
        f"{text[within.end :]}"
    )


def _removed(text: str, within: _Object, gone: _Member) -> str:
    """Return the text without a member, and with as many commas as are then needed."""
    place = within.members.index(gone)
    plain = _without_comments(text)
    following = _space(plain, gone.end)
    start = gone.start
    if not text[text.rfind("\n", 0, start) + 1 : start].strip():
        # The line began with it, so the end of the line before goes, too.
        start = max(text.rfind("\n", 0, start), within.start + 1)
        start -= text[start - 1 : start] == "\r"
    if plain[following] == ",":
        end = following + 1
        if start == gone.start:
            end = _space(text, end)
        return text[:start] + text[end:]
    if place == 0:
        return text[:start] + text[gone.end :]
    before = within.members[place - 1]
    comma = plain.index(",", before.end)
    return text[:comma] + text[comma + 1 : start].rstrip(" ") + text[gone.end :]
