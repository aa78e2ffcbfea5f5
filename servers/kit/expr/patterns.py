"""Regular expressions that come from files, on an engine whose time only grows with the text.

Python's own engine can take years for a pattern of ten characters, and nothing stops it. RE2 has no
such patterns, because it has no lookaround and no back-references; a list of patterns, all of which
must be found, says what lookaheads are mostly written for. Patterns in our own code stay with
Python's.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from servers.kit.errors import InputError, quoted

MOST_PATTERN = 1_000
"""The most characters of a pattern."""
_MOST_STEPS = 4_000
"""The most instructions of a compiled pattern; each letter of a text may take as many."""

_BOTH = "write `matches: [one, other]`, all of which must be found"
_REMEDIES = (
    (r"\(\?=", f"a lookahead `(?=` is not supported; {_BOTH}"),
    (r"\(\?!", "a lookahead `(?!` is not supported; add `not: {matches: …}` or `none_of`"),
    (r"\(\?<[=!]", r"a lookbehind is not supported; match what stands before, as in `(^|[^\d])5`"),
    (r"\\[1-9]|\(\?P=", "a back-reference is not supported; write out the alternatives"),
    (r"\(\?[a-wyz-]*x", "the flag `x` is not supported; write the pattern without white space"),
    (r"\(\?>", "an atomic group is not supported; write `(?:`"),
    (r"\\Z", r"`\Z` is not supported; write `\z`"),
)
"""What Python's engine has and this one has not, and what to write instead."""

# `\b` knows only the letters of ASCII.
_NO_EDGE = re.compile(r"[^\W\d_a-zA-Z]\\b|(?<!\\)\\b[^\W\d_a-zA-Z]")
_WIDE_SPACE = re.compile(r"[^\S \t\n\r\f\v]")


@functools.lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> Any:
    """Return a compiled pattern, which ignores case. Raises `ValueError` with the reason."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True
    try:
        made = re2.compile(pattern, options)
    except re2.error as wrong:
        raise ValueError(str(wrong).removeprefix("b").strip("'")) from None
    if made.programsize > _MOST_STEPS:
        raise ValueError("repeats too much; shorten what stands in braces")
    return made


def found(wanted: str | list[str], text: str) -> bool:
    r"""Return whether a pattern, or each pattern of a list, is found in a text, in any case.

    A space of any width counts as white space for `\s`.
    """
    plain = _WIDE_SPACE.sub(" ", text.encode(errors="replace").decode())
    patterns = [wanted] if isinstance(wanted, str) else wanted
    return all(_compiled(pattern).search(plain) is not None for pattern in patterns)


def check_patterns(wanted: Any, where: str) -> None:
    """Refuse what is not a pattern, or a list of patterns, of this engine.

    Raises `InputError` with a line that says what to write instead.
    """
    if isinstance(wanted, list) and wanted:
        for pattern in wanted:
            _check(pattern, where)
    else:
        _check(wanted, where)


def _check(pattern: Any, where: str) -> None:
    place = f"{where}: matches: pattern {quoted(pattern)}"
    if not isinstance(pattern, str):
        raise InputError(f"{place}: must be text; put it in quotes")
    if "${" in pattern:
        raise InputError(f"{place}: a pattern is fixed; use `contains` or `same_text` with ${{…}}")
    if len(pattern) > MOST_PATTERN:
        raise InputError(f"{place}: has {len(pattern):,} characters; {MOST_PATTERN:,} are the most")
    for sign, remedy in _REMEDIES:
        if re.search(r"(?<!\\)(?:\\\\)*" + sign, pattern):
            raise InputError(f"{place}: {remedy}")
    if _NO_EDGE.search(pattern):
        raise InputError(
            rf"{place}: `\b` does not know letters such as é; write `(^|[^\pL])` or `([^\pL]|$)`"
        )
    try:
        _compiled(pattern)
    except ValueError as wrong:
        raise InputError(f"{place}: {wrong}") from None
