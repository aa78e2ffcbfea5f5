"""The adapter for the Vercel AI SDK, in its own Node: real MCP over HTTP, a scripted model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.harness.adapters.proof import AdapterProof
from tests.harness.adapters.support import Subject
from tests.harness.wires import Line
from tests.harness.wires.chat import Chat

pytestmark = pytest.mark.adapter


class Parted(Chat):
    """Chat completions; the library tells its model of a result of MCP as parts in JSON."""

    def lines(self, body: dict[str, Any]) -> list[Line]:
        """Return what a request tells the model, with the texts in place of the parts."""
        said = []
        for line in super().lines(body):
            # An error that is the library's own is no JSON.
            if line.role == "result" and line.text.startswith('[{"type"'):
                line = replace(line, text=json.loads(line.text)[0]["text"])
            said.append(line)
        return said


class TestAISDK(AdapterProof):
    subject = Subject("ai_sdk", Parted())
