"""Sign-ins: one for each provider, dated when the person last signed in."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.service import providers
from servers.kit.values import iso


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Add a sign-in for each provider, with the date in `signed_in` or the default one."""
    for name, cls in providers().items():
        at = seeds["signed_in"].get(name, seeds["default"])
        long_ago = iso(builder.stood)
        row = {"service": name, "title": cls.title, "signed_in_at": long_ago, "revoked": False}
        builder.add(long_ago, "sign_ins", **row)
        builder.change(at, "sign_ins", name, signed_in_at=at)
