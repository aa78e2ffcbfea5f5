"""YAML as people mean it: `on`, `off`, `yes` and `no` are words, and dates are text, as in JSON.

`on`, for example, is a key of a fault, and `12:30` is no number.

This is the one reader of YAML. What is too much is refused before anything is built from it, since
later is too late: the C library dies of 100,000 open brackets, which no exception tells, and ten
lines of aliases can stand for a billion items. So the events of a text are counted first, which
takes about 40 percent of the time that building takes; the count stops at the first bound.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from servers.kit.errors import InputError, quoted
from servers.kit.plain import MOST_BYTES, problem, text_of

MOST_DEPTH = 64
"""How deeply lists and mappings may be nested."""
MOST_NODES = 50_000
"""How many values a text may hold, after its aliases are expanded."""

_BOOL = "tag:yaml.org,2002:bool"
_TIME = "tag:yaml.org,2002:timestamp"
_MERGE = "tag:yaml.org,2002:merge"
_TEXT = ("tag:yaml.org,2002:str", "!")


class NotYaml(InputError):
    """A text that is not YAML, as opposed to YAML that is too much or not plain."""


class _TooMuch(Exception):
    """A bound that a text goes beyond; the message says which, `line` where."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def _without_words(forms: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(tag, form) for tag, form in forms if tag not in (_BOOL, _TIME)]


class Loader(yaml.CSafeLoader):
    """The C loader with the booleans of YAML 1.2 and without timestamps.

    A key that occurs twice in one mapping is an error, and so is a number that JSON cannot hold.
    """

    yaml_implicit_resolvers = {
        first: _without_words(forms)
        for first, forms in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping.

        Raises `ConstructorError` if a key is repeated: PyYAML itself silently keeps the last value.
        """
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                problem = f"the key {quoted(key.value)} occurs twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: Any) -> int:
        """Return an integer that a row can hold. Raises `ConstructorError` for others."""
        return self._number(node, super().construct_yaml_int)

    def construct_yaml_float(self, node: Any) -> float:
        """Return a finite number. Raises `ConstructorError` for others."""
        return self._number(node, super().construct_yaml_float)

    def _number(self, node: Any, construct: Any) -> Any:
        if ":" in node.value:
            return node.value  # 12:30 is a time; YAML 1.1 makes 750 of it
        try:
            number = construct(node)
            wrong = problem(number)
        except ValueError:
            number = None
            wrong = "this is no number that we can hold"
        if wrong is not None:
            what = f"{quoted(node.value)}: {wrong}; quote it if it is text"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark)
        return number


Loader.add_implicit_resolver(
    _BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_yaml_float)


def read(path: Path, loader: type[Any] = Loader) -> Any:
    """Return the data of a file.

    Raises `InputError` with one line if the file cannot be read or is too much.
    """
    return parse(text_of(path), str(path), loader)


def parse(text: str, where: str, loader: type[Any] = Loader) -> Any:
    """Return the data of a YAML text; `where` names it in errors.

    Raises `NotYaml` if it is not YAML, and `InputError` if it is too much or not plain data.
    """
    try:
        if len(text) > MOST_BYTES:
            raise _TooMuch(1, f"the text has more than {MOST_BYTES:,} characters")
        _count(text)
        return yaml.load(text, Loader=loader)
    except _TooMuch as wrong:
        raise InputError(f"{where}: line {wrong.line}: {wrong}") from None
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        line = f"line {mark.line + 1}: " if mark is not None else ""
        about = ", ".join(part for part in (wrong.context, wrong.problem) if part)
        raise NotYaml(f"{where}: not valid YAML: {line}{about}") from None
    except (yaml.YAMLError, ValueError) as wrong:
        raise NotYaml(f"{where}: not valid YAML: {' '.join(str(wrong).split())}") from None


def _count(text: str) -> None:
    """Raise `_TooMuch` at the first event that goes beyond a bound."""
    events: Any = yaml.CSafeLoader(text)
    anchored: dict[str, tuple[int, int] | None] = {}
    opened: list[tuple[str | None, int, int]] = []
    nodes = 0
    letters = 0
    while (event := events.get_event()) is not None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            _refuse_tag(event)
            nodes += 1
            letters += len(event.value)
            if event.anchor is not None:
                anchored[event.anchor] = (1, len(event.value))
        elif kind is yaml.AliasEvent:
            known = anchored.get(event.anchor, (1, 0))  # building refuses an unknown one
            if known is None:
                raise _TooMuch(_line(event), f"*{event.anchor} stands inside of what it stands for")
            nodes += known[0]
            letters += known[1]
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            _refuse_tag(event)
            opened.append((event.anchor, nodes, letters))
            nodes += 1
            if event.anchor is not None:
                anchored[event.anchor] = None
            if len(opened) > MOST_DEPTH:
                raise _TooMuch(_line(event), f"nested more than {MOST_DEPTH} deep")
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            anchor, before, written = opened.pop()
            if anchor is not None:
                anchored[anchor] = (nodes - before, letters - written)
        if nodes > MOST_NODES:
            raise _TooMuch(_line(event), f"more than {MOST_NODES:,} values, with aliases expanded")
        if letters > MOST_BYTES:
            raise _TooMuch(
                _line(event), f"more than {MOST_BYTES:,} characters, with aliases expanded"
            )


def _line(event: Any) -> int:
    return event.start_mark.line + 1


def _refuse_tag(event: Any) -> None:
    if event.tag is not None and event.tag not in _TEXT:
        raise _TooMuch(_line(event), f"the tag {quoted(event.tag)} is not used here; leave it out")
