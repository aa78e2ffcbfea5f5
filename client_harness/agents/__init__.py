"""Agents. One file an agent, named after it, with `ABOUT` (a line for lists) and `agent(given)`; the folder is the registry.

`agent` takes an `Assignment` and returns an async context manager that yields the `Agent`: entered before the first turn, left after
the last. In-process agents act through `Tools`, a client of the episode's MCP server in memory; the others get `servers` over HTTP.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from servers.kit.errors import UnknownName

if TYPE_CHECKING:
    from client_harness.tools import Tools
    from scenarios.model import Scenario


class ProviderOutage(Exception):
    """Something between us and the agent failed (its model's provider, its start), not the agent: the trial is unknown, never scored."""


@dataclass
class TurnResult:
    """What an agent's turn came to: the text for the user, `status` (done, limit, error) and usage (tokens, seconds, cost by name).

    `detail` says why a turn did not end as done.
    """

    text: str
    status: str = "done"
    usage: dict[str, float] = field(default_factory=dict)
    detail: str = ""


@dataclass
class Assignment:
    """What an agent is given: its tools, the history before the first turn, options, and — for scripted agents alone — the scenario.

    `servers` is for agents outside the process: it starts the run's HTTP host where it is not up and returns `[{name, url, headers}]`.
    `trial` names the trial among all of a run, setting included; a model's recorded answers are kept under it.
    """

    tools: Tools
    history: list[dict[str, Any]]
    scenario: Scenario
    options: dict[str, Any] = field(default_factory=dict)
    servers: Callable[[], Awaitable[list[dict[str, Any]]]] | None = None
    trial: str = ""


class Agent(Protocol):
    """An agent in a conversation."""

    async def turn(self, text: str) -> TurnResult:
        """Answer one text of the user."""
        ...


class AgentModule(Protocol):
    """What a file of this folder holds."""

    ABOUT: str

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Return the agent's life."""
        ...


@functools.cache
def agents() -> tuple[str, ...]:
    """Return the names of the built-in agents."""
    return tuple(
        sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    )


def agent(name: str) -> AgentModule:
    """Return a built-in agent by name. Raises `UnknownName`."""
    if name not in agents():
        raise UnknownName("agent", name, agents())
    return cast(AgentModule, importlib.import_module(f"{__name__}.{name}"))


def resolve(name: str) -> AgentModule:
    """Return a built-in agent, else an adapter's, by name. Raises `UnknownName` over both."""
    if name in agents():
        return agent(name)
    from client_harness.adapters import adapter, adapters

    if name in adapters():
        return adapter(name)
    raise UnknownName("agent", name, (*agents(), *adapters()))
