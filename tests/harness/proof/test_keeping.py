"""A tally's excuses and counts, what is kept in the cache, and that all processes agree."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from client_harness.proof import check_all
from client_harness.proof.checking import proven
from client_harness.proof.tally import Tally, added, fits
from judge.verdict import NamedFinding, Verdict
from scenarios.load import written
from scenarios.model import Excuse
from servers.kit.errors import InputError

NAMES = ["recovery/silent_no_op/venmo_pay_dropped", "recovery/disambiguation/which_ana"]


def verdict(*failed: str) -> Verdict:
    findings = []
    for name in ("change", "truthful"):
        value = name not in failed
        findings.append(NamedFinding(name, "called", True, 1, "outcome", value, "because"))
    return Verdict("fail" if failed else "pass", 0, "base", findings, "because")


@pytest.mark.parametrize(
    ("glob", "name", "fit"),
    [
        ("drop *", "drop venmo.send_money #2", True),
        ("drop venmo.send_money #2", "drop venmo.send_money #2", True),
        ("drop", "drop venmo.send_money #2", False),
        ("*[2]", "text turn 1 [2]", True),
        ("text ?", "text 1", False),
    ],
)
def test_a_glob_knows_only_the_star(glob: str, name: str, fit: bool) -> None:
    assert fits(glob, name) is fit


def test_a_tally_counts_fates_and_knows_what_fails_alone() -> None:
    tally = Tally(["change", "truthful"])
    tally.mutant("one", [verdict("change")], equal=False)
    tally.mutant("two", [verdict("change", "truthful")], equal=False)
    tally.mutant("three", [verdict()], equal=True)
    tally.mutant("four", [verdict()], equal=False)
    tally.mutant("five", [verdict()], equal=False)
    tally.run("naive", [verdict("change"), verdict("change")])
    assert tally.survivors() == ["four", "five"]
    problems = tally.excuse(
        [
            Excuse(mutant="fo*", because="it is as good as right"),
            Excuse(mutant="one", because="this one is killed"),
        ]
    )
    assert problems == ["excused: no surviving mutant is named 'one'"]
    wanted = {"mutants": 5, "equivalent": 1, "killed": 2, "excused": 1, "survived": 1}
    assert tally.counts() == wanted
    assert tally.matrix() == {"change": ["one", "naive"], "truthful": []}
    assert added([wanted, {}, wanted])["killed"] == 4


def test_a_proof_is_kept_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAYWIRE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "mine.yaml"
    file.write_text(written()[NAMES[0]].read_text())

    def prove(fresh: bool = False) -> dict[str, object]:
        async def go() -> dict[str, object]:
            return await proven(file, fresh=fresh)

        return anyio.run(go)

    first = prove()
    (kept,) = (tmp_path / "cache" / "proofs").glob("*.json")
    assert json.loads(kept.read_text()) == first
    kept.write_text(json.dumps(first | {"problems": ["from the cache"]}))
    assert prove()["problems"] == ["from the cache"]
    assert prove(fresh=True) == first
    kept.write_text("{broken")
    assert prove() == first
    file.write_text(file.read_text() + "tags: [new]\n")
    assert prove() == first
    assert len(list((tmp_path / "cache" / "proofs").glob("*.json"))) == 2


def test_a_broken_scenario_is_one_line_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAYWIRE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "bad.yaml"
    file.write_text("title: one")
    found = check_all([file])[str(file)]
    assert len(found["problems"]) == 1 and found["problems"][0].startswith(str(file))
    assert not (tmp_path / "cache" / "proofs").exists()


@pytest.mark.long
def test_processes_find_what_this_one_finds() -> None:
    apart = check_all(NAMES, jobs=2, fresh=True)
    here = check_all(NAMES, jobs=1, fresh=True)
    assert list(apart) == NAMES
    assert json.dumps(apart) == json.dumps(here)


def test_fewer_than_one_job_is_refused() -> None:
    with pytest.raises(InputError, match="--jobs: expected at least 1, got 0"):
        check_all(NAMES, jobs=0)
