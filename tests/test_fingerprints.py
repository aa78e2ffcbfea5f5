"""Fingerprints cover every file that ships: an edit of any of them leaves no world, proof or result
that passes for a fresh one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from servers.kit import files
from tests.checkouts import PACKAGES, copy_to

ONE_EACH = [
    "recovery/silent_no_op/rent_history",
    "recovery/availability/ride_from_the_doctor",
    "recovery/cascade/sand_dollar_again",
]
"""A scenario with a history, and one of each other person."""
EDITS = """
import json, sys
from pathlib import Path
from client_harness import fingerprints
from scenarios import load
from scenarios.worlds import build

SCENARIOS = json.loads(sys.argv[3])
CACHED = (build.fingerprint, fingerprints.code, load.index)

def now():
    for function in CACHED:
        function.cache_clear()
    return fingerprints.fingerprints([load.load(name) for name in SCENARIOS], "notify")

before, changed = now(), {}
for name in json.loads(sys.argv[1]):
    path = Path(name)
    kept = path.read_bytes()
    path.write_text(eval(sys.argv[2])(kept.decode()))
    after = now()
    path.write_bytes(kept)
    changed[name] = sorted(part for part in before if before[part] != after[part])
assert now() == before
print(json.dumps(changed))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages, to be edited."""
    return copy_to(tmp_path_factory.mktemp("checkout"))


def edit(home: Path, names: list[str], how: str) -> dict[str, list[str]]:
    """Edit files one at a time in a process of its own and return which fingerprints each edit
    changed.
    """
    line = [sys.executable, "-c", EDITS, json.dumps(names), how, json.dumps(ONE_EACH)]
    return json.loads(
        subprocess.run(line, cwd=home, capture_output=True, text=True, check=True).stdout
    )


def one_of_each_suffix(home: Path) -> list[str]:
    """Return a file of each suffix in each package, and the deepest of them, where a search that
    does not descend misses it.
    """
    chosen: dict[tuple[str, str], Path] = {}
    for path in files.shipped(*(home / package for package in PACKAGES)):
        if path.is_relative_to(home / "judge" / "calibration"):
            continue  # no run uses what readers are measured with
        key = (path.relative_to(home).parts[0], path.suffix)
        if key not in chosen or len(path.parts) > len(chosen[key].parts):
            chosen[key] = path
    return [p.relative_to(home).as_posix() for p in chosen.values()]


@pytest.mark.long
def test_an_edit_of_any_kind_of_file_changes_a_fingerprint(copy: Path) -> None:
    (copy / "servers/email/gmail/receipt.j2").write_text("a template")
    (copy / "scenarios/worlds/fill/new").mkdir()
    (copy / "scenarios/worlds/fill/new/nested.py").write_text("generator = 1\n")
    (copy / "judge/instruction.md").write_text("an instruction")
    new = [
        "servers/email/gmail/receipt.j2",
        "scenarios/worlds/fill/new/nested.py",
        "judge/instruction.md",
    ]
    suites = ("scenarios/suites", "scenarios/haystack")
    edited = [
        n for n in one_of_each_suffix(copy) if not (n.startswith(suites) and n.endswith(".yaml"))
    ]
    edited += [*new, "scenarios/haystack/maya_year.yaml"]
    changed = edit(copy, edited, r'lambda text: text + "\n# edited\n"')
    assert not [name for name, parts in changed.items() if not parts], changed
    for name, parts in changed.items():
        if name.startswith("servers/") or name == "scenarios/worlds/fill/new/nested.py":
            assert "world" in parts, name
        if name.startswith("judge/"):
            assert "judge" in parts, name
    assert {Path(name).suffix for name in changed} >= {".py", ".yaml", ".md", ".j2", ".lock"}


def test_a_scenario_and_its_history_are_the_suites(copy: Path) -> None:
    scenario = "scenarios/suites/recovery/silent_no_op/rent_history.yaml"
    changed = edit(copy, [scenario], 'lambda text: text.replace("title: ", "title: Edited ", 1)')
    assert changed[scenario] == ["suite"]


def test_compiled_and_hidden_files_are_not_shipped(tmp_path: Path) -> None:
    for name in ("a.py", "deep/b.md", "__pycache__/a.pyc", ".hidden/c.py", "deep/.d.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [p.relative_to(tmp_path).as_posix() for p in files.shipped(tmp_path)] == [
        "a.py",
        "deep/b.md",
    ]
