"""Copies of the project, for tests that add files to it or edit it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.commands import ROOT

PACKAGES = ("servers", "fault_profiles", "judge", "scenarios", "client_harness")


def files_of(page: str) -> dict[str, str]:
    """Return the files that a page of documentation shows, by the path in a block's title."""
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return dict(blocks)


def copy_to(home: Path, *more: str) -> Path:
    """Copy the packages, and `more` folders and files of the project, and return the copy."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in (*PACKAGES, *more):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, home / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, home / name)
    return home


def add(home: Path, files: Mapping[str, str]) -> None:
    """Write new files into a copy; none of them may be there already."""
    for name, text in files.items():
        place = home / name
        assert not place.exists(), f"the page changes an existing file: {name}"
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_text(text)


def run(home: Path, *arguments: str) -> str:
    """Run Python in a checkout, which must succeed, and return what it prints."""
    env = os.environ | {"PYTHONPATH": str(home)}
    if home != ROOT:
        env["HAYWIRE_CACHE"] = str(home / "cache")
    line = [sys.executable, *arguments]
    done = subprocess.run(line, cwd=home, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout
