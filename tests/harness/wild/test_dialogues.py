"""Dialogues are run, judged and reported task by task, in both modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client_harness.agents import _history
from client_harness.agents import agent as agent_named
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.proof.play import play
from scenarios import load
from scenarios.haystack.instances import crossed
from scenarios.wild.dialogues import Dialogue, gold_tasks
from tests.commands import PAY, command, refusal

pytestmark = pytest.mark.anyio
ROCK = "wild/maya/day_at_the_rock/1"
"""Its tasks are: single, parallel, known, clarify."""
SOLVERS = ("oracle", "naive", "wild_serial", "wild_guesser", "wild_caller", "wild_asker")


def dialogue(name: str = ROCK) -> Dialogue:
    """Return a dialogue."""
    made = load.load(name)
    assert isinstance(made, Dialogue)
    return made


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the solvers on the four tasks of a dialogue, each alone."""
    home = tmp_path_factory.mktemp("gold") / "run"
    agents: list[str] = []
    for name in SOLVERS:
        agents += ["--agent", name]
    command("run", ROCK, "--prefix", "gold", *agents, "--out", str(home))
    return home


def rows(home: Path, by: str) -> dict[str, dict[Any, str]]:
    """Return agent → value → right tasks of all."""
    found: dict[str, dict[Any, str]] = {}
    for row in json.loads(command("report", str(home), "--by", by, "--json").out)["by"]:
        found.setdefault(row["agent"], {})[row["value"]] = f"{row['passed']}/{row['of']}"
    return found


def test_each_solver_fails_what_its_habit_spoils(gold: Path) -> None:
    told = rows(gold, "type")
    right = {"single": "1/1", "parallel": "1/1", "known": "1/1", "clarify": "1/1"}
    assert told["oracle"] == right
    assert told["wild_serial"] == right
    assert told["naive"] == {**right, "parallel": "0/1", "known": "0/1", "clarify": "0/1"}
    assert told["wild_guesser"] == {**right, "clarify": "0/1"}
    assert told["wild_asker"] == {**right, "single": "0/1", "parallel": "0/1", "known": "0/1"}


def test_one_call_at_a_time_is_right_and_not_optimal(gold: Path) -> None:
    agents = json.loads(command("report", str(gold), "--json").out)["wild"]
    optimal = {agent["agent"]: agent["optimal"]["passed"] for agent in agents}
    assert optimal["oracle"] == 1
    assert optimal["wild_serial"] == 0


def test_reading_again_what_was_said_is_needless_and_wrong_as_published(gold: Path) -> None:
    trials = json.loads(command("report", str(gold), "--json").out)["agents"]
    needless = {agent["agent"]: agent["calls"]["needless"] for agent in trials}
    assert needless["wild_caller"] == 1
    assert rows(gold, "type")["wild_caller"]["known"] == "1/1"


def test_labels_say_why_a_task_is_wrong(gold: Path) -> None:
    labels = {}
    for agent in json.loads(command("report", str(gold), "--json").out)["wild"]:
        labels[agent["agent"]] = agent["labels"]
    assert labels["wild_guesser"] == {"acted instead of asking": 1}
    assert labels["wild_asker"] == {"asked though it was said": 2, "right calls, wrong answer": 1}
    assert labels["oracle"] == {}


def test_all_tasks_in_one_conversation_are_told_apart_by_turn(tmp_path: Path) -> None:
    home = tmp_path / "own"
    command("run", ROCK, "--agent", "oracle", "--agent", "wild_guesser", "--out", str(home))
    told = json.loads(command("report", str(home), "--json").out)["wild"]
    sessions = {agent["agent"]: agent["sessions"]["passed"] for agent in told}
    tasks = {agent["agent"]: agent["tasks"]["passed"] for agent in told}
    assert sessions == {"oracle": 1, "wild_guesser": 0}
    assert tasks == {"oracle": 4, "wild_guesser": 3}
    lines = command("curves", str(home), "--by", "position").out
    assert "oracle: right by position, up to 1 tasks" in lines


