"""The adapter for Codex, as installed from npm: real MCP over HTTP, a scripted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.harness.adapters.products import ProductProof
from tests.harness.adapters.support import Subject
from tests.harness.wires import Line
from tests.harness.wires.responses import Responses

pytestmark = pytest.mark.adapter


class Timed(Responses):
    """Codex puts before each result how long it took."""

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model, but not how long its calls took."""
        said = []
        for line in super().lines(body):
            text = line.text.partition("\nOutput:")[2] if line.role == "result" else ""
            said.append(replace(line, text=text or line.text))
        return said


class TestCodex(ProductProof):
    subject = Subject("codex", Timed(), tool="mcp__{service}__{tool}", model="openai/gpt-5")

    key = "OPENAI_API_KEY"
    remark = "<environment_context>"
