"""Questions that measure the scripted user: what counts as understood, and bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client_harness.judging.questions import (
    QUESTIONS,
    misunderstood,
    questions,
    understanding,
)
from servers.kit.errors import InputError
from tests.commands import command
from tests.harness.judging.test_calibrate import data_in

WHICH: dict[str, Any] = {
    "scenario": "recovery/disambiguation/which_ana",
    "turn": 1,
    "text": "Which Ana do you mean?",
    "expects": ["which_ana"],
}
SILENT = {**WHICH, "text": "Is there anything else I can help you with?", "expects": []}
UNFORESEEN = {**WHICH, "text": "Should I also raise your limit?", "expects": ["default"]}


def written(folder: Path, items: object) -> Path:
    """Write questions, and return their folder."""
    (folder / f"{QUESTIONS}.yaml").write_text(json.dumps(items))
    return folder


def test_each_sort_of_question_has_its_rate(tmp_path: Path) -> None:
    figures = understanding(questions(written(tmp_path, [WHICH, SILENT, UNFORESEEN])))
    assert (figures["hits"], figures["of"]) == (3, 3)
    assert sorted(figures["by_sort"]) == ["foreseen", "nothing", "unforeseen"]


@pytest.mark.parametrize(
    ("item", "answered"),
    [
        ({**WHICH, "expects": []}, "which_ana"),
        ({**SILENT, "expects": ["which_ana"]}, ""),
        ({**UNFORESEEN, "expects": ["which_ana"]}, "default"),
    ],
    ids=["an answer to nothing", "silence", "the default answer"],
)
def test_a_wrong_answer_is_listed(tmp_path: Path, item: dict[str, Any], answered: str) -> None:
    asked = questions(written(tmp_path, [item]))
    assert understanding(asked)["hits"] == 0
    (listed,) = misunderstood(asked)
    assert (listed["text"], listed["answered"]) == (item["text"], answered)


def test_a_wrong_value_wants_a_no(tmp_path: Path) -> None:
    wrong = {**WHICH, "text": "Shall I pay Ana Reyes, then?", "value": "Ana Reyes"}
    right = {**WHICH, "text": "Shall I pay Ana Ruiz, then?", "value": "Ana Ruiz"}
    items = [{**wrong, "proposes": "wrong"}, {**right, "proposes": "right"}]
    assert understanding(questions(written(tmp_path, items)))["hits"] == 2
    swapped = [{**wrong, "proposes": "right"}, {**right, "proposes": "wrong"}]
    assert understanding(questions(written(tmp_path, swapped)))["hits"] == 0


def test_something_unforeseen_beside_a_key_may_stay_open(tmp_path: Path) -> None:
    both = {**WHICH, "expects": ["which_ana", "default"]}
    assert understanding(questions(written(tmp_path, [both])))["hits"] == 1


@pytest.mark.parametrize(
    ("items", "line"),
    [
        ({"a": 1}, "expected a list of questions"),
        ([{**WHICH, "expects": ["which_anna"]}], "did you mean 'which_ana'"),
        ([{**WHICH, "expect": []}], "did you mean 'expects'"),
        ([{**WHICH, "scenario": "which_ana"}], "which_ana"),
    ],
    ids=["no list", "no such key", "a typo", "no such scenario"],
)
def test_a_wrong_file_is_refused(tmp_path: Path, items: object, line: str) -> None:
    with pytest.raises(InputError, match=line):
        questions(written(tmp_path, items))


def test_calibrate_asks_the_open_ones_and_logs_the_locked_ones(tmp_path: Path) -> None:
    folder = written(data_in(tmp_path), [WHICH, SILENT])
    written(folder / "locked", [UNFORESEEN])
    shown = command("calibrate", "--data", folder)
    assert "The scripted user understands 2/2" in shown.out
    locked = command("calibrate", "--data", folder, "--locked", "--date", "2026-03-14")
    assert "The scripted user understands 1/1" in locked.out
    (line,) = (folder / "runs.log").read_text().splitlines()
    assert line.endswith("; 1/1 questions understood")
