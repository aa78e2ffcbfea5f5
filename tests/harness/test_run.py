"""Runs.

The same command gives the same bytes, nothing is lost or counted twice, and unknown trials are
counted separately.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import random
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest

from client_harness._host import Host
from client_harness.rejudge import rejudge
from client_harness.report import report
from client_harness.results import Results, Trial
from client_harness.run import RunRequest, new_home, reopen, start
from scenarios import load
from servers.kit.errors import InputError
from tests.commands import PAY, RENT, command, files, process, refusal
from tests.support import new_session

SPREAD = (
    PAY,
    RENT,
    "hazards/disambiguation/two_dinners",
    "recovery/silent_no_op/tacos_for_stonebridge",
    "recovery/staleness/rest_of_the_distribution",
)
"""Five scenarios: three worlds, held-back services, mails, a question, and several turns."""
SMALL = RunRequest([PAY, RENT], ["oracle", "naive", "noop"], clean=True)


def ran(request: RunRequest, home: Path) -> Results:
    """Run to the end and return the results."""
    run = start(request, home)
    run.finish()
    return run.results


def values(trial: Trial) -> dict[str, str]:
    """Return the value of each verdict."""
    return {setting: verdict["value"] for setting, verdict in trial.verdicts.items()}


def test_each_trial_is_judged_in_the_settings_it_can_show(tmp_path: Path) -> None:
    results = ran(SMALL, tmp_path)
    trials = {t.key: t for t in results.trials()}
    assert len(trials) == 2 * 3 * 2
    oracle = trials[PAY, "oracle", 1, "faulted"]
    naive = trials[PAY, "naive", 1, "faulted"]
    assert values(oracle) == {"base": "pass", "relaxed": "pass"}
    assert values(naive) == {"base": "fail", "relaxed": "fail"}
    assert list(trials[PAY, "naive", 1, "clean"].verdicts) == ["clean"]
    assert naive.verdicts["base"]["why"] and naive.verdicts["base"]["findings"]
    assert not trials[PAY, "noop", 1, "faulted"].exposed
    assert (oracle.calls, oracle.oracle_calls, oracle.needless) == (5, 5, 0)
    traces = sorted(trial.trace.removeprefix("traces/") for trial in trials.values())
    assert sorted(files(tmp_path / "traces")) == traces
    assert oracle.trace == f"traces/{PAY}/oracle-1.jsonl"
    assert trials[PAY, "oracle", 1, "clean"].trace == f"traces/{PAY}/oracle-clean-1.jsonl"


def verdicts(home: Path) -> bytes:
    """Return the verdicts of a run's trials as JSON."""
    told = {"/".join(map(str, trial.key)): trial.verdicts for trial in Results.open(home).trials()}
    return json.dumps(told, ensure_ascii=False).encode()


def test_another_process_plays_and_judges_the_same_bytes(tmp_path: Path) -> None:
    agents = ("--agent", "oracle", "--agent", "naive")
    options = (*SPREAD, *agents, "--trials", "2", "--clean", "--json")
    for name, jobs, hash_seed in (("one", 1, "1"), ("two", 4, "2")):
        env = {"PYTHONHASHSEED": hash_seed}
        with process("run", *options, "--jobs", jobs, "--out", tmp_path / name, env=env) as done:
            assert done.wait() == 0, done.communicate()
    assert files(tmp_path / "one" / "traces") == files(tmp_path / "two" / "traces")
    assert len(files(tmp_path / "one" / "traces")) == len(SPREAD) * 8
    assert verdicts(tmp_path / "one") == verdicts(tmp_path / "two")
    assert Results.open(tmp_path / "one").trials() == Results.open(tmp_path / "two").trials()


def test_trials_of_a_scenario_have_seeds_of_their_own(tmp_path: Path) -> None:
    results = ran(RunRequest([PAY], ["oracle"], trials=2, seed=10), tmp_path)
    own = load.load(PAY).seed
    assert [trial.seed for trial in results.trials()] == [own + 10, own + 11]
    one, two = files(tmp_path / "traces").values()
    assert one != two


