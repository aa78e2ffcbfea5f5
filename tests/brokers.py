"""What the tests of brokers share: calls, money in cents, and a clock that runs to a moment."""

from __future__ import annotations

from typing import Any

from scenarios.worlds._finance_securities import rows
from scenarios.worlds.build import person, shared
from servers.kit.control import Control
from servers.kit.session import Session
from servers.kit.values import cents, parse_time
from tests.support import assert_error

ROWS = {row["symbol"]: row for row in rows()}


def of(name: str) -> Session:
    """Return a session of the brokers in another person's world."""
    names = ("robinhood", "fidelity", "vanguard")
    return Session(names, shared(name, names).share(), Control(parse_time(person(name)["start"])))


def until(session: Session, moment: str) -> None:
    """Let the clock run to a moment."""
    session.pass_time(parse_time(moment) - session.control.now)


async def ok(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    reply = await session.call(*tool.split("."), args)
    assert not session.bugs and not reply.is_error, session.bugs or reply.data
    return reply.data


async def refused(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    before = session.world.last_change()
    error = assert_error(await session.call(*tool.split("."), args))
    assert session.world.last_change() == before and not session.bugs
    return error


async def cash(session: Session, service: str = "robinhood") -> dict[str, int]:
    tools = {"robinhood": "get_account", "fidelity": "get_investor_profile", "vanguard": "get_user_profile"}
    shown = await ok(session, f"{service}.{tools[service]}")
    return {k: cents(v) for k, v in shown.items() if isinstance(v, float)}