async def test_a_task_alone_begins_in_the_conversation_as_the_oracle_led_it() -> None:
    third = gold_tasks(dialogue())[2]
    episode = Episode(third)
    try:
        await episode.begin()
        given = episode.assignment(tools=None)  # ty: ignore[invalid-argument-type]
        begun = given.history[-1]
        texts = [m["text"] for m in begun["messages"] if "text" in m]
        assert texts[0].startswith("Priya and I are driving")
        assert [m["role"] for m in begun["messages"]].count("user") == 2
        assert sum(len(m.get("calls", [])) for m in begun["messages"]) == 3
        assert _history.chat(given.history)[0]["content"] == texts[0]
        assert "[Conversation of" not in _history.text(given.history)
    finally:
        episode.close()


def test_fewer_tools_are_offered_from_the_agents_own_task_on(tmp_path: Path) -> None:
    home = tmp_path / "run"
    few = ("--prefix", "gold", "--expose", "needed", "--agent", "oracle", "--out", home)
    assert command("run", "wild/maya/windmills/2", *few).status == 0
    (told,) = command("report", home, "--json").json["wild"]
    assert told["tasks"]["passed"] == told["tasks"]["of"] == 4


async def test_faults_begin_with_the_agents_own_task() -> None:
    second = gold_tasks(dialogue())[1]
    faulty = load.parse(
        {
            **_raw_of_profile(),
        },
        "down",
        "here",
    )
    episode = Episode(second, faults=list(faulty.faults))
    try:
        await episode.begin()
        earlier = [event for event in episode.session.trace() if hasattr(event, "args")]
        assert earlier
        assert not any(getattr(event, "is_error", False) for event in earlier)
        reply = await episode.session.call("weather_com", "get_pollen_count", {"location": "Bend"})
        assert reply.is_error
    finally:
        episode.close()


def _raw_of_profile() -> dict[str, Any]:
    """Return a scenario whose fault takes the weather down at once."""
    told = [{"say": "no"}]
    return {
        "title": "t",
        "about": "a",
        "failure": "availability",
        "services": ["weather_com"],
        "turns": [{"user": "hi"}],
        "faults": [{"outage": {"name": "down", "on": "weather_com.*"}}],
        "scripts": {"oracle": told, "naive": told},
    }


async def test_a_dialogue_is_played_after_a_woven_history() -> None:
    third = gold_tasks(dialogue())[2]
    after = crossed(third, "sessions=3,seed=1")[0]
    done = await play(after, agent_named("oracle").agent, straight=True, keep=True)
    try:
        assert done.verdicts["base"].value == "pass"
        assert done.episode is not None
        given: Assignment = done.episode.assignment(tools=None)  # ty: ignore[invalid-argument-type]
        assert [session.get("goes_on", False) for session in given.history] == [False] * 3 + [True]
    finally:
        done.close()


def test_only_dialogues_have_tasks_to_be_played_alone(tmp_path: Path) -> None:
    said = refusal(
        command("run", PAY, "--prefix", "gold", "--agent", "oracle", "--out", str(tmp_path / "x"))
    )
    assert "is no dialogue" in said
    assert not (tmp_path / "x").exists()


def test_a_solver_of_dialogues_plays_nothing_else(tmp_path: Path) -> None:
    said = refusal(command("run", PAY, "--agent", "wild_asker", "--out", str(tmp_path / "x")))
    assert "is no dialogue" in said


def test_tasks_are_listed_with_counts_beside_the_published_ones() -> None:
    told = json.loads(command("list", "tasks", "--json").out)
    own = [task for task in told["tasks"] if task["dialogue"] == ROCK]
    assert [task["type"] for task in own] == ["single", "parallel", "known", "clarify"]
    assert [task["switches"] for task in own] == [0, 1, 2, 3]
    assert own[3]["hidden"] == [{"piece": "who", "kind": "long_range", "by": "user", "distance": 3}]
    assert told["published"]["single"] == 256
    assert sum(told["counts"]["type"].values()) == len(told["tasks"])
