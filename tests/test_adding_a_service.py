"""The page on adding a service, followed to the letter in a copy of the project.

The contract tests must pass for the service that it adds.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.checkouts import add, copy_to, files_of, run

FILES = files_of("adding-a-service.md")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the page's files added and no existing file changed."""
    home = copy_to(tmp_path_factory.mktemp("project"), "tests", "pyproject.toml", "README.md")
    add(home, FILES)
    return home


@pytest.mark.long
def test_the_contracts_hold_for_the_service_of_the_page(copy: Path) -> None:
    contracts = (
        "tests/services/test_contract.py",
        "tests/services/test_fuzz.py",
        "tests/services/test_ids.py",
    )
    quiet = ("-p", "no:cacheprovider", "-m", "long or not long")
    printed = run(copy, "-m", "pytest", "-v", *quiet, *contracts, "-k", "lending")
    assert sum(map(int, re.findall(r"(\d+) passed", printed))) > 20


@pytest.mark.long
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
