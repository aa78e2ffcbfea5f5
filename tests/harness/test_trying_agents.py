"""`test-agent` on an agent that does everything right, and on agents that do one thing wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from client_harness import trying_agents
from tests.commands import Done, command, refusal
from tests.harness.process_agents import program
from tests.harness.test_agent_helper import HELPER

AGENT = """
import asyncio, json
import haywire_agent as haywire
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

class Good(haywire.Agent):
    name = "good"
    version = "1"
    history = "text"
    instructions = "replace"
    options = ("model",)
    steps_are_numbered = True
    tool_refresh = "call"

    async def start(self, session):
        self.memory = [session.history or ""]
        self.clients = {}
        for server in session.servers:
            hooks = {"request": [self.steps.number]}
            http = httpx2.AsyncClient(headers=server.headers, event_hooks=hooks, timeout=60)
            await self.stack.enter_async_context(http)
            client = Client(streamable_http_client(server.url, http_client=http))
            self.clients[server.name] = await self.stack.enter_async_context(client)

    async def call(self, server, tool, **args):
        reply = await self.clients[server].call_tool(tool, args)
        return reply.content[0].text

    async def turn(self, text):
        self.memory.append(text)
        self.steps.begin()
        #HERE
        if "locker" in text or "What is my cat" in text:
            return " ".join(self.memory)
        if "at once" in text:
            wanted = self.call("clock", "get_time"), self.call("venmo", "get_balance")
            return " ".join(await asyncio.gather(*wanted))
        if "-1" in text:
            return await self.call("clock", "wait", seconds=-1)
        said = await self.call("clock", "get_time") if "clock" in text or "time" in text else ""
        if "balance" in text:
            self.steps.begin()
            said += await self.call("venmo", "get_balance")
        return said[:1000]

haywire.serve(Good())
"""
SLEEPS = "import time; time.sleep(30 if 'look' in text else 0)"
PROBES = [
    "handshake",
    "one call",
    "two parallel calls",
    "history",
    "two turns",
    "disclosure",
    "a tool's error",
    "cancellation",
    "a huge reply",
]


def written(folder: Path, here: str = "pass", **changed: str) -> str:
    """Write an agent that also does `here` in each turn, and return its command."""
    text = AGENT.replace("#HERE", here)
    for name, value in changed.items():
        lines = [line for line in text.splitlines() if line.startswith(f"    {name} = ")]
        text = text.replace(lines[0], f"    {name} = {value}")
    (folder / "agent.py").write_text(text)
    (folder / "haywire_agent.py").write_bytes((HELPER / "haywire_agent.py").read_bytes())
    return f"{sys.executable} {folder / 'agent.py'}"


def results(done: Done) -> dict[str, tuple[str, str]]:
    return {row["probe"]: (row["result"], row["why"]) for row in done.json["probes"]}


@pytest.mark.long
def test_an_agent_that_keeps_the_contract_passes_every_probe(tmp_path: Path) -> None:
    done = command("test-agent", "--command", written(tmp_path), "--json")
    found = results(done)
    assert list(found) == PROBES
    assert {result for result, _ in found.values()} == {"ok"}, found
    assert "two calls came as step 1" in found["two parallel calls"][1]
    assert "in turn 1" in found["disclosure"][1]
    assert done.status == 0 and done.json["exit"] == 0
    assert done.json["not_measured"] == [
        "Memory: --deliver sessions is refused, because it says no `remembers: true`."
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("here", "changed", "probe", "result", "why"),
    [
        ("self.memory = [text]", {}, "two turns", "failed", "it was told Pixel"),
        ("if '-1' in text: raise KeyError('x')", {}, "a tool's error", "failed", "KeyError: 'x'"),
        ("if 'two things' in text: return ''", {}, "two parallel calls", "not measured", "no call"),
        ("self.steps.current = 0", {}, "two parallel calls", "ok", "it does not number its steps"),
        ("pass", {"tool_refresh": "'never'"}, "disclosure", "not measured", "listed but locked"),
        ("pass", {"history": "'native'"}, "history", "failed", "sequence item 0"),
        (SLEEPS, {}, "cancellation", "failed", "did not answer within 5 s"),
    ],
)
def test_what_is_wrong_is_found(
    tmp_path: Path, here: str, changed: dict[str, Any], probe: str, result: str, why: str
) -> None:
    options = {"command": written(tmp_path, here, **changed), "turn_seconds": 20}
    (met, found), _ = trying_agents.probe("process", options, [probe])
    assert met.result == "ok" and found.result == result, found
    assert why in found.why


@pytest.mark.long
def test_an_agent_of_the_first_version_is_tried_and_told_what_it_lacks(tmp_path: Path) -> None:
    done = command("test-agent", "--command", program(tmp_path))
    rows = {line[:20].strip(): line for line in done.out.splitlines()}
    assert "tiny 2.1; version 1 of the contract, history as text" in rows["handshake"]
    assert done.status == 1, done.out
    assert "What runs with this agent will not measure, or less well:" in done.out
    assert "- Version 1: no cancellation" in done.out


def test_an_agent_that_does_not_start_fails_at_the_handshake_alone(tmp_path: Path) -> None:
    done = command("test-agent", "--command", program(tmp_path, "sys.exit(3)"), "--json")
    found = results(done)
    assert done.status == 1 and found.pop("handshake")[0] == "failed"
    assert set(found.values()) == {("not measured", "it did not start")}


def test_mistakes_of_the_person_are_one_line(tmp_path: Path) -> None:
    started = program(tmp_path)
    mistakes = [
        ((), "say what to start"),
        (("--command", "/no/such/agent"), "cannot be started: No such file"),
        (("--agent", "model", "--model", "m"), "only agents in a process of their own"),
        (("--agent", "pydantic-ai"), "did you mean 'pydantic_ai'"),
        (("--command", started, "--option", "speed=9"), "takes no option 'speed'"),
    ]
    for options, text in mistakes:
        assert text in refusal(command("test-agent", *options)), text
