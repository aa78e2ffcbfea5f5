"""Anthropic's messages, whole or streamed."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.harness.wires import Line, Step, as_json, events, role_of, text_of


class Messages:
    """Messages."""

    paths: tuple[str, ...] = ("/v1/messages",)
    base = ""

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        """Return a step as a message, or as the events that build it up."""
        whole = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": _blocks(step, number),
            "stop_reason": "tool_use" if step.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return _streamed(whole) if body.get("stream") else JSONResponse(whole)

    def offered(self, body: dict[str, Any]) -> set[str]:
        """Return the names of the tools that a request offers."""
        return {tool["name"] for tool in body.get("tools") or []}

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model."""
        said = []
        names: dict[str, str] = {}
        if body.get("system"):
            said.append(Line("system", text_of(body["system"])))
        for message in body["messages"]:
            content = message["content"]
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for block in content:
                if block["type"] == "text":
                    said.append(Line(role_of(message["role"]), block["text"]))
                elif block["type"] == "tool_use":
                    names[block["id"]] = block["name"]
                    said.append(Line("call", block["name"]))
                elif block["type"] == "tool_result":
                    name = names[block["tool_use_id"]]
                    said.append(Line("result", text_of(block["content"]), of=name))
        return said


def _blocks(step: Step, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if step.text is not None:
        blocks.append({"type": "text", "text": step.text})
    for place, (name, args) in enumerate(step.calls):
        given = json.loads(args) if isinstance(args, str) else args
        key = f"toolu_{number}_{place}"
        blocks.append({"type": "tool_use", "id": key, "name": name, "input": given})
    return blocks


def _streamed(whole: dict[str, Any]) -> Response:
    begun = {**whole, "content": [], "stop_reason": None}
    begun["usage"] = {**whole["usage"], "output_tokens": 1}
    sent: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": as_json(block["input"])}
        sent += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    spent = {"output_tokens": whole["usage"]["output_tokens"]}
    sent += [{"type": "message_delta", "delta": ended, "usage": spent}, {"type": "message_stop"}]
    return events(*((event["type"], event) for event in sent))
