"""OpenAI's responses, whole or streamed."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from tests.harness.wires import Line, Step, as_json, events, role_of, text_of


class Responses:
    """Responses. A tool in a namespace is offered and called as `namespace__tool`."""

    paths: tuple[str, ...] = ("/v1/responses",)
    base = "/v1"

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        """Return a step as a response, or as the events that build it up."""
        whole = {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1_772_000_000,
            "status": "completed",
            "model": body["model"],
            "output": _items(step, number, body),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools") or [],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 10,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 110,
            },
        }
        return _streamed(whole) if body.get("stream") else JSONResponse(whole)

    def offered(self, body: dict[str, Any]) -> set[str]:
        """Return the names of the tools that a request offers."""
        names = set()
        for tool in body.get("tools") or []:
            if tool["type"] == "namespace":
                names |= {f"{tool['name']}__{inner['name']}" for inner in tool["tools"]}
            elif "name" in tool:
                names.add(tool["name"])
        return names

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model."""
        said: list[Line] = []
        names: dict[str, str] = {}
        if body.get("instructions"):
            said.append(Line("system", body["instructions"]))
        given = body["input"]
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            kind = item.get("type", "message")
            if kind == "function_call":
                space = item.get("namespace")
                names[item["call_id"]] = f"{space}__{item['name']}" if space else item["name"]
                said.append(Line("call", names[item["call_id"]]))
            elif kind == "function_call_output":
                said.append(Line("result", text_of(item["output"]), of=names[item["call_id"]]))
            elif kind == "message":
                said.append(Line(role_of(item["role"]), text_of(item["content"])))
        return said


def _items(step: Step, number: int, body: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    spaces = [t["name"] for t in body.get("tools") or [] if t["type"] == "namespace"]
    if step.text is not None:
        part = {"type": "output_text", "text": step.text, "annotations": []}
        items.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for place, (called, args) in enumerate(step.calls):
        space = next((s for s in spaces if called.startswith(f"{s}__")), None)
        name = called.removeprefix(f"{space}__")
        items.append(
            {
                **({} if space is None else {"namespace": space}),
                "id": f"fc_{number}_{place}",
                "type": "function_call",
                "call_id": f"call_{number}_{place}",
                "name": name,
                "arguments": as_json(args),
                "status": "completed",
            }
        )
    return items


def _streamed(whole: dict[str, Any]) -> Response:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    sent: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for place, item in enumerate(whole["output"]):
        for stage in ("added", "done"):
            kind = f"response.output_item.{stage}"
            sent.append({"type": kind, "output_index": place, "item": item})
    sent.append({"type": "response.completed", "response": whole})
    named: list[tuple[str | None, Any]] = []
    for place, event in enumerate(sent):
        named.append((event["type"], {**event, "sequence_number": place}))
    return events(*named)
