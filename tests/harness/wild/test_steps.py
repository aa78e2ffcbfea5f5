"""Steps are told right for agents in this process and over HTTP, and n/a where nothing tells."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.commands import command
from tests.harness.fake_endpoint import Script, call, calls, playing, say
from tests.harness.test_agent_helper import HELPER
from tests.harness.wild.test_dialogues import ROCK

pytestmark = pytest.mark.anyio
TASK = f"{ROCK}@task=2"
"""Wants the pollen count of two towns: a parallel task of one step."""
TOWNS = ("Bend", "Hood River")
ANSWER = "Tree pollen is at 469 in Bend and at 458 in Hood River."
AGENT = """
import asyncio
import haywire_agent as haywire
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

class Parallel(haywire.Agent):
    name = "parallel"
    version = "1"

    async def start(self, session):
        (server,) = [server for server in session.servers if server.name == "weather_com"]
        hooks = {"request": [self.steps.number]}
        http = httpx2.AsyncClient(headers=server.headers, event_hooks=hooks, timeout=60)
        await self.stack.enter_async_context(http)
        client = Client(streamable_http_client(server.url, http_client=http))
        self.weather = await self.stack.enter_async_context(client)

    async def look(self, town):
        #BEFORE
        await self.weather.call_tool("get_pollen_count", {"location": town})

    async def turn(self, text):
        self.steps.begin()
        #HERE
        return "ANSWER"

haywire.serve(Parallel())
"""
TOGETHER = "await asyncio.gather(*[self.look(town) for town in TOWNS])"
APART = "[await self.look(town) for town in TOWNS]"
COUNTED = "self.steps.begin()"
UNCOUNTED = "self.steps.current = 0"


def told(home: Path, *arguments: object) -> dict[str, Any]:
    """Return the figures of a run of the task by one agent: right, optimal, and unknown."""
    done = command("run", TASK, "--prefix", "gold", *arguments, "--out", home)
    assert done.status == 0, done.err
    (agent,) = command("report", home, "--json").json["wild"]
    assert agent["tasks"]["passed"] == agent["tasks"]["of"] == 1
    optimal = agent["optimal"]
    return {"optimal": (optimal["passed"], optimal["of"]), "unknown": agent["optimal_unknown"]}


def looks() -> list[tuple[str, dict[str, str]]]:
    """Return the two calls of the task, as a model asks for them."""
    return [("weather_com__get_pollen_count", {"location": town}) for town in TOWNS]


@pytest.mark.parametrize(
    ("script", "optimal"),
    [
        ([calls(*looks()), say(ANSWER)], (1, 1)),
        ([*(call(name, **args) for name, args in looks()), say(ANSWER)], (0, 1)),
    ],
)
async def test_a_model_in_this_process(
    tmp_path: Path, script: Script, optimal: tuple[int, int]
) -> None:
    async with playing(script) as endpoint:
        model = ("--agent", "model", "--model", "openai/scripted", "--api-base", endpoint.url)
        found = await anyio.to_thread.run_sync(told, tmp_path / "run", *model)
    assert found == {"optimal": optimal, "unknown": 0}


@pytest.mark.parametrize(
    ("here", "before", "optimal", "unknown"),
    [
        (TOGETHER, "pass", (1, 1), 0),
        (APART, COUNTED, (0, 1), 0),
        (TOGETHER, UNCOUNTED, (0, 0), 1),
        (APART, UNCOUNTED, (0, 0), 1),
    ],
)
def test_an_agent_behind_http(
    tmp_path: Path, here: str, before: str, optimal: tuple[int, int], unknown: int
) -> None:
    agent = AGENT.replace("#HERE", here).replace("#BEFORE", before)
    agent = agent.replace("TOWNS", str(TOWNS)).replace("ANSWER", ANSWER)
    path = tmp_path / "agent.py"
    path.write_text(agent)
    (tmp_path / "haywire_agent.py").write_bytes((HELPER / "haywire_agent.py").read_bytes())
    started = f"{sys.executable} {path}"
    found = told(tmp_path / "run", "--agent", "process", "--option", f"command={started}")
    assert found == {"optimal": optimal, "unknown": unknown}
    if unknown:
        assert "1 n/a" in command("report", tmp_path / "run").out
