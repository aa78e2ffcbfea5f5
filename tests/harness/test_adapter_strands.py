"""The adapter for Strands Agents: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject
from tests.harness.fake_endpoint import Step, call, say
from tests.support import new_session

pytestmark = pytest.mark.long


class TestStrands(AdapterProof):
    subject = Subject("strands")

    async def test_tokens_are_limited(self) -> None:
        script = [call("clock__get_time"), say("Never.")]
        (result,), endpoint = await self.converse(script, new_session("clock"), "Go", max_tokens=99)
        assert (result.status, len(endpoint.bodies)) == ("limit", 1), result

    async def test_more_than_forty_messages_reach_the_model(self) -> None:
        """The library's own window would drop the first of them."""

        def patient(body: dict[str, object], number: int) -> Step:
            return say("Done.") if number > 21 else call("clock__get_time")

        (result,), endpoint = await self.converse(patient, new_session("clock"), "Begin")
        assert result.text == "Done.", result
        lines = [line for line in endpoint.lines() if line.role != "system"]
        assert (lines[0].text, len(lines)) == ("Begin", 43)
