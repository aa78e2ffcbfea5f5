"""Whether the agents of a run can take the past session by session, and the terms of the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio

from client_harness.contract import Agent, AgentError, Assignment, CanRemember, ProviderOutage
from client_harness.episode import Episode
from client_harness.lookup import resolve
from client_harness.plan import RunRequest, options_of
from client_harness.terms import NO_TERMS, Terms, terms
from client_harness.tools import in_memory
from scenarios.model import Scenario
from servers.kit.errors import InputError


def check_delivery(
    agents: Iterable[str], options: dict[str, Any], scenarios: Iterable[Scenario]
) -> None:
    """Refuse agents that cannot take past sessions, and scenarios of which none has any.

    Each agent is started once. One that cannot be started passes, because its trials will say why.
    Raises `InputError`.
    """
    first = next((made for made in scenarios if made.history is not None), None)
    if first is None:
        raise InputError(
            "--deliver sessions: none of these scenarios has a history; "
            "give them one with --history, as in sessions=40,seed=3"
        )
    for name in agents:
        wrong = anyio.run(_problem, name, options, first, NO_TERMS, True)
        if wrong is not None:
            raise InputError(wrong)


def check_terms(request: RunRequest, scenarios: Iterable[Scenario]) -> None:
    """Refuse agents that cannot keep to the terms of a run, if it has any.

    Each agent is started once, as in `check_delivery`. Raises `InputError`.
    """
    told = terms(request.protocol, request.reasoning)
    first = next(iter(scenarios), None)
    if not told.given or first is None:
        return
    option = "--reasoning" if request.protocol == "own" else "--protocol published"
    for name in request.agents:
        if not getattr(resolve(name), "TERMS", False):
            raise InputError(
                f"agent {name}: it cannot be told how to play, as {option} wants; "
                "run a model, or an agent that takes terms"
            )
        in_sessions = request.deliver == "sessions"
        wrong = anyio.run(_problem, name, request.options, first, told, in_sessions)
        if wrong is not None:
            raise InputError(wrong)


async def _problem(
    name: str, options: dict[str, Any], scenario: Scenario, told: Terms, in_sessions: bool
) -> str | None:
    # No world is needed to begin a conversation, so the history is not lived for this.
    episode = Episode(scenario.model_copy(update={"history": None, "setup": []}))
    try:
        # What goes wrong is returned, because the client's task group would wrap it.
        async with in_memory(episode.session) as tools:
            own = options_of(name, options)
            given = Assignment(tools, [], scenario, own, _no_servers, terms=told)
            given.to_remember = int(in_sessions)
            try:
                async with resolve(name).agent(given) as agent:
                    return _forgets(name, agent) if in_sessions else None
            except (AgentError, ProviderOutage):
                return None
            except InputError as wrong:
                return str(wrong)
    finally:
        episode.close()


def _forgets(name: str, agent: Agent) -> str | None:
    if isinstance(agent, CanRemember):
        return None
    return (
        f"agent {name}: it cannot take past sessions one by one, "
        "because it has no method `remember`; use --deliver context"
    )


async def _no_servers() -> list[dict[str, Any]]:
    return []