def rows(home: Path) -> int:
    """Return how many trials of a run are stored at this moment."""
    with contextlib.closing(sqlite3.connect(home / "results.db")) as db:
        return db.execute("SELECT count(*) FROM trials").fetchone()[0]


def go_on(home: Path) -> None:
    """Finish a run, in a process that will be killed."""
    reopen(home).finish()


def test_a_run_killed_at_any_moment_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    request = replace(SMALL, trials=6, jobs=3)
    whole = ran(request, tmp_path / "whole")
    start(request, tmp_path / "killed").results.close()
    chance = random.Random(11)
    counts = [0]
    fork = multiprocessing.get_context("fork")
    for _ in range(10):
        child = fork.Process(target=go_on, args=(tmp_path / "killed",))
        child.start()
        goal = counts[-1] + chance.randint(0, 3)
        while child.is_alive() and rows(tmp_path / "killed") < goal:
            child.join(0.002)
        child.join(chance.uniform(0.0, 0.1))
        child.kill()
        child.join()
        kept = Results.open(tmp_path / "killed")
        counts.append(len(kept.trials()))
        assert all((tmp_path / "killed" / t.trace).exists() for t in kept.trials())
    assert counts == sorted(counts), counts
    assert len(set(counts)) > 3, counts  # some kills came while it was running
    with process("resume", tmp_path / "killed", "--json") as last:
        assert last.wait() == 0, last.communicate()
    assert Results.open(tmp_path / "killed").trials() == whole.trials()
    assert files(tmp_path / "killed" / "traces") == files(tmp_path / "whole" / "traces")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, sign: signal.Signals) -> None:
    with process("run", PAY, "--agent", "oracle", "--trials", 2000, "--out", tmp_path) as running:
        while not (tmp_path / "traces").exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise AssertionError((running.wait(0.05), running.communicate()))
        running.send_signal(sign)
        out, err = running.communicate()
    assert running.returncode == 3
    assert err == f"stopped; run `client_harness resume {tmp_path}` to finish\n"
    assert out == ""
    assert 0 < len(Results.open(tmp_path).trials()) < 2000


def test_a_trial_without_a_provider_is_unknown_retried_once_and_in_no_denominator(
    tmp_path: Path,
) -> None:
    outage = {"jsonrpc": "2.0", "id": 1, "result": {"status": "outage"}}
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    print(json.dumps({outage} | {{'id': json.loads(line)['id']}}), flush=True)\n"
    )
    options = {"command": f"{sys.executable} {program}"}
    results = ran(RunRequest([PAY], ["process"], options=options), tmp_path / "run")
    (trial,) = results.trials()
    assert (trial.status, trial.tries, trial.unknown) == ("crash", 2, True) and trial.reason
    (agent,) = report([results])["agents"]
    assert (agent["trials"], agent["unknown"]) == (1, 1)
    assert (agent["base"]["of"], agent["base"]["rate"]) == (0, None)
    assert report([results])["unknown"][0]["why"] == trial.reason


def test_an_agent_that_dies_in_a_turn_is_an_agent_error_and_the_report_says_of_what(
    tmp_path: Path,
) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['method'] == 'turn':\n"
        "        raise SystemExit(7)\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': {}}), flush=True)\n"
    )
    options = {"command": f"{sys.executable} {program}"}
    results = ran(RunRequest([PAY], ["process"], options=options), tmp_path / "run")
    data = report([results])
    (failed,) = data["agent_errors"]
    assert data["unknown"] == data["failed"] == []
    assert failed["why"].startswith("the agent's process (python")
    assert "(exit code 7); not exposed: " in failed["why"]


def test_judging_again_runs_nothing_and_finds_the_same(tmp_path: Path) -> None:
    results = ran(SMALL, tmp_path)
    before = results.trials()
    traces = files(tmp_path / "traces")
    for trial in before:
        forgotten = {}
        for setting, verdict in trial.verdicts.items():
            forgotten[setting] = verdict | {"value": "unknown", "why": "?"}
        results.store(replace(trial, verdicts=forgotten))
    assert all(t.unknown for t in results.trials())
    assert rejudge(tmp_path).trials() == before
    assert files(tmp_path / "traces") == traces


