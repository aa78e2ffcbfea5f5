"""The HTTP host as real clients of both protocol eras see it: uvicorn on loopback, no mocks."""

from __future__ import annotations

import contextlib
import gc
import itertools
import socket
import weakref
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import StreamableHTTPServerTransport

from scenarios.worlds.build import shared
from servers.kit.app import Episodes, make_app, run_app
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.mcp import STEP_HEADER, reply_of
from servers.kit.service import all_tables
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import iso
from tests.support import START

pytestmark = pytest.mark.anyio
ERAS = ["legacy", "auto"]


def bare(*names: str, **options: Any) -> Session:
    """Return a session on a world without rows, to test what the host itself does."""
    return Session(names, World.empty(all_tables()), Control(START), **options)


@contextlib.asynccontextmanager
async def serving(**sessions: Session) -> AsyncGenerator[str]:
    episodes = Episodes()
    for name, session in sessions.items():
        episodes.add(name, session)
    async with run_app(make_app(episodes)) as port:
        yield f"http://127.0.0.1:{port}"


@contextlib.asynccontextmanager
async def connected(
    url: str, http: httpx2.AsyncClient | None = None, **options: Any
) -> AsyncGenerator[Client]:
    async with Client(streamable_http_client(url, http_client=http), **options) as client:
        yield client


async def ask(client: Client, tool: str, **args: Any) -> Any:
    data, is_error = reply_of(await client.call_tool(tool, args))
    assert not is_error, data
    return data


