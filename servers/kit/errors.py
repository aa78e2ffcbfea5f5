"""Errors: the provider's words, our user's mistakes, and everything else (which is our bug)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError


class ServiceError(Exception):
    """A refusal in the provider's own words; the agent reads it and the call changes nothing.

    `code` is UPPER_SNAKE, `message` says what was wrong, `hint` what would be right. `retryable`
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
        context: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.context = context or {}

    def as_json(self) -> dict[str, Any]:
        """Return what an agent sees: `{"error": {code, message, hint, retryable, …}}`."""
        body: dict[str, Any] = {
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
    """A mistake in what a person gave us (a scenario, a name, a file): one line, no traceback."""


class UnknownName(InputError):
    """A name that does not exist; the message offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        prefix = f"{where}: " if where else ""
        super().__init__(f"{prefix}unknown {kind} {name!r}{did_you_mean(name, known)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for near names, else the known names (12 at most)."""
    options = sorted(known)
    if not options:
        return ""
    near = difflib.get_close_matches(name, options, n=2, cutoff=0.55)
    if near:
        return "; did you mean " + " or ".join(repr(n) for n in near) + "?"
    more = ", …" if len(options) > 12 else ""
    return f"; there is {', '.join(options[:12])}{more}"


def explain(wrong: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem of a validation error as one line, with near names for an unknown
    key.
    """
    first = wrong.errors(include_url=False)[0]
    place = ".".join(str(p) for p in first["loc"]) or "it"
    if first["type"] == "extra_forbidden":
        known = [f.alias or n for n, f in model.model_fields.items()]
        return f"unknown key {place!r}{did_you_mean(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"missing {place!r}"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"
