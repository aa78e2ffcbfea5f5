"""The Google ADK adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts, converse
from tests.harness.fake_endpoint import calls, say
from tests.harness.wires import Line
from tests.harness.wires.chat import Chat
from tests.harness.wires.gemini import Gemini
from tests.support import HISTORY, new_session

pytestmark = pytest.mark.adapter


class Unwrapped(Gemini):
    """Gemini's format; the library tells its model of a result of MCP as it is."""

    def lines(self, body: dict[str, Any]) -> list[Line]:
        return unwrapped(super().lines(body))


def unwrapped(lines: list[Line]) -> list[Line]:
    """Return lines with the texts of MCP results in place of the results."""
    said = []
    for line in lines:
        # An error that is the library's own is no JSON.
        if line.role == "result" and line.text.startswith('{"content"'):
            text = json.loads(line.text)["content"][0]["text"]
            line = dataclasses.replace(line, text=text)
        said.append(line)
    return said


class TestGoogleADK(AdapterProof):
    subject = Subject("google_adk", Unwrapped(), model="gemini/scripted", tells_waits=False)

    async def test_other_models_are_reached_through_litellm(self) -> None:
        """The same conversation, as chat completions."""
        subject = Subject("google_adk", Chat())
        session = new_session("clock", "venmo")
        script = [calls(("clock__get_time", {}), ("venmo__get_balance", {})), say("Done.")]
        (result,), endpoint = await converse(subject, script, session, "Look", history=HISTORY)
        assert (result.text, result.usage["prompt_tokens"]) == ("Done.", 200), result
        assert {a.step for a in attempts(session)} == {1}
        self.check_native([line for line in unwrapped(endpoint.lines()) if line.role != "system"])
