"""Histories as agents read them.

The canonical form is `Lived.sessions` of `scenarios.haystack.history`.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from servers.kit.session import SEPARATOR

KINDS = ("messages", "native", "text")
"""What an agent outside this process may ask for: plain texts, the canonical structure, or one
transcript.
"""


def header(at: str) -> str:
    """Return the line that opens a session."""
    return f"[Conversation of {at}]"


def chat(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return chat-completions messages: tool calls and their results as such, a dated header before
    each session's first text.
    """
    found: list[dict[str, Any]] = []
    numbers = count(1)
    for session in sessions:
        opening = header(session["at"]) + "\n"
        for message in session["messages"]:
            if "calls" not in message:
                if opening and message["role"] != "user":
                    found.append({"role": "user", "content": opening.strip()})
                    opening = ""
                found.append({"role": message["role"], "content": opening + message["text"]})
                opening = ""
                continue
            if opening:
                found.append({"role": "user", "content": opening.strip()})
                opening = ""
            ids = [f"past_{next(numbers)}" for _ in message["calls"]]
            made = [
                {
                    "id": i,
                    "type": "function",
                    "function": {
                        "name": f"{c['server']}{SEPARATOR}{c['tool']}",
                        "arguments": json.dumps(c["args"]),
                    },
                }
                for i, c in zip(ids, message["calls"], strict=True)
            ]
            found.append({"role": "assistant", "content": None, "tool_calls": made})
            found += [
                {
                    "role": "tool",
                    "tool_call_id": i,
                    "content": json.dumps(c["reply"], ensure_ascii=False),
                }
                for i, c in zip(ids, message["calls"], strict=True)
            ]
    return found


def messages(sessions: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return `[{role, text}]` in which calls and their results are told in words."""
    found = []
    for session in sessions:
        opening = header(session["at"]) + "\n"
        for message in session["messages"]:
            found.append({"role": message["role"], "text": opening + _told(message)})
            opening = ""
    return found


def text(sessions: list[dict[str, Any]]) -> str:
    """Return one transcript."""
    blocks = []
    for session in sessions:
        said = [f"{m['role'].capitalize()}: {_told(m)}" for m in session["messages"]]
        blocks.append("\n".join([header(session["at"]), *said]))
    return "\n\n".join(blocks)


def rendered(sessions: list[dict[str, Any]], kind: str) -> Any:
    """Return a history of one of `KINDS`."""
    return {"messages": messages, "native": list, "text": text}[kind](sessions)


def _told(message: dict[str, Any]) -> str:
    if "calls" not in message:
        return message["text"]
    return "\n".join(
        f"(called {c['server']}.{c['tool']} {json.dumps(c['args'], ensure_ascii=False)}"
        f" and got {'the error ' if c['is_error'] else ''}{json.dumps(c['reply'], ensure_ascii=False)})"
        for c in message["calls"]
    )
