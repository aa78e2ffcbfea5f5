"""Agents. One file an agent, named after it, with `ABOUT` (a line for lists) and `agent(given)`; the folder is the registry.

`agent` takes an `Assignment` and returns an async context manager that yields the `Agent`: entered before the first turn, left after
the last. In-process agents act through `Tools`, a client of the episode's MCP server in memory.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from servers.kit.errors import UnknownName

if TYPE_CHECKING:
    from client_harness.tools import Tools
    from scenarios.model import Scenario


@dataclass
class TurnResult:
    """What an agent's turn came to: the text for the user, `status` (done, limit, error) and usage (tokens, seconds, cost by name)."""

    text: str
    status: str = "done"
    usage: dict[str, float] = field(default_factory=dict)


@dataclass
class Assignment:
    """What an agent is given: its tools, the history before the first turn, options, and — for scripted agents alone — the scenario."""

    tools: Tools
    history: list[dict[str, Any]]
    scenario: Scenario
    options: dict[str, Any] = field(default_factory=dict)


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
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def agent(name: str) -> AgentModule:
    """Return a built-in agent by name. Raises `UnknownName`."""
    if name not in agents():
        raise UnknownName("agent", name, agents())
    return cast(AgentModule, importlib.import_module(f"{__name__}.{name}"))
