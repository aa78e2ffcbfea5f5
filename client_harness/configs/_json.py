"""JSON as the standard has it."""

from __future__ import annotations

from typing import Any

from client_harness.configs import _jsonc
from servers.kit.plain import from_json


def parse(text: str) -> Any:
    """Return the data of a text; an empty one is an empty object. Raises `ValueError`."""
    return from_json(text) if text.strip() else {}


put = _jsonc.put
take = _jsonc.take
