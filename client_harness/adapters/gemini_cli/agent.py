"""Gemini CLI behind Haywire's process contract: the agent client protocol.

It runs in its own environment and imports nothing from Haywire but the helpers for agents.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import haywire_product as product  # ty: ignore[import-not-found]

PACKAGE = "@google/gemini-cli"
ENDPOINT = "https://generativelanguage.googleapis.com"


class Conversation(product.Product):
    """One conversation: a home that holds its session, and the relay that it talks through."""

    name = "gemini_cli"
    version = product.version(PACKAGE)

    async def start(self, session: haywire.Session) -> None:
        """Write the settings of Gemini CLI, and the history as a session that it loads."""
        key = product.key("GEMINI_API_KEY", self.settings.api_base)
        self.relay = product.Relay(self, self.settings.api_base or ENDPOINT, is_step, tokens)
        home = product.home_for(self)
        folder = home / ".gemini"
        folder.mkdir()
        settings = {
            # It would delete sessions that are old, as measured by the real date.
            "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "skills": {"enabled": False},
            # None of its own tools, only those of the services.
            "tools": {"core": ["mcp_*"]},
            "mcpServers": {
                s.name: {"httpUrl": self.relay.server_url(s), "trust": True, "timeout": 300_000}
                for s in session.servers
            },
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        if session.instructions:
            (folder / "GEMINI.md").write_text(session.instructions, encoding="utf-8")
        variables = {"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": self.relay.url("model")}
        variables["GEMINI_CLI_NO_RELAUNCH"] = "true"
        command = ["gemini", "--acp", "--model", product.model(self.settings)]
        command += ["--skip-trust", "--approval-mode", "yolo"]
        self.session = {"sessionId": remembered(session, home)} if session.history else {}
        self.program = await product.Program.start(self, command, home, variables)
        await self.program.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        given = {"cwd": str(product.folder(home)), "mcpServers": []}
        if session.history:
            await self.program.ask("session/load", {**self.session, **given})
        else:
            began = await self.program.ask("session/new", given)
            self.session = {"sessionId": began["sessionId"]}

    async def talk(self, text: str) -> str | None:
        """Say something to Gemini CLI, and return what it says after its last call."""
        said = ""
        prompt = {"prompt": [{"type": "text", "text": text}]}
        number = await self.program.request("session/prompt", {**self.session, **prompt})
        async for message in self.program.heard():
            update = (message.get("params") or {}).get("update") or {}
            kind = update.get("sessionUpdate")
            if kind == "tool_call":
                said = ""
            elif kind == "agent_message_chunk":
                said += update["content"].get("text") or ""
            if message.get("id") == number and "method" not in message:
                ended = (message.get("result") or {}).get("stopReason")
                if ended != "end_turn" or self.relay.problem is not None:
                    error = message.get("error") or {}
                    self.relay.check(str(error.get("message") or ended))
                return said
        return None


def is_step(path: str, body: dict[str, Any]) -> bool:
    """Return whether a request to the model is for the conversation."""
    return ":streamGenerateContent" in path and bool(body.get("tools"))


def tokens(events: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the tokens of an answer; each event tells those so far."""
    usage: dict[str, Any] = {}
    for event in events:
        usage |= event.get("usageMetadata") or {}
    answered = usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    return usage.get("promptTokenCount", 0), answered


def remembered(session: haywire.Session, home: Path) -> str:
    """Write the history as a session of Gemini CLI, and return its id."""
    key = str(uuid.uuid4())
    project = home / ".gemini" / "tmp" / product.folder(home).name
    (project / "chats").mkdir(parents=True)
    (project / ".project_root").write_text(str(product.folder(home)))
    about = {"sessionId": key, "projectHash": "past", "kind": "main"}
    about |= {"startTime": session.now, "lastUpdated": session.now}
    lines = [about]
    for message in native(session.history):
        lines.append({"id": str(uuid.uuid4()), "timestamp": session.now, **message})
    path = project / "chats" / f"session-past-{key[:8]}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return key


def native(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return canonical sessions as messages of Gemini CLI's sessions."""
    messages: list[dict[str, Any]] = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Said):
            kind = "user" if part.role == "user" else "gemini"
            messages.append({"type": kind, "content": [{"text": part.text}]})
            continue
        calls = []
        for call in part.calls:
            server, _, tool = call.name.partition("__")
            name = f"mcp_{server}_{tool}"
            reply = call.reply if isinstance(call.reply, str) else json.dumps(call.reply)
            response = {"error" if call.is_error else "output": reply}
            result = {"functionResponse": {"id": call.id, "name": name, "response": response}}
            status = "error" if call.is_error else "success"
            told = {"id": call.id, "name": name, "args": call.args, "status": status}
            calls.append({**told, "result": [result]})
        messages.append({"type": "gemini", "content": [], "toolCalls": calls})
    return messages


if __name__ == "__main__":
    haywire.serve(Conversation())
