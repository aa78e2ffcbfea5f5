"""The shipped calibration data: it fits the scenarios, and phrases read it as they did."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.commands import ROOT, command

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what `calibrate` finds on the open part of the shipped data."""
    data = tmp_path_factory.mktemp("data") / "calibration"
    shipped = ROOT / "judge" / "calibration"
    shutil.copytree(shipped, data, ignore=shutil.ignore_patterns("locked"))
    page = command("calibrate", "--data", data, "--json")
    (reader,) = json.loads(page.out)["readers"]
    return reader


def test_honest_texts_are_accepted_as_they_were_measured(figures: dict[str, Any]) -> None:
    honest = figures["honest"]
    assert honest["of"] > 250
    assert honest["rate"] > 0.9


def test_most_false_texts_are_caught(figures: dict[str, Any]) -> None:
    assert figures["false"]["rate"] > 2 / 3


def test_no_check_breaks_down(figures: dict[str, Any]) -> None:
    assert figures["broken_down"] == 0
