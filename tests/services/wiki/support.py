"""Shared by the wiki tests: successful calls of both services, and a page."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from tests.support import at, call_ok

DAY = 86_400
WORKSHOP = at("cfp", "workshop_march")


async def notion(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "notion", tool, **args)


async def confluence(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "confluence", tool, **args)
