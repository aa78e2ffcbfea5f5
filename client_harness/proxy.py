"""A proxy that puts any MCP server, a command or a URL, behind faults.

Only fault kinds that do not need the server's state can be used. Upstream is a real MCP client,
downstream our own server with the same tools. Calls go through the same layers as those of our
services and are recorded in the same trace; only the innermost step differs, which asks the other
server.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from fault_profiles.state import State
from scenarios.worlds import build
from servers.kit.call import Call, Reply
from servers.kit.control import Control
from servers.kit.errors import InputError, did_you_mean
from servers.kit.service import Service, ToolSpec
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import parse_time


@dataclass(frozen=True)
class Upstream:
    """The server behind the proxy: a command with its arguments, or a URL with headers.

    `name` is its name in fault targets (`name.tool`); if it is empty, the server's own name is
    used, in lower case with underscores. `timeout` is how many real seconds a call may take.
    """

    command: tuple[str, ...] = ()
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    name: str = ""
    timeout: float = 60.0


class Proxied(Session):
    """A session of one service whose calls another server answers.

    `client` is connected to that server.
    """

    def __init__(
        self,
        cls: type[Service],
        client: Any,
        faults: Sequence[Fault] = (),
        seed: int = 0,
        timeout: float = 60.0,
    ) -> None:
        control = Control(parse_time(build.person("maya")["start"]), seed)
        super().__init__((), World.empty({}), control, faults=ordered(list(faults)))
        self.classes = {cls.name: cls}
        self._client = client
        self._timeout = timeout

    async def perform(self, call: Call) -> Reply:
        """Ask the other server."""
        import mcp_types as types
        from mcp import MCPError

        from servers.kit.mcp import foreign_reply

        params = types.CallToolRequestParams(name=call.tool, arguments=call.args)
        request = types.CallToolRequest(params=params)
        try:
            given = await self._client.session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=self._timeout
            )
        except MCPError as refusal:
            given = refusal
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            given = MCPError(types.CONNECTION_CLOSED, "Connection closed")
        reply = foreign_reply(given)
        if not call.scratch:
            call.journal.truth = reply
        return reply

    def end(self) -> None:
        """Write the trace's last event: how often each fault was met and how often it fired."""
        facts = {}
        for fault in self.faults:
            state = State.load(self.control, fault.name)
            kind = fault.kind if isinstance(fault, Fault) else ""
            facts[fault.name] = {
                "kind": kind,
                "near": state.near,
                "fired": state.fired,
                "failed": state.failed,
            }
        self.record_end("done", faults=facts, changes=[])


def faults_of(name: str | None) -> list[Fault]:
    """Return a profile's faults, for a server that is not ours.

    Raises `InputError`, also for a fault kind that needs the server's state.
    """
    return profile(name, open=True).faults if name is not None else []


@contextlib.asynccontextmanager
async def session(
    upstream: Upstream, faults: Sequence[Fault] = (), *, seed: int = 0
) -> AsyncGenerator[Proxied]:
    """Connect to the server and yield a session over it.

    Raises `InputError` if the server cannot be reached, or if a target names a tool that it does
    not have.
    """
    from mcp import MCPError

    up = False
    try:
        async with _connected(upstream) as client:
            cls = await service_of(client, upstream.name)
            _check(cls, faults)
            up = True
            yield Proxied(cls, client, faults, seed, upstream.timeout)
    except (BaseExceptionGroup, OSError, MCPError, ValueError) as problem:
        first = _first(problem)  # the client's task groups wrap the exception that ends them
        if isinstance(first, InputError):
            raise first from None
        if not up and isinstance(first, Exception):
            where = upstream.url or " ".join(upstream.command)
            raise InputError(f"{where} did not start as an MCP server: {first}") from None
        raise


