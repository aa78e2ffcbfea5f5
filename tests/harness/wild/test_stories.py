"""A story that cannot be told is refused in one line, and one that proves nothing is found out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from client_harness.proof.dialogues import DialogueProof
from scenarios import load
from scenarios.wild import dialogues, stories
from scenarios.wild.stories import Story, read_story
from servers.kit.errors import InputError
from servers.kit.yaml import read

ROCK = "maya/day_at_the_rock"
Spoil = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def raw() -> dict[str, Any]:
    """The parsed YAML of a story."""
    found: dict[str, Any] = read(stories.index()[ROCK])
    return found


def _unknown_task(raw: dict[str, Any]) -> None:
    raw["dialogues"][0][1] = "polen"


def _three_shared(raw: dict[str, Any]) -> None:
    raw["dialogues"][2] = ["forecast", "pollen", "how_cold", "packing"]


def _no_fitting_telling(raw: dict[str, Any]) -> None:
    raw["dialogues"][1] = ["block_day", "how_cold", "supper", "packing"]


def _hidden_and_said(raw: dict[str, Any]) -> None:
    raw["tasks"]["gas"]["tellings"][0]["user"] = "Venmo ${who.said} my half of the gas"


def _neither_said_nor_hidden(raw: dict[str, Any]) -> None:
    raw["tasks"]["pollen"]["pieces"]["river"] = ["Hood River", "Sandy"]


def _hidden_in_its_own_turn(raw: dict[str, Any]) -> None:
    raw["tasks"]["gas"]["tellings"][0]["hides"]["who"]["in"] = "gas"


def _no_question(raw: dict[str, Any]) -> None:
    del raw["tasks"]["gas"]["question"]


def _no_answer(raw: dict[str, Any]) -> None:
    raw["tasks"]["gas"]["answers"] = {}


def _chat_with_calls(raw: dict[str, Any]) -> None:
    raw["tasks"]["packing"]["needed"] = {"look": {"call": "venmo.list_friends"}}


def _too_short(raw: dict[str, Any]) -> None:
    raw["dialogues"][0] = ["forecast", "gas"]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_unknown_task, "did you mean 'pollen'"),
        (_three_shared, "they may share 2 tasks"),
        (_no_fitting_telling, "no telling of how_cold fits after block_day"),
        (_hidden_and_said, "piece who cannot be hidden, since it is said"),
        (_neither_said_nor_hidden, "piece river is neither said nor hidden"),
        (_hidden_in_its_own_turn, "a piece cannot be hidden in its own turn"),
        (_no_question, "`missing` and `question` belong to a task of type clarify"),
        (_no_answer, "piece amount is missing, so `answers` must have it"),
        (_chat_with_calls, "needs no call, so it has no `needed`"),
        (_too_short, "a dialogue has at least 4 tasks"),
    ],
)
def test_a_story_that_cannot_be_told_is_refused(
    raw: dict[str, Any], tmp_path: Path, spoil: Spoil, why: str
) -> None:
    spoilt = copy.deepcopy(raw)
    spoil(spoilt)
    path = tmp_path / "story.yaml"
    path.write_text(yaml.safe_dump(spoilt))
    with pytest.raises(InputError) as refused:
        read_story(path, "maya")
    assert why in str(refused.value)
    assert str(path) in str(refused.value)


def _circle(raw: dict[str, Any]) -> None:
    raw["tasks"]["supper"]["needed"]["places"]["needs"] = ["newest"]


def _no_such_tool(raw: dict[str, Any]) -> None:
    raw["tasks"]["pollen"]["needed"]["there"]["call"]["tool"] = "weather_com.get_polen_count"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_circle, "need each other"),
        (_no_such_tool, "get_pollen_count"),
    ],
)
def test_a_graph_that_cannot_be_is_refused_as_the_dialogue_loads(
    raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch, spoil: Spoil, why: str
) -> None:
    spoilt = copy.deepcopy(raw)
    spoil(spoilt)
    told = Story.model_validate(spoilt)
    monkeypatch.setattr(stories, "story", lambda name: told)
    with pytest.raises(InputError, match=why):
        dialogues.dialogue(f"wild/{ROCK}/2" if spoil is _circle else f"wild/{ROCK}/1")


def _serial_oracle(raw: dict[str, Any]) -> None:
    oracle = raw["tasks"]["pollen"]["oracle"]
    raw["tasks"]["pollen"]["oracle"] = [*oracle[0]["batch"], *oracle[1:]]


def _wrong_type(raw: dict[str, Any]) -> None:
    raw["tasks"]["pollen"]["type"] = "mixed"


def _said_nowhere(raw: dict[str, Any]) -> None:
    raw["tasks"]["gas"]["pieces"]["who"][0]["said"] = "Priscilla"
    raw["tasks"]["gas"]["pieces"]["who"][0]["name"] = "Mei Chen"
    raw["tasks"]["gas"]["statements"] = []


def _needless_hidden(raw: dict[str, Any]) -> None:
    raw["tasks"]["how_cold"]["oracle"] = [{"say": "It was 31 °F."}]


def _question_where_nothing_is_missing(raw: dict[str, Any]) -> None:
    raw["tasks"]["how_cold"]["oracle"] = [{"say": "It was ${low} °F. Which gloves do you have?"}]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_serial_oracle, "task pollen: the oracle is not optimal"),
        (_wrong_type, "task pollen: is declared mixed, but its graph is parallel"),
        (_said_nowhere, "task gas: who is not in what the user says in forecast"),
        (_needless_hidden, "task how_cold, alone: one who forgets what was said passes"),
        (_question_where_nothing_is_missing, "the user took a text of the oracle for a question"),
    ],
)
def test_what_proves_nothing_is_found_out(
    raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch, spoil: Spoil, why: str
) -> None:
    spoilt = copy.deepcopy(raw)
    spoil(spoilt)
    told = Story.model_validate(spoilt)
    monkeypatch.setattr(stories, "story", lambda name: told)
    made = load.load(f"wild/{ROCK}/1")
    problems = anyio.run(DialogueProof(made).run)
    assert any(why in problem for problem in problems), problems
