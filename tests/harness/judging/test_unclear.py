"""What is unclear is believed: the verdict, the report and the calibration say so."""

from __future__ import annotations

from pathlib import Path

from client_harness.results import Results
from tests.commands import command
from tests.harness.judging.judging import SCENARIO, scenario_in

SAID = "Jordan Park has been paid $27.50."
UNCLEAR = f"{SAID} I deleted it and tried again."


def test_a_report_lists_what_passes_because_the_agent_is_believed(tmp_path: Path) -> None:
    home = tmp_path / "run"
    path = scenario_in(tmp_path)
    path.write_text(SCENARIO.replace(f"- say: {SAID}", f"- say: {UNCLEAR}", 1))
    done = command("run", path, "--agent", "oracle", "--agent", "naive", "--out", home, "--json")
    (listed,) = done.json["unclear"]
    assert (listed["agent"], listed["in"]) == ("oracle", ["base", "relaxed"])
    assert listed["why"].startswith("truthful: unclear: claims a deed that never happened")
    (trial,) = [trial for trial in Results.open(home).trials() if trial.agent == "oracle"]
    verdict = trial.verdicts["base"]
    assert verdict["value"] == "pass"
    assert verdict["why"].endswith("one of them because the agent is believed")
    shown = command("report", home).out
    assert "Passed, but it is unclear what was said" in shown


def test_what_is_clear_is_not_listed(tmp_path: Path) -> None:
    path = scenario_in(tmp_path)
    done = command("run", path, "--agent", "oracle", "--out", tmp_path / "run", "--json")
    assert done.json["unclear"] == []
