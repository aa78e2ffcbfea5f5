"""The wire formats of model endpoints, one file each, behind one neutral view.

A script says what the model answers (`Step`); a `Wire` puts it into a format, and reads requests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from starlette.responses import Response


@dataclass(frozen=True)
class Step:
    """One answer: text, tool calls, or an HTTP status that is not a success.

    `calls` holds `(name, arguments)`; arguments given as text are sent as they are. `raw` replaces
    the whole body. `after` is the number of seconds in the header `Retry-After`.
    """

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    raw: str | None = None
    after: float | None = None


Role = Literal["system", "user", "assistant", "call", "result"]
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
}


@dataclass(frozen=True)
class Line:
    """A part of what a request tells the model. The text of a call is its tool's name.

    A result stands after the call that it belongs to: `of` is the name of that call's tool.
    """

    role: Role
    text: str
    of: str = ""


class Wire(Protocol):
    """A wire format. Every answer tells of 100 tokens in and 10 out."""

    paths: tuple[str, ...]
    """Where requests go, below the server's root."""
    base: str
    """The path that a client is told as the endpoint's address."""

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        """Return a step as the answer to a request, the `number`th."""
        ...

    def offered(self, body: dict[str, Any]) -> set[str]:
        """Return the names of the tools that a request offers."""
        ...

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model, in order."""
        ...


def role_of(name: str) -> Role:
    """Return the role that a provider calls by some name."""
    return ROLES[name]


def as_json(arguments: Any) -> str:
    """Return a call's arguments as text; those given as text stay as they are."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def text_of(content: Any) -> str:
    """Return the text of a content that is a text, or a list of parts of which some have one."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or [])


def events(*sent: tuple[str | None, Any]) -> Response:
    """Return an answer that is streamed as server-sent events, each with a name or None."""
    body = ""
    for name, data in sent:
        if name is not None:
            body += f"event: {name}\n"
        body += f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
    return Response(body, media_type="text/event-stream")
