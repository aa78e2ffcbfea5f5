"""The adapter for GeminiCLI, as installed from npm: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import Endpoint
from tests.harness.wires import Line
from tests.harness.wires.gemini import Gemini

pytestmark = pytest.mark.adapter


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is worth nothing, whatever the environment holds."""
    monkeypatch.setenv("GEMINI_API_KEY", "scripted")


class TestGeminiCLI(AdapterProof):
    subject = Subject(
        "gemini_cli", Gemini(), tool="mcp_{service}_{tool}", model="gemini/gemini-2.5-pro"
    )

    def check_native(self, said: list[Line]) -> None:
        """It says something of its surroundings, which is no part of the conversation."""
        super().check_native(
            [line for line in said if not line.text.startswith("<session_context>")]
        )

    def check_errors(self, session: Session, endpoint: Endpoint) -> None:
        """It refuses calls that break a tool's schema by itself."""
        assert attempts(session) == []
        results = [line.text for line in endpoint.lines() if line.role == "result"]
        assert len(results) == 2
        assert all(text.startswith("params/seconds must be") for text in results), results
