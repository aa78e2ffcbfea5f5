"""What is reported of instances: labels, figures, curves, lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from client_harness.haystack.labels import PUBLISHED
from scenarios.haystack import instances, targets
from tests.commands import command, refusal

GLAZE = "maya/glaze_share"
KINDS = [f"haystack/{kind}/{GLAZE}" for kind in targets.KINDS]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one instance at three distances."""
    home = tmp_path_factory.mktemp("swept") / "run"
    numbers = "sessions=5,distance=2..4"
    agents = ["--agent", "recall_window", "--agent", "oracle"]
    command("run", KINDS[0], "--history", numbers, *agents, "--out", str(home))
    return home


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of the naive agent on all kinds of one target."""
    home = tmp_path_factory.mktemp("naive") / "run"
    told = command(
        "run", *KINDS, "--history", "sessions=4", "--agent", "naive", "--out", str(home), "--json"
    )
    return json.loads(told.out)


def test_a_curve_falls_where_memory_ends(swept: Path) -> None:
    drawn = json.loads(command("curves", str(swept), "--json").out)
    points = drawn["agents"]["recall_window"]
    assert [(point["at"], point["accuracy"]) for point in points] == [(2, 1), (3, 0), (4, 0)]
    assert all(point["accuracy"] == 1 for point in drawn["agents"]["oracle"])
    lines = command("curves", str(swept)).out
    assert "recall_window: right by distance, up to 1 instances" in lines


def test_a_curve_is_a_picture_that_stands_alone(swept: Path, tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    command("curves", str(swept), "--svg", str(picture))
    root = ElementTree.fromstring(picture.read_text())
    assert root.tag.endswith("svg")
    assert "href" not in picture.read_text()


def test_a_run_without_a_range_makes_no_curve(swept: Path) -> None:
    said = refusal(command("curves", str(swept), "--by", "distractors"))
    assert "--history distractors=0..5" in said


def test_trials_are_grouped_by_what_was_varied(swept: Path) -> None:
    grouped = json.loads(command("report", str(swept), "--by", "distance", "--json").out)["by"]
    own = [row for row in grouped if row["agent"] == "recall_window"]
    assert [(row["value"], row["passed"], row["of"]) for row in own] == [
        (2, 1, 1),
        (3, 0, 1),
        (4, 0, 1),
    ]
    assert "did you mean 'distance'?" in refusal(command("report", str(swept), "--by", "distanc"))


def test_trials_are_grouped_by_what_agents_were_offered(swept: Path) -> None:
    grouped = json.loads(command("report", str(swept), "--by", "exposure", "--json").out)["by"]
    assert {row["value"] for row in grouped} == {"all"}


def test_runs_of_both_deliveries_stand_side_by_side_if_grouped_by_it(tmp_path: Path) -> None:
    homes = []
    for delivery in ("context", "sessions"):
        homes.append(tmp_path / delivery)
        given = ("--history", "sessions=2,distance=0", "--deliver", delivery, "--only-clean")
        command("run", KINDS[0], *given, "--agent", "recall_window", "--out", homes[-1])
    assert "delivery differs" in refusal(command("report", *homes))
    told = command("report", *homes, "--by", "delivery", "--json")
    rows = [(row["value"], row["passed"]) for row in json.loads(told.out)["by"]]
    assert rows == [("context", 1), ("sessions", 1)]


def test_how_many_sessions_a_solver_remembers_can_be_chosen(tmp_path: Path) -> None:
    given = ("--history", "sessions=5,distance=3", "--option", "window=4", "--json")
    told = command(
        "run", KINDS[0], "--agent", "recall_window", *given, "--out", str(tmp_path / "run")
    )
    assert json.loads(told.out)["agents"][0]["base"]["passed"] == 1


@pytest.mark.long
def test_each_failed_trial_has_a_label_and_its_published_error(naive: dict[str, Any]) -> None:
    (figures,) = naive["haystack"]
    assert figures["labels"] == {
        "value from nowhere": 2,
        "stale value": 2,
        "guessed instead of asked": 2,
    }
    assert sum(figures["published"].values()) == len(KINDS)
    assert set(figures["labels"]) <= set(PUBLISHED)


def test_who_guesses_neither_abstains_nor_completes(naive: dict[str, Any]) -> None:
    (figures,) = naive["haystack"]
    counted = (figures["missing"], figures["abstained"], figures["completed"])
    assert counted == (2, 0, 0)
    assert figures["accuracy"] == figures["simple"] == figures["complex"] == 0


def test_the_list_counts_instances_by_kind_person_and_service() -> None:
    listed = json.loads(command("list", "instances", "--json").out)
    names = [entry["name"] for entry in listed["instances"]]
    assert names == instances.names()
    assert set(listed["counts"]["kind"].values()) == {len(targets.index())}
    assert sum(listed["counts"]["person"].values()) == len(names)
    assert listed["counts"]["service"]["venmo"] >= 6
