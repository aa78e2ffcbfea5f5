"""Fill the sign-ins: one for each provider, of the day that the person last signed in."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.service import providers


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add a sign-in for each provider, and the dates of those that `signed_in` names."""
    for name, cls in providers().items():
        at = seeds["signed_in"].get(name, seeds["default"])
        builder.add(at, "sign_ins", service=name, title=cls.title, signed_in_at=at, revoked=False)
