"""Helpers of the market-data tests: calls by tool name, and moving the clock."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.support import call_ok, call_refused, pages

DAY = 86_400
MONDAY_NOON = "2026-03-16T16:00:00Z"
SERVICES = ("alpha_vantage", "google_finance", "yahoo_finance", "robinhood")


def until(session: Session, moment: str) -> None:
    session.control.advance(parse_time(moment) - session.control.now)


def owner(tool: str) -> str:
    """Return the service of a tool, which the tool's name tells."""
    words = {"alpha": "alpha_vantage", "google": "google_finance", "yahoo": "yahoo_finance"}
    return next((service for word, service in words.items() if f"_{word}_" in tool), "robinhood")


async def ask(session: Session, tool: str, /, **args: Any) -> dict[str, Any]:
    """Return the reply of a tool of any of the services."""
    return await call_ok(session, owner(tool), tool, **args)


async def ask_all(session: Session, tool: str, items: str, /, **args: Any) -> list[dict[str, Any]]:
    """Return the items of a list on all of its pages."""
    return await pages(session, owner(tool), tool, items, **args)


async def refusal(session: Session, tool: str, /, **args: Any) -> dict[str, Any]:
    """Return the error of a call that must be refused and change nothing."""
    return await call_refused(session, owner(tool), tool, **args)
