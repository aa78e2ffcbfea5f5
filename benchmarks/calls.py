"""A whole call — protocol, validation, service, trace — against a no-op tool of the bare SDK."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import anyio

from benchmarks.timing import Row, interleaved, ms
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.service import tool
from servers.kit.session import Session
from servers.kit.values import parse_time

ONE = "get_contact"
"""A tool that reads one row."""
JOINED = "get_transaction"
"""A tool whose record is joined from four rows."""


def _session() -> Session:
    control = Control(parse_time(build.person("maya")["start"]))
    return Session(["venmo"], build.shared("maya").share(), control)


def _noop() -> Any:
    import mcp_types as types
    from mcp.server import Server

    async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
        noop = types.Tool(name="noop", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[noop])

    async def called(ctx: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])

    return Server("noop", on_list_tools=listed, on_call_tool=called)


async def measure() -> list[Row]:
    """Return the rows for calls in memory and over HTTP."""
    return [*await _in_memory(), await _over_http()]


async def _in_memory() -> list[Row]:
    from mcp import Client

    from servers.kit.mcp import session_server

    one = tool(f"venmo.{ONE}")[1].example
    joined = tool(f"venmo.{JOINED}")[1].example
    async with Client(session_server(_session())) as ours, Client(_noop()) as bare:
        for client in (ours, bare):
            await client.list_tools()
        subjects = {
            "one": lambda: ours.call_tool(f"venmo__{ONE}", one),
            "joined": lambda: ours.call_tool(f"venmo__{JOINED}", joined),
            "bare": lambda: bare.call_tool("noop", {}),
        }
        times = await interleaved(subjects, 15, 200)
    return [
        _row("get one record, in memory", times, "one", "≤ 1.5"),
        _row("get one record joined from four rows, in memory", times, "joined", ""),
    ]


async def _over_http() -> Row:
    from mcp import Client

    from servers.kit.app import Episodes, make_app, run_app

    one = tool(f"venmo.{ONE}")[1].example
    episodes = Episodes()
    episodes.add("bench", _session())
    async with AsyncExitStack() as stack:
        our_port = await stack.enter_async_context(run_app(make_app(episodes)))
        bare_port = await stack.enter_async_context(run_app(_noop_app()))
        ours = Client(f"http://127.0.0.1:{our_port}/bench/venmo/mcp")
        bare = Client(f"http://127.0.0.1:{bare_port}/noop/")
        for client in (ours, bare):
            await stack.enter_async_context(client)
            await client.list_tools()
        subjects = {
            "one": lambda: ours.call_tool(ONE, one),
            "bare": lambda: bare.call_tool("noop", {}),
        }
        times = await interleaved(subjects, 9, 100)
    return _row("get one record, over HTTP (JSON)", times, "one", "≤ 1.15")


def _noop_app() -> Any:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    server = _noop()
    inner = server.streamable_http_app(streamable_http_path="/", json_response=True)
    routes = [Mount("/noop", app=inner)]
    app = Starlette(routes=routes, lifespan=lambda app: server.session_manager.run())
    app.state.closing = anyio.Event()
    return app


def _row(what: str, times: dict[str, float], subject: str, aim: str) -> Row:
    return Row(
        what,
        ms(times[subject]),
        f"SDK no-op {ms(times['bare'])}",
        f"{times[subject] / times['bare']:.2f}",
        aim,
    )
