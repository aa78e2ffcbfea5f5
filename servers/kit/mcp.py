"""The MCP adapter: a low-level server over a session, in memory, on stdio or over HTTP.

No other file of the servers imports `mcp`. The low-level server does not validate arguments, so a
malformed call reaches the session and is recorded. No tool declares an output schema, so a drifting
reply reaches the agent instead of raising in its client. A reply is sent once, as compact JSON
text.
"""

from __future__ import annotations

import contextlib
import functools
import json
import weakref
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.lowlevel
import mcp_types as types
from mcp import MCPError
from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from servers.kit import exposure
from servers.kit.briefing import Prompt, Resource
from servers.kit.call import Reply
from servers.kit.errors import ServiceError, cut, quoted
from servers.kit.events import encode
from servers.kit.service import Service, ToolSpec
from servers.kit.session import SEPARATOR, Session, as_text, split
from servers.kit.types import Json
from servers.kit.wire import alter_response

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_T = TypeVar("_T")

Resolve = Callable[[Any], Session]
"""Maps a request's context to the session that it belongs to."""

STEP_HEADER = "x-agent-step"
"""The header in which an agent that counts its steps sends the step's number (from 1)."""


@dataclass(frozen=True, eq=False)
class ForeignTool(ToolSpec):
    """A tool of a server that is not ours.

    It is listed as that server lists it, but without an output schema.
    """

    listed: types.Tool = field(kw_only=True)

    @property
    def description(self) -> str:
        """That server's description."""
        return self.listed.description or ""

    @functools.cached_property
    def schema(self) -> Json:
        """That server's schema of the arguments."""
        return {"properties": {}, **self.listed.input_schema}


@functools.cache
def _tool(cls: type[Service], spec: ToolSpec, prefixed: bool) -> types.Tool:
    return _make(cls.name, spec, prefixed, spec.schema)


def _make(server: str, spec: ToolSpec, prefixed: bool, schema: Json) -> types.Tool:
    name = f"{server}{SEPARATOR}{spec.name}" if prefixed else spec.name
    if isinstance(spec, ForeignTool):
        changes = {"name": name, "input_schema": schema, "output_schema": None}
        return spec.listed.model_copy(update=changes)
    return types.Tool(
        name=name,
        description=spec.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=spec.effect == "read",
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )


def tools(
    session: Session, only: str | None = None, without: Collection[str] = ()
) -> list[types.Tool]:
    """Return the tools that a session lists now.

    These are the tools of one service (`only`), or of all services except `without`, with prefixed
    names. A session that exposes a search has two tools in their place. A server beside the
    services is listed first.
    """
    prefixed = only is None
    listed = []
    aside = session.aside
    if aside is not None and only in (None, aside.name):
        for spec in aside.tools.values():
            listed.append(_make(aside.name, spec, prefixed, spec.schema))
        if only is not None:
            return listed
    if session.expose == "search":
        return listed + _two(session, only)
    for name in session.listed():
        left_out = name in without if prefixed else name != only
        if left_out:
            continue
        cls = session.classes[name]
        for spec in cls.tools.values():
            schema = session.schema(name, spec.name) if session.faults else spec.schema
            if schema is spec.schema:
                tool = _tool(cls, spec, prefixed)
            else:
                tool = _make(name, spec, prefixed, schema)
            if session.hint is not None:
                described = {"description": session.description(name, spec)}
                tool = tool.model_copy(update=described)
            listed.append(tool)
    return listed


def _two(session: Session, only: str | None) -> list[types.Tool]:
    """Return the tools that find and call the others."""
    listed = []
    for spec in (exposure.FINDING, exposure.CALLING):
        description = spec.description
        if spec.name == exposure.FIND:
            description += f"\n\n{exposure.about_services(session, only)}"
        tool = _make("", spec, False, spec.schema)
        listed.append(tool.model_copy(update={"description": description}))
    return listed


