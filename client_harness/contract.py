"""The contract between a run and an agent: assignments, conversations, results of turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from client_harness.tools import Tools
    from scenarios.haystack.history import LivedSession
    from scenarios.model import Scenario


Delivery = Literal["context", "sessions"]
"""How agents get the past: as one context ahead of the first turn, or session by session."""


class ProviderOutage(Exception):
    """Something other than the agent failed: its model's provider, or the attempt to start it.

    The trial is unknown and never scored.
    """


@dataclass
class TurnResult:
    """The result of an agent's turn.

    `text` is for the user; `status` is done, limit or error; `usage` is tokens, seconds and cost by
    name. `detail` says why a turn did not end with done.
    """

    text: str
    status: str = "done"
    usage: dict[str, float] = field(default_factory=dict)
    detail: str = ""


@dataclass
class Assignment:
    """What an agent is given.

    It holds the tools, the history before the first turn, the options and, only for scripted
    agents, the scenario. `servers` is for agents outside this process: it starts the run's HTTP
    host if it is not up and returns `[{name, url, headers}]`. `trial` identifies the trial within
    the run, its arm included; a model's recorded answers are stored under it. If past sessions are
    delivered one by one, `history` is empty and `to_remember` is their number.
    """

    tools: Tools
    history: list[LivedSession]
    scenario: Scenario
    options: dict[str, Any] = field(default_factory=dict)
    servers: Callable[[], Awaitable[list[dict[str, Any]]]] | None = None
    trial: str = ""
    to_remember: int = 0


class Agent(Protocol):
    """An agent in a conversation.

    It may also have `ask(question) -> str` (`judging.debrief.CanAnswer`), which answers a question
    after the last turn in a fork of the conversation, without tools, and `remember` (see
    `CanRemember`), which takes a past session.
    """

    async def turn(self, text: str) -> TurnResult:
        """Answer one message of the user."""
        ...


@runtime_checkable
class CanRemember(Protocol):
    """An agent that takes past sessions one by one, ahead of a fresh conversation."""

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Take a past session, the `number`th `of` all, and keep of it what may be needed later.

        It is called for every session, oldest first and before the first turn, with no tools at
        hand. Each trial begins with an empty memory. Of the result, `status`, `detail` and `usage`
        count; the usage is reported apart from that of the turns.
        """
        ...


class AgentModule(Protocol):
    """The interface of a file of `agents/`, and of an adapter."""

    ABOUT: str

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Return a context manager that yields the agent."""
        ...
