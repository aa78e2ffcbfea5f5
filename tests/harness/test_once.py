"""What a run does once: plays of the oracle, listings of tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from client_harness.expected import Known, expected
from client_harness.once import Once
from client_harness.run import RunRequest, start
from client_harness.tools import in_memory
from judge.change import Expected
from scenarios.load import load
from tests.commands import PAY, RENT
from tests.support import new_session


@pytest.mark.anyio
async def test_who_asks_at_the_same_time_waits_for_the_first() -> None:
    computed: list[str] = []
    got: list[int] = []
    once: Once[str, int] = Once()

    async def ask(key: str) -> None:
        async def make() -> int:
            computed.append(key)
            await anyio.lowlevel.checkpoint()
            return len(computed)

        got.append(await once.get(key, make))

    async with anyio.create_task_group() as tasks:
        for key in "aabab":
            tasks.start_soon(ask, key)
    assert sorted(computed) == ["a", "b"] and len(got) == 5
    await ask("a")
    assert sorted(computed) == ["a", "b"]


@pytest.mark.anyio
async def test_after_a_failure_the_next_computes() -> None:
    once: Once[str, int] = Once()

    async def fail() -> int:
        raise ValueError("not yet")

    async def make() -> int:
        return 7

    with pytest.raises(ValueError, match="not yet"):
        await once.get("a", fail)
    assert await once.get("a", make) == 7


@pytest.mark.anyio
async def test_right_runs_are_played_once_for_trials_at_the_same_time() -> None:
    scenario = load(PAY)
    known = Known()
    found: list[Expected] = []

    async def ask() -> None:
        found.append(await expected(scenario, known))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(ask)
    assert len({id(made) for made in found}) == 1


def test_people_who_answer_otherwise_under_another_seed_make_no_run_wrong(tmp_path: Path) -> None:
    request = RunRequest(["hazards/cascade/cabin_food_split"], ["oracle"], trials=3)
    begun = start(request, tmp_path)
    begun.finish()
    made = [trial.verdicts["base"]["value"] for trial in begun.results.trials()]
    assert made == ["pass"] * 3


def test_the_traces_do_not_depend_on_how_many_trials_run_at_once(tmp_path: Path) -> None:
    kept = []
    for jobs in (1, 4):
        home = tmp_path / str(jobs)
        request = RunRequest([PAY, RENT], ["oracle", "naive"], clean=True, trials=2, jobs=jobs)
        begun = start(request, home)
        begun.finish()
        traces = {path.relative_to(home): path.read_bytes() for path in home.rglob("*.jsonl")}
        kept.append((traces, begun.results.trials()))
    assert kept[0] == kept[1] and len(kept[0][0]) == 16


class _Counting:
    """A client that counts how often it lists tools."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.listings = 0

    async def list_tools(self, **given: Any) -> Any:
        self.listings += 1
        return await self._client.list_tools(**given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


@pytest.mark.anyio
async def test_tools_are_listed_again_only_if_others_are_offered() -> None:
    session = new_session("clock", "venmo", hidden=["venmo"])
    async with in_memory(session) as tools:
        client = _Counting(tools._client)
        tools._client = client
        first = await tools.list_tools()
        await tools.call("clock", "get_time", {})
        assert await tools.list_tools() == first and client.listings == 1
        session.disclose("venmo")
        later = await tools.list_tools()
        assert len(later) > len(first) and client.listings == 2
        assert await tools.list_tools() == later and client.listings == 2