async def listed(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


def attempts(session: Session) -> list[Attempt]:
    return [e for e in session.trace() if isinstance(e, Attempt)]


def http(**headers: str) -> httpx2.AsyncClient:
    """Return a client without a certificate store, which would take longer to load than a test."""
    return httpx2.AsyncClient(
        verify=False, timeout=20, headers=headers, limits=httpx2.Limits(max_connections=None)
    )


def listing(era: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the body and the headers of an era's first request, as plain HTTP."""
    version = "2026-07-28" if era == "auto" else "2025-11-25"
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    who = {"name": "test", "version": "1"}
    if era == "legacy":
        body["params"] = {"protocolVersion": version, "capabilities": {}, "clientInfo": who}
        return body, headers
    keys = {"protocolVersion": version, "clientInfo": who, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in keys.items()}
    body |= {"method": "tools/list", "params": {"_meta": meta}}
    return body, headers | {"mcp-protocol-version": version, "mcp-method": "tools/list"}


@pytest.mark.parametrize("era", ERAS)
async def test_a_service_and_the_combined_server_answer(era: str) -> None:
    async with serving(one=bare("clock")) as base, http() as plain:
        async with connected(f"{base}/one/clock/mcp", plain, mode=era) as client:
            assert client.protocol_version == ("2025-11-25" if era == "legacy" else "2026-07-28")
            assert await listed(client) == {"get_time", "wait"}
            assert (await ask(client, "wait", seconds=60))["waited_seconds"] == 60
        async with connected(f"{base}/one/all/mcp/", plain, mode=era) as client:
            assert await listed(client) == {"clock__get_time", "clock__wait"}
            assert (await ask(client, "clock__get_time"))["now"] == "2026-03-14T16:01:01Z"


@pytest.mark.parametrize("era", ERAS)
async def test_a_malformed_call_is_answered_in_band_and_recorded(era: str) -> None:
    session = bare("clock")
    async with (
        serving(one=session) as base,
        http() as plain,
        connected(f"{base}/one/clock/mcp", plain, mode=era) as client,
    ):
        for tool, args in (("wait", {"secs": 1}), ("wait", {"seconds": "1"}), ("nap", {})):
            data, is_error = reply_of(await client.call_tool(tool, args))
            assert is_error and set(data["error"]) >= {"code", "message", "hint", "retryable"}
    assert [a.tool for a in attempts(session)] == ["wait", "wait", "nap"] and not session.bugs


def small_world() -> World:
    """Return the default world with only its identities, so that 200 copies of it are cheap."""
    world = World.empty(all_tables())
    for name, table in world.tables.items():
        if table.identity:
            for row in shared("maya").rows(name):
                world.insert(name, row)
    world.commit()
    return World.open(world.image(), world.tables)


@pytest.mark.long
async def test_200_episodes_in_one_process_do_not_cross() -> None:
    world = small_world()
    sessions: dict[str, Session] = {}
    for n in range(200):
        control = Control(START, seed=n)
        sessions[f"e{n}"] = Session(["clock", "gmail"], world.share(), control)
    seen: dict[str, tuple[Any, Any]] = {}

    async def play(base: str, name: str, era: str, plain: httpx2.AsyncClient) -> None:
        seconds = int(name[1:]) * 100 + 50
        async with connected(f"{base}/{name}/all/mcp", plain, mode=era) as client:
            await ask(client, "gmail__create_label", label=f"mine {name}")
            await ask(client, "clock__wait", seconds=seconds)
            labels = (await ask(client, "gmail__list_labels"))["labels"]
            own = [label["name"] for label in labels if label["type"] == "user"]
            seen[name] = (own, (await ask(client, "clock__get_time"))["now"])

    async with serving(**sessions) as base, http() as plain, anyio.create_task_group() as tasks:
        for place, name in enumerate(sessions):
            era = "auto" if place % 20 else "legacy"
            tasks.start_soon(play, base, name, era, plain)
    assert world.rows("gmail_labels") == []
    tools = ["create_label", "wait", "list_labels", "get_time"]
    for name, session in sessions.items():
        end = START + int(name[1:]) * 100 + 50 + 3
        assert seen[name] == ([f"mine {name}"], iso(end))
        assert session.control.now == end
        assert [a.tool for a in attempts(session)] == tools and not session.bugs


@pytest.mark.parametrize("era", ERAS)
async def test_parallel_calls_on_one_episode_follow_one_another(era: str) -> None:
    session = bare("clock")
    async with (
        serving(one=session) as base,
        http() as plain,
        connected(f"{base}/one/clock/mcp", plain, mode=era) as client,
    ):
        await client.list_tools()
        async with anyio.create_task_group() as tasks:
            for seconds in range(1, 31):
                tasks.start_soon(lambda s: ask(client, "wait", seconds=s), seconds)
    waits = attempts(session)
    assert [a.seq for a in waits] == list(range(1, 31))
    assert all(a.until <= b.at for a, b in itertools.pairwise(waits))
    assert session.control.now == START + sum(range(1, 31))


@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_or_missing_token_is_refused(era: str) -> None:
    episodes = Episodes()
    episodes.add("one", bare("clock"), token="tok-1")
    episodes.add("two", bare("clock"), token="tok-2")
    body, headers = listing(era)
    shown = [{"authorization": text} for text in ("Bearer tok-2", "Basic tok-1", "Bearer")]
    async with run_app(make_app(episodes)) as port, http() as plain:
        url = f"http://127.0.0.1:{port}/one/clock/mcp"
        for wrong in ({}, *shown):
            reply = await plain.post(url, json=body, headers=headers | wrong)
            assert reply.status_code == 401 and reply.json()["error"]["code"] == "UNAUTHORIZED"
            assert reply.headers["www-authenticate"] == "Bearer"
        right = {"authorization": "bearer tok-1"}
        reply = await plain.post(url, json=body, headers=headers | right)
        assert reply.status_code == 200
        async with (
            http(authorization="Bearer tok-1") as known,
            connected(url, known, mode=era) as client,
        ):
            await ask(client, "get_time")


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_path_is_404_with_a_suggestion(era: str) -> None:
    body, headers = listing(era)
    async with serving(one=bare("clock")) as base, http() as plain:
        for path, text in (
            ("/one/clok/mcp", "did you mean 'clock'?"),
            ("/two/clock/mcp", "no episode 'two'"),
            ("/one/clock", "/EPISODE/SERVICE/mcp"),
            ("/", "/EPISODE/SERVICE/mcp"),
        ):
            reply = await plain.post(base + path, json=body, headers=headers)
            assert reply.status_code == 404 and text in reply.json()["error"]["message"], path
        for slash in ("", "/"):
            url = f"{base}/one/clock/mcp{slash}"
            assert (await plain.post(url, json=body, headers=headers)).status_code == 200


@pytest.mark.parametrize("era", ERAS)
async def test_a_foreign_host_or_origin_is_refused(era: str) -> None:
    body, headers = listing(era)
    async with serving(one=bare("clock")) as base, http() as plain:
        url = f"{base}/one/clock/mcp"
        for more, status in (
            ({"host": "evil.example"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"origin": "http://localhost:3000"}, 200),
        ):
            reply = await plain.post(url, json=body, headers=headers | more)
            assert reply.status_code == status, more


async def test_the_step_header_numbers_the_agents_steps() -> None:
    session = bare("clock")
    async with serving(one=session) as base:
        for step in ("7", "soon"):
            async with (
                http(**{STEP_HEADER: step}) as plain,
                connected(f"{base}/one/clock/mcp", plain) as client,
            ):
                await ask(client, "get_time")
    assert [a.step for a in attempts(session)] == [7, None]


def disclosing(held: str = "clock") -> Session:
    """Return a session that discloses its held-back service after the first call."""
    session = bare("venmo", held, hidden=[held])
    session.hold = 0.2

    def disclose(attempt: Any) -> None:
        if held in session.hidden:
            session.disclose(held)

    session.on_attempt.append(disclose)
    return session


@pytest.mark.parametrize("path", ["all", "clock"])
async def test_a_2025_client_hears_of_a_disclosure_before_the_result(path: str) -> None:
    """This holds even if the call goes to one service and the changing list belongs to another."""
    async with contextlib.AsyncExitStack() as stack:
        base = await stack.enter_async_context(serving(one=disclosing()))
        plain = await stack.enter_async_context(http())
        heard: list[str] = []
        lists: list[set[str]] = []

        async def hear(message: Any) -> None:
            heard.append(message.method)
            lists.append(await listed(client))

        client = await stack.enter_async_context(
            connected(f"{base}/one/{path}/mcp", plain, mode="legacy", message_handler=hear)
        )
        caller = client
        if path != "all":
            caller = await stack.enter_async_context(
                connected(f"{base}/one/venmo/mcp", plain, mode="legacy")
            )
        capabilities = client.server_capabilities
        assert capabilities.tools is not None and capabilities.tools.list_changed
        assert not await listed(client) & {"get_time", "clock__get_time"}
        unknown = "venmo__nothing" if path == "all" else "nothing"
        await caller.list_tools()
        assert (await caller.call_tool(unknown, {})).is_error
        # By the time the result is here, the client has the new list.
        disclosed = "clock__get_time" if path == "all" else "get_time"
        assert heard == ["notifications/tools/list_changed"]
        assert disclosed in lists[0]
        assert (await ask(client, disclosed))["now"]


async def test_a_call_does_not_change_the_list_of_a_2026_connection() -> None:
    """Here the held-back service is a server of its own, which is empty until it is disclosed."""
    async with (
        serving(one=disclosing()) as base,
        http() as plain,
        connected(f"{base}/one/all/mcp", plain) as both,
        connected(f"{base}/one/clock/mcp", plain, cache=None) as held,
    ):
        before = await both.list_tools()
        assert (await held.list_tools()).tools == []
        assert (await both.call_tool("venmo__nothing", {})).is_error
        assert (await both.list_tools(cache_mode="bypass")).tools == before.tools
        assert await listed(held) == {"get_time", "wait"}
        await ask(held, "get_time")


async def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = f"cannot listen on 127.0.0.1:{port} .*choose another port"
        with pytest.raises(InputError, match=line) as problem:
            async with run_app(make_app(Episodes()), port=port):
                pass
    assert "\n" not in str(problem.value)


async def test_open_streams_do_not_hold_up_the_end() -> None:
    session = bare("clock")
    async with contextlib.AsyncExitStack() as clients:
        # The web server itself would cut the streams off after 3 s.
        with anyio.fail_after(2.5):
            async with serving(one=session) as base:
                plain = await clients.enter_async_context(http())
                body, headers = listing("legacy")
                url = f"{base}/one/clock/mcp"
                opened = await plain.post(url, json=body, headers=headers)
                headers["mcp-session-id"] = opened.headers["mcp-session-id"]
                headers["mcp-protocol-version"] = "2025-11-25"
                initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                await plain.post(url, json=initialized, headers=headers)
                stream = plain.stream("GET", url, headers=headers)
                opened = await clients.enter_async_context(stream)
                assert opened.status_code == 200
                assert opened.headers["content-type"].startswith("text/event-stream")


async def test_an_episode_in_memory_and_over_http_gives_the_same_trace() -> None:
    from servers.kit.mcp import session_server

    near = bare("clock")
    far = bare("clock")
    async with Client(session_server(near)) as client:
        await ask(client, "clock__wait", seconds=9)
    async with (
        serving(one=far) as base,
        http() as plain,
        connected(f"{base}/one/all/mcp", plain) as client,
    ):
        await ask(client, "clock__wait", seconds=9)
    assert near.control.trace() == far.control.trace()


# -- clients that go away, or take their time ------------------------------------------------------


async def raw(port: int, *parts: bytes) -> bytes:
    """Send bytes over a connection, and return all that comes back until the host closes it."""
    answer = b""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        for part in parts:
            await stream.send(part)
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                answer += await stream.receive()
    return answer


def unfinished(era: str) -> bytes:
    """Return a request whose body lacks its end."""
    _, headers = listing(era)
    lines = [f"{name}: {value}" for name, value in headers.items()]
    lines = ["POST /one/clock/mcp HTTP/1.1", "host: localhost", "content-length: 900", *lines]
    return ("\r\n".join(lines) + '\r\n\r\n{"jsonrpc').encode()


@pytest.mark.parametrize("era", ERAS)
async def test_a_request_that_is_aborted_is_one_line_in_the_log(
    era: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    session = bare("clock")
    async with serving(one=session) as base:
        port = int(base.rpartition(":")[2])
        stream = await anyio.connect_tcp("127.0.0.1", port)
        await stream.send(unfinished(era))
        await stream.aclose()
        with anyio.fail_after(5):
            while not caplog.records:
                await anyio.lowlevel.checkpoint()
    lines = [record.getMessage() for record in caplog.records if record.levelname != "INFO"]
    assert lines == ["POST /one/clock/mcp: the client went away before the request was complete"]
    assert "Traceback" not in capfd.readouterr().err and not session.trace()


@pytest.mark.parametrize("begun", [unfinished("legacy"), b"POST /one/clock/mcp HTTP/1.1\r\nhos"])
async def test_a_request_that_does_not_come_in_is_refused(begun: bytes) -> None:
    episodes = Episodes()
    episodes.add("one", bare("clock"))
    async with run_app(make_app(episodes, read_within=0.05)) as port:
        with anyio.fail_after(5):
            answer = await raw(port, begun)
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_sessions_that_nobody_uses_end_and_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = noted(monkeypatch)
    episodes = Episodes()
    episodes.add("one", bare("clock"))
    body, headers = listing("legacy")
    async with run_app(make_app(episodes, idle=0.1)) as port, http(**headers) as plain:
        url = f"http://127.0.0.1:{port}/one/clock/mcp"
        opened = [await plain.post(url, json=body) for _ in range(20)]
        names = {reply.headers["mcp-session-id"] for reply in opened}
        assert len(names) == 20
        assert len(sessions) == 20
        with anyio.fail_after(60):
            while any(transport() for transport in sessions):
                gc.collect()
                await anyio.sleep(0.1)
        late = {"mcp-session-id": names.pop(), "mcp-protocol-version": "2025-11-25"}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        reply = await plain.post(url, json=call, headers=late)
        assert reply.status_code == 404


def noted(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[StreamableHTTPServerTransport]]:
    """Return a list that takes each MCP session as it is opened, and keeps none of them alive.

    A session may have ended before one could look for it in memory.
    """
    opened: list[weakref.ref[StreamableHTTPServerTransport]] = []
    begin = StreamableHTTPServerTransport.__init__

    def begun(self: StreamableHTTPServerTransport, *args: Any, **options: Any) -> None:
        opened.append(weakref.ref(self))
        begin(self, *args, **options)

    monkeypatch.setattr(StreamableHTTPServerTransport, "__init__", begun)
    return opened
