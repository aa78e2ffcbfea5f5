"""Adapters: agents built with other frameworks, one folder each.

An adapter runs in its own process and environment. Its folder holds `adapter.yaml` (`about`,
`command`) and what the command runs. In the command, `{here}` is the folder and `{python}` is the
interpreter of the adapter's environment, which is built from its `requirements.lock` (see
`install`), or our own interpreter if there is no lock.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from client_harness.agents import process
from servers.kit.errors import InputError, UnknownName

if TYPE_CHECKING:
    from client_harness.contract import Agent, Assignment

HERE = Path(__file__).parent


@dataclass
class Adapter:
    """An adapter as an agent: the process agent with this folder's command."""

    name: str
    ABOUT: str
    parts: tuple[str, ...]

    @property
    def OPTIONS(self) -> tuple[str, ...]:  # noqa: N802
        """The options that the agent takes: those of every process, but its command stands."""
        return tuple(name for name in process.OPTIONS if name != "command")

    @property
    def folder(self) -> Path:
        """The folder with the adapter's files."""
        return HERE / self.name

    async def command(self) -> list[str]:
        """Return the command to start.

        Builds the adapter's environment first if it is missing or out of date.
        """
        from sys import executable

        import anyio.to_thread

        python = executable
        has_lock = (self.folder / "requirements.lock").exists()
        if has_lock and any("{python}" in part for part in self.parts):
            from client_harness.adapters.install import ensure

            python = str(await anyio.to_thread.run_sync(ensure, self.name))
        here = str(self.folder)
        return [part.replace("{here}", here).replace("{python}", python) for part in self.parts]

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Converse with the adapter's agent."""
        return self._life(given)

    @asynccontextmanager
    async def _life(self, given: Assignment) -> AsyncGenerator[Agent]:
        options = {**given.options, "command": await self.command()}
        async with process.agent(replace(given, options=options)) as agent:
            yield agent


@functools.cache
def adapters() -> tuple[str, ...]:
    """Return the names of the adapters."""
    return tuple(sorted(p.parent.name for p in HERE.glob("*/adapter.yaml")))


def adapter(name: str) -> Adapter:
    """Return an adapter by name.

    Raises `UnknownName`, and `InputError` for a malformed `adapter.yaml`.
    """
    from servers.kit.yaml import read

    if name not in adapters():
        raise UnknownName("adapter", name, adapters())
    path = HERE / name / "adapter.yaml"
    written = read(path)
    complete = isinstance(written, dict) and set(written) == {"about", "command"}
    if not complete or not isinstance(written["command"], list):
        raise InputError(
            f"{path}: must hold `about` (a line) and `command` (a list), and nothing else"
        )
    return Adapter(name, str(written["about"]), tuple(map(str, written["command"])))
