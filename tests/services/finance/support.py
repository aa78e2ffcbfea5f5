"""What the tests of brokers share: calls, money in cents, and a clock that runs to a moment."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.fill.finance._securities import rows
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests import support
from tests.support import session_of

ROWS = {row["symbol"]: row for row in rows()}


def of(name: str) -> Session:
    """Return a session of the brokers in another person's world."""
    return session_of(name, "robinhood", "fidelity", "vanguard")


def until(session: Session, moment: str) -> None:
    """Let the clock run to a moment."""
    session.pass_time(parse_time(moment) - session.control.now)


async def call_ok(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await support.call_ok(session, *tool.split("."), **args)


async def call_refused(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await support.call_refused(session, *tool.split("."), **args)


async def cash(session: Session, service: str = "robinhood") -> dict[str, int]:
    tools = {
        "robinhood": "get_account",
        "fidelity": "get_investor_profile",
        "vanguard": "get_user_profile",
    }
    shown = await call_ok(session, f"{service}.{tools[service]}")
    return {k: cents(v) for k, v in shown.items() if isinstance(v, float)}
