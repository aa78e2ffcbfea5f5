"""Histories as agents read them.

The canonical form is `Lived.sessions` of `scenarios.haystack.history`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from scenarios.haystack.history import LivedSession, PastCall, PastMessage
from servers.kit.session import SEPARATOR

KINDS = ("messages", "native", "text")
"""The forms that an external agent may ask for.

They are plain texts, the canonical structure, and one transcript.
"""


def header(at: str) -> str:
    """Return the line that opens a session."""
    return f"[Conversation of {at}]"


def _opening(session: LivedSession, sessions: Sequence[LivedSession]) -> str:
    """Return what precedes a session's first text.

    That is nothing for the present conversation, if there is no past to tell it from.
    """
    alone = session.get("goes_on", False) and len(sessions) == 1
    return "" if alone else f"{header(session['at'])}\n"


def chat(sessions: Sequence[LivedSession]) -> list[dict[str, Any]]:
    """Return chat-completions messages, with tool calls and results as native messages.

    A dated header precedes each session's first text.
    """
    conversation: list[dict[str, Any]] = []
    numbers = count(1)
    for session in sessions:
        opening = _opening(session, sessions)
        for message in session["messages"]:
            calls = message.get("calls")
            if calls is None:
                if opening and message["role"] != "user":
                    conversation.append({"role": "user", "content": opening.strip()})
                    opening = ""
                content = opening + message.get("text", "")
                conversation.append({"role": message["role"], "content": content})
                opening = ""
                continue
            if opening:
                conversation.append({"role": "user", "content": opening.strip()})
                opening = ""
            conversation += _exchanged(calls, [f"past_{next(numbers)}" for _ in calls])
    return conversation


def _exchanged(calls: Sequence[PastCall], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the assistant's message with its calls, and a message for each result."""
    made = []
    results = []
    for key, call in zip(ids, calls, strict=True):
        function = {
            "name": f"{call['server']}{SEPARATOR}{call['tool']}",
            "arguments": json.dumps(call["args"]),
        }
        made.append({"id": key, "type": "function", "function": function})
        content = json.dumps(call["reply"], ensure_ascii=False)
        results.append({"role": "tool", "tool_call_id": key, "content": content})
    return [{"role": "assistant", "content": None, "tool_calls": made}, *results]


def messages(sessions: Sequence[LivedSession]) -> list[dict[str, str]]:
    """Return `[{role, text}]`, with calls and their results described in words."""
    plain = []
    for session in sessions:
        opening = _opening(session, sessions)
        for message in session["messages"]:
            plain.append({"role": message["role"], "text": opening + _in_words(message)})
            opening = ""
    return plain


def text(sessions: Sequence[LivedSession]) -> str:
    """Return all sessions as one transcript."""
    parts = [_opening(session, sessions) + _transcript(session) for session in sessions]
    return "\n\n".join(parts)


def rendered(sessions: Sequence[LivedSession], kind: str) -> Any:
    """Return a history in one of the forms in `KINDS`."""
    return {"messages": messages, "native": list, "text": text}[kind](sessions)


def alone(session: LivedSession, kind: str) -> Any:
    """Return the messages of one session in one of the forms in `KINDS`, without its date."""
    if kind == "native":
        return session["messages"]
    if kind == "text":
        return _transcript(session)
    return [{"role": m["role"], "text": _in_words(m)} for m in session["messages"]]


def _transcript(session: LivedSession) -> str:
    return "\n".join(f"{m['role'].capitalize()}: {_in_words(m)}" for m in session["messages"])


def _in_words(message: PastMessage) -> str:
    calls = message.get("calls")
    if calls is None:
        return message.get("text", "")
    lines = []
    for call in calls:
        args = json.dumps(call["args"], ensure_ascii=False)
        reply = json.dumps(call["reply"], ensure_ascii=False)
        if call["is_error"]:
            reply = f"the error {reply}"
        lines.append(f"(called {call['server']}.{call['tool']} {args} and got {reply})")
    return "\n".join(lines)
