"""Claude Code behind Haywire's process contract: its command line, spoken to in JSON.

It runs in its own environment and imports nothing from Haywire but the helpers for agents.
"""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import haywire_product as product  # ty: ignore[import-not-found]

PACKAGE = "@anthropic-ai/claude-code"
ENDPOINT = "https://api.anthropic.com"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    # All tools are in each request, as the services have them, and none must be looked for.
    "ENABLE_TOOL_SEARCH": "false",
    # It hears of new tools in the newer version, too, but on a busy machine not always in time.
    "MCP_PROTOCOL_NEGOTIATION": "legacy",
}


class Conversation(product.Product):
    """One conversation: a running Claude Code, and the relay that it talks through."""

    name = "claude_code"
    version = product.version(PACKAGE)

    async def start(self, session: haywire.Session) -> None:
        """Start Claude Code on the servers, with the history as a session that it resumes."""
        key = product.key("ANTHROPIC_API_KEY", self.settings.api_base)
        base = (self.settings.api_base or ENDPOINT).removesuffix("/v1")
        self.relay = product.Relay(self, base, is_step, tokens)
        self.cost = 0.0
        home = product.home_for(self)
        servers = {
            s.name: {"type": "http", "url": self.relay.server_url(s)} for s in session.servers
        }
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        command = ["claude", "-p", "--verbose", "--strict-mcp-config", "--mcp-config"]
        command += [str(home / "mcp.json"), "--model", product.model(self.settings)]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        command += ["--tools", "", "--setting-sources", "", "--permission-prompts", "none"]
        command += ["--allowedTools", ",".join(f"mcp__{name}" for name in servers)]
        if session.instructions:
            command += ["--append-system-prompt", session.instructions]
        if session.history:
            command += ["--resume", remembered(session, home)]
        variables = {
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.relay.url("model"),
            "CLAUDE_CONFIG_DIR": str(home / "config"),
            "CLAUDE_CODE_OVERRIDE_DATE": session.now[:10],
        }
        variables |= QUIET
        self.program = await product.Program.start(self, command, home, variables)

    async def talk(self, text: str) -> str | None:
        """Say something to Claude Code, and return what it answers."""
        await self.program.send({"type": "user", "message": {"role": "user", "content": text}})
        async for message in self.program.messages():
            if message.get("type") == "result":
                return self.result(message)
        return None

    def result(self, message: dict[str, Any]) -> str:
        """Return the text of a result, or raise what went wrong."""
        cost = message.get("total_cost_usd") or 0.0
        self.used(cost=cost - self.cost)
        self.cost = cost
        said = str(message.get("result") or "")
        if message.get("is_error"):
            self.relay.check(said or str(message.get("subtype")))
        return said


def is_step(path: str, body: dict[str, Any]) -> bool:
    """Return whether a request to the model is for the conversation."""
    return path.partition("?")[0] == "/v1/messages" and bool(body.get("tools"))


def tokens(events: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the tokens of an answer, those included that were cached."""
    usage: dict[str, Any] = {}
    for event in events:
        told = event.get("usage") or event.get("message", {}).get("usage") or {}
        usage |= {name: count for name, count in told.items() if isinstance(count, int)}
    asked = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(name, 0) for name in asked), usage.get("output_tokens", 0)


def remembered(session: haywire.Session, home: Path) -> str:
    """Write the history as a session of Claude Code, and return its id."""
    key = str(uuid.uuid4())
    cwd = str(product.folder(home))
    path = home / "config" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", cwd) / f"{key}.jsonl"
    path.parent.mkdir(parents=True)
    parent = None
    with path.open("w", encoding="utf-8") as file:
        for message in native(session.history):
            entry = {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": key,
                "version": Conversation.version,
                "type": message["role"],
                "message": message,
                "uuid": str(uuid.uuid4()),
                "timestamp": session.now,
            }
            parent = entry["uuid"]
            file.write(json.dumps(entry) + "\n")
    return key


def native(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return canonical sessions as messages of the Messages API."""
    messages: list[dict[str, Any]] = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Said):
            if part.role == "user":
                messages.append({"role": "user", "content": part.text})
            else:
                messages.append(assistant([{"type": "text", "text": part.text}]))
            continue
        uses = []
        results = []
        for call in part.calls:
            name = f"mcp__{call.name}"
            reply = call.reply if isinstance(call.reply, str) else json.dumps(call.reply)
            uses.append({"type": "tool_use", "id": call.id, "name": name, "input": call.args})
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": [{"type": "text", "text": reply}],
                    "is_error": call.is_error,
                }
            )
        messages += [assistant(uses, "tool_use"), {"role": "user", "content": results}]
    return messages


def assistant(content: list[dict[str, Any]], stop: str = "end_turn") -> dict[str, Any]:
    """Return a message of the model as Claude Code keeps it."""
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": "past",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


if __name__ == "__main__":
    haywire.serve(Conversation())
