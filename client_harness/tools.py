"""Tools for agents in this process.

They are called through a real MCP client of the episode's server, in memory or over HTTP.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from client_harness.contract import ProviderOutage
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.exposure import CALL
from servers.kit.session import SEPARATOR, Session, split

Transport = Literal["memory", "http"]
"""How agents in this process reach their tools."""


@dataclass(frozen=True)
class ToolInfo:
    """A tool as listed: its name for a model (`service__tool`), description and JSON schema."""

    name: str
    description: str
    schema: dict[str, Any]


class Tools:
    """Lists and calls tools.

    `step()` begins the agent's next step; the calls of one step do not know each other's replies.
    Where the way to the services fails, methods raise `ProviderOutage`: no agent is to blame.
    """

    def __init__(self, client: Any, session: Session) -> None:
        self._client = client
        self._session = session
        self._offered: list[Any] | None = None
        self._listed: list[ToolInfo] = []

    def step(self) -> None:
        """Begin the agent's next step."""
        self._session.step = (self._session.step or 0) + 1

    @property
    def now(self) -> int:
        """The simulated moment in epoch seconds, for scripts that write dates."""
        return self._session.control.now

    async def list_tools(self) -> list[ToolInfo]:
        """Return the tools that the server currently lists.

        The server is asked again only if the session offers others than the last time.
        """
        from servers.kit.mcp import tools

        offered = tools(self._session)
        if offered != self._offered:
            with ours("list_tools"):
                listed = await self._client.list_tools(cache_mode="bypass")
            self._listed = [
                ToolInfo(t.name, t.description or "", t.input_schema) for t in listed.tools
            ]
            self._offered = offered
        return list(self._listed)

    async def call(self, service: str, tool: str, args: dict[str, Any]) -> tuple[Any, bool]:
        """Call a tool and return its data, and whether that is an error.

        If the session exposes a search, the call goes through the tool that calls the others.
        """
        name = f"{service}{SEPARATOR}{tool}"
        if self._session.expose == "search":
            return await self.call_named(CALL, {"name": name, "arguments": args})
        return await self.call_named(name, args)

    async def call_named(self, name: str, args: dict[str, Any]) -> tuple[Any, bool]:
        """Call a tool by its listed name.

        A response that was lost on its way is read from the trace, as it would have been in memory.
        """
        from mcp import MCPError

        from servers.kit.mcp import call_directly

        before = self._session.out
        with ours(name):
            try:
                return await call_directly(self._client, name, args)
            except MCPError:
                lost = self._lost(name, args, before)
                if lost is None:
                    raise
                return lost.seen, lost.is_error

    def _lost(self, name: str, args: dict[str, Any], after: int) -> Attempt | None:
        if self._session.expose == "search":
            name = args.get("name", name)
            args = args.get("arguments", args)
        for event in reversed(self._session.trace()):
            if event.seq <= after:
                break
            if not isinstance(event, Attempt):
                continue
            same = f"{event.service}{SEPARATOR}{event.tool}" == name and event.args == args
            if same and any("wire" in firing.detail for firing in event.firings):
                return event
        return None

    async def call_malformed(self, name: str, args: Any) -> tuple[Any, bool]:
        """Make a call whose arguments are not a JSON object.

        It goes straight to the session, which records and refuses it.
        """
        with ours(name):
            reply = await self._session.call(*split(name), args)
        return reply.data, reply.is_error


@contextmanager
def ours(what: str) -> Generator[None]:
    """Raise `ProviderOutage` for every exception that is our bug and not an agent's."""
    try:
        yield
    except (InputError, ProviderOutage):
        raise
    except Exception as broken:
        kind = type(broken).__name__
        raise ProviderOutage(f"a bug in Haywire: {what}: {kind}: {broken}", cause=kind) from broken


def outliving(**options: Any) -> Any:
    """Return an httpx transport that answers 502 for a broken connection.

    Otherwise the exception would end the SDK's client as a whole.
    """
    return _outliving()(**options)


@functools.cache
def _outliving() -> type[Any]:
    """Return the class of such transports: to make one for each trial costs more than a call."""
    import httpx2

    class Outliving(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            try:
                return await super().handle_async_request(request)
            except httpx2.TransportError as broken:
                return httpx2.Response(502, text=str(broken), request=request)

    return Outliving


@functools.cache
def _unchecked() -> ssl.SSLContext:
    """Return what connections to loopback need of certificates, which is none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Straight(Tools):
    """Tools that go straight to the session, without a client: what an agent sees is the same."""

    def __init__(self, session: Session) -> None:
        super().__init__(None, session)

    async def call_named(self, name: str, args: dict[str, Any]) -> tuple[Any, bool]:
        """Call a tool by its listed name."""
        reply = await self._session.call(*split(name), args)
        return reply.data, reply.is_error


@asynccontextmanager
async def over_http(session: Session, server: dict[str, Any]) -> AsyncGenerator[Tools]:
    """Connect to a session over HTTP, at a `{url, headers}` that serves all its services."""
    session.hold = 0.0  # as in memory
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    mode = "legacy" if session.hidden else "auto"
    # Loopback needs no certificates, and loading their store takes longer than a trial.
    transport = outliving(verify=_unchecked())
    async with (
        httpx2.AsyncClient(transport=transport, headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http), mode=mode) as client,
    ):
        yield Tools(client, session)


@asynccontextmanager
async def in_memory(session: Session) -> AsyncGenerator[Tools]:
    """Connect to a session's server in memory.

    If services are held back, the protocol version is one that lets a tool list change.
    """
    from mcp import Client

    from servers.kit.mcp import session_server

    session.hold = 0.0  # an agent in this process lists the tools anew whenever it asks
    mode = "legacy" if session.hidden else "auto"
    async with Client(session_server(session), mode=mode) as client:
        yield Tools(client, session)
