"""Past sessions that are delivered one by one, ahead of a fresh conversation.

Agents are real processes, and models with a scripted endpoint.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness import agents
from client_harness.agents import agent
from client_harness.contract import Assignment
from client_harness.report import report, tables
from client_harness.results import Results, Trial
from client_harness.run import RunRequest, start
from client_harness.table import Table
from client_harness.tools import in_memory
from scenarios import load
from scenarios.haystack import history
from scenarios.haystack.history import LivedSession
from scenarios.haystack.instances import crossed
from servers.kit.errors import InputError
from tests.commands import command, refusal
from tests.harness.fake_endpoint import Endpoint, Step, fails, playing, say
from tests.support import HISTORY, new_session

SCENARIO = "recovery/silent_no_op/venmo_pay_dropped"
NUMBERS = "sessions=3,seed=2"
PROCESS = """
import json, os, sys
past = []
for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request["params"]
    result = {}
    if method == "initialize":
        result = {"agent": "test", "history": "messages", "tool_refresh": "call", "remembers": True}
    if method == "history/session":
        past.append(params)
        result = {"usage": {"tokens": 10 * params["number"]}}
    if method == "session/start":
        started = params
    if method == "turn":
        with open("OUT", "a") as kept:
            print(json.dumps({"past": past, "started": started, "pid": os.getpid()}), file=kept)
        result = {"status": "done", "text": "I know.", "usage": {"tokens": 1}}
    #HERE
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


FORGETFUL = """
from contextlib import asynccontextmanager

from client_harness.contract import TurnResult

ABOUT = "says one thing"


class Forgetful:
    async def turn(self, text):
        return TurnResult("OK.")


@asynccontextmanager
async def agent(given):
    yield Forgetful()
"""
LATER: LivedSession = {**HISTORY[0], "at": "2026-02-04T09:00:00Z"}
ASKS = 'if method == "initialize": result["history"] = "KIND"'


def program(folder: Path, here: str = "") -> str:
    """Write a process that keeps what it was given in a file, and return its command."""
    path = folder / "agent.py"
    kept = PROCESS.replace("OUT", str(folder / "kept.jsonl"))
    path.write_text(kept.replace("#HERE", here.replace("\n", "\n    ")))
    return f"{sys.executable} -I -S {path}"


def kept(folder: Path) -> list[dict[str, Any]]:
    """Return what the processes had at their turns."""
    return [json.loads(line) for line in (folder / "kept.jsonl").read_text().splitlines()]


def ran(folder: Path, here: str = "", trials: int = 1) -> list[Trial]:
    """Run the process with sessions, and return its trials."""
    options = {"command": program(folder, here)}
    request = RunRequest(
        [SCENARIO],
        ["process"],
        trials=trials,
        history=NUMBERS,
        deliver="sessions",
        options=options,
    )
    run = start(request, folder / "run")
    run.finish()
    return run.results.trials()


def lived() -> list[LivedSession]:
    """Return the sessions that precede the scenario."""
    (made,) = crossed(load.load(SCENARIO), NUMBERS)
    assert made.history is not None
    return history.live(made.history).sessions


def test_each_trial_gets_every_session_and_then_a_fresh_conversation(tmp_path: Path) -> None:
    first, second = ran(tmp_path, ASKS.replace("KIND", "native"), trials=2)
    assert first.usage == second.usage == {"history_tokens": 60, "tokens": 1}
    one, two = kept(tmp_path)
    assert one["pid"] != two["pid"]
    for memory in (one, two):
        assert memory["started"]["history"] == []
        assert [past["number"] for past in memory["past"]] == [1, 2, 3]
        assert {past["of"] for past in memory["past"]} == {3}
        assert [past["at"] for past in memory["past"]] == [session["at"] for session in lived()]
        assert [past["messages"] for past in memory["past"]] == [s["messages"] for s in lived()]
    trials = {past["trial"] for past in [*one["past"], *two["past"]]}
    assert len(trials) == 2
    assert not any("venmo" in trial or "recovery" in trial for trial in trials)


@pytest.mark.parametrize("kind", ["messages", "text"])
def test_sessions_come_in_the_form_that_the_agent_asked_for(tmp_path: Path, kind: str) -> None:
    ran(tmp_path, ASKS.replace("KIND", kind))
    (memory,) = kept(tmp_path)
    for past, session in zip(memory["past"], lived(), strict=True):
        opening = session["messages"][0].get("text", "")
        if kind == "messages":
            assert past["messages"][0] == {"role": "user", "text": opening}
            assert len(past["messages"]) == len(session["messages"])
        else:
            assert past["messages"].startswith(f"User: {opening}\n")


