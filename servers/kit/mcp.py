"""The MCP adapter: a low-level server over a session, in memory, on stdio or over HTTP. The only importer of `mcp` among the servers.

The low-level server does not validate arguments, so a malformed call reaches the session and is recorded. No tool declares an output schema, so
that a drifting reply reaches the agent instead of raising in its client. Replies go as compact JSON text, once.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session, as_text

SEPARATOR = "__"
"""Between service and tool where one server carries several services."""

Resolve = Callable[[Any], Session]
"""From a request's context to the session that it belongs to."""

STEP_HEADER = "x-agent-step"
"""Header in which an agent that knows its steps numbers them (whole number from 1)."""


@functools.cache
def _tool(cls: type[Service], spec: ToolSpec, prefixed: bool) -> types.Tool:
    return _make(cls, spec, prefixed, spec.schema)


def _make(cls: type[Service], spec: ToolSpec, prefixed: bool, schema: dict[str, Any]) -> types.Tool:
    return types.Tool(
        name=f"{cls.name}{SEPARATOR}{spec.name}" if prefixed else spec.name,
        description=spec.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=spec.effect == "read",
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )


def tools(session: Session, only: str | None = None) -> list[types.Tool]:
    """Return the tools that a session lists now: of one service, or of all with prefixed names."""
    found = []
    for name in session.listed():
        if only is not None and name != only:
            continue
        cls = session.classes[name]
        for spec in cls.tools.values():
            schema = session.schema(name, spec.name) if session.faults else spec.schema
            found.append(_tool(cls, spec, only is None) if schema is spec.schema else _make(cls, spec, only is None, schema))
    return found


def make_server(resolve: Resolve, name: str, only: str | None = None) -> Server[Any]:
    """Return an MCP server of one service (`only`), or of all services of the session with prefixed tool names."""

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools(resolve(ctx), only))

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        session = resolve(ctx)
        arrived, listed = session.out, len(session.hidden)
        service_name, tool = (only, params.name) if only else split(params.name)
        args = params.arguments if params.arguments is not None else {}
        reply = await session.call(service_name, tool, args, step=_step(ctx), arrived=arrived)
        if len(session.hidden) < listed and not session.locked:
            await _tell(ctx, session)
        return types.CallToolResult(content=[types.TextContent(type="text", text=as_text(reply))], is_error=reply.is_error)

    server: Server[Any] = Server(name, version="0.1.0", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.clear()
    server.middleware.append(_advertise_changes)
    return server


async def _advertise_changes(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Say `tools.listChanged: true` to 2025-era clients, which ignore the notification otherwise."""
    result = await call_next(ctx)
    if ctx.method == "initialize":
        result["capabilities"].setdefault("tools", {})["listChanged"] = True
    return result


async def _tell(ctx: Any, session: Session) -> None:
    """Tell the client that the list changed, then hold the reply so that it can refresh before it reads on."""
    import anyio

    await ctx.session.send_tool_list_changed()
    await anyio.sleep(session.hold)


def split(name: str) -> tuple[str, str]:
    """Return service and tool of a prefixed name; an unprefixed one has service ''."""
    service_name, found, tool = name.partition(SEPARATOR)
    return (service_name, tool) if found else ("", name)


def _step(ctx: Any) -> int | None:
    request = getattr(ctx, "request", None)
    text = request.headers.get(STEP_HEADER) if request is not None else None
    return int(text) if text is not None and text.isdigit() else None


def session_server(session: Session) -> Server[Any]:
    """Return a server that carries all services of one session, for an agent in this process or on stdio."""
    return make_server(lambda ctx: session, "haywire")


async def serve_stdio(session: Session) -> None:
    """Serve one session on stdin and stdout until the client closes them."""
    server = session_server(session)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(NotificationOptions(tools_changed=True)))


def reply_of(result: Any) -> tuple[Any, bool]:
    """Return data and error flag of a tool result, as an agent in this process reads it."""
    text = "".join(getattr(block, "text", "") for block in result.content)
    try:
        return json.loads(text), bool(result.is_error)
    except ValueError:
        return text, bool(result.is_error)
