"""Puts a whole product, such as a coding agent with a command line, behind the process contract.

Products have no hooks on their HTTP clients. So a `Relay` stands between a product and what it
talks to: its model, whose answers begin the steps and are counted, and its MCP servers, whose
requests get the step's number. A `Program` is the running product. It needs Python 3.10,
`haywire_agent` and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn, cast

import haywire_agent as haywire

Event = dict[str, Any]
"""An object of a model's answer: a whole answer, or one event of a stream."""
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
"""The variables that a product inherits; the rest of the environment is none of its business."""
LONGEST_LINE = 2**27
_HOP = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding", "expect")
_LONGEST_ERROR = 300
_TRIES = 3
"""After how many attempts in a row a model counts as away, if nothing is there."""
_GRACE = 3.0
"""Seconds in which a product may end a turn by itself."""
_TOO_LONG = ("context", "too long", "token")
"""What providers say if a conversation no longer fits."""


class Product(haywire.Agent):
    """An agent that is a product. A subclass has `start`, which sets both of these, and `talk`."""

    relay: Relay
    program: Program

    async def turn(self, text: str) -> str:
        """Say something to the product, and return what it answers."""
        self.used(model=self.settings.model)
        return await self.relay.while_hopeful(self._talking(text))

    async def talk(self, text: str) -> str | None:
        """Say something to the product, and return what it answers, or None if it ends instead.

        Raises `Failure`.
        """
        raise NotImplementedError

    async def _talking(self, text: str) -> str:
        try:
            said = await self.talk(text)
        except asyncio.CancelledError:
            await self.program.stop()
            raise
        if said is None:
            self.relay.check(f"{self.name} has ended")
        return said