class _Stream:
    """The open subscriptions of 2026-era clients to the list of one server."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.handler = ListenHandler(self.bus)
        self.open = 0


_Connections = dict[tuple[str | None, str], Any]
"""Connections by service (None for the server of all services) and MCP session."""
_Streams = dict[str | None, _Stream]


class Audience:
    """The clients of each session that are notified when a service is disclosed.

    An agent has one connection per service, and the connection that a call comes in on is rarely
    the one whose list changes. 2025-era clients are told on their connections, 2026-era clients on
    the streams that they opened with `subscriptions/listen`.
    """

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[Session, _Connections] = weakref.WeakKeyDictionary()
        self._streams: weakref.WeakKeyDictionary[Session, _Streams] = weakref.WeakKeyDictionary()

    def hears(self, ctx: Any, session: Session, only: str | None) -> None:
        """Note that the connection of a request belongs to a session.

        A search lists the same two tools at all times, so nobody has to be told.
        """
        if session.hidden and session.expose == "all" and not _modern(ctx):
            mcp_session = ""
            if ctx.request is not None:
                mcp_session = ctx.request.headers.get("mcp-session-id", "")
            self._of.setdefault(session, {})[only, mcp_session] = ctx.session

    async def listen(
        self,
        ctx: Any,
        params: types.SubscriptionsListenRequestParams,
        session: Session,
        only: str | None,
    ) -> types.SubscriptionsListenResult:
        """Serve a subscription of a 2026-era client until it ends; only lists of tools change."""
        stream = self._streams.setdefault(session, {}).setdefault(only, _Stream())
        wanted = types.SubscriptionFilter(
            tools_list_changed=params.notifications.tools_list_changed
        )
        stream.open += 1
        try:
            return await stream.handler(ctx, params.model_copy(update={"notifications": wanted}))
        finally:
            stream.open -= 1

    def close(self) -> None:
        """End all subscriptions, and tell their clients."""
        for streams in self._streams.values():
            for stream in streams.values():
                stream.handler.close()

    async def tell(self, session: Session, disclosed: Collection[str], *, fixed: bool) -> None:
        """Notify the clients whose list changed, then hold the reply.

        The delay lets clients refresh their lists before they read on. `fixed` says that the list
        of all services does not change for 2026-era clients.
        """
        hearers = []
        for (only, _), connection in self._of.get(session, {}).items():
            if only is None or only in disclosed:
                hearers.append(connection)
        streams = []
        if session.expose == "all":
            for only, stream in self._streams.get(session, {}).items():
                changed = not fixed if only is None else only in disclosed
                if changed and stream.open:
                    streams.append(stream)
        for connection in hearers:
            await connection.send_tool_list_changed()
        for stream in streams:
            await stream.bus.publish(ToolsListChanged())
        if hearers or streams:
            await anyio.sleep(session.hold)


class _Server(Server[Any]):
    """The SDK's server, but it says of each kind of list whether it changes.

    The SDK says to 2025-era clients that none does, so they ignore the notification; and to
    2026-era clients, who may subscribe, that all do.
    """

    def get_capabilities(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> types.ServerCapabilities:
        """Return the capabilities to advertise."""
        options = NotificationOptions(tools_changed=True)
        said = super().get_capabilities(options, *args, **kwargs)
        if said.prompts is not None:
            said.prompts.list_changed = False
        if said.resources is not None:
            said.resources.list_changed = False
            said.resources.subscribe = False
        return said


def make_server(
    resolve: Resolve,
    name: str,
    only: str | None = None,
    *,
    audience: Audience | None = None,
    fixed: bool = False,
) -> Server[Any]:
    """Return an MCP server of one service (`only`), or of all services with prefixed tool names.

    The servers of one host share an `audience`. `fixed` keeps held-back services off the combined
    list of 2026-era clients, as that protocol requires. For those clients, each such service is a
    server of its own, whose list is empty until the service is disclosed. Whoever subscribes to it
    is told.
    """
    hearers = audience if audience is not None else Audience()

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        session = resolve(ctx)
        hearers.hears(ctx, session, only)
        without = session.held_back if fixed and _modern(ctx) and not session.locked else ()
        return types.ListToolsResult(tools=tools(session, only, without))

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        session = resolve(ctx)
        hearers.hears(ctx, session, only)
        arrived = session.out
        hidden = set(session.hidden)
        if ctx.request is not None:
            # Let all calls of a batch come in before the first one is answered.
            await anyio.lowlevel.checkpoint()
        args = params.arguments if params.arguments is not None else {}
        step = _step(ctx)
        service_name, tool = (only, params.name) if only else split(params.name)
        aside = session.aside
        if aside is not None and service_name == aside.name:
            call = aside.call(tool, args, _client(ctx))
        elif session.expose == "search":
            call = exposure.answer(session, params.name, args, only, step=step, arrived=arrived)
        else:
            call = session.call(service_name, tool, args, step=step, arrived=arrived)
        # A client that gives up does not undo the call, so the call is finished and recorded.
        reply = await _shielded(call)
        disclosed = hidden - session.hidden
        if disclosed and not session.locked:
            await hearers.tell(session, disclosed, fixed=fixed)
        if reply.wire is not None and ctx.request is not None:
            alter_response(ctx.request.scope, reply.wire)
        if reply.raw is not None:
            return _as_given(reply)
        return _texted(as_text(reply), reply.is_error)

    async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        found = _resources(resolve(ctx), only)
        listed = [
            types.Resource(
                uri=one.uri,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type="application/json",
            )
            for one in found
        ]
        return types.ListResourcesResult(resources=listed)

    async def read_resource(
        ctx: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        for one in _resources(resolve(ctx), only):
            if one.uri == params.uri:
                # As with a call, what has begun is finished and recorded.
                text = encode(await _shielded(one.read(only)))
                content = types.TextResourceContents(
                    uri=one.uri, mime_type="application/json", text=text
                )
                return types.ReadResourceResult(contents=[content])
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {quoted(params.uri)}.")

    async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
        listed = [
            types.Prompt(name=one.name, title=one.title, description=one.description)
            for one in _prompts(resolve(ctx))
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        for one in _prompts(resolve(ctx)):
            if one.name == params.name:
                one.said()
                content = types.TextContent(type="text", text=one.text)
                message = types.PromptMessage(role="user", content=content)
                return types.GetPromptResult(description=one.description, messages=[message])
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {quoted(params.name)}.")

    async def listen(
        ctx: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await hearers.listen(ctx, params, resolve(ctx), only)

    async def discover(ctx: Any, params: Any) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=_instructions(resolve(ctx), only),
        )

    async def tell(ctx: Any, call_next: Any) -> Any:
        # The handshake of the older era, whose instructions would be the same for all sessions.
        result = await call_next(ctx)
        if ctx.method == "initialize":
            instructions = _instructions(resolve(ctx), only)
            if instructions is not None:
                return {**result, "instructions": instructions}
        return result

    server = _Server(
        name,
        version="0.1.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # Some clients ask for these lists without looking at the capabilities.
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_resource_templates=_no_templates,
        on_subscriptions_listen=listen,
        # Otherwise the HTTP transport lists all tools before each call, to check headers that none
        # of our tools declares.
        get_tool_input_schema=lambda tool: None,
    )
    server.middleware.clear()
    server.middleware.append(tell)
    server.add_request_handler("server/discover", types.RequestParams, discover)
    return server


def _instructions(session: Session, only: str | None) -> str | None:
    return None if session.briefing is None else session.briefing.instructions(only)


def _resources(session: Session, only: str | None) -> list[Resource]:
    if session.briefing is None:
        return []
    return [one for one in session.briefing.resources if one.offered(only)]


def _prompts(session: Session) -> Sequence[Prompt]:
    return () if session.briefing is None else session.briefing.prompts


async def _no_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[])


def _modern(ctx: Any) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _client(ctx: Any) -> dict[str, str]:
    """Return the name and the version of the client that asks, as far as it has told them."""
    told = getattr(ctx.session, "client_params", None)
    info = told.client_info if told is not None else None
    if info is None:
        return {}
    return {"name": cut(info.name), "version": cut(info.version)}


def _step(ctx: Any) -> int | None:
    request = getattr(ctx, "request", None)
    text = request.headers.get(STEP_HEADER) if request is not None else None
    return int(text) if text is not None and text.isdigit() else None


def session_server(session: Session) -> Server[Any]:
    """Return a server of all services of one session, for an agent in this process or on stdio."""
    return make_server(lambda ctx: session, "haywire")


def http_manager(
    server: Server[Any], hosts: Sequence[str], idle: float
) -> StreamableHTTPSessionManager:
    """Return the HTTP side of a server.

    Enter `run()` once; then `asgi_app` serves requests of both eras. `hosts` are the allowed Host
    headers (`name:*` for any port). Another Host gets 421, and a foreign Origin gets 403. A session
    ends after `idle` seconds without a request.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    origins = [f"http://{host}" for host in hosts] + [f"https://{host}" for host in hosts]
    security = TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
    return StreamableHTTPSessionManager(
        server,
        json_response=True,
        security_settings=security,
        session_idle_timeout=idle,
        max_sessions=None,
    )


