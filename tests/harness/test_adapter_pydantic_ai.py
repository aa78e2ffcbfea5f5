"""The Pydantic AI adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from client_harness.adapters import adapters, install
from client_harness.agents import agents
from client_harness.lookup import resolve
from client_harness.terms import terms
from servers.kit.errors import UnknownName
from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import Step, say
from tests.support import new_session


@pytest.mark.long
class TestPydanticAI(AdapterProof):
    subject = Subject("pydantic_ai")

    async def test_it_keeps_to_a_single_request_of_which_it_makes_the_first_call(self) -> None:
        session = new_session("clock", "venmo")
        both = Step("Two things.", calls=(("clock__get_time", {}), ("venmo__get_balance", {})))
        told = terms("published", "first")
        (first, second), endpoint = await self.converse(
            [both, say("More")], session, "Look", "Go", terms=told
        )
        assert (first.status, first.text) == ("done", "Two things.")
        assert (second.status, second.text, second.usage) == ("done", "", {})
        assert [a.name for a in attempts(session)] == ["clock.get_time"]
        (body,) = endpoint.bodies
        most = body.get("max_completion_tokens") or body.get("max_tokens")
        assert (body["temperature"], most, body["parallel_tool_calls"]) == (0, 2000, False)
        assert body["messages"][0]["content"].startswith(told.prompt)
        assert body["messages"][0]["content"].endswith(told.advice)


def test_an_adapter_is_an_agent_by_name() -> None:
    assert "pydantic_ai" in adapters() and resolve("pydantic_ai").ABOUT
    assert not set(adapters()) & set(agents())
    with pytest.raises(UnknownName, match="did you mean 'pydantic_ai'"):
        resolve("pydantic-ai")
    with pytest.raises(UnknownName, match="unknown adapter"):
        install.ensure("pydantic-ai")
