"""The smolagents adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from starlette.responses import Response

from servers.kit.session import Session
from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import Endpoint, call, say
from tests.harness.wires import Line, Step, text_of
from tests.harness.wires.chat import Chat
from tests.support import new_session

pytestmark = pytest.mark.adapter
ANSWER = "final_answer"
CALLING = "Calling tools:\n"
HEADING = re.compile(r"(?:^|\n)(Observation|New task|(?:Call id: \S+\n)?Error):\n")


class Flattened(Chat):
    """Chat completions as the library uses them.

    It tells its model of calls and results as text, and answers are calls of a tool.
    """

    def answer(self, step: Step, number: int, body: dict[str, Any], path: str) -> Response:
        if step.text is not None and not step.calls:
            step = Step(calls=((ANSWER, {"answer": step.text}),))
        return super().answer(step, number, body, path)

    def lines(self, body: dict[str, Any]) -> list[Line]:
        said: list[Line] = []
        made: list[dict[str, Any]] = []
        for message in body["messages"]:
            text = text_of(message["content"])
            if message["role"] == "system":
                said.append(Line("system", text))
            elif text.startswith(CALLING):
                made = [made["function"] for made in ast.literal_eval(text[len(CALLING) :])]
                for function in made:
                    if function["name"] == ANSWER:
                        said.append(Line("assistant", function["arguments"]["answer"]))
                    else:
                        said.append(Line("call", function["name"]))
            else:
                said += self._heard(text, made)
        return said

    def _heard(self, text: str, made: list[dict[str, Any]]) -> list[Line]:
        """Return the lines in what stands in the user's place; `made` are the calls before it."""
        said: list[Line] = []
        _, *pieces = HEADING.split(text)
        for heading, content in zip(pieces[::2], pieces[1::2], strict=True):
            if heading.endswith("Error"):
                continue  # it belongs to a call of which the library says nothing else
            if heading == "New task":
                said.append(Line("user", content))
            elif len(made) == 1 and made[0]["name"] != ANSWER:
                said.append(Line("result", content, of=made[0]["name"]))
            elif len(made) > 1:
                for function, reply in zip(made, content.split("\n"), strict=True):
                    said.append(Line("result", reply, of=function["name"]))
        return said


class TestSmolagents(AdapterProof):
    subject = Subject("smolagents", Flattened())

    def check_errors(self, session: Session, endpoint: Endpoint) -> None:
        """Check that the library refuses a wrong type by itself, and says so to the model."""
        assert [a.is_error for a in attempts(session)] == [True]
        told = text_of(endpoint.bodies[-1]["messages"][-1]["content"])
        assert "has type 'string' but should be 'integer'" in told
        (first,) = [line.text for line in endpoint.lines() if line.role == "result"]
        assert "INVALID_ARGUMENT" in first

    async def test_arguments_that_may_be_left_out_may_be_null(self) -> None:
        """By itself, the library would demand them."""
        session = new_session("venmo")
        script = [
            call("venmo__list_transactions"),
            call("venmo__list_transactions", limit=None),
            say("Done."),
        ]
        (result,), _ = await self.converse(script, session, "Go")
        assert result.text == "Done.", result
        assert [a.is_error for a in attempts(session)] == [False, False]
