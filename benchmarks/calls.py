"""A whole call — protocol, validation, service, trace — against a no-op tool of the bare SDK."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import anyio

from benchmarks.timing import Row, interleaved, ms
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.session import Session
from servers.kit.values import parse_time

ASK = ("venmo__get_transaction", "venmo.get_transaction")


def _session() -> Session:
    return Session(["venmo"], build.shared("maya").share(), Control(parse_time(build.person("maya")["start"])))


def _noop() -> Any:
    import mcp_types as types
    from mcp.server import Server

    async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="noop", input_schema={"type": "object"})])

    async def called(ctx: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])

    return Server("noop", on_list_tools=listed, on_call_tool=called)


async def measure() -> list[Row]:
    """Return the rows for calls in memory and over HTTP."""
    from mcp import Client
    from starlette.applications import Starlette
    from starlette.routing import Mount

    from servers.kit.app import Episodes, make_app, run_app
    from servers.kit.mcp import session_server
    from servers.kit.service import tool

    args = tool("venmo.get_transaction")[1].example
    rows = []
    async with AsyncExitStack() as stack:
        ours, bare = session_server(_session()), _noop()
        a, b = [await stack.enter_async_context(Client(s)) for s in (ours, bare)]
        for client in (a, b):
            await client.list_tools()
        times = await interleaved({"ours": lambda: a.call_tool(ASK[0], args), "bare": lambda: b.call_tool("noop", {})}, 15, 200)
        rows.append(_row("get one record, in memory", times, "≤ 1.5"))
    async with AsyncExitStack() as stack:
        episodes, bare = Episodes(), _noop()
        episodes.add("bench", _session())
        port = await stack.enter_async_context(run_app(make_app(episodes)))
        inner = bare.streamable_http_app(streamable_http_path="/", json_response=True)
        outer = Starlette(routes=[Mount("/noop", app=inner)], lifespan=lambda app: bare.session_manager.run())
        outer.state.closing = anyio.Event()
        other = await stack.enter_async_context(run_app(outer))
        a = await stack.enter_async_context(Client(f"http://127.0.0.1:{port}/bench/venmo/mcp"))
        b = await stack.enter_async_context(Client(f"http://127.0.0.1:{other}/noop/"))
        for client in (a, b):
            await client.list_tools()
        times = await interleaved({"ours": lambda: a.call_tool("get_transaction", args), "bare": lambda: b.call_tool("noop", {})}, 9, 100)
        rows.append(_row("get one record, over HTTP (JSON)", times, "≤ 1.15"))
    return rows


def _row(what: str, times: dict[str, float], aim: str) -> Row:
    return Row(what, ms(times["ours"]), f"SDK no-op {ms(times['bare'])}", f"{times['ours'] / times['bare']:.2f}", aim)
