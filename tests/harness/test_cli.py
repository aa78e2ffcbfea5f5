"""The command line: working help, lists and pages of everything, one clear line per mistake."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.main import get_command

from client_harness import cli
from client_harness.results import Results
from judge import checks
from scenarios import load
from servers.kit.service import services
from tests.commands import PAY, command, files, process, refusal

GROUP = get_command(cli.app)
COMMANDS = GROUP.commands  # ty: ignore[missing-attribute]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example_that_parses(name: str) -> None:
    text = command(name, "--help").out
    (line,) = [line for line in text.splitlines() if "Example: " in line]
    _, _, example = line.partition("Example: ")
    program, given, *rest = shlex.split(example)
    assert (program, given) == ("client_harness", name)
    with COMMANDS[name].make_context(name, rest):
        pass


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, client_harness.cli; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    heavy = {"mcp", "mcp_types", "litellm", "pydantic", "rich", "yaml", "starlette"}
    heavy |= {"sqlite_utils", "jinja2", "anyio"}
    assert not loaded & heavy


@pytest.mark.parametrize(
    ("what", "holds"),
    [
        ("services", "venmo"),
        ("scenarios", PAY),
        ("suites", "smoke"),
        ("faults", "dropped_write"),
        ("checks", "evidence"),
        ("agents", "oracle"),
        ("worlds", "maya"),
        ("profiles", "flaky"),
        ("offers", "everyday"),
        ("clients", "claude-desktop"),
        ("adapters", "pydantic_ai"),
    ],
)
def test_lists_name_what_there_is(what: str, holds: str) -> None:
    entries = {e["name"]: e for e in command("list", what, "--json").json}
    assert entries[holds]["about"]
    printed = command("list", what).out
    assert not [name for name in entries if name not in printed]


def test_histories_are_listed_where_there_are_any() -> None:
    assert command("list", "histories", "--json").status == 0


@pytest.mark.parametrize(
    ("name", "kind", "holds"),
    [
        ("venmo", "service", "venmo.send_money (write)"),
        ("venmo.send_money", "tool", "contact_id: string"),
        (PAY, "scenario", "oracle:"),
        ("dropped_write", "fault", "on: Selector, required"),
        ("evidence", "check", "of: "),
        ("oracle", "agent", "passes in every setting"),
        ("smoke", "suite", PAY),
        ("maya", "world", "Maya"),
        ("profile:flaky", "profile", "outage"),
    ],
)
def test_show_tells_all_there_is(name: str, kind: str, holds: str) -> None:
    entry = command("show", name, "--json").json
    assert entry["kind"] == kind and entry["about"]
    assert holds in command("show", name).out


@pytest.mark.long
def test_everything_listed_can_be_shown() -> None:
    for kind in ("service", "fault", "check", "agent", "suite"):
        for entry in command("list", f"{kind}s", "--json").json:
            assert command("show", f"{kind}:{entry['name']}").out.startswith(entry["name"])
    assert {"fields", "schema"} <= command("show", "fault:outage", "--json").json.keys()
    assert len(command("show", "venmo", "--json").json["tools"]) == len(services()["venmo"].tools)
    assert set(checks.kinds()) == {e["name"] for e in command("list", "checks", "--json").json}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("show venmoo", "did you mean 'venmo'"),
        ("show venmo.send_mony", "did you mean 'venmo.send_money'"),
        ("show fult:outage", "did you mean 'fault'"),
        ("run recovry", "did you mean 'recovery'"),
        ("run smoke --option model", "KEY=VALUE"),
        ("check no_such_place", "unknown suite or scenario"),
        ("trace no_such_file", "No such file"),
        ("report no_such_run", "holds no run"),
    ],
)
def test_a_mistake_is_one_line_and_exit_status_2(line: str, message: str) -> None:
    assert message in refusal(command(*line.split()))


def test_a_mistake_shows_no_traceback_in_a_process_of_its_own() -> None:
    with process("show", "venmoo") as done:
        out, err = done.communicate()
    assert (done.returncode, out) == (2, "") and err.count("\n") == 1


def test_check_proves_and_counts() -> None:
    checked = command("check", PAY, "--json", "--matrix").json
    assert (checked["scenarios"], checked["proven"], checked["problems"]) == (1, 1, [])
    counts = checked["counts"]
    assert counts["mutants"] == counts["equivalent"] + counts["killed"] > 20
    assert (counts["excused"], counts["survived"]) == (0, 0)
    assert "change" in checked["matrix"][PAY] and all(checked["matrix"][PAY].values())
    out = command("check", load.written()[PAY], "--matrix").out
    assert "1 of 1 scenarios are proven" in out
    assert f"{counts['mutants']} mutants: {counts['equivalent']} equivalent" in out
    assert "no_blind_retry" in out


def test_check_wants_at_least_one_job() -> None:
    assert "--jobs: expected at least 1, got 0" in refusal(command("check", PAY, "--jobs", "0"))


def test_check_tells_what_is_wrong_and_exits_with_1(tmp_path: Path) -> None:
    text = load.written()[PAY].read_text()
    broken = text.replace("venmo.send_money, first", "venmo.send_mony, first")
    (tmp_path / "broken.yaml").write_text(broken)
    (tmp_path / "unproven.yaml").write_text(
        text.replace("amount: 27.5\n        note", "amount: 28.5\n        note")
    )
    done = command("check", tmp_path, "--json")
    assert done.status == 1 and (done.json["scenarios"], done.json["proven"]) == (2, 0)
    problems = {Path(p["scenario"]).stem: p["problem"] for p in done.json["problems"][::-1]}
    assert "did you mean 'send_money'" in problems["broken"]
    assert "oracle: fail" in problems["unproven"]


def test_check_names_a_seed_that_no_row_has(tmp_path: Path) -> None:
    text = load.written()["recovery/disambiguation/which_ana"].read_text()
    (tmp_path / "lost.yaml").write_text(text.replace("seed:zrc/ana_reyes", "seed:zrc/ana_ryes"))
    problems = [p["problem"] for p in command("check", tmp_path, "--json").json["problems"]]
    lost = "seed:zrc/ana_ryes names no row of the world maya; did you mean 'seed:zrc/ana_reyes'"
    assert lost in problems[0]


def test_run_without_arguments_compares_the_stock_agents_on_the_smoke_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", "--json")
    assert done.status == 0, done.err
    agents = {a["agent"]: a for a in done.json["agents"]}
    size = len(load.suites()["smoke"])
    assert list(agents) == ["oracle", "naive", "noop"]
    assert [agents[n]["clean"]["passed"] for n in agents] == [size, size, 0]
    twins = sum(load.load(n).twin for n in load.suites()["smoke"])
    assert [agents[n]["base"]["passed"] for n in agents] == [size, twins, 0]
    for agent in agents.values():
        assert [agent[s]["of"] for s in ("base", "relaxed", "clean")] == [size, size, size]
        assert agent["unknown"] == 0
    assert len(Results.open(tmp_path / "runs" / "0001").trials()) == size * 3 * 2


def test_reports_come_as_tables_markdown_html_and_json(tmp_path: Path) -> None:
    agents = ("--agent", "oracle", "--agent", "naive")
    done = command("run", PAY, *agents, "--trials", 2, "--out", tmp_path)
    assert done.status == 0
    assert "2/2 100%" in done.out
    assert f"Results and traces: {tmp_path}" in done.out
    assert done.err == ""
    assert command("report", tmp_path, "--json").json["agents"][0]["base"]["of"] == 2
    assert "| oracle | 2/2 100%  (34–100)" in command("report", tmp_path, "--md").out
    page = command("report", tmp_path, "--html").out
    assert page.startswith("<!doctype html>") and "<td>oracle</td>" in page
    before = files(tmp_path / "traces")
    assert command("judge", tmp_path, "--json").json == command("report", tmp_path, "--json").json
    assert "already holds a run" in refusal(command("run", PAY, "--out", tmp_path))
    assert files(tmp_path / "traces") == before


def test_a_trace_reads_as_a_conversation(tmp_path: Path) -> None:
    command("run", PAY, "--agent", "naive", "--out", tmp_path)
    text = command("trace", tmp_path / "traces" / PAY / "naive-1.jsonl").out
    assert "user: Jordan Park covered" in text
    assert "fault dropped (dropped_write, firing 1)" in text
    assert "assistant: Done!" in text


def test_options_reach_the_agent_as_yaml_values(tmp_path: Path) -> None:
    options = ("--command", "no-such-program", "--option", "max_steps=3", "--option", "refresh=on")
    command("run", PAY, "--agent", "process", *options, "--out", tmp_path)
    stored = Results.open(tmp_path).request["options"]
    assert stored == {"command": "no-such-program", "max_steps": 3, "refresh": "on"}


def test_json_is_all_that_json_prints(tmp_path: Path) -> None:
    with process("run", PAY, "--agent", "oracle", "--json", "--out", tmp_path) as done:
        out, err = done.communicate()
    assert done.returncode == 0 and json.loads(out)["agents"] and err == ""


def test_the_version_is_that_of_the_installed_distribution() -> None:
    done = command("--version")
    assert (done.status, done.out, done.err) == (0, f"haywire {metadata.version('haywire')}\n", "")