@pytest.mark.parametrize(
    ("here", "status", "why"),
    [
        (
            'if method == "history/session": result = {"status": "error", "detail": "full"}',
            "error",
            "past session 1 of 3: full",
        ),
        (
            'if method == "history/session" and params["number"] == 2: sys.exit(4)',
            "error",
            "past session 2 of 3: the agent's process (python",
        ),
        (
            'if method == "history/session": result = {"status": "outage", "detail": "no route"}',
            "crash",
            "its model cannot be reached: no route",
        ),
        (
            'if method == "session/start": sys.exit(5)',
            "error",
            "past session 3 of 3: the agent's process",
        ),
    ],
)
def test_an_agent_that_fails_at_a_session_has_failed_and_an_outage_is_unknown(
    tmp_path: Path, here: str, status: str, why: str
) -> None:
    (trial,) = ran(tmp_path, here)
    assert trial.status == status and why in (trial.reason or "")
    assert trial.unknown == (status == "crash")
    assert not (tmp_path / "kept.jsonl").exists()


def test_an_agent_that_does_not_remember_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    here = 'if method == "initialize": del result["remembers"]'
    options = ["--agent", "process", "--command", program(tmp_path, here)]
    asked = [SCENARIO, "--history", NUMBERS, "--deliver", "sessions", "--out", tmp_path / "run"]
    said = refusal(command("run", *asked, *options))
    assert "must say `remembers: true`" in said and "--deliver context" in said
    assert not (tmp_path / "run").exists()


def test_an_agent_in_this_process_without_a_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    monkeypatch.setattr(agents, "__path__", [*agents.__path__, str(tmp_path)])
    agents.agents.cache_clear()
    request = RunRequest([SCENARIO], ["oracle", "forgetful"], history=NUMBERS, deliver="sessions")
    try:
        with pytest.raises(InputError, match="agent forgetful: it cannot take past sessions one"):
            start(request, tmp_path / "run")
    finally:
        agents.agents.cache_clear()
    assert not (tmp_path / "run").exists()


def test_sessions_need_a_history(tmp_path: Path) -> None:
    asked = [SCENARIO, "--deliver", "sessions", "--out", tmp_path / "run"]
    assert "none of these scenarios has a history" in refusal(command("run", *asked))
    assert not (tmp_path / "run").exists()


def test_scripts_pass_over_sessions_and_play_as_they_do_otherwise(tmp_path: Path) -> None:
    values = {}
    for deliver in ("context", "sessions"):
        home = tmp_path / deliver
        asked = ["--history", NUMBERS, "--deliver", deliver, "--agent", "oracle", "--out", home]
        done = command("run", SCENARIO, *asked)
        assert done.status == 0, done.err
        assert ("past by session" in " ".join(done.out.split())) == (deliver == "sessions")
        results = Results.open(home)
        assert results.fingerprints["delivery"] == deliver
        assert command("resume", home).status == 0
        (trial,) = results.trials()
        values[deliver] = trial.verdicts
    assert values["context"] == values["sessions"]
    assert values["context"]["base"]["value"] == "pass"


def test_solvers_remember_sessions_as_they_do_a_history(tmp_path: Path) -> None:
    """Who remembers three sessions finds a needle among them, and who forgets finds none."""
    name = "haystack/recall_single/maya/glaze_share"
    values = {}
    for deliver in ("context", "sessions"):
        home = tmp_path / deliver
        asked = ["--history", "sessions=6,distance=2", "--deliver", deliver, "--only-clean"]
        for solver in ("recall_window", "recall_lookup", "recall_latest"):
            asked += ["--agent", solver]
        done = command("run", name, *asked, "--out", home)
        assert done.status == 0, done.err
        trials = Results.open(home).trials()
        values[deliver] = {trial.agent: trial.verdicts["clean"]["value"] for trial in trials}
    assert values["context"] == values["sessions"]
    assert values["sessions"]["recall_window"] == values["sessions"]["recall_latest"] == "pass"


# -- models ----------------------------------------------------------------------------------------
@contextlib.asynccontextmanager
async def talking(name: str, endpoint: Endpoint, **given: Any) -> AsyncGenerator[Any]:
    """Yield a model agent that was given the past session."""
    options = {"model": "openai/scripted", "api_base": endpoint.url, "retries": 0}
    options |= given.pop("options", {})
    async with in_memory(new_session("venmo")) as tools:
        assignment = Assignment(tools, [], load.load(SCENARIO), options, trial="t")
        for field, value in given.items():
            setattr(assignment, field, value)
        async with agent(name).agent(assignment) as made:
            yield made


async def remembering(
    name: str, script: list[Step], sessions: list[LivedSession] = HISTORY
) -> tuple[Endpoint, list[Any]]:
    """Give a model sessions and one turn; return the endpoint and all results."""
    count = len(sessions)
    async with playing(script) as endpoint, talking(name, endpoint, to_remember=count) as made:
        results = []
        for number, session in enumerate(sessions, 1):
            results.append(await made.remember(session, number, count))
        results.append(await made.turn("And now?"))
    return endpoint, results


