"""The table of adapters: what each is built with, and what it can do as it declares it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from client_harness.adapters import About, Adapter, adapter, adapters
from client_harness.adapters.install import NPM_LOCK, PIP_LOCK

HISTORY = {"native": "its own messages", "messages": "plain texts", "text": "one transcript"}
REFRESH = {
    "call": "before each request to the model",
    "notify": "when they change",
    "turn": "in the next turn",
    "process": "never (locked)",
    "never": "never (locked)",
}
INSTRUCTIONS = {
    "replace": "replaces its prompt",
    "append": "after its prompt",
    "message": "first message",
}

PIN = r"^([\w.-]+)(?:\[[\w,.-]+\])?==([^\s;]+)"
"""A line of a lock: a package, perhaps with extras, and its version."""


def table() -> str:
    """Return the table in Markdown, with a row for each adapter."""
    rows = [
        "| adapter | built with | past | sees new tools | instructions | steps "
        "| `--deliver sessions` | terms | options |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    limits = []
    for name in adapters():
        chosen = adapter(name)
        rows.append(_row(chosen))
        for line in chosen.about.cannot:
            limits.append(f"- `{name}`: {line}")
    if limits:
        rows += ["", "What will not be measured with them, or is not as their users have it:", ""]
    return "\n".join([*rows, *limits])


def _row(chosen: Adapter) -> str:
    about = chosen.about
    cells = [
        _linked(chosen),
        ", ".join([*packages(chosen.folder), *_runtimes(about)]),
        HISTORY[about.history],
        REFRESH[about.tool_refresh],
        INSTRUCTIONS[about.instructions],
        "numbered" if about.steps else "from arrival",
        "yes" if about.remembers else "no",
        "yes" if about.terms else "no",
        ", ".join(f"`{option}`" for option in about.options),
    ]
    return f"| {' | '.join(cells)} |"


def _linked(chosen: Adapter) -> str:
    shown = f"`{chosen.name}`"
    if not (chosen.folder / "README.md").exists():
        return shown
    return f"[{shown}](../client_harness/adapters/{chosen.name}/README.md)"


def _runtimes(about: About) -> list[str]:
    wanted = [("Python", about.python), ("Node", about.node)]
    return [f"{runtime} {version}" for runtime, version in wanted if version is not None]


def packages(folder: Path) -> list[str]:
    """Return the packages that an adapter asks for, each with the version that its lock has."""
    found = []
    asked = folder / "requirements.in"
    if asked.exists():
        pins = dict(re.findall(PIN, (folder / PIP_LOCK).read_text(), re.M))
        for name in re.findall(r"^([\w.-]+)", asked.read_text(), re.M):
            found.append(f"{name} {pins[_plain(name)]}")
    manifest = folder / "package.json"
    if manifest.exists():
        locked = json.loads((folder / NPM_LOCK).read_text())["packages"]
        for name in json.loads(manifest.read_text()).get("dependencies", {}):
            found.append(f"{name} {locked[f'node_modules/{name}']['version']}")
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
