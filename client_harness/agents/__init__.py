"""Agents, one file each; the folder is the registry.

A file is named after its agent and has `ABOUT` (a line for lists) and `agent(given)`. `agent` takes
an `Assignment` and returns an async context manager that yields the `Agent`; it is entered before
the first turn and left after the last. Agents in this process act through `Tools`, an in-memory
client of the episode's MCP server; the others get `servers` over HTTP.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import cast

from client_harness.contract import AgentModule
from servers.kit.errors import UnknownName


@functools.cache
def agents() -> tuple[str, ...]:
    """Return the names of the built-in agents."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return tuple(sorted(name for name in names if not name.startswith("_")))


def agent(name: str) -> AgentModule:
    """Return a built-in agent by name. Raises `UnknownName`."""
    if name not in agents():
        raise UnknownName("agent", name, agents())
    return cast(AgentModule, importlib.import_module(f"{__name__}.{name}"))
