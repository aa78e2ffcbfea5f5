"""What can happen to an HTTP response on its way to the client.

The request has been handled and recorded, but its client gets something else, or nothing. A layer
asks for this with `Reply.wire`, a JSON object with one key:

- `{"drop": true}`: the connection is closed without a response.
- `{"hang": seconds}`: nothing is sent. If the client has not given up after this many seconds of
  real time, the connection is closed.
- `{"answer": {"status": 502, "headers": {…}, "body": "…"}}`: this is sent instead of the response.
- `{"cut": bytes}`: the response's body ends after this many bytes, as if it were complete.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from servers.kit.types import Json

FATE = "haywire.wire"
"""Key of a request's scope that holds what should happen to the response.

Whoever answers the request fills it in.
"""


def alter_response(scope: Scope, wire: Json | None) -> None:
    """Set what happens to the response of a request.

    A host that does not support this sends the response unchanged.
    """
    if wire and FATE in scope:
        scope[FATE].update(wire)


async def serve(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    drop: Callable[[], None],
    closing: anyio.Event,
    hanging: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Serve one request, and do to its response what `alter_response` asked for in the meantime.

    `drop` closes the request's connection at once. `closing` is set when the host closes, which
    ends a hang. `hanging` is entered while a client waits in vain.
    """
    fate: Json = {}
    held: list[Message] = []
    done = False

    async def out(message: Message) -> None:
        nonlocal done
        if not fate:
            await send(message)
        elif done:
            return
        elif "cut" in fate:
            held.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                done = True
                body = b"".join(m.get("body", b"") for m in held[1:])[: fate["cut"]]
                await _answer(send, held[0]["status"], held[0]["headers"], body)
        else:
            done = True
            if "answer" in fate:
                answer = fate["answer"]
                headers = [
                    (name.encode("latin-1"), value.encode("latin-1"))
                    for name, value in answer["headers"].items()
                ]
                await _answer(send, answer["status"], headers, answer["body"].encode())
                return
            if "hang" in fate:
                with hanging():
                    await _hang(receive, fate["hang"], closing)
            drop()
            await _disconnected(receive)

    scope[FATE] = fate
    await app(scope, receive, out)


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    sent = [(name, value) for name, value in headers if name.lower() != b"content-length"]
    sent.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})


async def _hang(receive: Receive, seconds: float, closing: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def end_with(waiting: Callable[[], Any]) -> None:
            await waiting()
            tasks.cancel_scope.cancel()

        tasks.start_soon(end_with, lambda: anyio.sleep(seconds))
        tasks.start_soon(end_with, lambda: _disconnected(receive))
        tasks.start_soon(end_with, closing.wait)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
