"""A chat-completions endpoint in a process of its own, which takes a given time for each answer.

`python -m benchmarks.endpoint SECONDS CALLS FIRST LAST` prints its port and serves until its stdin
ends. It answers CALLS times with a call of `clock__get_time`, and then in words. `GET /` tells how
many requests were there at the same time, from the FIRST request to the LAST.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from typing import Any

_TOOL = re.compile(rb'"role": ?"tool"')


class Endpoint:
    """Answers requests, and counts those that wait for their answer."""

    def __init__(self, seconds: float, calls: int, first: int, last: int) -> None:
        self._seconds = seconds
        self._calls = calls
        self._first = first
        self._last = last
        self._changed = time.monotonic()
        self._lasted = 0.0
        self._area = 0.0
        self._now = 0
        self._most = 0
        self._requests = 0

    def told(self) -> dict[str, float]:
        """Return what was counted: `{requests, most, mean, seconds}`."""
        mean = self._area / self._lasted if self._lasted else 0.0
        requests = self._last - self._first
        return {"requests": requests, "most": self._most, "mean": mean, "seconds": self._lasted}

    def _count(self, change: int) -> None:
        now = time.monotonic()
        if self._first <= self._requests < self._last:
            self._area += self._now * (now - self._changed)
            self._lasted += now - self._changed
        self._changed = now
        self._now += change
        self._requests += max(change, 0)
        self._most = max(self._most, self._now)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1])) if length else b""
                if head.startswith(b"GET"):
                    answer: Any = self.told()
                else:
                    self._count(1)
                    await asyncio.sleep(self._seconds)
                    self._count(-1)
                    answer = self._completion(len(_TOOL.findall(body)))
                text = json.dumps(answer).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                    + f"content-length: {len(text)}\r\n\r\n".encode()
                    + text
                )
        writer.close()

    def _completion(self, made: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "I have looked at the clock."}
        reason = "stop"
        if made < self._calls:
            function = {"name": "clock__get_time", "arguments": "{}"}
            call = {"id": f"call_{made}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            reason = "tool_calls"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_772_000_000,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }


@contextlib.contextmanager
def running(seconds: float, calls: int, first: int = 0, last: int = 0) -> Generator[str]:
    """Serve an endpoint in a process of its own, and yield its base URL."""
    given = (str(part) for part in (seconds, calls, first, last))
    command = [sys.executable, "-m", "benchmarks.endpoint", *given]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        port = int(process.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.stdin.close()
            process.terminate()


def told(url: str) -> dict[str, float]:
    """Return what an endpoint has counted."""
    with urllib.request.urlopen(url) as reply:
        return json.load(reply)


async def _main(seconds: float, *counts: int) -> None:
    endpoint = Endpoint(seconds, *counts)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    # When the process that asks is gone, this one ends, too.
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]), *map(int, sys.argv[2:])))
