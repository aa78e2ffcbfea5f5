"""What is asked of an OpenAI-compatible endpoint is the same as through the whole of litellm."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import anyio
import pytest

from client_harness._litellm import Endpoint
from client_harness.contract import ProviderOutage

TOOL = {
    "type": "function",
    "function": {
        "name": "pay",
        "description": "Zahlt – ein „Betrag“.",
        "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
    },
}
CALL = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"amount":1}'}}
REQUEST: dict[str, Any] = {
    "model": "openai/scripted",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Pay Ana 1 €, and “more”."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"ok":true}'},
    ],
    "temperature": 0.5,
    "tools": [TOOL],
    "max_tokens": 70,
}
REFUSED = {"error": {"message": "no", "type": "t", "code": "insufficient_quota", "param": None}}


def answered(message: dict[str, Any], **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "other-name"}
    return json.dumps({**whole, "choices": [choice], "usage": usage, **more}).encode()


def asked(
    request: dict[str, Any], status: int, answer: bytes, head: str = "", **given: Any
) -> tuple[list[bytes], Any]:
    """Return what an endpoint got, and what came of its answer."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        start = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in start.lower().split(b"\r\n") if b"content-length" in line)
        got.append(start + await reader.readexactly(int(length.partition(b":")[2])))
        about = f"HTTP/1.1 {status} Told\r\n{head}content-length: {len(answer)}\r\n"
        writer.write(f"{about}connection: close\r\n\r\n".encode() + answer)
        await writer.drain()
        writer.close()

    async def ask() -> Any:
        server = await asyncio.start_server(serve, "127.0.0.1", PORT)
        async with server:
            endpoint = Endpoint(f"http://127.0.0.1:{PORT}/v1", retries=0, max_wait=0, **given)
            try:
                return await endpoint.complete(request)
            except ProviderOutage as outage:
                return str(outage), outage.cause, outage.lasting

    return got, anyio.run(ask)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


PORT = _free_port()
"""The same for both ways, because the port is part of what is sent."""
JSON = "content-type: application/json\r\n"
CASES: dict[str, tuple[int, bytes, str]] = {
    "words": (200, answered({"role": "assistant", "content": "Done – “yes”."}), JSON),
    "calls": (200, answered({"role": "assistant", "content": None, "tool_calls": [CALL]}), JSON),
    "more fields": (
        200,
        answered({"role": "assistant", "content": "a", "reasoning_content": "b"}, own="c"),
        JSON,
    ),
    "no usage": (200, answered({"role": "assistant", "content": "a"}, usage=None), JSON),
    "no choices": (200, answered({}, choices=[]), JSON),
    "no json": (200, b"<html>", "content-type: text/html\r\n"),
    "broken json": (200, b'{"choices": [', JSON),
    "key": (401, json.dumps(REFUSED).encode(), JSON),
    "wrong": (400, b'{"error": {"message": "what?", "type": "t"}}', JSON),
    "nowhere": (404, b"not here", ""),
    "money": (429, json.dumps(REFUSED).encode(), JSON),
    "often": (429, b'{"error": {"message": "slower"}}', f"{JSON}retry-after: 3\r\n"),
    "away": (503, b"", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_wire_and_outcome_are_those_of_litellm(case: str) -> None:
    direct = asked(REQUEST, *CASES[case])
    whole = asked(REQUEST, *CASES[case], through_litellm=True)
    assert direct[0] == whole[0]
    assert direct[1] == whole[1]


def test_a_request_without_tools_that_forbids_them_is_the_same() -> None:
    for extra in ({"tools": [TOOL], "tool_choice": "none"}, {"tool_choice": "none"}, {}):
        request = {"model": "openai/scripted", "messages": REQUEST["messages"][:2], **extra}
        assert asked(request, *CASES["words"]) == asked(
            request, *CASES["words"], through_litellm=True
        )