def _first(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


@contextlib.asynccontextmanager
async def _connected(upstream: Upstream) -> AsyncGenerator[Any]:
    import httpx2
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    from client_harness.tools import outliving

    async with contextlib.AsyncExitStack() as stack:
        if upstream.url is not None:
            client = httpx2.AsyncClient(
                transport=outliving(), headers=upstream.headers, timeout=upstream.timeout
            )
            http = await stack.enter_async_context(client)
            server: Any = streamable_http_client(upstream.url, http_client=http)
        else:
            program, *arguments = upstream.command
            server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
        yield await stack.enter_async_context(Client(server, cache=None))


async def service_of(client: Any, name: str = "") -> type[Service]:
    """Return the server that a client is connected to as a service with the tools that it lists.

    For `name` see `Upstream`.
    """
    from servers.kit.mcp import ForeignTool

    info = client.server_info
    own_name = "upstream"
    title = own_name
    if info is not None:
        own_name = info.name
        title = info.title or own_name
    plain = re.sub(r"[^a-z0-9]+", "_", own_name.lower()).strip("_")
    cls = type("Upstream", (Service,), {"name": name or plain or "upstream", "title": title})
    cls.category = "proxied"
    cls.domain = "proxied"
    tools: dict[str, ToolSpec] = {}
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        for listed in page.tools:
            says = listed.annotations
            effect = "read" if says is not None and says.read_only_hint else "write"
            tools[listed.name] = ForeignTool(listed.name, _elsewhere, effect, {}, listed=listed)
        cursor = page.next_cursor
        if cursor is None:
            break
    cls.tools = tools
    return cls


def _elsewhere(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("tools of another server run on that server")


def _check(cls: type[Service], faults: Sequence[Fault]) -> None:
    known = [f"{cls.name}.{tool}" for tool in cls.tools]
    for fault in faults:
        for pattern in fault.on.patterns:
            exact = pattern.rpartition(":")[2]
            if not set("*?[") & set(exact) and exact not in known:
                near = did_you_mean(exact, known)
                raise InputError(
                    f"fault {fault.name}: the server behind the proxy has no tool {exact!r}{near}"
                )


def idle(session: Proxied) -> list[str]:
    """Return the names of the faults that apply to none of the server's tools."""
    (cls,) = session.classes.values()
    names = []
    for fault in session.faults:
        if not any(fault.handles(cls, spec) for spec in cls.tools.values()):
            names.append(fault.name)
    return names


# -- serving -------------------------------------------------------------------------------------
@contextlib.contextmanager
def tracing(session: Proxied, path: Path | None) -> Generator[None]:
    """Write each event of a session to a file as it happens, one JSON object per line.

    Raises `InputError` if the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        out = path.open("w", encoding="utf-8")
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None
    written = 0

    def write(_: Any = None) -> None:
        nonlocal written
        for line in session.control.trace(written):
            out.write(line + "\n")
            written += 1
        out.flush()

    with out:
        session.on_attempt.append(write)
        try:
            yield
        finally:
            session.end()
            write()


@dataclass(frozen=True)
class Served:
    """How a proxied server is served.

    It holds the profile's faults, the seed for random choices, and the trace file.
    """

    faults: Sequence[Fault] = ()
    seed: int = 0
    trace: Path | None = None


async def stdio(upstream: Upstream, served: Served, say: Callable[[Proxied], None]) -> None:
    """Serve the proxied server on stdin and stdout until the client closes them.

    `say` is called with the session before that.
    """
    from servers.kit.mcp import serve_stdio

    async with session(upstream, served.faults, seed=served.seed) as proxied:
        with tracing(proxied, served.trace):
            say(proxied)
            await serve_stdio(proxied, next(iter(proxied.classes)))


async def http(
    upstream: Upstream,
    served: Served,
    say: Callable[[Proxied, dict[str, Any]], None],
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    token: str | None = None,
) -> None:
    """Serve the proxied server at a URL until cancelled.

    `say` is called with the session and `{name, url, headers}` once the port is open.
    """
    from servers.kit.app import Episodes, allowed, make_app, run_app

    secret = token or secrets.token_urlsafe(24)
    shown_host = f"[{host}]" if ":" in host else host
    headers = {"Authorization": f"Bearer {secret}"}
    async with session(upstream, served.faults, seed=served.seed) as proxied:
        (name,) = proxied.classes
        episodes = Episodes()
        episodes.add("proxy", proxied, secret)
        app = make_app(episodes, hosts=allowed(host), names=[name])
        with tracing(proxied, served.trace):
            async with run_app(app, host, port) as bound:
                url = f"http://{shown_host}:{bound}/proxy/{name}/mcp"
                say(proxied, {"name": name, "url": url, "headers": headers})
                await anyio.sleep_forever()
