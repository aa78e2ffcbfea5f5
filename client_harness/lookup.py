"""Finds agents by name, both built-in ones and adapters."""

from __future__ import annotations

from client_harness.adapters import adapter, adapters
from client_harness.agents import agent, agents
from client_harness.chosen import name_of
from client_harness.contract import AgentModule
from servers.kit.errors import UnknownName


def resolve(key: str) -> AgentModule:
    """Return a built-in agent or an adapter by its name or its key in a run (see `chosen`).

    Raises `UnknownName`.
    """
    name = name_of(key)
    if name in agents():
        return agent(name)
    if name in adapters():
        return adapter(name)
    raise UnknownName("agent", name, (*agents(), *adapters()))