async def serve_stdio(session: Session, only: str | None = None) -> None:
    """Serve a session, or one service of it, on stdin and stdout until the client closes them."""
    if only is None:
        server = session_server(session)
    else:
        server = make_server(lambda ctx: session, only, only)
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


def foreign_reply(given: types.CallToolResult | MCPError) -> Reply:
    """Return the answer of a server that is not ours as a reply.

    Its data is the JSON that the text holds, or else the result itself.
    """
    if isinstance(given, MCPError):
        return Reply(_error(given.message), True, raw=given)
    return Reply(_data(given), bool(given.is_error), raw=given)


def _data(given: types.CallToolResult) -> Any:
    text = "\n".join(b.text for b in given.content if isinstance(b, types.TextContent))
    data = given.structured_content
    if _is_wrapped(data):
        data = None
    if len(given.content) == 1:
        with contextlib.suppress(ValueError):
            read = json.loads(text)
            data = read if isinstance(read, dict | list) else data
    if given.is_error:
        is_ours = isinstance(data, dict) and isinstance(data.get("error"), dict)
        return data if is_ours else _error(text)
    if isinstance(data, dict | list):
        return data
    return given.model_dump(mode="json", by_alias=True, exclude_none=True, include={"content"})


def _is_wrapped(data: Any) -> bool:
    """Return whether the SDK wrapped a plain text or number to make it an object."""
    if not isinstance(data, dict) or data.keys() != {"result"}:
        return False
    return not isinstance(data["result"], dict | list)


