"""The `episode` server: a chat window's agent plays a scenario and knows one line, no more."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from client_harness.agents import _history
from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.conversation import converse
from client_harness.episode import Episode
from client_harness.episode_server import OPENING, PAGE, pages
from client_harness.expected import expected
from client_harness.judging.played import Judged, judged, read, told
from client_harness.played import newest
from client_harness.serve import open_play
from client_harness.tools import in_memory
from judge.verdict import Verdict, judge
from scenarios import load
from scenarios.script import Step
from servers.kit.events import Attempt, Event, Message, Notice
from servers.kit.mcp import reply_of, session_server
from servers.kit.values import parse_time
from tests.commands import PAY, ROOT, command, files, process, refusal

LONG = "hazards/cascade/plates_in_the_drizzle"
ASKING = "hazards/disambiguation/two_dinners"
TWIN = "recovery/twin/old_timestamp"
HISTORY = "haystack/recall_single/maya/glaze_share"


class Window:
    """A chat window: it calls tools by their names, and knows nothing of this process."""

    def __init__(self, client: Any, traces: Path) -> None:
        self.client = client
        self.traces = traces

    def step(self) -> None:
        """Nothing counts the steps of a chat window."""

    @property
    def now(self) -> int:
        """The moment, as the trace has it so far: scripts write dates."""
        moments = []
        for event in read(trace_in(self.traces)):
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
    """Play a script as an agent would that has read one line, and does what it is told."""
    listed = [tool.name for tool in (await window.client.list_tools()).tools]

    def named(text: str) -> list[str]:
        """Return the listed tools that a text names, in order."""
        found = []
        for word in re.findall(r"`(\w+)`", text):
            found += [name for name in listed if name.rpartition("__")[2] == word]
        return found

    start, submit = named(OPENING)
    situation, _ = reply_of(await window.client.call_tool(start, {}))
    turn = named(situation["how_to_proceed"])[-2]
    tools: Any = window
    agent = ScriptAgent(Assignment(tools, [], load.load(PAY)), steps)
    reply = situation
    while "message" in reply:
        result = await agent.turn(reply["message"])
        reply, _ = reply_of(await window.client.call_tool(turn, {"text": result.text}))
    assert reply["over"] and named(reply["how_to_proceed"]) == [submit]
    ended, _ = reply_of(await window.client.call_tool(submit, {}))
    assert ended["recorded"]


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
        way = (await anyio.to_thread.run_sync(ways_of, host))["all"]
        try:
            async with (
                httpx2.AsyncClient(headers=way["headers"], timeout=60) as web,
                Client(streamable_http_client(way["url"], http_client=web), mode="legacy") as one,
            ):
                yield Window(one, traces)
        finally:
            host.send_signal(signal.SIGINT)
            host.communicate()


def ways_of(host: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a process that serves prints about its servers."""
    assert host.stdout is not None
    text = ""
    while not text.endswith("}\n") or text.count("{") != text.count("}"):
        line = host.stdout.readline()
        assert line, host.communicate()
        text += line
    return json.loads(text)


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
    return anyio.run(verdict_of, traces)


def trace_in(folder: Path) -> Path:
    trace = newest(folder)
    assert trace is not None
    return trace


async def verdict_of(folder: Path) -> Judged:
    return await judged(read(trace_in(folder)))


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


ORACLES = [(name, "oracle") for name in (*load.suites()["smoke"], LONG, ASKING)]
NAIVE = [(name, "naive") for name in (PAY, TWIN, LONG, ASKING)]


@pytest.mark.parametrize(("name", "script"), [*ORACLES, *NAIVE])
def test_a_play_is_what_a_run_would_be(name: str, script: str, tmp_path: Path) -> None:
    result = played(name, script, tmp_path)
    events, verdicts = as_run(name, script)
    assert alike(read(trace_in(tmp_path))) == alike(events)
    for setting, one in result.verdicts.items():
        assert one.value == verdicts[setting].value, told(result)
        marks = [(finding.name, finding.mark) for finding in one.findings]
        assert marks == [(same.name, same.mark) for same in verdicts[setting].findings]
    if script == "oracle":
        assert values(result) == ["pass", "pass"]
    else:
        assert values(result)[0] == ("pass" if result.scenario.twin else "fail")
    assert result.submitted and result.track == "gui" and not result.untouched


