"""Scenarios of other suites, played after forty woven sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_harness.results import Results
from scenarios import load
from tests.commands import command

CROSSED = (
    "recovery/staleness/rest_of_the_distribution",
    "recovery/silent_no_op/venmo_pay_dropped",
    "recovery/corrupted_state/never_the_chicken",
)
"""A fault of staleness, one of writes and one of values, on two people."""


def verdicts(home: Path, *numbers: str) -> dict[tuple[str, str], str]:
    """Play the scenarios and return (scenario, agent) → verdict."""
    agents = ("--agent", "oracle", "--agent", "naive")
    done = command("run", *CROSSED, *agents, *numbers, "--out", home)
    assert done.status == 0, done.err
    found = {}
    for trial in Results.open(home).trials():
        found[trial.scenario, trial.agent] = trial.verdicts["base"]["value"]
    return found


@pytest.mark.long
def test_faults_after_forty_sessions_have_the_same_verdicts_as_without(tmp_path: Path) -> None:
    assert len({load.load(name).world for name in CROSSED}) == 2
    plain = verdicts(tmp_path / "plain")
    assert plain == verdicts(tmp_path / "crossed", "--history", "sessions=40")
    for name in CROSSED:
        assert (plain[name, "oracle"], plain[name, "naive"]) == ("pass", "fail")
