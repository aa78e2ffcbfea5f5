"""Adapters: agents built with other frameworks, one folder each.

An adapter runs in its own process and environment. Its folder holds `adapter.yaml` (see `About`)
and what its command runs. In the command, `{here}` is the folder, `{python}` the interpreter of the
adapter's environment (see `install`) or our own if there is no lock, `{node}` the Node that it
asked for, and `{env}` the folder of its environment. `haywire_agent` can be imported by it.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from client_harness.adapters.runtimes import bounds
from client_harness.agents import process
from client_harness.agents._spoken import HistoryForm, Refresh
from client_harness.telling import Instructions
from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError, UnknownName

if TYPE_CHECKING:
    from client_harness.contract import Agent, Assignment

HERE = Path(__file__).parent


def _version(wanted: str) -> str:
    bounds(wanted)
    return wanted


def _setting(name: str) -> str:
    if name not in process.SETTINGS:
        raise ValueError(f"{name!r} is no option; there are {', '.join(process.SETTINGS)}")
    return name


Version = Annotated[str, AfterValidator(_version)]


class About(Declared):
    """An `adapter.yaml`.

    `python` and `node` are the versions that the adapter needs, as in `>=3.10`. `options` are those
    that it takes. The others say what it does: the form of `history` that it asks for, when it
    lists tools again (`tool_refresh`), what it does with `instructions`, whether it `remembers`
    past sessions that come one by one, whether it keeps to `terms`, and whether it numbers its
    `steps`. `cannot` tells people what will not be measured with it.
    """

    about: str
    command: Annotated[list[str], Field(min_length=1)]
    python: Version | None = None
    node: Version | None = None
    options: list[Annotated[str, AfterValidator(_setting)]] = list(process.SETTINGS)
    history: HistoryForm = "messages"
    tool_refresh: Refresh = "call"
    instructions: Instructions = "message"
    remembers: bool = False
    terms: bool = False
    steps: bool = False
    cannot: list[str] = []

    @property
    def declared(self) -> dict[str, Any]:
        """What the adapter's process need not say itself."""
        names = [
            "options",
            "history",
            "tool_refresh",
            "instructions",
            "remembers",
            "terms",
            "steps",
        ]
        return {name: getattr(self, name) for name in names}


@dataclass
class Adapter:
    """An adapter as an agent: the process agent with this folder's command."""

    TERMS: ClassVar[bool] = True

    name: str
    about: About
    ABOUT: str

    @property
    def OPTIONS(self) -> tuple[str, ...]:  # noqa: N802
        """The options that the agent takes: its own, and how long a turn may take."""
        return ("turn_seconds", *self.about.options)

    @property
    def folder(self) -> Path:
        """The folder with the adapter's files."""
        return HERE / self.name

    def check(self, options: dict[str, Any]) -> None:
        """Raise `InputError` for options that it cannot work with."""
        process.check_settings(self.name, options)

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Converse with the adapter's agent, whose environment is built first if necessary."""
        return self._life(given)

    @asynccontextmanager
    async def _life(self, given: Assignment) -> AsyncGenerator[Agent]:
        import anyio.to_thread

        from client_harness.adapters.install import command_of

        command, variables = await anyio.to_thread.run_sync(command_of, self)
        async with process.conversing(given, command, variables, self.about.declared) as agent:
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
    if not isinstance(written, dict):
        raise InputError(f"{path}: must hold at least `about` (a line) and `command` (a list)")
    about = validated(About, written, str(path))
    return Adapter(name, about, about.about)