def _error(text: str) -> Json:
    return ServiceError("TOOL_ERROR", text).as_json()


async def _shielded(call: Awaitable[_T]) -> _T:
    with anyio.CancelScope(shield=True):
        return await call
    # This is only for the type checker.
    raise AssertionError("a shielded scope is never cancelled")


def _as_given(reply: Reply) -> types.CallToolResult:
    """Return another server's result; if its data was edited, in the form that it came in."""
    given = reply.raw
    unedited = foreign_reply(reply.raw)
    same = reply.data == unedited.data and reply.is_error == unedited.is_error
    if isinstance(given, MCPError):
        if same:
            raise given
        return _texted(as_text(reply), reply.is_error)
    if same:
        # Leave out the name of its server, because a reply that a fault made has none either.
        meta = {k: v for k, v in (given.meta or {}).items() if k != types.SERVER_INFO_META_KEY}
        return given.model_copy(update={"meta": meta or None})
    if isinstance(reply.data, dict) and reply.data.keys() == {"content"}:
        with contextlib.suppress(ValueError):
            return types.CallToolResult.model_validate({**reply.data, "isError": reply.is_error})
    pretty = any("\n" in getattr(block, "text", "") for block in given.content)
    text = json.dumps(reply.data, ensure_ascii=False, indent=2) if pretty else as_text(reply)
    both = given.structured_content == unedited.data and isinstance(reply.data, dict)
    return _texted(text, reply.is_error, reply.data if both else None)


def _texted(text: str, is_error: bool, structured: Any = None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=structured,
        is_error=is_error,
    )


def reply_of(result: Any) -> tuple[Any, bool]:
    """Return the data and the error flag of a tool result, as an agent reads it."""
    return json.loads(result.content[0].text), bool(result.is_error)


async def call_directly(client: Any, name: str, args: Json) -> tuple[Any, bool]:
    """Call a tool through a client and return the reply's data and whether it is an error.

    This sends only the protocol's own request. The client would also send a hidden `tools/list` to
    get output schemas, which no tool of ours declares.
    """
    params = types.CallToolRequestParams(name=name, arguments=args)
    request = types.CallToolRequest(params=params)
    return reply_of(await client.session.send_request(request, types.CallToolResult))
