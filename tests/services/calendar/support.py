"""Shared by the calendar tests: successful calls of both services, and a new event."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from tests.support import call_ok

DAY = 86_400


async def google(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "google_calendar", tool, **args)


async def outlook(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "outlook_calendar", tool, **args)


async def made(session: Session, start: str, end: str, **more: Any) -> dict[str, Any]:
    return await google(
        session,
        "create_event",
        calendar_id="primary",
        title="Test",
        start_time=start,
        end_time=end,
        **more,
    )
