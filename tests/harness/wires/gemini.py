"""Gemini's generateContent, whole or streamed."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.harness.wires import Line, Step, events, role_of


class Gemini:
    """Contents and their parts."""

    paths: tuple[str, ...] = ("/v1beta/models/{method}",)
    base = ""

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        """Return a step as an answer, or as the only event of a stream."""
        parts: list[dict[str, Any]] = []
        if step.text is not None:
            parts.append({"text": step.text})
        for name, args in step.calls:
            given = json.loads(args) if isinstance(args, str) else args
            parts.append({"functionCall": {"name": name, "args": given}})
        content = {"role": "model", "parts": parts}
        whole = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 100,
                "candidatesTokenCount": 10,
                "totalTokenCount": 110,
            },
            "modelVersion": "scripted",
        }
        return events((None, whole)) if ":stream" in path else JSONResponse(whole)

    def offered(self, body: dict[str, Any]) -> set[str]:
        """Return the names of the tools that a request offers."""
        names = set()
        for tool in body.get("tools") or []:
            names |= {made["name"] for made in tool.get("functionDeclarations") or []}
        return names

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model."""
        said = []
        for part in (body.get("systemInstruction") or {}).get("parts") or []:
            said.append(Line("system", part["text"]))
        for message in body["contents"]:
            for part in message["parts"]:
                if "functionCall" in part:
                    said.append(Line("call", part["functionCall"]["name"]))
                elif "functionResponse" in part:
                    reply = part["functionResponse"]
                    response = reply["response"]
                    words = response.get("output", response.get("error", response))
                    text = _unwrapped(words) if isinstance(words, str) else json.dumps(words)
                    said.append(Line("result", text, of=reply["name"]))
                else:
                    said.append(Line(role_of(message.get("role", "user")), part["text"]))
        return said


def _unwrapped(words: str) -> str:
    """Return the text of an MCP reply, which Gemini CLI puts into a sentence if it is an error."""
    _, wrapped, response = words.partition(" with response: ")
    if not wrapped:
        return words
    [part] = json.loads(response)
    [content] = part["functionResponse"]["response"]["content"]
    return str(content["text"])