def copied(folder: Path) -> Path:
    """Return a copy of a scenario that a test may change."""
    folder.mkdir()
    path = folder / "mine.yaml"
    path.write_text(load.written()[PAY].read_text())
    return path


def test_judging_again_applies_the_checks_of_now(tmp_path: Path) -> None:
    path = copied(tmp_path / "suite")
    ran(RunRequest([str(path)], ["oracle"]), tmp_path / "run")
    other = "  - called: {name: other, call: zelle.send_transfer}\nstatements:"
    path.write_text(path.read_text().replace("statements:", other))
    (trial,) = rejudge(tmp_path / "run").trials()
    assert trial.verdicts["base"]["value"] == "fail"
    assert "zelle.send_transfer was called never" in trial.verdicts["base"]["why"]


def test_a_run_whose_scenario_changed_is_not_resumed(tmp_path: Path) -> None:
    path = copied(tmp_path / "suite")
    start(RunRequest([str(path)], ["oracle"]), tmp_path / "run").results.close()
    path.write_text(path.read_text().replace("first: 1", "first: 2"))
    assert "suite changed since" in refusal(command("resume", tmp_path / "run"))


def test_a_report_refuses_to_mix_and_says_what_differs(tmp_path: Path) -> None:
    one = ran(RunRequest([PAY], ["noop"]), tmp_path / "one")
    other = ran(RunRequest([RENT], ["noop"], disclosure="locked"), tmp_path / "other")
    with pytest.raises(InputError, match=r"cannot be compared: disclosure, judge, suite differ$"):
        report([one, other])
    with pytest.raises(InputError, match="named twice"):
        report([one, one])


def test_a_report_of_two_runs_tells_their_agents_apart(tmp_path: Path) -> None:
    one = ran(RunRequest([PAY, RENT], ["oracle", "noop"]), tmp_path / "oracle")
    other = ran(RunRequest([PAY, RENT], ["naive", "noop"]), tmp_path / "naive")
    data = report([one, other])
    labels = [agent["agent"] for agent in data["agents"]]
    assert labels == ["oracle", "noop (oracle)", "naive", "noop (naive)"]
    pairs = {}
    for pair in data["differences"]:
        assert (pair["first"], pair["second"], pair["setting"]) not in pairs
        pairs[pair["first"], pair["second"], pair["setting"]] = pair
    pair = pairs["oracle", "naive", "base"]
    assert (pair["difference"], pair["better"], pair["worse"]) == (1.0, 2, 0)


def test_denominators_intervals_and_pass_k_are_explicit(tmp_path: Path) -> None:
    data = report([ran(replace(SMALL, trials=2), tmp_path)])
    by_name = {a["agent"]: a for a in data["agents"]}
    oracle = by_name["oracle"]
    noop = by_name["noop"]
    base = oracle["base"]
    assert (oracle["trials"], base["passed"], base["of"], base["rate"]) == (4, 4, 4, 1.0)
    assert base["interval"] == [0.5101, 1.0]
    assert oracle["pass_hat_k"]["base"] == {"1": 1.0, "2": 1.0}
    assert (noop["not_exposed"], noop["base"]["of"], noop["base"]["passed"]) == (4, 4, 0)
    assert by_name["naive"]["clean"]["rate"] == 1.0
    assert {k["failure"] for k in data["failure_kinds"]} == {"silent_no_op", "availability"}


def test_a_clean_only_run_counts_its_clean_trials(tmp_path: Path) -> None:
    results = ran(RunRequest([PAY], ["oracle"], faulted=False, clean=True), tmp_path)
    (agent,) = report([results])["agents"]
    assert (agent["trials"], agent["clean"]["of"], agent["base"]["rate"]) == (1, 1, None)


def test_a_profile_stands_in_place_of_the_scenarios_faults(tmp_path: Path) -> None:
    calm = ran(RunRequest([PAY], ["naive"], faults="calm"), tmp_path / "calm")
    own = ran(RunRequest([PAY], ["naive"]), tmp_path / "own")
    (under_profile,) = calm.trials()
    (under_own,) = own.trials()
    assert values(under_profile)["relaxed"] == "pass"
    assert values(under_own)["relaxed"] == "fail"
    with pytest.raises(InputError, match="suite"):
        report([calm, own])


