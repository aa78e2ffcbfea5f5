"""The Agent Framework adapter in its own environment: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from servers.kit.session import Session
from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject, attempts
from tests.harness.fake_endpoint import Endpoint

pytestmark = pytest.mark.adapter


class TestAgentFramework(AdapterProof):
    subject = Subject("agent_framework", tool="{service}_{tool}")

    def check_errors(self, session: Session, endpoint: Endpoint) -> None:
        """Check that the library refuses a wrong type by itself, and says so to the model."""
        assert [a.is_error for a in attempts(session)] == [True]
        first, second = [line.text for line in endpoint.lines() if line.role == "result"]
        assert "INVALID_ARGUMENT" in first
        assert "expected integer, got str" in second
