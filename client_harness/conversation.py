"""Who is to blame when a conversation does not come to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Agent, CanRemember, ProviderOutage, TurnResult
from client_harness.episode import Episode
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError


@dataclass(frozen=True)
class Outage:
    """How something other than the agent failed, which makes a trial unknown.

    `cause` is the same for all trials that failed in the same way. What is `lasting` does not pass
    by itself. `at_start` says that the agent had made no call and said nothing.
    """

    reason: str
    cause: str
    lasting: bool = False
    at_start: bool = False

    @classmethod
    def of(cls, problem: BaseException) -> Outage:
        """Return what an exception says."""
        named = f"{type(problem).__name__}: {problem}"
        if isinstance(problem, ProviderOutage):
            return cls(str(problem), problem.cause, problem.lasting)
        return cls(f"a bug in Haywire: {named}", type(problem).__name__)


class Guarded:
    """An agent whose crash ends its turn, as an error of its own.

    What a turn used that an outage cut short is added to `usage`.
    """

    def __init__(self, agent: Agent, usage: dict[str, float]) -> None:
        self._agent = agent
        self._usage = usage

    async def turn(self, text: str) -> TurnResult:
        """Return the agent's result, or an error if it crashed."""
        return await self._guarded(lambda: self._agent.turn(text))

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Hand the agent a past session, if it takes any."""
        agent = self._agent
        if not isinstance(agent, CanRemember):
            return TurnResult("")
        return await self._guarded(lambda: agent.remember(session, number, of))

    async def _guarded(self, act: Callable[[], Awaitable[TurnResult]]) -> TurnResult:
        try:
            return await act()
        except InputError:
            raise
        except ProviderOutage as outage:
            for name, amount in outage.usage.items():
                self._usage[name] = self._usage.get(name, 0) + amount
            raise
        except Exception as crash:
            return TurnResult("", "error", detail=crashed(crash))


def crashed(crash: Exception) -> str:
    """Return why a trial ended in which an agent of this process crashed."""
    return f"the agent crashed: {type(crash).__name__}: {crash}"


async def converse(episode: Episode, agent: Agent, *, by_session: bool = False) -> None:
    """Play an episode to its end with an agent that, if it is `by_session`, first gets the past so.

    Raises `ProviderOutage` and whatever else is nobody's mistake but ours.
    """
    past = by_session and isinstance(agent, CanRemember)
    if not isinstance(agent, ScriptAgent):
        guarded = Guarded(agent, episode.usage)
        if not past or await episode.hand_over(guarded):
            await episode.converse(guarded)
        return
    try:
        if not (by_session and isinstance(agent, CanRemember)) or await episode.hand_over(agent):
            await episode.converse(agent)
    except InputError as stuck:
        # Under a profile, a script may meet a reply that its own scenario never gives. That is the
        # script's failure, not Haywire's.
        failed(episode, f"the script cannot go on: {stuck}")


def failed(episode: Episode, reason: str) -> None:
    """End an episode with an error of its agent."""
    episode.status = "error"
    episode.finish("error", reason=reason)


def identity_of(agent: Agent) -> dict[str, str]:
    """Return the name and version that an agent says it has."""
    return dict(getattr(agent, "identity", {}))


def leaf(problem: BaseException) -> BaseException:
    """Return the exception inside nested groups.

    An `InputError` takes precedence over the first exception.
    """
    while isinstance(problem, BaseExceptionGroup):
        inner = [leaf(e) for e in problem.exceptions]
        problem = next((e for e in inner if isinstance(e, InputError)), inner[0])
    return problem
