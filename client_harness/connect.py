"""Configurations that let MCP clients start our servers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.kit.errors import InputError, UnknownName, cut
from servers.kit.plain import from_json, is_there, text_of

ROOT = Path(__file__).parent.parent
MOST_CONFIGURATION = 50_000_000
"""How many bytes the configuration of a client may have; some keep their history in it."""
NAME = "haywire"


@dataclass(frozen=True)
class Client:
    """An MCP client.

    `path` is its configuration file and `key` the entry there that holds its servers. `typed` says
    that an entry needs a `type`. `most_tools` is the largest number of tools that it accepts (None:
    no known cap).
    """

    title: str
    path: Path
    key: str = "mcpServers"
    typed: bool = False
    most_tools: int | None = None


def clients() -> dict[str, Client]:
    """Return the clients by name.

    A client whose configuration belongs to a project keeps it in the current folder.
    """
    vscode = Path(".vscode/mcp.json")
    return {
        "claude-desktop": Client("Claude Desktop", _desktop()),
        "claude-code": Client("Claude Code", Path(".mcp.json")),
        "cursor": Client("Cursor", Path(".cursor/mcp.json"), most_tools=80),
        "vscode": Client("VS Code", vscode, key="servers", typed=True, most_tools=128),
    }


def client(name: str) -> Client:
    """Return a client by name. Raises `UnknownName`."""
    known = clients()
    if name not in known:
        raise UnknownName("client", name, known)
    return known[name]


def _desktop() -> Path:
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        home = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return home / "Claude" / "claude_desktop_config.json"


def entry(target: Client, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the server entry that starts `client_harness serve --stdio` with these arguments.

    It works whatever folder the client starts it in.
    """
    script = Path(sys.executable).with_name("client_harness")
    serve = ["serve", *arguments, "--stdio"]
    server: dict[str, Any] = {"type": "stdio"} if target.typed else {}
    if script.exists():
        return {**server, "command": str(script), "args": serve}
    return {
        **server,
        "command": sys.executable,
        "args": ["-m", "client_harness", *serve],
        "env": {"PYTHONPATH": str(ROOT)},
    }


def configuration(target: Client, server: dict[str, Any], name: str = NAME) -> dict[str, Any]:
    """Return the whole configuration for a client that has none yet."""
    return {target.key: {name: server}}


def write(
    target: Client, server: dict[str, Any], path: Path | None = None, name: str = NAME
) -> Path:
    """Add the entry to a configuration, keep everything else in it, and return the file.

    A file that is not a JSON object, or whose servers are not one, is not touched. Raises
    `InputError`.
    """
    place = path or target.path
    known: Any = {}
    try:
        if is_there(place):
            text = text_of(place, MOST_CONFIGURATION)
            known = from_json(text) if text.strip() else {}
        if not isinstance(known, dict) or not isinstance(known.setdefault(target.key, {}), dict):
            raise InputError(
                f"{place} is not a configuration with an object {target.key!r}; it was not changed"
            )
        known[target.key][name] = server
        place.parent.mkdir(parents=True, exist_ok=True)
        whole = place.resolve()  # a link stays a link
        part = whole.with_name(whole.name + ".part")
        part.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(whole)
    except ValueError as broken:
        raise InputError(
            f"{cut(str(place), 200)!r} is not JSON ({broken}); it was not changed, "
            "so repair it or add the entry by hand"
        ) from None
    except OSError as wrong:
        raise InputError(f"{place}: {wrong.strerror}") from None
    return place
