"""Generated pages are up to date, and the commands and links in the pages exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

from client_harness import docs
from client_harness.cli import app
from scenarios.script import Route, Step, Violation, check_names, flat
from servers.kit.expr.evaluate import FUNCTIONS, evaluate


def test_generated_pages_are_not_stale() -> None:
    assert docs.stale() == [], "run `make docs`"


def test_commands_that_the_pages_show_exist() -> None:
    known = {c.name for c in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    for page in (
        "README.md",
        "docs/playing.md",
        "docs/writing-scenarios.md",
        "docs/architecture.md",
    ):
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


def _blocks(heading: str) -> list[str]:
    """Return the YAML blocks of a section of the page about scenarios."""
    page = (docs.ROOT / "docs/writing-scenarios.md").read_text()
    section = re.split(r"^## ", page.split(f"\n## {heading}\n")[1], flags=re.M)[0]
    return re.findall(r"```yaml\n(.*?)```", section, flags=re.S)


def test_the_page_about_scenarios_shows_steps_that_can_be_read() -> None:
    steps = [Step.model_validate(step) for step in yaml.safe_load(_blocks("Scripts")[0])]
    check_names(steps, "scripts.oracle")
    shown: set[str] = set()
    for step in flat(steps):
        shown |= step.model_fields_set
    assert shown >= {"call", "args", "save", "id", "say", "batch", "repeat", "until", "do", "test"}


def test_the_page_about_scenarios_computes_every_function() -> None:
    page = (docs.ROOT / "docs/writing-scenarios.md").read_text()
    scope = yaml.safe_load(_blocks("Scripts")[1])
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", page, flags=re.M)
    for expression, value in rows:
        assert evaluate(expression, scope) == json.loads(value), expression
    shown = " ".join(expression for expression, _ in rows)
    assert [name for name in FUNCTIONS if f"{name}(" not in shown] == []


def test_the_page_about_scenarios_shows_edits_that_can_be_read() -> None:
    """`entry` stands for an argument that a script before it has named."""
    edits = yaml.safe_load("entry: &entry {}\n" + _blocks("Routes and violations")[0])
    for kind, key in ((Route, "routes"), (Violation, "violations")):
        for edit in edits[key]:
            kind.model_validate(edit)
