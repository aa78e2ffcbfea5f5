"""Endpoints on loopback that play a script in the wire formats that products speak."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from servers.kit.app import run_app
from tests.harness.fake_endpoint import Endpoint, Script, Step

PROMPT_TOKENS = 100
ANSWER_TOKENS = 10


class Wire(Endpoint):
    """An endpoint that streams its answers.

    `bodies` are the requests of the conversation itself; what a product asks beside, such as a
    title, is answered with a short text and kept in `others`.
    """

    path = ""

    def __init__(self, script: Script) -> None:
        super().__init__("", script)
        self.others: list[dict[str, Any]] = []

    def is_turn(self, path: str, body: dict[str, Any]) -> bool:
        """Return whether a request is one of the conversation itself."""
        return bool(body.get("tools"))

    def events(self, step: Step, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the events of a streamed answer."""
        raise NotImplementedError

    def error(self, status: int) -> dict[str, Any]:
        """Return the body of a failure."""
        return {"error": {"type": "scripted", "message": f"scripted failure {status}"}}

    def whole(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the answer to a request that asks for no stream."""
        raise NotImplementedError

    def streams(self, request: Request, body: dict[str, Any]) -> bool:
        """Return whether a request asks for a stream."""
        return bool(body.get("stream"))

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        body = await request.json()
        if self.is_turn(request.url.path, body):
            self.bodies.append(body)
            number = len(self.bodies)
            step = self._step(body, number)
        else:
            self.others.append(body)
            number = 0
            step = Step("Clock")
        if step.status != 200:
            return JSONResponse(self.error(step.status), step.status)
        events = self.events(step, number, body)
        if not self.streams(request, body):
            return JSONResponse(self.whole(events))
        return Response(_stream(events), media_type="text/event-stream")


def _stream(events: Iterable[dict[str, Any]]) -> str:
    lines = []
    for event in events:
        if "type" in event:
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {json.dumps(event)}\n\n")
    return "".join(lines)


def _loose(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


class Messages(Wire):
    """The Messages API."""

    def offered(self, number: int) -> set[str]:
        return {tool["name"] for tool in self.bodies[number]["tools"]}

    def said(self, number: int = -1) -> list[tuple[str, str, Any]]:
        """Return role, kind and content of each block of a request."""
        found = []
        for message in self.bodies[number]["messages"]:
            content = message["content"]
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for block in content:
                inner = block.get("text") or block.get("input") or block.get("content")
                found.append((message["role"], block["type"], inner))
        return found

    def events(self, step: Step, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
        usage = {"input_tokens": PROMPT_TOKENS, "output_tokens": 1}
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        found: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
        if step.text is not None:
            text = {"type": "text", "text": ""}
            blocks.append((text, {"type": "text_delta", "text": step.text}))
        for place, (name, args) in enumerate(step.calls):
            use = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": {}}
            blocks.append((use, {"type": "input_json_delta", "partial_json": json.dumps(args)}))
        for index, (block, delta) in enumerate(blocks):
            found += [
                {"type": "content_block_start", "index": index, "content_block": block},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        stop = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
        spent = {"output_tokens": ANSWER_TOKENS}
        found.append({"type": "message_delta", "delta": stop, "usage": spent})
        return [*found, {"type": "message_stop"}]

    def whole(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        text = {"type": "text", "text": "Clock"}
        return {**events[0]["message"], "content": [text], "stop_reason": "end_turn"}

    def error(self, status: int) -> dict[str, Any]:
        return {"type": "error", **super().error(status)}


class Responses(Wire):
    """The Responses API."""

    def offered(self, number: int) -> set[str]:
        """Return the names of the tools; those of a namespace follow it and a dot."""
        names = set()
        for tool in self.bodies[number]["tools"]:
            if tool["type"] == "namespace":
                names |= {f"{tool['name']}.{inner['name']}" for inner in tool["tools"]}
            else:
                names.add(tool.get("name", tool["type"]))
        return names

    def said(self, number: int = -1) -> list[tuple[str, str, Any]]:
        """Return role, kind and content of each item of a request."""
        found = []
        for item in self.bodies[number]["input"]:
            kind = item.get("type", "message")
            inner = item.get("content") or item.get("arguments") or item.get("output")
            found.append((item.get("role", ""), kind, inner))
        return found

    def events(self, step: Step, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if step.text is not None:
            content = [{"type": "output_text", "text": step.text, "annotations": []}]
            message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
            items.append({**message, "status": "completed", "content": content})
        for place, (name, args) in enumerate(step.calls):
            key = f"call_{number}_{place}"
            space, _, tool = name.rpartition(".")
            item = {"type": "function_call", "id": f"fc_{key}", "call_id": key, "name": tool}
            if space:
                item["namespace"] = space
            items.append({**item, "status": "completed", "arguments": json.dumps(args)})
        usage = {
            "input_tokens": PROMPT_TOKENS,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": ANSWER_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS,
        }
        begun = {"id": f"resp_{number}", "object": "response", "status": "in_progress"}
        begun |= {"created_at": 1_772_000_000, "model": body["model"], "output": []}
        done = {**begun, "status": "completed", "output": items, "usage": usage}
        found: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(items):
            found += [
                {"type": "response.output_item.added", "output_index": index, "item": item},
                {"type": "response.output_item.done", "output_index": index, "item": item},
            ]
        return [*found, {"type": "response.completed", "response": done}]

    def whole(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        return events[-1]["response"]


class Gemini(Wire):
    """Gemini's generateContent."""

    def is_turn(self, path: str, body: dict[str, Any]) -> bool:
        return path.endswith(":streamGenerateContent") and bool(body.get("tools"))

    def streams(self, request: Request, body: dict[str, Any]) -> bool:
        return request.url.path.endswith(":streamGenerateContent")

    def offered(self, number: int) -> set[str]:
        names = set()
        for tool in self.bodies[number]["tools"]:
            names |= {made["name"] for made in tool.get("functionDeclarations", [])}
        return names

    def said(self, number: int = -1) -> list[tuple[str, str, Any]]:
        """Return role, kind and content of each part of a request."""
        found = []
        for message in self.bodies[number]["contents"]:
            for part in message["parts"]:
                kind = next(iter(part.keys() - {"thoughtSignature"}))
                found.append((message.get("role", "user"), kind, part[kind]))
        return found

    def events(self, step: Step, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        if step.text is not None:
            parts.append({"text": step.text})
        for name, args in step.calls:
            parts.append({"functionCall": {"name": name, "args": args}})
        usage = {
            "promptTokenCount": PROMPT_TOKENS,
            "candidatesTokenCount": ANSWER_TOKENS,
            "totalTokenCount": PROMPT_TOKENS + ANSWER_TOKENS,
        }
        content = {"role": "model", "parts": parts}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}]

    def whole(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        return events[0]

    def error(self, status: int) -> dict[str, Any]:
        error = {"code": status, "message": f"scripted failure {status}", "status": "SCRIPTED"}
        return {"error": error}


@contextlib.asynccontextmanager
async def serving(endpoint: Wire) -> AsyncGenerator[None]:
    """Serve an endpoint; its `url` says where, without the path of the API."""
    app = Starlette(routes=[Route("/{path:path}", endpoint.answer, methods=["POST"])])
    app.state.closing = anyio.Event()
    async with run_app(app) as port:
        endpoint.url = f"http://127.0.0.1:{port}"
        yield
