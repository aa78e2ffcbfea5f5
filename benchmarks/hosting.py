"""Opening all services in memory, and the memory of one HTTP process with a thousand episodes.

Run as a module, it is that process and prints its peak memory: `python -m benchmarks.hosting
EPISODES WRITERS`.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time

import anyio

from benchmarks.timing import Row
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.mcp import make_server
from servers.kit.service import services
from servers.kit.session import Session
from servers.kit.values import parse_time

WORLD = "maya"
EPISODES = 1_000
WRITERS = 100


def measure() -> list[Row]:
    """Return the rows for hosting.

    Each figure comes from a separate process, so that none inherits what another has built.
    """
    opened = json.loads(_alone("open"))
    small = json.loads(_alone("1", "0"))
    large = json.loads(_alone(str(EPISODES), str(WRITERS)))
    count = f"{opened['servers']} servers, {opened['tools']} tools"
    return [
        Row(
            f"open in memory, list, close: {count}",
            f"{opened['again']:.0f} ms",
            f"first in its process {opened['first']:.0f} ms",
            f"{opened['again'] / opened['first']:.2f}",
            "< 100 ms",
        ),
        Row(
            f"one HTTP process, {EPISODES} episodes, {WRITERS} wrote",
            f"{large['megabytes']:.0f} MB",
            f"1 episode {small['megabytes']:.0f} MB",
            f"{large['megabytes'] / small['megabytes']:.1f}",
            "< 600 MB",
        ),
    ]


def _alone(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.hosting", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _session(seed: int = 0) -> Session:
    control = Control(parse_time(build.person(WORLD)["start"]), seed)
    return Session(tuple(services()), build.shared(WORLD).share(), control)


async def open_all() -> int:
    """Open a server for each service in memory, list its tools through a client, and close it.

    Return the number of tools.
    """
    from mcp import Client

    session = _session()
    listed = 0
    for name in session.classes:
        async with Client(make_server(lambda ctx: session, name, name)) as client:
            listed += len((await client.list_tools()).tools)
    return listed


async def _opening() -> dict[str, float]:
    build.shared(WORLD)
    times = []
    for _ in range(12):
        begun = time.perf_counter()
        tools = await open_all()
        times.append((time.perf_counter() - begun) * 1000)
    return {
        "servers": len(services()),
        "tools": tools,
        "first": times[0],
        "again": statistics.median(times[1:]),
    }


async def _keeping(episodes: int, writers: int) -> dict[str, float]:
    """Serve episodes over HTTP, call each once, and return the peak of memory.

    The calls of the first `writers` episodes write, so that those episodes copy their worlds.
    """
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    from servers.kit.app import Episodes, make_app, run_app

    known = Episodes()
    sessions = {f"e{number}": _session(number) for number in range(episodes)}
    for name, session in sessions.items():
        known.add(name, session)
    async with run_app(make_app(known)) as port, httpx2.AsyncClient() as web:
        for number, name in enumerate(sessions):
            service = "venmo"
            tool = "add_friend"
            args = {"name": f"Friend {number}", "username": f"friend-{number}"}
            if number >= writers:
                service = "gmail"
                tool = "list_emails"
                args = {"max_results": 5}
            url = f"http://127.0.0.1:{port}/{name}/{service}/mcp"
            async with Client(streamable_http_client(url, http_client=web)) as client:
                assert not (await client.call_tool(tool, args)).is_error
    copied = [session for session in sessions.values() if not session.world.shared]
    assert len(copied) == writers
    # macOS reports bytes, other systems report kibibytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"megabytes": peak / 1e6}


if __name__ == "__main__":
    if sys.argv[1] == "open":
        print(json.dumps(anyio.run(_opening)))
    else:
        print(json.dumps(anyio.run(_keeping, int(sys.argv[1]), int(sys.argv[2]))))