class Relay:
    """Passes on what a product asks of its model and its MCP servers.

    `base` is the URL of the model's real endpoint. `steps` tells of a request to it, by path and
    body, whether its answer begins a step; products also ask for titles and the like.
    `tokens` returns the tokens of the prompt and of the answer, in all, that the events of one
    answer tell.
    """

    def __init__(
        self,
        agent: Any,
        base: str,
        steps: Callable[[str, Event], bool],
        tokens: Callable[[list[Event]], tuple[int, int]],
    ) -> None:
        self.agent = agent
        self.upstream = {"model": base.rstrip("/")}
        self.headers: dict[str, dict[str, str]] = {"model": {}}
        self.is_step = steps
        self.tokens = tokens
        self.problem: haywire.Failure | None = None
        self.in_vain = 0
        self.loop = asyncio.get_running_loop()
        self.is_hopeless = asyncio.Event()
        self.secret = secrets.token_hex(8)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        agent.stack.callback(self.server.shutdown)

    def url(self, name: str) -> str:
        """Return the URL that stands for that of a server, or for that of the `model`."""
        return f"http://127.0.0.1:{self.server.server_port}/{self.secret}/{name}"

    def server_url(self, server: haywire.Server) -> str:
        """Return the URL that stands for that of a server, and needs no headers."""
        self.upstream[f"mcp/{server.name}"] = server.url
        self.headers[f"mcp/{server.name}"] = server.headers
        return self.url(f"mcp/{server.name}")

    async def while_hopeful(self, talking: Coroutine[Any, Any, str]) -> str:
        """Return what a turn returns, unless its model is away for good.

        Some products ask again for minutes, and others never end the turn.
        """
        self.problem = None
        self.in_vain = 0
        self.is_hopeless.clear()
        turn = asyncio.ensure_future(talking)
        hopeless = asyncio.ensure_future(self.is_hopeless.wait())
        try:
            await asyncio.wait({turn, hopeless}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({turn}, timeout=_GRACE if hopeless.done() else None)
            if turn.done():
                return turn.result()
        finally:
            hopeless.cancel()
            turn.cancel()
            # It ends the product, if it was cut short.
            await asyncio.wait({turn})
        raise self.problem or haywire.Failure("the turn did not end")

    def check(self, detail: str) -> NoReturn:
        """Raise what went wrong, if a turn has failed with `detail`."""
        raise self.problem or haywire.Failure(detail)

    def _handler(relay: Relay) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                with contextlib.suppress(ConnectionError):
                    relay._pass_on(self)

            do_GET = do_POST  # noqa: N815
            do_DELETE = do_POST  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler

    def _pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.removeprefix(f"/{self.secret}/")
        name = next((n for n in self.upstream if f"{path}/".replace("?", "/").startswith(n)), None)
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        if path == handler.path or name is None:
            return _answer(handler, 404, b"{}")
        rest = path.removeprefix(name)
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in _HOP}
        headers |= self.headers[name]
        if name != "model":
            headers |= self.agent.steps.headers
            # Nobody waits for an answer to a GET, which brings notifications.
            return self._forward(handler, self.upstream[name] + rest, body, headers)
        is_step = self.is_step(rest, _parsed(body))
        if is_step:
            try:
                self.agent.check_limits()
            except haywire.Limit as reached:
                self.problem = reached
                text = json.dumps({"error": {"message": str(reached), "code": 400}})
                return _answer(handler, 400, text.encode())
        self.agent.waits.asks()
        self._forward(handler, self.upstream[name] + rest, body, headers, is_step)

    def _forward(
        self,
        handler: BaseHTTPRequestHandler,
        url: str,
        body: bytes,
        headers: dict[str, str],
        is_step: bool | None = None,
    ) -> None:
        """Send a request on, and its answer back; of a model's, `is_step` is not None."""
        request = urllib.request.Request(
            url, data=body or None, headers=headers, method=handler.command
        )
        try:
            answer: Any = urllib.request.urlopen(request, timeout=600)
        except urllib.error.HTTPError as refused:
            answer = cast(Any, refused)
        except (OSError, ValueError) as unreached:
            why = f"{url.partition('?')[0]}: {getattr(unreached, 'reason', unreached)}"
            self.in_vain += 1
            self._failed(is_step, haywire.Outage(why))
            text = json.dumps({"error": {"message": why, "code": 502}})
            return _answer(handler, 502, text.encode())
        with answer:
            if is_step is None:
                return _stream(handler, answer)
            if answer.status >= 400:
                said = answer.read()
                text = said.decode(errors="replace")[:_LONGEST_ERROR]
                self._failed(is_step, _problem(answer.status, text))
                return _answer(handler, answer.status, said, answer.headers)
            self.in_vain = 0
            if is_step:
                self.problem = None
                self.agent.steps.begin()
            said = bytearray()
            try:
                _stream(handler, answer, said)
            finally:
                self._count(bytes(said))

    def _failed(self, is_step: bool | None, problem: haywire.Failure) -> None:
        if is_step:
            self.problem = problem
            self.agent.waits.refused()
            if problem.lasting or self.in_vain >= _TRIES:
                self.loop.call_soon_threadsafe(self.is_hopeless.set)

    def _count(self, said: bytes) -> None:
        asked, answered = self.tokens(list(_events(said)))
        self.agent.used(prompt_tokens=asked, completion_tokens=answered, requests=1)


def _problem(status: int, text: str) -> haywire.Failure:
    """Return what it means for a trial that a model's endpoint refused a request."""
    why = f"HTTP {status}: {text}"
    if status in (400, 413, 422):
        is_limit = any(word in text.lower() for word in _TOO_LONG)
        return haywire.Limit(why) if is_limit else haywire.Failure(why)
    return haywire.Outage(why, lasting=status in (401, 403, 404))


def _parsed(body: bytes) -> Event:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _events(said: bytes) -> Iterator[Event]:
    """Yield the objects of an answer: those of a stream of events, or the only one."""
    if said.lstrip().startswith(b"{"):
        yield _parsed(said)
    for line in said.splitlines():
        if line.startswith(b"data:"):
            yield _parsed(line[5:])