@pytest.mark.parametrize(
    ("way", "name", "script", "value"),
    [
        (over_stdio, LONG, "oracle", "pass"),
        (over_stdio, PAY, "naive", "fail"),
        (over_http, ASKING, "oracle", "pass"),
        (over_http, PAY, "naive", "fail"),
    ],
)
def test_a_client_that_knows_one_line_plays(
    way: Way, name: str, script: str, value: str, tmp_path: Path
) -> None:
    result = played(name, script, tmp_path, way)
    assert values(result) == [value, value], told(result)
    assert result.submitted and result.client["name"] == "mcp" and not result.untouched


def test_start_tells_what_a_run_would_and_no_more(tmp_path: Path) -> None:
    async def look() -> None:
        async with in_process(PAY, tmp_path) as window:
            assert window.client.instructions is not None
            assert "Talk with the user through `episode`" in window.client.instructions
            listed = [tool.name for tool in (await window.client.list_tools()).tools]
            assert listed[:3] == ["episode__start", "episode__next_turn", "episode__submit"]
            assert files(tmp_path) == {}
            (prompt,) = (await window.client.list_prompts()).prompts
            (said,) = (await window.client.get_prompt(prompt.name)).messages
            assert said.content.text == OPENING
            assert files(tmp_path) == {}
            situation = await window.episode("start")
            made = load.load(PAY)
            assert situation["message"] == made.turns[0].user
            assert situation["user"] == {
                "name": "Maya Lindqvist",
                "city": "Portland",
                "state": "Oregon",
                "timezone": "America/Los_Angeles",
            }
            assert situation["services"] == {"venmo": "Venmo", "zelle": "Zelle"}
            assert situation["now"] == "2026-03-14T16:01:00Z"
            assert situation["today"] == "Saturday, 14 March 2026, 09:01"
            assert "past_conversations" not in situation
            text = json.dumps(situation)
            for secret in (made.title, made.about, made.id, made.failure):
                assert secret not in text

    anyio.run(look)


def test_misuse_is_refused_in_one_line_and_leaves_no_trace(tmp_path: Path) -> None:
    async def misuse() -> None:
        async with in_process(PAY, tmp_path) as window:
            for tool, args in (("next_turn", {"text": "Hello."}), ("submit", {})):
                wrong = await window.refused(tool, **args)
                assert wrong["message"] == "The conversation has not begun."
                assert wrong["hint"] == "Call `start` of `episode` first."
            early = await window.refused("venmo.get_balance")
            assert early["code"] == "NOT_STARTED"
            assert files(tmp_path) == {}

            await window.episode("start")
            again = await window.refused("start")
            assert again["code"] == "ALREADY_STARTED" and "Jordan Park" in again["hint"]
            assert (await window.refused("submit"))["code"] == "USER_IS_WAITING"
            assert (
                "Missing required argument 'text'" in (await window.refused("next_turn"))["message"]
            )
            unknown = await window.refused("finish")
            assert unknown["message"].startswith("`episode` has no tool 'finish'")
            assert (await window.refused("history_read"))["code"] == "UNKNOWN_TOOL"

            assert (await window.episode("next_turn", text="Done."))["over"]
            for tool in ("next_turn", "venmo.get_balance"):
                args = {"text": "And more."} if tool == "next_turn" else {}
                assert (await window.refused(tool, **args))["code"] == "CONVERSATION_OVER"
            await window.episode("submit")
            before = files(tmp_path)
            for tool in ("submit", "start", "next_turn", "zelle.list_recipients"):
                args = {"text": "And more."} if tool == "next_turn" else {}
                late = await window.refused(tool, **args)
                assert late["code"] == "ALREADY_SUBMITTED" and "recorded" in late["message"]
            assert files(tmp_path) == before

    anyio.run(misuse)
    events = read(trace_in(tmp_path))
    assert not [event for event in events if isinstance(event, Attempt)]
    assert [event.text for event in events if isinstance(event, Message)][1:] == ["Done."]


