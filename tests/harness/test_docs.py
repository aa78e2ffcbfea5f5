"""Generated pages are up to date, and the commands and links in the pages exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from client_harness import docs
from client_harness.cli import app


def test_generated_pages_are_not_stale() -> None:
    assert docs.stale() == [], "run `make docs`"


def test_commands_that_the_pages_show_exist() -> None:
    known = {c.name for c in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    for page in ("README.md", "docs/writing-scenarios.md", "docs/architecture.md"):
        text = (docs.ROOT / page).read_text()
        assert set(re.findall(r"client_harness ([a-z]+)(?= |`|\n)", text)) <= known | {"run"}


def test_links_between_pages_lead_somewhere() -> None:
    fronts = [docs.ROOT / "README.md", docs.ROOT / "AGENTS.md"]
    for page in [*fronts, *(docs.ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_agent_that_the_page_shows_runs(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", (docs.ROOT / "docs/agents.md").read_text(), re.DOTALL)
    assert code is not None
    (tmp_path / "tiny.py").write_text(code[1])
    (tmp_path / "time.yaml").write_text(TIME)
    command = [sys.executable, "-m", "client_harness", "run", str(tmp_path / "time.yaml")]
    command += ["--json", "--out", str(tmp_path / "run")]
    command += ["--agent", "process", "--command", f"{sys.executable} {tmp_path / 'tiny.py'}"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["agents"][0]["base"]["passed"] == 1


TIME = """
title: The time
about: A person asks for the time.
failure: none
services: [clock]
turns: [{user: What time is it?}]
checks:
  - called: {name: looked, call: clock.get_time}
scripts:
  oracle: [{id: look, call: clock.get_time, save: t}, {say: "It is ${t.now}."}]
  naive: [{call: clock.get_time, save: t}, {say: "It is ${t.now}."}]
violations: [{fails: looked, steps: [{say: "It is noon."}]}]
"""
