"""What a run and an agent owe each other: an assignment, a conversation, results of turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from client_harness.tools import Tools
    from scenarios.haystack.history import LivedSession
    from scenarios.model import Scenario


class ProviderOutage(Exception):
    """Something between us and the agent failed (its model's provider, its start), not the agent:
    the trial is unknown, never scored.
    """


@dataclass
class TurnResult:
    """What an agent's turn came to: the text for the user, `status` (done, limit, error) and usage
    (tokens, seconds, cost by name).

    `detail` says why a turn did not end as done.
    """

    text: str
    status: str = "done"
    usage: dict[str, float] = field(default_factory=dict)
    detail: str = ""


@dataclass
class Assignment:
    """What an agent is given: its tools, the history before the first turn, options, and — for
    scripted agents alone — the scenario.

    `servers` is for agents outside the process: it starts the run's HTTP host where it is not up
    and returns `[{name, url, headers}]`. `trial` names the trial among all of a run, setting
    included; a model's recorded answers are kept under it.
    """

    tools: Tools
    history: list[LivedSession]
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
    """What a file of `agents/`, and an adapter, offers."""

    ABOUT: str

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Return the agent's life."""
        ...
