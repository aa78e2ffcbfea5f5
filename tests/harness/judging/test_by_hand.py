"""A scenario that is played by hand, one command a step, into a trajectory that can be replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from servers.kit.yaml import read
from tests.commands import Done, command, refusal
from tests.harness.judging.test_honest import JORDAN, TWO_TURNS, calibrate

PAYS = f"venmo.send_money {{contact_id: {JORDAN}, amount: 27.5, note: pass}}"
PAID = "Jordan Park has been paid $27.50."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A trajectory that nobody has begun, of a scenario beside it."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "a.yaml").write_text(TWO_TURNS)
    return tmp_path / "trajectories" / "a__1.yaml"


def play(file: Path, *rest: object) -> Done:
    return command("play", file, *rest)


def steps(file: Path) -> Any:
    return read(file)["steps"]


def test_a_play_becomes_an_honest_trajectory(file: Path) -> None:
    begun = play(file)
    assert begun.status == 0, begun.err
    assert "Services: venmo" in begun.out and "\nuser: " in begun.out
    assert steps(file) == []
    asked = play(file, "venmo.get_balance", "--say", "Which Jordan do you mean?")
    assert asked.out.startswith("venmo.get_balance {}\nreply: {")
    assert "user: Jordan Park from the gym." in asked.out
    assert steps(file)[1] == {"say": "Which Jordan do you mean?", "answered": True}
    for _ in range(2):
        assert "pending" in play(file, PAYS).out
        play(file, "venmo.list_transactions {limit: 3}")
    assert "user: Thank you. Is it there now?" in play(file, "--say", PAID).out
    assert play(file, "--say", f"Yes, {PAID}").out.endswith("The conversation is over.\n")
    whole = play(file).out
    assert whole.startswith(begun.out.strip()) and asked.out in whole
    done = calibrate(file.parent.parent, "--mistakes", "--json")
    assert done.json["readers"][0]["honest_trajectories"]["hits"] == 1, done.json["mistakes"]


def test_replies_are_those_of_the_whole_play(file: Path) -> None:
    first = play(file, PAYS, PAYS).out
    other = file.with_name("a__2.yaml")
    assert play(other, PAYS).out + play(other, PAYS).out == first
    assert file.read_text() == other.read_text()


def test_tools_are_listed_as_they_stand(file: Path) -> None:
    names = [line for line in play(file, "--tools", "all").out.splitlines() if line[0] != " "]
    assert names == [
        line for line in play(file, "--tools", "venmo").out.splitlines() if line[0] != " "
    ]
    assert any(name.startswith("venmo.send_money(contact_id, amount") for name in names)
    assert '"contact_id"' in play(file, "--tools", "venmo.send_money").out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["venmo.send_mony {}"], "did you mean 'venmo.send_money'"),
        (["zelle.get_daily_limit"], "unknown service 'zelle'"),
        (["pay Jordan"], "write `service.tool {argument: value}`"),
        (["--say", ""], "--say: say: String should have at least 1 character"),
        (["--tools", "venmoo"], "did you mean 'venmo'"),
        (["--tools", "venmo", "venmo.get_balance"], "--tools only lists them"),
    ],
)
def test_what_cannot_be_played_is_one_line_and_kept_nowhere(
    file: Path, given: list[str], message: str
) -> None:
    play(file, "venmo.get_balance")
    before = file.read_bytes()
    assert message in refusal(play(file, *given))
    assert file.read_bytes() == before


def test_what_is_over_cannot_go_on(file: Path) -> None:
    play(file, "--say", PAID)
    play(file, "--say", f"Yes, {PAID}")
    before = file.read_bytes()
    assert "The conversation is over" in refusal(play(file, "venmo.get_balance"))
    assert file.read_bytes() == before


def test_the_name_of_the_file_tells_the_scenario(tmp_path: Path) -> None:
    told = refusal(play(tmp_path / "trajectories" / "recovery__twin__old_timestam__1.yaml"))
    assert "did you mean 'recovery/twin/old_timestamp'" in told
    assert "<scenario>__<number>.yaml" in refusal(play(tmp_path / "a.yaml"))
