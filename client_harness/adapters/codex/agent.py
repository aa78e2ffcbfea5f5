"""Codex behind Haywire's process contract: its app server, spoken to in JSON-RPC.

It runs in its own environment and imports nothing from Haywire but the helpers for agents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import haywire_product as product  # ty: ignore[import-not-found]

PACKAGE = "@openai/codex"
ENDPOINT = "https://api.openai.com/v1"
OFF = ("shell_tool", "unified_exec", "view_image", "apps", "plugins", "goals")
"""Features that are switched off, because their tools are not those of the services."""


class Conversation(product.Product):
    """One conversation: a running app server, and the relay that it talks through."""

    name = "codex"
    version = product.version(PACKAGE)

    async def start(self, session: haywire.Session) -> None:
        """Start Codex on the servers, and put the history into its thread."""
        variables = {"OPENAI_API_KEY": product.key("OPENAI_API_KEY", self.settings.api_base)}
        base = self.settings.api_base or ENDPOINT
        self.relay = product.Relay(self, base, is_step, tokens)
        self.model = product.model(self.settings)
        home = product.home_for(self)
        self.configure(session, home / ".codex")
        self.began: dict[str, Any] = {"cwd": str(product.folder(home))}
        self.began["developerInstructions"] = session.instructions
        self.home = home
        self.variables = variables
        await self.connect()
        began = await self.program.ask("thread/start", self.began)
        self.thread = {"threadId": began["thread"]["id"]}
        self.is_fresh = True
        if session.history:
            items = {"items": native(session.history)}
            await self.program.ask("thread/inject_items", {**self.thread, **items})

    async def connect(self) -> None:
        """Start an app server, which lists the tools of the services once and for all."""
        command = ["codex", "app-server"]
        self.program = await product.Program.start(self, command, self.home, self.variables)
        about = {"name": "haywire", "title": "Haywire", "version": "1"}
        able = {"experimentalApi": True}
        await self.program.ask("initialize", {"clientInfo": about, "capabilities": able})
        await self.program.send({"jsonrpc": "2.0", "method": "initialized"})

    def configure(self, session: haywire.Session, folder: Path) -> None:
        """Write the configuration of Codex. Strings in JSON are strings in TOML."""
        values: dict[str, Any] = {
            "model": self.model,
            "model_provider": "relay",
            "approval_policy": "never",
            "sandbox_mode": "read-only",
            "web_search": "disabled",
            "check_for_update_on_startup": False,
            # It would tell the real date.
            "include_environment_context_time": False,
            "agents.enabled": False,
            "model_providers.relay.name": "relay",
            "model_providers.relay.base_url": self.relay.url("model"),
            "model_providers.relay.env_key": "OPENAI_API_KEY",
            "model_providers.relay.wire_api": "responses",
            "model_providers.relay.request_max_retries": 3,
        }
        values |= {f"features.{name}": False for name in OFF}
        for server in session.servers:
            entry = f"mcp_servers.{server.name}"
            values[f"{entry}.url"] = self.relay.server_url(server)
            # Nobody is there to approve of a call.
            values[f"{entry}.default_tools_approval_mode"] = "approve"
            # It sends its first request without the tools of a server that is not required.
            values[f"{entry}.required"] = True
            values[f"{entry}.tool_timeout_sec"] = 300
        folder.mkdir()
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items()]
        (folder / "config.toml").write_text("".join(lines), encoding="utf-8")

    async def talk(self, text: str) -> str | None:
        """Say something to Codex, and return its last message."""
        said = ""
        if not self.is_fresh:
            await self.program.stop()
            await self.connect()
            await self.program.ask("thread/resume", {**self.thread, **self.began})
        self.is_fresh = False
        given = {"input": [{"type": "text", "text": text}]}
        await self.program.ask("turn/start", {**self.thread, **given})
        async for message in self.program.heard():
            params = message.get("params") or {}
            item = params.get("item") or {}
            if message.get("method") == "item/completed" and item["type"] == "agentMessage":
                said = item["text"]
            if message.get("method") == "turn/completed":
                if params["turn"]["status"] == "completed":
                    return said
                error = params["turn"].get("error") or {}
                self.relay.check(error.get("message") or params["turn"]["status"])
        return None


def is_step(path: str, body: dict[str, Any]) -> bool:
    """Return whether a request to the model is for the conversation."""
    return path.partition("?")[0] == "/responses"


def tokens(events: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the tokens of an answer."""
    for event in events:
        usage = (event.get("response") or {}).get("usage")
        if usage:
            return usage["input_tokens"], usage["output_tokens"]
    return 0, 0


def native(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return canonical sessions as items of the Responses API."""
    items: list[dict[str, Any]] = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Said):
            kind = "input_text" if part.role == "user" else "output_text"
            content = [{"type": kind, "text": part.text}]
            items.append({"type": "message", "role": part.role, "content": content})
            continue
        for call in part.calls:
            server, _, tool = call.name.partition("__")
            items.append(
                {
                    "type": "function_call",
                    "namespace": f"mcp__{server}",
                    "name": tool,
                    "call_id": call.id,
                    "arguments": json.dumps(call.args),
                }
            )
        for call in part.calls:
            reply = call.reply if isinstance(call.reply, str) else json.dumps(call.reply)
            output = {"type": "function_call_output", "call_id": call.id, "output": reply}
            items.append(output)
    return items


if __name__ == "__main__":
    haywire.serve(Conversation())
