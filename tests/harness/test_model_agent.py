"""The model agent, with a scripted endpoint and real services."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from client_harness.agents import agent
from client_harness.agents.model import Options
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from client_harness.tools import in_memory
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.session import Session
from tests.harness.fake_endpoint import Endpoint, Script, Step, call, calls, fails, playing, say
from tests.support import HISTORY, new_session

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def talking(
    session: Session, endpoint: Endpoint | None, trial: str = "t", **given: Any
) -> AsyncGenerator[Any]:
    """Yield a model agent on a session."""
    options: dict[str, Any] = {
        "model": "openai/scripted",
        "api_base": endpoint.url if endpoint else None,
        "retries": 0,
        "max_wait": 0,
        **given,
    }
    history = options.pop("history", [])
    async with in_memory(session) as tools:
        assignment = Assignment(tools, history, cast(Any, None), options, trial=trial)
        async with agent("model").agent(assignment) as made:
            yield made


async def converse(
    script: Script, session: Session, *texts: str, **options: Any
) -> tuple[list[TurnResult], Endpoint]:
    """Send messages to a scripted model."""
    problem = None
    async with playing(script) as endpoint, talking(session, endpoint, **options) as made:
        try:
            return [await made.turn(text) for text in texts], endpoint
        except (ProviderOutage, InputError) as wrong:
            # Raised outside, because the client's task group would wrap it.
            problem = wrong
    raise problem


def disclosing() -> Session:
    """A session that discloses Venmo after the first call."""
    session = new_session("clock", "venmo", hidden=["venmo"])

    def disclose(attempt: Attempt) -> None:
        if "venmo" in session.hidden:
            session.disclose("venmo")

    session.on_attempt.append(disclose)
    return session


def attempts(session: Session) -> list[Attempt]:
    return [e for e in session.trace() if isinstance(e, Attempt)]


async def test_it_acts_reads_results_and_answers() -> None:
    session = new_session("clock", "venmo")
    script = [
        call("clock__get_time"),
        call("venmo__get_balance"),
        say("All done."),
        say("You are welcome."),
    ]
    (first, second), endpoint = await converse(script, session, "How much have I?", "Thanks!")
    assert (first.text, first.status, second.text) == ("All done.", "done", "You are welcome.")
    steps = [(a.name, a.step) for a in attempts(session)]
    assert steps == [("clock.get_time", 1), ("venmo.get_balance", 2)]
    assert first.usage["prompt_tokens"] == 300
    assert first.usage["completion_tokens"] == 30
    assert second.usage["requests"] == 1
    roles = [m["role"] for m in endpoint.bodies[-1]["messages"]]
    assert roles[:3] == ["system", "user", "assistant"]
    assert roles[3:] == ["tool", "assistant", "tool", "assistant", "user"]
    assert "clock__get_time" in endpoint.offered(0)
    assert endpoint.results()[1] == attempts(session)[1].seen


async def test_parallel_calls_of_one_message_are_one_step_in_order() -> None:
    session = new_session("clock", "venmo")
    made = [("clock__wait", {"seconds": s}) for s in (3, 1, 2)]
    await converse([calls(*made), call("venmo__get_balance"), say("ok")], session, "go")
    steps = [(a.args.get("seconds"), a.step) for a in attempts(session)]
    assert steps == [(3, 1), (1, 1), (2, 1), (None, 2)]


@pytest.mark.parametrize(
    "written", ['{"seconds": 5', "[5]", '"five"', "5", "null", '{"seconds": "\\ud83d"}']
)
async def test_malformed_arguments_are_recorded_and_refused(written: str) -> None:
    session = new_session("clock")
    (result,), endpoint = await converse(
        [calls(("clock__wait", written)), say("sorry")], session, "go"
    )
    (attempt,) = attempts(session)
    assert attempt.is_error
    assert attempt.tool == "wait"
    assert not session.bugs
    assert result.text == "sorry"
    assert endpoint.results()[0]["error"]["code"]
    repeated = endpoint.bodies[-1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(repeated), dict)


async def test_no_arguments_at_all_are_an_empty_object() -> None:
    session = new_session("clock")
    await converse([calls(("clock__get_time", "")), say("ok")], session, "go")
    assert not attempts(session)[0].is_error


@pytest.mark.parametrize("name", ["venmo__fly", "paypal__send_money", "get_time", ""])
async def test_unknown_tools_reach_the_server(name: str) -> None:
    session = new_session("clock", "venmo")
    _, endpoint = await converse([calls((name, {})), say("ok")], session, "go")
    (attempt,) = attempts(session)
    assert attempt.is_error and endpoint.results()[0]["error"]["code"].startswith("UNKNOWN_")


async def test_a_disclosed_service_is_offered_in_the_next_request() -> None:
    session = disclosing()
    _, endpoint = await converse(
        [call("clock__get_time"), call("venmo__get_balance"), say("ok")], session, "go"
    )
    assert "venmo__get_balance" not in endpoint.offered(0)
    assert "venmo__get_balance" in endpoint.offered(1)
    assert not attempts(session)[1].is_error


async def test_an_agent_that_never_refreshes_keeps_the_first_list() -> None:
    session = disclosing()
    script = [call("clock__get_time"), say("a"), say("b")]
    _, endpoint = await converse(script, session, "go", "on", refresh="never")
    assert endpoint.offered(2) == endpoint.offered(0)
    session = disclosing()
    _, endpoint = await converse(script, session, "go", "on", refresh="turn")
    assert endpoint.offered(1) == endpoint.offered(0) < endpoint.offered(2)


async def test_history_is_native_and_dated() -> None:
    _, endpoint = await converse([say("ok")], new_session("venmo"), "And now?", history=HISTORY)
    messages = endpoint.bodies[0]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert messages[1]["content"].startswith("[Conversation of 2026-02-03T09:00:00Z]\nHow much")
    assert messages[2]["tool_calls"][0]["function"]["name"] == "venmo__get_balance"
    assert json.loads(messages[3]["content"]) == {"balance": 5}
    assert messages[5]["content"].startswith("[Conversation of 2026-")
    assert messages[5]["content"].endswith("And now?")


async def test_an_endless_loop_ends_at_each_limit() -> None:
    def loop(body: dict[str, Any], number: int) -> Step:
        return call("clock__get_time")

    session = new_session("clock")
    (steps,), endpoint = await converse(loop, session, "go", max_steps=4)
    assert (steps.status, len(endpoint.bodies), len(attempts(session))) == ("limit", 4, 4)
    assert "4 requests" in steps.detail
    (tokens,), endpoint = await converse(loop, new_session("clock"), "go", max_tokens=300)
    assert (tokens.status, len(endpoint.bodies)) == ("limit", 3)
    (seconds,), endpoint = await converse(loop, new_session("clock"), "go", max_seconds=0)
    assert (seconds.status, len(endpoint.bodies)) == ("late", 0)


async def test_an_empty_answer_ends_the_turn() -> None:
    (result,), _ = await converse([Step()], new_session("clock"), "go")
    assert (result.text, result.status) == ("", "done")


@pytest.mark.parametrize("status", [500, 503, 429, 400, 401])
async def test_a_provider_that_fails_or_refuses_is_an_outage(status: int) -> None:
    with pytest.raises(ProviderOutage, match=r"openai/scripted.*scripted failure"):
        await converse([fails(status)], new_session("clock"), "go")


async def test_a_failure_that_passes_is_retried() -> None:
    (result,), endpoint = await converse(
        [fails(500), say("ok")], new_session("clock"), "go", retries=1
    )
    assert result.text == "ok" and len(endpoint.bodies) == 2


async def test_a_provider_that_is_asked_too_often_is_left_alone_outside_of_the_deadline() -> None:
    script = [fails(429, after=2.5), fails(429, after=2.5), say("ok")]
    session = new_session("clock")
    (result,), endpoint = await converse(script, session, "go", max_wait=10, max_seconds=4)
    assert (result.text, result.status, len(endpoint.bodies)) == ("ok", "done", 3)


async def test_a_provider_that_stays_busy_longer_than_we_wait_is_an_outage() -> None:
    script = [fails(429, after=0), fails(429, after=0), fails(429, after=60)]
    with pytest.raises(ProviderOutage, match="scripted failure 429"):
        await converse(script, new_session("clock"), "go", max_wait=50)


async def test_what_a_turn_used_before_an_outage_is_not_forgotten() -> None:
    script = [call("clock__get_time"), fails(401)]
    with pytest.raises(ProviderOutage) as outage:
        await converse(script, new_session("clock"), "go")
    assert outage.value.usage["prompt_tokens"] == 100
    assert outage.value.lasting


async def test_nobody_at_the_address_is_an_outage() -> None:
    async with playing([say("never")]) as endpoint:
        pass
    async with talking(new_session("clock"), endpoint) as made:
        with pytest.raises(ProviderOutage, match="onnect"):
            await made.turn("go")


@pytest.mark.parametrize("raw", ["not json", "{}", '{"choices": []}'])
async def test_rubbish_from_a_provider_is_an_outage(raw: str) -> None:
    with pytest.raises(ProviderOutage):
        await converse([Step(raw=raw)], new_session("clock"), "go")


async def test_a_recording_replays_to_the_same_trace_without_a_network(tmp_path: Path) -> None:
    script = [
        call("clock__wait", seconds=5),
        call("clock__get_time"),
        call("clock__get_time"),
        say("Done."),
    ]
    first = new_session("clock")
    second = new_session("clock")
    (recorded,), _ = await converse(script, first, "go", record=str(tmp_path))
    async with talking(second, None, replay=str(tmp_path)) as made:
        replayed = await made.turn("go")
    assert replayed == recorded and second.control.trace() == first.control.trace()
    kept = [json.loads(p.read_text()) for p in tmp_path.glob("*.json")]
    assert len(kept) == 4 and all(k["request"]["model"] == "openai/scripted" for k in kept)


async def test_a_replay_that_misses_an_answer_names_the_file(tmp_path: Path) -> None:
    await converse([say("Done.")], new_session("clock"), "go", record=str(tmp_path))
    for text, trial in (("go elsewhere", "t"), ("go", "another trial")):
        async with talking(new_session("clock"), None, trial=trial, replay=str(tmp_path)) as made:
            with pytest.raises(InputError, match=r"-1\.json: not recorded"):
                await made.turn(text)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "name a model"),
        ({"model": "m", "max_stpes": 3}, "did you mean 'max_steps'"),
        ({"model": "m", "max_steps": "many"}, "a number"),
        ({"model": "m", "refresh": "often"}, "call, turn or never"),
        ({"model": "m", "record": "a", "replay": "b"}, "not both"),
    ],
)
def test_what_cannot_be_set_is_said(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        Options.read(options)


async def test_a_model_that_nobody_provides_is_a_mistake() -> None:
    async with talking(new_session("clock"), None, model="nobody-knows") as made:
        with pytest.raises(InputError, match="no provider for the model 'nobody-knows'"):
            await made.turn("go")
