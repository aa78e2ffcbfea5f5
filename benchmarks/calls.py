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

ONE = "get_contact"
JOINED = "get_transaction"
"""A tool that reads one row, and one whose record is joined from four."""


def _session() -> Session:
    return Session(
        ["venmo"], build.shared("maya").share(), Control(parse_time(build.person("maya")["start"]))
    )


def _noop() -> Any:
    import mcp_types as types
    from mcp.server import Server

    async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name="noop", input_schema={"type": "object"})]
        )

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

    one, joined = (tool(f"venmo.{name}")[1].example for name in (ONE, JOINED))
    rows = []
    async with AsyncExitStack() as stack:
        ours = session_server(_session())
        bare = _noop()
        a, b = [await stack.enter_async_context(Client(s)) for s in (ours, bare)]
        for client in (a, b):
            await client.list_tools()
        subjects = {
            "one": lambda: a.call_tool(f"venmo__{ONE}", one),
            "joined": lambda: a.call_tool(f"venmo__{JOINED}", joined),
            "bare": lambda: b.call_tool("noop", {}),
        }
        times = await interleaved(subjects, 15, 200)
        rows.append(_row("get one record, in memory", times, "one", "≤ 1.5"))
        rows.append(_row("get one record joined from four rows, in memory", times, "joined", ""))
    async with AsyncExitStack() as stack:
        episodes = Episodes()
        bare = _noop()
        episodes.add("bench", _session())
        port = await stack.enter_async_context(run_app(make_app(episodes)))
        inner = bare.streamable_http_app(streamable_http_path="/", json_response=True)
        outer = Starlette(
            routes=[Mount("/noop", app=inner)], lifespan=lambda app: bare.session_manager.run()
        )
        outer.state.closing = anyio.Event()
        other = await stack.enter_async_context(run_app(outer))
        a = await stack.enter_async_context(Client(f"http://127.0.0.1:{port}/bench/venmo/mcp"))
        b = await stack.enter_async_context(Client(f"http://127.0.0.1:{other}/noop/"))
        for client in (a, b):
            await client.list_tools()
        subjects = {"one": lambda: a.call_tool(ONE, one), "bare": lambda: b.call_tool("noop", {})}
        rows.append(
            _row(
                "get one record, over HTTP (JSON)",
                await interleaved(subjects, 9, 100),
                "one",
                "≤ 1.15",
            )
        )
    return rows


def _row(what: str, times: dict[str, float], subject: str, aim: str) -> Row:
    return Row(
        what,
        ms(times[subject]),
        f"SDK no-op {ms(times['bare'])}",
        f"{times[subject] / times['bare']:.2f}",
        aim,
    )
