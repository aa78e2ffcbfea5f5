"""OpenAI's chat completions, whole or streamed."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from tests.harness.wires import Line, Step, as_json, events, role_of, text_of

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


class Chat:
    """Chat completions."""

    paths: tuple[str, ...] = ("/v1/chat/completions",)
    base = "/v1"

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        """Return a step as a completion, or as its chunks."""
        whole = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_772_000_000,
            "model": body["model"],
            "choices": [_choice(step, number)],
            "usage": USAGE,
        }
        return _streamed(whole) if body.get("stream") else JSONResponse(whole)

    def offered(self, body: dict[str, Any]) -> set[str]:
        """Return the names of the tools that a request offers."""
        return {t["function"]["name"] for t in body.get("tools") or []}

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model."""
        said: list[Line] = []
        names: dict[str, str] = {}
        for message in body["messages"]:
            text = text_of(message.get("content"))
            if message["role"] == "tool":
                said.append(Line("result", text, of=names[message["tool_call_id"]]))
            elif text:
                said.append(Line(role_of(message["role"]), text))
            for asked in message.get("tool_calls") or []:
                name = asked["function"]["name"]
                names[asked["id"]] = name
                said.append(Line("call", name))
        return said


def _choice(step: Step, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.calls:
        message["tool_calls"] = []
    for place, (name, args) in enumerate(step.calls):
        function = {"name": name, "arguments": as_json(args)}
        key = f"call_{number}_{place}"
        message["tool_calls"].append({"id": key, "type": "function", "function": function})
    reason = "tool_calls" if step.calls else "stop"
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}


def _streamed(whole: dict[str, Any]) -> Response:
    (choice,) = whole["choices"]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": i, **c} for i, c in enumerate(delta["tool_calls"])]
    same = {**whole, "object": "chat.completion.chunk"}
    same.pop("usage")
    chunks = []
    for part, reason in ((delta, None), ({}, choice["finish_reason"])):
        piece = {"index": 0, "delta": part, "finish_reason": reason}
        chunks.append((None, {**same, "choices": [piece]}))
    total = {**same, "choices": [], "usage": USAGE}
    return events(*chunks, (None, total), (None, "[DONE]"))
