"""Starting: the command's help, and a stdio server until its tools are listed, against a bare
interpreter.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from benchmarks.timing import Row

COMMAND = str(Path(sys.executable).with_name("client_harness"))


def _timed(run: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def measure() -> list[Row]:
    """Return the rows for start-up."""
    bare = _timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 9)
    rows = []
    helped = _timed(
        lambda: subprocess.run([COMMAND, "--help"], check=True, stdout=subprocess.DEVNULL), 9
    )
    rows.append(
        Row(
            "client_harness --help",
            f"{helped:.3f} s",
            f"python -c pass {bare:.3f} s",
            f"{helped / bare:.1f}",
            "< 0.3 s",
        )
    )
    listed = _timed(lambda: anyio.run(_stdio), 5)
    rows.append(
        Row(
            "stdio: spawn to tools/list",
            f"{listed:.3f} s",
            f"python -c pass {bare:.3f} s",
            f"{listed / bare:.1f}",
            "< 1 s",
        )
    )
    return rows


async def _stdio() -> None:
    from mcp import Client, StdioServerParameters

    async with Client(
        StdioServerParameters(
            command=COMMAND, args=["serve", "--services", "venmo,zelle", "--stdio"]
        )
    ) as client:
        assert (await client.list_tools()).tools
