"""The pages on extending Haywire are followed to the letter, and every general test still holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text()
FILES = dict(re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
FAULTS = (ROOT / "docs" / "writing-faults.md").read_text()
(KIND,) = re.findall(r"^```python\n(.*?)^```$", FAULTS, re.DOTALL | re.MULTILINE)
(KIND_TEST,) = re.findall(r"^```python title=\S+\n(.*?)^```$", FAULTS, re.DOTALL | re.MULTILINE)
PACKAGES = ("servers", "fault_profiles", "judge", "scenarios", "client_harness", "tests", "docs")
PAY = "recovery/silent_no_op/venmo_pay_dropped"
FRIENDS = "  friends: [ana_reyes, ana_ruiz, tom_lindqvist,"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with what the page adds."""
    home = tmp_path_factory.mktemp("project")
    for name in PACKAGES:
        unneeded = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / name, home / name, ignore=unneeded)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, home)
    (home / "fault_profiles/kinds/cut_texts.py").write_text(KIND)
    (home / "tests/faults/test_cut_texts.py").write_text(KIND_TEST)
    for name, text in FILES.items():
        assert not (home / name).exists(), f"the page changes {name}"
        (home / name).write_text(text)
    seeds = home / "scenarios/people/maya/payments.yaml"
    text = seeds.read_text()
    assert FRIENDS in text and FRIENDS.strip() in PAGE
    seeds.write_text(text.replace(FRIENDS, f"{FRIENDS} wei_zhang,"))
    return home


def run(home: Path, *arguments: str) -> str:
    """Run Python in a checkout, which must succeed, and return what it prints."""
    env = os.environ | {"PYTHONPATH": str(home)}
    if home != ROOT:
        env["HAYWIRE_CACHE"] = str(home / "cache")
    line = [sys.executable, *arguments]
    done = subprocess.run(line, cwd=home, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


def test_the_page_adds_a_check_kind_and_an_agent() -> None:
    assert set(FILES) == {
        "judge/checks/brief.py",
        "tests/judge/test_brief.py",
        "client_harness/agents/counter.py",
    }


def test_the_general_tests_hold_for_what_the_pages_add(copy: Path) -> None:
    general = ("judge/test_check_kinds.py", "test_layering.py", "test_style.py")
    general += ("judge/test_brief.py", "faults/test_cut_texts.py")
    pytest_run(copy, *(f"tests/{name}" for name in general))
    acting = "test_every_kind_that_needs_no_state_acts_on_a_foreign_server"
    told = pytest_run(copy, f"tests/harness/test_proxy.py::{acting}[cut_texts]")
    assert "1 passed" in told


def pytest_run(home: Path, *tests: str) -> str:
    return run(home, "-m", "pytest", "-v", "-p", "no:cacheprovider", *tests)


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
    ours = [str(copy / name) for name in FILES]
    run(copy, "-m", "ruff", "check", *ours)
    run(copy, "-m", "ruff", "format", "--check", *ours)
