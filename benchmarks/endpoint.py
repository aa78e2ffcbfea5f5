"""A chat-completions endpoint in a process of its own, which takes a given time for each answer.

`python -m benchmarks.endpoint SECONDS CALLS` prints its port and serves until its stdin ends. It
answers CALLS times with a call of `clock__get_time`, and then in words. `GET /` tells how many
requests it had, how many of them at the same time, and the mean of that over time.
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

    def __init__(self, seconds: float, calls: int) -> None:
        self._seconds = seconds
        self._calls = calls
        self._changed = time.monotonic()
        self._began: float | None = None
        self._area = 0.0
        self._now = 0
        self._most = 0
        self._requests = 0
        self._last = 0.0

    def told(self) -> dict[str, float]:
        """Return what was counted: `{requests, most, mean, seconds}`."""
        lasted = self._last - (self._began or self._last)
        mean = self._area / lasted if lasted else 0.0
        return {"requests": self._requests, "most": self._most, "mean": mean, "seconds": lasted}

    def _count(self, change: int) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = now
        self._area += self._now * (now - self._changed)
        self._changed = self._last = now
        self._now += change
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
                    self._requests += 1
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
def running(seconds: float, calls: int) -> Generator[str]:
    """Serve an endpoint in a process of its own, and yield its base URL."""
    command = [sys.executable, "-m", "benchmarks.endpoint", str(seconds), str(calls)]
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


async def _main(seconds: float, calls: int) -> None:
    endpoint = Endpoint(seconds, calls)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    # When the process that asks is gone, this one ends, too.
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]), int(sys.argv[2])))
