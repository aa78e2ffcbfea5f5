"""Configurations that let MCP clients start our servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_harness import configs
from client_harness.configs import Form
from servers.kit.errors import UnknownName
from servers.kit.plain import is_there

ROOT = Path(__file__).parent.parent
NAME = "haywire"
PATIENCE = 120
"""Seconds in which the servers must have started, for clients that otherwise wait for less."""


@dataclass(frozen=True)
class Command:
    """What starts our servers: a program, its arguments, and variables of its environment.

    `unasked` says that the client is to call their tools without asking for anyone's approval.
    """

    program: str
    arguments: list[str]
    env: dict[str, str]
    unasked: bool = False


def _plain(run: Command, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": run.program, "args": run.arguments}
    return {**entry, "env": run.env} if run.env else entry


def _typed(run: Command, name: str) -> dict[str, Any]:
    return {"type": "stdio", **_plain(run, name)}


def _codex(run: Command, name: str) -> dict[str, Any]:
    # It sends its first request without the tools of a server that is not required.
    entry = {**_plain(run, name), "startup_timeout_sec": PATIENCE, "required": True}
    return {**entry, "default_tools_approval_mode": "approve"} if run.unasked else entry


def _gemini(run: Command, name: str) -> dict[str, Any]:
    return {**_plain(run, name), "trust": True} if run.unasked else _plain(run, name)


def _zed(run: Command, name: str) -> dict[str, Any]:
    return {"source": "custom", **_plain(run, name), "env": run.env}


def _goose(run: Command, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Services of Haywire",
        "type": "stdio",
        "enabled": True,
        "cmd": run.program,
        "args": run.arguments,
        "envs": run.env,
        "timeout": 300,
    }


def _opencode(run: Command, name: str) -> dict[str, Any]:
    return {
        "type": "local",
        "enabled": True,
        "command": [run.program, *run.arguments],
        "environment": run.env,
        "timeout": PATIENCE * 1000,
    }


@dataclass(frozen=True)
class Client:
    """An MCP client.

    `path` is its configuration file, `form` how that is written, and `key` the entry there that
    holds its servers. `shape` makes the entry of a server. `most_tools` is the largest number of
    tools that it accepts (None: no known cap). `refreshes` says whether it sees tools that appear
    after it has started, and `trusts` whether an entry can say that calls need no approval.
    """

    title: str
    path: Path
    key: str = "mcpServers"
    form: Form = "json"
    shape: Callable[[Command, str], dict[str, Any]] = _plain
    most_tools: int | None = None
    refreshes: bool = True
    trusts: bool = False

    def takes(self, tools: int) -> bool:
        """Return whether it accepts so many tools."""
        return self.most_tools is None or tools <= self.most_tools


def clients() -> dict[str, Client]:
    """Return the clients by name.

    A client whose configuration belongs to a project keeps it in the current folder.
    """
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    vscode = Path(".vscode/mcp.json")
    windsurf = home / ".codeium" / "windsurf" / "mcp_config.json"
    goose = config / "goose" / "config.yaml"
    return {
        "claude-desktop": Client("Claude Desktop", _desktop()),
        "claude-code": Client("Claude Code", Path(".mcp.json")),
        "codex": Client(
            "Codex",
            codex / "config.toml",
            "mcp_servers",
            "toml",
            _codex,
            refreshes=False,
            trusts=True,
        ),
        "cursor": Client("Cursor", Path(".cursor/mcp.json"), most_tools=80),
        "gemini-cli": Client(
            "Gemini CLI",
            home / ".gemini" / "settings.json",
            form="jsonc",
            shape=_gemini,
            trusts=True,
        ),
        "goose": Client("Goose", goose, "extensions", "yaml", _goose),
        "opencode": Client("opencode", _opencode_file(config), "mcp", "jsonc", _opencode),
        "vscode": Client("VS Code", vscode, "servers", "jsonc", _typed, most_tools=128),
        "windsurf": Client("Windsurf", windsurf, most_tools=50),
        "zed": Client("Zed", config / "zed" / "settings.json", "context_servers", "jsonc", _zed),
    }


def client(name: str) -> Client:
    """Return a client by name. Raises `UnknownName`."""
    known = clients()
    if name not in known:
        raise UnknownName("client", name, known)
    return known[name]


def _opencode_file(config: Path) -> Path:
    folder = config / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if is_there(commented) else folder / "opencode.json"


def _desktop() -> Path:
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        home = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return home / "Claude" / "claude_desktop_config.json"


def entry(
    target: Client, arguments: Sequence[str], name: str = NAME, *, unasked: bool = False
) -> dict[str, Any]:
    """Return the server entry that starts `client_harness serve --stdio` with these arguments.

    It works whatever folder the client starts it in. With `unasked`, clients that can be told so
    call the tools without asking anyone.
    """
    script = Path(sys.executable).with_name("client_harness")
    serve = ["serve", *arguments, "--stdio"]
    if script.exists():
        return target.shape(Command(str(script), serve, {}, unasked), name)
    program = ["-m", "client_harness", *serve]
    variables = {"PYTHONPATH": str(ROOT)}
    return target.shape(Command(sys.executable, program, variables, unasked), name)


def configuration(target: Client, server: dict[str, Any], name: str = NAME) -> str:
    """Return the whole configuration for a client that has none yet."""
    return configs.fresh(target.form, target.key, name, server)


def write(
    target: Client, server: dict[str, Any], path: Path | None = None, name: str = NAME
) -> Path:
    """Put the entry into a configuration, keep everything else in it, and return the file.

    Raises `InputError` for a file that cannot be read or edited, which stays as it is.
    """
    place = path or target.path
    configs.put(place, target.form, target.key, name, server)
    return place


def remove(target: Client, path: Path | None = None, name: str = NAME) -> Path | None:
    """Remove the entry from a configuration, keep everything else, and return the file.

    Returns None if it was not there. Raises `InputError` as `write` does.
    """
    place = path or target.path
    return place if configs.take(place, target.form, target.key, name) else None
