"""Two tools in place of all: they find and call the others, and nothing else changes.

The inner call is traced, faulted and judged as itself, in memory, over HTTP and on stdio.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from client_harness._host import Host
from client_harness.agents._script import ScriptAgent
from client_harness.connect import client, entry
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.results import Results
from client_harness.tools import Tools, in_memory, over_http
from scenarios import load
from servers.kit.events import Attempt, Notice, to_json
from servers.kit.exposure import rank
from servers.kit.mcp import reply_of
from servers.kit.service import services
from servers.kit.session import Exposure, Session
from servers.kit.yaml import read
from tests.commands import PAY, ROOT, command
from tests.support import new_session

QUERIES: dict[str, list[str]] = read(Path(__file__).parent.parent / "kit" / "tool_queries.yaml")
SCENARIOS = (
    PAY,
    "recovery/availability/zelle_rent_outage",
    "hazards/cascade/plates_in_the_drizzle",
)
Connect = Callable[[Session, Host], Any]


@asynccontextmanager
async def memory(session: Session, host: Host) -> AsyncGenerator[Tools]:
    async with in_memory(session) as tools:
        yield tools


@asynccontextmanager
async def http(session: Session, host: Host) -> AsyncGenerator[Tools]:
    with host.offers(session) as servers:
        first = (await servers())[0]
        url = first["url"].replace(f"/{first['name']}/mcp", "/all/mcp")
        async with over_http(session, {**first, "url": url}) as tools:
            yield tools


async def played(name: str, expose: Exposure, connect: Connect, use: Any = None) -> Episode:
    """Return an episode that its oracle has played, after anything else that a test does."""
    scenario = load.load(name)
    episode = Episode(scenario, expose=expose)
    async with anyio.create_task_group() as tasks:
        host = Host(tasks)
        async with connect(episode.session, host) as tools:
            if use is not None:
                await use(tools)
            agent = ScriptAgent(Assignment(tools, [], scenario), scenario.scripts.oracle)
            await episode.converse(agent)
        host.close()
    return episode


@pytest.mark.parametrize("connect", [memory, http])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_trace_is_the_same_as_without_the_search(name: str, connect: Connect) -> None:
    async def traces() -> list[list[str]]:
        texts = []
        for expose in ("all", "search"):
            episode = await played(name, expose, connect)
            texts.append([to_json(event) for event in episode.session.trace()])
            episode.close()
        return texts

    plain, searched = anyio.run(traces)
    assert plain == searched


def in_a_session(
    use: Callable[[Tools, Session], Awaitable[Any]], *names: str, **options: Any
) -> Any:
    async def run() -> Any:
        session = new_session(*names, expose="search", **options)
        async with in_memory(session) as tools:
            return await use(tools, session)

    return anyio.run(run)


def test_two_tools_are_listed_and_they_name_the_services() -> None:
    async def look(tools: Tools, session: Session) -> None:
        find, call = await tools.list_tools()
        assert (find.name, call.name) == ("find_tools", "call_tool")
        assert "Venmo (`venmo`), Gmail (`gmail`)" in find.description
        assert call.schema["required"] == ["name", "arguments"]

    in_a_session(look, "venmo", "gmail")


def test_what_was_found_can_be_called_and_is_traced_as_itself() -> None:
    async def use(tools: Tools, session: Session) -> None:
        found, wrong = await tools.call_named("find_tools", {"query": "list my friends"})
        assert not wrong
        first = found["tools"][0]
        assert first["name"] == "venmo__list_friends"
        assert first["input_schema"] == services()["venmo"].tools["list_friends"].schema
        call = {"name": first["name"], "arguments": {"limit": 2}}
        friends, wrong = await tools.call_named("call_tool", call)
        assert not wrong and friends["friends"]
        notice, attempt = session.trace()
        assert isinstance(notice, Notice) and notice.what == "looked_for_tools"
        assert notice.detail["tools"][0] == first["name"]
        assert isinstance(attempt, Attempt) and attempt.name == "venmo.list_friends"
        assert attempt.args == {"limit": 2} and attempt.arrived == 1

    in_a_session(use, "venmo", "gmail")


def test_schemas_are_shown_as_faults_publish_them() -> None:
    async def use(tools: Tools) -> None:
        query = {"query": "hourly forecast", "service": "weather_com"}
        found, _ = await tools.call_named("find_tools", query)
        listed = {tool["name"]: tool["input_schema"] for tool in found["tools"]}
        drifted = listed["weather_com__get_hourly_forecast"]["properties"]
        own = services()["weather_com"].tools["get_hourly_forecast"].schema["properties"]
        assert set(drifted) != set(own)

    name = drifting()
    episode = anyio.run(played, name, "search", memory, use)
    episode.close()


def drifting() -> str:
    """Return a scenario in which a fault renames an argument of the hourly forecast."""
    for name in load.written():
        for fault in load.load(name).faults:
            cls = services()["weather_com"]
            spec = cls.tools["get_hourly_forecast"]
            if fault.kind == "schema_drift" and fault.handles(cls, spec) and fault.new_arguments():
                return name
    raise AssertionError("no scenario has one")


@pytest.mark.parametrize(
    ("tool", "args", "code", "telling"),
    [
        ("venmo__list_friends", {}, "UNKNOWN_TOOL", "call_tool calls one of them"),
        ("call_tool", {}, "INVALID_ARGUMENT", "Missing required argument 'name'"),
        ("call_tool", {"name": 7}, "INVALID_ARGUMENT", "'name'"),
        ("call_tool", {"name": "venmo__list_friend"}, "UNKNOWN_TOOL", "'list_friends'"),
        ("call_tool", {"name": "vemno__list_friends"}, "UNKNOWN_SERVICE", "'venmo'"),
        ("call_tool", {"name": "venmo__list_friends", "arguments": [1]}, "VALID", "JSON object"),
        ("call_tool", {"name": "venmo__list_friends", "args": {}}, "INVALID_ARGUMENT", "'args'"),
    ],
)
def test_what_is_no_call_of_a_tool_is_refused_in_words_and_recorded(
    tool: str, args: dict[str, Any], code: str, telling: str
) -> None:
    async def use(tools: Tools, session: Session) -> None:
        data, wrong = await tools.call_named(tool, args)
        assert wrong and code in data["error"]["code"]
        assert telling in str(data["error"])
        (attempt,) = session.trace()
        assert isinstance(attempt, Attempt) and attempt.is_error and attempt.bug is None

    in_a_session(use, "venmo")


@pytest.mark.parametrize(
    ("args", "telling"),
    [
        ({}, "Missing required argument 'query'"),
        ({"query": "pay", "limit": 99}, "limit"),
        ({"query": "pay", "service": "vemno"}, "did you mean 'venmo'"),
    ],
)
def test_a_search_that_cannot_be_made_says_why(args: dict[str, Any], telling: str) -> None:
    async def use(tools: Tools, session: Session) -> None:
        data, wrong = await tools.call_named("find_tools", args)
        assert wrong and telling in str(data["error"])

    in_a_session(use, "venmo")


def test_a_search_that_finds_nothing_names_the_services() -> None:
    async def use(tools: Tools, session: Session) -> None:
        data, wrong = await tools.call_named("find_tools", {"query": "xylophone"})
        assert not wrong and data["tools"] == []
        assert "Venmo (`venmo`)" in data["hint"]

    in_a_session(use, "venmo")


def test_services_that_are_held_back_are_found_when_they_are_disclosed() -> None:
    async def use(tools: Tools, session: Session) -> None:
        query = {"query": "send money"}
        before, _ = await tools.call_named("find_tools", query)
        listed = [tool.description for tool in await tools.list_tools()]
        assert "zelle" not in str(before) and "Zelle" not in str(listed)
        session.disclose("zelle")
        after, _ = await tools.call_named("find_tools", query)
        assert "zelle__send_transfer" in str(after)
        # The list of tools may not change as a side effect, and it does not.
        assert [tool.description for tool in await tools.list_tools()] == listed

    in_a_session(use, "venmo", "zelle", hidden=["zelle"])


def test_people_find_what_they_ask_for() -> None:
    described = 0
    named = 0
    for query, wanted in QUERIES.items():
        names = [".".join(tool) for tool in rank(query, services())]
        described += bool(set(names[:4]) & set(wanted))
        named += bool(set(names[:12]) & set(wanted))
    assert described >= 0.85 * len(QUERIES)
    assert named >= 0.95 * len(QUERIES)


def test_a_client_on_stdio_finds_and_calls() -> None:
    async def use(server: StdioServerParameters) -> None:
        async with Client(server) as connected:
            names = [tool.name for tool in (await connected.list_tools()).tools]
            assert names == ["find_tools", "call_tool"]
            asked = {"query": "my Venmo balance"}
            found, _ = reply_of(await connected.call_tool("find_tools", asked))
            assert "venmo__get_balance" in [tool["name"] for tool in found["tools"]]
            call = {"name": "venmo__get_balance", "arguments": {}}
            balance, wrong = reply_of(await connected.call_tool("call_tool", call))
            assert not wrong and "balance" in str(balance)

    made = entry(client("claude-code"), ["--expose", "search", "--services", "payments"])
    program = StdioServerParameters(
        command=made["command"], args=made["args"], env={"PYTHONPATH": str(ROOT)}, cwd="/"
    )
    anyio.run(use, program)


def test_a_run_offers_agents_a_search_and_says_so(tmp_path: Path) -> None:
    results = {}
    for expose in ("all", "search"):
        home = tmp_path / expose
        done = command("run", PAY, "--agent", "oracle", "--expose", expose, "--out", home)
        assert done.status == 0, done.err
        results[expose] = Results.open(home)
    (listed,) = results["all"].trials()
    (searched,) = results["search"].trials()
    assert listed.verdicts == searched.verdicts
    assert listed.verdicts["base"]["value"] == "pass"
    shown = {expose: r.fingerprints["exposure"] for expose, r in results.items()}
    assert shown == {"all": "all", "search": "search"}
    assert command("resume", tmp_path / "search").status == 0
