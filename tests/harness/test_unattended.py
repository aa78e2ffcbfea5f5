"""Unattended runs: whose fault it was, what a run may spend, how it exits, how it goes on."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from client_harness.budget import Spent
from client_harness.commands._progress import Lines
from client_harness.results import Results, Trial
from client_harness.run import reopen
from tests.commands import PAY, ROOT, Done, command, files, refusal
from tests.harness.process_agents import program, scenario

FAILS = 'if method == "turn": result["status"] = "error"'
CRASHES = 'if method == "turn": print("out of luck", file=sys.stderr); sys.exit(7)'
HANGS = 'if method == "turn": sys.stdin.read()'
AWAY = 'if method == "turn": result = {"status": "outage", "detail": "no route"}'
AWAY_AT_FIRST = """if method == "turn" and not (HERE / "back").exists():
    result |= {"status": "outage", "detail": "no route"}"""


def run(
    folder: Path, *options: object, here: str = "", before: str = "", home: str = "run"
) -> Done:
    """Run the agent of its own process over the scenario about the time."""
    started = ("--agent", "process", "--command", program(folder, here, before))
    return command("run", scenario(folder), *started, *options, "--out", folder / home)


def only(folder: Path, home: str = "run") -> Trial:
    """Return the only trial of a run."""
    (trial,) = Results.open(folder / home).trials()
    return trial


def value(trial: Trial) -> str:
    """Return the verdict in the strictest setting that the trial shows."""
    return trial.verdicts["base" if trial.arm == "faulted" else "clean"]["value"]


# -- outcomes ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("here", "status", "why"),
    [
        (FAILS, "error", "the agent failed"),
        (CRASHES, "error", "(exit code 7); its stderr ends with: out of luck"),
        ("sys.exit(3)", "error", "before it answered initialize (exit code 3)"),
        ('result = {"agent": 5}', "error", "agent must be a text"),
        (HANGS, "late", "did not answer turn within 2 s"),
    ],
)
def test_what_the_agent_does_wrong_is_its_error_though_the_world_came_out_right(
    tmp_path: Path, here: str, status: str, why: str
) -> None:
    done = run(tmp_path, "--option", "turn_seconds=2", "--json", here=here)
    trial = only(tmp_path)
    assert (trial.status, value(trial), trial.tries) == (status, "error", 1)
    assert trial.verdicts["base"]["score"] == 0 and why in trial.verdicts["base"]["why"]
    (agent,) = done.json["agents"]
    assert (agent["agent_errors"], agent["unknown"], agent["base"]["of"]) == (1, 0, 1)
    assert (agent["base"]["passed"], agent["base"]["agent_errors"]) == (0, 1)
    assert (done.json["failed"], done.json["unknown"]) == ([], [])
    assert why in done.json["agent_errors"][0]["why"]
    assert done.status == 0


def test_an_agent_without_a_flaw_passes_in_the_same_place(tmp_path: Path) -> None:
    done = run(tmp_path, "--clean", "--fail-under", 1, "--json")
    assert done.status == 0 and done.err == ""
    (agent,) = done.json["agents"]
    assert [agent[setting]["passed"] for setting in ("base", "relaxed", "clean")] == [1, 1, 1]
    assert (agent["agent"], agent["run_as"]) == ("tiny 2.1", "process")


def test_every_form_of_a_report_has_a_column_and_a_list_for_agent_errors(tmp_path: Path) -> None:
    done = run(tmp_path, here=CRASHES)
    title = "Agent errors (counted as not passed)"
    page = command("report", tmp_path / "run", "--html").out
    text = command("report", tmp_path / "run", "--md").out
    assert title in done.out and f"<h2>{title}</h2>" in page and f"## {title}" in text
    assert "<th>agent errors</th>" in page and "| agent errors | unknown |" in text
    row = next(line for line in text.splitlines() if line.startswith("| tiny 2.1 | 0/1 0%"))
    assert [cell.strip() for cell in row.split("|")][-4:-1] == ["1", "0", "0"]
    assert "Failed trials" not in done.out and "Unknown trials" not in done.out


def test_a_hang_that_we_injected_and_the_agent_never_ended_is_a_failure(tmp_path: Path) -> None:
    fault = "hang: {name: silent, on: clock.get_time, real_seconds: 60}"
    path = scenario(tmp_path, "hang", fault)
    options = ("--command", program(tmp_path), "--option", "turn_seconds=2", "--json")
    done = command("run", path, "--agent", "process", *options, "--out", tmp_path / "run")
    trial = only(tmp_path)
    assert (trial.status, value(trial)) == ("hung", "fail")
    assert "it never gave up a call that hung" in done.json["failed"][0]["why"]
    assert done.json["agent_errors"] == [] and done.json["agents"][0]["agent_errors"] == 0


@pytest.mark.long
def test_an_agent_that_waits_for_its_provider_gets_that_time_back(tmp_path: Path) -> None:
    before = """note = {"jsonrpc": "2.0", "method": "backoff", "params": {"seconds": 30}}
