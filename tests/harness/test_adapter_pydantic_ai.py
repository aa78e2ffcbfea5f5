"""The Pydantic AI adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from client_harness.adapters import adapter, adapters, install
from client_harness.agents import agents
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from client_harness.lookup import resolve
from client_harness.terms import NO_TERMS, Terms, terms
from client_harness.tools import in_memory
from scenarios.haystack.history import LivedSession
from servers.kit.app import Episodes, make_app, run_app
from servers.kit.errors import UnknownName
from servers.kit.events import Attempt
from servers.kit.session import Session
from tests.harness.fake_endpoint import Endpoint, Script, Step, call, calls, fails, playing, say
from tests.support import HISTORY, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", autouse=True)
def environment() -> Path:
    """The adapter's own environment, built if it is missing."""
    return install.ensure("pydantic_ai")


@contextlib.asynccontextmanager
async def talking(
    session: Session,
    endpoint: Endpoint,
    history: list[LivedSession],
    *,
    to_remember: int = 0,
    terms: Terms = NO_TERMS,
    **options: Any,
) -> AsyncGenerator[Any]:
    """Yield the adapter's agent on a session that is served over HTTP, behind a token."""
    episodes = Episodes()
    episodes.add("e1", session, "secret")
    async with run_app(make_app(episodes)) as port:

        async def servers() -> list[dict[str, Any]]:
            headers = {"Authorization": "Bearer secret"}
            return [
                {"name": s, "url": f"http://127.0.0.1:{port}/e1/{s}/mcp", "headers": headers}
                for s in session.classes
            ]

        options = {"model": "openai/scripted", "api_base": endpoint.url, **options}
        async with in_memory(session) as tools:
            given = Assignment(tools, history, cast(Any, None), options, servers)
            given.to_remember = to_remember
            given.terms = terms
            async with resolve("pydantic_ai").agent(given) as made:
                yield made


async def converse(
    script: Script, session: Session, *texts: str, **options: Any
) -> tuple[list[TurnResult], Endpoint]:
    """Send messages to a scripted model behind the adapter."""
    problem = None
    history = options.pop("history", [])
    async with playing(script) as endpoint, talking(session, endpoint, history, **options) as made:
        try:
            return [await made.turn(text) for text in texts], endpoint
        except ProviderOutage as outage:
            problem = outage
    raise problem


def attempts(session: Session) -> list[Attempt]:
    return [e for e in session.trace() if isinstance(e, Attempt)]


async def test_it_calls_tools_numbers_its_steps_and_keeps_the_conversation() -> None:
    session = new_session("clock", "venmo")
    script = [
        calls(("clock__get_time", {}), ("venmo__get_balance", {})),
        call("venmo__list_friends"),
        say("Done."),
        call("clock__get_time"),
        say("Again."),
    ]
    (first, second), endpoint = await converse(script, session, "Look", "And now?", history=HISTORY)
    assert (first.text, first.status, second.text) == ("Done.", "done", "Again."), (first, second)
    steps = [(a.name, a.step) for a in attempts(session)]
    assert set(steps[:2]) == {("clock.get_time", 1), ("venmo.get_balance", 1)}
    assert steps[2:] == [("venmo.list_friends", 2), ("clock.get_time", 1)]
    assert not any(a.is_error for a in attempts(session))
    assert first.usage["requests"] == 3
    assert first.usage["prompt_tokens"] == 300
    roles = [m["role"] for m in endpoint.bodies[-1]["messages"]]
    assert roles[:6] == ["system", "user", "assistant", "tool", "assistant", "user"]
    told = endpoint.bodies[-1]["messages"][0]["content"]
    assert told.startswith("You are a personal assistant") and "Today is Saturday" in told
    past = endpoint.bodies[-1]["messages"][1]["content"]
    assert past.startswith("[Conversation of 2026-02-03T09:00:00Z]")
    assert {"clock__wait", "venmo__send_money"} <= endpoint.offered(0)


