"""The adapter for the OpenAI Agents SDK: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts, converse
from tests.harness.fake_endpoint import call, say
from tests.harness.wires.responses import Responses
from tests.support import HISTORY, new_session

TOOL = "mcp_{service}__{tool}"

pytestmark = pytest.mark.long


class TestResponses(AdapterProof):
    subject = Subject("openai_agents", Responses(), TOOL, model="openai/responses/scripted")

    async def test_a_call_of_no_tool_is_an_error_that_the_model_reads(self) -> None:
        script = [call("mcp_clock__no_such_tool"), say("Sorry.")]
        (result,), endpoint = await self.converse(script, new_session("clock"), "Go")
        assert result.text == "Sorry.", result
        assert "no_such_tool" in str(endpoint.results())

    async def test_tokens_are_limited(self) -> None:
        script = [call("mcp_clock__get_time"), say("Never.")]
        (result,), endpoint = await self.converse(script, new_session("clock"), "Go", max_tokens=99)
        assert (result.status, len(endpoint.bodies)) == ("limit", 1), result


@pytest.mark.anyio
async def test_it_also_speaks_chat_completions() -> None:
    subject = Subject("openai_agents", tool=TOOL)
    session = new_session("clock")
    script = [call("mcp_clock__get_time"), say("Done.")]
    (result,), endpoint = await converse(subject, script, session, "Go", history=HISTORY)
    assert (result.text, result.usage["prompt_tokens"]) == ("Done.", 200), result
    assert [a.step for a in attempts(session)] == [1]
    roles = [line.role for line in endpoint.lines() if line.role != "system"]
    assert roles == ["user", "call", "result", "assistant", "user", "call", "result"]
