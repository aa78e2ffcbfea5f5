"""A model endpoint on loopback that plays a script in a real wire format (see `wires`)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from servers.kit.app import run_app
from tests.harness.wires import Line, Step, Wire
from tests.harness.wires.chat import Chat

Script = Sequence[Step] | Callable[[dict[str, Any], int], Step | Awaitable[Step]]
"""Steps in order, of which the last repeats; or a function of a request's body and its number,
which starts from 1. The function may be a coroutine.
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
    wire: Wire = field(default_factory=Chat)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def offered(self, number: int) -> set[str]:
        """Return the names of the tools in a request; the first request is 0."""
        return self.wire.offered(self.bodies[number])

    def lines(self, number: int = -1) -> list[Line]:
        """Return what a request tells the model; the first request is 0."""
        return self.wire.lines(self.bodies[number])

    def results(self) -> list[Any]:
        """Return the tool results of the last request, parsed if they are JSON."""
        return [_loose(line.text) for line in self.lines() if line.role == "result"]

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        body = await request.json()
        self.bodies.append(body)
        number = len(self.bodies)
        step = await self._step(body, number)
        if step.status != 200:
            message = f"scripted failure {step.status}"
            error = {"message": message, "type": "scripted", "code": None, "param": None}
            headers = {} if step.after is None else {"retry-after": str(step.after)}
            return JSONResponse({"error": error}, step.status, headers)
        if step.raw is not None:
            return Response(step.raw, media_type="application/json")
        return self.wire.answer(step, number, body, request.url.path)

    async def _step(self, body: dict[str, Any], number: int) -> Step:
        if isinstance(self.script, Sequence):
            return self.script[min(number, len(self.script)) - 1]
        made = self.script(body, number)
        return made if isinstance(made, Step) else await made


def _loose(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextlib.asynccontextmanager
async def playing(script: Script, wire: Wire | None = None) -> AsyncGenerator[Endpoint]:
    """Serve a script on an endpoint, by default in chat completions."""
    endpoint = Endpoint("", script, wire or Chat())
    routes = [Route(path, endpoint.answer, methods=["POST"]) for path in endpoint.wire.paths]
    app = Starlette(routes=routes)
    app.state.closing = anyio.Event()
    async with run_app(app) as port:
        endpoint.url = f"http://127.0.0.1:{port}{endpoint.wire.base}"
        yield endpoint
