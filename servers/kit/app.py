"""The HTTP host: one Starlette app that serves many services of many episodes.

`/{episode}/{service}/mcp` serves one service, and `/{episode}/all/mcp` serves all services of an
episode with prefixed tool names. The path and the bearer token of each request determine its
session; an MCP session never does. Hence both protocol eras work, and episodes cannot get mixed up.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import socket
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from servers.kit import wire
from servers.kit.errors import InputError, did_you_mean, sentence
from servers.kit.mcp import Audience, http_manager, make_server
from servers.kit.service import services
from servers.kit.session import ALL, Session

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
"""The Host headers that are accepted by default."""

READ_WITHIN = 30.0
"""Seconds in which a request must have come in, from its first byte to the end of its body."""
UNUSED = 120.0
"""Seconds for which a connection stays open between requests, or before the first one.

It is longer than clients keep idle connections, so that none reuses one as we close it.
"""
IDLE = 900.0
"""Seconds without a request after which an MCP session ends; its client must open a new one."""

_SESSION = "haywire.session"
_MOST_READ = 5 * 2**20
"""Bytes of a body that are read ahead; the protocol's own limit, which refuses it, is below."""
_log = logging.getLogger(__name__)


def allowed(host: str) -> tuple[str, ...]:
    """Return the Host headers to accept when the app listens on an address."""
    return LOOPBACK if host in ("127.0.0.1", "localhost", "::1") else (*LOOPBACK, f"{host}:*")


class Host(Protocol):
    """What the app needs from the object that keeps the episodes."""

    def session(self, episode: str, token: str | None) -> Session | None:
        """Return the session of an episode, or None if the token is not the episode's.

        Raises `InputError` for an unknown episode.
        """
        ...


@dataclass
class Episodes:
    """Episodes by name, each with the token that its clients must send (None if they need none)."""

    _known: dict[str, tuple[Session, str | None]] = field(default_factory=dict)

    def add(self, name: str, session: Session, token: str | None = None) -> None:
        """Start serving an episode."""
        if name in self._known:
            raise InputError(f"there is already an episode {name!r}")
        self._known[name] = session, token

    def remove(self, name: str) -> None:
        """Stop serving an episode."""
        self._known.pop(name, None)

    def session(self, episode: str, token: str | None) -> Session | None:
        """See `Host`."""
        if episode not in self._known:
            # The names of other episodes are none of the caller's business, so suggest none.
            raise InputError(f"There is no episode {episode!r}.")
        session, secret = self._known[episode]
        if secret is not None and not hmac.compare_digest(secret.encode(), (token or "").encode()):
            return None
        return session


class _Endpoint:
    """One MCP server per service for the whole process, through which all episodes' requests go."""

    def __init__(
        self, host: Host, hosts: Sequence[str], names: Sequence[str], idle: float, read: float
    ) -> None:
        self._host = host
        self._read = read
        self._audience = Audience()
        self._managers = {
            name: http_manager(_server(name, self._audience), hosts, idle) for name in names
        }
        self.closing = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it in JSON."""
        request = Request(scope)
        admitted = self._admit(request)
        if isinstance(admitted, JSONResponse):
            await admitted(scope, receive, send)
            return
        replay = await self._whole(request, receive, send)
        if replay is None:
            return
        scope[_SESSION] = admitted

        def drop() -> None:
            scope["app"].state.drop(scope["client"])

        app = self._managers[request.path_params["service"]].asgi_app
        hanging = admitted.hung
        await wire.serve(app, scope, replay, send, drop=drop, closing=self.closing, hanging=hanging)

    async def _whole(self, request: Request, receive: Receive, send: Send) -> Receive | None:
        """Read a request's body, and return what receives it again.

        A client that goes away before its request is complete, or takes too long to send it, gets
        no service: this logs one line and returns None.
        """
        taken: list[Message] = []
        size = 0
        with anyio.move_on_after(self._read):
            while True:
                message = await receive()
                taken.append(message)
                size += len(message.get("body", b""))
                if not message.get("more_body") or size > _MOST_READ:
                    break
        where = f"{request.method} {request.url.path}"
        if not taken or (taken[-1].get("more_body") and size <= _MOST_READ):
            _log.warning("%s: its body did not come in within %g s", where, self._read)
            message = f"The request did not come in within {self._read:g} seconds."
            refusal = _refusal(408, "REQUEST_TIMEOUT", message)
            refusal.headers["connection"] = "close"
            await refusal(request.scope, receive, send)
            return None
        if taken[-1]["type"] == "http.disconnect":
            _log.warning("%s: the client went away before the request was complete", where)
            return None
        taken.reverse()

        async def replay() -> Message:
            return taken.pop() if taken else await receive()

        return replay

    def _admit(self, request: Request) -> Session | JSONResponse:
        """Return the session that a request is for, or the response that refuses the request."""
        name = request.path_params["service"]
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        shown = token.strip() if scheme.lower() == "bearer" else None
        try:
            session = self._host.session(request.path_params["episode"], shown)
        except InputError as unknown:
            return _refusal(404, "UNKNOWN_EPISODE", str(unknown))
        if session is None:
            message = "Send the episode's token as 'Authorization: Bearer TOKEN'."
            refusal = _refusal(401, "UNAUTHORIZED", message)
            refusal.headers["www-authenticate"] = "Bearer"
            return refusal
        if name != ALL and name not in session.servers():
            near = did_you_mean(name, (*session.servers(), ALL))
            message = sentence(f"This episode has no service {name!r}{near}")
            return _refusal(404, "UNKNOWN_SERVICE", message)
        if self.closing.is_set():
            return _refusal(503, "CLOSING", "The host is closing.")
        return session

    async def keep(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Keep all servers running until `closing` is set.

        Open streams end then, so that the web server need not wait for them.
        """
        async with contextlib.AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            task_status.started()
            await self.closing.wait()
            self._audience.close()


