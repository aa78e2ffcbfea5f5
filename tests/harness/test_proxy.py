"""The proxy, driven by real clients, in front of a public server and of ours.

Faults act on both, and the trace has the same form as that of our own services.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as types
import pytest
import yaml
from mcp import Client, MCPError, StdioServerParameters
from mcp.server import Server

from client_harness import proxy
from client_harness.adapters.install import environment
from fault_profiles.model import Fault, kinds, parse
from fault_profiles.sample import Example
from servers.kit.errors import InputError
from servers.kit.events import Attempt, Event, end_of, from_json
from servers.kit.mcp import reply_of, session_server
from servers.kit.session import Session
from servers.kit.store import World
from tests.commands import ROOT, command, refusal
from tests.faults.test_wire import KINDS, assert_came, line
from tests.kit.test_http import ERAS, ask, attempts, connected, serving
from tests.support import new_session

pytestmark = pytest.mark.anyio
BERLIN = {"timezone": "Europe/Berlin"}
NOON = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}


@pytest.fixture(scope="module")
def public() -> list[str]:
    """The command of a public server, in its own environment."""
    lock = ROOT / "tests" / "harness" / "public_server" / "requirements.lock"
    return [str(environment("public_server", lock)), "-m", "mcp_server_time"]


def started(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "client_harness", *arguments],
        env={"PYTHONPATH": str(ROOT)},
    )


def written(folder: Path, *faults: dict[str, Any]) -> Path:
    """Write a profile and return its file."""
    path = folder / "profile.yaml"
    path.write_text(yaml.safe_dump(list(faults)))
    return path


def events(path: Path) -> list[Event]:
    return [from_json(line) for line in path.read_text().splitlines()]


def shown(tool: types.Tool) -> dict[str, Any]:
    """Return what an agent reads of a tool."""
    return tool.model_dump(include={"name", "title", "description", "input_schema", "annotations"})


# -- a public server -----------------------------------------------------------------------------
PLAGUE = """
- outage: {name: gone, on: mcp_time.get_current_time, first: 1}
- wrong_value:
    name: lie
    on: reads:*.convert_time
    first: 1
    reply: [{set: {time_difference: +1.0h}}]
