"""JSON-RPC 2.0 with a process, one message per line on its stdin and stdout.

Whatever the process does, a request ends with an answer or an error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from client_harness.patience import Patience

LONGEST = 16 * 1024 * 1024
"""The longest line, in bytes."""
GRACE = 5.0
"""How many seconds a process has to answer a request after it was cancelled."""
TAIL = 2000
"""How many characters of stderr an error quotes at most."""
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class PeerError(Exception):
    """The process failed.

    It died, did not answer in time (`late`), printed something other than an answer, or answered
    with an error. If it was late but answered once it was told to stop, `result` is what it said.
    """

    late = False
    result: dict[str, Any] | None = None


class NotStarted(PeerError):
    """The process could not be started at all."""


class Peer:
    """A process that answers one request at a time.

    After any `PeerError` except an answered one, it can no longer be used. `hears` is called with
    the method and parameters of its notifications. If it `can_cancel`, a request that takes too
    long is cancelled, and its answer awaited for a moment.
    """

    def __init__(self, process: anyio.abc.Process, name: str, stderr: IO[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.name = name
        self._stderr = stderr
        self._number = 0
        self._in = process.stdin
        self._out = BufferedByteReceiveStream(process.stdout)
        self.lost = False
        self.can_cancel = False
        self.hears: Callable[[str, Any], None] = lambda method, params: None

    async def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its result, an object. Raises `PeerError`.

        A process that has to wait for its model's provider may say so meanwhile, and gets that much
        more time: `{"method": "backoff", "params": {"seconds": 20}}`.
        """
        patience = Patience(seconds)
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        line = json.dumps(message) + "\n"

        async def exchange() -> dict[str, Any]:
            # A process that has exited may have answered, or said why, before it did.
            with contextlib.suppress(*GONE):
                await self._in.send(line.encode())
            return await listen()

        async def listen() -> dict[str, Any]:
            while True:
                answer = await self._answer(method)
                if "id" in answer or "method" not in answer:
                    return answer
                patience.forgive(_backoff(answer))
                self.hears(str(answer["method"]), answer.get("params"))

        try:
            answer = await patience.limit(exchange)
        except TimeoutError:
            stopped = await self._cancelled(listen)
            failure = await self._failed(f"did not answer {method} within {seconds:g} s")
            failure.late = True
            failure.result = stopped
            raise failure from None
        if answer.get("id") != self._number:
            raise await self._failed(
                f"answered {method} with the id {answer.get('id')!r} instead of {self._number}"
            )
        error = answer.get("error")
        if error is not None:
            why = error.get("message") if isinstance(error, dict) else error
            raise PeerError(f"{self.name} answered {method} with an error: {_short(str(why))}")
        if not isinstance(answer.get("result"), dict):
            shown = _short(json.dumps(answer))
            raise await self._failed(
                f"answered {method} with a result that is not an object: {shown}"
            )
        return answer["result"]

    async def _cancelled(
        self, listen: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any] | None:
        """Tell the process to stop, and return its result if it has one in time."""
        if not self.can_cancel:
            return None
        note = {"jsonrpc": "2.0", "method": "cancel", "params": {"id": self._number}}
        with anyio.move_on_after(GRACE), contextlib.suppress(PeerError, *GONE):
            await self._in.send((json.dumps(note) + "\n").encode())
            answer = await listen()
            if answer.get("id") == self._number and isinstance(answer.get("result"), dict):
                return answer["result"]
        return None

    async def _answer(self, method: str) -> dict[str, Any]:
        try:
            line = await self._out.receive_until(b"\n", LONGEST)
        except anyio.DelimiterNotFound:
            raise await self._failed(
                f"printed a line of more than {LONGEST} bytes in answer to {method}"
            ) from None
        except (anyio.IncompleteRead, anyio.EndOfStream, *GONE):
            closed = f"closed its output before it answered {method}"
            raise await self._failed(closed, ended=True) from None
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            printed = _short(line.decode(errors="replace"))
            raise await self._failed(
                f"printed something other than JSON-RPC in answer to {method}: {printed}"
            )
        return answer

    async def _failed(self, what: str, ended: bool = False) -> PeerError:
        self.lost = True
        if ended:
            with anyio.move_on_after(2):
                what += f" (exit code {await self.process.wait()})"
        self._stderr.seek(max(0, self._stderr.seek(0, io.SEEK_END) - 4 * TAIL))
        tail = " ".join(self._stderr.read().decode(errors="replace").split())[-TAIL:]
        if tail:
            what += f"; its stderr ends with: {tail}"
        return PeerError(f"{self.name} {what}")

    async def end(self, seconds: float = 3.0) -> None:
        """End the process: close its stdin and wait, then terminate it, then kill it.

        Its children, which are in its process group, are killed with it.
        """
        with contextlib.suppress(*GONE):
            await self._in.aclose()
        for sign in (None, signal.SIGTERM, signal.SIGKILL):
            if sign is not None:
                self._signal(sign)
            # A lost process is not going to exit when its stdin closes.
            patience = 0.05 if self.lost and sign is None else seconds
            with anyio.move_on_after(patience):
                await self.process.wait()
                break
        self._signal(signal.SIGKILL)

    def _signal(self, sign: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, sign)


@contextlib.contextmanager
def _stderr(kept: Path | None) -> Generator[IO[bytes]]:
    if kept is None:
        with tempfile.TemporaryFile() as nowhere:
            yield nowhere
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        with kept.open("w+b") as file:
            yield file
    finally:
        if kept.stat().st_size == 0:
            kept.unlink()


def _backoff(told: dict[str, Any]) -> float:
    """Return the seconds that a notification asks for, or 0."""
    params = told.get("params")
    seconds = params.get("seconds") if isinstance(params, dict) else None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return float(seconds) if is_number and told["method"] == "backoff" else 0.0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:300] + "…"


@contextlib.asynccontextmanager
async def peer(
    command: Sequence[str], env: Mapping[str, str], name: str, kept: Path | None = None
) -> AsyncGenerator[Peer]:
    """Start a process in its own process group and yield it; it is ended on the way out.

    Its stderr goes to the file `kept`, which is removed again if nothing came.
    Raises `NotStarted` if it cannot be started.
    """
    with _stderr(kept) as stderr:
        try:
            process = await anyio.open_process(
                command, env=env, stderr=stderr, start_new_session=True
            )
        except OSError as wrong:
            raise NotStarted(
                f"{name} cannot be started: {wrong.strerror or wrong}: {command[0]}"
            ) from None
        made = Peer(process, name, stderr)
        try:
            yield made
        finally:
            with anyio.CancelScope(shield=True):
                await made.end()
                await process.aclose()
