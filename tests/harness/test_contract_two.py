"""Version 2 of the contract: what agents are told, how they say what went wrong, how they stop."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from client_harness.agents import agent
from client_harness.contract import AgentError, Assignment, ProviderOutage
from client_harness.results import Results
from client_harness.telling import Told
from client_harness.tools import in_memory
from servers.kit.errors import InputError
from tests.commands import command, refusal
from tests.harness.process_agents import program, scenario
from tests.support import new_session

pytestmark = pytest.mark.anyio
LOOP = """
import json, sys, time

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request["params"]
    result = {}
    if method == "initialize":
        greeted = params
        result = {"agent": "test", "protocol": 2}
    if method == "session/start":
        started = params
    if method == "turn":
        usage = {"prompt_tokens": 7, "model": "big"}
        result = {"text": params["text"].upper(), "usage": usage}
    #HERE
    send(id=request["id"], result=result)
"""


@contextlib.asynccontextmanager
async def talking(folder: Path, here: str, **given: Any) -> AsyncGenerator[Any]:
    """Yield the process agent; an exception at its start is raised unwrapped."""
    path = folder / "agent.py"
    path.write_text(LOOP.replace("#HERE", here.replace("\n", "\n    ")))
    started = [sys.executable, "-I", "-S", str(path)]
    options = {"command": started, "turn_seconds": 20, **given.pop("options", {})}
    problem: BaseException | None = None

    async def servers() -> list[dict[str, Any]]:
        return [{"name": "clock", "url": "http://127.0.0.1:1/mcp", "headers": {}}]

    async with in_memory(new_session("clock")) as tools:
        wanted = Assignment(tools, [], cast(Any, None), options, servers, "suite/secret", **given)
        try:
            async with agent("process").agent(wanted) as made:
                yield made
        except (AgentError, ProviderOutage, InputError, AssertionError) as wrong:
            problem = wrong
    if problem is not None:
        raise problem


async def test_an_agent_gets_a_trial_that_tells_nothing_and_a_deadline(tmp_path: Path) -> None:
    here = 'if method == "turn": result["text"] = json.dumps([greeted, started, params])'
    async with talking(tmp_path, here) as made:
        result = await made.turn("hi")
    greeted, started, turn = json.loads(result.text)
    assert greeted["protocol"] == 2 and started["deadline"] == 20
    assert turn == {"text": "hi", "deadline": 20}
    assert greeted["trial"] == started["trial"] and "secret" not in json.dumps([greeted, started])
    assert started["instructions"] is None
    assert result.usage == {"prompt_tokens": 7}
    assert made.identity == {"name": "test", "model": "big"}


@pytest.mark.parametrize(("kind", "date"), [("replace", True), ("append", False)])
async def test_instructions_come_as_the_agent_can_take_them(
    tmp_path: Path, kind: str, date: bool
) -> None:
    here = f"""if method == "initialize": result["instructions"] = "{kind}"
if method == "turn": result["text"] = json.dumps(started["instructions"])"""
    async with talking(tmp_path, here) as made:
        by_default = json.loads((await made.turn("x")).text)
    assert ("Today is Saturday, 14 March 2026." in (by_default or "")) is date
    async with talking(tmp_path, here, told=Told("careful", ("reasoning",))) as made:
        told = json.loads((await made.turn("x")).text)
    assert "make sure" in told and told.endswith("what you tell the user at the end.")


async def test_an_agent_that_only_takes_messages_gets_instructions_with_the_first(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, "", told=Told("plain")) as made:
        first = await made.turn("hello")
        second = await made.turn("more")
    assert first.text.startswith("YOU ARE A PERSONAL ASSISTANT")
    assert first.text.endswith("\n\nHELLO") and second.text == "MORE"


@pytest.mark.parametrize(
    ("result", "status", "text"),
    [
        ('{"error": {"kind": "limit", "detail": "30 steps"}}', "limit", "30 steps"),
        ('{"error": {"kind": "agent", "detail": "lost"}, "text": "x"}', "error", "lost"),
        ('{"error": "lost"}', "error", "must be {kind: agent|limit|outage, detail}"),
        ('{"error": {"kind": "mine"}}', "error", "must be {kind: agent|limit|outage, detail}"),
        ('{"status": "done", "text": "x"}', "error", "an unknown key 'status'"),
        ('{"txt": "x"}', "error", "an unknown key 'txt'; did you mean 'text'"),
        ('{"usage": {"model": 5}}', "error", "model in usage must be a text"),
    ],
)
async def test_what_a_turn_may_answer(tmp_path: Path, result: str, status: str, text: str) -> None:
    async with talking(tmp_path, f'if method == "turn": result = {result}') as made:
        answer = await made.turn("x")
    assert answer.status == status and text in answer.detail, answer


@pytest.mark.parametrize("method", ["session/start", "turn"])
async def test_an_outage_may_be_a_lasting_one(tmp_path: Path, method: str) -> None:
    error = {"kind": "outage", "detail": "no key", "lasting": True}
    here = f'if method == "{method}": result = {{"error": {error!r}.copy()}}'
    with pytest.raises(ProviderOutage, match="no key") as raised:
        async with talking(tmp_path, here) as made:
            await made.turn("x")
    assert raised.value.lasting


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('"protocol": 3', "protocol must be 1 or 2, not 3"),
        ('"tool_refesh": "turn"', "unknown key 'tool_refesh'; did you mean 'tool_refresh'"),
        ('"instructions": "ignore"', "instructions must be one of replace, append, message"),
        ('"remembers": "yes"', "remembers must be true or false"),
        ('"options": ["speed"]', "options must be a list of model, api_base"),
    ],
)
async def test_what_an_agent_may_say_of_itself(tmp_path: Path, said: str, text: str) -> None:
    with pytest.raises(AgentError, match=text):
        async with talking(tmp_path, f'if method == "initialize": result |= {{{said}}}'):
            raise AssertionError("the agent must not start")


async def test_an_option_that_the_agent_does_not_take_is_refused(tmp_path: Path) -> None:
    here = 'if method == "initialize": result["options"] = ["model"]'
    async with talking(tmp_path, here, options={"model": "m"}) as made:
        assert (await made.turn("x")).status == "done"
    wrong = "the agent test takes no option 'temperature'"
    with pytest.raises(InputError, match=wrong):
        async with talking(tmp_path, here, options={"temperature": 0}):
            raise AssertionError("the agent must not start")


async def test_who_refuses_the_newest_version_is_asked_for_the_first(tmp_path: Path) -> None:
    here = """if method == "initialize" and params["protocol"] > 1:
    send(id=request["id"], error={"code": -32602, "message": "I speak 1"})
    continue