def test_calls_to_the_server_cost_no_call_and_no_time(tmp_path: Path) -> None:
    async def count() -> None:
        made = open_play(ASKING, folder=tmp_path, episode=True)
        session = made.episode.session
        async with Client(session_server(session)) as client:
            window = Window(client, tmp_path)
            await window.episode("start")
            began = session.control.now
            for _ in range(5):
                await window.refused("start")
            assert session.control.now == began
            assert session._calls == 0

    anyio.run(count)


def test_the_trace_is_whole_after_every_call(tmp_path: Path) -> None:
    async def look() -> None:
        async with in_process(LONG, tmp_path) as window:
            await window.episode("start")
            counts = []
            for _ in range(2):
                await window.episode("next_turn", text="It is done.")
                counts.append(len(read(trace_in(tmp_path))))
                assert values(await verdict_of(tmp_path)) == ["fail", "fail"]
            assert counts[0] < counts[1]
        result = await verdict_of(tmp_path)
        lines = "\n".join(told(result))
        assert not result.submitted and "The agent has not submitted" in lines

    anyio.run(look)


def test_turns_that_the_agent_never_came_to_are_named(tmp_path: Path) -> None:
    async def begin() -> Judged:
        async with in_process(LONG, tmp_path) as window:
            await window.episode("start")
        return await verdict_of(tmp_path)

    result = anyio.run(begin)
    assert result.untouched == [2, 3]
    assert "Turn 2 never began; it begins when the agent" in "\n".join(told(result))


def test_the_past_is_read_page_by_page(tmp_path: Path) -> None:
    async def read_all() -> list[str]:
        async with in_process(HISTORY, tmp_path) as window:
            assert (await window.refused("history_read", page=1))["code"] == "NOT_STARTED"
            situation = await window.episode("start")
            assert "`history_read`" in situation["how_to_proceed"]
            count = situation["past_conversations"]["pages"]
            texts = []
            for number in range(1, count + 1):
                page = await window.episode("history_read", page=number)
                assert (page["page"], page["pages"]) == (number, count)
                texts.append(page["text"])
            beyond = await window.refused("history_read", page=count + 1)
            assert beyond["message"] == f"There is no page {count + 1}; the past has {count}."
            assert (await window.refused("history_read", page=0))["code"] == "INVALID_ARGUMENT"
            return texts

    texts = anyio.run(read_all)
    sessions = Episode(load.load(HISTORY)).sessions
    assert len(texts) > 1 and max(map(len, texts)) <= PAGE
    assert "\n\n".join(texts) == _history.text(sessions)
    notices = [event for event in read(trace_in(tmp_path)) if isinstance(event, Notice)]
    assert [n.detail["page"] for n in notices if n.what == "history_read"] == [
        *range(1, len(texts) + 1)
    ]


def test_a_play_that_needs_the_past_passes(tmp_path: Path) -> None:
    assert values(played(HISTORY, "oracle", tmp_path))[0] == "pass"


@pytest.mark.parametrize("most", [60, 200])
def test_a_session_longer_than_a_page_is_cut_between_lines(most: int) -> None:
    lines = "\n".join(f"{number} and so on" for number in range(40))
    session: Any = {
        "at": "2026-01-02T03:04:05Z",
        "messages": [
            {"role": "user", "text": "\n".join(lines)},
            {"role": "user", "text": "x" * 500},
        ],
    }
    made = pages([session, session], most)
    assert max(map(len, made)) <= most
    head = _history.header(session["at"])
    assert all(page.startswith(head) for page in made)
    body = "".join(page.removeprefix(head).removeprefix(" (continued)") for page in made)
    kept = body.replace("\n", "")
    assert kept == _history.text([session, session]).replace(head, "").replace("\n", "")


