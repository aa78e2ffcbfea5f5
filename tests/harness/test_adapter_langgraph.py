"""The LangGraph adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import call, say
from tests.support import new_session

pytestmark = pytest.mark.adapter


class TestLangGraph(AdapterProof):
    subject = Subject("langgraph")

    async def test_a_tool_that_is_not_there_is_an_error_for_the_model(self) -> None:
        """The middleware that lists tools anew must say so itself."""
        session = new_session("clock")
        script = [call("venmo__get_balance"), call("clock__get_time"), say("Done.")]
        (result,), endpoint = await self.converse(script, session, "Go")
        assert result.text == "Done.", result
        assert endpoint.results()[0] == "There is no tool 'venmo__get_balance'."
        assert [a.name for a in attempts(session)] == ["clock.get_time"]
