"""The contract between a run and an agent: assignments, conversations, results of turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from client_harness.telling import Told
from client_harness.terms import NO_TERMS, Terms

if TYPE_CHECKING:
    from client_harness.tools import Tools
    from scenarios.haystack.history import LivedSession
    from scenarios.model import Scenario


Delivery = Literal["context", "sessions"]
"""How agents get the past: as one context ahead of the first turn, or session by session."""


class ProviderOutage(Exception):
    """Something other than the agent failed: its model's provider, or Haywire itself.

    The trial is unknown and never scored. `cause` is the same text for all trials that failed in
    the same way. What is `lasting` will not pass by itself, such as a key that is missing. `usage`
    is what the turn had used by then.
    """

    def __init__(self, message: str, *, cause: str = "", lasting: bool = False) -> None:
        super().__init__(message)
        self.cause = cause or message
        self.lasting = lasting
        self.usage: dict[str, float] = {}


class AgentError(Exception):
    """The agent broke its contract, crashed or took too long before its first turn.

    The trial counts, and cannot be passed.
    """


@dataclass
class TurnResult:
    """The result of an agent's turn.

    `text` is for the user; `status` is done, limit (one that the agent has set itself), error, or
    late (it was out of time); `usage` is tokens, seconds and cost by name. `detail` says why a turn
    did not end with done. A trial that ends with error or late is an error of the agent.
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
    delivered one by one, `history` is empty and `to_remember` is their number. If a conversation
    has begun already, it is the last session of `history`, and `saved` holds for scripts what was
    saved in it. `told` is what the run tells its agents, and `terms` what it asks of them beyond
    that.

    Of an agent outside this process, `stderr` is the file that takes what it writes there, and
    `steps` the one that takes what it says at its steps, if they are to be kept. An agent that
    never lists tools again calls `lock`, so that services which are held back are listed from the
    start and refuse calls until they are disclosed. One that lists them when it is notified calls
    `hold`, so that it has the time to do so before it reads the reply.
    """

    tools: Tools
    history: list[LivedSession]
    scenario: Scenario
    options: dict[str, Any] = field(default_factory=dict)
    servers: Callable[[], Awaitable[list[dict[str, Any]]]] | None = None
    trial: str = ""
    to_remember: int = 0
    saved: dict[str, Any] = field(default_factory=dict)
    terms: Terms = NO_TERMS
    stderr: Path | None = None
    steps: Path | None = None
    told: Told = field(default_factory=Told)
    lock: Callable[[], None] = lambda: None
    hold: Callable[[], None] = lambda: None


class Agent(Protocol):
    """An agent in a conversation.

    It may have an `identity`, `{name, version, model}`, by which reports call it. It may also have
    `ask(question) -> str` (`judging.debrief.CanAnswer`), which answers a question after the last
    turn in a fork of the conversation, without tools, and `remember` (see `CanRemember`), which
    takes a past session.
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
    """The interface of a file of `agents/`, and of an adapter.

    It may also have `OPTIONS`, the names of the options that it takes (by default none),
    `check(options)`, which raises `InputError` for values that it cannot work with, and `TERMS`,
    which is true if it keeps to `Assignment.terms`.
    """

    ABOUT: str

    def agent(self, given: Assignment) -> AbstractAsyncContextManager[Agent]:
        """Return a context manager that yields the agent."""
        ...