def _answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Any = None) -> None:
    handler.send_response(status)
    given = dict(headers.items()) if headers is not None else {"content-type": "application/json"}
    for name, value in given.items():
        if name.lower() not in _HOP:
            handler.send_header(name, value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _stream(handler: BaseHTTPRequestHandler, answer: Any, copy: bytearray | None = None) -> None:
    """Pass on an answer as it comes, with a copy of it."""
    length = answer.headers.get("content-length")
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        if name.lower() not in _HOP:
            handler.send_header(name, value)
    if length is not None:
        handler.send_header("content-length", length)
    else:
        handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    while part := answer.read1(65536):
        if copy is not None:
            copy += part
        handler.wfile.write(part if length is not None else b"%x\r\n%b\r\n" % (len(part), part))
        handler.wfile.flush()
    if length is None:
        handler.wfile.write(b"0\r\n\r\n")


class Program:
    """A product that runs: it reads and writes JSON, one object a line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.asked = 0

    @classmethod
    async def start(
        cls, agent: Any, command: list[str], home: Path, variables: dict[str, str]
    ) -> Program:
        """Start a product in an empty folder of `home`, with `home` as its home.

        It ends when the conversation is over.
        """
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        env |= {"HOME": str(home), "USERPROFILE": str(home), "NO_PROXY": "127.0.0.1", **variables}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=env,
            cwd=folder(home),
            limit=LONGEST_LINE,
        )
        program = cls(process)
        agent.stack.push_async_callback(program.stop)
        return program

    async def send(self, message: Event) -> None:
        """Write an object. A product that has ended does not hear it."""
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError):
            stdin.write(json.dumps(message).encode() + b"\n")
            await stdin.drain()

    async def messages(self) -> AsyncIterator[Event]:
        """Yield the objects that the product writes, until it ends or the caller stops."""
        stdout = self.process.stdout
        assert stdout is not None
        while line := await stdout.readline():
            if found := _parsed(line):
                yield found

    async def heard(self) -> AsyncIterator[Event]:
        """Yield what a product says in JSON-RPC; what it asks is refused, as nobody is there."""
        async for message in self.messages():
            if "id" in message and "method" in message:
                refusal = {"code": -32601, "message": "nobody is there to answer"}
                await self.send({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
            yield message

    async def request(self, method: str, params: Event) -> int:
        """Make a request in JSON-RPC, and return its number."""
        self.asked += 1
        await self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    async def ask(self, method: str, params: Event) -> Any:
        """Make a request in JSON-RPC, and return its result. Raises `Failure`."""
        number = await self.request(method, params)
        async for message in self.heard():
            if message.get("id") == number and "method" not in message:
                return result(message, method)
        raise haywire.Failure(f"the product ended at {method}")

    async def stop(self) -> None:
        """End the product."""
        process = self.process
        if process.stdin is not None:
            process.stdin.close()
        for end in (process.terminate, process.kill):
            with contextlib.suppress(ProcessLookupError):
                end()
            # A child that it leaves behind may keep its pipes open.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), 2)
                return


def result(message: Event, method: str) -> Any:
    """Return the result that an answer in JSON-RPC holds. Raises `Failure`."""
    if "error" in message:
        raise haywire.Failure(f"the product refused {method}: {refusal(message['error'])}")
    return message.get("result")


def refusal(error: Event) -> str:
    """Return an error in JSON-RPC in one line."""
    more = json.dumps(error["data"])[:_LONGEST_ERROR] if error.get("data") else ""
    return f"{error.get('message')} {more}".strip()


def home_for(agent: Any) -> Path:
    """Return a new home, which is removed when the conversation is over."""
    made = tempfile.TemporaryDirectory(prefix="haywire-", ignore_cleanup_errors=True)
    home = Path(agent.stack.enter_context(made)).resolve()
    folder(home).mkdir()
    return home


def folder(home: Path) -> Path:
    """Return the folder in which a product works."""
    return home / "work"


def key(variable: str, api_base: str | None) -> str:
    """Return the key of a provider; an endpoint of one's own may need none.

    Raises `Outage`.
    """
    given = os.environ.get(variable)
    if given is None and api_base is None:
        raise haywire.Outage(f"there is no key: set {variable}", lasting=True)
    return given or "none"


def model(settings: Any) -> str:
    """Return the model's name without its provider."""
    if not settings.model:
        raise haywire.Failure("name a model, as in --model provider/name")
    return settings.model.partition("/")[2] or settings.model


def version(package: str) -> str:
    """Return the version of an npm package in the adapter's environment."""
    manifest = Path(sys.prefix, "node_modules", package, "package.json")
    return json.loads(manifest.read_text())["version"]