def test_a_search_lists_the_server_beside_its_two_tools(tmp_path: Path) -> None:
    async def look() -> None:
        async with in_process(PAY, tmp_path, expose="search") as window:
            names = [tool.name for tool in (await window.client.list_tools()).tools]
            assert [name.partition("__")[0] for name in names] == [
                *["episode"] * 3,
                "find_tools",
                "call_tool",
            ]
            balance = {"name": "venmo__get_balance", "arguments": {}}
            early, wrong = reply_of(await window.client.call_tool("call_tool", balance))
            assert wrong and early["error"]["code"] == "NOT_STARTED"
            await window.client.call_tool("find_tools", {"query": "balance"})
            await window.episode("start")
            _, wrong = reply_of(await window.client.call_tool("call_tool", balance))
            assert not wrong
        names = [event.name for event in read(trace_in(tmp_path)) if isinstance(event, Attempt)]
        assert names == ["venmo.get_balance"]

    anyio.run(look)


def test_over_http_the_server_has_a_url_of_its_own(tmp_path: Path) -> None:
    async def look(ways: dict[str, Any]) -> None:
        way = ways["servers"][-1]
        assert way["name"] == "episode" and way["url"].endswith("/play/episode/mcp")
        async with (
            httpx2.AsyncClient(headers=way["headers"]) as web,
            Client(streamable_http_client(way["url"], http_client=web)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["start", "next_turn", "submit"]
            situation, _ = reply_of(await client.call_tool("start", {}))
            assert "Jordan Park" in situation["message"]

    options = ("--episode", "--port", 0, "--traces", tmp_path, "--json")
    with process("serve", PAY, *options) as host:
        assert host.stdout is not None
        anyio.run(look, ways_of(host))
        host.send_signal(signal.SIGINT)
        _, err = host.communicate()
    assert "Verdict: fail" in err and "Track: gui, played with mcp" in err


def test_people_read_the_line_to_paste_and_then_the_verdict(tmp_path: Path) -> None:
    options = ("--episode", "--port", 0, "--token", "open-sesame", "--traces", tmp_path)
    with process("serve", PAY, *options) as host:
        assert host.stdout is not None
        lines = [host.stdout.readline() for _ in range(8)]
        host.send_signal(signal.SIGINT)
        out, err = host.communicate()
    assert [line.split()[0] for line in lines[:4]] == ["venmo", "zelle", "episode", "all"]
    assert lines[5] == f"Say to your agent: {OPENING}\n"
    assert lines[6] == "Say it with your client's prompts: begin\n"
    assert (out, err) == ("", "stopped\n")


def test_what_the_agent_said_is_in_the_trace_already(tmp_path: Path) -> None:
    played(PAY, "oracle", tmp_path)
    said = refusal(command("judge", tmp_path, "--said", "Done."))
    assert "leave --said out" in said
    done = command("judge", tmp_path, "--json").json
    assert (done["track"], done["submitted"], done["unheard"]) == ("gui", True, [])
    out = command("judge", tmp_path).out
    assert "Verdict: pass" in out and "apart from unattended runs." in out


def test_there_is_room_for_the_server_under_a_cap_of_tools(tmp_path: Path) -> None:
    async def look() -> int:
        async with in_process(LONG, tmp_path, most_tools=80) as window:
            return len((await window.client.list_tools()).tools)

    assert 40 < anyio.run(look) <= 80


def test_plays_are_reported_as_a_track_of_their_own(tmp_path: Path) -> None:
    played(PAY, "oracle", tmp_path)
    played(PAY, "naive", tmp_path)
    (tmp_path / "0009.jsonl").write_text("{}")
    done = command("report", tmp_path)
    lines = done.out.splitlines()
    assert lines[0] == "Track gui: 1 of 2 passed, apart from unattended runs"
    assert lines[1].split() == ["client", "scenario", "verdict", "relaxed", "calls", "trace"]
    assert [line.split()[3] for line in lines[2:4]] == ["pass", "fail"]
    assert lines[4] == "Not judged" and "line 1: not an event" in lines[5]
    plays = command("report", tmp_path, "--json").json["plays"]
    assert [play.get("track") for play in plays] == [None, "gui", "gui"]
    run = tmp_path / "run"
    assert "run holds no plays" in refusal(command("report", tmp_path, run))
    assert command("report", tmp_path, "--md").status == 2
