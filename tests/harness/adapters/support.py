"""Adapters in their own environments, on real MCP over HTTP and a scripted model."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, cast

from client_harness.adapters import About, adapter
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from client_harness.lookup import resolve
from client_harness.telling import Told
from client_harness.terms import NO_TERMS, Terms
from client_harness.tools import in_memory
from scenarios.haystack.history import LivedSession
from servers.kit.app import Episodes, make_app, run_app
from servers.kit.events import Attempt
from servers.kit.session import Session
from tests.harness.fake_endpoint import Endpoint, Script, playing
from tests.harness.wires import Wire
from tests.harness.wires.chat import Chat


@dataclass(frozen=True)
class Subject:
    """An adapter under test.

    `wire` is what its model speaks, `tool` how it calls a service's tool to the model, `options`
    what it needs beside the address of the endpoint, and `tells_waits` whether it says how long it
    waits for a busy provider.
    """

    name: str
    wire: Wire = field(default_factory=Chat)
    tool: str = "{service}__{tool}"
    model: str = "openai/scripted"
    options: dict[str, Any] = field(default_factory=dict)
    tells_waits: bool = True

    @property
    def about(self) -> About:
        """What its adapter.yaml declares."""
        return adapter(self.name).about

    def named(self, tool: str) -> str:
        """Return the name of a tool for the model; `tool` is as in `clock.get_time`."""
        service, _, own = tool.partition(".")
        return self.tool.format(service=service, tool=own)

    def reached(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the options with which it reaches a scripted model."""
        return {"model": self.model, "api_base": endpoint.url, **self.options}


@contextlib.asynccontextmanager
async def talking(
    subject: Subject,
    session: Session,
    endpoint: Endpoint,
    history: list[LivedSession],
    *,
    to_remember: int = 0,
    terms: Terms = NO_TERMS,
    told: Told | None = None,
    **options: Any,
) -> AsyncGenerator[Any]:
    """Yield the adapter's agent on a session that is served over HTTP, behind a token."""
    episodes = Episodes()
    episodes.add("e1", session, "secret")

    def lock() -> None:
        session.locked = True

    async with run_app(make_app(episodes)) as port:

        async def servers() -> list[dict[str, Any]]:
            headers = {"Authorization": "Bearer secret"}
            return [
                {"name": s, "url": f"http://127.0.0.1:{port}/e1/{s}/mcp", "headers": headers}
                for s in session.classes
            ]

        options = {**subject.reached(endpoint), **options}
        async with in_memory(session) as tools:
            given = Assignment(tools, history, cast(Any, None), options, servers)
            given.to_remember = to_remember
            given.terms = terms
            given.told = told or Told()
            given.lock = lock
            given.hold = session.hold_replies
            async with resolve(subject.name).agent(given) as made:
                yield made


async def converse(
    subject: Subject, script: Script, session: Session, *texts: str, **options: Any
) -> tuple[list[TurnResult], Endpoint]:
    """Send messages to a scripted model behind the adapter."""
    problem = None
    history = options.pop("history", [])
    async with (
        playing(script, subject.wire) as endpoint,
        talking(subject, session, endpoint, history, **options) as made,
    ):
        try:
            return [await made.turn(text) for text in texts], endpoint
        except ProviderOutage as outage:
            problem = outage
    raise problem


def attempts(session: Session) -> list[Attempt]:
    """Return the calls that a session has recorded."""
    return [event for event in session.trace() if isinstance(event, Attempt)]