if method == "initialize": result = {"agent": "old"}
if method == "turn": result = {"status": "limit", "text": "", "detail": json.dumps(started)}"""
    async with talking(tmp_path, here) as made:
        answer = await made.turn("x")
    assert answer.status == "limit"
    assert set(json.loads(answer.detail)) == {"history", "mcp_servers", "now"}


@pytest.mark.parametrize(
    ("refresh", "called"), [("notify", "hold"), ("never", "lock"), ("call", "")]
)
async def test_how_tools_appear_follows_from_when_the_agent_lists_them(
    tmp_path: Path, refresh: str, called: str
) -> None:
    made: list[str] = []
    wanted = {"hold": lambda: made.append("hold"), "lock": lambda: made.append("lock")}
    here = f'if method == "initialize": result["tool_refresh"] = "{refresh}"'
    async with talking(tmp_path, here, **wanted):
        assert made == ([called] if called else [])


async def test_a_late_agent_is_told_to_stop_and_what_it_used_counts(tmp_path: Path) -> None:
    here = """if method == "turn":
    stop = json.loads(sys.stdin.readline())
    assert stop == {"jsonrpc": "2.0", "method": "cancel", "params": {"id": request["id"]}}
    result = {"text": "", "usage": usage, "error": {"kind": "agent", "detail": "cancelled"}}"""
    async with talking(tmp_path, here, options={"turn_seconds": 1}) as made:
        answer = await made.turn("x")
    assert answer.status == "late" and answer.usage == {"prompt_tokens": 7}
    assert "did not answer turn within 1 s" in answer.detail


async def test_what_an_agent_says_at_its_steps_is_kept(tmp_path: Path) -> None:
    here = """if method == "turn":
    send(method="step", params={"step": 1, "text": "I look."})
    send(method="step", params={"step": "one", "text": "not kept"})"""
    steps = tmp_path / "steps.jsonl"
    steps.write_text("of an earlier try\n")
    async with talking(tmp_path, here, steps=steps) as made:
        await made.turn("x")
        await made.turn("y")
    lines = [json.loads(line) for line in steps.read_text().splitlines()]
    said = {"step": 1, "text": "I look."}
    assert lines == [{"message": 1, **said}, {"message": 2, **said}]


HELD_BACK = """services: [clock, venmo]
disclose: [{service: venmo, after: {calls: 1}}]
"""


def test_who_never_lists_tools_again_gets_them_locked_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    path = Path(scenario(tmp_path))
    path.write_text(path.read_text().replace("services: [clock]\n", HELD_BACK))
    never = 'if method == "initialize": result["tool_refresh"] = "never"'
    started = program(tmp_path, never)
    options = ("--agent", "process", "--agent", "oracle", "--command", started)
    done = command("run", path, *options, "--json", "--out", tmp_path / "run")
    modes = {trial.agent: trial.disclosure for trial in Results.open(tmp_path / "run").trials()}
    assert modes == {"process": "locked", "oracle": "notify"}
    locked = {agent["run_as"]: agent["locked"] for agent in done.json["agents"]}
    assert locked == {"process": 1, "oracle": 0}
    shown = command("report", tmp_path / "run", "--md").out
    assert "locked in 1 trial, because it never lists tools again" in shown


def test_a_number_that_is_none_is_a_mistake_of_the_person(tmp_path: Path) -> None:
    options = ("--agent", "process", "--command", program(tmp_path))
    refused = command("run", scenario(tmp_path), *options, "--option", "max_steps=many")
    assert "max_steps must be a whole number, not 'many'" in refusal(refused)
