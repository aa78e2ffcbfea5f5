"""Dialogues are composed from stories as somebody wishes, and proven."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios import load
from scenarios.wild.compose import Wish, compose
from scenarios.wild.dialogues import Dialogue, index
from tests.commands import ROOT, command, refusal

DIGEST = """
import itertools, json
from scenarios.wild.compose import Wish, compose
print(json.dumps(list(itertools.islice(compose(Wish(switches=3), 7), 12))))
"""


def test_a_composed_dialogue_has_what_was_wished_for_and_is_no_shipped_one() -> None:
    wish = Wish(hidden="long_range", types=("clarify",), person="maya")
    shipped = [load.load(name) for name in index()]
    orders = []
    for made in shipped:
        assert isinstance(made, Dialogue)
        orders.append([task.name for task in made.facts.tasks])
    for raw in itertools.islice(compose(wish), 5):
        assert raw["tasks"] not in orders
        assert raw["story"].startswith("maya/")


def test_the_same_wish_and_seed_give_the_same_dialogues_in_every_process() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True, cwd=ROOT
        )
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    other = list(itertools.islice(compose(Wish(switches=3), 8), 12))
    assert str(other) not in runs[0].stdout


def test_what_is_written_is_proven_and_runs(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    told = command("compose", "--count", "2", "--type", "known", "--out", folder, "--jobs", "1")
    assert "2 proven dialogues" in told.out
    files = sorted(folder.glob("*.yaml"))
    made = load.load(files[0])
    assert isinstance(made, Dialogue)
    assert "known" in [task.type for task in made.facts.tasks]
    ran = command("run", str(files[0]), "--agent", "oracle", "--out", str(tmp_path / "run"))
    assert ran.status == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--person", "mya"], "did you mean 'maya'"),
        (["--hidden", "longrange"], "did you mean 'long_range'"),
        (["--service", "venmoo"], "did you mean 'venmo'"),
        (["--distance", "4"], "3 tasks back at most"),
        (["--count", "0"], "at least 1"),
        (["--tasks", "1"], "tasks"),
    ],
)
def test_a_wish_that_cannot_be_is_refused(tmp_path: Path, options: list[str], why: str) -> None:
    folder = tmp_path / "mine"
    said = refusal(command("compose", *options, "--out", folder))
    assert why in said
    assert not folder.exists()


def test_a_file_that_names_no_task_of_its_story_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("story: maya/day_at_the_rock\ntasks: [forecast, polen]\n")
    said = command("check", path).out
    assert "did you mean 'pollen'" in said
