"""Whether the agents of a run can take the past session by session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio

from client_harness.contract import AgentError, Assignment, CanRemember, ProviderOutage
from client_harness.episode import Episode
from client_harness.lookup import resolve
from client_harness.plan import options_of
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
        wrong = anyio.run(_problem, name, options, first)
        if wrong is not None:
            raise InputError(wrong)


async def _problem(name: str, options: dict[str, Any], scenario: Scenario) -> str | None:
    # No world is needed to begin a conversation, so the history is not lived for this.
    episode = Episode(scenario.model_copy(update={"history": None, "setup": []}))
    try:
        # What goes wrong is returned, because the client's task group would wrap it.
        async with in_memory(episode.session) as tools:
            own = options_of(name, options)
            given = Assignment(tools, [], scenario, own, _no_servers, to_remember=1)
            try:
                async with resolve(name).agent(given) as agent:
                    if isinstance(agent, CanRemember):
                        return None
                    return (
                        f"agent {name}: it cannot take past sessions one by one, "
                        "because it has no method `remember`; use --deliver context"
                    )
            except (AgentError, ProviderOutage):
                return None
            except InputError as wrong:
                return str(wrong)
    finally:
        episode.close()


async def _no_servers() -> list[dict[str, Any]]:
    return []
