"""YAML is at most 110 columns wide.

A sentence or the body of a mail may be longer than that; the structure around it may not.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import yaml

from tests.commands import ROOT

WIDTH = 110
FOLDERS = ("client_harness", "fault_profiles", "scenarios", "servers")


def long_lines(text: str) -> set[int]:
    """Numbers of the lines that are wider than the limit, counted from zero."""
    return {number for number, line in enumerate(text.split("\n")) if len(line) > WIDTH}


def breakable_lines(text: str) -> set[int]:
    """Lines on which a comma between two items is followed by the next item."""
    breakable = set()
    for token, following in pairwise(yaml.scan(text, Loader=yaml.CSafeLoader)):
        line = token.start_mark.line
        if isinstance(token, yaml.FlowEntryToken) and following.start_mark.line == line:
            breakable.add(line)
    return breakable


def comment_lines(text: str) -> set[int]:
    """Lines that end in a comment, which no token covers."""
    lines = text.split("\n")
    ends = {}
    for token in yaml.scan(text, Loader=yaml.CSafeLoader):
        for number in range(token.start_mark.line, token.end_mark.line):
            ends[number] = len(lines[number])
        ends[token.end_mark.line] = token.end_mark.column
    rests = [line[ends.get(number, 0) :] for number, line in enumerate(lines)]
    return {number for number, rest in enumerate(rests) if rest.lstrip().startswith("#")}


def too_wide(text: str) -> list[int]:
    """Numbers (from one) of the lines whose excess is structure or a comment, in order."""
    long = long_lines(text)
    if not long:
        return []
    return sorted(number + 1 for number in long & (breakable_lines(text) | comment_lines(text)))


def yaml_files() -> list[Path]:
    """Every YAML file that ships."""
    paths: list[Path] = []
    for folder in FOLDERS:
        paths += (ROOT / folder).rglob("*.yaml")
    return sorted(paths)


def test_structure_stays_within_the_limit() -> None:
    offenders = []
    for path in yaml_files():
        text = path.read_text(encoding="utf-8")
        offenders += [f"{path.relative_to(ROOT)}:{number}" for number in too_wide(text)]
    assert not offenders, "break these lines at a comma:\n" + "\n".join(offenders)


def test_a_long_sentence_may_exceed_the_limit_but_nothing_may_precede_it() -> None:
    sentence = "a word " * 20
    assert too_wide(f'- "{sentence}"\n- text: "{sentence}"') == []
    assert too_wide(f"- {{key: one, day: 2,\n   text: {sentence}}}") == []
    assert too_wide(f"- {{key: one, text: {sentence}}}") == [1]
    assert too_wide(f"- [{', '.join(['word'] * 30)}]") == [1]
    assert too_wide(f"body: |\n  # {sentence}") == []
    assert too_wide(f"# {sentence}\nkey: value") == [1]
