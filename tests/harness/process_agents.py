"""Agents in processes of their own, for runs over a scenario that takes a moment.

The scenario asks for the time. The agent looks it up and says it, so it passes, unless it is told
to misbehave.
"""

from __future__ import annotations

import sys
from pathlib import Path

TIME = """
title: The time
about: A person asks for the time.
failure: none
services: [clock]
turns: [{user: What time is it?}]
FAULTS
checks:
  - called: {name: looked, call: clock.get_time}
scripts:
  oracle: [{id: look, call: clock.get_time, save: t}, {say: "It is ${t.now}."}]
  naive: [{call: clock.get_time, save: t}, {say: "It is ${t.now}."}]
violations: [{fails: looked, steps: [{say: "It is noon."}]}]
"""
PROGRAM = """
import json, os, sys, urllib.request
from pathlib import Path

HERE = Path(__file__).parent
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tiny", "version": "1"},
}


def look():
    params = {"name": "get_time", "arguments": {}, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    wanted = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "get_time",
        **clock["headers"],
    }
    asked = urllib.request.Request(clock["url"], json.dumps(body).encode(), wanted)
    with urllib.request.urlopen(asked) as reply:
        return json.loads(json.load(reply)["result"]["content"][0]["text"])


for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    result = {}
    if method == "initialize":
        result = {"agent": "tiny", "version": "2.1", "history": "text", "tool_refresh": "turn"}
    elif method == "session/start":
        servers = request["params"]["mcp_servers"]
        (clock,) = [server for server in servers if server["name"] == "clock"]
    elif method == "turn":
        usage = {"prompt_tokens": 90, "completion_tokens": 10, "cost": 0.01}
        result = {"status": "done", "text": "", "usage": usage}
        #BEFORE
        result["text"] = "It is " + look()["now"]
    #HERE
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def scenario(folder: Path, name: str = "time", faults: str = "") -> str:
    """Write the scenario and return its path."""
    path = folder / f"{name}.yaml"
    path.write_text(TIME.replace("FAULTS", faults and f"faults:\n  - {faults}"))
    return str(path)


def program(folder: Path, here: str = "", before: str = "") -> str:
    """Write an agent that also runs `here` before each answer, or `before` it looks.

    Returns its command.
    """
    path = folder / "agent.py"
    text = PROGRAM.replace("#HERE", here.replace("\n", "\n    "))
    path.write_text(text.replace("#BEFORE", before.replace("\n", "\n        ")))
    return f"{sys.executable} -I -S {path}"
