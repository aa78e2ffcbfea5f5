"""The `episode` server: a chat window's agent plays a scenario and knows one line, no more."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.conversation import converse
from client_harness.episode import Episode
from client_harness.expected import expected
from client_harness.judging.played import Judged, judged, read, told
from client_harness.played import newest
from client_harness.serve import open_play
from client_harness.tools import in_memory
from judge.verdict import Verdict, judge
from scenarios import load
from scenarios.script import Step
from servers.kit.events import Attempt, Event, Message
from servers.kit.mcp import reply_of, session_server
from servers.kit.values import parse_time
from tests.commands import PAY, ROOT, command, process

LONG = "hazards/cascade/plates_in_the_drizzle"
ASKING = "hazards/disambiguation/two_dinners"
HISTORY = "haystack/recall_single/maya/glaze_share"


class Window:
    """A chat window: it calls tools by their names, and knows nothing of this process."""

    def __init__(self, client: Any, traces: Path) -> None:
        self.client = client
        self.traces = traces
        self.begun = 0

    def step(self) -> None:
        """Nothing counts the steps of a chat window."""

    @property
    def now(self) -> int:
        """The moment, as the trace has it so far: scripts write dates."""
        trace = newest(self.traces)
        assert trace is not None
        moments = [self.begun]
        for event in read(trace):
            if isinstance(event, Attempt):
                moments.append(parse_time(event.until))
            elif isinstance(event, Message):
                moments.append(parse_time(event.at))
        return max(moments)

    async def call(self, service: str, tool: str, args: dict[str, Any]) -> tuple[Any, bool]:
        return reply_of(await self.client.call_tool(f"{service}__{tool}", args))

    async def episode(self, tool: str, **args: Any) -> Any:
        """Call a tool of the server `episode`, which must succeed."""
        data, wrong = await self.call("episode", tool, args)
        assert not wrong, data
        return data

    async def refused(self, tool: str, **args: Any) -> dict[str, Any]:
        """Call a tool of the server `episode`, or another one, which must refuse in one line."""
        server, _, name = tool.rpartition(".")
        data, wrong = await self.call(server or "episode", name, args)
        assert wrong
        assert "\n" not in data["error"]["message"] + data["error"]["hint"]
        return data["error"]


async def play(window: Window, steps: list[Step]) -> None:
    """Play a script as an agent would that does what `start` says."""
    situation = await window.episode("start")
    tools: Any = window
    agent = ScriptAgent(Assignment(tools, [], load.load(PAY)), steps)
    message = situation["message"]
    while True:
        result = await agent.turn(message)
        reply = await window.episode("next_turn", text=result.text)
        if reply.get("over"):
            break
        message = reply["message"]
    assert (await window.episode("submit"))["recorded"]


@contextlib.asynccontextmanager
async def over_stdio(scenario: str, traces: Path) -> AsyncGenerator[Window]:
    """Start the server as `connect` tells a client to, and yield a window on it."""
    line = ("connect", "claude-desktop", scenario, "--episode", "--traces", traces)
    entry = command(*line).json["mcpServers"]["haywire"]
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"PYTHONPATH": str(ROOT)}, cwd="/"
    )
    async with Client(server, mode=era(scenario)) as client:
        yield Window(client, traces)


@contextlib.asynccontextmanager
async def over_http(scenario: str, traces: Path) -> AsyncGenerator[Window]:
    """Serve over HTTP as a person does, and yield a window on it."""
    options = ("--episode", "--port", 0, "--traces", traces, "--json")
    with process("serve", scenario, *options) as host:
        assert host.stdout is not None
        text = ""
        while not text.endswith("}\n") or text.count("{") != text.count("}"):
            text += await anyio.to_thread.run_sync(host.stdout.readline)
        way = json.loads(text)["all"]
        try:
            async with (
                httpx2.AsyncClient(headers=way["headers"], timeout=60) as web,
                Client(streamable_http_client(way["url"], http_client=web), mode="legacy") as one,
            ):
                yield Window(one, traces)
        finally:
            host.send_signal(signal.SIGINT)
            host.communicate()


@contextlib.asynccontextmanager
async def in_process(scenario: str, traces: Path, **options: Any) -> AsyncGenerator[Window]:
    made = open_play(scenario, folder=traces, episode=True, **options)
    made.episode.session.hold = 0.0
    async with Client(session_server(made.episode.session), mode=era(scenario)) as client:
        yield Window(client, traces)


def era(scenario: str) -> str:
    return "legacy" if load.load(scenario).disclose else "auto"


Way = Callable[[str, Path], contextlib.AbstractAsyncContextManager[Window]]


def played(scenario: str, script: str, traces: Path, way: Way = in_process) -> Judged:
    """Play one of a scenario's scripts in a chat window, and return the judgement."""

    async def go() -> None:
        async with way(scenario, traces) as window:
            await play(window, getattr(load.load(scenario).scripts, script))

    anyio.run(go)
    return verdict(traces)


def verdict(traces: Path) -> Judged:
    trace = newest(traces)
    assert trace is not None
    return anyio.run(judged, read(trace))


def values(result: Judged) -> list[str]:
    return [one.value for one in result.verdicts.values()]


def as_run(scenario: str, script: str) -> tuple[list[Event], dict[str, Verdict]]:
    """Return the trace and the verdicts of a run in which an agent of this process plays."""

    async def go() -> tuple[list[Event], dict[str, Verdict]]:
        made = load.load(scenario)
        episode = Episode(made)
        async with in_memory(episode.session) as tools:
            agent = ScriptAgent(Assignment(tools, [], made), getattr(made.scripts, script))
            await converse(episode, agent)
        record = episode.record(await expected(made))
        verdicts = {
            "base": judge(made.gates, record, "base"),
            "relaxed": judge(made.gates, record, "relaxed"),
        }
        return episode.session.trace(), verdicts

    return anyio.run(go)


def alike(events: list[Event]) -> list[Any]:
    """Return what the calls and texts of a trace are, without numbers that mean nothing."""
    kept: list[Any] = []
    for event in events:
        if isinstance(event, Attempt):
            kept.append(replace(event, seq=0, step=None, arrived=0))
        elif isinstance(event, Message):
            kept.append(replace(event, seq=0))
    return kept


@pytest.mark.parametrize("script", ["oracle", "naive"])
@pytest.mark.parametrize("name", [*load.suites()["smoke"], LONG, ASKING])
def test_a_play_is_what_a_run_would_be(name: str, script: str, tmp_path: Path) -> None:
    result = played(name, script, tmp_path)
    events, verdicts = as_run(name, script)
    trace = newest(tmp_path)
    assert trace is not None
    assert alike(read(trace)) == alike(events)
    for setting, one in result.verdicts.items():
        assert one.value == verdicts[setting].value, told(result)
        marks = [(finding.name, finding.mark) for finding in one.findings]
        assert marks == [(same.name, same.mark) for same in verdicts[setting].findings]
    if script == "oracle":
        assert values(result) == ["pass", "pass"]
    else:
        assert values(result)[0] == ("pass" if result.scenario.twin else "fail")
    assert result.submitted and result.track == "gui" and not result.untouched
