"""The adapter for GeminiCLI, as installed from npm: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from tests.harness.adapters.products import ProductProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import Endpoint
from tests.harness.wires.gemini import Gemini

pytestmark = pytest.mark.adapter


class TestGeminiCLI(ProductProof):
    subject = Subject(
        "gemini_cli", Gemini(), tool="mcp_{service}_{tool}", model="gemini/gemini-2.5-pro"
    )

    key = "GEMINI_API_KEY"
    remark = "<session_context>"

    def check_errors(self, session: Session, endpoint: Endpoint) -> None:
        """It refuses calls that break a tool's schema by itself."""
        assert attempts(session) == []
        results = [line.text for line in endpoint.lines() if line.role == "result"]
        assert len(results) == 2
        assert all(text.startswith("params/seconds must be") for text in results), results
