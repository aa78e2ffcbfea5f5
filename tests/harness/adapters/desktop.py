"""A product at somebody's desk: its own configuration, one line as the prompt, a scripted model.

The model is a test that calls tools as if it were a client, so that a script of a scenario can be
played through whatever stands between: the product asks the endpoint, the endpoint asks the test.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio

from client_harness.adapters import install
from client_harness.episode_server import OPENING
from tests.commands import ROOT
from tests.harness.adapters.careful import object_in
from tests.harness.fake_endpoint import Step, call, playing, say
from tests.harness.wires import Wire

PATIENCE = 400
"""Seconds for everything: products start slowly on a busy machine."""

SEARCH = "ToolSearch"
"""What Claude Code calls its search."""
FIRST = ("episode__start", "episode__next_turn", "episode__submit")


@dataclass(frozen=True)
class Product:
    """A product: the adapter whose environment has it, and how a person starts it on one line.

    `client` is what `connect` calls it. `set_up` writes what a person has configured before, into a
    home. `variables` are those that reach a scripted model at a URL.
    """

    adapter: str
    client: str
    wire: Wire
    command: tuple[str, ...]
    variables: Callable[[str], dict[str, str]]
    set_up: Callable[[Path, str], None] = field(default=lambda home, url: None)

    @property
    def programs(self) -> Path:
        """Where npm has put its program."""
        return install.HOME / self.adapter / "node_modules" / ".bin"


class Model:
    """Hands each request of a product to a test, which acts as if it were an MCP client."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.offered: set[str] = set()
        self._asking: Any
        self._asked: Any
        self._asking, self._asked = anyio.create_memory_object_stream(0)
        self._answering: Any
        self._answers: Any
        self._answering, self._answers = anyio.create_memory_object_stream(0)

    async def answer(self, body: dict[str, Any], number: int) -> Step:
        """Answer a request; those that are no part of the conversation offer no tools of ours.

        A product may hide its tools behind a search, also while the server is still starting.
        """
        offered = self.wire.offered(body)
        if not any(name.endswith("__start") for name in offered):
            return _searches(*FIRST) if SEARCH in offered else say("Good.")
        await self._asking.send(body)
        return await self._answers.receive()

    def close(self) -> None:
        """Close the streams between the endpoint and the test."""
        for stream in (self._asking, self._asked, self._answering, self._answers):
            stream.close()

    async def begin(self) -> None:
        """Wait for the first request."""
        await self._next()

    async def end(self) -> None:
        """Say the last word."""
        await self._answering.send(say("It is over."))

    async def list_tools(self) -> Any:
        """Return the tools of the latest request, as a client would."""
        return SimpleNamespace(tools=[SimpleNamespace(name=name) for name in sorted(self.offered)])

    async def call_tool(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool by its name here or in the product, and return its result."""
        named = self._named(name)
        if not named and SEARCH in self.offered:
            await self._answering.send(_searches(name))
            await self._next()
            named = self._named(name)
        assert len(named) == 1, (name, sorted(self.offered))
        await self._answering.send(call(named[0], **args))
        body = await self._next()
        line = [line for line in self.wire.lines(body) if line.role == "result"][-1]
        assert line.of == named[0], line
        found, text = object_in(line.text)
        assert found is not None, line
        return SimpleNamespace(content=[SimpleNamespace(text=text)], is_error="error" in found)

    def _named(self, name: str) -> list[str]:
        return [own for own in self.offered if f"_{own}".endswith(f"_{name}")]

    async def _next(self) -> dict[str, Any]:
        body = await self._asked.receive()
        self.offered = self.wire.offered(body)
        return body


def _searches(*names: str) -> Step:
    wanted = ",".join(f"mcp__haywire__{name}" for name in names)
    return call(SEARCH, query=f"select:{wanted}", max_results=10)


@contextlib.asynccontextmanager
async def at_a_desk(product: Product, scenario: str, home: Path) -> AsyncGenerator[Model]:
    """Connect a product in a home of its own, paste the one line, and yield its model.

    The product must end well when the model has said its last word. Traces are in `home/traces`.
    """
    work = home / "work"
    work.mkdir(parents=True)
    model = Model(product.wire)
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(model.close)
        endpoint = await stack.enter_async_context(playing(model.answer, product.wire))
        variables = {"HOME": str(home), "PATH": f"{product.programs}{os.pathsep}{_path()}"}
        product.set_up(home, endpoint.url)
        await _connect(product, scenario, home, variables)
        variables |= product.variables(endpoint.url)
        command = [part.replace("{opening}", OPENING) for part in product.command]
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(_run, command, work, variables)
                await model.begin()
                yield model
                await model.end()


async def _connect(product: Product, scenario: str, home: Path, variables: dict[str, str]) -> None:
    line = [sys.executable, "-m", "client_harness", "connect", product.client, scenario]
    line += ["--episode", "--traces", str(home / "traces"), "--write"]
    env = {**variables, "PYTHONPATH": str(ROOT)}
    await anyio.run_process(line, cwd=home / "work", env=env)


async def _run(command: list[str], folder: Path, variables: dict[str, str]) -> None:
    """Run a product to its end."""
    done = await anyio.run_process(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        check=False,
    )
    told = done.stdout.decode()
    if done.returncode != 0 or "It is over." not in told:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {told[-3000:]}")


def _path() -> str:
    return os.environ.get("PATH", os.defpath)