async def test_it_keeps_all_past_sessions_as_native_messages() -> None:
    """Sessions that came one by one are to the model what a history in one piece is."""
    later: LivedSession = {**HISTORY[0], "at": "2026-02-04T09:00:00Z"}
    sessions = [*HISTORY, later]
    session = new_session("venmo")
    async with (
        playing([say("Five.")]) as endpoint,
        talking(session, endpoint, [], to_remember=2) as made,
    ):
        for number, past in enumerate(sessions, 1):
            taken = await made.remember(past, number, 2)
            assert (taken.status, taken.usage) == ("done", {})
        assert endpoint.bodies == []
        assert (await made.turn("And now?")).text == "Five."
    (body,) = endpoint.bodies
    assert [message["role"] for message in body["messages"]] == [
        "system",
        *["user", "assistant", "tool", "assistant"] * 2,
        "user",
    ]
    assert body["messages"][5]["content"].startswith("[Conversation of 2026-02-04T09:00:00Z]")
    _, other = await converse([say("Five.")], new_session("venmo"), "And now?", history=sessions)
    assert other.bodies == endpoint.bodies


async def test_it_keeps_to_a_single_request_of_which_it_makes_the_first_call() -> None:
    session = new_session("clock", "venmo")
    both = Step("Two things.", calls=(("clock__get_time", {}), ("venmo__get_balance", {})))
    told = {"terms": terms("published", "first")}
    (first, second), endpoint = await converse([both, say("More")], session, "Look", "Go", **told)
    assert (first.status, first.text) == ("done", "Two things.")
    assert (second.status, second.text, second.usage) == ("done", "", {})
    assert [a.name for a in attempts(session)] == ["clock.get_time"]
    (body,) = endpoint.bodies
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    assert (body["temperature"], most, body["parallel_tool_calls"]) == (0, 2000, False)
    assert body["messages"][0]["content"].startswith(told["terms"].prompt)
    assert body["messages"][0]["content"].endswith(told["terms"].advice)


async def test_a_disclosed_service_appears_and_errors_reach_the_model() -> None:
    session = new_session("clock", "venmo", hidden=["venmo"])

    def disclose(attempt: Attempt) -> None:
        if "venmo" in session.hidden:
            session.disclose("venmo")

    session.on_attempt.append(disclose)
    script = [
        call("clock__wait", seconds=-1),
        call("clock__wait", seconds="soon"),
        call("venmo__get_balance"),
        say("Found."),
    ]
    (result,), endpoint = await converse(script, session, "Go")
    assert result.text == "Found.", result
    assert "venmo__get_balance" not in endpoint.offered(0)
    assert "venmo__get_balance" in endpoint.offered(1)
    assert [a.is_error for a in attempts(session)] == [True, True, False]


async def test_an_endless_loop_ends_at_its_limit() -> None:
    def loop(body: dict[str, Any], number: int) -> Step:
        return call("clock__get_time")

    session = new_session("clock")
    (result,), endpoint = await converse(loop, session, "Go", max_steps=3)
    assert result.status == "limit" and len(endpoint.bodies) == 3 and len(attempts(session)) == 3


async def test_a_model_that_refuses_is_an_outage() -> None:
    with pytest.raises(ProviderOutage, match="scripted failure 401"):
        await converse([fails(401)], new_session("clock"), "Go")


async def test_an_adapter_is_an_agent_by_name() -> None:
    assert "pydantic_ai" in adapters() and resolve("pydantic_ai").ABOUT
    assert not set(adapters()) & set(agents())
    with pytest.raises(UnknownName, match="did you mean 'pydantic_ai'"):
        resolve("pydantic-ai")
    with pytest.raises(UnknownName, match="unknown adapter"):
        install.ensure("pydantic-ai")


async def test_its_environment_is_its_own_and_hashed(environment: Path) -> None:
    code = (
        "import importlib.util as u; "
        "print([n for n in ('servers', 'client_harness', 'litellm') if u.find_spec(n)])"
    )
    done = await anyio.run_process([str(environment), "-I", "-c", code], stderr=subprocess.STDOUT)
    assert done.stdout.strip() == b"[]"
    lock = (adapter("pydantic_ai").folder / "requirements.lock").read_text()
    assert "--hash=sha256:" in lock and "://" not in lock
    assert install.ensure("pydantic_ai") == environment
