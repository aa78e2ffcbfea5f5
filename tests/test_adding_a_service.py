"""The page on adding a service, followed to the letter in a copy of the project.

The contract tests must pass for the service that it adds.
"""

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

PAGE = ROOT / "docs" / "adding-a-service.md"
FILES = dict(
    re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
)
PACKAGES = ("servers", "fault_profiles", "judge", "scenarios", "client_harness", "tests")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the page's files added and no existing file changed."""
    home = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, home / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, home / name)
    for name, text in FILES.items():
        place = home / name
        assert not place.exists(), f"the page changes an existing file: {name}"
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_text(text)
    return home


def run(home: Path, *arguments: str) -> str:
    """Run Python in the copy, which must succeed, and return what it prints."""
    env = os.environ | {"PYTHONPATH": str(home), "HAYWIRE_CACHE": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=home,
        env=env,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


def test_the_contracts_hold_for_the_service_of_the_page(copy: Path) -> None:
    contracts = (
        "tests/services/test_contract.py",
        "tests/services/test_fuzz.py",
        "tests/services/test_ids.py",
    )
    printed = run(copy, "-m", "pytest", "-v", "-p", "no:cacheprovider", *contracts, "-k", "lending")
    assert sum(map(int, re.findall(r"(\d+) passed", printed))) > 20


def test_the_tests_of_the_whole_project_hold_with_the_service_of_the_page(copy: Path) -> None:
    general = ("services/test_counterparts.py", "test_layering.py", "test_style.py")
    general += ("services/books/test_lending.py",)
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{t}" for t in general))


def test_the_command_line_knows_the_service_of_the_page(copy: Path) -> None:
    printed = run(copy, "-m", "client_harness", "list", "services", "--json")
    listed = {service["name"]: service for service in json.loads(printed)}
    lending = listed["lending"]
    assert (lending["tools"], lending["writes"], lending["category"]) == (3, 1, "books")


def test_the_code_of_the_page_is_formatted_as_ours(copy: Path) -> None:
    ours = [str(copy / name) for name in FILES if name.endswith(".py")]
    for check in (["check"], ["format", "--check"]):
        run(copy, "-m", "ruff", *check, *ours)
