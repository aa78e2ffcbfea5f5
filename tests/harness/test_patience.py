"""Deadlines and blame: what counts as an agent's time, and as an agent's failure."""

from __future__ import annotations

import time

import anyio
import anyio.lowlevel
import pytest

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Agent, Assignment, ProviderOutage, TurnResult
from client_harness.conversation import converse
from client_harness.episode import Episode
from client_harness.patience import Patience
from client_harness.tools import in_memory
from scenarios import load
from scenarios.script import Step
from servers.kit.events import end_of
from tests.commands import PAY
from tests.support import new_session

pytestmark = pytest.mark.anyio


async def forever() -> str:
    """Wait for what never comes."""
    await anyio.Event().wait()
    return "never"


async def test_the_time_of_an_agent_ends() -> None:
    patience = Patience(0.2)
    with pytest.raises(TimeoutError):
        await patience.limit(forever)
    with pytest.raises(TimeoutError):
        await patience.limit(forever)  # none is left, so it is not begun
    assert patience.left <= 0


async def test_time_in_which_this_process_was_busy_is_not_the_agents() -> None:
    async def answer() -> str:
        await anyio.lowlevel.checkpoint()
        busy_until = time.monotonic() + 1
        while time.monotonic() < busy_until:
            pass
        await anyio.lowlevel.checkpoint()
        return "here"

    patience = Patience(0.6)
    assert await patience.limit(answer) == "here"
    assert patience.left > 0.2


async def test_time_stands_still_in_a_pause_and_an_exception_passes_unwrapped() -> None:
    patience = Patience(0.2)

    async def fail() -> str:
        with patience.paused(), anyio.move_on_after(0.5):
            await forever()
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await patience.limit(fail)
    assert patience.left == 0.2


async def test_an_agent_asks_for_no_more_than_an_hour() -> None:
    patience = Patience(1)
    patience.forgive(-5)
    patience.forgive(3000)
    patience.forgive(3000)
    assert patience.left == 3601


class Crashing:
    """An agent that has a bug."""

    async def turn(self, text: str) -> TurnResult:
        """Fail."""
        raise KeyError("no such plan")


class Away:
    """An agent whose model cannot be reached after a while."""

    async def turn(self, text: str) -> TurnResult:
        """Fail, having used something."""
        outage = ProviderOutage("gone")
        outage.usage = {"prompt_tokens": 7}
        raise outage


async def played(agent: Agent) -> Episode:
    """Return an episode that an agent has played."""
    episode = Episode(load.load(PAY))
    try:
        await converse(episode, agent)
    except ProviderOutage:
        episode.status = "away"
    return episode


async def test_a_crash_is_the_agents_own_error_and_an_outage_is_not() -> None:
    episode = await played(Crashing())
    end = end_of(episode.session.trace())
    assert end is not None and (episode.status, end.status) == ("error", "error")
    assert end.reason == "the agent crashed: KeyError: 'no such plan'"
    episode.close()
    episode = await played(Away())
    assert (episode.status, episode.usage) == ("away", {"prompt_tokens": 7})
    episode.close()


async def test_a_script_that_cannot_go_on_is_an_error() -> None:
    episode = Episode(load.load(PAY))
    async with in_memory(episode.session) as tools:
        given = Assignment(tools, [], episode.scenario)
        await converse(episode, ScriptAgent(given, [Step(say="${nothing.here}")]))
    assert episode.status == "error"
    episode.close()


async def test_a_way_to_the_services_that_is_broken_is_our_failure() -> None:
    async with in_memory(new_session("clock")) as tools:
        assert not (await tools.call("clock", "get_time", {}))[1]
    with pytest.raises(ProviderOutage, match="a bug in Haywire: clock__get_time: "):
        await tools.call("clock", "get_time", {})