@pytest.mark.anyio
async def test_a_plain_model_remembers_nothing_but_knows_the_day() -> None:
    endpoint, (taken, _) = await remembering("model", [say("ok")])
    assert taken.usage == {}
    (body,) = endpoint.bodies
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"].startswith("[Conversation of 2026-")


@pytest.mark.anyio
async def test_full_context_asks_what_a_history_in_one_context_would() -> None:
    sessions = [*HISTORY, LATER]
    endpoint, (taken, *_) = await remembering("model_full_context", [say("ok")], sessions)
    assert taken.usage == {}
    async with playing([say("ok")]) as other, talking("model", other, history=sessions) as made:
        await made.turn("And now?")
    assert endpoint.bodies == other.bodies
    assert len(endpoint.bodies[0]["messages"]) == 2 + 2 * 4


@pytest.mark.anyio
async def test_notes_are_asked_for_after_each_session_and_precede_the_conversation() -> None:
    sessions = [*HISTORY, LATER, *HISTORY]
    script = [say("- Venmo held $5."), say("Nothing."), say("- Five again."), say("You had $5.")]
    endpoint, results = await remembering("model_notes", script, sessions)
    first, _, _, last = endpoint.bodies
    assert "tools" not in first and "tools" in last
    assert first["messages"][0]["content"].startswith("You are a personal assistant. Below is")
    read = first["messages"][1]["content"]
    assert read.startswith("[Conversation of 2026-02-03T09:00:00Z]\nUser: How much is in my Venmo?")
    assert 'venmo.get_balance {} and got {"balance": 5}' in read
    assert [message["role"] for message in last["messages"]] == ["system", "user"]
    noted = last["messages"][0]["content"]
    assert noted.endswith(
        "[Conversation of 2026-02-03T09:00:00Z]\n- Venmo held $5.\n\n"
        "[Conversation of 2026-02-03T09:00:00Z]\n- Five again."
    )
    assert "02-04" not in noted
    assert [result.usage["requests"] for result in results] == [1, 1, 1, 1]
    assert results[-1].text == "You had $5."


@pytest.mark.anyio
async def test_notes_cost_nothing_of_the_conversations_tokens() -> None:
    async with (
        playing([say("- $5."), say("ok")]) as endpoint,
        talking("model_notes", endpoint, to_remember=1, options={"max_tokens": 110}) as made,
    ):
        await made.remember(HISTORY[0], 1, 1)
        assert (await made.turn("And now?")).status == "done"
        assert (await made.turn("And now?")).status == "limit"


@pytest.mark.anyio
async def test_notes_of_a_history_in_one_piece_are_refused() -> None:
    async with playing([say("ok")]) as endpoint:
        with pytest.raises(InputError, match="use --deliver sessions"):
            async with in_memory(new_session("venmo")) as tools:
                given = Assignment(tools, HISTORY, load.load(SCENARIO), {"model": "m"})
                problem = await _refused("model_notes", given)
            raise problem
    assert endpoint.bodies == []


async def _refused(name: str, given: Assignment) -> Exception:
    try:
        async with agent(name).agent(given):
            raise AssertionError("the agent must not start")
    except InputError as wrong:
        return wrong


def modelled(script: list[Step], agents: list[str], home: Path) -> tuple[list[Trial], list[Table]]:
    """Run models with sessions, and return the trials and the tables of the report."""

    def run(url: str) -> tuple[list[Trial], list[Table]]:
        options = {"model": "openai/scripted", "api_base": url, "retries": 0}
        request = RunRequest(
            [SCENARIO], agents, history=NUMBERS, deliver="sessions", options=options
        )
        begun = start(request, home)
        begun.finish()
        return begun.results.trials(), tables(report([begun.results]))

    async def served() -> tuple[list[Trial], list[Table]]:
        async with playing(script) as endpoint:
            return await anyio.to_thread.run_sync(run, endpoint.url)

    return anyio.run(served)


def test_a_run_counts_what_remembering_took_apart_and_shows_it(tmp_path: Path) -> None:
    agents = ["model", "model_notes"]
    trials, shown = modelled([say("- He likes tea.")], agents, tmp_path)
    usage = {trial.agent: trial.usage for trial in trials}
    assert "history_requests" not in usage["model"] and usage["model"]["requests"] >= 1
    notes = usage["model_notes"]
    assert (notes["history_requests"], notes["history_prompt_tokens"]) == (3, 300)
    assert notes["requests"] == usage["model"]["requests"]
    (table,) = [table for table in shown if "past sessions" in table["title"]]
    assert table["columns"] == ["agent", "completion tokens", "prompt tokens", "requests"]
    assert table["rows"] == [
        ["model openai/scripted", "–", "–", "–"],
        ["model_notes openai/scripted", "30", "300", "3"],
    ]


def test_a_model_that_is_away_while_it_takes_notes_is_an_outage(tmp_path: Path) -> None:
    (trial,), _ = modelled([fails(503)], ["model_notes"], tmp_path)
    assert trial.unknown and "scripted failure" in (trial.reason or "")
