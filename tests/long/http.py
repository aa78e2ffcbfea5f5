"""Serve a thousand HTTP clients under mixed faults for minutes, and watch the server's memory.

`python -m tests.long.http --clients 1000 --minutes 10` starts the server as a process of its own.
Each client plays one episode after another: it connects, makes some calls under the faults of a
profile, and leaves, now and then without saying so. Memory is printed every half minute; it
counts as flat if the second half of the time needs at most a tenth more than the first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import anyio
import anyio.abc

from fault_profiles.profiles import profile, profiles
from scenarios.worlds import build
from servers.kit.app import make_app, run_app
from servers.kit.control import Control
from servers.kit.examples import owners
from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.support import TOOLS

SERVICES = ("gmail", "venmo", "amazon", "uber", "spotify", "google_calendar")
CALLS = 20
"""Calls in one episode."""
LEFT_OPEN = 0.1
"""Share of episodes whose client goes without ending its MCP session."""
IDLE = 60.0
"""Seconds after which the server ends such a session."""
PAUSE = 8.0
"""Most seconds between two calls of a client."""


class Host:
    """Starts an episode, named `client-number`, when its first request comes in."""

    def __init__(self) -> None:
        self._playing: dict[str, tuple[str, Session]] = {}

    def session(self, episode: str, token: str | None) -> Session | None:
        """See `servers.kit.app.Host`."""
        client, _, number = episode.partition("-")
        known = self._playing.get(client)
        if known is not None and known[0] == number:
            return known[1]
        if known is not None:
            known[1].world.close()
            known[1].control.close()
        names = build.names()
        who = names[int(number) % len(names)]
        kind = profiles()[int(number) % len(profiles())]
        world = build.shared(who, SERVICES).share()
        start = parse_time(build.person(who)["start"])
        session = Session(SERVICES, world, Control(start, int(number)), faults=profile(kind).faults)
        self._playing[client] = number, session
        return session


async def serve() -> None:
    """Serve until the standard input closes; the first line of output is the port."""
    for who in build.names():
        build.shared(who, SERVICES)
    async with run_app(make_app(Host(), idle=IDLE)) as port:
        print(port, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


async def example_calls() -> list[tuple[str, str, dict[str, object]]]:
    """Return example calls of the services that need no set-up."""
    made = []
    for cls, spec in TOOLS:
        if cls.name in SERVICES and not spec.setup and owners(cls, spec) == (cls.name,):
            made.append((cls.name, spec.name, spec.example))
    return made


async def client(number: int, port: int, until: float, counted: Counter[str]) -> None:
    """Play episode after episode until the time is up."""
    rng = Random(number)
    calls = await example_calls()
    played = 0
    await anyio.sleep(rng.random() * 20)
    while time.monotonic() < until:
        played += 1
        service = rng.choice(SERVICES)
        own = [(tool, args) for name, tool, args in calls if name == service]
        url = f"http://127.0.0.1:{port}/c{number}-{played}/{service}/mcp"
        try:
            await episode(url, own, rng, counted)
            counted["episodes"] += 1
        except Exception as error:
            # A fault may cut the connection for good.
            counted[f"episodes ended by {type(error).__name__}"] += 1


async def episode(
    url: str, calls: list[tuple[str, dict[str, object]]], rng: Random, counted: Counter[str]
) -> None:
    """Connect, call, and leave."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    leaves_open = rng.random() < LEFT_OPEN
    async with httpx2.AsyncClient(timeout=30) as web:
        transport = streamable_http_client(url, http_client=web, terminate_on_close=not leaves_open)
        async with Client(transport) as session:
            for _ in range(CALLS):
                tool, args = rng.choice(calls)
                try:
                    with anyio.fail_after(20):
                        reply = await session.call_tool(tool, args)
                    counted["refused" if reply.is_error else "answered"] += 1
                except Exception as error:
                    # A fault may answer with a broken response, or never.
                    counted[type(error).__name__] += 1
                await anyio.sleep(rng.random() * PAUSE)


def megabytes(process: int) -> float:
    """Return the memory that a process holds now (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def watch(process: int, until: float, counted: Counter[str], seen: list[float]) -> None:
    """Print the server's memory every half minute."""
    begun = time.monotonic()
    while time.monotonic() < until:
        await anyio.sleep(30)
        seen.append(megabytes(process))
        minutes = (time.monotonic() - begun) / 60
        print(f"{minutes:5.1f} min  {seen[-1]:6.0f} MB  {dict(counted)}", flush=True)


async def run(clients: int, minutes: float) -> None:
    command = [sys.executable, "-m", "tests.long.http", "--serve"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        port = int(server.stdout.readline())
        until = time.monotonic() + minutes * 60
        counted: Counter[str] = Counter()
        seen: list[float] = []
        async with anyio.create_task_group() as group:
            group.start_soon(watch, server.pid, until, counted, seen)
            for number in range(clients):
                group.start_soon(client, number, port, until, counted)
        server.stdin.close()
    half = len(seen) // 2
    early = max(seen[1:half])
    late = max(seen[half:])
    verdict = "flat" if late <= 1.1 * early else "growing"
    print(f"{verdict}: at most {early:.0f} MB in the first half, {late:.0f} MB in the second")
    sys.exit(verdict != "flat")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        anyio.run(serve)
    else:
        anyio.run(run, given.clients, given.minutes)


if __name__ == "__main__":
    main()
