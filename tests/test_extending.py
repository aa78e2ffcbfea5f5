"""The pages on extending Haywire are followed to the letter, and every general test still holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.checkouts import add, copy_to, files_of, run
from tests.commands import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text()
FILES = files_of("extending.md")
FAULTS = (ROOT / "docs" / "writing-faults.md").read_text()
(KIND,) = re.findall(r"^```python\n(.*?)^```$", FAULTS, re.DOTALL | re.MULTILINE)
PAY = "recovery/silent_no_op/venmo_pay_dropped"
FRIENDS = "  friends: [ana_reyes, ana_ruiz, tom_lindqvist,"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with what the pages add."""
    home = tmp_path_factory.mktemp("project")
    copy_to(home, "tests", "docs", "pyproject.toml", "README.md")
    add(home, FILES | files_of("writing-faults.md"))
    add(home, {"fault_profiles/kinds/cut_texts.py": KIND})
    seeds = home / "scenarios/people/maya/payments.yaml"
    text = seeds.read_text()
    assert FRIENDS in text and FRIENDS.strip() in PAGE
    seeds.write_text(text.replace(FRIENDS, f"{FRIENDS} wei_zhang,"))
    return home


def test_the_page_adds_a_check_kind_a_claim_and_an_agent() -> None:
    assert set(FILES) == {
        "judge/checks/brief.py",
        "tests/judge/test_brief.py",
        "judge/claims/followed.yaml",
        "client_harness/agents/counter.py",
    }


@pytest.mark.long
def test_the_general_tests_hold_for_what_the_pages_add(copy: Path) -> None:
    general = ("judge/test_check_kinds.py", "test_layering.py", "test_style.py")
    general += ("judge/test_brief.py", "faults/test_cut_texts.py")
    pytest_run(copy, *(f"tests/{name}" for name in general))
    acting = "test_every_kind_that_needs_no_state_acts_on_a_foreign_server"
    told = pytest_run(copy, f"tests/harness/test_proxy.py::{acting}[cut_texts]")
    assert "1 passed" in told


def test_the_new_claim_is_listed_and_reads_its_own_sentences(copy: Path) -> None:
    listed = json.loads(run(copy, "-m", "client_harness", "list", "claims", "--json"))
    (claim,) = [entry for entry in listed if entry["name"] == "followed"]
    assert claim["about"].startswith("an artist or a playlist was followed: what (words)")
    told = pytest_run(copy, "tests/judge/reading/test_reading.py", "-k", "followed")
    assert "13 passed" in told


def pytest_run(home: Path, *tests: str) -> str:
    return run(home, "-m", "pytest", "-v", "-p", "no:cacheprovider", *tests)


@pytest.mark.long
def test_a_scenario_can_ask_for_the_new_check(copy: Path) -> None:
    path = copy / "scenarios" / "suites" / f"{PAY}.yaml"
    brief = "\n  - brief: {name: short_enough, words: 3, gate: false}\n"
    path.write_text(path.read_text().replace("\nchecks:\n", f"\nchecks:{brief}", 1))
    out = copy / "run"
    run(copy, "-m", "client_harness", "run", PAY, "--agent", "oracle", "--out", str(out), "--json")
    code = (
        "import json, pathlib; from client_harness.results import Results; "
        f"(trial,) = Results.open(pathlib.Path({str(out)!r})).trials(); "
        "print(json.dumps(trial.verdicts['base']['findings']))"
    )
    findings = {f["name"]: f for f in json.loads(run(copy, "-c", code))}
    assert findings["short_enough"]["value"] is False
    assert findings["short_enough"]["why"].startswith("the agent used more than 3 words (event")


@pytest.mark.long
def test_the_new_agent_is_listed_and_plays(copy: Path) -> None:
    listed = json.loads(run(copy, "-m", "client_harness", "list", "agents", "--json"))
    assert {"name": "counter", "about": "says how many tools it has"} in listed
    told = run(copy, "-m", "client_harness", "run", PAY, "--agent", "counter", "--json")
    (agent,) = json.loads(told)["agents"]
    assert (agent["trials"], agent["unknown"], agent["base"]["passed"]) == (1, 0, 0)


def test_the_new_row_is_in_the_world(copy: Path) -> None:
    code = (
        "from scenarios.worlds import build; "
        "print([row['name'] for row in build.shared('maya').rows('venmo_contacts')])"
    )
    assert "Wei Zhang" in run(copy, "-c", code)
    assert "Wei Zhang" not in run(ROOT, "-c", code)


def test_the_code_of_the_page_is_formatted_as_ours(copy: Path) -> None:
    ours = [str(copy / name) for name in FILES if name.endswith(".py")]
    run(copy, "-m", "ruff", "check", *ours)
    run(copy, "-m", "ruff", "format", "--check", *ours)