print(json.dumps(note), flush=True)
import select
select.select([], [], [], 3)"""
    run(tmp_path, "--option", "turn_seconds=2", before=before)
    assert value(only(tmp_path)) == "pass"


def test_judging_again_leaves_an_agents_error_an_error(tmp_path: Path) -> None:
    run(tmp_path, here=FAILS)
    before = only(tmp_path)
    assert command("judge", tmp_path / "run", "--json").json["agents"][0]["agent_errors"] == 1
    assert only(tmp_path) == before


# -- exit statuses -------------------------------------------------------------------------------
def test_below_the_wanted_rate_a_run_exits_with_1_and_names_agent_and_setting(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "--agent", "noop", "--fail-under", 0.5, "--clean")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"below --fail-under 0.5: noop passed 0 of 1 in {setting}"
        for setting in ("base", "relaxed", "clean")
    ]


def test_an_agents_error_counts_as_not_passed(tmp_path: Path) -> None:
    done = run(tmp_path, "--fail-under", 0.1, here=FAILS)
    assert done.status == 1 and "tiny 2.1 passed 0 of 1 in base" in done.err


def test_unknown_trials_exit_with_3_and_are_left_out_of_the_rate(tmp_path: Path) -> None:
    done = run(tmp_path, "--fail-under", 1, "--agent", "oracle", here=AWAY)
    assert done.status == 3
    again = f"`client_harness resume {tmp_path / 'run'}`"
    assert done.err == f"1 trial is unknown; {again} goes on with them\n"


def test_a_mistake_comes_before_everything_else(tmp_path: Path) -> None:
    done = run(tmp_path, "--fail-under", 1, "--option", "turn_second=3", here=AWAY)
    assert "did you mean 'turn_seconds'" in refusal(done)
    assert not (tmp_path / "run").exists()
    for option in (("--fail-under", 2), ("--max-tokens", "many")):
        assert command("run", PAY, *option).status == 2


def stopped(done: Done, folder: Path, why: str) -> None:
    """Check that a run stopped with one line that says why."""
    assert (done.status, done.out) == (3, ""), done
    assert done.err.startswith("stopped: the first 3 trials of ") and done.err.count("\n") == 1
    assert why in done.err and f"`client_harness resume {folder / 'run'}`" in done.err
    assert len(Results.open(folder / "run").trials()) == 3


def test_a_command_that_is_not_there_stops_the_run_after_three_trials(tmp_path: Path) -> None:
    started = ("--agent", "process", "--command", "no-such-agent --fast", "--trials", 50)
    done = command("run", scenario(tmp_path), *started, "--out", tmp_path / "run")
    stopped(done, tmp_path, "cannot be started: No such file or directory: no-such-agent")
    assert [trial.tries for trial in Results.open(tmp_path / "run").trials()] == [1, 1, 1]


@pytest.mark.long
def test_a_model_without_a_key_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started = ("--agent", "model", "--model", "openai/gpt-4o-mini", "--trials", 50)
    done = command("run", scenario(tmp_path), *started, "--out", tmp_path / "run")
    stopped(done, tmp_path, "OPENAI_API_KEY")


def test_a_provider_that_nobody_reaches_stops_the_run(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9/v1"
    started = ("--agent", "model", "--model", "openai/scripted", "--api-base", nobody)
    options = ("--option", "retries=0", "--trials", 50)
    done = command("run", scenario(tmp_path), *started, *options, "--out", tmp_path / "run")
    stopped(done, tmp_path, "onnect")


def test_a_run_goes_on_past_an_outage_that_is_not_there_from_the_start(tmp_path: Path) -> None:
    late = 'if (HERE / "seen").exists():\n    result["status"] = "outage"\n(HERE / "seen").touch()'
    done = run(tmp_path, "--trials", 5, "--json", before=late)
    assert [value(trial) for trial in Results.open(tmp_path / "run").trials()] == [
        "pass",
        *["unknown"] * 4,
    ]
    assert (done.status, done.json["exit"], done.json["stopped"]) == (3, 3, None)


# -- budgets -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (("--max-cost", 0.025), "$0.0300 of --max-cost 0.025 are spent"),
        (("--max-tokens", 300), "300 of --max-tokens 300 are spent"),
    ],
)
def test_what_a_budget_leaves_over_is_not_run_and_resume_runs_it(
    tmp_path: Path, budget: tuple[str, float], why: str
) -> None:
    done = run(tmp_path, "--trials", 5, *budget, "--json")
    assert done.status == 3 and done.json["stopped"] == why
    (agent,) = done.json["agents"]
    assert (agent["not_run"], agent["base"]["of"], agent["usage"]["cost"]) == (2, 3, 0.03)
    assert f"stopped: {why}" in done.err and "2 trials are not run" in done.err
    assert "| not run |" in command("report", tmp_path / "run", "--md").out
    still = command("resume", tmp_path / "run")
    assert still.status == 3 and why in still.err
    more = command("resume", tmp_path / "run", "--max-cost", 9, "--max-tokens", 9000, "--json")
    (agent,) = more.json["agents"]
    assert (more.status, agent["not_run"], agent["base"]["of"]) == (0, 0, 5)
    assert Spent.of(Results.open(tmp_path / "run").trials()).tokens == 500


def test_a_budget_in_dollars_for_tokens_without_a_price_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "--max-cost", 1, before='del usage["cost"]')
    assert "--max-cost does not work with process: it used 100 tokens" in refusal(done)


def test_budgets_jobs_and_retries_are_in_no_fingerprint_and_no_trace(tmp_path: Path) -> None:
    run(tmp_path, home="one")
    many = ("--jobs", 3, "--max-cost", 4, "--max-tokens", 4000, "--fail-under", 0)
    run(tmp_path, *many, "--option", "turn_seconds=99", home="other")
    one = Results.open(tmp_path / "one")
    other = Results.open(tmp_path / "other")
    assert one.fingerprints == other.fingerprints and one.trials() == other.trials()
    assert files(tmp_path / "one" / "traces") == files(tmp_path / "other" / "traces")
    assert command("report", tmp_path / "one", tmp_path / "other").status == 0


# -- going on ------------------------------------------------------------------------------------
def test_resume_plays_unknown_trials_again_and_keeps_their_traces_and_cost(tmp_path: Path) -> None:
    assert run(tmp_path, "--trials", 2, here=AWAY_AT_FIRST).status == 3
    home = tmp_path / "run"
    before = files(home / "traces")
    assert len(before) == 4  # each trial was tried twice
    assert [trial.unknown for trial in Results.open(home).trials()] == [True, True]
    (tmp_path / "back").touch()
    done = command("resume", home, "--json")
    assert done.status == 0, done.err
    for trial in Results.open(home).trials():
        assert (value(trial), trial.tries, len(trial.earlier)) == ("pass", 3, 2)
        assert trial.trace.endswith(".try-3.jsonl")
        assert "no route" in trial.earlier[0]["reason"]
        assert [kept["usage"]["cost"] for kept in trial.earlier] == [0.01, 0.01]
        assert (trial.usage["cost"], round(trial.as_row()["cost"], 6)) == (0.01, 0.03)
        for kept in trial.earlier:
            path = kept["trace"].removeprefix("traces/")
            assert files(home / "traces")[path] == before[path]
    assert done.json["agents"][0]["usage"]["cost"] == 0.06
    assert command("resume", home, "--json").json["agents"] == done.json["agents"]
    assert len(files(home / "traces")) == 6


def go_on(home: Path) -> None:
    """Finish a run, in a process that will be killed."""
    reopen(home).finish()


def unknown_in(home: Path) -> int:
    """Return how many trials of a run are unknown at this moment."""
    return len([trial for trial in Results.open(home).trials() if trial.unknown])


@pytest.mark.long
def test_resume_killed_at_any_moment_loses_no_trial_and_counts_none_twice(tmp_path: Path) -> None:
    home = tmp_path / "run"
    run(tmp_path, "--trials", 6, "--jobs", 2, here=AWAY_AT_FIRST)
    assert len(Results.open(home).trials()) == 6
    (tmp_path / "back").touch()
    chance = random.Random(5)
    fork = multiprocessing.get_context("fork")
    unknown = [6]
    for _ in range(12):
        child = fork.Process(target=go_on, args=(home,))
        child.start()
        goal = unknown[-1] - chance.randint(0, 1)
        while child.is_alive() and unknown_in(home) > goal:
            child.join(0.002)
        child.join(chance.uniform(0.0, 0.4))
        child.kill()
        child.join()
        trials = Results.open(home).trials()
        assert len(trials) == 6
        assert all((home / trial.trace).exists() for trial in trials)
        unknown.append(unknown_in(home))
    assert unknown == sorted(unknown, reverse=True), unknown
    done = command("resume", home, "--json")
    (agent,) = done.json["agents"]
    assert (done.status, agent["base"]["of"], agent["base"]["passed"]) == (0, 6, 6)
    for trial in Results.open(home).trials():
        assert (trial.tries, trial.trace.endswith(".try-3.jsonl")) == (3, True)


# -- in CI ---------------------------------------------------------------------------------------
def steps() -> dict[str, str]:
    """Return what the steps of the workflow in the documentation run, by their names."""
    page = (ROOT / "docs" / "ci.md").read_text()
    (workflow,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    job = yaml.safe_load(workflow)["jobs"]["haywire"]
    return {step["name"]: step["run"] for step in job["steps"] if "name" in step}


@pytest.mark.long
@pytest.mark.parametrize(("here", "status"), [("", 0), (FAILS, 1), (AWAY, 3)])
def test_the_workflow_of_the_documentation_does_what_it_says(
    tmp_path: Path, here: str, status: int
) -> None:
    installed = tmp_path / "haywire" / ".venv" / "bin"
    installed.mkdir(parents=True)
    program_file = installed / "client_harness"
    program_file.write_text(f'#!/bin/sh\nexec {sys.executable} -m client_harness "$@"\n')
    program_file.chmod(0o755)
    (tmp_path / "agent").mkdir()
    program(tmp_path / "agent", here)
    (tmp_path / "agent" / "agent.py").rename(tmp_path / "agent" / "my_agent.py")
    summary = tmp_path / "summary.md"
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    shell = ["bash", "-e", "-c"]
    ran = steps()
    assert "run smoke --agent process" in ran["Run the agent"]
    quick = ran["Run the agent"].replace("run smoke", f"run {scenario(tmp_path)}")
    done = subprocess.run([*shell, quick], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    tries = {trial.tries for trial in Results.open(tmp_path / "results").trials()}
    assert tries == ({4} if here == AWAY else {1})  # it was resumed
    subprocess.run([*shell, ran["Show the report"]], cwd=tmp_path, env=env, check=True)
    assert "| agent errors | unknown |" in summary.read_text()


# -- what is kept beside traces ------------------------------------------------------------------
def test_what_an_agent_writes_on_stderr_is_kept_beside_its_trace(tmp_path: Path) -> None:
    run(tmp_path, "--clean", here='if method == "turn": print("I think", file=sys.stderr)')
    kept = files(tmp_path / "run" / "traces")
    texts = {name: content for name, content in kept.items() if name.endswith(".stderr.txt")}
    assert list(texts.values()) == [b"I think\n"] * 2
    assert {name.replace(".stderr.txt", ".jsonl") for name in texts} == kept.keys() - texts.keys()
    run(tmp_path, home="silent")
    assert all(name.endswith(".jsonl") for name in files(tmp_path / "silent" / "traces"))


def test_real_time_and_cost_are_in_the_results_and_not_in_the_trace(tmp_path: Path) -> None:
    run(tmp_path)
    trial = only(tmp_path)
    assert trial.began and trial.ended and trial.began <= trial.ended
    assert trial.began.endswith("+00:00") and (trial.wall_seconds or 0) > 0
    row: dict[str, Any] = trial.as_row()
    assert (row["tokens"], row["cost"]) == (100, 0.01)
    text = (tmp_path / "run" / trial.trace).read_text()
    assert not re.search(r"wall|token|cost|127\.0\.0\.1", text) and trial.began[:10] not in text


def test_where_nobody_looks_a_line_now_and_then_says_how_far_a_run_is() -> None:
    said: list[str] = []
    shown = Lines("running", lambda: "$0.42", said.append, every=0)
    for done in range(3):
        shown.tell(done, 2, None)
    assert said == [f"running: {done} of 2 trials, 0:00 min, $0.42" for done in range(2)]
    Lines("running", str, said.append).tell(1, 2, None)
    assert len(said) == 2


def test_results_of_an_earlier_version_can_still_be_read(tmp_path: Path) -> None:
    run(tmp_path)
    new = ("identity", "earlier", "began", "ended", "wall_seconds", "tokens", "cost")
    db = sqlite3.connect(tmp_path / "run" / "results.db")
    for column in new:
        db.execute(f"ALTER TABLE trials DROP COLUMN {column}")
    db.execute("UPDATE run SET value = json_remove(value, '$.max_cost') WHERE key = 'settings'")
    db.commit()
    db.close()
    (agent,) = command("report", tmp_path / "run", "--json").json["agents"]
    assert (agent["agent"], agent["base"]["passed"], agent["wall_seconds"]) == ("process", 1, 0)
    assert command("resume", tmp_path / "run").status == 0
