"""Start-up: the command's help, and a stdio server until its tools are listed.

Both are compared with a bare interpreter.
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
    bare = _timed(lambda: _run(sys.executable, "-c", "pass"), 9)
    helped = _timed(lambda: _run(COMMAND, "--help"), 9)
    listed = _timed(lambda: anyio.run(_stdio), 5)
    return [
        _row("client_harness --help", helped, bare, "< 0.3 s"),
        _row("stdio: spawn to tools/list", listed, bare, "< 1 s"),
    ]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _row(what: str, seconds: float, bare: float, aim: str) -> Row:
    ratio = f"{seconds / bare:.1f}"
    return Row(what, f"{seconds:.3f} s", f"python -c pass {bare:.3f} s", ratio, aim)


async def _stdio() -> None:
    from mcp import Client, StdioServerParameters

    arguments = ["serve", "--services", "venmo,zelle", "--stdio"]
    async with Client(StdioServerParameters(command=COMMAND, args=arguments)) as client:
        assert (await client.list_tools()).tools