- latency: {name: slow, on: mcp_time.*, after: {called: mcp_time.convert_time}, seconds: 50}
- timeout: {name: never, on: "writes:*.*"}
"""


@pytest.mark.long
@pytest.mark.parametrize("era", ERAS)
async def test_a_public_server_behind_faults(public: list[str], tmp_path: Path, era: str) -> None:
    profile = tmp_path / "profile.yaml"
    profile.write_text(PLAGUE)
    trace = tmp_path / "deep" / "trace.jsonl"
    server = StdioServerParameters(command=public[0], args=public[1:])
    async with Client(server, mode=era) as direct:
        tools = [shown(t) for t in (await direct.list_tools()).tools]
        honest = reply_of(await direct.call_tool("convert_time", NOON))[0]
        wrong = await direct.call_tool("convert_time", NOON | {"time": "noon"})
    options = ("--faults", str(profile), "--trace", str(trace), "--stdio")
    async with Client(started("proxy", *options, "--", *public), mode=era) as client:
        assert [shown(t) for t in (await client.list_tools()).tools] == tools
        gone = await client.call_tool("get_current_time", BERLIN)
        assert gone.is_error and reply_of(gone)[0]["error"]["code"] == "SERVICE_UNAVAILABLE"
        assert (await ask(client, "get_current_time", **BERLIN))["timezone"] == "Europe/Berlin"
        assert await ask(client, "convert_time", **NOON) == honest | {"time_difference": "+1.0h"}
        through = await client.call_tool("convert_time", NOON)
        assert reply_of(through) == (honest, False) and through.structured_content == honest
        same = await client.call_tool("convert_time", NOON | {"time": "noon"})
        assert same.content == wrong.content
    recorded = events(trace)
    called = [e for e in recorded if isinstance(e, Attempt)]
    fired = []
    for attempt in called:
        fired.append([firing.fault for firing in attempt.firings])
    assert fired == [["gone"], [], ["lie"], ["slow"], ["slow"]]
    assert called[2].truth == honest
    assert called[2].seen == honest | {"time_difference": "+1.0h"}
    assert {a.effect for a in called} == {"read"}
    times = [a.at[11:19] for a in called]
    assert times == ["16:00:01", "16:00:02", "16:00:03", "16:00:04", "16:00:55"]
    end = end_of(recorded)
    assert end is not None and end is recorded[-1]
    counts = {name: facts["fired"] for name, facts in end.faults.items()}
    assert counts == {"gone": 1, "lie": 1, "slow": 2, "never": 0}
    assert "mcp_time.get_current_time" in command("trace", trace).out


# -- ours ----------------------------------------------------------------------------------------
async def test_our_own_server_behind_the_proxy(tmp_path: Path) -> None:
    profile = written(
        tmp_path,
        {"lost_reply": {"on": "ours.venmo__send_money", "first": 1}},
        {"outage": {"on": "reads:ours.*", "every": 2}},
    )
    ours = [sys.executable, "-m", "client_harness", "serve", "--services", "venmo,clock", "--stdio"]
    options = ("--faults", str(profile), "--name", "ours", "--trace", str(tmp_path / "t"))
    arguments = ("proxy", *options, "--stdio", "--", *ours)
    async with (
        Client(session_server(new_session("venmo", "clock"))) as direct,
        Client(started(*arguments)) as client,
    ):
        listed = (await client.list_tools()).tools
        assert [shown(t) for t in listed] == [shown(t) for t in (await direct.list_tools()).tools]
        friend = (await ask(client, "venmo__list_friends"))["friends"][0]
        assert (await client.call_tool("venmo__get_balance", {})).is_error
        pay = {"contact_id": friend["contact_id"], "amount": 5, "note": "tea"}
        assert reply_of(await client.call_tool("venmo__send_money", pay))[1]
        await ask(client, "venmo__send_money", **pay)
        payments = (await ask(client, "venmo__list_transactions"))["transactions"]
        notes = [payment["note"] for payment in payments]
        assert notes.count("tea") == 2  # a blind retry pays twice
    called = [e for e in events(tmp_path / "t") if isinstance(e, Attempt)]
    assert [a.effect for a in called] == ["read", "read", "write", "write", "read"]
    lost = called[2].firings[0].detail["lost"]
    assert called[2].truth["transaction_id"] == lost["transaction_id"]


@contextlib.asynccontextmanager
async def proxied(
    url: str, *faults: dict[str, Any], **options: Any
) -> AsyncGenerator[tuple[dict[str, Any], Session]]:
    """Serve a proxy of a URL over HTTP; yield its address and its session."""
    heard: list[Any] = []
    ready = anyio.Event()

    def say(session: proxy.Proxied, way: dict[str, Any]) -> None:
        heard.extend((way, session))
        ready.set()

    async with anyio.create_task_group() as tasks:
        served = proxy.Served([parse(f, open=True) for f in faults], **options)
        tasks.start_soon(lambda: proxy.http(proxy.Upstream(url=url, name="far"), served, say))
        await ready.wait()
        yield heard[0], heard[1]
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(("kind", "fields", "code"), [k for k in KINDS if k[0] != "hang"], ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_faults_of_the_transport_act_for_real_in_front_of_a_url(
    kind: str, fields: dict[str, Any], code: str, era: str
) -> None:
    behind = new_session("clock")
    async with (
        serving(one=behind) as base,
        proxied(
            f"{base}/one/clock/mcp",
            {kind: {"on": "far.wait", "when": "after", "first": 1, **fields}},
        ) as (way, session),
        line() as (wire, http),
    ):
        http.headers.update(way["headers"])
        async with connected(way["url"], http, mode=era) as client:
            assert [t.name for t in (await client.list_tools()).tools] == ["get_time", "wait"]
            with pytest.raises(MCPError):
                await client.call_tool("wait", {"seconds": 5})
            assert_came(wire.came[-1], kind, fields)
            assert (await ask(client, "wait", seconds=7))["waited_seconds"] == 7
    assert [a.args["seconds"] for a in attempts(behind)] == [5, 7]
    assert not session.bugs
    assert [len(a.firings) for a in attempts(session)] == [1, 0]


async def test_a_token_guards_the_proxy() -> None:
    async with (
        serving(one=new_session("clock")) as base,
        proxied(f"{base}/one/clock/mcp") as (way, _),
        line() as (_, http),
    ):
        assert (await http.post(way["url"], json={})).status_code == 401


# -- replies of any form -------------------------------------------------------------------------
TEXT = types.TextContent(type="text", text="It is sunny.")
IMAGE = types.ImageContent(type="image", data="aGk=", mime_type="image/png")
GIVEN: dict[str, types.CallToolResult] = {
    "text": types.CallToolResult(content=[TEXT]),
    "number": types.CallToolResult(
        content=[types.TextContent(type="text", text="5")], structured_content={"result": 5}
    ),
    "picture": types.CallToolResult(content=[TEXT, IMAGE]),
    "json": types.CallToolResult(
        content=[types.TextContent(type="text", text='{\n  "rows": [1, 2]\n}')],
        structured_content={"rows": [1, 2]},
    ),
    "list": types.CallToolResult(
        content=[TEXT, TEXT], structured_content={"result": ["It is sunny.", "It is sunny."]}
    ),
    "nothing": types.CallToolResult(content=[]),
    "failure": types.CallToolResult(content=[TEXT], is_error=True),
    "refusal": types.CallToolResult(
        content=[types.TextContent(type="text", text='{"error": {"code": "NO"}}')], is_error=True
    ),
}


def upstream() -> Server[Any]:
    """Return a server whose tools answer in every possible form."""
    names = (*GIVEN, "protocol.error", "never")
    tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in names]

    async def listing(ctx: Any, params: Any) -> types.ListToolsResult:
        first = int(params.cursor or 0) if params is not None else 0
        after = first + 3
        following = str(after) if after < len(tools) else None
        return types.ListToolsResult(tools=tools[first:after], next_cursor=following)

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "protocol.error":
            raise MCPError(types.INVALID_PARAMS, "no such thing", {"why": 1})
        if params.name == "never":
            await anyio.sleep_forever()
        return GIVEN[params.name]

    return Server("Any Forms 2", on_list_tools=listing, on_call_tool=call)


@contextlib.asynccontextmanager
async def forms(
    *faults: Fault, timeout: float = 60
) -> AsyncGenerator[tuple[Client, proxy.Proxied]]:
    from servers.kit.mcp import make_server

    async with Client(upstream(), cache=None) as behind:
        cls = await proxy.service_of(behind)
        session = proxy.Proxied(cls, behind, faults, timeout=timeout)
        async with Client(make_server(lambda ctx: session, cls.name, cls.name)) as client:
            yield client, session


async def test_replies_of_every_form_go_through_as_they_are() -> None:
    async with forms() as (client, session), Client(upstream()) as direct:
        assert list(session.classes) == ["any_forms_2"]
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*GIVEN, "protocol.error", "never"]
        for name in GIVEN:
            here = await client.call_tool(name, {})
            there = await direct.call_tool(name, {})
            assert here.model_dump(exclude={"meta"}) == there.model_dump(exclude={"meta"}), name
        with pytest.raises(MCPError) as refused:
            await client.call_tool("protocol.error", {})
        refusal = refused.value
        assert (refusal.code, refusal.message) == (types.INVALID_PARAMS, "no such thing")
        assert refusal.data == {"why": 1}
    assert not session.bugs
    assert all(json.dumps(a.seen) and a.seen == a.truth for a in attempts(session))
    assert [a.is_error for a in attempts(session)] == [False] * 6 + [True] * 3


@pytest.mark.parametrize(
    ("name", "edit", "content", "structured"),
    [
        (
            "text",
            {"set": {"content[0].text": "It rains."}},
            [TEXT.model_copy(update={"text": "It rains."})],
            None,
        ),
        (
            "picture",
            {"set": {"content[0].text": "It rains."}},
            [TEXT.model_copy(update={"text": "It rains."}), IMAGE],
            None,
        ),
        (
            "json",
            {"set": {"rows[0]": 9}},
            '{\n  "rows": [\n    9,\n    2\n  ]\n}',
            {"rows": [9, 2]},
        ),
        (
            "list",
            {"set": {"result[0]": "It rains."}},
            '{"result":["It rains.","It is sunny."]}',
            {"result": ["It rains.", "It is sunny."]},
        ),
    ],
)
async def test_an_edited_reply_keeps_its_form(
    name: str, edit: dict[str, Any], content: Any, structured: Any
) -> None:
    lie = parse({"wrong_value": {"on": f"*.{name}", "reply": [edit]}}, open=True)
    async with forms(lie) as (client, session):
        seen = await client.call_tool(name, {})
    wanted = [types.TextContent(type="text", text=content)] if isinstance(content, str) else content
    assert (seen.content, seen.structured_content) == (wanted, structured) and not session.bugs


async def test_a_drifting_schema_is_published_and_understood() -> None:
    properties = {"a": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["a"]}
    tool = types.Tool(name="add", input_schema=schema)

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = json.dumps({"got": params.arguments})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def listing(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    drift = parse({"schema_drift": {"on": "sums.add", "rename": {"a": "augend"}}}, open=True)
    server = Server("sums", on_list_tools=listing, on_call_tool=call)
    async with Client(server, cache=None) as behind:
        session = proxy.Proxied(await proxy.service_of(behind), behind, [drift])
        assert session.schema("sums", "add")["properties"] == {"augend": {"type": "integer"}}
        assert (await session.call("sums", "add", {"a": 1})).is_error
        assert (await session.call("sums", "add", {"augend": 1})).data == {"got": {"a": 1}}


@pytest.mark.parametrize("kind", [k for k, cls in kinds().items() if not cls.needs_world])
async def test_every_kind_that_needs_no_state_acts_on_a_foreign_server(kind: str) -> None:
    asked: list[dict[str, Any]] = []

    async def listing(ctx: Any, params: Any) -> types.ListToolsResult:
        properties = {"amount": {"type": "number"}, "note": {"type": "string"}}
        schema = {"type": "object", "properties": properties}
        tools = [types.Tool(name=name, input_schema=schema) for name in ("pay", "look")]
        return types.ListToolsResult(tools=tools)

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        asked.append(params.arguments or {})
        text = json.dumps({"args": params.arguments})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    args = {"amount": 3, "note": "hi"}
    async with Client(Server("s", on_list_tools=listing, on_call_tool=call), cache=None) as behind:
        service = await proxy.service_of(behind)
        # What a kind needs besides a target, it chooses for the call itself; it has no world.
        example = Example(service, service.tools["pay"], args, {"args": args}, cast(World, None))
        fields = kinds()[kind].sample(example)
        assert isinstance(fields, dict), fields
        fault = parse({kind: {"on": "s.pay", **fields}}, open=True)
        session = proxy.Proxied(service, behind, [fault])
        for _ in range(2):
            await session.call("s", "pay", args)
        await session.call("s", "look", {"amount": 3})
    first, second, other = attempts(session)
    assert first.firings or second.firings
    assert not any(firing.failed for firing in (*first.firings, *second.firings))
    assert not other.firings
    assert other.seen == {"args": {"amount": 3}}
    assert asked[-1] == {"amount": 3}
    assert not session.bugs


async def test_a_server_that_does_not_answer_is_an_error_after_a_while() -> None:
    async with forms(timeout=0.1) as (client, session):
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await client.call_tool("never", {})
        assert not (await client.call_tool("text", {})).is_error
    assert [a.is_error for a in attempts(session)] == [True, False] and not session.bugs


DYING = """
import os

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def listing(ctx, params):
    tool = types.Tool(name="die", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def call(ctx, params):
    os._exit(1)


async def main():
    server = Server("dying", on_list_tools=listing, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
"""


async def test_a_server_that_ends_leaves_the_proxy_answering(tmp_path: Path) -> None:
    dying = tmp_path / "dying.py"
    dying.write_text(DYING)
    async with proxy.session(proxy.Upstream((sys.executable, str(dying)))) as session:
        for _ in range(2):
            reply = await session.call("dying", "die", {})
            assert reply.is_error and "closed" in reply.data["error"]["message"].lower()
    assert not session.bugs


# -- mistakes ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("faults", "arguments", "message"),
    [
        ([], [], "name one server"),
        ([], ["--url", "http://127.0.0.1:9/mcp", "--", "x"], "name one server"),
        ([], ["--header", "X: 1", "--", "x"], "for a server with --url"),
        ([], ["--", "no-such-command-here"], "no-such-command-here did not start as an MCP server"),
        ([], ["--", sys.executable, "-c", ""], "did not start as an MCP server: Connection closed"),
        ([], ["--url", "http://127.0.0.1:9/mcp"], "did not start as an MCP server"),
        (
            [{"stale_read": {"on": "reads:*.*"}}],
            ["--", "x"],
            "stale_read: needs the state behind the tools",
        ),
        (
            [{"outage": {"on": "*.*", "stored": {"table": "t"}}}],
            ["--", "x"],
            "outage: needs the state behind the tools",
        ),
        (
            [{"outage": {"on": "writs:*.*"}}],
            ["--", "x"],
            "unknown effect 'writs'; did you mean 'writes'?",
        ),
        ([{"outage": {"on": "time"}}], ["--", "x"], "write `service.tool`"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, faults: list[Any], arguments: list[str], message: str
) -> None:
    profile = written(tmp_path, *faults)
    assert message in refusal(command("proxy", "--faults", profile, "--port", 0, *arguments))


async def test_a_target_that_names_none_of_the_servers_tools_is_refused() -> None:
    async with serving(one=new_session("clock")) as base:
        url = f"{base}/one/clock/mcp"
        upstream = proxy.Upstream(url=url)
        misspelt = parse({"outage": {"on": "clock.get_tim"}}, open=True)
        message = r"has no tool 'clock.get_tim'; did you mean 'clock.get_time'"
        with pytest.raises(InputError, match=message):
            async with proxy.session(upstream, [misspelt]):
                pass
        one = parse({"outage": {"name": "one", "on": "writes:*.*"}}, open=True)
        two = parse({"outage": {"name": "two", "on": "*.get_time"}}, open=True)
        async with proxy.session(upstream, [one, two]) as session:
            assert proxy.idle(session) == ["one"]


@pytest.mark.parametrize("name", ["calm", "flaky"])
def test_shipped_profiles_load_for_any_server(name: str) -> None:
    assert all(f.on.open for f in proxy.faults_of(name))
