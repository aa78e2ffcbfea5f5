"""Errors: refusals in the provider's words and mistakes of our users.

Every other exception is our bug.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
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
    near = difflib.get_close_matches(cut(name), options, n=2, cutoff=0.55)
    if near:
        return "; did you mean " + " or ".join(repr(n) for n in near) + "?"
    more = ", …" if len(options) > 12 else ""
    return f"; known: {', '.join(options[:12])}{more}"


def sentence(text: str) -> str:
    """Return text with a full stop, unless it ends with a question mark."""
    return text if text.endswith("?") else f"{text}."


def explain(wrong: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of a validation error as one line.

    For an unknown key, the line suggests similar names.
    """
    first = wrong.errors(include_url=False)[0]
    place = cut(".".join(str(p) for p in first["loc"])) or "it"
    if first["type"] == "extra_forbidden":
        known = [f.alias or n for n, f in model.model_fields.items()]
        return f"unknown key {place!r}{did_you_mean(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"missing {place!r}"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"
