"""The adapter for ClaudeCode, as installed from npm: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import pytest

from tests.harness.adapters.products import ProductProof
from tests.harness.adapters.support import Subject
from tests.harness.wires.messages import Messages

pytestmark = pytest.mark.adapter


class TestClaudeCode(ProductProof):
    subject = Subject(
        "claude_code",
        Messages(),
        tool="mcp__{service}__{tool}",
        model="anthropic/claude-sonnet-4-5",
    )

    key = "ANTHROPIC_API_KEY"
    remark = "<system-reminder>"
