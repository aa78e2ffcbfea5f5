"""The adapter for ClaudeCode, as installed from npm: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject
from tests.harness.wires import Line
from tests.harness.wires.messages import Messages

pytestmark = pytest.mark.adapter


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is worth nothing, whatever the environment holds."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted")


class TestClaudeCode(AdapterProof):
    subject = Subject(
        "claude_code",
        Messages(),
        tool="mcp__{service}__{tool}",
        model="anthropic/claude-sonnet-4-5",
    )

    def check_native(self, said: list[Line]) -> None:
        """It says something of its surroundings, which is no part of the conversation."""
        super().check_native(
            [line for line in said if not line.text.startswith("<system-reminder>")]
        )
