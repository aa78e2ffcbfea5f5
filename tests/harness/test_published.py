"""The published protocol and `--reasoning`: real runs with a scripted model, and real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode
from client_harness.haystack import published
from client_harness.rejudge import rejudge
from client_harness.report import report, tables
from client_harness.results import Results, Trial
from client_harness.run import RunRequest, start
from client_harness.terms import PROMPTS
from client_harness.tools import in_memory
from judge.trace import Record
from scenarios.haystack import instances
from scenarios.script import Step
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from tests.commands import command, refusal
from tests.harness.fake_endpoint import Endpoint, Script, call, calls, playing, say

GLAZE = "maya/glaze_share"
PAY = "venmo__send_money"
ANA = "Ana Ruiz"
NOTE = "cone 6, lot 2281"
RIGHT = 43.85
OTHER = 38.15
PROMPT = (PROMPTS / "published.md").read_text().strip()
PROCESS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request["params"]
    result = {}
    if method == "initialize":
        result = {"agent": "test", "history": "text", "tool_refresh": "call", TOLD}
    if method == "session/start":
        told = params.get("terms")
    if method == "turn":
        print(json.dumps({"terms": told, "text": params["text"]}), file=open("OUT", "a"))
        result = {"status": "done", "text": "How much is it?", "usage": {}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def pay(amount: Any = RIGHT, note: str = NOTE) -> tuple[str, dict[str, Any]]:
    """Return a payment to Ana, who is named because nobody told her id."""
    return PAY, {"contact_id": ANA, "amount": amount, "note": note}


def played(home: Path, script: Script, kind: str, **given: Any) -> tuple[Trial, Endpoint]:
    """Run a model with a script on an instance of the glaze; return its trial and the endpoint."""
    given = {"protocol": "published", "expose": "oracle5", **given}
    numbers = {"missing_easy": "sessions=2"}.get(kind, "sessions=3,distance=0")

    def run(url: str) -> Trial:
        options = {"model": "openai/scripted", "api_base": url, "retries": 0}
        request = RunRequest(
            [f"haystack/{kind}/{given.pop('target', GLAZE)}"],
            [given.pop("agent", "model")],
            history=numbers,
            options=options,
            **given,
        )
        begun = start(request, home)
        begun.finish()
        (trial,) = begun.results.trials()
        return trial

    async def served() -> tuple[Trial, Endpoint]:
        async with playing(script) as endpoint:
            return await anyio.to_thread.run_sync(run, endpoint.url), endpoint

    return anyio.run(served)


def value(trial: Trial) -> str:
    return trial.verdicts["base"]["value"]


def test_a_right_call_is_one_request_greedy_and_bounded_and_no_other_call_is_made(
    tmp_path: Path,
) -> None:
    script = [calls(pay(), pay(OTHER), ("venmo__list_friends", {})), say("never asked")]
    trial, endpoint = played(tmp_path, script, "recall_single")
    assert (value(trial), trial.calls, trial.status) == ("pass", 1, "done")
    assert (trial.story["right"], trial.story["needed"], trial.story["label"]) == (1, 1, None)
    (body,) = endpoint.bodies
    assert (body["temperature"], body["max_tokens"]) == (0, 2000)
    assert body["messages"][0] == {"role": "system", "content": PROMPT}
    assert len(body["messages"]) > 6
    assert len(endpoint.offered(0)) == 6  # the two that are needed, and four others


@pytest.mark.parametrize(
    ("kind", "step", "label"),
    [
        ("recall_single", say("I paid her."), "no call"),
        ("recall_single", say("How much do you owe her?"), "asked though it was said"),
        ("recall_single", call("venmo__list_friends"), "wrong tool"),
        ("recall_single", calls(pay(12.34)), "value from nowhere"),
        ("recall_single", calls(pay("MISSING")), "value from nowhere"),
        ("shift_explicit", calls(pay(OTHER)), "stale value"),
        ("missing_hard", calls(pay(OTHER)), "value from the context"),
        ("missing_easy", calls(pay(12.34)), "value from nowhere"),
        ("missing_easy", calls(pay(5)), "value from nowhere"),
    ],
)
def test_what_is_not_right_is_labelled(tmp_path: Path, kind: str, step: Any, label: str) -> None:
    trial, endpoint = played(tmp_path, [step], kind)
    assert (value(trial), trial.story["label"]) == ("fail", label)
    assert len(endpoint.bodies) == 1
    assert bool(trial.story["sources"]) == (label in ("stale value", "value from the context"))


@pytest.mark.parametrize("kind", ["missing_easy", "missing_hard"])
@pytest.mark.parametrize(
    "step",
    [
        calls(pay("MISSING")),
        calls(pay("<missing>")),
        calls(pay("not specified")),
        say("How much do you owe Ana for the glaze?"),
    ],
)
def test_what_was_never_said_is_missing_or_asked_for(tmp_path: Path, kind: str, step: Any) -> None:
    trial, endpoint = played(tmp_path, [step, say("never asked")], kind)
    assert (value(trial), trial.story["right"]) == ("pass", 1), trial.story
    assert (trial.story["abstained"], trial.story["completed"]) == (None, None)
    assert len(endpoint.bodies) == 1


def test_a_question_beside_a_guess_does_not_count(tmp_path: Path) -> None:
    step = calls(pay(12.34))
    both = type(step)("How much do you owe Ana for the glaze?", step.calls)
    trial, _ = played(tmp_path, [both], "missing_easy")
    assert value(trial) == "fail"


def test_a_lookup_that_takes_all_that_was_left_out_is_right(tmp_path: Path) -> None:
    given = {"target": "maya/day_out_weather"}
    step = call("weather_com__search_location", query="Hood River, OR")
    trial, _ = played(tmp_path / "right", [step], "recall_single", **given)
    assert value(trial) == "pass"
    step = call("weather_com__search_location", query="Bend")
    trial, _ = played(tmp_path / "wrong", [step], "recall_single", **given)
    assert (value(trial), trial.story["label"]) == ("fail", "value from nowhere")


def test_judged_again_it_is_the_same(tmp_path: Path) -> None:
    trial, _ = played(tmp_path, [calls(pay(OTHER))], "shift_explicit")
    (again,) = rejudge(tmp_path).trials()
    assert (again.verdicts, again.story) == (trial.verdicts, trial.story)


def test_sessions_are_remembered_ahead_of_the_one_request(tmp_path: Path) -> None:
    script = [say("- Maya owes Ana 43.85."), say("nothing"), say("nothing"), calls(pay())]
    given = {"agent": "model_notes", "deliver": "sessions"}
    trial, endpoint = played(tmp_path, script, "recall_single", **given)
    assert value(trial) == "pass"
    assert (trial.usage["history_requests"], trial.usage["requests"]) == (3, 1)
    system = endpoint.bodies[-1]["messages"][0]["content"]
    assert system.startswith(PROMPT) and "Maya owes Ana 43.85" in system


def test_the_report_names_the_protocol_and_does_not_mix_it(tmp_path: Path) -> None:
    played(tmp_path / "own", [say("Done.")], "recall_single", protocol="own", expose="oracle5")
    played(tmp_path / "published", [calls(pay())], "recall_single")
    runs = [Results.open(tmp_path / name) for name in ("own", "published")]
    with pytest.raises(InputError, match="cannot be compared: protocol differs"):
        report(runs)
    shown = tables(report(runs[1:]))
    assert "published protocol" in shown[0]["title"]


def test_runs_that_reason_differently_are_compared_if_they_are_grouped_by_it(
    tmp_path: Path,
) -> None:
    homes = []
    for reasoning in ("first", "none"):
        homes.append(tmp_path / reasoning)
        step = calls(pay() if reasoning == "first" else pay(OTHER))
        given = {"reasoning": reasoning}
        _, endpoint = played(homes[-1], [step], "recall_single", **given)
        advice = (PROMPTS / f"reasoning_{reasoning}.md").read_text().strip()
        assert endpoint.bodies[0]["messages"][0]["content"] == f"{PROMPT}\n\n{advice}"
    assert "reasoning differs" in refusal(command("report", *homes))
    grouped = json.loads(command("report", *homes, "--by", "reasoning", "--json").out)["by"]
    assert [(row["value"], row["passed"]) for row in grouped] == [("first", 1), ("none", 0)]


def test_reasoning_alone_is_added_to_the_agents_own_instructions(tmp_path: Path) -> None:
    given = {"protocol": "own", "reasoning": "first", "agent": "model"}
    _, endpoint = played(tmp_path, [say("Done.")], "recall_single", **given)
    system = endpoint.bodies[0]["messages"][0]["content"]
    advice = (PROMPTS / "reasoning_first.md").read_text().strip()
    assert system.endswith(f"\n\n{advice}") and not system.startswith(advice)
    assert "temperature" not in endpoint.bodies[0]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["recovery/silent_no_op/venmo_pay_dropped"], "plays instances only"),
        (["haystack/recall_single/maya/glaze_share", "--debrief"], "leave out --debrief"),
        (["haystack/recall_single/maya/glaze_share", "--guide", "reasoning"], "and --guide"),
        (["haystack/recall_single/maya/match_hour"], "no call takes what the last message leaves"),
        (["haystack/recall_single/maya/glaze_share", "--agent", "oracle"], "agent oracle: it can"),
    ],
)
def test_what_it_cannot_play_is_refused(tmp_path: Path, asked: list[str], why: str) -> None:
    options = ["--protocol", "published", "--model", "m", "--out", tmp_path / "run"]
    options += ["--agent", "model"]
    assert why in refusal(command("run", *asked, *options))
    assert not (tmp_path / "run").exists()


def program(folder: Path, told: str) -> str:
    path = folder / "agent.py"
    text = PROCESS.replace("OUT", str(folder / "terms.json")).replace("TOLD", told)
    path.write_text(text)
    return f"{sys.executable} -I -S {path}"


def test_a_process_is_told_the_terms_if_it_says_that_it_takes_them(tmp_path: Path) -> None:
    name = "haystack/missing_easy/maya/glaze_share"
    options = ["--history", "sessions=2", "--protocol", "published", "--agent", "process"]
    line = ["--command", program(tmp_path, '"terms": False')]
    said = refusal(command("run", name, *options, *line, "--out", tmp_path / "refused"))
    assert "must say `terms: true`" in said
    assert not (tmp_path / "refused").exists()
    line = ["--command", program(tmp_path, '"terms": True')]
    done = command("run", name, *options, *line, "--out", tmp_path / "run")
    assert done.status == 0, done.err
    told = json.loads((tmp_path / "terms.json").read_text().splitlines()[0])
    assert told["terms"] == {"single": True, "answer_tokens": 2000, "temperature": 0}
    assert told["text"].startswith(PROMPT)
    results = Results.open(tmp_path / "run")
    assert results.fingerprints["exposure"] == "oracle5"
    assert results.trials()[0].story["right"] == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    "target",
    [
        "eleanor/a_note_for_the_list",  # what is meant stands behind an id
        "eleanor/fare_to_a_birthday",  # the place becomes coordinates
        "maya/grinder_low",
        "rafael/rudys_chair",  # a time within a moment
    ],
)
@pytest.mark.parametrize("kind", ["recall_single", "shift_implicit", "missing_easy"])
async def test_of_all_calls_one_of_the_oracles_is_right_and_none_of_a_guess(
    target: str, kind: str
) -> None:
    """Where something is missing, no call is right, however well it was guessed."""
    made = instances.instance(f"haystack/{kind}/{target}", {"sessions": 2})
    made = made.model_copy(update={"history": None})
    right = await _right_calls(made, made.scripts.oracle)
    assert bool(right) == (made.facts.missing is None)
    assert not await _right_calls(made, made.scripts.naive)


async def _right_calls(made: instances.Instance, steps: list[Step]) -> list[str]:
    """Play a script, and return those of its calls that are right as the only one."""
    episode = Episode(made)
    try:
        async with in_memory(episode.session) as tools:
            await episode.converse(ScriptAgent(Assignment(tools, [], made), steps))
        calls = [event for event in episode.session.trace() if isinstance(event, Attempt)]
        right = []
        for made_call in calls:
            if published.is_right(made, Record([made_call], episode.world)):
                right.append(made_call.name)
        return right
    finally:
        episode.close()


def test_a_run_says_what_it_leaves_out(tmp_path: Path) -> None:
    names = ["haystack/missing_easy/maya/glaze_share", "haystack/missing_easy/maya/match_hour"]
    line = ["--agent", "process", "--command", program(tmp_path, '"terms": True')]
    options = ["--history", "sessions=2", "--protocol", "published", "--out", tmp_path / "run"]
    assert "not played: 1 of 2 instances" in command("run", *names, *options, *line).err


def test_most_instances_can_be_judged_by_one_call() -> None:
    every = [instances.instance(name, {"sessions": 3}) for name in _of("maya/glaze_share")]
    assert all(published.plays(made) for made in every)
    hours = {name: instances.instance(name, {"sessions": 3}) for name in _of("maya/match_hour")}
    kept = {name.split("/")[1] for name, made in hours.items() if published.plays(made)}
    assert kept == {"recall_multi", "shift_implicit"}


def _of(target: str) -> list[str]:
    return [name for name in instances.names() if name.endswith(target)]