def test_a_script_that_meets_the_unforeseen_has_failed_and_the_run_goes_on(tmp_path: Path) -> None:
    path = copied(tmp_path / "suite")
    path.write_text(path.read_text().replace("- if: seen.error", "- if: seen.amount > 0"))
    results = ran(RunRequest([str(path)], ["oracle", "noop"]), tmp_path / "run")
    oracle = next(t for t in results.trials() if t.agent == "oracle")
    assert (oracle.status, oracle.tries, oracle.verdicts["base"]["value"]) == ("error", 1, "error")
    assert oracle.reason is not None and oracle.reason.startswith("the script cannot go on: ")


@pytest.mark.parametrize(
    "content", [b"this is no database, though long enough to be looked at" * 20, b""]
)
def test_a_broken_results_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    ran(RunRequest([PAY], ["noop"]), tmp_path)
    (tmp_path / "results.db").write_bytes(content)
    before = files(tmp_path)
    for name in ("resume", "judge", "report"):
        assert "is not a results database" in refusal(command(name, tmp_path))
    assert files(tmp_path) == before


def test_a_foreign_database_is_no_run(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "results.db").execute("CREATE TABLE mine(x)").connection.close()
    assert "is not a results database" in refusal(command("report", tmp_path))


def test_a_lost_trace_cannot_be_judged(tmp_path: Path) -> None:
    ran(RunRequest([PAY], ["noop"]), tmp_path)
    (tmp_path / "traces" / PAY / "noop-1.jsonl").write_text("{}\n")
    assert "not an event of a trace" in refusal(command("judge", tmp_path))


def test_runs_get_numbers_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "runs" / "0007").mkdir(parents=True)
    assert [new_home(tmp_path / "runs").name for _ in range(2)] == ["0008", "0009"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (RunRequest(["recovry"], ["oracle"]), "did you mean 'recovery'"),
        (RunRequest([PAY], ["orcle"]), "did you mean 'oracle'"),
        (RunRequest([PAY], ["oracle"], faults="flakey"), "did you mean 'flaky'"),
        (RunRequest([PAY], ["oracle"], trials=0), "at least 1"),
        (RunRequest([PAY], ["model"], options={"api_key": "x"}), "environment"),
        (
            RunRequest([PAY], ["model"], options={"modle": "x"}),
            "no option 'modle'; did you mean 'model'",
        ),
        (RunRequest([PAY], ["oracle"], options={"model": "x"}), "takes no option 'model'"),
        (RunRequest([PAY], ["process"], options={"comand": "x"}), "did you mean 'command'"),
        (RunRequest([PAY], ["pydantic_ai"], options={"command": "x"}), "no option 'command'"),
        (RunRequest([PAY], ["process"]), "say what to start"),
        (RunRequest([PAY], ["model"]), "name a model"),
        (RunRequest([PAY], ["oracle"], max_cost=0), "--max-cost must be more than 0"),
        (RunRequest([PAY], ["oracle"], faulted=False), "no arm to run"),
    ],
)
def test_a_mistake_is_told_before_anything_is_made(
    tmp_path: Path, wrong: RunRequest, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        start(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_external_agents_get_servers_of_their_episode_alone() -> None:
    async def look() -> None:
        async with anyio.create_task_group() as tasks:
            host = Host(tasks)
            first = new_session("venmo", "clock")
            second = new_session("zelle")
            async with httpx2.AsyncClient() as web:
                with host.offers(first) as servers, host.offers(second) as others:
                    mine = await servers()
                    theirs = await others()
                    assert [server["name"] for server in mine] == ["venmo", "clock"]
                    assert await servers() == mine
                    url = mine[0]["url"]
                    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                    accept = {"Accept": "application/json, text/event-stream"}
                    stranger = theirs[0]["headers"] | accept
                    wrong = await web.post(url, json=ping, headers=stranger)
                    assert wrong.status_code == 401
                owner = mine[0]["headers"] | accept
                gone = await web.post(url, json=ping, headers=owner)
                assert gone.status_code == 404
            host.close()

    anyio.run(look)
