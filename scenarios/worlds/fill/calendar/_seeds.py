"""How seeds write what recurs and how long it lasts."""

from __future__ import annotations

from typing import Any

HOUR = 3600


def rule_of(seed: dict[str, Any]) -> dict[str, Any] | None:
    """Return the rule of a seed, which may be just its frequency."""
    rule = seed.get("rule")
    if rule is None:
        return None
    if isinstance(rule, str):
        return {"freq": rule}
    return {k: str(v) if k == "until" else v for k, v in rule.items()}


def length_of(seed: dict[str, Any]) -> int:
    """Return the length of a seed's event in seconds."""
    return int(seed.get("hours", 1) * HOUR)
