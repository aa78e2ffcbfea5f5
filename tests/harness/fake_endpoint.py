"""A chat-completions endpoint on loopback that plays a script in the real wire format."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from servers.kit.app import run_app


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


Script = Sequence[Step] | Callable[[dict[str, Any], int], Step]
"""Steps in order, of which the last repeats; or a function of a request's body and its number,
which starts from 1.
"""


def say(text: str) -> Step:
    return Step(text)


def call(name: str, **args: Any) -> Step:
    return Step(calls=((name, args),))


def calls(*made: tuple[str, Any]) -> Step:
    return Step(calls=made)


def fails(status: int, after: float | None = None) -> Step:
    return Step(status=status, after=after)


@dataclass
class Endpoint:
    """A running endpoint: its address, and the request bodies that it received."""

    url: str
    script: Script
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def offered(self, number: int) -> set[str]:
        """Return the names of the tools in a request; the first request is 0."""
        return {t["function"]["name"] for t in self.bodies[number].get("tools", [])}

    def results(self) -> list[Any]:
        """Return the tool results of the last request, parsed if they are JSON."""
        return [_loose(m["content"]) for m in self.bodies[-1]["messages"] if m["role"] == "tool"]

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        body = await request.json()
        self.bodies.append(body)
        number = len(self.bodies)
        step = self._step(body, number)
        if step.status != 200:
            message = f"scripted failure {step.status}"
            error = {"message": message, "type": "scripted", "code": None, "param": None}
            headers = {} if step.after is None else {"retry-after": str(step.after)}
            return JSONResponse({"error": error}, step.status, headers)
        if step.raw is not None:
            return Response(step.raw, media_type="application/json")
        completion = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_772_000_000,
            "model": body["model"],
            "choices": [_choice(step, number)],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        return JSONResponse(completion)

    def _step(self, body: dict[str, Any], number: int) -> Step:
        if isinstance(self.script, Sequence):
            return self.script[min(number, len(self.script)) - 1]
        return self.script(body, number)


def _choice(step: Step, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.calls:
        message["tool_calls"] = []
    for place, (name, args) in enumerate(step.calls):
        arguments = args if isinstance(args, str) else json.dumps(args)
        function = {"name": name, "arguments": arguments}
        key = f"call_{number}_{place}"
        message["tool_calls"].append({"id": key, "type": "function", "function": function})
    reason = "tool_calls" if step.calls else "stop"
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}


def _loose(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextlib.asynccontextmanager
async def playing(script: Script) -> AsyncGenerator[Endpoint]:
    """Serve a script on an endpoint."""
    endpoint = Endpoint("", script)
    app = Starlette(routes=[Route("/v1/chat/completions", endpoint.answer, methods=["POST"])])
    app.state.closing = anyio.Event()
    async with run_app(app) as port:
        endpoint.url = f"http://127.0.0.1:{port}/v1"
        yield endpoint
