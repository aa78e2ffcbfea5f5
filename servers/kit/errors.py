"""Errors: refusals in the provider's words and mistakes of our users.

Every other exception is our bug.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from servers.kit.types import Json

MOST_QUOTED = 80
"""How many characters of somebody's text an error repeats."""
_LONGEST_LINE = 1_200


def cut(text: str, most: int = MOST_QUOTED) -> str:
    """Return text for a message: what is longer than `most` characters ends in `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(value: Any) -> str:
    """Return what somebody wrote, as Python writes it, for a message; a long value is cut."""
    if isinstance(value, str):
        return repr(cut(value))
    return cut(repr(value))


def _long_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > MOST_QUOTED:
            yield value
    elif isinstance(value, dict):
        for inner in (*value, *value.values()):
            yield from _long_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _long_texts(inner)


class ServiceError(Exception):
    """A refusal in the provider's own words; the agent reads it, and the call changes nothing.

    `code` is UPPER_SNAKE. `message` says what is wrong, `hint` what to do instead. `retryable`
    tells whether the same call may succeed later; `retry_after` is in seconds; `context` holds
    extra JSON fields.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        retryable: bool = False,
        retry_after: int | None = None,
        status: int | None = None,
        context: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.context = context or {}

    def repeating_little_of(self, args: Any) -> ServiceError:
        """Return the refusal with each long text of the arguments cut where the message has it.

        So no service has to think of it where it says that there is no such thing.
        """
        for text in _long_texts(args):
            short = cut(text)
            for written, cut_down in ((text, short), (repr(text)[1:-1], repr(short)[1:-1])):
                self.message = self.message.replace(written, cut_down)
                self.hint = self.hint.replace(written, cut_down)
        self.message = cut(self.message, _LONGEST_LINE)
        self.hint = cut(self.hint, _LONGEST_LINE)
        return self

    def as_json(self) -> Json:
        """Return what an agent sees: `{"error": {code, message, hint, retryable, …}}`."""
        body: Json = {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
        }
        if self.retry_after is not None:
            body["retry_after_seconds"] = self.retry_after
        if self.status is not None:
            body["status"] = self.status
        return {"error": body | self.context}


class InputError(Exception):
    """A mistake in what a person gave us (a scenario, a name, a file): one line, no traceback.

    Messages quote with `quoted`. Where one is too long all the same, its middle is left out: the
    place is at the beginning, and what would be right is at the end.
    """

    def __str__(self) -> str:
        line = super().__str__()
        if len(line) <= _LONGEST_LINE:
            return line
        return f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 2 :]}"


class UnknownName(InputError):
    """A name that does not exist; the message suggests the nearest names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        prefix = f"{where}: " if where else ""
        super().__init__(f"{prefix}unknown {kind} {quoted(name)}{did_you_mean(name, known)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for similar names, or else a list of the known ones.

    The list has 12 names at most; it is empty if nothing is known.
    """
    options = sorted(known)
    if not options:
        return ""
    near = [option for option in options if one_slip(name, option)][:2]
    near = near or difflib.get_close_matches(cut(name), options, n=2, cutoff=0.55)
    if near:
        return "; did you mean " + " or ".join(repr(n) for n in near) + "?"
    more = ", …" if len(options) > 12 else ""
    return f"; known: {', '.join(options[:12])}{more}"


def one_slip(name: str, option: str) -> bool:
    """Return whether one letter is missing, too many or another, or two neighbours are swapped."""
    if abs(len(name) - len(option)) > 1 or name == option:
        return False
    same = 0
    while same < min(len(name), len(option)) and name[same] == option[same]:
        same += 1
    mine = name[same:]
    right = option[same:]
    swapped = mine[1:2] + mine[:1] + mine[2:]
    return right in (swapped, mine[1:]) or mine[1:] == right[1:] or mine == right[1:]


@contextlib.contextmanager
def placing(place: str) -> Generator[None]:
    """Put a place before the line of an `InputError`."""
    try:
        yield
    except InputError as wrong:
        wrong.args = (f"{place}: {wrong}",)
        raise


def sentence(text: str) -> str:
    """Return text with a full stop, unless it ends with a question mark."""
    return text if text.endswith("?") else f"{text}."


class Refused(ValueError):
    """An `InputError` on its way through a validation, which adds the place in the file to it."""

    def __init__(self, wrong: InputError) -> None:
        super().__init__(str(wrong))
        self.wrong = wrong


def explain(wrong: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of a validation error as one line: where it is and what would fit.

    For an unknown key, the line suggests similar names.
    """
    problems = wrong.errors(include_url=False)
    first = _telling(problems)
    place = cut(placed(first["loc"]))
    if first["type"] == "extra_forbidden":
        known = [f.alias or n for n, f in model.model_fields.items()]
        return f"unknown key {place!r}{did_you_mean(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"missing {place!r}"
    return problem(first, problems)


def problem(first: Mapping[str, Any], others: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return one problem of a validation as a line; `others` may name more types that fit."""
    place = cut(placed(first["loc"]))
    prefix = f"{place}: " if place else ""
    if first["type"] in _WANTED or first["type"] == "literal_error":
        ways = [other for other in others or [first] if placed(other["loc"]) == place]
        wanted = [_wanted(way) for way in ways if _wanted(way)]
        if wanted:
            fitting = " or ".join(dict.fromkeys(wanted))
            return f"{prefix}expected {fitting}, got {quoted(first['input'])}"
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] in ("value_error", "is_instance_of"):
        return f"{prefix}{said}"
    return f"{prefix}{said.replace('Input should', 'it should')}, got {quoted(first['input'])}"


def refused(wrong: ValidationError, line: str) -> InputError:
    """Return the error of a validation with another line: our own error, if it was one."""
    first = _telling(wrong.errors(include_url=False))
    own = first.get("ctx", {}).get("error")
    made = own.wrong if isinstance(own, Refused) else InputError()
    made.args = (line,)
    return made


def _telling(problems: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the first problem; of several ways to read a value, the one that came furthest."""
    first = problems[0]
    place = placed(first["loc"])
    for problem in problems:
        if placed(problem["loc"]).startswith(place) and _depth(problem) > _depth(first):
            first = problem
    return first


def _depth(problem: Mapping[str, Any]) -> tuple[int, bool]:
    """Return how far into the data a problem lies; our own words come before pydantic's."""
    return len(_plain(problem["loc"])), "error" in problem.get("ctx", {})


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "is_instance_of": "",
}


def _wanted(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "literal_error":
        return str(problem["ctx"]["expected"])
    return _WANTED.get(problem["type"], "")


def placed(loc: Iterable[str | int]) -> str:
    """Return a place as people write it: `turns[1].gap`."""
    place = ""
    for part in _plain(loc):
        if isinstance(part, int):
            place += f"[{part}]"
        else:
            place += f".{part}" if place else part
    return place


_TAGS = frozenset({"str", "int", "float", "bool", "none"})


def _plain(loc: Iterable[str | int]) -> list[str | int]:
    """Return a place without the parts that only name one of several types."""
    parts: list[str | int] = []
    for part in loc:
        inside = isinstance(part, str) and ("[" in part or part in _TAGS or part in TYPES)
        if not inside:
            parts.append(part)
    return parts


TYPES: set[str] = set()
"""The names of the declared models, which pydantic puts into the place of a problem."""