def _server(name: str, audience: Audience) -> Any:
    """Return the MCP server of one service, or of all of them."""
    if name == ALL:
        return make_server(_resolve, "haywire", audience=audience, fixed=True)
    return make_server(_resolve, name, name, audience=audience, fixed=True)


def _resolve(ctx: Any) -> Session:
    return ctx.request.scope[_SESSION]


def _refusal(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message}}, status)


async def _not_found(request: Request, problem: Exception) -> JSONResponse:
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    message = (
        f"There is nothing at {request.url.path}. A service is at /EPISODE/SERVICE/mcp, "
        f"and all services of an episode are at /EPISODE/{ALL}/mcp."
    )
    return _refusal(status, "NOT_FOUND", message)


def make_app(
    host: Host,
    *,
    hosts: Sequence[str] = LOOPBACK,
    names: Sequence[str] | None = None,
    idle: float = IDLE,
    read_within: float = READ_WITHIN,
) -> Starlette:
    """Return the app.

    `hosts` are the allowed Host headers (`name:*` for any port). `names` are the services to serve;
    the default is all of ours, and `all`. An MCP session without a request for `idle` seconds ends,
    and a request that has not come in `read_within` seconds is refused.
    """
    served = names if names is not None else (*services(), ALL)
    endpoint = _Endpoint(host, hosts, served, idle, read_within)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(endpoint.keep)
            yield
            endpoint.closing.set()

    path = "/{episode}/{service}/mcp"
    routes = [Route(path, endpoint=endpoint), Route(path + "/", endpoint=endpoint)]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _not_found})
    app.router.redirect_slashes = False
    app.state.closing = endpoint.closing
    app.state.read_within = read_within
    return app


@contextlib.asynccontextmanager
async def run_app(app: Starlette, host: str = "127.0.0.1", port: int = 0) -> AsyncGenerator[int]:
    """Serve an app inside the running event loop and yield the bound port; port 0 takes a free one.

    The app must have an event `app.state.closing`, and may have `read_within`, the seconds in which
    a request's headers must come in. It gets `app.state.drop`, a function that closes
    the connection of a client (host and port) at once.

    Raises `InputError` if the address cannot be bound. On exit, open streams end and calls in
    progress get up to 3 s to finish.
    """
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            # The program around us handles signals.
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready.set()

    ready = asyncio.Event()
    listener = _bind(host, port)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="none",
        http=_impatient(getattr(app.state, "read_within", READ_WITHIN)),
        timeout_keep_alive=int(UNUSED),
        timeout_graceful_shutdown=3,
    )
    server = Server(config)

    def drop(client: tuple[str, int]) -> None:
        for connection in list(server.server_state.connections):
            if getattr(connection, "client", None) == tuple(client):
                connection.transport.abort()

    app.state.drop = drop
    serving = asyncio.create_task(server.serve([listener]))
    serving.add_done_callback(lambda task: ready.set())
    try:
        await ready.wait()
        if not server.started:
            raise InputError("the HTTP host did not start; see its log for the reason")
        yield listener.getsockname()[1]
    finally:
        app.state.closing.set()
        server.should_exit = True
        with anyio.CancelScope(shield=True):
            await serving


def _impatient(seconds: float) -> type[Any]:
    """Return uvicorn's protocol, with a limit on the time that a request's headers may take."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        _patience: asyncio.TimerHandle | None = None
        _since: float | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._patience = self.loop.call_later(UNUSED, self._give_up, False)

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._calm()
            # Only h11 knows whether what came in is part of a request whose headers are not over.
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                if self._since is None:
                    self._since = self.loop.time()
                left = self._since + seconds - self.loop.time()
                self._patience = self.loop.call_later(max(0.0, left), self._give_up, True)
            else:
                self._since = None

        def _calm(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

        def _give_up(self, begun: bool) -> None:
            if self.transport.is_closing():
                return
            if begun:
                _log.warning("the headers of a request did not come in within %g s", seconds)
                answer = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0"
                self.transport.write(answer + b"\r\n\r\n")
            self.transport.close()

    return Impatient


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: asyncio disables Nagle's algorithm, which costs 40 ms a call, only for
    # sockets that are explicitly TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as taken:
        listener.close()
        why = taken.strerror if isinstance(taken, OSError) and taken.strerror else taken
        raise InputError(
            f"cannot listen on {host}:{port} ({why}); choose another port, or 0 for a free one"
        ) from None
    return listener
